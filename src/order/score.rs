//! How good ordered sentences are: BLEU, and how many are exactly those that were meant.
//!
//! BLEU is that of sacreBLEU without tokenisation: orders 1 to 4, brevity penalty, exponential smoothing.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// What BLEU is made of, of a sentence or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub sentences: u64,
    pub exact: u64,
    words: u64,
    meant: u64,
    matched: [u64; 4],
    ngrams: [u64; 4],
}

impl Stats {
    pub fn of(reference: &str, output: &str) -> Self {
        let (meant, words): (Vec<&str>, Vec<&str>) =
            (reference.split_ascii_whitespace().collect(), output.split_ascii_whitespace().collect());
        let mut s = Stats {
            sentences: 1,
            exact: u64::from(meant == words),
            words: words.len() as u64,
            meant: meant.len() as u64,
            ..Stats::default()
        };
        for n in 1..=4 {
            let mut left: HashMap<&[&str], u64, FxBuildHasher> = HashMap::default();
            meant.windows(n).for_each(|g| *left.entry(g).or_default() += 1);
            for ngram in words.windows(n) {
                s.ngrams[n - 1] += 1;
                if let Some(count) = left.get_mut(ngram).filter(|c| **c > 0) {
                    *count -= 1;
                    s.matched[n - 1] += 1;
                }
            }
        }
        s
    }

    pub fn add(&mut self, other: &Stats) {
        self.sentences += other.sentences;
        self.exact += other.exact;
        self.words += other.words;
        self.meant += other.meant;
        for n in 0..4 {
            self.matched[n] += other.matched[n];
            self.ngrams[n] += other.ngrams[n];
        }
    }

    /// From 0 to 100.
    pub fn bleu(&self) -> f64 {
        let mut smooth = 1.0;
        let mut sum = 0.0;
        let mut orders = 0.0;
        for n in 0..4 {
            if self.ngrams[n] == 0 {
                break;
            }
            orders += 1.0;
            let precision = match self.matched[n] {
                0 => {
                    smooth *= 2.0;
                    1.0 / (smooth * self.ngrams[n] as f64)
                }
                m => m as f64 / self.ngrams[n] as f64,
            };
            sum += precision.ln();
        }
        if orders == 0.0 || self.words == 0 || self.matched[0] == 0 {
            return 0.0;
        }
        let brevity = (1.0 - self.meant as f64 / self.words as f64).min(0.0);
        100.0 * (brevity + sum / 4.0).exp()
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
    fn bleu_of_small_things() {
        assert_eq!(Stats::of("a b c d e", "a b c d e").bleu(), 100.0);
        assert_eq!(Stats::of("a b c", "x y z").bleu(), 0.0);
        // Computed by hand: 5/5, 3/4, 2/3, 1/2.
        let s = Stats::of("a b c d e", "b c d e a");
        assert!((s.bleu() - 100.0 * (0.75f64 * 2.0 / 3.0 * 0.5).powf(0.25)).abs() < 1e-9, "{}", s.bleu());
        let mut sum = s;
        sum.add(&Stats::of("a b", "a b"));
        assert_eq!((sum.sentences, sum.exact, sum.exact_rate()), (2, 1, 50.0));
    }
}
