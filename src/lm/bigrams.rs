//! `Bigrams`: the least that a word can cost after a word, whatever stands before the two.
//!
//! Contexts are cut down to their last word: the states of at most one word are the coarse states, and every state backs
//! off through exactly one of them. For a coarse state and a word the table has the largest log10 p in any state above it:
//! that of an n-gram found in such a state, with the most that still longer contexts can add to it by their back-offs
//! (nothing, where these are below one); or that of the word alone, with the largest sum of back-offs on a way down.
//! Searches take it for the cost of words whose histories they do not know yet: it is never too large, and much nearer
//! to the truth than the least in any context at all.
//!
//! One pass over the states and one over the n-grams, for the words that are wanted only. Made once a model.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::model::{NgramModel, arc_key};
use super::{LN_10, LmState, WordId};

pub struct Bigrams {
    /// (coarse state, word): the largest log10 p of an n-gram that is found.
    found: HashMap<u64, f32, FxBuildHasher>,
    /// Of each coarse state: the largest sum of back-offs from a state above it down to the empty context.
    backoffs: Vec<f64>,
}

impl Bigrams {
    /// For words of `wanted`, by their number, and contexts that end in one of them.
    pub fn new(model: &NgramModel, wanted: &[bool]) -> Self {
        let states = model.num_states();
        // Longer contexts have larger numbers, and each backs off to a smaller one.
        let short = (0..states).take_while(|&s| model.length(s as LmState) <= 1).count();
        let mut coarse: Vec<LmState> = (0..short as LmState).collect();
        let mut sums: Vec<f64> = vec![0.0; states];
        for s in 1..states {
            let context = model.context(s as LmState);
            let shorter = model.shorter(s as LmState, context);
            if s >= short {
                coarse.push(coarse[shorter as usize]);
            }
            sums[s] = sums[shorter as usize] + context.backoff as f64;
        }
        let mut above: Vec<f64> = vec![0.0; states];
        for s in (short..states).rev() {
            let context = model.context(s as LmState);
            let shorter = model.shorter(s as LmState, context) as usize;
            above[shorter] = above[shorter].max(above[s] + context.backoff as f64);
        }
        let mut backoffs = vec![f64::NEG_INFINITY; short.max(1)];
        for s in 0..states {
            let most = &mut backoffs[coarse[s] as usize];
            *most = most.max(sums[s]);
        }
        let mut contexts = vec![false; short.max(1)];
        contexts[0] = true;
        let is_wanted = |w: WordId| wanted.get(w as usize).copied().unwrap_or(false);
        for w in (0..wanted.len()).filter(|&w| wanted[w]) {
            if let Some(c) = contexts.get_mut(model.unigram(w as WordId).next as usize) {
                *c = true;
            }
        }
        let mut found: HashMap<u64, f32, FxBuildHasher> = HashMap::default();
        for (state, word, arc) in model.arcs() {
            let Some(&c) = coarse.get(state as usize) else { continue };
            if contexts[c as usize] && is_wanted(word) {
                let most = (arc.log10 as f64 + above[state as usize]) as f32;
                let entry = found.entry(arc_key(c, word)).or_insert(f32::NEG_INFINITY);
                *entry = entry.max(if above[state as usize] == 0.0 { most } else { most.next_up() });
            }
        }
        Bigrams { found, backoffs }
    }

    /// The least −ln p of a wanted word in any state that backs off through this coarse one.
    pub fn least(&self, model: &NgramModel, coarse: LmState, word: WordId) -> f64 {
        let backoff = self.backoffs.get(coarse as usize).copied().unwrap_or(0.0);
        let alone = model.unigram(word).log10 as f64 + backoff;
        let found = self.found.get(&arc_key(coarse, word)).map_or(f64::NEG_INFINITY, |&f| f as f64);
        // Where every state has the n-gram, nothing is ever backed off from: the larger one is still right.
        alone.max(found) * -LN_10
    }
}
