//! BLEU of strings of numbers: counts against references, the sentence's and the corpus' score, as sacreBLEU has them.
//!
//! A sentence: matches of 1- to 4-grams, clipped at the most that one reference has; the reference length nearest to the
//! hypothesis' (the shorter of two). Orders without matches are smoothed by halving (`exp`); for a sentence only orders
//! that it is long enough for count (`effective order`), for a corpus all four.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

pub const ORDERS: usize = 4;

/// A word of a hypothesis that is in no reference.
pub const OTHER: u32 = 0;

/// An n-gram with `OTHER` after its end.
type Gram = [u32; ORDERS];

/// The references of a sentence; their words are numbers from 1.
#[derive(Clone, Debug, Default)]
pub struct References {
    most: HashMap<Gram, u32, FxBuildHasher>,
    lengths: Vec<usize>,
}

/// What BLEU is computed from; of several sentences, the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub matches: [u64; ORDERS],
    pub totals: [u64; ORDERS],
    pub length: u64,
    pub reference: u64,
}

/// All n-grams of all orders.
fn grams(words: &[u32]) -> impl Iterator<Item = (usize, Gram)> {
    (0..words.len()).flat_map(move |from| {
        (1..=ORDERS.min(words.len() - from)).map(move |n| {
            let mut gram = [OTHER; ORDERS];
            gram[..n].copy_from_slice(&words[from..from + n]);
            (n, gram)
        })
    })
}

impl References {
    pub fn new(references: &[Vec<u32>]) -> Self {
        let mut all = References::default();
        for words in references {
            let mut counts: HashMap<Gram, u32, FxBuildHasher> = HashMap::default();
            grams(words).for_each(|(_, gram)| *counts.entry(gram).or_default() += 1);
            for (gram, count) in counts {
                let most = all.most.entry(gram).or_default();
                *most = count.max(*most);
            }
            all.lengths.push(words.len());
        }
        all
    }

    pub fn stats(&self, words: &[u32]) -> Stats {
        let nearest = self.lengths.iter().copied().min_by_key(|&l| (l.abs_diff(words.len()), l));
        let mut stats =
            Stats { length: words.len() as u64, reference: nearest.unwrap_or(0) as u64, ..Stats::default() };
        let mut used: HashMap<Gram, u32, FxBuildHasher> = HashMap::default();
        for (n, gram) in grams(words) {
            stats.totals[n - 1] += 1;
            // A gram with a word that is in no reference looks like a shorter one.
            if gram[..n].contains(&OTHER) {
                continue;
            }
            let Some(&most) = self.most.get(&gram) else { continue };
            let count = used.entry(gram).or_default();
            *count += 1;
            stats.matches[n - 1] += (*count <= most) as u64;
        }
        stats
    }
}

impl Stats {
    pub fn add(&mut self, other: &Stats) {
        for n in 0..ORDERS {
            self.matches[n] += other.matches[n];
            self.totals[n] += other.totals[n];
        }
        self.length += other.length;
        self.reference += other.reference;
    }

    /// 0 to 100, for one sentence.
    pub fn sentence_bleu(&self) -> f64 {
        let orders = self.totals.iter().take_while(|&&t| t > 0).count();
        self.bleu(orders)
    }
    /// 0 to 100, for the sum over sentences.
    pub fn corpus_bleu(&self) -> f64 {
        self.bleu(ORDERS)
    }

    fn bleu(&self, orders: usize) -> f64 {
        if self.matches.iter().all(|&m| m == 0) || orders == 0 {
            return 0.0;
        }
        let precisions = self.precisions();
        if precisions[..orders].contains(&0.0) {
            return 0.0;
        }
        let mean = precisions[..orders].iter().map(|p| p.ln()).sum::<f64>() / orders as f64;
        self.brevity_penalty() * mean.exp()
    }

    /// In percent, smoothed; 0 from the first order on that there are no n-grams of.
    pub fn precisions(&self) -> [f64; ORDERS] {
        let mut precisions = [0.0; ORDERS];
        let mut smooth = 1.0;
        for (n, p) in precisions.iter_mut().enumerate() {
            if self.totals[n] == 0 {
                break;
            }
            *p = if self.matches[n] == 0 {
                smooth *= 2.0;
                100.0 / (smooth * self.totals[n] as f64)
            } else {
                100.0 * self.matches[n] as f64 / self.totals[n] as f64
            };
        }
        precisions
    }

    pub fn brevity_penalty(&self) -> f64 {
        if self.length >= self.reference {
            1.0
        } else if self.length == 0 {
            0.0
        } else {
            (1.0 - self.reference as f64 / self.length as f64).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hypothesis: &[u32], references: &[&[u32]]) -> Stats {
        References::new(&references.iter().map(|r| r.to_vec()).collect::<Vec<_>>()).stats(hypothesis)
    }

    #[test]
    fn counts_are_clipped_and_the_nearest_length_counts() {
        let s = of(&[1, 1, 1, 2, 0], &[&[1, 2, 3], &[1, 1, 4, 5, 6, 7, 8]]);
        assert_eq!(s.matches, [3, 2, 0, 0]);
        assert_eq!(s.totals, [5, 4, 3, 2]);
        assert_eq!((s.length, s.reference), (5, 3));
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
