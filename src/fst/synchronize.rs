//! Synchronization: the labels of each path are regrouped so that an arc has an input and an output label, except at the
//! end of a path where one side is longer (Mohri 2003, "Edit-distance of weighted automata", §5).
//!
//! Needs bounded delay: on every cycle as many input labels as output labels; else there is no such automaton, and it is
//! an error. The result can be exponentially larger; O(log n) an arc of it, for a delay of n labels. States and arcs come
//! in OpenFst's order.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::{Arc, Builder, EPSILON, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use super::strings::{EMPTY, StringId, Strings};
use super::visit::{accessible, components};
use crate::error::{Error, Result};

const OP: &str = "synchronize";

/// A state and the labels read on one side that wait for labels of the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Element {
    state: StateId,
    waiting: StringId,
    /// Which side waits; the input side if none do.
    input: bool,
}

pub fn synchronize<W: Weight>(fst: &FlatFst<W>) -> Result<FlatFst<W>> {
    if fst.start() == NO_STATE {
        return Ok(FlatFst::empty().with_symbols_of(fst));
    }
    check_delay(fst)?;
    let mut strings = Strings::default();
    let mut table = Table::default();
    table.number(Element { state: fst.start(), waiting: EMPTY, input: true });
    let mut out = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    let mut next = 0;
    while next < table.elements.len() {
        let Element { state, waiting, input } = table.elements[next];
        next += 1;
        out.add_state(W::ZERO);
        let arcs = if state == NO_STATE { &[] } else { fst.arcs(state) };
        for a in arcs {
            let (own, other) = if input { (a.ilabel, a.olabel) } else { (a.olabel, a.ilabel) };
            let mut to = Element { state: a.nextstate, waiting, input };
            let mut labels = (EPSILON, EPSILON);
            if waiting == EMPTY {
                match (a.ilabel, a.olabel) {
                    (EPSILON, EPSILON) => {}
                    (i, EPSILON) => to = Element { waiting: strings.of_label(i), input: true, ..to },
                    (EPSILON, o) => to = Element { waiting: strings.of_label(o), input: false, ..to },
                    both => labels = both,
                }
            } else {
                if other != EPSILON {
                    let first = strings.first(waiting);
                    labels = if input { (first, other) } else { (other, first) };
                    to.waiting = strings.rest(waiting);
                }
                to.waiting = strings.append(to.waiting, own);
            }
            out.push_arc(Arc::new(labels.0, labels.1, a.weight, table.number(to)));
        }
        let weight = if state == NO_STATE { W::ONE } else { fst.final_weight(state) };
        if waiting == EMPTY {
            out.set_final(next as StateId - 1, weight);
        } else if !weight.is_zero_w() {
            let first = strings.first(waiting);
            let to = table.number(Element { state: NO_STATE, waiting: strings.rest(waiting), input });
            let (i, o) = if input { (first, EPSILON) } else { (EPSILON, first) };
            out.push_arc(Arc::new(i, o, weight, to));
        }
        if table.elements.len() >= NO_STATE as usize || out.num_arcs() >= u32::MAX as usize {
            return Err(Error::limit(
                OP,
                "2^32 states or arcs",
                "the delays of this automaton make the result too large",
            ));
        }
    }
    out.set_start(0);
    Ok(out.finish().with_symbols_of(fst))
}

#[derive(Default)]
struct Table {
    elements: Vec<Element>,
    find: HashMap<Element, StateId, FxBuildHasher>,
}

impl Table {
    fn number(&mut self, mut e: Element) -> StateId {
        e.input |= e.waiting == EMPTY;
        *self.find.entry(e).or_insert_with(|| {
            self.elements.push(e);
            self.elements.len() as StateId - 1
        })
    }
}

/// Every cycle that the start reaches has as many input as output labels, or an error.
fn check_delay<W: Weight>(fst: &FlatFst<W>) -> Result<()> {
    let component = components(fst, |_| true).of;
    let reached = accessible(fst);
    let mut delay: Vec<Option<i64>> = vec![None; fst.num_states()];
    let mut stack: Vec<StateId> = vec![];
    for root in fst.states().filter(|&s| reached[s as usize]) {
        if delay[root as usize].is_some() {
            continue;
        }
        delay[root as usize] = Some(0);
        stack.push(root);
        while let Some(s) = stack.pop() {
            let here = delay[s as usize].unwrap_or(0);
            for a in fst.arcs(s).iter().filter(|a| component[a.nextstate as usize] == component[s as usize]) {
                let there = here + (a.ilabel != EPSILON) as i64 - (a.olabel != EPSILON) as i64;
                match delay[a.nextstate as usize] {
                    None => {
                        delay[a.nextstate as usize] = Some(there);
                        stack.push(a.nextstate);
                    }
                    Some(d) if d == there => {}
                    Some(_) => {
                        return Err(Error::op(
                            OP,
                            format!(
                                "a cycle through state {} has more labels on one side than on the other, \
                                 so no number of states can hold the difference (if the cycle leads nowhere, \
                                 remove it with: weft fst connect)",
                                a.nextstate
                            ),
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn arc(i: i32, o: i32, t: u32) -> Arc<Tropical> {
        Arc::new(i, o, Tropical::ONE, t)
    }
    const Z: Tropical = Tropical::ZERO;

    #[test]
    fn labels_wait_for_each_other() {
        let f = FlatFst::from_rows(
            0,
            vec![(Z, vec![arc(1, 0, 1)]), (Z, vec![arc(0, 7, 2)]), (Z, vec![arc(2, 0, 3)]), (Tropical(0.5), vec![])],
        );
        let last = Arc::new(2, 0, Tropical(0.5), 4);
        let want = vec![
            (Z, vec![arc(0, 0, 1)]),
            (Z, vec![arc(1, 7, 2)]),
            (Z, vec![arc(0, 0, 3)]),
            (Z, vec![last]),
            (Tropical::ONE, vec![]),
        ];
        assert_eq!(synchronize(&f).unwrap(), FlatFst::from_rows(0, want));
    }

    #[test]
    fn unbounded_delay_is_an_error() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0, 0)])]);
        assert!(synchronize(&f).unwrap_err().to_string().contains("cycle through state 0"));
        let even = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0, 1)]), (Z, vec![arc(0, 2, 0)])]);
        assert_eq!(synchronize(&even).unwrap().num_states(), 2);
    }

    #[test]
    fn a_long_delay_is_not_quadratic() {
        let n = 50_000u32;
        let mut rows: Vec<_> = (0..2 * n)
            .map(|s| (Z, vec![if s < n { arc(1 + (s % 5) as i32, 0, s + 1) } else { arc(0, 3, s + 1) }]))
            .collect();
        rows.push((Tropical::ONE, vec![]));
        let f = synchronize(&FlatFst::from_rows(0, rows)).unwrap();
        assert_eq!(f.num_states(), 2 * n as usize + 1);
        assert_eq!(f.arcs(n + 1)[0].ilabel, 2);
    }
}
