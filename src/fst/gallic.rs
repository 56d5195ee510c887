//! Automata whose weights carry output strings (the Gallic semiring), and their way back to ordinary transducers.
//!
//! A weight is a set of (string, weight) pairs in military order of the strings: one pair for pushed labels, several
//! where paths were joined. `factor` unfolds them to arcs with at most one output label each, as OpenFst's FactorWeight
//! does, with the same state numbers and arc order. O(size of the result), if strings do not pile up along paths.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::semiring::Weight;
use super::strings::{EMPTY, StringId, Strings};
use crate::error::{Error, Result};

/// Place of a set in `Gallic::pool`; an empty one is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    pub from: u32,
    pub len: u32,
}

impl Set {
    pub const ZERO: Set = Set { from: 0, len: 0 };
}

pub struct Gallic<W> {
    /// The graph: `olabel` is a position in `sets`, weights are not used; `is_final` agrees with `finals`.
    pub graph: FlatFst<W>,
    pub sets: Vec<Set>,
    pub finals: Vec<Set>,
    pub pool: Vec<(StringId, W)>,
    pub strings: Strings,
}

impl<W: Weight> Gallic<W> {
    /// One string and weight for every arc of `graph`, in order, and for every final state.
    pub fn of_pairs(
        mut graph: FlatFst<W>,
        mut pool: Vec<(StringId, W)>,
        finals: impl IntoIterator<Item = Option<(StringId, W)>>,
        strings: Strings,
    ) -> Self {
        graph.all_arcs_mut().iter_mut().enumerate().for_each(|(i, a)| a.olabel = i as Label);
        let single = |i: usize| Set { from: i as u32, len: 1 };
        let sets = (0..pool.len()).map(single).collect();
        let mut final_sets = Vec::with_capacity(graph.num_states());
        for pair in finals {
            final_sets.push(if pair.is_some() { single(pool.len()) } else { Set::ZERO });
            pool.extend(pair);
        }
        final_sets.resize(graph.num_states(), Set::ZERO);
        Gallic { graph, sets, finals: final_sets, pool, strings }
    }
}

/// Unfolds to a transducer without symbol tables.
pub fn factor<W: Weight>(op: &'static str, mut g: Gallic<W>) -> Result<FlatFst<W>> {
    if g.graph.start() == NO_STATE {
        return Ok(FlatFst::empty());
    }
    // (state, string still to emit); after a final state only the string is left, and the state is NO_STATE.
    let mut elements = vec![(g.graph.start(), EMPTY)];
    let mut find: HashMap<(StateId, StringId), StateId, FxBuildHasher> = HashMap::default();
    find.insert(elements[0], 0);
    let (mut offsets, mut finals) = (Vec::with_capacity(g.graph.num_states() + 1), vec![]);
    let mut arcs: Vec<Arc<W>> = Vec::with_capacity(g.graph.num_arcs());
    // Arcs of final states that emit one more label; where they go is known when the states are counted.
    let mut superfinal: Vec<usize> = vec![];
    let mut next = 0;
    while next < elements.len() {
        let (state, residual) = elements[next];
        let mut place = |element| {
            *find.entry(element).or_insert_with(|| {
                elements.push(element);
                elements.len() as StateId - 1
            })
        };
        offsets.push(arcs.len() as u32);
        let mut final_weight = W::ZERO;
        next += 1;
        if state != NO_STATE {
            for i in g.graph.range(state) {
                let a = g.graph.all_arcs()[i];
                let set = g.sets[a.olabel as usize];
                for &(string, weight) in &g.pool[set.from as usize..][..set.len as usize] {
                    let string = g.strings.concat(residual, string);
                    let (label, rest) = (g.strings.first(string), g.strings.rest(string));
                    arcs.push(Arc::new(a.ilabel, label, weight, place((a.nextstate, rest))));
                }
            }
        }
        let set = if state == NO_STATE { Set { from: 0, len: 1 } } else { g.finals[state as usize] };
        for i in 0..set.len {
            let (string, weight) = if state == NO_STATE { (EMPTY, W::ONE) } else { g.pool[(set.from + i) as usize] };
            let string = g.strings.concat(residual, string);
            let (label, rest) = (g.strings.first(string), g.strings.rest(string));
            match (set.len, g.strings.len(string)) {
                (1, 0) => final_weight = weight,
                (1, 1) => {
                    superfinal.push(arcs.len());
                    arcs.push(Arc::new(EPSILON, label, weight, NO_STATE));
                }
                (_, 0) => arcs.push(Arc::new(EPSILON, EPSILON, weight, place((NO_STATE, EMPTY)))),
                _ => arcs.push(Arc::new(EPSILON, label, weight, place((NO_STATE, rest)))),
            }
        }
        finals.push(final_weight);
        if elements.len() >= NO_STATE as usize || arcs.len() >= u32::MAX as usize {
            return Err(Error::limit(op, "2^32 states or arcs", "the output strings make the result too large"));
        }
    }
    offsets.push(arcs.len() as u32);
    if !superfinal.is_empty() {
        let last = finals.len() as StateId;
        superfinal.iter().for_each(|&i| arcs[i].nextstate = last);
        finals.push(W::ONE);
        offsets.push(arcs.len() as u32);
    }
    Ok(FlatFst::from_parts(0, offsets, finals, arcs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn a_set_of_strings_becomes_arcs() {
        // One arc, input 5, outputs {1 2 (weight 0.5), empty (weight 1)}; then a final string 3.
        let mut strings = Strings::default();
        let (one, three) = (strings.of_label(1), strings.of_label(3));
        let one_two = strings.append(one, 2);
        let graph = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![Arc::new(5, 0, Tropical::ONE, 1)]), (Tropical::ONE, vec![])],
        );
        let pool = vec![(EMPTY, Tropical(1.0)), (one_two, Tropical(0.5)), (three, Tropical(2.0))];
        let g = Gallic {
            graph,
            sets: vec![Set { from: 0, len: 2 }],
            finals: vec![Set::ZERO, Set { from: 2, len: 1 }],
            pool,
            strings,
        };
        let arc = |i, o, w: f32, t| Arc::new(i, o, Tropical(w), t);
        let z = Tropical::ZERO;
        let want = vec![
            (z, vec![arc(5, 0, 1.0, 1), arc(5, 1, 0.5, 2)]),
            (z, vec![arc(0, 3, 2.0, 4)]),
            (z, vec![arc(0, 2, 2.0, 3)]),
            (z, vec![arc(0, 3, 0.0, 4)]),
            (Tropical::ONE, vec![]),
        ];
        assert_eq!(factor("push", g).unwrap(), FlatFst::from_rows(0, want));
    }
}
