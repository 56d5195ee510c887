//! The network of a bag: one automaton a cell of the grid, as in Figure 3 of de Gispert et al. 2014.
//!
//! A cell has a path for each of its phrases, and one of two pointers for each way to make it of a cell and of the tokens of
//! a phrase. Cells that the whole bag is not made of are left out. The size is that of the grid: cells · sets of phrases.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::cell::Strings;
use super::{Rtn, Span};
use crate::chart::bag::{Bag, Cover, PhraseTrie};
use crate::fst::flat::Label;
use crate::order::grid::Grid;

/// The network and the names of its cells, their bits; `None` if the bag has no parse. `label` says what words' labels are.
pub fn build<const W: usize>(
    bag: &Bag,
    trie: &PhraseTrie,
    grid: &Grid<W>,
    label: impl Fn(u32) -> Label,
) -> Option<(Rtn, Vec<String>)> {
    let place: HashMap<Cover<W>, usize, FxBuildHasher> = grid.cells.iter().enumerate().map(|(i, &c)| (c, i)).collect();
    let all = bag.all();
    let root = *place.get(&all)?;
    // Ways to make each cell: what is in front, and the tokens of a phrase behind it.
    let ways = |cell: &Cover<W>| -> Vec<(usize, usize)> {
        let mut ways = vec![];
        for set in &grid.sets {
            let Some(front) = bag.without(cell, set) else { continue };
            if let (Some(&front), Some(&behind)) = (place.get(&front), place.get(set)) {
                ways.push((front, behind));
            }
        }
        ways
    };
    let mut used = vec![false; grid.cells.len()];
    used[root] = true;
    // Cells are made of cells of lower rows, which come before them.
    for c in (0..=root).rev() {
        if used[c] {
            ways(&grid.cells[c]).into_iter().for_each(|(front, behind)| {
                used[front] = true;
                used[behind] = true;
            });
        }
    }
    let mut phrases: HashMap<Cover<W>, Vec<u32>, FxBuildHasher> = HashMap::default();
    for (i, phrase) in trie.phrases.iter().enumerate() {
        if let Some(cover) = bag.cover(&phrase.words) {
            phrases.entry(cover).or_default().push(i as u32);
        }
    }
    let mut rtn = Rtn { cells: vec![], spans: vec![], root: 0 };
    let mut names = vec![];
    let mut number = vec![usize::MAX; grid.cells.len()];
    let mut strings = Strings::default();
    for c in (0..grid.cells.len()).filter(|&c| used[c]) {
        let cell = &grid.cells[c];
        strings.clear();
        for &p in phrases.get(cell).into_iter().flatten() {
            let phrase = &trie.phrases[p as usize];
            strings.add(phrase.words.iter().map(|&t| label(t)), phrase.cost);
        }
        for (front, behind) in ways(cell) {
            strings.add([Rtn::pointer(number[front]), Rtn::pointer(number[behind])], 0.0);
        }
        number[c] = rtn.cells.len();
        rtn.cells.push(strings.automaton());
        rtn.spans.push(Span { nt: 0, start: 0, end: bag.size(cell) as u32 });
        names.push(bag.name(cell));
    }
    rtn.root = number[root];
    Some((rtn, names))
}
