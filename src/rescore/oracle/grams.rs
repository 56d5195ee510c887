//! The n-grams of references as an automaton: after any words, how long a suffix of them is an n-gram of a reference.
//!
//! A state is the longest suffix, of at most three words, that some reference has; every suffix of it is one, too.
//! A word leads to the next state and completes as many n-grams (of orders 1, 2, ...) as the longest match has words. So
//! the automata of all orders of Sokolov et al. 2012 (section 3.2) are this one. At most three states a reference word, found
//! by a table; a step follows suffixes, at most three.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bleu::{ORDER, OTHER};

#[derive(Debug, Default)]
pub struct Grams {
    /// From a state by a word to the match with that word.
    children: HashMap<(u32, u32), u32, FxBuildHasher>,
    /// The match without its first word.
    suffix: Vec<u32>,
    length: Vec<u8>,
}

impl Grams {
    pub fn new(references: &[Vec<u32>]) -> Self {
        let mut grams = Grams { suffix: vec![0], length: vec![0], ..Grams::default() };
        for words in references {
            // The matches that end where we are, the longest first; the empty one last.
            let mut ends: Vec<u32> = vec![0];
            for &word in words {
                ends.retain(|&e| (grams.length[e as usize] as usize) < ORDER);
                let longer: Vec<u32> = ends.iter().map(|&e| grams.child(e, word)).collect();
                let suffixes = longer.iter().skip(1).chain(&[0]);
                for (&match_, &suffix) in longer.iter().zip(suffixes) {
                    grams.suffix[match_ as usize] = suffix;
                }
                ends = longer;
                ends.push(0);
            }
        }
        grams
    }

    fn child(&mut self, state: u32, word: u32) -> u32 {
        let new = self.suffix.len() as u32;
        let child = *self.children.entry((state, word)).or_insert(new);
        if child == new {
            self.suffix.push(0);
            self.length.push(self.length[state as usize] + 1);
        }
        child
    }

    /// The state after a word, and the longest match that the word ends. State 0 is the beginning.
    #[inline]
    pub fn step(&self, state: u32, word: u32) -> (u32, u8) {
        if word == OTHER {
            return (0, 0);
        }
        let mut from = state;
        loop {
            if let Some(&to) = self.children.get(&(from, word)) {
                let length = self.length[to as usize];
                // With four words the first one can be in no further match.
                let next = if length as usize == ORDER { self.suffix[to as usize] } else { to };
                return (next, length);
            }
            if from == 0 {
                return (0, 0);
            }
            from = self.suffix[from as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn the_longest_suffix_that_a_reference_has() {
        let mut rng = SmallRng::seed_from_u64(3);
        for _ in 0..200 {
            let mut text = |most: u32, len: usize| (0..len).map(|_| rng.random_range(0..=most)).collect::<Vec<u32>>();
            let references: Vec<Vec<u32>> =
                (1..4).map(|i| text(3, 2 * i).into_iter().map(|w| w + 1).collect()).collect();
            let words = text(4, 12);
            let grams = Grams::new(&references);
            let mut state = 0;
            for end in 1..=words.len() {
                let found;
                (state, found) = grams.step(state, words[end - 1]);
                let has = |n: &usize| references.iter().any(|r| r.windows(*n).any(|w| *w == words[end - n..end]));
                let want = (1..=4.min(end)).rev().find(has).unwrap_or(0);
                assert_eq!(found as usize, want);
            }
        }
    }
}
