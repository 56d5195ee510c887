//! The order in which OpenFst's searches take states (its `AutoQueue`): component by component, in topological order, and
//! inside a component the latest first if none of its arcs costs anything, the nearest first, or, where weights are negative,
//! the oldest first. Which of several equal paths is found rests on this order, and what a rough distance leaves out.
//!
//! Finding the components takes O(V + E); a push or pop takes no time, but O(log V) where the nearest comes first.

use std::collections::VecDeque;

use super::flat::{Arc, FlatFst, StateId};
use super::heap::Heap;
use super::semiring::Weight;
use super::visit;

/// How the states of a component wait for a visit.
pub(super) enum Queue {
    /// One state, which no arc leads back to.
    Trivial,
    Latest(Vec<StateId>),
    Nearest(Heap),
    Oldest(VecDeque<StateId>),
}

/// States that wait for a visit, each at most once.
pub(super) struct Queues {
    /// The component of each state, and the queue of each component.
    pub of: Vec<u32>,
    pub queues: Vec<Queue>,
    waiting: Vec<bool>,
}

/// True for an arc that costs nothing; one that cannot be taken counts as such.
pub(super) fn free<W: Weight>(a: &Arc<W>) -> bool {
    a.weight.is_one_w() || a.weight.is_zero_w()
}

impl Queues {
    /// All states in one, the latest first.
    pub fn latest(states: usize) -> Self {
        Queues { of: vec![0; states], queues: vec![Queue::Latest(vec![])], waiting: vec![false; states] }
    }

    pub fn by_component<W: Weight>(fst: &FlatFst<W>) -> Self {
        let components = visit::components(fst, |_| true);
        let of = components.of;
        let mut queues: Vec<Queue> = (0..components.count).map(|_| Queue::Trivial).collect();
        for s in fst.states() {
            let c = of[s as usize];
            let queue = &mut queues[c as usize];
            for a in fst.arcs(s).iter().filter(|a| of[a.nextstate as usize] == c) {
                match queue {
                    Queue::Oldest(_) => {}
                    _ if a.weight.less(W::ONE) => *queue = Queue::Oldest(VecDeque::new()),
                    Queue::Trivial if free(a) => *queue = Queue::Latest(vec![]),
                    Queue::Trivial | Queue::Latest(_) if !free(a) => *queue = Queue::Nearest(Heap::default()),
                    _ => {}
                }
            }
        }
        Queues { of, queues, waiting: vec![false; fst.num_states()] }
    }

    /// A state that waits already keeps its place. `d` are the distances, for those that come the nearest first.
    pub fn push<W: Weight>(&mut self, s: StateId, d: &[W]) {
        if std::mem::replace(&mut self.waiting[s as usize], true) {
            return;
        }
        match &mut self.queues[self.of[s as usize] as usize] {
            Queue::Trivial => {}
            Queue::Latest(stack) => stack.push(s),
            Queue::Nearest(heap) => heap.insert(s, &|a, b| d[a as usize].less(d[b as usize])),
            Queue::Oldest(queue) => queue.push_back(s),
        }
    }

    /// The state of a component to visit next; not of a trivial one, whose only state is asked for by `take`.
    pub fn pop<W: Weight>(&mut self, component: usize, d: &[W]) -> Option<StateId> {
        let s = match &mut self.queues[component] {
            Queue::Trivial => None,
            Queue::Latest(stack) => stack.pop(),
            Queue::Nearest(heap) => heap.pop(&|a, b| d[a as usize].less(d[b as usize])),
            Queue::Oldest(queue) => queue.pop_front(),
        }?;
        self.waiting[s as usize] = false;
        Some(s)
    }

    /// True if the state waited, which it does no longer.
    pub fn take(&mut self, s: StateId) -> bool {
        std::mem::take(&mut self.waiting[s as usize])
    }

    /// As `visit::members`.
    pub fn members(&self) -> (Vec<StateId>, Vec<u32>) {
        visit::members(&self.of, self.queues.len())
    }
}
