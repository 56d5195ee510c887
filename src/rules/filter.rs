//! Rules that a test set can use, and the best of them.
//!
//! A rule is kept if its source side matches a sentence: its words in order, at least one word under every nonterminal,
//! and the whole over at most `max_span` words. The limit is for rules with nonterminals whose left side is not S: plain
//! phrases and glue rules have any length. Then the patterns and counts are looked at, and of the rules with one left side
//! and source the `top` cheapest are kept; of equal ones those that come first. Rules with the same source must stand
//! together, as `weft rules score` writes them. Lines are kept as they are and in their order.
//!
//! Patterns: Iglesias, de Gispert, Banga and Byrne (2009). A source costs a look at the sentences that have its rarest word
//! or pair of adjacent words; the sentences are held in memory.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::format::{self, RuleFormat};
use super::pattern;
use super::rule::{Rule, Symbol};
use super::stage;
use crate::error::{Error, Result};
use crate::text::align::words;
use crate::text::lines::{Block, Blocks};
use crate::text::vocab::{Vocab, WordId};

/// What a rule costs.
pub type RuleCost = Box<dyn Fn(&Rule) -> f64 + Sync>;

/// What to keep; nothing set keeps everything.
#[derive(Default)]
pub struct Filter {
    pub sentences: Option<Sentences>,
    pub max_span: usize,
    /// Rules a source.
    pub top: Option<usize>,
    /// The feature that orders them.
    pub by: String,
    /// What orders them, instead of a feature.
    pub cost: Option<RuleCost>,
    /// The least `Count`.
    pub min_count: Option<f64>,
    /// Patterns to keep, if only some are.
    pub allow: Option<FxHashSet<String>>,
    pub deny: FxHashSet<String>,
}

/// How many rules there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub read: u64,
    pub kept: u64,
}

/// What lines of one source begin with.
pub fn key(format: RuleFormat) -> stage::Key {
    match format {
        RuleFormat::Cdec | RuleFormat::Joshua => stage::source_key,
        RuleFormat::Moses => stage::first_key,
        RuleFormat::Hifst => |line| {
            let mut ends = line.match_indices([' ', '\t']);
            ends.nth(1).map_or(line, |(end, _)| &line[..end])
        },
    }
}

impl Filter {
    /// The lines of a block that are kept.
    pub fn block(&self, format: RuleFormat, block: &Block) -> Result<(Vec<u8>, Kept)> {
        let mut out = vec![];
        let mut kept = Kept::default();
        for (number, group) in stage::groups(block, key(format)) {
            if matches!(format, RuleFormat::Cdec | RuleFormat::Joshua)
                && self.sentences.as_ref().is_some_and(|s| s.lack_word(stage::source_key(group[0])))
            {
                kept.read += group.len() as u64;
                continue;
            }
            let Some(first) = format::parse(format, &block.file, number, group[0])? else { continue };
            kept.read += group.len() as u64;
            if self.sentences.as_ref().is_some_and(|s| !s.match_rule(&first, self.max_span)) {
                continue;
            }
            let mut chosen: SmallVec<[(f64, usize); 16]> = SmallVec::new();
            for (i, line) in group.iter().enumerate() {
                let Some(rule) = format::parse(format, &block.file, number + i, line)? else { continue };
                if self.wants(&rule) {
                    chosen.push((self.cost(&rule, block, number + i, line)?, i));
                }
            }
            if let Some(top) = self.top.filter(|&top| top < chosen.len()) {
                chosen.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                chosen.truncate(top);
                chosen.sort_unstable_by_key(|c| c.1);
            }
            kept.kept += chosen.len() as u64;
            for (_, i) in chosen {
                out.extend_from_slice(group[i].as_bytes());
                out.push(b'\n');
            }
        }
        Ok((out, kept))
    }

    fn wants(&self, rule: &Rule) -> bool {
        if self.min_count.is_some_and(|least| rule.feature("Count").is_none_or(|count| count < least)) {
            return false;
        }
        if self.allow.is_none() && self.deny.is_empty() {
            return true;
        }
        let pattern = pattern::of(rule);
        !self.deny.contains(&pattern) && self.allow.as_ref().is_none_or(|allow| allow.contains(&pattern))
    }

    fn cost(&self, rule: &Rule, block: &Block, number: usize, line: &str) -> Result<f64> {
        if self.top.is_none() {
            return Ok(0.0);
        }
        if let Some(cost) = &self.cost {
            return Ok(cost(rule));
        }
        rule.feature(&self.by).ok_or_else(|| {
            let column = line.trim_end().chars().count() + 1;
            let message = format!("the rule has no {}; choose the feature to order by with --by", self.by);
            Error::text(&block.file, number, column, message)
        })
    }
}

/// A test set, to be asked for sources.
#[derive(Default)]
pub struct Sentences {
    vocab: Vocab,
    sentences: Vec<Vec<WordId>>,
    /// The sentences that have a word, or two words in a row (a word alone has 0 behind it).
    places: FxHashMap<(WordId, WordId), Vec<u32>>,
}

/// A word, or what a nonterminal covers.
type Part = Option<WordId>;

impl Sentences {
    /// Adds the sentences of a file, one a line.
    pub fn read(&mut self, name: &str) -> Result<()> {
        let mut blocks = Blocks::open(name)?;
        while let Some(block) = blocks.next_block()? {
            block.lines().for_each(|(_, line)| self.add(line));
        }
        Ok(())
    }

    pub fn add(&mut self, line: &str) {
        let sentence: Vec<WordId> = words(line).map(|w| self.vocab.add(w)).collect();
        let number = self.sentences.len() as u32;
        for (i, &word) in sentence.iter().enumerate() {
            let pair = sentence.get(i + 1).map(|&next| (word, next));
            for key in [Some((word, 0)), pair].into_iter().flatten() {
                let places = self.places.entry(key).or_default();
                if places.last() != Some(&number) {
                    places.push(number);
                }
            }
        }
        self.sentences.push(sentence);
    }

    /// True if a word of `[X] ||| source |||` is in no sentence: what most rules of a large file can be passed over by.
    fn lack_word(&self, key: &str) -> bool {
        let mut symbols = words(key);
        // A comment or a line that is no rule is for the reader.
        if symbols.next().is_none_or(|lhs| !lhs.starts_with('[')) || symbols.next() != Some("|||") {
            return false;
        }
        symbols.any(|symbol| symbol != "|||" && !symbol.starts_with('[') && self.vocab.find(symbol).is_none())
    }

    /// True if the source side matches a sentence.
    pub fn match_rule(&self, rule: &Rule, max_span: usize) -> bool {
        let mut parts: SmallVec<[Part; 8]> = SmallVec::new();
        for symbol in &rule.source {
            match symbol {
                Symbol::Nonterminal { .. } => parts.push(None),
                Symbol::Word(word) => match self.vocab.find(word) {
                    Some(id) => parts.push(Some(id)),
                    None => return false,
                },
            }
        }
        let keys = parts.iter().enumerate().filter_map(|(i, &part)| Some((i, part?)));
        let keys = keys.flat_map(|(i, word)| {
            let pair = parts.get(i + 1).copied().flatten().map(|next| (word, next));
            [Some((word, 0)), pair].into_iter().flatten()
        });
        let places = keys.map(|key| self.places.get(&key).map_or(&[][..], Vec::as_slice));
        // Without words a rule applies everywhere.
        let Some(rarest) = places.min_by_key(|p| p.len()) else { return true };
        let limited = rule.lhs != "S" && parts.iter().any(Option::is_none);
        let span = if limited { max_span } else { usize::MAX };
        rarest.iter().any(|&i| matches_sentence(&self.sentences[i as usize], &parts, span))
    }
}

fn matches_sentence(sentence: &[WordId], parts: &[Part], span: usize) -> bool {
    (0..sentence.len()).any(|start| {
        let window = &sentence[start..];
        matches_here(&window[..window.len().min(span)], parts)
    })
}

/// True if the parts match a beginning of the window.
fn matches_here(window: &[WordId], parts: &[Part]) -> bool {
    match parts.split_first() {
        None => true,
        Some((Some(word), rest)) => window.first() == Some(word) && matches_here(&window[1..], rest),
        Some((None, rest)) => (1..=window.len()).any(|n| matches_here(&window[n..], rest)),
    }
}

/// Counts the patterns of a block.
pub fn patterns(format: RuleFormat, block: &Block) -> Result<FxHashMap<String, u64>> {
    let mut counts = FxHashMap::default();
    for (number, line) in block.lines() {
        if let Some(rule) = format::parse(format, &block.file, number, line)? {
            *counts.entry(pattern::of(&rule)).or_default() += 1;
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_spans() {
        let mut sentences = Sentences::default();
        sentences.add("a b c d e");
        sentences.add("f a");
        let says = |source: &str, span| {
            let line = format!("[X] ||| {source} ||| {}", if source.contains('[') { "[1]" } else { "x" });
            let rule = format::parse(RuleFormat::Cdec, "t", 1, &line).unwrap().unwrap();
            sentences.match_rule(&rule, span)
        };
        assert!(says("a [X,1] d", 4) && !says("a [X,1] d", 3) && !says("a [X,1] b", 9));
        assert!(says("[X,1] a", 2) && !says("[X,1] a b", 5) && says("d [X,1]", 2) && !says("e [X,1]", 9));
        assert!(says("a b c d e", 2) && !says("a c", 9) && !says("z", 9));
    }
}
