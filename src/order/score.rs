//! How good ordered sentences are: BLEU, and how many are exactly those that were meant; all together and by size of the bag.
//!
//! BLEU is that of `weft eval bleu --tok none`.

use std::collections::BTreeMap;

use crate::eval::bleu::{Bleu, BleuStats, Smoothing};
use crate::eval::metric::Workspace;
use crate::eval::tokenize::Tokenizer;

/// What is counted of a sentence or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub sentences: u64,
    pub exact: u64,
    bleu: BleuStats,
}

/// BLEU on the tokens as they are.
const BLEU: Bleu =
    Bleu { tokenizer: Tokenizer::None, smoothing: Smoothing::Exp, lowercase: false, effective_order: false };

impl Stats {
    pub fn of(reference: &str, output: &str, work: &mut Workspace) -> Self {
        let exact = reference.split_ascii_whitespace().eq(output.split_ascii_whitespace());
        Stats { sentences: 1, exact: u64::from(exact), bleu: BLEU.stats(&[reference], output, work) }
    }

    pub fn add(&mut self, other: &Stats) {
        self.sentences += other.sentences;
        self.exact += other.exact;
        self.bleu += other.bleu;
    }

    /// From 0 to 100.
    pub fn bleu(&self) -> f64 {
        self.bleu.corpus_bleu()
    }

    /// BLEU of a single sentence, from 0 to 100.
    pub fn sentence_bleu(&self) -> f64 {
        self.bleu.sentence_bleu()
    }

    /// Sentences that are exactly as meant, from 0 to 100.
    pub fn exact_rate(&self) -> f64 {
        100.0 * self.exact as f64 / self.sentences.max(1) as f64
    }
}

/// All sentences, and by size of the bag in classes: 1-5, 6-10, ...
#[derive(Clone, Debug, Default)]
pub struct BySize {
    pub all: Stats,
    /// By the number of a class, from 0.
    pub classes: BTreeMap<usize, Stats>,
}

/// Sizes of a class.
pub const CLASS: usize = 5;

impl BySize {
    pub fn add(&mut self, reference: &str, stats: &Stats) {
        self.all.add(stats);
        let size = reference.split_ascii_whitespace().count();
        self.classes.entry(size.saturating_sub(1) / CLASS).or_default().add(stats);
    }
    /// The first and last size of a class.
    pub fn sizes(class: usize) -> (usize, usize) {
        (class * CLASS + 1, (class + 1) * CLASS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_small_things() {
        let work = &mut Workspace::default();
        assert!((Stats::of("a b c d e", "a b c d e", work).bleu() - 100.0).abs() < 1e-9);
        // Computed by hand: 5/5, 3/4, 2/3, 1/2.
        let s = Stats::of("a b c d e", "b c d e a", work);
        assert!((s.bleu() - 100.0 * (0.75f64 * 2.0 / 3.0 * 0.5).powf(0.25)).abs() < 1e-9, "{}", s.bleu());
        let mut by_size = BySize::default();
        by_size.add("a b c d e", &s);
        by_size.add("a b c d e f", &Stats::of("a b c d e f", "a b c d e f", work));
        assert_eq!((by_size.all.sentences, by_size.all.exact, by_size.all.exact_rate()), (2, 1, 50.0));
        assert_eq!(by_size.classes.keys().map(|&c| BySize::sizes(c)).collect::<Vec<_>>(), [(1, 5), (6, 10)]);
    }
}
