//! Features of rules from their counts, in two steps over sorted lines.
//!
//! ```text
//! [X] ||| a [X,1] ||| [X,1] x ||| Count=3 ||| 0-1
//!   ──invert──► [X,1] x ||| [X] ||| a [X,1] ||| Count=3 ||| 0-1        sorted by target
//!   ──by_target──► [X] ||| a [X,1] ||| [X,1] x ||| FgivenE=0.5 Count=3 ||| 0-1   sorted by source
//!   ──by_source──► ... ||| EgivenF=0.1 FgivenE=0.5 LexEgivenF=1 LexFgivenE=1 CountMore=1 WordCount=1 RuleCount=1 Count=3 ||| 0-1
//! ```
//!
//! All are costs: `EgivenF`, `FgivenE` are −ln of relative frequencies (the left side belongs to the source), `LexEgivenF`,
//! `LexFgivenE` −ln of lexical weights (see `lexicon`). `Count1`, `Count2`, `CountMore` are 1 for rules seen once, twice,
//! more often (a fractional count belongs to the next whole one), `WordCount` is the number of target words, `RuleCount` 1,
//! `Count` the count itself. What is 0 of the indicators is left out. Costs are rounded to six decimals.
//!
//! For p(source|target) the nonterminals of the target are numbered from left to right and those of the source after
//! them, so that every rule with the same target string counts. The rules of one side are held in memory together.
//! Rules of a source come with the most probable target first; equal ones in the order of their text.

use smallvec::SmallVec;

use super::combine;
use super::extract::UNIT;
use super::format::{self, RuleFormat};
use super::lexicon::Lexicon;
use super::stage::{self, separators};
use crate::error::{Error, Result};
use crate::text::align::words;
use crate::text::lines::Block;

/// The features in the order they are written.
pub const FEATURES: [&str; 10] = [
    "EgivenF",
    "FgivenE",
    "LexEgivenF",
    "LexFgivenE",
    "Count1",
    "Count2",
    "CountMore",
    "WordCount",
    "RuleCount",
    "Count",
];

/// The map step: rules turned round, to be sorted by target. Blank lines and comments are left out.
pub fn invert(block: &Block) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(block.text.len());
    let mut normal = vec![];
    for (number, line) in block.lines() {
        let Some(mut rule) = format::parse(RuleFormat::Cdec, &block.file, number, line)? else { continue };
        let count = combine::count_of(rule.feature("Count"), block, number, line)?;
        rule.features.clear();
        rule.features.push(("Count".into(), count as f64 / UNIT as f64));
        normal.clear();
        format::write(RuleFormat::Cdec, &rule, &mut normal);
        let text = std::str::from_utf8(&normal).unwrap_or_default();
        invert_line(text.trim_end(), &mut out);
    }
    Ok(out)
}

/// As `invert`, for the lines of `combine`.
pub fn invert_counted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    text.lines().for_each(|line| invert_line(line, &mut out));
    out
}

/// `[X] ||| source ||| target ||| rest` as `target ||| [X] ||| source ||| rest`.
fn invert_line(line: &str, out: &mut Vec<u8>) {
    let at = separators(line);
    let [first, second, third, ..] = at[..] else { return };
    let numbers = number_by(&line[second + 3..third]);
    write_side(&line[second + 3..third], &numbers, out);
    out.extend_from_slice(b"||| ");
    out.extend_from_slice(&line.as_bytes()[..first]);
    out.extend_from_slice(b"||| ");
    write_side(&line[first + 3..second], &numbers, out);
    out.extend_from_slice(&line.as_bytes()[third..]);
    out.push(b'\n');
}

/// Numbers that nonterminals have in a side, in the order of their appearance.
type Numbers<'a> = SmallVec<[&'a str; 4]>;

fn number_by(side: &str) -> Numbers<'_> {
    if !side.contains('[') {
        return Numbers::new();
    }
    words(side).filter_map(|token| nonterminal(token).map(|(_, number)| number)).collect()
}

/// `[X,1]`: what stands before the number, and the number.
fn nonterminal(token: &str) -> Option<(&str, &str)> {
    let (name, number) = token.strip_suffix(']').filter(|t| t.starts_with('['))?.rsplit_once(',')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some((name, number))
}

/// Writes the symbols of a side, a blank behind each, nonterminals with their place in `numbers`.
fn write_side(side: &str, numbers: &Numbers, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        let side = side.trim_matches(' ');
        out.extend_from_slice(side.as_bytes());
        if !side.is_empty() {
            out.push(b' ');
        }
        return;
    }
    for token in words(side) {
        let place = nonterminal(token).and_then(|(name, n)| Some((name, numbers.iter().position(|m| *m == n)?)));
        match place {
            Some((name, place)) => {
                out.extend_from_slice(name.as_bytes());
                out.push(b',');
                out.extend_from_slice((place + 1).to_string().as_bytes());
                out.push(b']');
            }
            None => out.extend_from_slice(token.as_bytes()),
        }
        out.push(b' ');
    }
}

/// The first reduce step: rules the right way round again, with `FgivenE`.
pub fn by_target(block: &Block) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(block.text.len() * 5 / 4);
    let mut last = "";
    let mut counts = vec![];
    for (number, group) in stage::groups(block, stage::first_key) {
        let key = stage::first_key(group[0]);
        if key < last {
            return Err(stage::unsorted(block, number));
        }
        last = key;
        counts.clear();
        for (i, line) in group.iter().enumerate() {
            counts.push(inverted_count(block, number + i, line, key)?);
        }
        let total = counts.iter().sum();
        for (line, &count) in group.into_iter().zip(&counts) {
            let at = separators(line);
            let [first, second, third, ..] = at[..] else { continue };
            let numbers = number_by(&line[second + 3..third]);
            out.extend_from_slice(line[first + 3..second].trim().as_bytes());
            out.extend_from_slice(b" ||| ");
            write_side(&line[second + 3..third], &numbers, &mut out);
            out.extend_from_slice(b"||| ");
            write_side(&line[..first], &numbers, &mut out);
            out.extend_from_slice(b"||| FgivenE=");
            format::write_number(cost(count, total), &mut out);
            out.extend_from_slice(&line.as_bytes()[third + 3..]);
            out.push(b'\n');
        }
    }
    Ok(out)
}

/// The count of a line of `invert`.
fn inverted_count(block: &Block, number: usize, line: &str, key: &str) -> Result<u64> {
    let rest = line[key.len()..].rsplit_once("Count=").map(|r| r.1);
    let count = rest.map(|r| &r[..r.find(' ').unwrap_or(r.len())]);
    let Some(count) = count.filter(|_| separators(line).len() >= 3) else {
        let message = "expected target ||| [X] ||| source ||| Count=1, as score --map writes it";
        return Err(Error::text(&block.file, number, 1, message));
    };
    combine::count_of(count.parse().ok(), block, number, line)
}

/// −ln of the share, with six decimals.
fn cost(count: u64, total: u64) -> f64 {
    rounded(0.0 - (count as f64 / total as f64).ln())
}

fn rounded(x: f64) -> f64 {
    // Not `-0`.
    (x * 1e6).round() / 1e6 + 0.0
}

/// The second reduce step: all features. Without a lexicon there are no lexical weights.
pub fn by_source(block: &Block, lexicon: Option<&Lexicon>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(block.text.len() * 2);
    let mut last = "";
    for (number, group) in stage::groups(block, stage::source_key) {
        let key = stage::source_key(group[0]);
        if key < last {
            return Err(stage::unsorted(block, number));
        }
        last = key;
        let mut rules = Vec::with_capacity(group.len());
        let mut total = 0;
        for (i, line) in group.into_iter().enumerate() {
            let Some(rule) = format::parse(RuleFormat::Cdec, &block.file, number + i, line)? else {
                return Err(Error::text(&block.file, number + i, 1, "expected a rule"));
            };
            let count = combine::count_of(rule.feature("Count"), block, number + i, line)?;
            total += count;
            rules.push(Scored {
                line,
                count,
                given: rule.feature("FgivenE"),
                lexical: lexicon.map(|lexicon| lexicon.weights(&rule)),
                words: rule.target.iter().filter(|s| s.is_word()).count(),
            });
        }
        // They come in the order of their text, and the sort is stable.
        rules.sort_by_key(|r| std::cmp::Reverse(r.count));
        rules.iter().for_each(|rule| rule.write(total, &mut out));
    }
    Ok(out)
}

/// A rule and what its features are made of.
struct Scored<'a> {
    line: &'a str,
    count: u64,
    /// The cost of the source given the target.
    given: Option<f64>,
    lexical: Option<(f64, f64)>,
    words: usize,
}

impl Scored<'_> {
    fn write(&self, total: u64, out: &mut Vec<u8>) {
        let at = separators(self.line);
        let end = at.get(2).map_or(self.line.len(), |i| i + 3);
        out.extend_from_slice(&self.line.as_bytes()[..end]);
        let mut feature = |name: &str, value: f64| {
            out.push(b' ');
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            format::write_number(value, out);
        };
        feature("EgivenF", cost(self.count, total));
        if let Some(given) = self.given {
            feature("FgivenE", given);
        }
        if let Some((e, f)) = self.lexical {
            feature("LexEgivenF", rounded(e));
            feature("LexFgivenE", rounded(f));
        }
        feature(["Count1", "Count2", "CountMore"][self.count.div_ceil(UNIT).clamp(1, 3) as usize - 1], 1.0);
        if self.words > 0 {
            feature("WordCount", self.words as f64);
        }
        feature("RuleCount", 1.0);
        feature("Count", self.count as f64 / UNIT as f64);
        if let Some(links) = at.get(3) {
            out.push(b' ');
            out.extend_from_slice(self.line[*links..].trim_end().as_bytes());
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        Block { file: "t".into(), line: 1, text: text.into() }
    }

    #[test]
    fn a_rule_is_turned_round_and_back() {
        let rule = "[X] ||| a [X,1] b [X,2] ||| [X,2] x [X,1] ||| Count=3 ||| 0-1\n";
        let inverted = String::from_utf8(invert(&block(rule)).unwrap()).unwrap();
        assert_eq!(inverted, "[X,1] x [X,2] ||| [X] ||| a [X,2] b [X,1] ||| Count=3 ||| 0-1\n");
        let back = String::from_utf8(by_target(&block(&inverted)).unwrap()).unwrap();
        assert_eq!(back, "[X] ||| a [X,1] b [X,2] ||| [X,2] x [X,1] ||| FgivenE=0 Count=3 ||| 0-1\n");
        let scored = String::from_utf8(by_source(&block(&back), None).unwrap()).unwrap();
        assert!(scored.ends_with("||| EgivenF=0 FgivenE=0 CountMore=1 WordCount=1 RuleCount=1 Count=3 ||| 0-1\n"));
    }

    #[test]
    fn deletions_are_scored_too() {
        let inverted = invert(&block("[X] ||| a ||| ||| Count=1\n[X] ||| b ||| ||| Count=1\n")).unwrap();
        let inverted = String::from_utf8(inverted).unwrap();
        assert_eq!(inverted, "||| [X] ||| a ||| Count=1\n||| [X] ||| b ||| Count=1\n");
        let back = String::from_utf8(by_target(&block(&inverted)).unwrap()).unwrap();
        assert!(back.starts_with("[X] ||| a ||| ||| FgivenE=0.693147 Count=1\n"), "{back}");
    }

    #[test]
    fn bad_lines_have_a_place() {
        let wrong = |r: Result<Vec<u8>>, want: &str| {
            let e = r.unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        };
        wrong(invert(&block("[X] ||| a ||| b\n")), "t:1:16: the rule has no Count");
        wrong(invert(&block("[X] ||| a ||| b ||| Count=0\n")), "t:1:27: expected a positive count");
        wrong(by_target(&block("x ||| [X]\n")), "t:1:1: expected target");
        wrong(
            by_target(&block("b ||| [X] ||| a ||| Count=1\na ||| [X] ||| a ||| Count=1\n")),
            "t:2:1: the lines are not",
        );
        wrong(by_source(&block("\n"), None), "t:1:1: expected a rule");
    }
}
