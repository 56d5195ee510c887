//! A binary heap of states whose costs change while they wait, ties in the order of OpenFst's heap: a newcomer goes before
//! its equals. Costs are looked at when states are moved, by a comparison that every call brings along, so that a state
//! which got nearer without `update` stays where it is, as it does there. Which of several equal paths a search finds, and
//! which states a limit leaves, rests on this order.

use super::flat::StateId;

const ABSENT: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Heap {
    states: Vec<StateId>,
    /// Where each state is; kept only if somebody asks.
    place: Vec<u32>,
    tracks: bool,
}

impl Heap {
    /// A heap that can be asked for states, and told that one got nearer.
    pub fn tracking() -> Self {
        Heap { tracks: true, ..Heap::default() }
    }
    pub fn contains(&self, s: StateId) -> bool {
        self.place.get(s as usize).is_some_and(|&p| p != ABSENT)
    }
    fn set(&mut self, i: usize, s: StateId) {
        self.states[i] = s;
        if self.tracks {
            self.place[s as usize] = i as u32;
        }
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
    /// Needs a state that is not in it.
    pub fn insert(&mut self, s: StateId, less: &impl Fn(StateId, StateId) -> bool) {
        if self.tracks && self.place.len() <= s as usize {
            self.place.resize(s as usize + 1, ABSENT);
        }
        self.states.push(s);
        self.up(self.states.len() - 1, less);
    }
    /// Needs a state that is in it.
    pub fn update(&mut self, s: StateId, less: &impl Fn(StateId, StateId) -> bool) {
        let i = self.place[s as usize] as usize;
        if less(s, self.states[i.saturating_sub(1) / 2]) { self.up(i, less) } else { self.down(i, less) }
    }
    /// The state with the least cost.
    pub fn pop(&mut self, less: &impl Fn(StateId, StateId) -> bool) -> Option<StateId> {
        let top = *self.states.first()?;
        let last = self.states.pop()?;
        if self.tracks {
            self.place[top as usize] = ABSENT;
        }
        if !self.states.is_empty() {
            self.set(0, last);
            self.down(0, less);
        }
        Some(top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_comes_first_and_a_newcomer_before_its_equals() {
        let mut costs = [3, 1, 1, 2, 1];
        let mut heap = Heap::tracking();
        for s in 0..5 {
            heap.insert(s, &|a, b| costs[a as usize] < costs[b as usize]);
        }
        costs[0] = 0;
        heap.update(0, &|a, b| costs[a as usize] < costs[b as usize]);
        assert!(heap.contains(0) && !heap.contains(5));
        let less = |a: StateId, b: StateId| costs[a as usize] < costs[b as usize];
        let order: Vec<StateId> = std::iter::from_fn(|| heap.pop(&less)).collect();
        assert_eq!((order[0], order[4]), (0, 3));
        assert!(!heap.contains(0));
        let mut heap = Heap::default();
        [1, 2].into_iter().for_each(|s| heap.insert(s, &less));
        assert_eq!(heap.pop(&less), Some(2));
    }
}
