//! Disambiguates an automaton: the result has the same weighted language and at most one path for every input string.
//! It may be far smaller than the determinized automaton, and exists for some that cannot be determinized.
//!
//! First a subset construction in which a subset keeps only states that have a future in common with its head
//! (`determinize::relation`), then of every two arcs that carry the same strings into the same state the one from the
//! greater head is taken away. Epsilon is a label like any other. Transducers must be functional.
//!
//! Ends for all unweighted, acyclic or unambiguous automata; otherwise it goes on until `max_states`. Polynomial in the
//! size of the result, and quadratic in pairs of states that share a future.
//! M. Mohri and M. Riley, On the Disambiguation of Weighted Automata, CIAA 2015.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::connect::connect;
use super::determinize::relation::Relation;
use super::determinize::{DetType, DeterminizeConfig, predisambiguate};
use super::flat::{FlatFst, Label, NO_STATE, StateId};
use super::prune::prune_in_place;
use super::semiring::{DELTA, Weight};
use super::stdsort::sort_by_key;
use crate::error::{Error, Result};

const OP: &str = "disambiguate";

#[derive(Clone, Debug)]
pub struct DisambiguateConfig<W> {
    pub delta: f32,
    /// Keep only paths within this weight of the best; zero: all.
    pub weight: W,
    /// Keep at most so many states, best first.
    pub nstate: Option<usize>,
    pub subsequential_label: Label,
    /// Stop with an error at this many states; 0: no limit.
    pub max_states: usize,
}

impl<W: Weight> Default for DisambiguateConfig<W> {
    fn default() -> Self {
        DisambiguateConfig { delta: DELTA, weight: W::ZERO, nstate: None, subsequential_label: 0, max_states: 0 }
    }
}

pub fn disambiguate<W: Weight>(fst: FlatFst<W>, config: &DisambiguateConfig<W>) -> Result<FlatFst<W>> {
    let det = DeterminizeConfig {
        delta: config.delta,
        det_type: DetType::Functional,
        weight: config.weight,
        nstate: config.nstate,
        subsequential_label: config.subsequential_label,
        increment_subsequential_label: false,
        max_states: config.max_states,
    };
    det.check(OP)?;
    let mut fst = connect(fst);
    sort(&mut fst);
    let max_pairs = if config.max_states == 0 { u32::MAX as usize - 1 } else { config.max_states.saturating_mul(64) };
    let relation = Relation::common_future(&fst, max_pairs)?;
    let (mut result, mut heads) = predisambiguate(&fst, &relation, &det, OP)?;
    if !config.weight.is_zero_w() || config.nstate.is_some() {
        let (pruned, kept) = prune_in_place(result, &det.pruning())?;
        heads = std::iter::zip(heads, kept).filter_map(|(head, kept)| kept.then_some(head)).collect();
        result = pruned;
    }
    sort(&mut result);
    let mut search = Search::new(&result, &heads);
    search.run(&result);
    if let Some(mut merge) = search.merge.take() {
        // Quantization split a state in two: both are the same again, and the search is repeated.
        for a in result.all_arcs_mut() {
            a.nextstate = merge.find(a.nextstate);
        }
        search = Search::new(&result, &heads);
        search.run(&result);
        if search.merge.is_some() {
            return Err(Error::op(OP, "states that differ only by rounding could not be merged; use a larger --delta"));
        }
    }
    let ambiguous = search.mark();
    Ok(if ambiguous.is_empty() { result } else { remove(result, &ambiguous) })
}

fn sort<W: Weight>(fst: &mut FlatFst<W>) {
    let mut spare = vec![];
    for s in fst.states() {
        sort_by_key(fst.arcs_mut(s), &mut spare, |a| (a.ilabel, a.nextstate));
    }
}

/// An arc by its source and position there; position -1 is the final weight.
type ArcId = (StateId, i64);

/// Walks pairs of states that one string reaches and notes arcs that are ambiguous.
struct Search<'a> {
    heads: &'a [StateId],
    reached: HashSet<(StateId, StateId), FxBuildHasher>,
    queue: Vec<(StateId, StateId)>,
    /// The first of the two goes, unless the second does.
    candidates: Vec<(ArcId, ArcId)>,
    merge: Option<Merge>,
}

impl<'a> Search<'a> {
    fn new<W: Weight>(fst: &FlatFst<W>, heads: &'a [StateId]) -> Self {
        let mut new = Search { heads, reached: HashSet::default(), queue: vec![], candidates: vec![], merge: None };
        if fst.start() != NO_STATE {
            new.queue.push((fst.start(), fst.start()));
            new.reached.insert((fst.start(), fst.start()));
        }
        new
    }

    fn run<W: Weight>(&mut self, fst: &FlatFst<W>) {
        let mut next = 0;
        while next < self.queue.len() {
            let (s, t) = self.queue[next];
            next += 1;
            if fst.arcs(t).len() > fst.arcs(s).len() {
                self.pair(fst, t, s);
            }
            self.pair(fst, s, t);
        }
    }

    fn candidate(&mut self, a: ArcId, b: ArcId) {
        // A state without a head (the end of leftover output) counts as less than any, as OpenFst's -1.
        let head = |s: StateId| self.heads[s as usize].wrapping_add(1);
        self.candidates.push(if head(a.0) > head(b.0) { (a, b) } else { (b, a) });
    }

    fn pair<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId, t: StateId) {
        let (left, right) = (fst.arcs(s), fst.arcs(t));
        let mut from = 0;
        for (i, a) in left.iter().enumerate() {
            while from < right.len() && right[from].ilabel < a.ilabel {
                from += 1;
            }
            for (j, b) in right.iter().enumerate().skip(from).take_while(|(_, b)| b.ilabel == a.ilabel) {
                if s != t && a.nextstate == b.nextstate {
                    self.candidate((s, i as i64), (t, j as i64));
                }
                let pair = (a.nextstate.min(b.nextstate), a.nextstate.max(b.nextstate));
                if !self.reached.insert(pair) {
                    continue;
                }
                let head = self.heads[pair.0 as usize];
                if pair.0 != pair.1 && head == self.heads[pair.1 as usize] && head != NO_STATE {
                    self.merge.get_or_insert_with(|| Merge::new(fst.num_states())).union(pair.0, pair.1);
                } else {
                    self.queue.push(pair);
                }
            }
        }
        if s != t && fst.is_final(s) && fst.is_final(t) {
            self.candidate((s, -1), (t, -1));
        }
    }

    /// The arcs to take away.
    fn mark(mut self) -> HashSet<ArcId, FxBuildHasher> {
        let heads = self.heads;
        self.candidates.sort_by_key(|(a, _)| (heads[a.0 as usize].wrapping_add(1), a.0, a.1));
        let mut gone: HashSet<ArcId, FxBuildHasher> = HashSet::default();
        for (a, b) in &self.candidates {
            if !gone.contains(b) {
                gone.insert(*a);
            }
        }
        gone
    }
}

fn remove<W: Weight>(fst: FlatFst<W>, gone: &HashSet<ArcId, FxBuildHasher>) -> FlatFst<W> {
    let mut b = super::flat::Builder::with_capacity(fst.num_states(), fst.num_arcs());
    for s in fst.states() {
        b.add_state(if gone.contains(&(s, -1)) { W::ZERO } else { fst.final_weight(s) });
        let arcs = fst.arcs(s).iter().enumerate().filter(|(i, _)| !gone.contains(&(s, *i as i64)));
        b.extend_arcs(arcs.map(|(_, a)| *a));
    }
    b.set_start(fst.start());
    connect(b.finish().with_symbols_of(&fst))
}

/// Union-find by rank.
struct Merge {
    parent: Vec<StateId>,
    rank: Vec<u8>,
}

impl Merge {
    fn new(n: usize) -> Self {
        Merge { parent: (0..n as StateId).collect(), rank: vec![0; n] }
    }
    fn find(&mut self, mut s: StateId) -> StateId {
        while self.parent[s as usize] != s {
            self.parent[s as usize] = self.parent[self.parent[s as usize] as usize];
            s = self.parent[s as usize];
        }
        s
    }
    fn union(&mut self, a: StateId, b: StateId) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        if self.rank[a as usize] > self.rank[b as usize] {
            self.parent[b as usize] = a;
        } else {
            self.parent[a as usize] = b;
            self.rank[b as usize] += u8::from(self.rank[a as usize] == self.rank[b as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    #[test]
    fn one_path_a_string() {
        let arc = |l, w, t| Arc::new(l, l, Tropical(w), t);
        let z = Tropical::ZERO;
        let f = FlatFst::from_rows(
            0,
            vec![
                (z, vec![arc(1, 0.0, 1), arc(1, 1.0, 2)]),
                (z, vec![arc(2, 0.0, 3), arc(3, 0.0, 3)]),
                (z, vec![arc(2, 0.5, 3), arc(4, 0.0, 3)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let d = disambiguate(f, &Default::default()).unwrap();
        // "1 2" went through both middle states and keeps its best weight, 0.
        let mut strings: Vec<(Label, Label, f32)> = vec![];
        for a in d.arcs(d.start()) {
            for b in d.arcs(a.nextstate) {
                strings.push((a.ilabel, b.ilabel, a.weight.0 + b.weight.0 + d.final_weight(b.nextstate).0));
            }
        }
        strings.sort_by(|x, y| x.partial_cmp(y).unwrap());
        assert_eq!(strings, [(1, 2, 0.0), (1, 3, 0.0), (1, 4, 1.0)]);
    }
}
