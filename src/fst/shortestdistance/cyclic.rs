//! Costs of best paths where there are cycles, and the paths: component by component, in topological order.
//!
//! Inside a component without negative weights: Dijkstra, O(E log V). Else Bellman-Ford, O(V·E) at worst and usually a few
//! looks at every arc, with the tree of the paths found so far. When a state gets nearer, the paths through it are out of
//! date: what hangs on it leaves the tree and is not looked at until a path as good as before has reached it again. A step
//! to a state that its own path has been through closes a cycle, whose weights are then added up without rounding. If
//! the sum is negative there is no shortest path, and the search ends at once. If not, the cycle looked better only because
//! sums along paths are rounded, and is not followed: every cost is the sum along a path without cycles.
//! R. Tarjan, Shortest paths, 1981; B. Cherkassky and A. Goldberg, Negative-cycle detection algorithms, 1999.

use std::collections::VecDeque;

use crate::error::Error;
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::heap::Heap;
use crate::fst::semiring::Weight;
use crate::fst::visit;

/// How the costs of best paths are added up.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sum {
    /// In the precision of the semiring, as OpenFst does.
    Best,
    /// In f64.
    Exact,
}

/// The last step of a path: the state before, and the position of the arc; no state where the path begins.
pub type Way = (StateId, u32);

/// No best path: a state on a cycle of negative weight.
pub(super) struct NegativeCycle {
    pub state: StateId,
}

impl NegativeCycle {
    pub fn error(self, op: &'static str) -> Error {
        let message = "there is no shortest path";
        Error::op(op, format!("a cycle of negative weight passes through state {}: {message}", self.state))
    }
}

/// Cost and last step of a best path from `source` to every state. With `Sum::Best` the costs are weights of `W`.
pub(super) fn search<W: Weight>(
    fst: &FlatFst<W>,
    source: StateId,
    sum: Sum,
) -> Result<(Vec<f64>, Vec<Way>), NegativeCycle> {
    let components = visit::components(fst, |_| true);
    let n = fst.num_states();
    let (members, first) = visit::members(&components.of, components.count);
    let mut search = Search {
        fst,
        of: &components.of,
        sum,
        d: vec![f64::INFINITY; n],
        back: vec![(NO_STATE, 0); n],
        waiting: vec![false; n],
        tree: Tree::default(),
        heap: Heap::tracking(),
    };
    search.d[source as usize] = 0.0;
    for c in 0..components.count {
        let states = &members[first[c] as usize..first[c + 1] as usize];
        if states.iter().all(|&s| search.d[s as usize] == f64::INFINITY) {
            continue;
        }
        let looped = states.len() > 1 || fst.arcs(states[0]).iter().any(|a| a.nextstate == states[0]);
        if looped {
            if states.iter().all(|&s| search.inner(s).all(|(_, a)| !a.weight.less(W::ONE))) {
                search.dijkstra(states);
            } else {
                search.bellman_ford(states)?;
            }
        }
        for &s in states {
            search.leave(s);
        }
    }
    Ok((search.d, search.back))
}

struct Search<'a, W> {
    fst: &'a FlatFst<W>,
    of: &'a [u32],
    sum: Sum,
    /// Costs; with `Sum::Best` carried in f64 without loss.
    d: Vec<f64>,
    back: Vec<Way>,
    waiting: Vec<bool>,
    tree: Tree,
    heap: Heap,
}

impl<'a, W: Weight> Search<'a, W> {
    /// Arcs that stay in the component of `s`, with their positions.
    fn inner(&self, s: StateId) -> impl Iterator<Item = (u32, &'a Arc<W>)> + use<'a, W> {
        let (of, c) = (self.of, self.of[s as usize]);
        let from = self.fst.range(s).start as u32;
        (from..).zip(self.fst.arcs(s)).filter(move |(_, a)| of[a.nextstate as usize] == c)
    }
    #[inline]
    fn times(&self, d: f64, w: W) -> f64 {
        if self.sum == Sum::Best { W::from_f64(d).otimes(w).to_f64() } else { d + w.to_f64() }
    }

    /// Follows the arcs that leave the component of `s`.
    fn leave(&mut self, s: StateId) {
        let from = self.fst.range(s).start as u32;
        for (i, a) in (from..).zip(self.fst.arcs(s)) {
            let t = a.nextstate as usize;
            let via = self.times(self.d[s as usize], a.weight);
            if via < self.d[t] && self.of[t] != self.of[s as usize] {
                self.d[t] = via;
                self.back[t] = (s, i);
            }
        }
    }

    fn dijkstra(&mut self, states: &[StateId]) {
        let nearer = |d: &[f64], x: StateId, y: StateId| {
            let (a, b) = (d[x as usize], d[y as usize]);
            a < b || (a == b && x < y)
        };
        let mut heap = std::mem::take(&mut self.heap);
        for &s in states.iter().filter(|&&s| self.d[s as usize] < f64::INFINITY) {
            heap.insert(s, &|x, y| nearer(&self.d, x, y));
        }
        while let Some(s) = heap.pop(&|x, y| nearer(&self.d, x, y)) {
            let d = self.d[s as usize];
            for (i, a) in self.inner(s) {
                let via = self.times(d, a.weight);
                let t = a.nextstate;
                if via < self.d[t as usize] {
                    self.d[t as usize] = via;
                    self.back[t as usize] = (s, i);
                    // In place: an entry for every arc would make a heap of a dense automaton's arcs.
                    if heap.contains(t) {
                        heap.update(t, &|x, y| nearer(&self.d, x, y));
                    } else {
                        heap.insert(t, &|x, y| nearer(&self.d, x, y));
                    }
                }
            }
        }
        // Empty again, with its memory, for the next component.
        self.heap = heap;
    }

    fn bellman_ford(&mut self, states: &[StateId]) -> Result<(), NegativeCycle> {
        self.tree.make_room(self.d.len());
        let mut queue: VecDeque<StateId> =
            states.iter().copied().filter(|&s| self.d[s as usize] < f64::INFINITY).collect();
        for &s in &queue {
            self.tree.plant(s);
            self.waiting[s as usize] = true;
        }
        while let Some(s) = queue.pop_front() {
            self.waiting[s as usize] = false;
            if !self.tree.has(s) {
                // It waits again when it is reached again.
                continue;
            }
            let d = self.d[s as usize];
            for (i, a) in self.inner(s) {
                let t = a.nextstate;
                let (via, old) = (self.times(d, a.weight), self.d[t as usize]);
                let again = via == old && !self.tree.has(t) && via < f64::INFINITY;
                if !(via < old || again) {
                    continue;
                }
                if self.tree.leads(t, s, &self.back) {
                    if self.is_negative(t, s, a.weight) {
                        return Err(NegativeCycle { state: t });
                    }
                    continue;
                }
                self.d[t as usize] = via;
                self.back[t as usize] = (s, i);
                self.tree.cut(t);
                self.tree.hang(t, s);
                if !std::mem::replace(&mut self.waiting[t as usize], true) {
                    queue.push_back(t);
                }
            }
        }
        Ok(())
    }

    /// True if the weights from `t` along the tree to `s` and over an arc back to `t` add up to less than zero. In the
    /// semiring's precision a weight may be off by half a digit of its last place, and 0.1 + 0.2 − 0.3 by that much below
    /// zero: such a sum says nothing, and does not make a cycle negative.
    fn is_negative(&self, t: StateId, s: StateId, closing: W) -> bool {
        let mut sum = ExactSum::default();
        let slack = if self.sum == Sum::Best && W::BYTES == 4 { f64::from(f32::EPSILON) / 2.0 } else { 0.0 };
        let mut add = |w: f64| {
            sum.add(w);
            sum.add(w.abs() * slack);
        };
        add(closing.to_f64());
        let mut at = s;
        while at != t {
            let (before, arc) = self.back[at as usize];
            add(self.fst.all_arcs()[arc as usize].weight.to_f64());
            at = before;
        }
        sum.is_negative()
    }
}

/// The paths of a component as trees, each a list in which a state is followed by what hangs on it, which is deeper.
#[derive(Default)]
struct Tree {
    depth: Vec<u32>,
    before: Vec<StateId>,
    after: Vec<StateId>,
}

/// The depth of a state that is in no tree.
const OUTSIDE: u32 = u32::MAX;

impl Tree {
    fn make_room(&mut self, states: usize) {
        self.depth.resize(states, OUTSIDE);
        self.before.resize(states, NO_STATE);
        self.after.resize(states, NO_STATE);
    }
    fn has(&self, s: StateId) -> bool {
        self.depth[s as usize] != OUTSIDE
    }
    /// A tree of its own.
    fn plant(&mut self, s: StateId) {
        self.depth[s as usize] = 0;
    }
    /// A state of no tree comes right after `s`.
    fn hang(&mut self, t: StateId, s: StateId) {
        let next = std::mem::replace(&mut self.after[s as usize], t);
        if next != NO_STATE {
            self.before[next as usize] = t;
        }
        self.before[t as usize] = s;
        self.after[t as usize] = next;
        self.depth[t as usize] = self.depth[s as usize] + 1;
    }
    /// Takes out a state and all that hangs on it.
    fn cut(&mut self, t: StateId) {
        if !self.has(t) {
            return;
        }
        let (top, before) = (self.depth[t as usize], self.before[t as usize]);
        let mut next = t;
        while next != NO_STATE && (next == t || self.depth[next as usize] > top) {
            self.depth[next as usize] = OUTSIDE;
            next = self.after[next as usize];
        }
        if before != NO_STATE {
            self.after[before as usize] = next;
        }
        if next != NO_STATE {
            self.before[next as usize] = before;
        }
    }
    /// True if the path to `s` passes through `t`. Looks up from `s` and down from `t` in turn: the one takes no longer
    /// than the cycle, the other no longer than `cut`.
    fn leads(&self, t: StateId, s: StateId, back: &[Way]) -> bool {
        if !self.has(t) {
            return false;
        }
        let top = self.depth[t as usize];
        let (mut up, mut down) = (s, t);
        loop {
            if self.depth[up as usize] <= top {
                return up == t;
            }
            down = self.after[down as usize];
            if down == NO_STATE || self.depth[down as usize] <= top {
                return false;
            }
            up = back[up as usize].0;
        }
    }
}

/// A sum without rounding, as parts whose digits do not overlap, the largest last (Shewchuk 1997).
#[derive(Default)]
struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    fn add(&mut self, mut x: f64) {
        let mut kept = 0;
        for i in 0..self.parts.len() {
            let part = self.parts[i];
            let (large, small) = if x.abs() < part.abs() { (part, x) } else { (x, part) };
            x = large + small;
            let lost = small - (x - large);
            if lost != 0.0 {
                self.parts[kept] = lost;
                kept += 1;
            }
        }
        self.parts.truncate(kept);
        if x != 0.0 {
            self.parts.push(x);
        }
    }
    fn is_negative(&self) -> bool {
        self.parts.last().is_some_and(|&x| x < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::{ONE, Z, arc};
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn costs(fst: &FlatFst<Tropical>, sum: Sum) -> Result<Vec<f64>, StateId> {
        search(fst, fst.start(), sum).map(|found| found.0).map_err(|cycle| cycle.state)
    }

    #[test]
    fn a_sum_is_exact() {
        let sum = |parts: &[f64]| {
            let mut sum = ExactSum::default();
            parts.iter().for_each(|&x| sum.add(x));
            sum
        };
        assert!(sum(&[1e30, 1e-30, -1e30, -1e-30]).parts.is_empty());
        assert!(sum(&[1e30, -1e-30, -1e30]).is_negative());
        assert!(!sum(&[-1e30, 1e-30, 1e30]).is_negative());
    }

    #[test]
    fn decimal_weights_that_cancel_on_paper_are_no_negative_cycle() {
        let rows = |back: f32| {
            vec![
                (ONE, vec![arc(1, 1, 0.7, 1)]),
                (ONE, vec![arc(1, 1, 0.1, 2)]),
                (ONE, vec![arc(1, 1, 0.2, 3)]),
                (ONE, vec![arc(1, 1, back, 1)]),
            ]
        };
        assert!(f64::from(0.1f32) + f64::from(0.2f32) < f64::from(0.3f32));
        let near = FlatFst::from_rows(0, rows(-0.3));
        assert_eq!(costs(&near, Sum::Best).unwrap()[1], f64::from(0.7f32));
        assert!(costs(&near, Sum::Exact).is_err());
        assert!(costs(&FlatFst::from_rows(0, rows(-0.300001)), Sum::Best).is_err());
    }

    #[test]
    fn a_cycle_that_only_rounding_makes_negative_is_not_followed() {
        // The cycle of states 1 to 5 costs exactly nothing; in f32, from 11.2 on, a turn comes out lower every time.
        let rows =
            [(1, 11.2), (2, 5.1), (3, 6.4), (4, 6.9), (5, 4.1), (1, -22.5)].map(|(t, w)| (Z, vec![arc(1, 1, w, t)]));
        let mut sum = ExactSum::default();
        rows[1..].iter().for_each(|r| sum.add(r.1[0].weight.to_f64()));
        assert!(sum.parts.is_empty());
        let f = FlatFst::from_rows(0, rows.to_vec());
        let mut want = vec![0f32];
        for r in &rows[..5] {
            want.push(want[want.len() - 1] + r.1[0].weight.0);
        }
        assert_eq!(costs(&f, Sum::Best), Ok(want.iter().map(|&w| w as f64).collect()));
        // In f64 rounding does the same where the weights are far enough apart.
        let far = |last| {
            let rows = [(1, 0.1), (2, 1e20), (3, 1e-3), (4, -1e20), (1, last)];
            FlatFst::from_rows(0, rows.map(|(t, w)| (Z, vec![arc(1, 1, w, t)])).to_vec())
        };
        assert!([Sum::Best, Sum::Exact].into_iter().all(|sum| costs(&far(-1e-3), sum).is_ok()));
        assert_eq!(costs(&far(-2e-3), Sum::Exact), Err(1));
        assert!(costs(&far(-2e-3), Sum::Best).is_ok(), "less than 1e20 is rounded by");
    }

    /// A ring with shortcuts and a few negative arcs: with one cycle below zero it must not take V·E steps to say so.
    #[test]
    fn a_negative_cycle_is_found_early() {
        let mut rng = SmallRng::seed_from_u64(5);
        let n = 60_000u32;
        let mut rows: Vec<_> = (0..n)
            .map(|s| {
                let shortcut = arc(1, 1, rng.random_range(1..9) as f32, rng.random_range(0..n));
                (Z, vec![arc(1, 1, 1.0, (s + 1) % n), shortcut])
            })
            .collect();
        rows[n as usize - 2].0 = ONE;
        assert!(costs(&FlatFst::from_rows(0, rows.clone()), Sum::Best).is_ok());
        rows[n as usize / 2].1.push(arc(1, 1, -2.0, n / 2 - 1));
        let state = costs(&FlatFst::from_rows(0, rows), Sum::Best).unwrap_err();
        assert!([n / 2, n / 2 - 1].contains(&state), "{state}");
    }

    /// Against rounds of relaxation over all arcs, on weights whose sums are exact.
    #[test]
    fn against_plain_rounds() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut negative = 0;
        for _ in 0..3000 {
            let n = rng.random_range(1..8u32);
            let low = rng.random_range(-4..1);
            let rows: Vec<_> = (0..n)
                .map(|_| {
                    let arcs = (0..rng.random_range(0..4))
                        .map(|_| arc(1, 1, rng.random_range(low..9) as f32 / 4.0, rng.random_range(0..n)));
                    (ONE, arcs.collect())
                })
                .collect();
            let f = FlatFst::from_rows(0, rows);
            let mut d = vec![f64::INFINITY; n as usize];
            d[0] = 0.0;
            let mut changes = true;
            for _ in 0..=n {
                changes = false;
                for (s, a) in f.transitions() {
                    let via = d[s as usize] + a.weight.to_f64();
                    if via < d[a.nextstate as usize] {
                        d[a.nextstate as usize] = via;
                        changes = true;
                    }
                }
            }
            match search(&f, 0, Sum::Best) {
                Err(_) => assert!(changes),
                Ok((costs, back)) => {
                    assert!(!changes);
                    assert_eq!(costs, d);
                    for s in f.states().filter(|&s| d[s as usize] < f64::INFINITY) {
                        let (mut at, mut cost, mut steps) = (s, 0.0, 0);
                        while back[at as usize].0 != NO_STATE {
                            cost += f.all_arcs()[back[at as usize].1 as usize].weight.to_f64();
                            at = back[at as usize].0;
                            steps += 1;
                        }
                        assert!(at == 0 && cost == d[s as usize] && steps < n);
                    }
                }
            }
            negative += changes as usize;
        }
        assert!((300..2700).contains(&negative), "{negative}");
    }
}
