//! The single best path: OpenFst's search, the same float sums and, of several equal paths, the same one.
//!
//! Which of several equal paths is found depends on the order in which states are visited, which is OpenFst's: by number if
//! the states are in topological order; the latest first if no arc costs anything; otherwise component by component, and
//! inside a component the latest first, the nearest first, or, where weights are negative, the oldest first.

use std::collections::VecDeque;

use super::OP;
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use crate::fst::heap::Heap;
use crate::fst::semiring::Weight;
use crate::fst::visit;

/// The best path alone; states are numbered from its end.
pub(super) fn single<W: Weight>(fst: &FlatFst<W>) -> Result<FlatFst<W>> {
    let mut best = Best::new(fst);
    if visit::is_top_sorted(fst) {
        fst.states().for_each(|s| best.visit::<false>(s));
    } else if fst.all_arcs().iter().all(free) {
        best.of = vec![0; fst.num_states()];
        best.queues = vec![Queue::Latest(vec![])];
        best.enqueue(fst.start());
        best.drain(0, usize::MAX)?;
    } else {
        best.by_component()?;
    }
    Ok(best.path())
}

/// True for an arc that costs nothing; one that cannot be taken counts as such.
fn free<W: Weight>(a: &Arc<W>) -> bool {
    a.weight.is_one_w() || a.weight.is_zero_w()
}

/// The states of a component that wait for a visit.
enum Queue {
    /// One state, which no arc leads back to.
    Trivial,
    Latest(Vec<StateId>),
    Nearest(Heap),
    Oldest(VecDeque<StateId>),
}

const NO_ARC: u32 = u32::MAX;

struct Best<'a, W> {
    fst: &'a FlatFst<W>,
    d: Vec<W>,
    /// The state and arc before, on the best path to a state.
    back: Vec<(StateId, u32)>,
    end: StateId,
    cost: W,
    waiting: Vec<bool>,
    /// The component of each state, and the queue of each component.
    of: Vec<u32>,
    queues: Vec<Queue>,
}

impl<'a, W: Weight> Best<'a, W> {
    fn new(fst: &'a FlatFst<W>) -> Self {
        let n = fst.num_states();
        let mut d = vec![W::ZERO; n];
        d[fst.start() as usize] = W::ONE;
        let back = vec![(NO_STATE, NO_ARC); n];
        Best { fst, d, back, end: NO_STATE, cost: W::ZERO, waiting: vec![false; n], of: vec![], queues: vec![] }
    }

    /// Relaxes the arcs of `s`; with `QUEUES`, states that got nearer wait for a visit.
    #[inline(always)]
    fn visit<const QUEUES: bool>(&mut self, s: StateId) {
        let (fst, d) = (self.fst, self.d[s as usize]);
        if d.is_zero_w() {
            return;
        }
        let cost = d.otimes(fst.final_weight(s));
        if cost.less(self.cost) {
            self.cost = cost;
            self.end = s;
        }
        let from = fst.range(s).start;
        for (i, a) in fst.arcs(s).iter().enumerate() {
            let t = a.nextstate as usize;
            let via = d.otimes(a.weight);
            if via.less(self.d[t]) {
                self.d[t] = via;
                // The start keeps no way back, or the path would not begin.
                if a.nextstate != fst.start() {
                    self.back[t] = (s, (from + i) as u32);
                }
                if QUEUES {
                    self.enqueue(a.nextstate);
                }
            }
        }
    }

    fn enqueue(&mut self, s: StateId) {
        if std::mem::replace(&mut self.waiting[s as usize], true) {
            return;
        }
        let d = &self.d;
        match &mut self.queues[self.of[s as usize] as usize] {
            Queue::Trivial => {}
            Queue::Latest(stack) => stack.push(s),
            Queue::Nearest(heap) => heap.insert(s, &|a, b| d[a as usize].less(d[b as usize])),
            Queue::Oldest(queue) => queue.push_back(s),
        }
    }

    fn by_component(&mut self) -> Result<()> {
        let fst = self.fst;
        let components = visit::components(fst, |_| true);
        self.of = components.of;
        self.queues = (0..components.count).map(|_| Queue::Trivial).collect();
        let mut sizes = vec![0usize; components.count];
        for s in fst.states() {
            let c = self.of[s as usize];
            sizes[c as usize] += 1;
            let queue = &mut self.queues[c as usize];
            for a in fst.arcs(s).iter().filter(|a| self.of[a.nextstate as usize] == c) {
                match queue {
                    Queue::Oldest(_) => {}
                    _ if a.weight.less(W::ONE) => *queue = Queue::Oldest(VecDeque::new()),
                    Queue::Trivial if free(a) => *queue = Queue::Latest(vec![]),
                    Queue::Trivial | Queue::Latest(_) if !free(a) => *queue = Queue::Nearest(Heap::default()),
                    _ => {}
                }
            }
        }
        let mut order: Vec<StateId> = fst.states().collect();
        order.sort_by_key(|&s| self.of[s as usize]);
        self.enqueue(fst.start());
        let mut at = 0;
        for (c, &size) in sizes.iter().enumerate() {
            if !matches!(self.queues[c], Queue::Trivial) {
                self.drain(c, size)?;
            } else if self.waiting[order[at] as usize] {
                self.visit::<true>(order[at]);
            }
            at += size;
        }
        Ok(())
    }

    /// Visits the states of a component until none waits. Where weights are negative, in rounds: as many as there are
    /// states, or there is a negative cycle.
    fn drain(&mut self, c: usize, size: usize) -> Result<()> {
        let (mut rounds, mut left) = (0, self.oldest(c));
        loop {
            let d = &self.d;
            let next = match &mut self.queues[c] {
                Queue::Trivial => None,
                Queue::Latest(stack) => stack.pop(),
                Queue::Nearest(heap) => heap.pop(&|a, b| d[a as usize].less(d[b as usize])),
                Queue::Oldest(queue) => queue.pop_front(),
            };
            let Some(s) = next else { return Ok(()) };
            self.waiting[s as usize] = false;
            self.visit::<true>(s);
            if left > 0 {
                left -= 1;
                if left == 0 {
                    rounds += 1;
                    left = self.oldest(c);
                    if rounds > size && left > 0 {
                        return Err(Error::op(OP, "a cycle of negative weight: there is no shortest path"));
                    }
                }
            }
        }
    }

    /// States of a round.
    fn oldest(&self, c: usize) -> usize {
        if let Queue::Oldest(queue) = &self.queues[c] { queue.len() } else { 0 }
    }

    fn path(&self) -> FlatFst<W> {
        if self.end == NO_STATE {
            return FlatFst::empty();
        }
        let mut b = ScatterBuilder::default();
        let mut s = self.end;
        let mut state = b.add_state();
        b.set_final(state, self.fst.final_weight(s));
        while self.back[s as usize].0 != NO_STATE {
            let (from, arc) = self.back[s as usize];
            let before = b.add_state();
            b.add_arc(before, Arc { nextstate: state, ..self.fst.all_arcs()[arc as usize] });
            (s, state) = (from, before);
        }
        b.set_start(state);
        b.finish()
    }
}
