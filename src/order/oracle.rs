//! How good a lattice could be: its path that has most n-grams in common with the reference.
//!
//! The linear approximation of BLEU (Tromble et al. 2008) as in Sokolov et al. 2012: every n-gram of the path that the
//! reference has counts 1 / (4 p r^(n-1)), with p = 0.85 and r = 0.72. It is applied to the lattice as a language model
//! whose state is the last three words, and the best path taken. N-grams that come again count again.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::score::Stats;
use crate::decode::hypotheses::strings;
use crate::error::Result;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::fst::shortestpath::{ShortestPathConfig, shortestpath};
use crate::fst::symbols::SymbolTable;
use crate::lm::apply::{ApplyConfig, Boundaries, Term, apply};
use crate::lm::{LanguageModel, LmState, UNKNOWN, WordId};

const PRECISION: f64 = 0.85;
const RATIO: f64 = 0.72;

/// N-grams of a reference as a model: what is not in it costs.
struct Reference {
    words: HashMap<String, WordId, FxBuildHasher>,
    /// N-grams as numbers, with their length.
    ngrams: HashSet<(u32, u64), FxBuildHasher>,
    base: u64,
}

impl Reference {
    fn new(text: &str) -> Self {
        let mut words: HashMap<String, WordId, FxBuildHasher> = HashMap::default();
        let mut ids = vec![];
        for word in text.split_ascii_whitespace() {
            let next = words.len() as WordId + 1;
            ids.push(*words.entry(word.to_string()).or_insert(next) as u64);
        }
        // States are three words as one number.
        let base = (words.len() as u64 + 1).min(1600);
        let mut ngrams = HashSet::default();
        for n in 1..=4 {
            for ngram in ids.windows(n) {
                ngrams.insert((n as u32, ngram.iter().fold(0, |number, &w| number * base + w % base)));
            }
        }
        Reference { words, ngrams, base }
    }
}

impl LanguageModel for Reference {
    fn word(&self, word: &str) -> Option<WordId> {
        self.words.get(word).copied()
    }
    fn null(&self) -> LmState {
        0
    }
    fn begin(&self) -> Option<LmState> {
        None
    }
    fn end_word(&self) -> Option<WordId> {
        None
    }
    fn step(&self, state: LmState, word: WordId) -> (LmState, f64) {
        let word = word as u64 % self.base;
        let all = state as u64 * self.base + word;
        let mut cost = 0.0;
        let mut size = 1;
        for n in 1..=4 {
            size *= self.base;
            let there = word != UNKNOWN as u64 && self.ngrams.contains(&(n, all % size));
            if !there {
                cost += 1.0 / (4.0 * PRECISION * RATIO.powi(n as i32 - 1));
            }
        }
        ((all % (self.base * self.base * self.base)) as LmState, cost)
    }
}

/// The path of a lattice that is most like the reference, and its words.
pub fn lattice_oracle(lattice: &FlatFst<Tropical>, symbols: &SymbolTable, reference: &str) -> Result<String> {
    let model = Reference::new(reference);
    let term = Term { model: &model, scale: 1.0, name: "the reference", part: "oracle" };
    let config = ApplyConfig { boundaries: Boundaries::None, oov_cost: Some(4.0), ..ApplyConfig::default() };
    let plain = lattice.map_weights(|w| if w.0.is_finite() { Tropical(0.0) } else { w });
    let scored = apply(&plain, &[term], symbols, &config)?;
    let paths = shortestpath(&scored, &ShortestPathConfig::default())?;
    let best = strings(&paths).into_iter().next().map(|(words, _)| words).unwrap_or_default();
    Ok(best.iter().filter_map(|&w| symbols.symbol(w as i64)).collect::<Vec<_>>().join(" "))
}

/// The best of some sentences, by BLEU.
pub fn list_oracle<'a>(sentences: impl Iterator<Item = &'a str>, reference: &str) -> Option<&'a str> {
    let scored = sentences.map(|s| (Stats::of(reference, s).bleu(), s));
    // The first of equally good ones.
    scored
        .fold(None, |best: Option<(f64, &str)>, now| if best.is_some_and(|b| b.0 >= now.0) { best } else { Some(now) })
        .map(|b| b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;

    #[test]
    fn the_best_path_of_a_lattice_and_of_a_list() {
        let mut words = SymbolTable::new("words");
        ["<eps>", "a", "b", "c"].iter().for_each(|w| {
            words.add(w);
        });
        let arc = |l, n| Arc::new(l, l, Tropical(l as f32), n);
        let rows = vec![
            (Tropical(f32::INFINITY), vec![arc(1, 1), arc(2, 1), arc(3, 1)]),
            (Tropical(f32::INFINITY), vec![arc(1, 2), arc(2, 2), arc(3, 2)]),
            (Tropical(0.0), vec![]),
        ];
        let lattice = FlatFst::from_rows(0, rows);
        assert_eq!(lattice_oracle(&lattice, &words, "b c a").unwrap(), "b c");
        assert_eq!(lattice_oracle(&lattice, &words, "c a x").unwrap(), "c a");
        assert_eq!(list_oracle(["a b c", "b c a", "b a c"].into_iter(), "b c a"), Some("b c a"));
        assert_eq!(list_oracle([].into_iter(), "b c a"), None);
    }
}
