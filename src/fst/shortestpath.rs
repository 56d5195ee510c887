//! The n best paths, or the n best distinct input strings, as an automaton.
//!
//! Needs the tropical semiring. One best path: OpenFst's single-source search, the same float sums and the same path.
//! More: best-first search backwards from the final states, guided by the exact cost from the start (Mohri and Riley
//! 2002). Costs are summed in f64, so the order is exact; of equal paths the one found first comes first, every time.
//! The guide is exact, so every step leads to a result: about n·length steps, each over the arcs that enter a state. Where
//! paths tie there may be more, but after n visits of a state, the best first, no other way through it can be among the n
//! best, so that there are n·V at most (see `Visits`).
//! Unique: a node of the search is a string (a suffix) with the best way to read it from every state, which is a lazy
//! determinization; epsilons are looked through, so strings are distinct as strings.
//! A bound on states is counted as OpenFst counts: see `bounded`; with unique, a state for every string in the search.
//! The result has OpenFst's form: a start state with one epsilon arc to each path, the best first; paths share their ends.

mod bounded;
mod single;

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::prune::require_path;
use super::semiring::Weight;
use super::shortestdistance::{DistanceConfig, best_costs, shortest_distance};
use super::visit::Incoming;
use crate::error::Result;
use bounded::bounded;
use single::single;

#[derive(Clone, Copy, Debug)]
pub struct ShortestPathConfig<W> {
    pub nshortest: usize,
    /// Distinct input strings instead of distinct paths.
    pub unique: bool,
    /// How much worse than the best a path may be; `W::ZERO`: as much as it likes.
    pub weight: W,
    /// Stop when the search has made this many states.
    pub nstate: Option<usize>,
}

impl<W: Weight> Default for ShortestPathConfig<W> {
    fn default() -> Self {
        ShortestPathConfig { nshortest: 1, unique: false, weight: W::ZERO, nstate: None }
    }
}

const OP: &str = "shortestpath";

pub fn shortestpath<W: Weight>(fst: &FlatFst<W>, config: &ShortestPathConfig<W>) -> Result<FlatFst<W>> {
    require_path::<W>(OP)?;
    let nothing =
        fst.start() == NO_STATE || config.nshortest == 0 || config.weight.less(W::ONE) || config.nstate == Some(0);
    let mut out = if nothing {
        FlatFst::empty()
    } else if config.nshortest == 1 {
        single(fst)?
    } else if let Some(nstate) = config.nstate.filter(|_| !config.unique) {
        bounded(fst, &shortest_distance(fst, &DistanceConfig::default())?, config, nstate)
    } else {
        let costs = best_costs(fst)?;
        Search::new(fst, costs, config).run()
    };
    // Paths have no cycles: what comes after need not look for them.
    out.start_acyclic = true;
    Ok(out.with_symbols_of(fst))
}

/// A path as it stands in an automaton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Positions of its arcs in `all_arcs`.
    pub arcs: Vec<u32>,
    /// The final state it ends in.
    pub end: StateId,
    /// The sum of its costs in f64, that of the end included.
    pub cost: f64,
}

impl Path {
    /// The labels that `label` takes from its arcs, without epsilons.
    pub fn labels<W: Weight>(&self, fst: &FlatFst<W>, label: impl Fn(&Arc<W>) -> Label) -> Vec<Label> {
        self.arcs.iter().map(|&a| label(&fst.all_arcs()[a as usize])).filter(|&l| l != EPSILON).collect()
    }
    /// Its cost in an automaton of the same shape.
    pub fn cost_in<W: Weight>(&self, fst: &FlatFst<W>) -> f64 {
        let arcs = self.arcs.iter().map(|&a| fst.all_arcs()[a as usize].weight.to_f64());
        arcs.sum::<f64>() + fst.final_weight(self.end).to_f64()
    }
}

/// The n best paths, or the best path of each of the n best input strings, best first. Of any semiring: its weights are
/// taken as costs of single paths. There is no bound on states here.
pub fn best_paths<W: Weight>(fst: &FlatFst<W>, config: &ShortestPathConfig<W>) -> Result<Vec<Path>> {
    if fst.start() == NO_STATE || config.nshortest == 0 {
        return Ok(vec![]);
    }
    let config = ShortestPathConfig { nstate: None, ..*config };
    let mut search = Search::new(fst, best_costs(fst)?, &config);
    let heads = search.heads();
    let path = |&head: &u32| {
        let complete = search.entries[head as usize];
        let mut path = Path { cost: complete.cost, ..Path::default() };
        let mut entry = search.entries[complete.parent as usize];
        while entry.arc != FINAL {
            path.arcs.push(entry.arc);
            entry = search.entries[entry.parent as usize];
        }
        path.end = entry.state;
        path
    };
    Ok(heads.iter().map(path).collect())
}

/// Where an entry of the search comes from: an arc of the automaton, or one of these.
const FINAL: u32 = u32::MAX;
const COMPLETE: u32 = u32::MAX - 1;

/// A way to read a suffix from `state`: first `arc`, then what `parent` reads.
#[derive(Clone, Copy)]
struct Entry {
    cost: f64,
    state: StateId,
    arc: u32,
    parent: u32,
}

/// What waits in the heap: a node (the suffix) or a complete string.
#[derive(Clone, Copy)]
struct Item {
    cost: f64,
    complete: bool,
    number: u32,
    node: u32,
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        // A complete path goes before others of its cost: it needs no more work.
        let key = |i: &Item| (!i.complete, i.number);
        self.cost.total_cmp(&other.cost).then_with(|| key(self).cmp(&key(other)))
    }
}
impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Item {}

/// A step backwards that has not been grouped with others of its label yet.
#[derive(Clone, Copy)]
struct Candidate {
    label: Label,
    entry: Entry,
}

/// How often the search has been at the same place: the same state or, where a node is a string, the same states with the
/// same differences of cost. From there on all goes the same way. The first n of a place give n results that are no worse
/// and no later than those of any other, so the others need not be looked at.
struct Visits {
    most: usize,
    states: Vec<usize>,
    /// For nodes of several states: each with the bits of how much more it costs than the first, by number.
    sets: hashbrown::HashMap<Box<[(StateId, u64)]>, usize, rustc_hash::FxBuildHasher>,
}

impl Visits {
    /// Counts a visit; false if there were enough.
    fn count(&mut self, node: &[Entry]) -> bool {
        let times = match node {
            [single] => &mut self.states[single.state as usize],
            _ => {
                let mut key: Box<[(StateId, u64)]> = node.iter().map(|e| (e.state, e.cost.to_bits())).collect();
                key.sort_unstable();
                let first = key.first().map_or(0.0, |e| f64::from_bits(e.1));
                key.iter_mut().for_each(|e| e.1 = (f64::from_bits(e.1) - first).to_bits());
                self.sets.entry(key).or_default()
            }
        };
        *times += 1;
        *times <= self.most
    }
    fn enough(&self, state: StateId) -> bool {
        self.states[state as usize] >= self.most
    }
}

struct Search<'a, W> {
    fst: &'a FlatFst<W>,
    incoming: Incoming,
    /// Exact cost from the start to every state.
    costs: Vec<f64>,
    config: &'a ShortestPathConfig<W>,
    epsilons: bool,
    entries: Vec<Entry>,
    /// Entries of each node: `entries[nodes[i].0..nodes[i].1]`.
    nodes: Vec<(u32, u32)>,
    heap: BinaryHeap<Reverse<Item>>,
    candidates: Vec<Candidate>,
    /// The entry of a state in the node being made: `(stamp, entry)`.
    slot: Vec<(u32, u32)>,
    stamp: u32,
    bound: Bound,
    visits: Visits,
    /// States as OpenFst counts them: the two ends, and one for every node and complete string.
    made: usize,
}

/// The n-th best cost there can be. Whatever waits or is complete leads to a string or path of its own, at exactly its
/// cost; once n of them are known, nothing worse than the n-th needs to be kept.
struct Bound {
    most: usize,
    /// The n least costs so far, the largest on top.
    least: BinaryHeap<Cost>,
    limit: f64,
    /// The cost of the node being expanded, until the child that inherits it is seen: both are one result.
    inherited: Option<f64>,
}

struct Cost(f64);

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Cost {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Cost {}

impl Bound {
    /// Sums made in another order differ in their last digits.
    fn about(cost: f64) -> f64 {
        cost + 1e-9 * (1.0 + cost.abs())
    }
    fn count(&mut self, cost: f64) {
        if self.inherited.is_some_and(|c| cost <= Self::about(c)) {
            self.inherited = None;
            return;
        }
        if self.most == 0 {
            return;
        }
        if self.least.len() < self.most {
            self.least.push(Cost(cost));
        } else if let Some(mut top) = self.least.peek_mut()
            && cost < top.0
        {
            *top = Cost(cost);
        }
        if self.least.len() == self.most
            && let Some(top) = self.least.peek()
        {
            self.limit = Self::about(top.0);
        }
    }
}

impl<'a, W: Weight> Search<'a, W> {
    fn new(fst: &'a FlatFst<W>, costs: Vec<f64>, config: &'a ShortestPathConfig<W>) -> Self {
        Search {
            fst,
            incoming: Incoming::new(fst),
            costs,
            config,
            epsilons: config.unique && fst.all_arcs().iter().any(|a| a.ilabel == EPSILON),
            entries: vec![Entry { cost: 0.0, state: NO_STATE, arc: FINAL, parent: 0 }],
            nodes: vec![],
            heap: BinaryHeap::new(),
            candidates: vec![],
            slot: if config.unique { vec![(0, 0); fst.num_states()] } else { vec![] },
            stamp: 0,
            made: 2,
            visits: Visits {
                // A bound on states counts these, too.
                most: if config.nstate.is_none() { config.nshortest } else { usize::MAX },
                states: vec![0; fst.num_states()],
                sets: Default::default(),
            },
            bound: Bound {
                // A bound on states counts what would be dropped; a very large n has nothing to gain.
                most: if config.nstate.is_none() && config.nshortest <= 1 << 20 { config.nshortest } else { 0 },
                least: BinaryHeap::new(),
                limit: f64::INFINITY,
                inherited: None,
            },
        }
    }

    fn run(mut self) -> FlatFst<W> {
        let heads = self.heads();
        automaton(self.fst, &self.entries, &heads)
    }

    /// The entries of complete paths, best first.
    fn heads(&mut self) -> Vec<u32> {
        if self.config.nstate.is_some_and(|n| self.made >= n) {
            return vec![];
        }
        let ends: Vec<Entry> = self
            .fst
            .states()
            .filter(|&s| self.fst.is_final(s) && self.costs[s as usize] < f64::INFINITY)
            .map(|s| Entry { cost: self.fst.final_weight(s).to_f64(), state: s, arc: FINAL, parent: 0 })
            .collect();
        if self.config.unique {
            let candidates: Vec<Candidate> =
                ends.into_iter().map(|entry| Candidate { label: EPSILON, entry }).collect();
            self.add_node(&candidates);
        } else {
            for entry in ends {
                self.add_single(entry);
            }
        }
        let Some(Reverse(best)) = self.heap.peek() else { return vec![] };
        let limit = best.cost + self.config.weight.to_f64();
        let mut heads = vec![];
        while let Some(Reverse(item)) = self.heap.pop() {
            if item.cost > limit || self.config.nstate.is_some_and(|n| self.made >= n) {
                break;
            }
            if item.complete {
                heads.push(item.node);
                if heads.len() == self.config.nshortest {
                    break;
                }
            } else {
                let (from, to) = self.nodes[item.node as usize];
                if self.visits.count(&self.entries[from as usize..to as usize]) {
                    self.bound.inherited = Some(item.cost);
                    self.expand(item.node);
                    self.bound.inherited = None;
                }
            }
        }
        heads
    }

    fn push(&mut self, cost: f64, complete: bool, node: u32) {
        self.bound.count(cost);
        self.made += 1;
        // Every push follows a new entry, so this counts up.
        let number = self.entries.len() as u32;
        self.heap.push(Reverse(Item { cost, complete, number, node }));
    }

    fn expand(&mut self, node: u32) {
        let (from, to) = self.nodes[node as usize];
        if !self.config.unique {
            let e = self.entries[from as usize];
            for k in 0..self.incoming.of(e.state).len() {
                if let Some(entry) = self.step(e, from, self.incoming.of(e.state)[k])
                    && !self.visits.enough(entry.state)
                {
                    self.add_single(entry);
                }
            }
            if e.state == self.fst.start() {
                self.add_complete(from);
            }
            return;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let mut complete = None;
        for i in from..to {
            let e = self.entries[i as usize];
            for &arc in self.incoming.of(e.state) {
                let label = self.fst.all_arcs()[arc as usize].ilabel;
                if self.epsilons && label == EPSILON {
                    continue;
                }
                if let Some(entry) = self.step(e, i, arc) {
                    candidates.push(Candidate { label, entry });
                }
            }
            if e.state == self.fst.start() {
                complete = Some(i);
            }
        }
        // Stable: equal labels stay in the order found.
        candidates.sort_by_key(|c| c.label);
        for group in candidates.chunk_by(|a, b| a.label == b.label) {
            self.add_node(group);
        }
        self.candidates = candidates;
        if let Some(i) = complete {
            self.add_complete(i);
        }
    }

    /// The entry one arc further back, unless the start does not reach it or it cannot be among the n best.
    #[inline(always)]
    fn step(&self, e: Entry, parent: u32, arc: u32) -> Option<Entry> {
        let state = self.incoming.sources[arc as usize];
        let cost = e.cost + self.fst.all_arcs()[arc as usize].weight.to_f64();
        let whole = self.costs[state as usize] + cost;
        (whole < f64::INFINITY && whole <= self.bound.limit).then_some(Entry { cost, state, arc, parent })
    }

    fn add_single(&mut self, entry: Entry) {
        let at = self.entries.len() as u32;
        self.entries.push(entry);
        self.nodes.push((at, at + 1));
        self.push(self.costs[entry.state as usize] + entry.cost, false, self.nodes.len() as u32 - 1);
    }

    fn add_complete(&mut self, parent: u32) {
        let cost = self.entries[parent as usize].cost;
        self.entries.push(Entry { cost, state: NO_STATE, arc: COMPLETE, parent });
        self.push(cost, true, self.entries.len() as u32 - 1);
    }

    /// A node for one string: the best entry of every state, epsilons followed back.
    fn add_node(&mut self, candidates: &[Candidate]) {
        // An epsilon further back costs no less, so the candidates alone tell the cost of the node.
        let whole = |c: &Candidate| self.costs[c.entry.state as usize] + c.entry.cost;
        let cost = candidates.iter().map(whole).fold(f64::INFINITY, f64::min);
        if candidates.is_empty() || cost > self.bound.limit {
            return;
        }
        self.stamp += 1;
        let from = self.entries.len();
        for c in candidates {
            self.keep_best(c.entry);
        }
        if self.epsilons {
            let mut queue: VecDeque<u32> = (from as u32..self.entries.len() as u32).collect();
            while let Some(i) = queue.pop_front() {
                for k in 0..self.incoming.of(self.entries[i as usize].state).len() {
                    let e = self.entries[i as usize];
                    let arc = self.incoming.of(e.state)[k];
                    if self.fst.all_arcs()[arc as usize].ilabel == EPSILON
                        && let Some(entry) = self.step(e, i, arc)
                        && let Some(at) = self.keep_best(entry)
                    {
                        queue.push_back(at);
                    }
                }
            }
        }
        let to = self.entries.len();
        self.nodes.push((from as u32, to as u32));
        self.push(cost, false, self.nodes.len() as u32 - 1);
    }

    /// Keeps an entry of the node being made if it is the best for its state; says where.
    fn keep_best(&mut self, entry: Entry) -> Option<u32> {
        let (stamp, at) = self.slot[entry.state as usize];
        if stamp != self.stamp {
            let at = self.entries.len() as u32;
            self.slot[entry.state as usize] = (self.stamp, at);
            self.entries.push(entry);
            return Some(at);
        }
        if entry.cost < self.entries[at as usize].cost {
            self.entries[at as usize] = entry;
            return Some(at);
        }
        None
    }
}

/// The paths found, with what they share kept once.
fn automaton<W: Weight>(fst: &FlatFst<W>, entries: &[Entry], heads: &[u32]) -> FlatFst<W> {
    if heads.is_empty() {
        return FlatFst::empty();
    }
    let mut used: Vec<u32> = vec![0];
    let mut seen = hashbrown::HashSet::<u32, rustc_hash::FxBuildHasher>::default();
    seen.insert(0);
    for &head in heads {
        let mut i = head;
        while seen.insert(i) {
            used.push(i);
            i = entries[i as usize].parent;
        }
    }
    // In the order they were made: OpenFst's numbers.
    used.sort_unstable();
    let id: hashbrown::HashMap<u32, StateId, rustc_hash::FxBuildHasher> =
        used.iter().enumerate().map(|(k, &i)| (i, k as StateId + 1)).collect();
    let mut b = super::flat::Builder::with_capacity(used.len() + 1, used.len() + heads.len());
    b.add_state(W::ZERO);
    b.set_start(0);
    for head in heads {
        b.push_arc(Arc::new(EPSILON, EPSILON, W::ONE, id[head]));
    }
    for &i in &used {
        b.add_state(if i == 0 { W::ONE } else { W::ZERO });
        let e = entries[i as usize];
        match e.arc {
            FINAL if i == 0 => {}
            FINAL => b.push_arc(Arc::new(EPSILON, EPSILON, fst.final_weight(e.state), id[&e.parent])),
            COMPLETE => b.push_arc(Arc::new(EPSILON, EPSILON, W::ONE, id[&e.parent])),
            arc => b.push_arc(Arc { nextstate: id[&e.parent], ..fst.all_arcs()[arc as usize] }),
        }
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log, Tropical};

    fn arc(label: Label, weight: f32, next: StateId) -> Arc<Tropical> {
        Arc::new(label, label, Tropical(weight), next)
    }

    /// Labels and cost of every path of an n-best automaton, in its order.
    fn paths(fst: &FlatFst<Tropical>) -> Vec<(Vec<Label>, f64)> {
        let mut out = vec![];
        for head in fst.arcs(fst.start()) {
            let (mut s, mut labels, mut cost) = (head.nextstate, vec![], head.weight.to_f64());
            while let Some(a) = fst.arcs(s).first() {
                if a.ilabel != EPSILON {
                    labels.push(a.ilabel);
                }
                cost += a.weight.to_f64();
                s = a.nextstate;
            }
            out.push((labels, cost));
        }
        out
    }

    #[test]
    fn unique_strings_look_through_epsilons() {
        // "1" in three ways, one of them over an epsilon; "2" once.
        let f = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(1, 3.0, 2), arc(1, 1.0, 2), arc(0, 0.25, 1), arc(2, 1.5, 2)]),
                (Tropical::ZERO, vec![arc(1, 0.5, 2)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let config = ShortestPathConfig { nshortest: 10, unique: true, ..Default::default() };
        assert_eq!(paths(&shortestpath(&f, &config).unwrap()), [(vec![1], 0.75), (vec![2], 1.5)]);
        let config = ShortestPathConfig { unique: false, ..config };
        let costs: Vec<f64> = paths(&shortestpath(&f, &config).unwrap()).into_iter().map(|p| p.1).collect();
        assert_eq!(costs, [0.75, 1.0, 1.5, 3.0]);
        let config = ShortestPathConfig { weight: Tropical(0.25), ..config };
        assert_eq!(paths(&shortestpath(&f, &config).unwrap()).len(), 2);
    }

    #[test]
    fn differences_far_below_a_thousandth_decide() {
        let f = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![arc(1, 0.50001, 1), arc(2, 0.5, 1)]), (Tropical::ONE, vec![])],
        );
        assert_eq!(shortestpath(&f, &Default::default()).unwrap().all_arcs()[0].ilabel, 2);
    }

    #[test]
    fn a_loop_gives_as_many_paths_as_asked_for() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0.0, 0)])]);
        let config = ShortestPathConfig { nshortest: 5, unique: true, ..Default::default() };
        let lengths: Vec<usize> = paths(&shortestpath(&f, &config).unwrap()).iter().map(|p| p.0.len()).collect();
        assert_eq!(lengths, [0, 1, 2, 3, 4]);
    }

    /// A hundred places with two words each, all of the same cost: 2¹⁰⁰ paths that tie.
    #[test]
    fn ties_are_not_all_tried() {
        for weight in [0.0, 0.1, 1.0 / 3.0] {
            // One state a place, or two between which the words may change: then the strings are in sets of two.
            for wide in [false, true] {
                let mut rows = vec![];
                for place in 0..100u32 {
                    let next = if wide { [2 * place + 2, 2 * place + 3] } else { [place + 1, place + 1] };
                    let arcs = |word: Label| next.iter().map(|&n| arc(word, weight, n)).collect::<Vec<_>>();
                    for _ in 0..1 + wide as usize {
                        rows.push((Tropical::ZERO, [arcs(1), arcs(2)].concat()));
                    }
                }
                rows.extend(vec![(Tropical::ONE, vec![]); 1 + wide as usize]);
                let f = FlatFst::from_rows(0, rows);
                for unique in [false, true] {
                    let config = ShortestPathConfig { nshortest: 30, unique, ..Default::default() };
                    let found = paths(&shortestpath(&f, &config).unwrap());
                    assert_eq!(found.len(), 30);
                    let cost = 100.0 * f64::from(weight);
                    assert!(found.iter().all(|p| p.0.len() == 100 && (p.1 - cost).abs() < 1e-4), "{found:?}");
                    let mut strings: Vec<_> = found.into_iter().map(|p| p.0).collect();
                    strings.sort();
                    strings.dedup();
                    assert!(!unique || strings.len() == 30);
                }
            }
        }
    }

    #[test]
    fn sums_have_no_best_path() {
        let e = shortestpath(&FlatFst::<Log>::empty(), &Default::default()).unwrap_err().to_string();
        assert!(e.contains("to_standard"), "{e}");
    }
}
