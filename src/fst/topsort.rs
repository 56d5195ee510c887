//! Topological sort: renumbers the states so that every arc goes to a higher number.
//!
//! Needs an acyclic automaton; a cyclic one is given back as it was, in `Err`. O(V + E). The order is the reversed
//! finishing order of a depth-first walk, as OpenFst's.

use super::flat::{Arc, Builder, FlatFst, StateId};
use super::semiring::Weight;
use super::visit::depth_first_order;

pub fn topsort<W: Weight>(fst: FlatFst<W>) -> Result<FlatFst<W>, FlatFst<W>> {
    match depth_first_order(&fst) {
        Some(order) => Ok(renumber(fst, &order)),
        None => Err(fst),
    }
}

/// The states in a new order: `order[i]` is the old number of state `i`, every state once.
fn renumber<W: Weight>(fst: FlatFst<W>, order: &[StateId]) -> FlatFst<W> {
    if order.iter().enumerate().all(|(i, &s)| i as StateId == s) {
        return fst;
    }
    let mut number = vec![0; order.len()];
    for (i, &s) in order.iter().enumerate() {
        number[s as usize] = i as StateId;
    }
    let mut b = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    for &s in order {
        b.add_state(fst.final_weight(s));
        b.extend_arcs(fst.arcs(s).iter().map(|a| Arc { nextstate: number[a.nextstate as usize], ..*a }));
    }
    if let Some(&start) = number.get(fst.start() as usize) {
        b.set_start(start);
    }
    b.finish().with_symbols_of(&fst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn arc(t: u32) -> Arc<Tropical> {
        Arc::new(1, 1, Tropical::ONE, t)
    }

    #[test]
    fn arcs_go_up_and_cycles_stay() {
        let z = Tropical::ZERO;
        let f = FlatFst::from_rows(2, vec![(Tropical::ONE, vec![]), (z, vec![arc(0)]), (z, vec![arc(0), arc(1)])]);
        let g = topsort(f).unwrap();
        let want = vec![(z, vec![arc(2), arc(1)]), (z, vec![arc(2)]), (Tropical::ONE, vec![])];
        assert_eq!(g, FlatFst::from_rows(0, want));
        let cyclic = FlatFst::from_rows(0, vec![(z, vec![arc(1)]), (z, vec![arc(0)])]);
        assert_eq!(topsort(cyclic.clone()), Err(cyclic));
    }
}
