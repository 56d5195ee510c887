//! Epsilon removal: an equivalent automaton without arcs that are epsilon on both sides (Mohri 2002).
//!
//! Needs nothing of its input; cycles of epsilons are summed (log) or searched (tropical), and an epsilon cycle of
//! negative cost, or of probability 1 and more, is an error. States are taken in reverse topological order of the epsilon
//! arcs, so that the closure of a state is one step deep wherever the epsilons are acyclic: O(V + E) for those, plus the
//! arcs of the result. Arcs come out in OpenFst's order.

use super::connect::connect;
use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::prune::{PruneConfig, prune};
use super::semiring::{DELTA, SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::visit;
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug)]
pub struct RmEpsilonConfig<W> {
    /// Trim the result.
    pub connect: bool,
    /// Prune the result: how much worse than the best path; `W::ZERO`: not.
    pub weight: W,
    /// Prune the result to this many states.
    pub nstate: Option<usize>,
    /// When a log sum over epsilon cycles counts as converged.
    pub delta: f32,
}

impl<W: Weight> Default for RmEpsilonConfig<W> {
    fn default() -> Self {
        RmEpsilonConfig { connect: true, weight: W::ZERO, nstate: None, delta: SHORTEST_DELTA }
    }
}

pub fn rmepsilon<W: Weight>(fst: FlatFst<W>, config: &RmEpsilonConfig<W>) -> Result<FlatFst<W>> {
    if fst.start() == NO_STATE {
        return Ok(fst);
    }
    let pruned = !config.weight.is_zero_w() || config.nstate.is_some();
    let trimmed = config.connect || pruned;
    let is_epsilon = |a: &Arc<W>| a.ilabel == EPSILON && a.olabel == EPSILON;
    // States that only epsilons enter vanish from a trimmed result; they need no arcs of their own.
    let mut entered = vec![!trimmed; fst.num_states()];
    entered[fst.start() as usize] = true;
    let mut any = false;
    for a in fst.all_arcs() {
        if is_epsilon(a) {
            any = true;
        } else {
            entered[a.nextstate as usize] = true;
        }
    }
    let order = processing_order(&fst, any);
    let mut closure = Closure::new(&fst, config.delta);
    for s in order {
        if entered[s as usize] {
            closure.expand(s)?;
        }
    }
    let symbols = (fst.isyms.clone(), fst.osyms.clone());
    let out = closure.finish(&entered).with_symbols(symbols.0, symbols.1);
    if pruned {
        return prune(out, &PruneConfig { weight: config.weight, nstate: config.nstate, delta: Some(DELTA) });
    }
    Ok(if config.connect { connect(out) } else { out })
}

/// States so that epsilon arcs lead to states that come earlier, except inside cycles of epsilons.
fn processing_order<W: Weight>(fst: &FlatFst<W>, any: bool) -> Vec<StateId> {
    if !any || visit::is_top_sorted(fst) {
        return fst.states().rev().collect();
    }
    let c = visit::components(fst, |a| a.ilabel == EPSILON && a.olabel == EPSILON);
    // Counting sort by component, last component first; by number inside one.
    let mut first = vec![0u32; c.count + 1];
    for &k in &c.of {
        first[c.count - k as usize] += 1;
    }
    for k in 0..c.count {
        first[k + 1] += first[k];
    }
    let mut order = vec![0; fst.num_states()];
    for s in fst.states() {
        let place = &mut first[c.count - 1 - c.of[s as usize] as usize];
        order[*place as usize] = s;
        *place += 1;
    }
    order
}

struct Closure<'a, W> {
    fst: &'a FlatFst<W>,
    delta: f32,
    /// Arcs of the finished states, each state's in one run.
    pool: Vec<Arc<W>>,
    /// Where a finished state's arcs are in `pool`; none: not finished.
    place: Vec<(u32, u32)>,
    finals: Vec<W>,
    /// Sum of the epsilon paths from the state at hand.
    distance: Vec<W>,
    /// States of the closure, in the order they are visited.
    members: Vec<StateId>,
    seen: Vec<bool>,
    stack: Vec<StateId>,
    out: Vec<Arc<W>>,
    merged: ArcTable,
}

const UNFINISHED: u32 = u32::MAX;

impl<'a, W: Weight> Closure<'a, W> {
    fn new(fst: &'a FlatFst<W>, delta: f32) -> Self {
        let n = fst.num_states();
        Closure {
            fst,
            delta,
            pool: Vec::with_capacity(fst.num_arcs()),
            place: vec![(UNFINISHED, 0); n],
            finals: fst.finals().to_vec(),
            distance: vec![W::ZERO; n],
            members: vec![],
            seen: vec![false; n],
            stack: vec![],
            out: vec![],
            merged: ArcTable::default(),
        }
    }

    /// Arcs of a state as they are now: a finished one has no epsilons any more.
    #[inline(always)]
    fn arcs(&self, s: StateId) -> &[Arc<W>] {
        let (from, to) = self.place[s as usize];
        if from == UNFINISHED { self.fst.arcs(s) } else { &self.pool[from as usize..to as usize] }
    }

    fn expand(&mut self, source: StateId) -> Result<()> {
        self.out.clear();
        self.merged.clear();
        let own = self.fst.arcs(source);
        let epsilon = |a: &Arc<W>| a.ilabel == EPSILON && a.olabel == EPSILON;
        if !own.iter().any(epsilon) {
            for a in own {
                self.merged.add(&mut self.out, *a);
            }
            self.store(source, self.finals[source as usize]);
            return Ok(());
        }
        self.collect(source)?;
        // The order of visits is OpenFst's: a stack of epsilon targets.
        let mut weight = W::ZERO;
        self.stack.push(source);
        while let Some(s) = self.stack.pop() {
            if !std::mem::replace(&mut self.seen[s as usize], false) {
                continue;
            }
            let d = self.distance[s as usize];
            let (from, to) = self.place[s as usize];
            let arcs = if from == UNFINISHED { self.fst.arcs(s) } else { &self.pool[from as usize..to as usize] };
            for a in arcs {
                if epsilon(a) {
                    if self.seen[a.nextstate as usize] {
                        self.stack.push(a.nextstate);
                    }
                } else {
                    self.merged.add(&mut self.out, Arc { weight: d.otimes(a.weight), ..*a });
                }
            }
            weight = weight.oplus(d.otimes(self.finals[s as usize]));
        }
        self.store(source, weight);
        Ok(())
    }

    /// Marks the epsilon closure of `source` and computes the distances in it.
    fn collect(&mut self, source: StateId) -> Result<()> {
        let epsilon = |a: &Arc<W>| a.ilabel == EPSILON && a.olabel == EPSILON;
        self.members.clear();
        self.members.push(source);
        self.seen[source as usize] = true;
        self.distance[source as usize] = W::ONE;
        let mut i = 0;
        // One step deep is the usual case: every target is finished, and its distance a sum over the arcs to it.
        let mut shallow = true;
        while i < self.members.len() {
            let s = self.members[i];
            let (from, to) = self.place[s as usize];
            let arcs = if from == UNFINISHED { self.fst.arcs(s) } else { &self.pool[from as usize..to as usize] };
            for a in arcs.iter().filter(|a| epsilon(a)) {
                let t = a.nextstate as usize;
                if i == 0 && t != source as usize {
                    let old = if self.seen[t] { self.distance[t] } else { W::ZERO };
                    self.distance[t] = old.oplus(a.weight);
                } else {
                    shallow = false;
                }
                if !std::mem::replace(&mut self.seen[t], true) {
                    self.members.push(a.nextstate);
                }
            }
            i += 1;
        }
        if shallow {
            return Ok(());
        }
        self.distances_in_closure(source)
    }

    /// The general case: the epsilon arcs of the closure as an automaton of their own.
    fn distances_in_closure(&mut self, source: StateId) -> Result<()> {
        let mut b = super::flat::Builder::<W>::with_capacity(self.members.len(), self.members.len());
        // Numbers inside the closure, kept in a map: closures are small and many.
        let local: hashbrown::HashMap<StateId, u32, rustc_hash::FxBuildHasher> =
            self.members.iter().enumerate().map(|(i, &s)| (s, i as u32)).collect();
        for &s in &self.members {
            b.add_state(W::ZERO);
            for a in self.arcs(s) {
                if a.ilabel == EPSILON && a.olabel == EPSILON {
                    b.push_arc(Arc { nextstate: local[&a.nextstate], ..*a });
                }
            }
        }
        b.set_start(0);
        let config = DistanceConfig { delta: Some(self.delta), ..Default::default() };
        let d = shortest_distance(&b.finish(), &config)
            .map_err(|e| Error::op("rmepsilon", format!("in the epsilon closure of state {source}: {e}")))?;
        for (&s, d) in self.members.iter().zip(d) {
            self.distance[s as usize] = d;
        }
        Ok(())
    }

    fn store(&mut self, s: StateId, weight: W) {
        let from = self.pool.len() as u32;
        self.pool.extend(self.out.iter().rev());
        self.place[s as usize] = (from, self.pool.len() as u32);
        self.finals[s as usize] = weight;
    }

    fn finish(self, entered: &[bool]) -> FlatFst<W> {
        let n = self.fst.num_states();
        let mut offsets = Vec::with_capacity(n + 1);
        let mut arcs = Vec::with_capacity(self.pool.len());
        offsets.push(0);
        for (&entered, &(from, to)) in entered.iter().zip(&self.place) {
            if entered {
                arcs.extend_from_slice(&self.pool[from as usize..to as usize]);
            }
            offsets.push(arcs.len() as u32);
        }
        FlatFst::from_parts(self.fst.start(), offsets, self.finals, arcs)
    }
}

/// Finds arcs with the same labels and target among those of the state at hand, to merge them.
#[derive(Default)]
struct ArcTable {
    /// `(stamp, position)`; another stamp is an empty slot.
    slots: Vec<(u32, u32)>,
    stamp: u32,
}

/// Up to here a look through the arcs beats hashing.
const FEW: usize = 8;

impl ArcTable {
    fn clear(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.slots.fill((0, 0));
            self.stamp = 1;
        }
    }

    #[inline(always)]
    fn add<W: Weight>(&mut self, arcs: &mut Vec<Arc<W>>, arc: Arc<W>) {
        let same = |a: &Arc<W>| a.ilabel == arc.ilabel && a.olabel == arc.olabel && a.nextstate == arc.nextstate;
        if arcs.len() < FEW {
            match arcs.iter_mut().find(|a| same(a)) {
                Some(a) => a.weight = a.weight.oplus(arc.weight),
                None => arcs.push(arc),
            }
            return;
        }
        if arcs.len() == FEW || arcs.len() * 2 > self.slots.len() {
            self.rebuild(arcs);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(arc.ilabel, arc.olabel, arc.nextstate) & mask;
        while self.slots[at].0 == self.stamp {
            let a = &mut arcs[self.slots[at].1 as usize];
            if same(a) {
                a.weight = a.weight.oplus(arc.weight);
                return;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = (self.stamp, arcs.len() as u32);
        arcs.push(arc);
    }

    #[cold]
    fn rebuild<W: Weight>(&mut self, arcs: &[Arc<W>]) {
        let size = (arcs.len() * 4).next_power_of_two().max(64);
        if size > self.slots.len() {
            self.slots = vec![(0, 0); size];
            self.stamp = self.stamp.max(1);
        }
        let mask = self.slots.len() - 1;
        self.clear();
        for (i, a) in arcs.iter().enumerate() {
            let mut at = hash(a.ilabel, a.olabel, a.nextstate) & mask;
            while self.slots[at].0 == self.stamp {
                at = (at + 1) & mask;
            }
            self.slots[at] = (self.stamp, i as u32);
        }
    }
}

#[inline(always)]
fn hash(ilabel: Label, olabel: Label, next: StateId) -> usize {
    let h = ((ilabel as u32 as u64) << 32 | next as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (olabel as u32 as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    (h ^ (h >> 31)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn epsilon_cycles_are_looked_through() {
        let arc = |label, weight, next| Arc::new(label, label, Tropical(weight), next);
        let f = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(0, 1.0, 1)]),
                (Tropical::ZERO, vec![arc(0, 1.0, 0), arc(5, 1.0, 2)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let out = rmepsilon(f, &Default::default()).unwrap();
        let want = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(5, 2.0, 1)]), (Tropical::ONE, vec![])]);
        assert_eq!(out, want);
    }

    #[test]
    fn a_long_chain_of_epsilons_is_linear_and_needs_no_stack() {
        let n = 200_000u32;
        let mut rows: Vec<_> = (0..n).map(|s| (Tropical::ZERO, vec![Arc::new(0, 0, Tropical(0.5), s + 1)])).collect();
        rows.push((Tropical::ONE, vec![]));
        let out = rmepsilon(FlatFst::from_rows(0, rows), &Default::default()).unwrap();
        assert_eq!((out.num_states(), out.final_weight(0)), (1, Tropical(n as f32 * 0.5)));
    }

    #[test]
    fn many_arcs_to_one_state_are_merged() {
        let mut arcs: Vec<Arc<Tropical>> = (0..100).map(|l| Arc::new(l % 20 + 1, 1, Tropical(l as f32), 1)).collect();
        arcs.push(Arc::new(0, 0, Tropical(0.0), 1));
        let f = FlatFst::from_rows(0, vec![(Tropical::ZERO, arcs), (Tropical::ONE, vec![])]);
        let out = rmepsilon(f, &Default::default()).unwrap();
        assert_eq!(out.num_arcs(), 20);
        assert!(out.all_arcs().iter().all(|a| a.weight.0 < 20.0));
    }
}
