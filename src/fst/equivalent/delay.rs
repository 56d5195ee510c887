//! Equivalence of deterministic transducers: on every pair of states that one input reaches, one output is a fixed string
//! and weight ahead of the other, and at the end of the input both are level. Sorts arcs, and then takes O(log n) an arc,
//! for a delay of n labels.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::fst::flat::{EPSILON, FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::strings::{EMPTY, StringId, Strings};

/// How far the first is ahead: its surplus output, or (negative) that of the second, and the difference of costs.
#[derive(Clone, Copy)]
struct Delay {
    first_ahead: bool,
    surplus: StringId,
    cost: f64,
}

impl Delay {
    /// After both have written one more label (or none: epsilon). `None` if they contradict each other.
    fn step(mut self, x: Label, y: Label, cost: f64, strings: &mut Strings) -> Option<Delay> {
        self.cost += cost;
        let (ahead, behind) = if self.first_ahead { (x, y) } else { (y, x) };
        self.surplus = strings.append(self.surplus, ahead);
        if behind != EPSILON {
            if self.surplus == EMPTY {
                self.surplus = strings.of_label(behind);
                self.first_ahead = !self.first_ahead;
            } else if strings.first(self.surplus) == behind {
                self.surplus = strings.rest(self.surplus);
            } else {
                return None;
            }
        }
        self.first_ahead |= self.surplus == EMPTY;
        Some(self)
    }
    fn same(&self, other: &Delay, delta: f32) -> bool {
        self.first_ahead == other.first_ahead
            && self.surplus == other.surplus
            && (self.cost - other.cost).abs() <= delta as f64
    }
}

/// Trim, without input epsilons, deterministic on input labels.
pub fn equivalent<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> bool {
    if a.start() == NO_STATE || b.start() == NO_STATE {
        return a.start() == b.start();
    }
    let sorted = |f: &FlatFst<W>| crate::fst::arcsort::arcsort(f.clone(), Default::default());
    let (a, b) = (sorted(a), sorted(b));
    let mut known: HashMap<(StateId, StateId), Delay, FxBuildHasher> = HashMap::default();
    let mut stack = vec![(a.start(), b.start())];
    known.insert(stack[0], Delay { first_ahead: true, surplus: EMPTY, cost: 0.0 });
    let mut strings = Strings::default();
    while let Some((s, t)) = stack.pop() {
        let delay = known[&(s, t)];
        if a.is_final(s) != b.is_final(t) || a.arcs(s).len() != b.arcs(t).len() {
            return false;
        }
        if a.is_final(s) {
            let cost = delay.cost + a.final_weight(s).to_f64() - b.final_weight(t).to_f64();
            if delay.surplus != EMPTY || cost.abs() > delta as f64 {
                return false;
            }
        }
        for (x, y) in a.arcs(s).iter().zip(b.arcs(t)) {
            if x.ilabel != y.ilabel {
                return false;
            }
            let cost = x.weight.to_f64() - y.weight.to_f64();
            let Some(next) = delay.step(x.olabel, y.olabel, cost, &mut strings) else { return false };
            match known.get(&(x.nextstate, y.nextstate)) {
                Some(old) if !old.same(&next, delta) => return false,
                Some(_) => {}
                None => {
                    known.insert((x.nextstate, y.nextstate), next);
                    stack.push((x.nextstate, y.nextstate));
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::testing::{ONE, Z, arc};

    #[test]
    fn a_long_delay_is_not_quadratic() {
        let n = 50_000u32;
        let label = |s: u32| 1 + (s % 7) as Label;
        // One writes its output in the first half of the string, the other in the second.
        let writes = |from: u32, last: Label| {
            let mut rows: Vec<_> = (0..2 * n)
                .map(|s| {
                    let olabel = if (from..from + n).contains(&s) { label(s - from) } else { EPSILON };
                    (Z, vec![arc(1, olabel, 0.0, s + 1)])
                })
                .collect();
            rows[(from + n) as usize - 1].1[0].olabel = last;
            rows.push((ONE, vec![]));
            crate::fst::flat::FlatFst::from_rows(0, rows)
        };
        let (early, late) = (writes(0, 9), writes(n, 9));
        assert!(equivalent(&early, &late, 1e-3) && equivalent(&late, &early, 1e-3));
        assert!(!equivalent(&early, &writes(n, 8), 1e-3));
    }
}
