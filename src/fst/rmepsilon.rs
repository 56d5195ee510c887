//! Epsilon removal: an equivalent automaton without arcs that are epsilon on both sides (Mohri 2002).
//!
//! Needs nothing of its input; cycles of epsilons are summed (log) or searched (tropical), and an epsilon cycle of
//! negative cost, or of probability 1 and more, is an error. States are taken in reverse topological order of the
//! epsilon arcs, so that the closure of a state is one step deep wherever the epsilons are acyclic, or a walk over
//! states that are in no other closure (see `walks`): O(V + E) for those, plus the arcs of the result. Arcs come out in
//! OpenFst's order.

use super::connect::connect;
use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId, check_arcs};
use super::prune::{PruneConfig, prune};
use super::semiring::{DELTA, SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::visit;
use super::walks::{Expand, expand_all, patience};
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

const OP: &str = "rmepsilon";

pub fn rmepsilon<W: Weight>(fst: FlatFst<W>, config: &RmEpsilonConfig<W>) -> Result<FlatFst<W>> {
    let patience = patience(&fst);
    removed(fst, config, patience).map(|(out, _)| out)
}

/// The result, and how far the walks were.
fn removed<W: Weight>(fst: FlatFst<W>, config: &RmEpsilonConfig<W>, patience: usize) -> Result<(FlatFst<W>, usize)> {
    if fst.start() == NO_STATE {
        return Ok((fst, 0));
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
    let walked = expand_all(&fst, is_epsilon, &order, &entered, patience, &mut closure)?;
    let symbols = (fst.isyms.clone(), fst.osyms.clone());
    let out = closure.finish(&entered).with_symbols(symbols.0, symbols.1);
    if pruned {
        let config = PruneConfig { weight: config.weight, nstate: config.nstate, delta: Some(DELTA) };
        return Ok((prune(out, &config)?, walked));
    }
    Ok((if config.connect { connect(out) } else { out }, walked))
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

    /// Gives a state the arcs behind its epsilons; says how far that was, as `Expand` wants to know it.
    #[inline(always)]
    fn take_in(&mut self, source: StateId, shared: bool) -> Result<usize> {
        self.out.clear();
        self.merged.clear();
        let fst = self.fst;
        let own = fst.arcs(source);
        let epsilon = |a: &Arc<W>| a.ilabel == EPSILON && a.olabel == EPSILON;
        if !own.iter().any(epsilon) {
            for a in own {
                self.merged.add(&mut self.out, *a);
            }
            self.store(source, self.finals[source as usize], shared)?;
            return Ok(0);
        }
        self.collect(source)?;
        // The order of visits is OpenFst's: a stack of epsilon targets.
        let mut weight = W::ZERO;
        let mut looked = 0;
        self.stack.push(source);
        while let Some(s) = self.stack.pop() {
            if !std::mem::replace(&mut self.seen[s as usize], false) {
                continue;
            }
            let d = self.distance[s as usize];
            let (from, to) = self.place[s as usize];
            let arcs = if from == UNFINISHED { self.fst.arcs(s) } else { &self.pool[from as usize..to as usize] };
            if shared || from == UNFINISHED {
                looked += 1 + arcs.len();
            }
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
        self.store(source, weight, shared)?;
        Ok(if shared { looked } else { looked.saturating_sub(1 + own.len() + self.out.len()) })
    }

    /// Marks the epsilon closure of `source` and computes the distances in it.
    #[inline(always)]
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
    #[inline(never)]
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
            .map_err(|e| Error::op(OP, format!("in the epsilon closure of state {source}: {e}")))?;
        for (&s, d) in self.members.iter().zip(d) {
            self.distance[s as usize] = d;
        }
        Ok(())
    }

    #[inline(always)]
    fn store(&mut self, s: StateId, weight: W, shared: bool) -> Result<()> {
        check_arcs(OP, self.pool.len() + self.out.len())?;
        let from = self.pool.len() as u32;
        if shared {
            self.pool.extend_from_slice(&self.out);
        } else {
            self.pool.extend(self.out.iter().rev());
        }
        self.place[s as usize] = (from, self.pool.len() as u32);
        self.finals[s as usize] = weight;
        Ok(())
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

impl<W: Weight> Expand for Closure<'_, W> {
    #[inline(always)]
    fn expand(&mut self, s: StateId) -> Result<usize> {
        self.take_in(s, false)
    }

    #[cold]
    #[inline(never)]
    fn share(&mut self, s: StateId) -> Result<usize> {
        self.take_in(s, true)
    }

    fn is_expanded(&self, s: StateId) -> bool {
        self.place[s as usize].0 != UNFINISHED
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
    /// `n` states that the start enters, each with an epsilon into one chain of `n` epsilons to a final state.
    fn shared_tail(n: u32) -> FlatFst<Tropical> {
        let arc = |label, weight, next| Arc::new(label, label, Tropical(weight), next);
        let mut rows = vec![(Tropical::ZERO, (1..=n).map(|s| arc(s as Label, 0.0, s)).collect())];
        rows.extend((0..n).map(|s| (Tropical::ZERO, vec![arc(0, (s % 4) as f32, n + 1)])));
        rows.extend((0..n).map(|s| (Tropical::ZERO, vec![arc(0, 0.0, n + s + 2)])));
        rows.push((Tropical::ONE, vec![]));
        FlatFst::from_rows(0, rows)
    }

    #[test]
    fn one_chain_of_epsilons_behind_many_states_is_linear() {
        let f = shared_tail(20_000);
        let size = f.num_states() + f.num_arcs();
        let (out, walked) = removed(f, &Default::default(), patience(&shared_tail(20_000))).unwrap();
        assert_eq!((out.num_states(), out.num_arcs()), (20_001, 20_000));
        assert!((1..=20_000).all(|s| out.final_weight(s) == Tropical(((s - 1) % 4) as f32)));
        assert!(walked <= 16 * size, "{walked} steps for {size} states and arcs");
    }

    /// The other way round: what two walks have in common, all of it, is much more than its states and arcs.
    #[test]
    fn nothing_is_shared_where_that_costs_more() {
        let n = 2000;
        let arc = |label, next| Arc::new(label, label, Tropical::ONE, next);
        let mut rows = vec![(Tropical::ZERO, vec![arc(1, 1), arc(2, 2)])];
        rows.extend(vec![(Tropical::ZERO, (0..n).map(|i| arc(0, 3 + i)).collect()); 2]);
        rows.extend((1..=n).map(|i| (Tropical::ZERO, vec![arc(i as Label, 3 + n), arc(0, 3 + i)])));
        rows.push((Tropical::ONE, vec![]));
        let f = FlatFst::from_rows(0, rows);
        let size = f.num_states() + f.num_arcs();
        let want = rmepsilon(f.clone(), &Default::default()).unwrap();
        let (out, walked) = removed(f, &Default::default(), 0).unwrap();
        assert_eq!(out, want);
        assert!(walked <= 4 * size, "{walked} steps for {size} states and arcs");
    }

    #[test]
    fn shared_states_change_nothing() {
        use rand::{Rng, SeedableRng, rngs::SmallRng};
        let mut rng = SmallRng::seed_from_u64(11);
        let mut shorter = 0;
        for case in 0..4000 {
            let n = rng.random_range(2..24u32);
            let cyclic = case % 4 == 0;
            let rows = (0..n).map(|s| {
                let arcs = (0..rng.random_range(0..5)).filter_map(|_| {
                    let label = if rng.random_bool(0.8) { 0 } else { rng.random_range(1..4) };
                    let next = if cyclic || label > 0 { rng.random_range(0..n) } else { rng.random_range(s..n) };
                    let weight = Tropical(rng.random_range(0..16) as f32 / 8.0);
                    (label > 0 || cyclic || next > s).then(|| Arc::new(label, label, weight, next))
                });
                let arcs = arcs.collect();
                (if rng.random_bool(0.2) { Tropical(rng.random_range(0..8) as f32) } else { Tropical::ZERO }, arcs)
            });
            let f = FlatFst::from_rows(0, rows.collect());
            for connect in [true, false] {
                let config = RmEpsilonConfig { connect, ..Default::default() };
                let (want, far) = removed(f.clone(), &config, usize::MAX).unwrap();
                let (found, walked) = removed(f.clone(), &config, 0).unwrap();
                assert_eq!(found, want, "{f:?}");
                shorter += (walked < far) as u32;
            }
        }
        assert!(shorter > 100, "{shorter}");
    }
}
