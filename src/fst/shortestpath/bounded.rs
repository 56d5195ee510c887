//! The n best paths with a bound on the states the search may make: OpenFst's search, step for step.
//!
//! Which paths are found before the bound is reached depends on everything: on the float sums, on the states the search
//! makes and never needs, on which of two equal costs comes first. So all of it is OpenFst's here: costs are summed in the
//! precision of the weight, a complete path comes after what is as good within 1e-6, and the heap moves its items as the
//! C++ library's does, by which equal ones are ordered. The bound keeps the search small, so speed is not the point.

use super::ShortestPathConfig;
use super::entry::{COMPLETE, Entry, FINAL, automaton};
use crate::fst::flat::{FlatFst, NO_STATE, StateId};
use crate::fst::semiring::{SHORTEST_DELTA, Weight};
use crate::fst::visit::Incoming;

/// `distance`: from the start, in the precision of the weight.
pub(super) fn bounded<W: Weight>(
    fst: &FlatFst<W>,
    distance: &[W],
    config: &ShortestPathConfig<W>,
    nstate: usize,
) -> FlatFst<W> {
    let incoming = Incoming::new(fst);
    let mut entries = vec![];
    let mut heap = Heap { items: vec![], costs: vec![] };
    let ends: Vec<StateId> = fst.states().filter(|&s| fst.is_final(s)).collect();
    let best = ends.iter().fold(W::ZERO, |d, &s| d.oplus(fst.final_weight(s).otimes(distance[s as usize])));
    if best.is_zero_w() {
        return FlatFst::empty();
    }
    let limit = best.otimes(config.weight);
    // The common end of all paths, from which the first step goes back to the final states.
    entries.push(Entry { cost: 0.0, state: NO_STATE, arc: FINAL, parent: 0 });
    heap.push(best, false);
    let mut visits = vec![0usize; fst.num_states()];
    let mut heads = vec![];
    while let Some(i) = heap.pop() {
        // OpenFst has one state more: the start of the result.
        if limit.less(heap.costs[i as usize].0) || entries.len() + 1 >= nstate {
            continue;
        }
        let e: Entry = entries[i as usize];
        let cost = W::from_f64(e.cost);
        let mut add = |entry: Entry, to_start: W| {
            entries.push(entry);
            heap.push(to_start.otimes(W::from_f64(entry.cost)), entry.arc == COMPLETE);
        };
        if e.arc == COMPLETE {
            heads.push(i);
            if heads.len() == config.nshortest {
                break;
            }
            continue;
        }
        if i == 0 {
            for &state in &ends {
                let cost = fst.final_weight(state).to_f64();
                add(Entry { cost, state, arc: FINAL, parent: i }, distance[state as usize]);
            }
            continue;
        }
        visits[e.state as usize] += 1;
        if visits[e.state as usize] > config.nshortest {
            continue;
        }
        for &arc in incoming.of(e.state) {
            let state = incoming.sources[arc as usize];
            let cost = cost.otimes(fst.all_arcs()[arc as usize].weight).to_f64();
            add(Entry { cost, state, arc, parent: i }, distance[state as usize]);
        }
        if e.state == fst.start() {
            add(Entry { cost: e.cost, state: NO_STATE, arc: COMPLETE, parent: i }, W::ONE);
        }
    }
    automaton(fst, &entries, &heads)
}

/// A binary heap of numbered items, the best on top, moved as `std::push_heap` and `std::pop_heap` move them.
struct Heap<W> {
    items: Vec<u32>,
    /// Cost of every item ever pushed, and whether it is a complete path.
    costs: Vec<(W, bool)>,
}

impl<W: Weight> Heap<W> {
    fn worse(&self, x: u32, y: u32) -> bool {
        let ((a, a_complete), (b, b_complete)) = (self.costs[x as usize], self.costs[y as usize]);
        match (a_complete, b_complete) {
            (true, false) => b.less(a) || a.approx_eq(b, SHORTEST_DELTA),
            (false, true) => b.less(a) && !a.approx_eq(b, SHORTEST_DELTA),
            _ => b.less(a),
        }
    }
    fn push(&mut self, cost: W, complete: bool) {
        let item = self.costs.len() as u32;
        self.costs.push((cost, complete));
        self.items.push(item);
        self.rise(self.items.len() - 1, item);
    }
    fn pop(&mut self) -> Option<u32> {
        let item = self.items.pop()?;
        let Some(&top) = self.items.first() else { return Some(item) };
        // The hole at the top sinks to the bottom along the better children, then the last item rises from there.
        let mut hole = 0;
        loop {
            let (left, right) = (2 * hole + 1, 2 * hole + 2);
            let child = match self.items.get(right) {
                Some(&r) if self.worse(r, self.items[left]) => left,
                Some(_) => right,
                None if left < self.items.len() => left,
                None => break,
            };
            self.items[hole] = self.items[child];
            hole = child;
        }
        self.rise(hole, item);
        Some(top)
    }
    fn rise(&mut self, mut hole: usize, item: u32) {
        while hole > 0 && self.worse(self.items[(hole - 1) / 2], item) {
            self.items[hole] = self.items[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.items[hole] = item;
    }
}
