//! The single best path: OpenFst's search, the same float sums and, of several equal paths, the same one.
//!
//! Which of several equal paths is found depends on the order in which states are visited, which is OpenFst's: by number if
//! the states are in topological order; the latest first if no arc costs anything; otherwise as `queues` has it.
//! O(E) latest first, where weights allow (see `least`); nearest first usually O(E log V), more where states get nearer
//! while they wait, for the heap does not hear of it; O(V·E) at worst oldest first.
//!
//! Where a path comes to contain a cycle, the cycle is negative, or rounding makes it look so. Then the search starts again
//! with `best_tree`, which knows one from the other; there is no path of OpenFst's to agree with.

use super::OP;
use crate::error::Result;
use crate::fst::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use crate::fst::queues::{Queue, Queues, free};
use crate::fst::semiring::Weight;
use crate::fst::shortestdistance::best_tree;
use crate::fst::visit;

/// The best path alone; states are numbered from its end.
pub(super) fn single<W: Weight>(fst: &FlatFst<W>) -> Result<FlatFst<W>> {
    let mut best = Best::new(fst);
    let mut found = true;
    if visit::is_top_sorted(fst) {
        fst.states().for_each(|s| best.visit::<false>(s, |_, _| true));
    } else if fst.all_arcs().iter().all(free) {
        best.queues = Queues::latest(fst.num_states());
        best.enqueue(fst.start());
        best.drain(0, None);
    } else {
        best.queues = Queues::by_component(fst);
        found = best.by_component(Best::least);
    }
    if !found {
        best.without_cycles()?;
    }
    Ok(best.path())
}

const NO_ARC: u32 = u32::MAX;

struct Best<'a, W> {
    fst: &'a FlatFst<W>,
    d: Vec<W>,
    /// The state and arc before, on the best path to a state.
    back: Vec<(StateId, u32)>,
    end: StateId,
    cost: W,
    queues: Queues,
    /// The start was reached at a cost below nothing.
    below: bool,
    /// In which walk back along the paths a state was met; empty if nobody walked yet.
    walk: Vec<u32>,
}

impl<'a, W: Weight> Best<'a, W> {
    fn new(fst: &'a FlatFst<W>) -> Self {
        let n = fst.num_states();
        let mut d = vec![W::ZERO; n];
        d[fst.start() as usize] = W::ONE;
        let back = vec![(NO_STATE, NO_ARC); n];
        Best { fst, d, back, end: NO_STATE, cost: W::ZERO, queues: Queues::latest(0), below: false, walk: vec![] }
    }

    /// Relaxes the arcs of `s` to the states that `takes` allows; with `QUEUES`, states that got nearer wait for a visit.
    #[inline(always)]
    fn visit<const QUEUES: bool>(&mut self, s: StateId, takes: impl Fn(&Self, StateId) -> bool) {
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
            if via.less(self.d[t]) && takes(self, a.nextstate) {
                self.d[t] = via;
                // The start keeps no way back, or the path would not begin.
                if a.nextstate != fst.start() {
                    self.back[t] = (s, (from + i) as u32);
                } else {
                    self.below = true;
                }
                if QUEUES {
                    self.enqueue(a.nextstate);
                }
            }
        }
    }

    fn enqueue(&mut self, s: StateId) {
        self.queues.push(s, &self.d);
    }

    /// False if a path came to contain a cycle.
    fn by_component(&mut self, least: impl Fn(&Self, usize, &[StateId]) -> Option<W>) -> bool {
        let (members, first) = self.queues.members();
        self.enqueue(self.fst.start());
        for c in 0..self.queues.queues.len() {
            let states = &members[first[c] as usize..first[c + 1] as usize];
            match self.queues.queues[c] {
                Queue::Trivial => {
                    if self.queues.take(states[0]) {
                        self.visit::<true>(states[0], |_, _| true);
                    }
                }
                Queue::Oldest(_) => {
                    if !self.drain_oldest(c, states) {
                        return false;
                    }
                }
                _ => self.drain(c, least(self, c, states)),
            }
        }
        true
    }

    /// Visits the states of a component until none waits.
    fn drain(&mut self, c: usize, least: Option<W>) {
        while let Some(s) = self.queues.pop(c, &self.d) {
            if least.is_some_and(|least| least.less(self.d[s as usize])) {
                self.visit::<true>(s, |best, t| {
                    best.queues.of[t as usize] != c as u32 || best.d[t as usize].is_zero_w()
                });
            } else {
                self.visit::<true>(s, |_, _| true);
            }
        }
    }

    /// The cost that every state of the component will have in the end, if no arc in it costs anything and its states
    /// are reached at different costs. A state that costs more will be visited again, so that all it has to do now is
    /// what settles the order of visits: to reach the states that none has reached. Else the states would get nearer
    /// time and again, V² times. Not where rounding lets a path out of the component cost no more from a farther state.
    fn least(&self, c: usize, states: &[StateId]) -> Option<W> {
        let Queue::Latest(stack) = &self.queues.queues[c] else { return None };
        let least = stack.iter().fold(W::ZERO, |least, &s| least.oplus(self.d[s as usize]));
        let farther = stack.iter().map(|&s| self.d[s as usize]).filter(|d| least.less(*d));
        let second = farther.reduce(|a, b| a.oplus(b))?;
        let told_apart = |w: W| w.is_zero_w() || least.otimes(w).less(second.otimes(w));
        let fits = |s: StateId| {
            let arcs = self.fst.arcs(s);
            arcs.iter().all(|a| {
                if self.queues.of[a.nextstate as usize] == c as u32 {
                    a.weight.is_one_w()
                } else {
                    told_apart(a.weight)
                }
            }) && told_apart(self.fst.final_weight(s))
        };
        states.iter().all(|&s| fits(s)).then_some(least)
    }

    /// The same where weights are negative. False if a path came to contain a cycle, which is looked for whenever there
    /// were as many visits as there are states.
    fn drain_oldest(&mut self, c: usize, states: &[StateId]) -> bool {
        let size = states.len() as u64;
        let mut visits = 0;
        while let Some(s) = self.queues.pop(c, &self.d) {
            self.visit::<true>(s, |_, _| true);
            visits += 1;
            if self.below || visits > size * (size + 1) || visits % size == 0 && self.paths_cycle(states) {
                return false;
            }
        }
        !self.paths_cycle(states)
    }

    /// True if a path to one of these states, all of a component, contains a cycle.
    fn paths_cycle(&mut self, states: &[StateId]) -> bool {
        self.walk.resize(self.d.len(), 0);
        states.iter().for_each(|&s| self.walk[s as usize] = 0);
        let c = self.queues.of[states[0] as usize];
        for (&s, walk) in states.iter().zip(1..) {
            let mut at = s;
            while at != NO_STATE && self.queues.of[at as usize] == c {
                if self.walk[at as usize] != 0 {
                    if self.walk[at as usize] == walk {
                        return true;
                    }
                    break;
                }
                self.walk[at as usize] = walk;
                at = self.back[at as usize].0;
            }
        }
        false
    }

    /// The search again, by other means.
    fn without_cycles(&mut self) -> Result<()> {
        (self.d, self.back) = best_tree(self.fst, OP)?;
        (self.end, self.cost) = (NO_STATE, W::ZERO);
        for s in self.fst.states() {
            let cost = self.d[s as usize].otimes(self.fst.final_weight(s));
            if cost.less(self.cost) {
                (self.end, self.cost) = (s, cost);
            }
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::{ONE, Z, arc};
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    #[test]
    fn a_cycle_that_only_rounding_makes_negative_is_not_followed() {
        let mut rows =
            [(1, 11.2), (2, 5.1), (3, 6.4), (4, 6.9), (5, 4.1), (1, -22.5)].map(|(t, w)| (Z, vec![arc(1, 1, w, t)]));
        rows[1].0 = Tropical(0.5);
        let want = FlatFst::from_rows(1, vec![(Tropical(0.5), vec![]), (Z, vec![arc(1, 1, 11.2, 0)])]);
        assert_eq!(single(&FlatFst::from_rows(0, rows.to_vec())).unwrap(), want);
        rows[5].1[0].weight = Tropical(-22.6);
        let e = single(&FlatFst::from_rows(0, rows.to_vec())).unwrap_err().to_string();
        assert!(e.starts_with("shortestpath: a cycle of negative weight passes through state 1"), "{e}");
        let at_start = FlatFst::from_rows(0, vec![(ONE, vec![arc(1, 1, -1.0, 1)]), (Z, vec![arc(1, 1, 0.5, 0)])]);
        assert!(single(&at_start).is_err());
    }

    #[test]
    fn a_free_ring_reached_at_falling_costs_is_not_quadratic() {
        let n = 200_000u32;
        let mut rows: Vec<_> = (0..=n).map(|s| (Z, vec![arc(1, 1, 0.0, s % n + 1)])).collect();
        rows[0].1 = (1..=n).map(|s| arc(2, 2, s as f32, s)).collect();
        rows[n as usize].0 = ONE;
        let path = single(&FlatFst::from_rows(0, rows)).unwrap();
        assert_eq!(path.num_states(), n as usize + 1);
    }

    /// Visits as OpenFst makes them, all of them, against those that `least` leaves.
    #[test]
    fn visits_that_are_left_out_change_no_tie() {
        let mut rng = SmallRng::seed_from_u64(8);
        let used = std::cell::Cell::new(0);
        for _ in 0..20_000 {
            let n = rng.random_range(3..9u32);
            let inside = rng.random_range(1..n);
            // States 1 to `inside` are a free ring with chords; the rest comes after it.
            let mut rows = vec![(Z, vec![]); n as usize];
            for _ in 0..rng.random_range(1..6) {
                rows[0].1.push(arc(1, 1, rng.random_range(0..4) as f32, rng.random_range(1..n)));
            }
            for s in 1..=inside {
                let row = &mut rows[s as usize];
                row.1.push(arc(2, 2, 0.0, s % inside + 1));
                for _ in 0..rng.random_range(0..4) {
                    let t = rng.random_range(1..n);
                    let w = if t <= inside { 0.0 } else { rng.random_range(0..3) as f32 };
                    row.1.insert(rng.random_range(0..=row.1.len()), arc(3, 3, w, t));
                }
            }
            for s in inside + 1..n {
                for _ in 0..rng.random_range(0..3) {
                    let (w, t) = (rng.random_range(0..2) as f32, rng.random_range(inside + 1..n));
                    rows[s as usize].1.push(arc(4, 4, w, t));
                }
            }
            for row in &mut rows {
                if rng.random_range(0..3) == 0 {
                    row.0 = Tropical(rng.random_range(0..3) as f32);
                }
            }
            let f = FlatFst::from_rows(0, rows);
            let (mut short, mut full) = (Best::new(&f), Best::new(&f));
            (short.queues, full.queues) = (Queues::by_component(&f), Queues::by_component(&f));
            assert!(full.by_component(|_, _, _| None));
            assert!(short.by_component(|best, c, states| {
                let least = best.least(c, states);
                used.set(used.get() + least.is_some() as usize);
                least
            }));
            assert_eq!((short.end, &short.d, &short.back), (full.end, &full.d, &full.back));
        }
        assert!(used.get() > 1000, "{used:?}");
    }
}
