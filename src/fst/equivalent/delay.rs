//! Equivalence of deterministic transducers: on every pair of states that one input reaches, one output is a fixed string
//! and weight ahead of the other, and at the end of the input both are level.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// How far the first is ahead: its surplus output, or (negative) that of the second, and the difference of costs.
#[derive(Clone, PartialEq)]
struct Delay {
    first_ahead: bool,
    surplus: Vec<Label>,
    cost: f64,
}

impl Delay {
    /// After both have written one more label (0: none). `None` if they contradict each other.
    fn step(&self, x: Label, y: Label, cost: f64) -> Option<Delay> {
        let mut d = self.clone();
        d.cost += cost;
        let (ahead, behind) = if d.first_ahead { (x, y) } else { (y, x) };
        if ahead != 0 {
            d.surplus.push(ahead);
        }
        if behind != 0 {
            if d.surplus.is_empty() {
                d.surplus.push(behind);
                d.first_ahead = !d.first_ahead;
            } else if d.surplus.remove(0) != behind {
                return None;
            }
        }
        d.first_ahead |= d.surplus.is_empty();
        Some(d)
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
    known.insert(stack[0], Delay { first_ahead: true, surplus: vec![], cost: 0.0 });
    while let Some((s, t)) = stack.pop() {
        let delay = known[&(s, t)].clone();
        if a.is_final(s) != b.is_final(t) || a.arcs(s).len() != b.arcs(t).len() {
            return false;
        }
        if a.is_final(s) {
            let cost = delay.cost + a.final_weight(s).to_f64() - b.final_weight(t).to_f64();
            if !delay.surplus.is_empty() || cost.abs() > delta as f64 {
                return false;
            }
        }
        for (x, y) in a.arcs(s).iter().zip(b.arcs(t)) {
            if x.ilabel != y.ilabel {
                return false;
            }
            let Some(next) = delay.step(x.olabel, y.olabel, x.weight.to_f64() - y.weight.to_f64()) else {
                return false;
            };
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
