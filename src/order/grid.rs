//! The grid of a bag: all cells that are not empty, by parsing without a language model (PARSE-BAG-OF-WORDS, Figure 2 of
//! de Gispert et al. 2014).
//!
//! A cell is a set of tokens; it is there if phrases make it up. From every cell, in the order of the rows, every set of a
//! phrase that fits leads to another. Costs a nanosecond or two for each cell and set of phrases, and 48 bytes a cell; both
//! have a limit, since a bag of N words may have 2^N cells.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::chart::bag::{Bag, Cover, PhraseTrie};
use crate::error::{Error, Result};

/// Cells times sets of phrases that are looked at, at most: some seconds.
const WORK: usize = 300_000_000;

pub struct Grid<const W: usize> {
    /// Cells in the order of the rows, then as they are found.
    pub cells: Vec<Cover<W>>,
    /// The first cell of each row from 1; one more at the end.
    pub rows: Vec<usize>,
    /// The distinct sets of phrases.
    pub sets: Vec<Cover<W>>,
}

impl<const W: usize> Grid<W> {
    /// All cells; a limit error if there are more than `max_cells`, or if finding them takes too long.
    pub fn parse(bag: &Bag, trie: &PhraseTrie, max_cells: usize) -> Result<Self> {
        let mut sets: Vec<Cover<W>> = trie.phrases.iter().filter_map(|p| bag.cover(&p.words)).collect();
        sets.sort_unstable();
        sets.dedup();
        let sizes: Vec<usize> = sets.iter().map(|s| bag.size(s)).collect();
        let mut rows: Vec<Vec<Cover<W>>> = vec![vec![]; bag.len() + 1];
        let mut seen: HashSet<Cover<W>, FxBuildHasher> = HashSet::default();
        for (&set, &size) in sets.iter().zip(&sizes) {
            rows[size].push(set);
            seen.insert(set);
        }
        let mut work = 0;
        for x in 1..=bag.len() {
            let row = std::mem::take(&mut rows[x]);
            for cell in &row {
                for (set, &size) in sets.iter().zip(&sizes) {
                    if let Some(sum) = bag.union(cell, set)
                        && seen.insert(sum)
                    {
                        rows[x + size].push(sum);
                    }
                }
                if seen.len() > max_cells {
                    let limit = format!("{max_cells} cells");
                    return Err(Error::limit("order", limit, "parsing the bag takes more than --max-memory"));
                }
                work += sets.len();
                if work > WORK {
                    let limit = format!("{WORK} pairs of cells and phrases");
                    return Err(Error::limit("order", limit, "parsing the bag without pruning takes too long"));
                }
            }
            rows[x] = row;
        }
        let mut cells = Vec::with_capacity(seen.len());
        let mut firsts = vec![];
        for row in rows.iter_mut().skip(1) {
            firsts.push(cells.len());
            row.sort_unstable();
            cells.append(row);
        }
        firsts.push(cells.len());
        Ok(Grid { cells, rows: firsts, sets })
    }
}
