//! BLEU of strings of numbers against references: the counts of `eval::bleu`.

use crate::eval::bleu::BleuStats;
use crate::eval::ngram::Matcher;

pub use crate::eval::bleu::ORDER;

/// A word of a hypothesis that is in no reference.
pub const OTHER: u32 = 0;

/// The references of a sentence, whose words are numbers from 1, and memory for counting.
pub struct References<'a> {
    words: Vec<&'a [u32]>,
    /// The number that stands for `OTHER` while words are counted: the least that no reference has.
    other: u32,
    hypothesis: Vec<u32>,
    matcher: Matcher,
}

impl<'a> References<'a> {
    pub fn new(references: &'a [Vec<u32>]) -> Self {
        let words: Vec<&[u32]> = references.iter().map(|r| &r[..]).collect();
        let most = words.iter().flat_map(|r| r.iter()).max();
        References { other: most.map_or(1, |m| m + 1), words, hypothesis: vec![], matcher: Matcher::default() }
    }

    pub fn stats(&mut self, words: &[u32]) -> BleuStats {
        self.hypothesis.clear();
        self.hypothesis.extend(words.iter().map(|&w| if w == OTHER { self.other } else { w }));
        let most = self.hypothesis.iter().fold(self.other, |most, &w| most.max(w));
        BleuStats::of(&self.hypothesis, &self.words, most as usize, &mut self.matcher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hypothesis: &[u32], references: &[&[u32]]) -> BleuStats {
        References::new(&references.iter().map(|r| r.to_vec()).collect::<Vec<_>>()).stats(hypothesis)
    }

    #[test]
    fn counts_are_clipped_and_the_nearest_length_counts() {
        let s = of(&[1, 1, 1, 2, 0], &[&[1, 2, 3], &[1, 1, 4, 5, 6, 7, 8]]);
        assert_eq!(s.counts, [3, 2, 0, 0]);
        assert_eq!(s.totals, [5, 4, 3, 2]);
        assert_eq!((s.sys_len, s.ref_len), (5, 3));
    }

    #[test]
    fn scores() {
        assert!((of(&[1, 2, 3, 4], &[&[1, 2, 3, 4]]).sentence_bleu() - 100.0).abs() < 1e-9);
        // Too short for 4-grams: they do not count for a sentence, and leave nothing of a corpus.
        let short = of(&[1, 2, 3], &[&[1, 2, 3]]);
        assert!((short.sentence_bleu() - 100.0).abs() < 1e-9);
        assert_eq!(short.corpus_bleu(), 0.0);
        assert_eq!(of(&[0, 0], &[&[1, 2]]).sentence_bleu(), 0.0);
        assert_eq!(of(&[], &[&[1, 2]]).sentence_bleu(), 0.0);
        // 4 of 5, 2 of 4, 0 of 3 (1/6), 0 of 2 (1/8); one word too short.
        let s = of(&[1, 2, 9, 3, 4], &[&[1, 2, 3, 4, 5, 6]]);
        let want = 100.0 * (0.8f64 * 0.5 / 6.0 / 8.0).powf(0.25) * (1.0 - 6.0f64 / 5.0).exp();
        assert!((s.sentence_bleu() - want).abs() < 1e-9, "{}", s.sentence_bleu());
    }
}
