//! Which sets of tokens phrases can make up without rest: a hypothesis that lacks another set leads nowhere.
//!
//! A set can be tiled if it is empty, or if a phrase that has the first word of it fits into it and what the phrase leaves
//! can be tiled. Answers are kept. The number of sets that are asked about has a limit; from there on, what is not known is
//! taken for possible, so that nothing is lost but time.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::chart::bag::{Bag, Cover, PhraseTrie, Type};
use crate::error::Result;
use crate::order::grid::Grid;

/// Sets that are remembered at most.
const MOST: usize = 1 << 16;

pub struct Tiling<'a, const W: usize> {
    bag: &'a Bag,
    /// Of each word: the distinct sets of phrases that have it.
    sets: Vec<Vec<Cover<W>>>,
    known: HashMap<Cover<W>, bool, FxBuildHasher>,
    /// What is not known cannot be tiled.
    complete: bool,
}

impl<'a, const W: usize> Tiling<'a, W> {
    /// `None`: every word is a phrase of its own, so that everything can be tiled.
    pub fn new(bag: &'a Bag, trie: &PhraseTrie) -> Option<Self> {
        let single = |t: Type| trie.phrases.iter().any(|p| p.words == [t]);
        if (0..bag.words.len() as Type).all(single) {
            return None;
        }
        let mut sets: Vec<Vec<Cover<W>>> = vec![vec![]; bag.words.len()];
        for phrase in &trie.phrases {
            let Some(cover) = bag.cover(&phrase.words) else { continue };
            for &t in &phrase.words {
                sets[t as usize].push(cover);
            }
        }
        for of in &mut sets {
            // Large ones first: they leave less to tile.
            of.sort_by_key(|c| (std::cmp::Reverse(bag.size(c)), *c));
            of.dedup();
        }
        Some(Tiling { bag, sets, known: HashMap::default(), complete: false })
    }

    /// All sets that can be tiled, found by parsing the bag; a limit error if these are more than `max_cells`.
    pub fn complete(bag: &'a Bag, trie: &PhraseTrie, max_cells: usize) -> Result<Self> {
        let grid = Grid::<W>::parse(bag, trie, max_cells)?;
        let known = grid.cells.into_iter().map(|cell| (cell, true)).collect();
        Ok(Tiling { bag, sets: vec![], known, complete: true })
    }

    pub fn possible(&mut self, set: Cover<W>) -> bool {
        if set == Cover::EMPTY {
            return true;
        }
        if let Some(&known) = self.known.get(&set) {
            return known;
        }
        if self.complete {
            return false;
        }
        if self.known.len() >= MOST {
            return true;
        }
        // The word with the fewest phrases leaves the fewest ways; any word would do.
        let words = (0..self.bag.words.len()).filter(|&t| self.bag.count(&set, t as Type) > 0);
        let Some(word) = words.min_by_key(|&t| self.sets[t].len()) else { return true };
        let mut found = false;
        for i in 0..self.sets[word].len() {
            let phrase = self.sets[word][i];
            if let Some(rest) = self.bag.without(&set, &phrase)
                && self.possible(rest)
            {
                found = true;
                break;
            }
        }
        self.known.insert(set, found);
        found
    }
}
