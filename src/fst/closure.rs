//! Concatenative closure: T* (any number of copies, none too) or T+ (one or more).
//!
//! Every final state gets an epsilon arc back to the start with its final weight; T* gets a new start state that is final.
//! Needs nothing of its input. O(V + E). Numbering is OpenFst's: the new start is the last state.

use super::flat::{Arc, Builder, EPSILON, FlatFst, NO_STATE};
use super::semiring::Weight;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ClosureType {
    /// T*: the empty string too
    #[default]
    Star,
    /// T+: at least once
    Plus,
}

pub fn closure<W: Weight>(fst: &FlatFst<W>, kind: ClosureType) -> FlatFst<W> {
    let start = fst.start();
    let finals = fst.states().filter(|&s| fst.is_final(s)).count();
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + finals + 1);
    for s in fst.states() {
        b.add_state(fst.final_weight(s));
        b.extend_arcs(fst.arcs(s).iter().copied());
        if fst.is_final(s) && start != NO_STATE {
            b.push_arc(Arc::new(EPSILON, EPSILON, fst.final_weight(s), start));
        }
    }
    b.set_start(start);
    if kind == ClosureType::Star {
        let new_start = b.add_state(W::ONE);
        if start != NO_STATE {
            b.push_arc(Arc::new(EPSILON, EPSILON, W::ONE, start));
        }
        b.set_start(new_start);
    }
    b.finish().with_symbols_of(fst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn star_has_a_final_start_and_plus_has_not() {
        let arc = |l, w: f32, t| Arc::new(l, l, Tropical(w), t);
        let a = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(1, 0.0, 1)]), (Tropical(2.0), vec![])]);
        let rows = vec![(Tropical::ZERO, vec![arc(1, 0.0, 1)]), (Tropical(2.0), vec![arc(0, 2.0, 0)])];
        assert_eq!(closure(&a, ClosureType::Plus), FlatFst::from_rows(0, rows.clone()));
        let mut star = rows;
        star.push((Tropical::ONE, vec![arc(0, 0.0, 0)]));
        assert_eq!(closure(&a, ClosureType::Star), FlatFst::from_rows(2, star));
    }

    #[test]
    fn star_of_nothing_is_the_empty_string() {
        let e = FlatFst::<Tropical>::empty();
        assert_eq!(closure(&e, ClosureType::Star), FlatFst::from_rows(0, vec![(Tropical::ONE, vec![])]));
        assert_eq!(closure(&e, ClosureType::Plus), e);
    }
}
