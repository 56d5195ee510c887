//! Sorts the arcs of every state by input label, then output label, or the other way round. Arcs with equal labels come in
//! OpenFst's order: that of before where a state has up to 16 arcs.
//!
//! Needs nothing of its input. O(E log d) for out-degree d.

use super::flat::FlatFst;
use super::semiring::Weight;
use super::stdsort::sort_by_key;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum SortType {
    #[default]
    Ilabel,
    Olabel,
}

pub fn arcsort<W: Weight>(mut fst: FlatFst<W>, by: SortType) -> FlatFst<W> {
    let mut spare = vec![];
    for s in fst.states() {
        let arcs = fst.arcs_mut(s);
        match by {
            SortType::Ilabel => sort_by_key(arcs, &mut spare, |a| (a.ilabel, a.olabel)),
            SortType::Olabel => sort_by_key(arcs, &mut spare, |a| (a.olabel, a.ilabel)),
        }
    }
    fst
}
