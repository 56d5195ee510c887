//! The n best distinct strings of a lattice, one after the other, the best first.
//!
//! The exact search of `fst::shortestpath` over the words; costs as f32, sums in f64.

use crate::error::Result;
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::shortestpath::{ShortestPathConfig, shortestpath};
use crate::rescore::lattice::Lattice;

/// Gives every string, as labels with costs and the cost of the end.
pub fn each(lattice: &Lattice, n: usize, offer: &mut impl FnMut(Vec<(Label, f64)>, f64)) -> Result<()> {
    let words: FlatFst<Tropical> = lattice.to_fst(|_, a| a.cost, |s| lattice.finals[s as usize]);
    let config = ShortestPathConfig { nshortest: n, unique: true, ..ShortestPathConfig::default() };
    let list = shortestpath(&words, &config)?;
    if list.start() == NO_STATE {
        return Ok(());
    }
    // Paths share their ends only: each leaves the start by an arc of its own, and has one way from there.
    if list.is_final(list.start()) {
        offer(vec![], list.final_weight(list.start()).to_f64());
    }
    for first in list.arcs(list.start()) {
        let mut path = vec![(first.olabel, first.weight.to_f64())];
        let mut s: StateId = first.nextstate;
        while let Some(arc) = list.arcs(s).first() {
            path.push((arc.olabel, arc.weight.to_f64()));
            s = arc.nextstate;
        }
        path.retain(|&(label, cost)| label != 0 || cost != 0.0);
        offer(path, list.final_weight(s).to_f64());
    }
    Ok(())
}
