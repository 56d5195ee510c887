//! A word lattice as rescoring sees it: acyclic, every state on a path, states in topological order, costs in f64.
//!
//! The words are the output labels of the automaton it was made from; epsilon (0) is kept and is no word. `origin` leads
//! from an arc back to that automaton. Building it is linear in states and arcs, as are the sums over paths, which are
//! kept as logarithms with the largest term factored out: no probability is too small.

use crate::error::{Error, Result};
use crate::fst::flat::{Arc, Builder, FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::shortestdistance::LogSum;
use crate::fst::visit;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeArc {
    pub word: Label,
    pub next: StateId,
    /// −ln p, as in the automaton.
    pub cost: f64,
    /// Position of the arc in `all_arcs` of the automaton.
    pub origin: u32,
}

/// State 0 is the start; every arc goes to a higher state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lattice {
    /// `arcs[offsets[s]..offsets[s + 1]]` leave state s.
    pub offsets: Vec<u32>,
    pub arcs: Vec<LatticeArc>,
    /// Cost of ending in a state; infinite: it is not final.
    pub finals: Vec<f64>,
}

impl Lattice {
    /// `op` is named by what goes wrong: a cycle, a weight that is no cost, no path at all.
    pub fn new<W: Weight>(op: &'static str, fst: &FlatFst<W>) -> Result<Self> {
        let lattice = Self::or_empty(op, fst)?;
        if lattice.num_states() == 0 {
            return Err(no_path(op));
        }
        Ok(lattice)
    }

    /// As `new`, but a lattice without paths has no states and is no error.
    pub fn or_empty<W: Weight>(op: &'static str, fst: &FlatFst<W>) -> Result<Self> {
        check_weights(op, fst)?;
        // An arc of infinite cost is on no path.
        let shorter = fst.all_arcs().iter().any(|a| a.weight.is_zero_w()).then(|| without_infinite_arcs(fst));
        let (fst, origins) = shorter.as_ref().map_or((fst, None), |(f, o)| (f, Some(o)));
        let keep = visit::on_a_path(fst);
        let mut ids = vec![NO_STATE; fst.num_states()];
        let order = ordered(op, fst, &keep)?;
        for (new, &old) in order.iter().enumerate() {
            ids[old as usize] = new as StateId;
        }
        let mut lattice = Lattice { offsets: vec![0], ..Lattice::default() };
        for &s in &order {
            for (place, arc) in fst.range(s).zip(fst.arcs(s)) {
                if keep[arc.nextstate as usize] {
                    let (next, cost) = (ids[arc.nextstate as usize], arc.weight.to_f64());
                    let origin = origins.map_or(place as u32, |o| o[place]);
                    lattice.arcs.push(LatticeArc { word: arc.olabel, next, cost, origin });
                }
            }
            lattice.offsets.push(lattice.arcs.len() as u32);
            lattice.finals.push(fst.final_weight(s).to_f64());
        }
        Ok(lattice)
    }

    #[inline(always)]
    pub fn num_states(&self) -> usize {
        self.finals.len()
    }
    #[inline(always)]
    pub fn arcs(&self, s: StateId) -> &[LatticeArc] {
        &self.arcs[self.range(s)]
    }
    /// Positions in `arcs` of the arcs of `s`.
    #[inline(always)]
    pub fn range(&self, s: StateId) -> std::ops::Range<usize> {
        self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize
    }
    pub fn states(&self) -> std::ops::Range<StateId> {
        0..self.finals.len() as StateId
    }

    /// −ln of the sum of e^(−scale · cost) over all paths from the start to each state.
    pub fn forward(&self, scale: f64) -> Vec<f64> {
        let mut sums = vec![LogSum::ZERO; self.num_states()];
        if let Some(start) = sums.first_mut() {
            start.add(0.0);
        }
        let mut costs = Vec::with_capacity(sums.len());
        for s in self.states() {
            let here = sums[s as usize].cost();
            costs.push(here);
            for a in self.arcs(s) {
                sums[a.next as usize].add(here + scale * a.cost);
            }
        }
        costs
    }

    /// −ln of the sum of e^(−scale · cost) over all paths from each state to the end, final costs included.
    pub fn backward(&self, scale: f64) -> Vec<f64> {
        let mut costs = vec![f64::INFINITY; self.num_states()];
        for s in self.states().rev() {
            let mut sum = LogSum::ZERO;
            if self.finals[s as usize] < f64::INFINITY {
                sum.add(scale * self.finals[s as usize]);
            }
            for a in self.arcs(s) {
                sum.add(scale * a.cost + costs[a.next as usize]);
            }
            costs[s as usize] = sum.cost();
        }
        costs
    }

    /// The arcs of the path with the lowest cost, each with its state, and where it ends; of equal paths, the one whose
    /// arcs come first.
    pub fn best_path(&self) -> (Vec<(StateId, usize)>, Option<StateId>) {
        let mut cost = self.finals.clone();
        let mut choice: Vec<Option<usize>> = vec![None; self.num_states()];
        for s in self.states().rev() {
            for (i, a) in self.range(s).zip(self.arcs(s)) {
                let through = a.cost + cost[a.next as usize];
                if through < cost[s as usize] {
                    (cost[s as usize], choice[s as usize]) = (through, Some(i));
                }
            }
        }
        let mut path = vec![];
        let mut at = (self.num_states() > 0).then_some(0);
        while let Some((s, i)) = at.and_then(|s: StateId| choice[s as usize].map(|i| (s, i))) {
            path.push((s, i));
            at = Some(self.arcs[i].next);
        }
        (path, at)
    }

    /// An acceptor of the words with the weights `cost(arc)` and `ending(state)`.
    pub fn to_fst<W: Weight>(
        &self,
        cost: impl Fn(usize, &LatticeArc) -> f64,
        ending: impl Fn(StateId) -> f64,
    ) -> FlatFst<W> {
        let mut b = Builder::with_capacity(self.num_states(), self.arcs.len());
        for s in self.states() {
            b.add_state(W::from_f64(ending(s)));
            for (i, a) in self.range(s).zip(self.arcs(s)) {
                b.push_arc(Arc::new(a.word, a.word, W::from_f64(cost(i, a)), a.next));
            }
        }
        b.set_start(if self.num_states() > 0 { 0 } else { NO_STATE });
        b.finish()
    }
}

/// An acceptor of one path: labels with costs, and the cost of the end. It has the semiring of `like`.
pub fn path_fst<W: Weight>(like: &FlatFst<W>, path: &[(Label, f64)], end: f64) -> FlatFst<W> {
    let mut b = Builder::with_capacity(path.len() + 1, path.len());
    for (i, &(label, cost)) in path.iter().enumerate() {
        b.add_state(W::ZERO);
        b.push_arc(Arc::new(label, label, W::from_f64(cost), i as StateId + 1));
    }
    b.add_state(W::from_f64(end));
    b.set_start(0);
    b.finish().with_symbols(like.osyms.clone(), like.osyms.clone())
}

/// An error if a weight is no cost: NaN or −∞.
pub fn check_weights<W: Weight>(op: &'static str, fst: &FlatFst<W>) -> Result<()> {
    for s in fst.states() {
        let mut weights = fst.arcs(s).iter().map(|a| a.weight).chain([fst.final_weight(s)]);
        if let Some(w) = weights.find(|w| !w.is_member()) {
            return Err(Error::op(op, format!("state {s} has the weight {w}, which is no cost")));
        }
    }
    Ok(())
}

/// What to say of a lattice without paths.
pub fn no_path(op: &'static str) -> Error {
    Error::op(op, "the lattice has no path from its start to a final state")
}

/// The automaton without arcs of infinite cost, and where each of its arcs was.
fn without_infinite_arcs<W: Weight>(fst: &FlatFst<W>) -> (FlatFst<W>, Vec<u32>) {
    let mut b = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    let mut origins = vec![];
    for s in fst.states() {
        b.add_state(fst.final_weight(s));
        for (place, arc) in fst.range(s).zip(fst.arcs(s)).filter(|(_, a)| !a.weight.is_zero_w()) {
            b.push_arc(*arc);
            origins.push(place as u32);
        }
    }
    b.set_start(fst.start());
    (b.finish(), origins)
}

/// The states of `keep` in topological order, the start first.
fn ordered<W: Weight>(op: &'static str, fst: &FlatFst<W>, keep: &[bool]) -> Result<Vec<StateId>> {
    if let Some(order) = visit::topological_order(fst) {
        return Ok(order.into_iter().filter(|&s| keep[s as usize]).collect());
    }
    // A cycle that is on no path does no harm.
    let used = crate::fst::connect::keep_states(fst.clone(), keep);
    let old: Vec<StateId> = fst.states().filter(|&s| keep[s as usize]).collect();
    match visit::topological_order(&used) {
        Some(order) => Ok(order.into_iter().map(|s| old[s as usize]).collect()),
        None => Err(Error::op(op, "the lattice has a cycle, so it has no list of paths; cut it before this step")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};

    fn arc(word: Label, cost: f32, to: StateId) -> Arc<Tropical> {
        Arc::new(word + 100, word, Tropical(cost), to)
    }

    #[test]
    fn states_in_order_words_are_outputs_dead_ends_and_infinite_arcs_are_gone() {
        let rows = vec![
            (Tropical::ZERO, vec![arc(1, 1.0, 0), arc(2, 0.5, 3)]),
            (Tropical(0.25), vec![]),
            (Tropical::ZERO, vec![arc(9, 0.0, 2)]),
            (Tropical::ZERO, vec![arc(3, f32::INFINITY, 4), arc(4, 0.5, 1), arc(5, 0.0, 2)]),
            (Tropical::ONE, vec![]),
        ];
        let cyclic = FlatFst::from_rows(0, rows.clone());
        assert!(Lattice::new("op", &cyclic).unwrap_err().to_string().contains("cycle"));
        let mut rows = rows;
        rows[0].1.remove(0);
        let lattice = Lattice::new("op", &FlatFst::from_rows(0, rows)).unwrap();
        assert_eq!(lattice.offsets, [0, 1, 2, 2]);
        assert_eq!(lattice.arcs[0], LatticeArc { word: 2, next: 1, cost: 0.5, origin: 0 });
        assert_eq!(lattice.arcs[1], LatticeArc { word: 4, next: 2, cost: 0.5, origin: 3 });
        assert_eq!(lattice.finals, [f64::INFINITY, f64::INFINITY, 0.25]);
    }

    #[test]
    fn no_paths_and_bad_weights_are_named() {
        let none = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![])]);
        assert!(Lattice::new("op", &none).unwrap_err().to_string().contains("no path"));
        assert_eq!(Lattice::or_empty("op", &none).unwrap().num_states(), 0);
        let nan = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, f32::NAN, 0)])]);
        assert!(Lattice::new("op", &nan).unwrap_err().to_string().contains("state 0"));
    }

    #[test]
    fn sums_over_paths() {
        let a = |cost: f64, to| Arc::new(1, 1, Log64(cost), to);
        let rows = vec![
            (Log64::ZERO, vec![a(0.5, 1), a(1.5, 1), a(2.0, 2)]),
            (Log64(0.125), vec![a(0.25, 2)]),
            (Log64(1.0), vec![]),
        ];
        let lattice = Lattice::new("op", &FlatFst::from_rows(0, rows)).unwrap();
        let scale: f64 = 0.5;
        let paths = [0.5 + 0.125, 1.5 + 0.125, 0.5 + 0.25 + 1.0, 1.5 + 0.25 + 1.0, 3.0];
        let total = -paths.iter().map(|c| (-scale * c).exp()).sum::<f64>().ln();
        assert!((lattice.backward(scale)[0] - total).abs() < 1e-14);
        let forward = lattice.forward(scale);
        let ends = [f64::INFINITY, forward[1] + scale * 0.125, forward[2] + scale];
        let sum = -ends.iter().map(|c| (-c).exp()).sum::<f64>().ln();
        assert!((sum - total).abs() < 1e-14);
    }
}
