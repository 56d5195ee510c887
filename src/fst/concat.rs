//! Concatenation: every string of the first followed by every string of the second, weights multiplied.
//!
//! The final states of the first get an epsilon arc to the start of the second. Needs symbol tables that agree.
//! O(V + E) of both. Numbering is OpenFst's: the states of the first, then those of the second.

use super::flat::{Arc, Builder, EPSILON, FlatFst, NO_STATE};
use super::semiring::Weight;
use super::symbols::compatible_symbols;
use super::visit::is_top_sorted;
use crate::error::Result;

pub fn concat<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>) -> Result<FlatFst<W>> {
    compatible_symbols("concat", a.isyms.as_deref(), b.isyms.as_deref())?;
    compatible_symbols("concat", a.osyms.as_deref(), b.osyms.as_deref())?;
    if a.start() == NO_STATE {
        return Ok(a.clone());
    }
    let shift = a.num_states() as u32;
    let finals = a.states().filter(|&s| a.is_final(s)).count();
    let mut out = Builder::with_capacity(a.num_states() + b.num_states(), a.num_arcs() + b.num_arcs() + finals);
    for s in a.states() {
        out.add_state(W::ZERO);
        out.extend_arcs(a.arcs(s).iter().copied());
        if a.is_final(s) && b.start() != NO_STATE {
            out.push_arc(Arc::new(EPSILON, EPSILON, a.final_weight(s), b.start() + shift));
        }
    }
    for s in b.states() {
        out.add_state(b.final_weight(s));
        out.extend_arcs(b.arcs(s).iter().map(|x| Arc { nextstate: x.nextstate + shift, ..*x }));
    }
    out.set_start(a.start());
    let mut out = out.finish().with_symbols_of(a);
    out.start_acyclic = a.start_acyclic || is_top_sorted(a);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn final_weights_move_to_the_joining_arcs() {
        let arc = |l, w: f32, t| Arc::new(l, l, Tropical(w), t);
        let a = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(1, 0.5, 1)]), (Tropical(2.0), vec![])]);
        let b = FlatFst::from_rows(0, vec![(Tropical(3.0), vec![arc(2, 0.25, 0)])]);
        let ab = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(1, 0.5, 1)]),
                (Tropical::ZERO, vec![arc(0, 2.0, 2)]),
                (Tropical(3.0), vec![arc(2, 0.25, 2)]),
            ],
        );
        assert_eq!(concat(&a, &b).unwrap(), ab);
        assert_eq!(concat(&FlatFst::empty(), &b).unwrap(), FlatFst::empty());
        assert!(concat(&a, &FlatFst::empty()).unwrap().finals().iter().all(|w| w.is_zero_w()));
    }
}
