//! Pruning while determinizing: only the subsets on paths within the beam are ever made. And pruning in place, as OpenFst
//! does it after determinizing a transducer.

use super::engine::Engine;
use super::residual::Weights;
use crate::error::Result;
use crate::fst::connect::keep_states;
use crate::fst::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::{DELTA, Weight};
use crate::fst::shortestdistance::{DistanceConfig, shortest_distance};

const ABSENT: u32 = u32::MAX;

/// A binary heap of states with changing costs, ties in OpenFst's order (a newcomer goes before its equals).
#[derive(Default)]
struct Heap {
    states: Vec<StateId>,
    place: Vec<u32>,
}

impl Heap {
    fn contains(&self, s: StateId) -> bool {
        self.place.get(s as usize).is_some_and(|&p| p != ABSENT)
    }
    fn set(&mut self, i: usize, s: StateId) {
        self.states[i] = s;
        self.place[s as usize] = i as u32;
    }
    fn up(&mut self, mut i: usize, less: &impl Fn(StateId, StateId) -> bool) {
        let s = self.states[i];
        while i > 0 && !less(self.states[(i - 1) / 2], s) {
            self.set(i, self.states[(i - 1) / 2]);
            i = (i - 1) / 2;
        }
        self.set(i, s);
    }
    fn down(&mut self, mut i: usize, less: &impl Fn(StateId, StateId) -> bool) {
        let s = self.states[i];
        loop {
            let (l, r) = (2 * i + 1, 2 * i + 2);
            let mut best = (i, s);
            if l < self.states.len() && less(self.states[l], s) {
                best = (l, self.states[l]);
            }
            if r < self.states.len() && less(self.states[r], best.1) {
                best = (r, self.states[r]);
            }
            if best.0 == i {
                break;
            }
            self.set(i, best.1);
            i = best.0;
        }
        self.set(i, s);
    }
    fn insert(&mut self, s: StateId, less: &impl Fn(StateId, StateId) -> bool) {
        if self.place.len() <= s as usize {
            self.place.resize(s as usize + 1, ABSENT);
        }
        self.states.push(s);
        self.up(self.states.len() - 1, less);
    }
    fn update(&mut self, s: StateId, less: &impl Fn(StateId, StateId) -> bool) {
        let i = self.place[s as usize] as usize;
        if less(s, self.states[i.saturating_sub(1) / 2]) { self.up(i, less) } else { self.down(i, less) }
    }
    fn pop(&mut self, less: &impl Fn(StateId, StateId) -> bool) -> Option<StateId> {
        let top = *self.states.first()?;
        let last = self.states.pop()?;
        self.place[top as usize] = ABSENT;
        if !self.states.is_empty() {
            self.set(0, last);
            self.down(0, less);
        }
        Some(top)
    }
}

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
    let mut heap = Heap::default();
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

/// Takes away the paths that are worse than the best by more than `weight`, then all but the `nstate` best states. States
/// keep their order; also which were kept.
pub(crate) fn prune_in_place<W: Weight>(
    fst: FlatFst<W>,
    weight: W,
    nstate: Option<usize>,
) -> Result<(FlatFst<W>, Vec<bool>)> {
    let n = fst.num_states();
    if n == 0 {
        return Ok((fst, vec![]));
    }
    let ahead = shortest_distance(&fst, &DistanceConfig { reverse: true, delta: DELTA, ..Default::default() })?;
    let start = fst.start();
    let mut visited = vec![false; n];
    if start == NO_STATE || nstate == Some(0) || ahead[start as usize].is_zero_w() {
        return Ok((keep_states(fst, &visited), visited));
    }
    let limit = ahead[start as usize].otimes(weight);
    let mut behind = vec![W::ZERO; n];
    let mut fst = fst;
    let mut heap = Heap::default();
    let mut seen = 0;
    if !limit.less(ahead[start as usize]) {
        behind[start as usize] = W::ONE;
        heap.insert(start, &|_, _| false);
        seen += 1;
    }
    // Arcs beyond the beam are cut by sending them to a state that is not kept.
    let mut cut = vec![false; fst.num_arcs()];
    loop {
        let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
        let Some(s) = heap.pop(&|x, y| cost(x).less(cost(y))) else { break };
        visited[s as usize] = true;
        let here = behind[s as usize];
        if limit.less(here.otimes(fst.final_weight(s))) {
            fst.finals_mut()[s as usize] = W::ZERO;
        }
        for i in fst.range(s) {
            let a = fst.all_arcs()[i];
            let (t, w) = (a.nextstate as usize, here.otimes(a.weight));
            if limit.less(w.otimes(ahead[t])) {
                cut[i] = true;
                continue;
            }
            if w.less(behind[t]) {
                behind[t] = w;
            }
            if visited[t] || nstate.is_some_and(|n| seen >= n) {
                continue;
            }
            let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
            let less = |x, y| cost(x).less(cost(y));
            if heap.contains(a.nextstate) {
                heap.update(a.nextstate, &less);
            } else {
                heap.insert(a.nextstate, &less);
                seen += 1;
            }
        }
    }
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let mut b = ScatterBuilder::default();
    for s in fst.states() {
        b.add_state();
        b.set_final(s, fst.final_weight(s));
        for i in fst.range(s).filter(|&i| !cut[i]) {
            b.add_arc(s, fst.all_arcs()[i]);
        }
    }
    b.set_start(start);
    Ok((keep_states(b.finish(), &visited).with_symbols(isyms, osyms), visited))
}
