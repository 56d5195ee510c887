//! Equality: the same states with the same numbers, the same arcs in the same order, weights within `delta`.
//!
//! Needs nothing of its input; symbol tables are not looked at, as in OpenFst. O(V + E), and stops at the first difference.

use super::flat::{FlatFst, NO_STATE};
use super::semiring::Weight;

pub fn equal<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> bool {
    first_difference(a, b, delta).is_none()
}

/// The first thing the two automata do not agree on, in words.
pub fn first_difference<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Option<String> {
    let name = |s: u32| if s == NO_STATE { "none".to_string() } else { s.to_string() };
    if a.start() != b.start() {
        return Some(format!("the start states are {} and {}", name(a.start()), name(b.start())));
    }
    if a.num_states() != b.num_states() {
        return Some(format!("there are {} and {} states", a.num_states(), b.num_states()));
    }
    for s in a.states() {
        let (f, g) = (a.final_weight(s), b.final_weight(s));
        if !f.approx_eq(g, delta) {
            return Some(format!("state {s}: the final weights are {f} and {g}"));
        }
        let (p, q) = (a.arcs(s), b.arcs(s));
        if p.len() != q.len() {
            return Some(format!("state {s}: there are {} and {} arcs", p.len(), q.len()));
        }
        for (i, (x, y)) in p.iter().zip(q).enumerate() {
            let differ = |what, x: &dyn std::fmt::Display, y: &dyn std::fmt::Display| {
                Some(format!("state {s}, arc {i}: the {what} are {x} and {y}"))
            };
            if x.ilabel != y.ilabel {
                return differ("input labels", &x.ilabel, &y.ilabel);
            }
            if x.olabel != y.olabel {
                return differ("output labels", &x.olabel, &y.olabel);
            }
            if !x.weight.approx_eq(y.weight, delta) {
                return differ("weights", &x.weight, &y.weight);
            }
            if x.nextstate != y.nextstate {
                return differ("next states", &x.nextstate, &y.nextstate);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::{DELTA, Tropical};

    #[test]
    fn weights_within_delta_are_equal() {
        let f = |w| FlatFst::from_rows(0, vec![(Tropical::ONE, vec![Arc::new(1, 2, Tropical(w), 0)])]);
        assert!(equal(&f(0.5), &f(0.5005), DELTA));
        assert!(!equal(&f(0.5), &f(0.5005), 0.0));
        let why = first_difference(&f(0.5), &f(0.75), DELTA).unwrap();
        assert_eq!(why, "state 0, arc 0: the weights are 0.5 and 0.75");
    }
}
