//! The best-first search backwards from the final states, for paths or, as a lazy determinization, for distinct strings.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::ShortestPathConfig;
use super::entry::{COMPLETE, Entry, FINAL, automaton};
use super::limits::{Bound, Visits};
use crate::fst::flat::{EPSILON, FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::visit::Incoming;

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

/// The epsilon arcs that enter each state, taken out of all that do.
struct Epsilons {
    /// Those into state s: `arcs[offsets[s]..offsets[s + 1]]`, the way from the start over it the shortest first.
    offsets: Vec<u32>,
    arcs: Vec<u32>,
    /// Some have a negative weight: a cycle of them may cost nothing, and less than that where sums are rounded.
    negative: bool,
}

impl Epsilons {
    fn new<W: Weight>(fst: &FlatFst<W>, costs: &[f64], incoming: &mut Incoming) -> Self {
        let whole =
            |arc: u32| costs[incoming.sources[arc as usize] as usize] + fst.all_arcs()[arc as usize].weight.to_f64();
        let (mut offsets, mut others) = (vec![0], vec![0]);
        let (mut arcs, mut rest) = (vec![], Vec::with_capacity(incoming.arcs.len()));
        for s in fst.states() {
            let from = arcs.len();
            for &arc in incoming.of(s) {
                if fst.all_arcs()[arc as usize].ilabel == EPSILON { arcs.push(arc) } else { rest.push(arc) }
            }
            arcs[from..].sort_by(|&a, &b| whole(a).total_cmp(&whole(b)));
            offsets.push(arcs.len() as u32);
            others.push(rest.len() as u32);
        }
        (incoming.offsets, incoming.arcs) = (others, rest);
        let negative = arcs.iter().any(|&a| fst.all_arcs()[a as usize].weight.to_f64() < 0.0);
        Epsilons { offsets, arcs, negative }
    }
    fn of(&self, s: StateId) -> &[u32] {
        &self.arcs[self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize]
    }
}

pub(super) struct Search<'a, W> {
    fst: &'a FlatFst<W>,
    incoming: Incoming,
    /// Exact cost from the start to every state.
    costs: Vec<f64>,
    config: &'a ShortestPathConfig<W>,
    /// Epsilons, if strings are searched and there are any.
    epsilons: Option<Epsilons>,
    pub entries: Vec<Entry>,
    /// Entries of each node: `entries[nodes[i].0..nodes[i].1]`; behind epsilons there are more.
    nodes: Vec<(u32, u32)>,
    /// All entries of the node whose turn it is.
    all: Vec<u32>,
    /// Those whose epsilons are still to be followed.
    queue: VecDeque<u32>,
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

impl<'a, W: Weight> Search<'a, W> {
    pub fn new(fst: &'a FlatFst<W>, costs: Vec<f64>, config: &'a ShortestPathConfig<W>) -> Self {
        let mut incoming = Incoming::new(fst);
        let counted = config.nstate.is_some();
        let looked_through = config.unique && fst.all_arcs().iter().any(|a| a.ilabel == EPSILON);
        Search {
            fst,
            epsilons: looked_through.then(|| Epsilons::new(fst, &costs, &mut incoming)),
            incoming,
            costs,
            config,
            all: vec![],
            queue: VecDeque::new(),
            entries: vec![Entry { cost: 0.0, state: NO_STATE, arc: FINAL, parent: 0 }],
            nodes: vec![],
            heap: BinaryHeap::new(),
            candidates: vec![],
            slot: if config.unique { vec![(0, 0); fst.num_states()] } else { vec![] },
            stamp: 0,
            made: 2,
            // A bound on states counts what these would drop; a very large n has nothing to gain from the other.
            visits: Visits::new(if counted { usize::MAX } else { config.nshortest }, fst.num_states()),
            bound: Bound::new(if counted || config.nshortest > 1 << 20 { 0 } else { config.nshortest }),
        }
    }

    pub fn run(mut self) -> FlatFst<W> {
        let heads = self.heads();
        automaton(self.fst, &self.entries, &heads)
    }

    /// The entries of complete paths, best first.
    pub fn heads(&mut self) -> Vec<u32> {
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
                if self.visit(item.node) {
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
        self.heap.push(Reverse(Item { cost, complete, number: self.made as u32, node }));
    }

    /// Counts a visit of a node and finds all its entries; false if there were enough visits.
    fn visit(&mut self, node: u32) -> bool {
        let (from, to) = self.nodes[node as usize];
        if !self.visits.count(&self.entries[from as usize..to as usize]) {
            return false;
        }
        self.all.clear();
        self.all.extend(from..to);
        let known = self.entries.len();
        self.follow_epsilons(from);
        // Other states may lead back to the same over their epsilons.
        if self.entries.len() > known && !self.visits.count_whole(self.all.iter().map(|&i| &self.entries[i as usize])) {
            self.entries.truncate(known);
            return false;
        }
        true
    }

    fn expand(&mut self, node: u32) {
        let from = self.nodes[node as usize].0;
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
        for &i in &self.all {
            let e = self.entries[i as usize];
            for &arc in self.incoming.of(e.state) {
                if let Some(entry) = self.step(e, i, arc) {
                    candidates.push(Candidate { label: self.fst.all_arcs()[arc as usize].ilabel, entry });
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

    /// Adds what epsilons lead back to to the entries of a node, which begin at `from`, the best of every state.
    fn follow_epsilons(&mut self, from: u32) {
        let Some(epsilons) = self.epsilons.take() else { return };
        self.stamp += 1;
        for &i in &self.all {
            self.slot[self.entries[i as usize].state as usize] = (self.stamp, i);
        }
        self.queue.extend(&self.all);
        while let Some(i) = self.queue.pop_front() {
            let e = self.entries[i as usize];
            for &arc in epsilons.of(e.state) {
                // The arcs behind one that leads too far around lead further still.
                let Some(entry) = self.step(e, i, arc) else { break };
                let known = self.entries.len();
                if epsilons.negative && self.leads_round(entry, from) {
                    continue;
                }
                if let Some(at) = self.keep_best(entry) {
                    self.queue.push_back(at);
                    if at as usize == known {
                        self.all.push(at);
                    }
                }
            }
        }
        self.epsilons = Some(epsilons);
    }

    /// True if the entry would come after itself: no cycle makes anything better, whatever the rounding of its sum says.
    fn leads_round(&self, entry: Entry, from: u32) -> bool {
        let (stamp, at) = self.slot[entry.state as usize];
        let mut before = entry.parent;
        while stamp == self.stamp && before >= from {
            if before == at {
                return true;
            }
            before = self.entries[before as usize].parent;
        }
        false
    }

    /// A node for one string: the best entry of every state.
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
