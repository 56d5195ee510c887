//! Mohri's generic single-source algorithm for sums over all paths, step for step as OpenFst runs it.
//!
//! Over cycles a sum is a limit, and where it stops depends on the order of the steps and on what is left out: a part that
//! changes the sum so far by no more than `delta` is dropped. So the queue (components in topological order, first in
//! first out inside each), the arithmetic (parts in the precision of the weight, sums compensated in f64) and the test
//! are OpenFst's, and the result is too. Acyclic automata take each state once, O(V + E); cyclic ones as many rounds as
//! the sums need, and an error where they have no limit.
//! M. Mohri, Semiring frameworks and algorithms for shortest-distance problems, 2002; W. Kahan's summation.

use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, StateId};
use crate::fst::semiring::Weight;
use crate::fst::visit;

use super::OP;

/// A sum of probabilities as a cost, with the error of its last digits carried along.
#[derive(Clone, Copy)]
struct Adder {
    sum: f64,
    error: f64,
}

impl Adder {
    const ZERO: Adder = Adder { sum: f64::INFINITY, error: 0.0 };

    fn add(&mut self, x: f64) {
        if x == f64::INFINITY {
            return;
        }
        if self.sum == f64::INFINITY {
            *self = Adder { sum: x, error: 0.0 };
            return;
        }
        let (small, large) = if x > self.sum { (self.sum, x) } else { (x, self.sum) };
        let change = -(-(large - small)).exp().ln_1p() - self.error;
        let sum = small + change;
        *self = Adder { sum, error: (sum - small) - change };
    }
}

/// First in, first out, one queue a component; a state waits at most once.
struct Queues<'a> {
    of: &'a [u32],
    first: Vec<StateId>,
    last: Vec<StateId>,
    next: Vec<StateId>,
    waiting: Vec<bool>,
}

const NONE: StateId = StateId::MAX;

impl Queues<'_> {
    fn push(&mut self, s: StateId) {
        if std::mem::replace(&mut self.waiting[s as usize], true) {
            return;
        }
        let c = self.of[s as usize] as usize;
        self.next[s as usize] = NONE;
        match self.first[c] {
            NONE => self.first[c] = s,
            _ => self.next[self.last[c] as usize] = s,
        }
        self.last[c] = s;
    }
    fn pop(&mut self, component: usize) -> Option<StateId> {
        let s = self.first[component];
        if s == NONE {
            return None;
        }
        self.first[component] = self.next[s as usize];
        self.waiting[s as usize] = false;
        Some(s)
    }
}

/// How many arcs may be followed before a sum over cycles counts as one without a limit.
pub fn most_steps(num_arcs: usize) -> u64 {
    const STEPS: u64 = 20_000_000;
    STEPS.max(1000 * num_arcs as u64)
}

/// Sum of the paths from `source` to every state. `in_order`: take the source first and the others by number, which is a
/// topological order.
pub(super) fn sums<W: Weight>(fst: &FlatFst<W>, source: StateId, delta: f32, in_order: bool) -> Result<Vec<W>> {
    let n = fst.num_states();
    let (of, count) = if in_order {
        ((0..n as StateId).map(|s| if s == source { 0 } else { s + 1 }).collect(), n + 1)
    } else {
        let components = visit::components(fst, |_| true);
        (components.of, components.count)
    };
    let mut distance = vec![W::ZERO; n];
    let mut whole = vec![Adder::ZERO; n];
    // What has reached a state since it was last taken.
    let mut fresh = vec![Adder::ZERO; n];
    let mut queues = Queues {
        of: &of,
        first: vec![NONE; count],
        last: vec![NONE; count],
        next: vec![NONE; n],
        waiting: vec![false; n],
    };
    distance[source as usize] = W::ONE;
    whole[source as usize].add(0.0);
    fresh[source as usize].add(0.0);
    queues.push(source);
    let most = most_steps(fst.num_arcs());
    let mut steps = 0u64;
    for c in of[source as usize] as usize..count {
        while let Some(s) = queues.pop(c) {
            let r = W::from_f64(std::mem::replace(&mut fresh[s as usize], Adder::ZERO).sum);
            for a in fst.arcs(s) {
                let t = a.nextstate as usize;
                let part = r.otimes(a.weight);
                if distance[t].approx_eq(distance[t].oplus(part), delta) {
                    continue;
                }
                whole[t].add(part.to_f64());
                fresh[t].add(part.to_f64());
                distance[t] = W::from_f64(whole[t].sum);
                queues.push(a.nextstate);
            }
            steps += fst.arcs(s).len() as u64;
            if steps > most || !distance[s as usize].is_member() {
                return Err(Error::op(
                    OP,
                    format!(
                        "the sum over the cycles through state {s} does not converge: their probability is 1 or more, \
                         or very near; give a larger --delta"
                    ),
                ));
            }
        }
    }
    Ok(distance)
}
