//! Hierarchical rules from an aligned sentence pair.
//!
//! Chiang, "Hierarchical Phrase-Based Translation" (2007), section 3: initial phrase pairs are those consistent with the
//! word alignment; every phrase pair inside another can become a nonterminal of a rule. The limits there are the defaults
//! here: initial phrases of at most 10 words on either side, two nonterminals that are not adjacent in the source, five
//! symbols on the source side, an aligned pair of words in every rule, no unaligned words at the edges of phrases.
//!
//! Plain phrases are rules without nonterminals and obey the same limit of symbols. With `loose`, unaligned words next to
//! a phrase on either side may belong to it. Time grows with the number of initial phrases and with the power `rank` of
//! the number of phrases inside one.

use super::rule::Link;
use crate::text::parallel::Pair;

/// What a count is: millionths, so that sums are exact in any order.
pub const UNIT: u64 = 1_000_000;

/// What an instance of a rule counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Counts {
    /// Every instance counts one
    #[default]
    Unit,
    /// The instances from one initial phrase pair count one together (Chiang 2007)
    Fractional,
}

/// Limits of extraction.
#[derive(Clone, Debug)]
pub struct Config {
    /// Source words of an initial phrase.
    pub max_phrase: usize,
    /// Target words of an initial phrase.
    pub max_target: usize,
    /// Nonterminals of a rule.
    pub rank: usize,
    /// Nonterminals may be adjacent in the source.
    pub adjacent: bool,
    /// Symbols of the source side.
    pub max_symbols: usize,
    /// Unaligned words at the edges of phrases.
    pub loose: bool,
    /// Source words under a nonterminal at least.
    pub min_hole: usize,
    pub counts: Counts,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            max_phrase: 10,
            max_target: 10,
            rank: 2,
            adjacent: false,
            max_symbols: 5,
            loose: false,
            min_hole: 1,
            counts: Counts::Unit,
        }
    }
}

/// A phrase pair: spans of both sides, ends not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Phrase {
    s0: usize,
    s1: usize,
    t0: usize,
    t1: usize,
    /// Links inside.
    links: usize,
}

impl Phrase {
    fn has(&self, other: &Phrase) -> bool {
        self.s0 <= other.s0 && other.s1 <= self.s1 && self.t0 <= other.t0 && other.t1 <= self.t1
    }
}

/// Finds rules; kept from pair to pair for its buffers.
pub struct Extractor<'c> {
    config: &'c Config,
    phrases: Vec<Phrase>,
    /// For every source position, where the phrases that begin there begin in `phrases`.
    starts: Vec<usize>,
    /// The first and the last position linked to each word, of both sides.
    source_links: Vec<Option<(usize, usize)>>,
    target_links: Vec<Option<(usize, usize)>>,
    /// Instances from one initial phrase: how many nonterminals, and which phrases they are.
    instances: Vec<usize>,
    /// The symbol that a word is in the rule being written.
    source_symbols: Vec<usize>,
    target_symbols: Vec<usize>,
}

impl<'c> Extractor<'c> {
    pub fn new(config: &'c Config) -> Self {
        Extractor {
            config,
            phrases: vec![],
            starts: vec![],
            source_links: vec![],
            target_links: vec![],
            instances: vec![],
            source_symbols: vec![],
            target_symbols: vec![],
        }
    }

    /// Appends a line for every instance of a rule: `[X] ||| source ||| target ||| Count=1 ||| links`.
    pub fn extract(&mut self, pair: &Pair, out: &mut Vec<u8>) {
        self.find_phrases(pair);
        for i in 0..self.phrases.len() {
            let phrase = self.phrases[i];
            self.instances.clear();
            if phrase.s1 - phrase.s0 <= self.config.max_symbols {
                self.instances.push(0);
            }
            let mut holes = vec![];
            self.find_holes(&phrase, phrase.s0, phrase.s0, 0, phrase.links, &mut holes);
            self.write(pair, &phrase, out);
        }
    }

    fn find_phrases(&mut self, pair: &Pair) {
        let (n, m) = (pair.source.len(), pair.target.len());
        fn reset(links: &mut Vec<Option<(usize, usize)>>, len: usize) {
            links.clear();
            links.resize(len, None);
        }
        reset(&mut self.source_links, n);
        reset(&mut self.target_links, m);
        let widen = |range: &mut Option<(usize, usize)>, x: usize| {
            *range = Some(range.map_or((x, x), |(a, b)| (a.min(x), b.max(x))));
        };
        let mut counts = vec![0; n];
        for &(s, t) in pair.links {
            widen(&mut self.source_links[s as usize], t as usize);
            widen(&mut self.target_links[t as usize], s as usize);
            counts[s as usize] += 1;
        }
        self.phrases.clear();
        self.starts.clear();
        for s0 in 0..n {
            self.starts.push(self.phrases.len());
            if !self.config.loose && self.source_links[s0].is_none() {
                continue;
            }
            let mut range = None;
            let mut links = 0;
            for s1 in s0 + 1..=n.min(s0 + self.config.max_phrase) {
                let last = self.source_links[s1 - 1];
                links += counts[s1 - 1];
                if let Some((a, b)) = last {
                    widen(&mut range, a);
                    widen(&mut range, b);
                } else if !self.config.loose {
                    continue;
                }
                let Some((t0, t1)) = range.map(|(a, b)| (a, b + 1)) else { continue };
                if t1 - t0 > self.config.max_target {
                    break;
                }
                let outside = |link: &Option<(usize, usize)>| link.is_some_and(|(a, b)| a < s0 || b >= s1);
                if self.target_links[t0..t1].iter().any(outside) {
                    continue;
                }
                self.add(Phrase { s0, s1, t0, t1, links });
            }
        }
        self.starts.push(self.phrases.len());
    }

    /// Adds a phrase and, if that is wanted, those with more unaligned words of the target.
    fn add(&mut self, phrase: Phrase) {
        if !self.config.loose {
            return self.phrases.push(phrase);
        }
        let mut t0 = phrase.t0;
        loop {
            let mut t1 = phrase.t1;
            while t1 - t0 <= self.config.max_target {
                self.phrases.push(Phrase { t0, t1, ..phrase });
                if self.target_links.get(t1).is_none_or(|l| l.is_some()) {
                    break;
                }
                t1 += 1;
            }
            if t0 == 0 || self.target_links[t0 - 1].is_some() {
                return;
            }
            t0 -= 1;
        }
    }

    /// Instances of `phrase` with more nonterminals than `holes`: the next begins at `from` or later. `end` is where the
    /// source is written to, with `symbols` symbols; `links` are not in holes.
    fn find_holes(
        &mut self,
        phrase: &Phrase,
        from: usize,
        end: usize,
        symbols: usize,
        links: usize,
        holes: &mut Vec<usize>,
    ) {
        if holes.len() == self.config.rank {
            return;
        }
        for s0 in from..phrase.s1 {
            let symbols = symbols + (s0 - end) + 1;
            if symbols > self.config.max_symbols {
                return;
            }
            for i in self.starts[s0]..self.starts[s0 + 1] {
                let hole = self.phrases[i];
                let apart = |&h: &usize| self.phrases[h].t1 <= hole.t0 || hole.t1 <= self.phrases[h].t0;
                if hole.s1 - hole.s0 < self.config.min_hole || !phrase.has(&hole) || !holes.iter().all(apart) {
                    continue;
                }
                // No word pair left, and further holes only take more.
                if hole.links >= links {
                    continue;
                }
                holes.push(i);
                if symbols + (phrase.s1 - hole.s1) <= self.config.max_symbols {
                    self.instances.push(holes.len());
                    self.instances.extend_from_slice(holes);
                }
                let next = hole.s1 + usize::from(!self.config.adjacent);
                self.find_holes(phrase, next, hole.s1, symbols, links - hole.links, holes);
                holes.pop();
            }
        }
    }

    fn write(&mut self, pair: &Pair, phrase: &Phrase, out: &mut Vec<u8>) {
        let instances = std::mem::take(&mut self.instances);
        let mut number = 0;
        let mut at = 0;
        while at < instances.len() {
            at += instances[at] + 1;
            number += 1;
        }
        let count = match self.config.counts {
            Counts::Unit => UNIT,
            Counts::Fractional => (UNIT / number.max(1)).max(1),
        };
        let mut rest = &instances[..];
        while let Some((&rank, after)) = rest.split_first() {
            let (holes, after) = after.split_at(rank);
            rest = after;
            self.write_rule(pair, phrase, holes, count, out);
        }
        self.instances = instances;
    }

    fn write_rule(&mut self, pair: &Pair, phrase: &Phrase, holes: &[usize], count: u64, out: &mut Vec<u8>) {
        let spans = |f: fn(&Phrase) -> (usize, usize)| -> smallvec::SmallVec<[(usize, usize, usize); 4]> {
            holes.iter().enumerate().map(|(i, &h)| (f(&self.phrases[h]).0, f(&self.phrases[h]).1, i + 1)).collect()
        };
        let source_holes = spans(|p| (p.s0, p.s1));
        let mut target_holes = spans(|p| (p.t0, p.t1));
        target_holes.sort_unstable();
        out.extend_from_slice(b"[X] |||");
        write_side(pair.source, (phrase.s0, phrase.s1), &source_holes, &mut self.source_symbols, out);
        out.extend_from_slice(b" |||");
        write_side(pair.target, (phrase.t0, phrase.t1), &target_holes, &mut self.target_symbols, out);
        out.extend_from_slice(b" ||| Count=");
        write_count(count, out);
        out.extend_from_slice(b" |||");
        let first = pair.links.partition_point(|l| (l.0 as usize) < phrase.s0);
        for &(s, t) in pair.links[first..].iter().take_while(|l| (l.0 as usize) < phrase.s1) {
            let s = self.source_symbols[s as usize - phrase.s0];
            // A link into a hole is not of this rule; the other end is in the same hole.
            if s != usize::MAX {
                let link = (s as u16, self.target_symbols[t as usize - phrase.t0] as u16);
                write_link(link, out);
            }
        }
        out.push(b'\n');
    }
}

fn write_link((s, t): Link, out: &mut Vec<u8>) {
    let mut text = String::with_capacity(12);
    text.push(' ');
    crate::format::number::write_int(&mut text, s as i64);
    text.push('-');
    crate::format::number::write_int(&mut text, t as i64);
    out.extend_from_slice(text.as_bytes());
}

/// Writes words and nonterminals; notes the symbol that each word is, `usize::MAX` for words in holes.
fn write_side(
    words: &[&str],
    (from, to): (usize, usize),
    holes: &[(usize, usize, usize)],
    symbols: &mut Vec<usize>,
    out: &mut Vec<u8>,
) {
    symbols.clear();
    let mut holes = holes.iter().peekable();
    let mut at = from;
    let mut symbol = 0;
    while at < to {
        out.push(b' ');
        if let Some(&(_, end, link)) = holes.next_if(|h| h.0 == at) {
            out.extend_from_slice(b"[X,");
            out.extend_from_slice(link.to_string().as_bytes());
            out.push(b']');
            symbols.resize(end - from, usize::MAX);
            at = end;
        } else {
            out.extend_from_slice(words[at].as_bytes());
            symbols.push(symbol);
            at += 1;
        }
        symbol += 1;
    }
}

/// A count of millionths as a decimal number.
pub fn write_count(count: u64, out: &mut Vec<u8>) {
    let mut text = String::with_capacity(12);
    crate::format::number::write_int(&mut text, (count / UNIT) as i64);
    if !count.is_multiple_of(UNIT) {
        text.push_str(format!(".{:06}", count % UNIT).trim_end_matches('0'));
    }
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(source: &str, target: &str, links: &[Link], config: &Config) -> Vec<String> {
        let (source, target): (Vec<_>, Vec<_>) = (source.split(' ').collect(), target.split(' ').collect());
        let mut out = vec![];
        Extractor::new(config).extract(&Pair { source: &source, target: &target, links }, &mut out);
        let mut lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(String::from).collect();
        lines.sort();
        lines
    }

    #[test]
    fn a_pair_that_is_turned_round() {
        assert_eq!(
            rules("a b", "y x", &[(0, 1), (1, 0)], &Config::default()),
            [
                "[X] ||| [X,1] b ||| y [X,1] ||| Count=1 ||| 1-0",
                "[X] ||| a [X,1] ||| [X,1] x ||| Count=1 ||| 0-1",
                "[X] ||| a b ||| y x ||| Count=1 ||| 0-1 1-0",
                "[X] ||| a ||| x ||| Count=1 ||| 0-0",
                "[X] ||| b ||| y ||| Count=1 ||| 0-0",
            ]
        );
        let fractional = Config { counts: Counts::Fractional, ..Config::default() };
        let all = rules("a b", "y x", &[(0, 1), (1, 0)], &fractional);
        assert_eq!(all[0], "[X] ||| [X,1] b ||| y [X,1] ||| Count=0.333333 ||| 1-0");
    }

    #[test]
    fn unaligned_edges() {
        let tight = rules("a b", "x y", &[(0, 0)], &Config::default());
        assert_eq!(tight, ["[X] ||| a ||| x ||| Count=1 ||| 0-0"]);
        let loose = Config { loose: true, rank: 0, ..Config::default() };
        assert_eq!(rules("a b", "x y", &[(0, 0)], &loose).len(), 4);
    }

    #[test]
    fn counts_are_decimal() {
        for (count, want) in [(UNIT, "1"), (1, "0.000001"), (2 * UNIT + UNIT / 2, "2.5")] {
            let mut out = vec![];
            write_count(count, &mut out);
            assert_eq!(out, want.as_bytes());
        }
    }
}
