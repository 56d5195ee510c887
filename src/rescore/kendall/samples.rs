//! Weighted samples of permutations, and the paper's rule: the best of them.
//!
//! A line is a weight, a TAB and the positions from 0, separated by spaces. The weight is a probability or a count (only
//! ratios matter), or the logarithm of one. An order that comes several times has the sum of its weights. Two passes over
//! the samples, O(k n²) for k of n words: what the rule of eq. 3 gives in O(k² n²), by eq. 8. Of equal orders the one with
//! the lower positions first is taken.

use super::{Answer, MOST_WORDS, Pairs};
use crate::error::{Error, Result};
use crate::format::io;
use crate::text::lines::{Block, Blocks};

/// A file of samples, sentence by sentence. One empty line or more ends a sentence.
pub struct Sentences {
    blocks: Blocks,
    file: String,
    /// Lines that are read already: the block, where in it we are, and the number of the line there.
    block: Option<(Block, usize, usize)>,
}

impl Sentences {
    pub fn open(name: &str) -> Result<Self> {
        let input = io::open(name)?;
        let file = input.name.clone();
        Ok(Sentences { blocks: Blocks::new(input), file, block: None })
    }
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The number of the first line, and the lines.
    pub fn next_sentence(&mut self) -> Result<Option<(usize, String)>> {
        let mut text = String::new();
        let mut first = 0;
        loop {
            let Some((block, from, line)) = &mut self.block else {
                match self.blocks.next_block()? {
                    Some(block) => {
                        let line = block.line;
                        self.block = Some((block, 0, line));
                        continue;
                    }
                    None if text.is_empty() => return Ok(None),
                    None => return Ok(Some((first, text))),
                }
            };
            let rest = &block.text[*from..];
            if rest.is_empty() {
                self.block = None;
                continue;
            }
            let end = rest.find('\n').map_or(rest.len(), |i| i + 1);
            let (here, number) = (&rest[..end], *line);
            *from += end;
            *line += 1;
            if !here.trim().is_empty() {
                if text.is_empty() {
                    first = number;
                }
                text.push_str(here);
            } else if !text.is_empty() {
                return Ok(Some((first, text)));
            }
        }
    }
}

/// The samples of one sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    n: usize,
    /// One order after the other.
    orders: Vec<u32>,
    weights: Vec<f64>,
}

impl Samples {
    /// From the lines of a sentence, numbered from `first`. `log`: weights are natural logarithms.
    pub fn parse(file: &str, first: usize, text: &str, log: bool) -> Result<Self> {
        let mut samples = Samples::default();
        let mut seen: Vec<usize> = vec![];
        for (line, text) in text.lines().enumerate() {
            let n = samples.parse_line(file, first + line, text, log, &mut seen)?;
            if line > 0 && n != samples.n {
                let message = format!(
                    "{n} positions, where line {first} has {}: the samples of a sentence have the same; an empty line ends a sentence",
                    samples.n
                );
                return Err(Error::text(file, first + line, 1, message));
            }
            samples.n = n;
        }
        if log {
            let most = samples.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // All of them −∞ leave no mass, which is said below.
            let most = if most.is_finite() { most } else { 0.0 };
            samples.weights.iter_mut().for_each(|w| *w = (*w - most).exp());
        }
        let total: f64 = samples.weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            let what = if total == 0.0 { "nothing" } else { "more than a number can hold" };
            return Err(Error::text(file, first, 1, format!("the weights of the sentence add up to {what}")));
        }
        Ok(samples)
    }

    /// The number of positions. `seen` is where the position was last found, as a count of samples.
    fn parse_line(&mut self, file: &str, line: usize, text: &str, log: bool, seen: &mut Vec<usize>) -> Result<usize> {
        let column = |part: &str| text[..part.as_ptr() as usize - text.as_ptr() as usize].chars().count() + 1;
        let bad = |column, message: String| Error::text(file, line, column, message);
        let Some((weight, positions)) = text.split_once('\t') else {
            return Err(bad(1, "expected a weight, a TAB and positions, such as `0.25<TAB>0 2 1`".into()));
        };
        let value: f64 = match weight.trim().parse() {
            Ok(w) if log && w < f64::INFINITY => w,
            Ok(w) if !log && (0.0..f64::INFINITY).contains(&w) => w,
            Ok(_) if log => return Err(bad(1, format!("the weight {weight} is no logarithm of a probability"))),
            Ok(w) if w < 0.0 => {
                let message =
                    format!("the weight {weight} is negative; if weights are logarithms, say so: --log-weights");
                return Err(bad(1, message));
            }
            Ok(_) => return Err(bad(1, format!("the weight {weight} is no probability or count"))),
            Err(_) => return Err(bad(1, format!("expected a weight, not {weight:?}"))),
        };
        self.weights.push(value);
        let stamp = self.weights.len();
        let from = self.orders.len();
        for word in positions.split_ascii_whitespace() {
            let position: u32 = word
                .parse()
                .map_err(|_| bad(column(word), format!("expected a position, a number from 0 up, not {word:?}")))?;
            if position as usize >= MOST_WORDS || self.orders.len() - from >= MOST_WORDS {
                return Err(bad(column(word), format!("a permutation has at most {MOST_WORDS} positions")));
            }
            if position as usize >= seen.len() {
                seen.resize(position as usize + 1, 0);
            }
            if std::mem::replace(&mut seen[position as usize], stamp) == stamp {
                return Err(bad(column(word), format!("no permutation: position {position} comes twice")));
            }
            self.orders.push(position);
        }
        let order = &self.orders[from..];
        let n = order.len();
        if let Some(missing) = (0..n).find(|&p| seen.get(p) != Some(&stamp)) {
            let hint = if missing == 0 { "; positions count from 0" } else { "" };
            let message = format!("no permutation: {n} positions, but position {missing} is not among them{hint}");
            return Err(bad(column(positions), message));
        }
        Ok(n)
    }

    /// Orders with their weights.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32], f64)> {
        let order = |i: usize| &self.orders[i * self.n..(i + 1) * self.n];
        self.weights.iter().enumerate().map(move |(i, &w)| (order(i), w))
    }

    pub fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::new(self.n);
        for (order, weight) in self.iter() {
            pairs.add(order, weight);
        }
        pairs
    }

    /// The sampled order of the highest gain. A sample of no weight is a candidate, too.
    pub fn best(&self, pairs: &Pairs) -> Answer {
        let mut best: (f64, &[u32]) = (f64::NEG_INFINITY, &[]);
        for (order, _) in self.iter() {
            let gain = pairs.gain(order);
            if gain > best.0 || (gain == best.0 && order < best.1) {
                best = (gain, order);
            }
        }
        pairs.answer(best.1.to_vec(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Samples> {
        Samples::parse("p", 7, text, false)
    }

    #[test]
    fn the_best_sample_is_not_the_most_frequent_one() {
        // 2 1 0 is most frequent; the others agree about nearly everything.
        let s = parse("3\t2 1 0\n2\t0 1 2\n2\t0 2 1\n2\t1 0 2\n").unwrap();
        let best = s.best(&s.pairs());
        assert_eq!(best.order, [0, 2, 1]);
        // 0 before 1: 4 of 9, 0 before 2: 6, 2 before 1: 5.
        assert_eq!(best.gain, 15.0 / 9.0);
        assert!((best.loss() - 12.0 / 27.0).abs() < 1e-15);
        assert!(best.proven);
    }

    #[test]
    fn logarithms_of_any_size() {
        let s = Samples::parse("p", 1, "-1000\t0 1\n-1001\t1 0\n-inf\t1 0\n", true).unwrap();
        let a = s.best(&s.pairs());
        assert_eq!(a.order, [0, 1]);
        assert!((a.gain - 1.0 / (1.0 + (-1f64).exp())).abs() < 1e-15);
        assert!(Samples::parse("p", 1, "-inf\t0 1\n", true).is_err());
    }

    #[test]
    fn sentences_end_at_empty_lines() {
        let text = "\n \n1\t0\n2\t0\n\n\r\n3\t\n\n4\t0 1";
        let input = io::from_bytes("p", text.as_bytes().to_vec()).unwrap();
        let mut s = Sentences { blocks: Blocks::new(input), file: "p".into(), block: None };
        let mut next = || s.next_sentence().unwrap();
        assert_eq!(next(), Some((3, "1\t0\n2\t0\n".into())));
        assert_eq!(next(), Some((7, "3\t\n".into())));
        assert_eq!(next(), Some((9, "4\t0 1".into())));
        assert_eq!(next(), None);
    }

    #[test]
    fn a_sentence_may_have_no_words_or_one() {
        for text in ["1\t\n", "0.5\t0\n"] {
            let s = parse(text).unwrap();
            let a = s.best(&s.pairs());
            assert_eq!((a.gain, a.loss()), (0.0, 0.0));
        }
    }

    #[test]
    fn what_is_no_permutation_is_named() {
        for (text, want) in [
            ("1 0 1\n", "p:7:1: expected a weight, a TAB"),
            ("1\t0 1\n2\t0 0\n", "p:8:5: no permutation: position 0 comes twice"),
            ("1\t1 2\n", "position 0 is not among them; positions count from 0"),
            ("1\t0 3 1\n", "position 2 is not among them"),
            ("1\t0 1\n1\t0 1 2\n", "p:8:1: 3 positions, where line 7 has 2"),
            ("x\t0\n", "expected a weight, not \"x\""),
            ("NaN\t0\n", "no probability or count"),
            ("inf\t0\n", "no probability or count"),
            ("-1\t0\n", "--log-weights"),
            ("1\t0 b\n", "p:7:5: expected a position"),
            ("1\t-1\n", "expected a position"),
            ("1\t99999999\n", "at most"),
            ("0\t0 1\n", "add up to nothing"),
            ("1e308\t0\n1e308\t0\n", "more than a number can hold"),
        ] {
            let e = parse(text).unwrap_err().to_string();
            assert!(e.contains(want), "{text:?}: {e}");
        }
    }
}
