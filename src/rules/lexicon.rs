//! Word translation probabilities from word alignments, and lexical weights of rules.
//!
//! Koehn, Och and Marcu, "Statistical Phrase-Based Translation" (2003), section 4.4: w(t|s) is the share of the links of s
//! that lead to t; a word without a link is linked to NULL. The weight of a target side given the source side is the
//! product over its words of the mean of w(t|s) over the words s linked to t, or w(t|NULL). The file has a line
//! `source<TAB>target<TAB>count` for every pair, NULL written `<eps>`; equal lines add up, so that parts of a corpus can be
//! counted apart and put together with `cat`. All pairs are held in memory, about 24 bytes each.

use rustc_hash::FxHashMap;

use super::rule::{Rule, Symbol};
use crate::error::{Error, Result};
use crate::text::lines::Blocks;
use crate::text::parallel::Pair;
use crate::text::vocab::{EPSILON, Vocab, WordId};

/// The probability of a pair of words that was never linked, in rules that come from elsewhere.
const FLOOR: f64 = 1e-10;

#[derive(Default)]
pub struct Lexicon {
    source: Vocab,
    target: Vocab,
    /// Links by the numbers of both words; 0 is NULL.
    counts: FxHashMap<(WordId, WordId), u64>,
    source_totals: Vec<u64>,
    target_totals: Vec<u64>,
}

impl Lexicon {
    /// Counts the links of a pair.
    pub fn add(&mut self, pair: &Pair) {
        let source: Vec<WordId> = pair.source.iter().map(|w| self.source.add(w)).collect();
        let target: Vec<WordId> = pair.target.iter().map(|w| self.target.add(w)).collect();
        let mut linked = (vec![false; source.len()], vec![false; target.len()]);
        for &(s, t) in pair.links {
            let (s, t) = (s as usize, t as usize);
            (linked.0[s], linked.1[t]) = (true, true);
            self.count(source[s], target[t], 1);
        }
        for (&word, _) in source.iter().zip(&linked.0).filter(|(_, linked)| !**linked) {
            self.count(word, 0, 1);
        }
        for (&word, _) in target.iter().zip(&linked.1).filter(|(_, linked)| !**linked) {
            self.count(0, word, 1);
        }
    }

    fn count(&mut self, s: WordId, t: WordId, count: u64) {
        *self.counts.entry((s, t)).or_default() += count;
        for (totals, id) in [(&mut self.source_totals, s), (&mut self.target_totals, t)] {
            if totals.len() <= id as usize {
                totals.resize(id as usize + 1, 0);
            }
            totals[id as usize] += count;
        }
    }

    /// Adds the counts of another part of the corpus.
    pub fn merge(&mut self, other: &Lexicon) {
        let source: Vec<WordId> = other.source.iter().map(|(_, w)| self.source.add(w)).collect();
        let target: Vec<WordId> = other.target.iter().map(|(_, w)| self.target.add(w)).collect();
        for (&(s, t), &n) in &other.counts {
            self.count(source[s as usize], target[t as usize], n);
        }
    }

    /// Reads a file of counts.
    pub fn read(name: &str) -> Result<Self> {
        let mut lexicon = Lexicon::default();
        let mut blocks = Blocks::open(name)?;
        while let Some(block) = blocks.next_block()? {
            for (number, line) in block.lines() {
                let mut fields = line.split('\t');
                let (Some(s), Some(t), Some(count), None) =
                    (fields.next(), fields.next(), fields.next(), fields.next())
                else {
                    return Err(Error::text(&block.file, number, 1, "expected source<TAB>target<TAB>count"));
                };
                let Ok(n) = count.trim_end().parse() else {
                    let column = line[..line.len() - count.len()].chars().count() + 1;
                    return Err(Error::text(&block.file, number, column, format!("expected a count, found {count:?}")));
                };
                let (s, t) = (lexicon.source.add(s), lexicon.target.add(t));
                lexicon.count(s, t, n);
            }
        }
        Ok(lexicon)
    }

    /// The counts as lines, sorted.
    pub fn write(&self) -> Vec<u8> {
        let name = |vocab: &Vocab, id| if id == 0 { EPSILON.to_string() } else { vocab.word(id).to_string() };
        let mut lines: Vec<String> = self
            .counts
            .iter()
            .map(|(&(s, t), n)| format!("{}\t{}\t{n}\n", name(&self.source, s), name(&self.target, t)))
            .collect();
        lines.sort_unstable();
        lines.concat().into_bytes()
    }

    fn share(&self, s: WordId, t: WordId, total: &[u64], of: WordId) -> f64 {
        let count = self.counts.get(&(s, t)).copied().unwrap_or(0);
        let total = total.get(of as usize).copied().unwrap_or(0);
        if count == 0 { 0.0 } else { count as f64 / total as f64 }
    }

    /// Costs of the target's words given the source, and the other way round: −ln of the lexical weights.
    pub fn weights(&self, rule: &Rule) -> (f64, f64) {
        const UNKNOWN: WordId = WordId::MAX;
        let id = |vocab: &Vocab, symbol: &Symbol| match symbol {
            Symbol::Word(word) => vocab.find(word).unwrap_or(UNKNOWN),
            Symbol::Nonterminal { .. } => UNKNOWN,
        };
        let source: Vec<WordId> = rule.source.iter().map(|s| id(&self.source, s)).collect();
        let target: Vec<WordId> = rule.target.iter().map(|s| id(&self.target, s)).collect();
        let mut costs = (0.0, 0.0);
        for (j, _) in rule.target.iter().enumerate().filter(|(_, s)| s.is_word()) {
            let links = rule.alignment.iter().filter(|l| l.1 as usize == j).map(|l| source[l.0 as usize]);
            costs.0 += cost(links, |s| self.share(s, target[j], &self.source_totals, s));
        }
        for (i, _) in rule.source.iter().enumerate().filter(|(_, s)| s.is_word()) {
            let links = rule.alignment.iter().filter(|l| l.0 as usize == i).map(|l| target[l.1 as usize]);
            costs.1 += cost(links, |t| self.share(source[i], t, &self.target_totals, t));
        }
        costs
    }
}

/// −ln of the mean of `share` over the linked words, or over NULL.
fn cost(links: impl Iterator<Item = WordId>, share: impl Fn(WordId) -> f64) -> f64 {
    let (mut sum, mut n) = (0.0, 0);
    for id in links {
        sum += share(id);
        n += 1;
    }
    let mean = if n == 0 { share(0) } else { sum / n as f64 };
    0.0 - mean.max(FLOOR).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::format::{RuleFormat, parse};

    #[test]
    fn weights_by_hand() {
        let mut lexicon = Lexicon::default();
        let pair = |links: &[(u16, u16)], lexicon: &mut Lexicon| {
            lexicon.add(&Pair { source: &["a", "b"], target: &["x", "y", "z"], links });
        };
        pair(&[(0, 0), (1, 0)], &mut lexicon);
        pair(&[(0, 0), (0, 1)], &mut lexicon);
        // w(x|a) 2/3, w(y|a) 1/3, w(x|b) 1/2, w(NULL|b) 1/2; from NULL: y once, z twice.
        let rule = "[X] ||| a [X,1] b ||| x [X,1] z ||| ||| 0-0 2-0";
        let rule = parse(RuleFormat::Cdec, "t", 1, rule).unwrap().unwrap();
        let (e, f) = lexicon.weights(&rule);
        let want = -((2.0f64 / 3.0 + 1.0 / 2.0) / 2.0).ln() - (2.0f64 / 3.0).ln();
        assert!((e - want).abs() < 1e-12, "{e} {want}");
        // w(a|x) 2/3, w(b|x) 1/3.
        assert!((f + (2.0f64 / 9.0).ln()).abs() < 1e-12);
        let text = String::from_utf8(lexicon.write()).unwrap();
        assert_eq!(text, "<eps>\ty\t1\n<eps>\tz\t2\na\tx\t2\na\ty\t1\nb\t<eps>\t1\nb\tx\t1\n");
    }
}
