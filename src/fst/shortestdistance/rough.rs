//! Tropical distances, step for step as OpenFst computes them: a way to a state that is better than what is known by no more
//! than `delta` is dropped, so that which one counts depends on the order in which they are found (see `queues`).
//!
//! Acyclic automata take each state once, O(V + E). Cyclic ones are searched as OpenFst searches them, usually O(E log V);
//! where that takes very long, or nothing is to be dropped, the exact search answers (`cyclic`), which also knows the cycles
//! of negative weight.

use super::OP;
use super::cyclic::{self, Sum};
use crate::error::Result;
use crate::fst::flat::{FlatFst, StateId};
use crate::fst::queues::{Queue, Queues};
use crate::fst::semiring::Weight;

/// From `source`, the states in this topological order. Exact with a delta of 0.
pub(super) fn in_order<W: Weight>(fst: &FlatFst<W>, source: StateId, order: &[StateId], delta: f32) -> Vec<W> {
    let mut d = vec![W::ZERO; fst.num_states()];
    d[source as usize] = W::ONE;
    for &s in order {
        if !d[s as usize].is_zero_w() {
            relax(fst, s, &mut d, delta, |_, _| ());
        }
    }
    d
}

/// How far a walk has come with a state.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// To the final states: as `in_order` over the reversed automaton, which is kept as small as can be. The order is OpenFst's
/// there: by number if that is a topological order, else that of a depth-first walk. None if a cycle leads to a final state.
pub(super) fn backward<W: Weight>(fst: &FlatFst<W>, delta: f32) -> Option<Vec<W>> {
    let n = fst.num_states();
    // Where the ways into each state begin, one behind the other; first the place of the next one to come.
    let mut first = vec![0u32; n + 2];
    let mut falling = true;
    for s in fst.states() {
        for a in fst.arcs(s) {
            first[a.nextstate as usize + 2] += 1;
            falling &= a.nextstate < s;
        }
    }
    for s in 1..n + 2 {
        first[s] += first[s - 1];
    }
    let mut ways = vec![(0 as StateId, W::ZERO); fst.num_arcs()];
    for s in fst.states() {
        for a in fst.arcs(s) {
            let place = &mut first[a.nextstate as usize + 1];
            ways[*place as usize] = (s, a.weight);
            *place += 1;
        }
    }
    let mut d = fst.finals().to_vec();
    let mut visit = |s: StateId| {
        let here = d[s as usize];
        for &(t, w) in &ways[first[s as usize] as usize..first[s as usize + 1] as usize] {
            let known = d[t as usize];
            let best = known.oplus(here.otimes(w));
            if !known.approx_eq(best, delta) {
                d[t as usize] = best;
            }
        }
    };
    if falling {
        fst.states().for_each(visit);
        return Some(d);
    }
    let mut finished: Vec<StateId> = Vec::with_capacity(n);
    let mut marks = vec![Mark::New; n];
    let mut stack: Vec<(StateId, u32)> = vec![];
    for root in fst.states().filter(|&s| fst.is_final(s)) {
        if marks[root as usize] == Mark::New {
            marks[root as usize] = Mark::Open;
            stack.push((root, first[root as usize]));
        }
        while let Some((s, next)) = stack.last_mut() {
            if *next == first[*s as usize + 1] {
                marks[*s as usize] = Mark::Done;
                finished.push(*s);
                stack.pop();
                continue;
            }
            let before = ways[*next as usize].0;
            *next += 1;
            match marks[before as usize] {
                Mark::New => {
                    marks[before as usize] = Mark::Open;
                    stack.push((before, first[before as usize]));
                }
                Mark::Open => return None,
                Mark::Done => {}
            }
        }
    }
    finished.into_iter().rev().for_each(&mut visit);
    Some(d)
}

/// From `source`; an error if a cycle of negative weight leaves no distance.
pub(super) fn cyclic<W: Weight>(fst: &FlatFst<W>, source: StateId, delta: f32) -> Result<Vec<W>> {
    let exact = || -> Result<Vec<W>> {
        let (costs, _) = cyclic::search(fst, source, Sum::Best).map_err(|cycle| cycle.error(OP))?;
        Ok(costs.into_iter().map(W::from_f64).collect())
    };
    if delta == 0.0 {
        return exact();
    }
    let queues = Queues::by_component(fst);
    if queues.queues.iter().any(|queue| matches!(queue, Queue::Oldest(_))) {
        let exact = exact()?;
        return Ok(by_component(fst, source, queues, delta).unwrap_or(exact));
    }
    by_component(fst, source, queues, delta).map_or_else(exact, Ok)
}

/// None if it takes too many steps.
fn by_component<W: Weight>(fst: &FlatFst<W>, source: StateId, mut queues: Queues, delta: f32) -> Option<Vec<W>> {
    let mut d = vec![W::ZERO; fst.num_states()];
    d[source as usize] = W::ONE;
    queues.push(source, &d);
    let (members, first) = queues.members();
    // Few looks at every arc are usual; states that get nearer again and again would take V².
    let mut left = 20_000_000.max(100 * fst.num_arcs() as u64);
    for c in queues.of[source as usize] as usize..queues.queues.len() {
        if let Queue::Trivial = queues.queues[c] {
            let s = members[first[c] as usize];
            if queues.take(s) {
                relax(fst, s, &mut d, delta, |t, d| queues.push(t, d));
            }
            continue;
        }
        while let Some(s) = queues.pop(c, &d) {
            left = left.checked_sub(fst.arcs(s).len() as u64)?;
            relax(fst, s, &mut d, delta, |t, d| queues.push(t, d));
        }
    }
    Some(d)
}

/// Follows the arcs of `s`; `nearer` hears of the states to which the way is better by more than delta.
#[inline(always)]
fn relax<W: Weight>(fst: &FlatFst<W>, s: StateId, d: &mut [W], delta: f32, mut nearer: impl FnMut(StateId, &[W])) {
    let here = d[s as usize];
    for a in fst.arcs(s) {
        let known = d[a.nextstate as usize];
        let best = known.oplus(here.otimes(a.weight));
        if !known.approx_eq(best, delta) {
            d[a.nextstate as usize] = best;
            nearer(a.nextstate, d);
        }
    }
}
