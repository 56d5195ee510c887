//! Which sets of tokens phrases can make up without rest: a hypothesis that lacks another set leads nowhere.
//!
//! Where the bag is small enough, all of these sets are found before the search (`tiles`). Otherwise: a set can be tiled if it
//! is empty, or if a phrase that has the first word of it fits into it and what the phrase leaves can be tiled. Answers are
//! kept. The number of sets that are asked about has a limit; from there on, what is not known is taken for possible, so that
//! nothing is lost but time.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::grid::Grid;
use super::tiles::{TileLimits, Tiles};
use crate::chart::bag::{Bag, Cover, NO_PHRASE, PhraseTrie, Type};
use crate::error::Result;

/// Sets that are remembered at most.
const MOST: usize = 1 << 16;

/// What is spent on finding all sets before a search that could do without: a fraction of a second.
const QUICK: u64 = 200_000_000;

/// What is spent where they are needed: some seconds.
const WORK: u64 = 5_000_000_000;

/// Phrases deep that a set is looked into: a stack has an end, too.
const DEEP: usize = 1000;

pub enum Tiling<'a, const W: usize> {
    /// All sets.
    Tiles(Box<Tiles>),
    /// The sets that can be completed, one by one.
    Cells(HashSet<Cover<W>, FxBuildHasher>),
    Asked(Asked<'a, W>),
}

/// Sets that were asked about.
pub struct Asked<'a, const W: usize> {
    bag: &'a Bag,
    /// Of each word: the distinct sets of phrases that have it.
    sets: Vec<Vec<Cover<W>>>,
    known: HashMap<Cover<W>, bool, FxBuildHasher>,
}

impl<'a, const W: usize> Tiling<'a, W> {
    /// `None`: every word is a phrase of its own, so that everything can be tiled.
    pub fn new(bag: &'a Bag, trie: &PhraseTrie, max_bytes: usize) -> Option<Self> {
        let single = |t: Type| trie.child(PhraseTrie::ROOT, t).is_some_and(|n| trie.node(n).phrase != NO_PHRASE);
        if (0..bag.words.len() as Type).all(single) {
            return None;
        }
        if let Some(tiles) = Tiles::new::<W>(bag, trie, TileLimits { bytes: max_bytes / 4, work: QUICK }) {
            return Some(Tiling::Tiles(Box::new(tiles)));
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
        Some(Tiling::Asked(Asked { bag, sets, known: HashMap::default() }))
    }

    /// All sets that can be tiled; a limit error if finding or keeping them takes more than `max_bytes`, or too long.
    pub fn complete(bag: &'a Bag, trie: &PhraseTrie, max_bytes: usize) -> Result<Self> {
        if let Some(tiles) = Tiles::new::<W>(bag, trie, TileLimits { bytes: max_bytes / 2, work: WORK }) {
            return Ok(Tiling::Tiles(Box::new(tiles)));
        }
        // A large bag with few phrases may have few cells. A cell is in lists and tables, with room to grow.
        let grid = Grid::<W>::parse(bag, trie, max_bytes / (6 * size_of::<Cover<W>>()))?;
        Ok(Tiling::Cells(grid.cells.iter().map(|cell| bag.rest(cell)).chain([bag.all()]).collect()))
    }

    /// True if it is known, without looking further, that phrases cannot make up what a set lacks.
    #[inline(always)]
    pub fn hopeless(&self, set: &Cover<W>) -> bool {
        match self {
            Tiling::Tiles(tiles) => !tiles.completes(set),
            Tiling::Cells(cells) => !cells.contains(set),
            Tiling::Asked(_) => false,
        }
    }

    /// True if phrases can make up what a set lacks, or if that is not known.
    pub fn completes(&mut self, bag: &Bag, set: &Cover<W>) -> bool {
        match self {
            Tiling::Asked(asked) => asked.possible(bag.rest(set), 0),
            _ => !self.hopeless(set),
        }
    }
}

impl<const W: usize> Asked<'_, W> {
    fn possible(&mut self, set: Cover<W>, depth: usize) -> bool {
        if set == Cover::EMPTY {
            return true;
        }
        if let Some(&known) = self.known.get(&set) {
            return known;
        }
        if self.known.len() >= MOST || depth == DEEP {
            return true;
        }
        // The word with the fewest phrases leaves the fewest ways; any word would do.
        let words = (0..self.bag.words.len()).filter(|&t| self.bag.count(&set, t as Type) > 0);
        let Some(word) = words.min_by_key(|&t| self.sets[t].len()) else { return true };
        let mut found = false;
        for i in 0..self.sets[word].len() {
            let phrase = self.sets[word][i];
            if let Some(rest) = self.bag.without(&set, &phrase)
                && self.possible(rest, depth + 1)
            {
                found = true;
                break;
            }
        }
        self.known.insert(set, found);
        found
    }
}
