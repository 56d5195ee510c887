//! Trims an automaton: keeps the states that lie on a path from the start to a final state, in their order.
//!
//! Needs nothing of its input. O(V + E). An empty language gives an automaton without states, as in OpenFst.

use super::flat::{Arc, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use super::visit;

pub fn connect<W: Weight>(fst: FlatFst<W>) -> FlatFst<W> {
    let keep = visit::on_a_path(&fst);
    keep_states(fst, &keep)
}

/// Keeps the marked states and the arcs between them; states are renumbered in order. The start must be among them, or
/// nothing is left.
pub fn keep_states<W: Weight>(fst: FlatFst<W>, keep: &[bool]) -> FlatFst<W> {
    if keep.iter().all(|&k| k) {
        return fst;
    }
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    if fst.start() == NO_STATE || !keep[fst.start() as usize] {
        return FlatFst::empty().with_symbols(isyms, osyms);
    }
    let (start, mut offsets, mut finals, mut arcs) = fst.into_parts();
    let mut new_id = vec![NO_STATE; keep.len()];
    let mut states = 0usize;
    for (s, &k) in keep.iter().enumerate() {
        if k {
            new_id[s] = states as StateId;
            states += 1;
        }
    }
    // In place: a kept arc never moves to a higher position.
    let mut to = 0usize;
    let mut from = 0usize;
    for s in 0..keep.len() {
        let end = offsets[s + 1] as usize;
        if keep[s] {
            let id = new_id[s] as usize;
            finals[id] = finals[s];
            offsets[id] = to as u32;
            for i in from..end {
                let a = arcs[i];
                let t = new_id[a.nextstate as usize];
                if t != NO_STATE {
                    arcs[to] = Arc { nextstate: t, ..a };
                    to += 1;
                }
            }
        }
        from = end;
    }
    offsets[states] = to as u32;
    offsets.truncate(states + 1);
    finals.truncate(states);
    arcs.truncate(to);
    FlatFst::from_parts(new_id[start as usize], offsets, finals, arcs).with_symbols(isyms, osyms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn keeps_what_is_on_a_path() {
        let arc = |l, t| Arc::new(l, l, Tropical::ONE, t);
        let f = FlatFst::from_rows(
            1,
            vec![
                (Tropical::ZERO, vec![arc(1, 2)]),
                (Tropical::ZERO, vec![arc(1, 3), arc(2, 2)]),
                (Tropical(0.5), vec![]),
                (Tropical::ZERO, vec![]),
            ],
        );
        let g = connect(f);
        assert_eq!(g, FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(2, 1)]), (Tropical(0.5), vec![])]));
    }

    #[test]
    fn no_path_leaves_nothing() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![]), (Tropical::ONE, vec![])]);
        assert_eq!(connect(f), FlatFst::empty());
    }
}
