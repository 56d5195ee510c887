//! Pruning while determinizing: only the subsets on paths within the beam get arcs and come into the result.
//!
//! Best first. The arcs of a subset lead to all of its destinations, so that the subsets next to those within the beam
//! are made, too, and count for `max_states`; nothing behind them is. Costs what these subsets cost to make, and a heap
//! of them.

use super::engine::Engine;
use super::residual::Weights;
use crate::error::Result;
use crate::fst::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use crate::fst::heap::Heap;
use crate::fst::semiring::Weight;

/// The determinized acceptor without the paths that are worse than the best by more than `weight`, and with at most
/// `nstate` states, best first. `distance`: of every input state to the final ones.
pub fn acceptor<W: Weight>(
    mut engine: Engine<W, Weights>,
    distance: &[W],
    weight: W,
    nstate: Option<usize>,
) -> Result<FlatFst<W>> {
    let mut b = ScatterBuilder::default();
    let start = engine.start()?;
    let (Some(start), false, true) = (start, weight.less(W::ONE), nstate != Some(0)) else { return Ok(b.finish()) };
    let to_final = |engine: &Engine<W, Weights>, s: u32| {
        engine.subset(s).iter().fold(W::ZERO, |sum, &(state, w)| sum.oplus(w.otimes(distance[state as usize])))
    };
    let mut ahead = vec![to_final(&engine, start)];
    if ahead[0].is_zero_w() {
        return Ok(b.finish());
    }
    let limit = ahead[0].otimes(weight);
    let mut behind = vec![W::ONE];
    let mut copy = vec![b.add_state()];
    let mut visited = vec![false];
    b.set_start(0);
    let mut heap = Heap::tracking();
    let mut arcs = vec![];
    heap.insert(start, &|_, _| false);
    loop {
        let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
        let Some(s) = heap.pop(&|x, y| cost(x).less(cost(y))) else { break };
        visited[s as usize] = true;
        let here = behind[s as usize];
        let last = engine.final_weight(s)?;
        if !limit.less(here.otimes(last)) {
            b.set_final(copy[s as usize], last);
        }
        arcs.clear();
        engine.expand(s, |a| arcs.push(a))?;
        for t in ahead.len() as u32..engine.num_subsets() as u32 {
            ahead.push(to_final(&engine, t));
            behind.push(W::ZERO);
            copy.push(NO_STATE);
            visited.push(false);
        }
        for a in &arcs {
            let (t, w) = (a.dest as usize, here.otimes(a.divisor.weight));
            if limit.less(w.otimes(ahead[t])) || nstate.is_some_and(|n| b.num_states() >= n) {
                continue;
            }
            if w.less(behind[t]) {
                behind[t] = w;
            }
            if copy[t] == NO_STATE {
                copy[t] = b.add_state();
            }
            b.add_arc(copy[s as usize], Arc::new(a.ilabel, a.ilabel, a.divisor.weight, copy[t]));
            if visited[t] {
                continue;
            }
            let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
            let less = |x, y| cost(x).less(cost(y));
            if heap.contains(a.dest) { heap.update(a.dest, &less) } else { heap.insert(a.dest, &less) }
        }
    }
    Ok(b.finish())
}
