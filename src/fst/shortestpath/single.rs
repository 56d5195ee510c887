//! The single best path: OpenFst's search, the same float sums and, of several equal paths, the same one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Item, OP};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::Weight;
use crate::fst::visit;

/// The best path alone; states are numbered from its end.
pub(super) fn single<W: Weight>(fst: &FlatFst<W>) -> Result<FlatFst<W>> {
    const NONE: u32 = u32::MAX;
    let n = fst.num_states();
    let mut best = Best { d: vec![W::ZERO; n], back: vec![(NO_STATE, NONE); n], end: NO_STATE, cost: W::ZERO };
    best.d[fst.start() as usize] = W::ONE;
    let unweighted = |states: &[StateId], of: &[u32]| {
        let inside = |s: StateId, a: &Arc<W>| of[s as usize] == of[a.nextstate as usize];
        states.iter().all(|&s| fst.arcs(s).iter().all(|a| !inside(s, a) || a.weight.is_one_w()))
    };
    // Which of several equal paths is found depends on the order of the visits; it is OpenFst's.
    if visit::is_top_sorted(fst) {
        for s in fst.states() {
            best.visit(fst, s, |_| {});
        }
    } else if fst.is_unweighted() {
        best.last_in_first_out(fst, vec![fst.start()], |_| true);
    } else {
        let components = visit::components(fst, |_| true);
        let of = &components.of;
        let mut order: Vec<StateId> = fst.states().collect();
        order.sort_by_key(|&s| of[s as usize]);
        for members in order.chunk_by(|&s, &t| of[s as usize] == of[t as usize]) {
            let c = of[members[0] as usize];
            let reached: Vec<StateId> = members.iter().copied().filter(|&s| !best.d[s as usize].is_zero_w()).collect();
            let negative = || members.iter().any(|&s| fst.arcs(s).iter().any(|a| a.weight.less(W::ONE)));
            if members.len() == 1 && fst.arcs(members[0]).iter().all(|a| of[a.nextstate as usize] != c) {
                best.visit(fst, members[0], |_| {});
            } else if unweighted(members, of) {
                best.last_in_first_out(fst, reached, |t| of[t as usize] == c);
            } else if !negative() {
                best.shortest_first(fst, reached, |t| of[t as usize] == c);
            } else {
                best.first_in_first_out(fst, reached, members.len(), |t| of[t as usize] == c)?;
            }
        }
    }
    if best.end == NO_STATE {
        return Ok(FlatFst::empty());
    }
    let mut b = ScatterBuilder::default();
    let mut s = best.end;
    let mut state = b.add_state();
    b.set_final(state, fst.final_weight(s));
    while best.back[s as usize].0 != NO_STATE {
        let (from, arc) = best.back[s as usize];
        let before = b.add_state();
        b.add_arc(before, Arc { nextstate: state, ..fst.all_arcs()[arc as usize] });
        (s, state) = (from, before);
    }
    b.set_start(state);
    Ok(b.finish())
}

struct Best<W> {
    d: Vec<W>,
    /// The state and arc before, on the best path to a state.
    back: Vec<(StateId, u32)>,
    end: StateId,
    cost: W,
}

impl<W: Weight> Best<W> {
    #[inline(always)]
    fn consider_end(&mut self, fst: &FlatFst<W>, s: StateId) {
        let cost = self.d[s as usize].otimes(fst.final_weight(s));
        if cost.less(self.cost) {
            self.cost = cost;
            self.end = s;
        }
    }
    /// Relaxes the arcs of `s`; `improved` hears of every state that is now nearer.
    #[inline(always)]
    fn visit(&mut self, fst: &FlatFst<W>, s: StateId, mut improved: impl FnMut((StateId, W))) {
        let d = self.d[s as usize];
        if d.is_zero_w() {
            return;
        }
        self.consider_end(fst, s);
        let from = fst.range(s).start;
        for (i, a) in fst.arcs(s).iter().enumerate() {
            let via = d.otimes(a.weight);
            if via.less(self.d[a.nextstate as usize]) {
                self.d[a.nextstate as usize] = via;
                // The start keeps no way back, or the path would not begin.
                if a.nextstate != fst.start() {
                    self.back[a.nextstate as usize] = (s, (from + i) as u32);
                }
                improved((a.nextstate, via));
            }
        }
    }
}

impl<W: Weight> Best<W> {
    /// Visits a set of states that lead to each other (`inside`), the latest improved first.
    fn last_in_first_out(&mut self, fst: &FlatFst<W>, mut stack: Vec<StateId>, inside: impl Fn(StateId) -> bool) {
        let mut waiting = hashbrown::HashSet::<StateId, rustc_hash::FxBuildHasher>::from_iter(stack.iter().copied());
        while let Some(s) = stack.pop() {
            waiting.remove(&s);
            self.visit(fst, s, |(t, _)| {
                if inside(t) && waiting.insert(t) {
                    stack.push(t);
                }
            });
        }
    }

    /// The nearest first; needs weights that are not negative.
    fn shortest_first(&mut self, fst: &FlatFst<W>, states: Vec<StateId>, inside: impl Fn(StateId) -> bool) {
        let mut number = 0;
        let mut item = |cost: W, node: StateId| {
            number += 1;
            Reverse(Item { cost: cost.to_f64(), complete: false, number, node })
        };
        let mut heap: BinaryHeap<_> = states.iter().map(|&s| item(self.d[s as usize], s)).collect();
        while let Some(Reverse(next)) = heap.pop() {
            if next.cost > self.d[next.node as usize].to_f64() {
                continue;
            }
            self.visit(fst, next.node, |(t, d)| {
                if inside(t) {
                    heap.push(item(d, t));
                }
            });
        }
    }

    /// In rounds; as many as there are states, or there is a negative cycle.
    fn first_in_first_out(
        &mut self,
        fst: &FlatFst<W>,
        states: Vec<StateId>,
        most: usize,
        inside: impl Fn(StateId) -> bool,
    ) -> Result<()> {
        let mut waiting = hashbrown::HashSet::<StateId, rustc_hash::FxBuildHasher>::from_iter(states.iter().copied());
        let mut queue = VecDeque::from(states);
        for _ in 0..=most {
            for _ in 0..queue.len() {
                let Some(s) = queue.pop_front() else { break };
                waiting.remove(&s);
                self.visit(fst, s, |(t, _)| {
                    if inside(t) && waiting.insert(t) {
                        queue.push_back(t);
                    }
                });
            }
            if queue.is_empty() {
                return Ok(());
            }
        }
        Err(Error::op(OP, "a cycle of negative weight: there is no shortest path"))
    }
}
