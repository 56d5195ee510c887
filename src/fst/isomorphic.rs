//! Are two automata the same up to the numbers of their states (and the order of arcs)?
//!
//! The start states are paired, then the targets of arcs with equal labels and weights, and so on. Only states that the
//! start reaches count. Where a state has several arcs of the same labels and weight the pairing is a guess by state
//! number: if it leads to a contradiction, that is an error and not an answer. O(V + E log d) for out-degree d.

use super::flat::{Arc, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use crate::error::{Error, Result};

/// The first reason why they are not isomorphic, in words, or `None` if they are. Weights within `delta` are equal.
pub fn first_difference<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Result<Option<String>> {
    match (a.start() == NO_STATE, b.start() == NO_STATE) {
        (true, true) => return Ok(None),
        (true, false) => return Ok(Some("the first is empty and the second is not".into())),
        (false, true) => return Ok(Some("the second is empty and the first is not".into())),
        _ => {}
    }
    let mut p = Pairing {
        there: vec![NO_STATE; a.num_states()],
        back: vec![NO_STATE; b.num_states()],
        queue: vec![],
        guessed: false,
    };
    p.pair(a.start(), b.start());
    let (mut left, mut right) = (vec![], vec![]);
    let mut next = 0;
    while next < p.queue.len() {
        let (s, t) = p.queue[next];
        next += 1;
        if let Some(what) = p.compare(a, b, s, t, delta, &mut left, &mut right) {
            if p.guessed {
                return Err(Error::op(
                    "isomorphic",
                    format!(
                        "cannot be decided: some state has two arcs with the same labels and weight, and the pairing \
                         that was tried fails ({what})"
                    ),
                ));
            }
            return Ok(Some(what));
        }
    }
    Ok(None)
}

pub fn isomorphic<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Result<bool> {
    Ok(first_difference(a, b, delta)?.is_none())
}

struct Pairing {
    there: Vec<StateId>,
    back: Vec<StateId>,
    queue: Vec<(StateId, StateId)>,
    guessed: bool,
}

impl Pairing {
    fn pair(&mut self, s: StateId, t: StateId) -> bool {
        let (x, y) = (self.there[s as usize], self.back[t as usize]);
        if x == NO_STATE && y == NO_STATE {
            self.there[s as usize] = t;
            self.back[t as usize] = s;
            self.queue.push((s, t));
            return true;
        }
        x == t && y == s
    }

    #[allow(clippy::too_many_arguments)] // the two buffers are kept between calls
    fn compare<W: Weight>(
        &mut self,
        a: &FlatFst<W>,
        b: &FlatFst<W>,
        s: StateId,
        t: StateId,
        delta: f32,
        left: &mut Vec<Arc<W>>,
        right: &mut Vec<Arc<W>>,
    ) -> Option<String> {
        let (f, g) = (a.final_weight(s), b.final_weight(t));
        if !f.approx_eq(g, delta) {
            return Some(format!("states {s} and {t} have final weights {f} and {g}"));
        }
        let (m, n) = (a.arcs(s).len(), b.arcs(t).len());
        if m != n {
            return Some(format!("states {s} and {t} have {m} and {n} arcs"));
        }
        sorted(a.arcs(s), delta, left);
        sorted(b.arcs(t), delta, right);
        for (i, (x, y)) in left.iter().zip(right.iter()).enumerate() {
            if (x.ilabel, x.olabel) != (y.ilabel, y.olabel) {
                return Some(format!(
                    "states {s} and {t} have arcs {}:{} and {}:{}",
                    x.ilabel, x.olabel, y.ilabel, y.olabel
                ));
            }
            if !x.weight.approx_eq(y.weight, delta) {
                return Some(format!(
                    "arcs {}:{} of states {s} and {t} have weights {} and {}",
                    x.ilabel, x.olabel, x.weight, y.weight
                ));
            }
            let twin = i > 0 && same(&left[i - 1], x, delta) && left[i - 1].nextstate != x.nextstate;
            self.guessed |= twin;
            if !self.pair(x.nextstate, y.nextstate) {
                // A twin that is still to come may be the one that was meant.
                self.guessed |= left.get(i + 1).is_some_and(|z| same(x, z, delta));
                return Some(format!(
                    "arcs {}:{} of states {s} and {t} lead to states {} and {}, which are not the same",
                    x.ilabel, x.olabel, x.nextstate, y.nextstate
                ));
            }
        }
        None
    }
}

fn same<W: Weight>(x: &Arc<W>, y: &Arc<W>, delta: f32) -> bool {
    x.ilabel == y.ilabel && x.olabel == y.olabel && x.weight.approx_eq(y.weight, delta)
}

/// By labels and weight; arcs of the same labels and (nearly) the same weight by target.
fn sorted<W: Weight>(arcs: &[Arc<W>], delta: f32, out: &mut Vec<Arc<W>>) {
    out.clear();
    out.extend_from_slice(arcs);
    out.sort_by(|x, y| {
        (x.ilabel, x.olabel).cmp(&(y.ilabel, y.olabel)).then_with(|| x.weight.to_f64().total_cmp(&y.weight.to_f64()))
    });
    for twins in out.chunk_by_mut(|x, y| same(x, y, delta)) {
        twins.sort_by_key(|a| a.nextstate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{DELTA, Tropical};

    fn arc(l: i32, w: f32, t: StateId) -> Arc<Tropical> {
        Arc::new(l, l, Tropical(w), t)
    }
    const Z: Tropical = Tropical::ZERO;
    const ONE: Tropical = Tropical::ONE;

    #[test]
    fn other_numbers_are_the_same() {
        let a = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1.0, 1), arc(2, 0.0, 0)]), (ONE, vec![])]);
        let b = FlatFst::from_rows(1, vec![(ONE, vec![]), (Z, vec![arc(2, 0.0, 1), arc(1, 1.0, 0)])]);
        assert!(isomorphic(&a, &b, DELTA).unwrap());
        let c = FlatFst::from_rows(1, vec![(ONE, vec![]), (Z, vec![arc(2, 0.0, 1), arc(1, 1.5, 0)])]);
        assert!(first_difference(&a, &c, DELTA).unwrap().unwrap().contains("weights"));
    }

    #[test]
    fn equivalent_is_not_enough() {
        let two = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0.0, 1), arc(2, 0.0, 2)]), (ONE, vec![]), (ONE, vec![])]);
        let one = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0.0, 1), arc(2, 0.0, 1)]), (ONE, vec![])]);
        assert!(!isomorphic(&two, &one, DELTA).unwrap());
        assert!(!isomorphic(&one, &two, DELTA).unwrap());
    }

    #[test]
    fn a_guess_that_fails_is_an_error() {
        let rows = |x, y| {
            vec![(Z, vec![arc(1, 0.0, 1), arc(1, 0.0, 2)]), (ONE, vec![arc(x, 0.0, 1)]), (ONE, vec![arc(y, 0.0, 2)])]
        };
        let (a, b) = (FlatFst::from_rows(0, rows(5, 6)), FlatFst::from_rows(0, rows(6, 5)));
        assert!(isomorphic(&a, &a, DELTA).unwrap());
        assert!(isomorphic(&a, &b, DELTA).is_err());
    }
}
