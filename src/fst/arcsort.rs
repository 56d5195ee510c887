//! Sorts the arcs of every state by input label, then output label, or the other way round. Stable: arcs with equal
//! labels keep their order.
//!
//! Needs nothing of its input. O(E log d) for out-degree d.

use super::flat::FlatFst;
use super::semiring::Weight;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum SortType {
    #[default]
    Ilabel,
    Olabel,
}

pub fn arcsort<W: Weight>(mut fst: FlatFst<W>, by: SortType) -> FlatFst<W> {
    for s in fst.states() {
        let arcs = fst.arcs_mut(s);
        match by {
            SortType::Ilabel => arcs.sort_by_key(|a| (a.ilabel, a.olabel)),
            SortType::Olabel => arcs.sort_by_key(|a| (a.olabel, a.ilabel)),
        }
    }
    fst
}
