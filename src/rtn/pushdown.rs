//! The network as a pushdown automaton, composed with language models before it is expanded.
//!
//! A cell that is entered with the models in state m is an instance (cell, m); it is solved once, however often it is
//! called, and has an exit for every models' state it can be left with. The instances are a network again: an arc that
//! called a cell calls an instance and names the exit. Best costs inside instances and outside of exits then say for every
//! arc what the best path through it costs, so that a beam is cut out of the composed network exactly, before anything is
//! expanded; the expansion follows these costs and meets no path outside the beam.
//!
//! Polynomial: instances are bounded by cells times models' states, where full expansion may be exponential in the depth
//! of the network. Iglesias et al., Hierarchical phrase-based translation representations, EMNLP 2011; Allauzen et al.,
//! Pushdown automata in statistical machine translation, Computational Linguistics 40(3), 2014.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::network::Network;
use super::search::{Found, SearchConfig, best_first};
use super::{POINTER, Rtn, pointed};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::statetable::StateTable;
use crate::lm::apply::scorer::Scorer;

/// What an arc of an instance calls.
#[derive(Clone, Copy)]
struct Call {
    instance: u32,
    exit: u32,
}

const NO_CALL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    label: Label,
    call: Call,
    network: f64,
    models: f64,
}

#[derive(Clone, Copy)]
struct Exit {
    /// Models' state.
    models: u32,
    inside: f64,
    outside: f64,
}

/// A cell entered with the models in one state.
struct Instance {
    /// Best cost from the entry to each of its states.
    forward: Vec<f64>,
    /// In an order in which an edge comes after all edges into its source.
    edges: Vec<Edge>,
    /// (state, cost of the network, exit).
    ends: Vec<(u32, f64, u32)>,
    exits: Vec<Exit>,
}

struct Solver<'a, S> {
    rtn: &'a Rtn,
    scorer: &'a mut S,
    numbers: HashMap<u64, u32, FxBuildHasher>,
    instances: Vec<Instance>,
    states: usize,
    max_states: usize,
}

impl<S: Scorer> Solver<'_, S> {
    /// The number of the instance; solved with all it calls. The depth is that of the network, at most its span and chains.
    fn solve(&mut self, cell: usize, models: u32) -> Result<u32> {
        let key = (cell as u64) << 32 | models as u64;
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        let fst = &self.rtn.cells[cell];
        let mut table = StateTable::default();
        let mut forward = vec![];
        let mut edges: Vec<Edge> = vec![];
        let mut ends = vec![];
        let mut exits: Vec<Exit> = vec![];
        let mut exit_of = StateTable::default();
        // States of the instance by state of the cell; cells are in topological order.
        let mut rows: Vec<Vec<u32>> = vec![vec![]; fst.num_states()];
        if fst.start() != NO_STATE {
            let first = table.number((fst.start() as u64) << 32 | models as u64);
            rows[fst.start() as usize].push(first);
            forward.push(0.0);
        }
        for q in fst.states() {
            for n in 0..rows[q as usize].len() {
                let from = rows[q as usize][n];
                let m = table.key(from) as u32;
                let g = forward[from as usize];
                let end = fst.final_weight(q);
                if !end.is_zero_w() {
                    let inside = g + end.to_f64();
                    let exit = exit_of.number(m as u64) as usize;
                    if exit == exits.len() {
                        exits.push(Exit { models: m, inside: f64::INFINITY, outside: f64::INFINITY });
                    }
                    exits[exit].inside = exits[exit].inside.min(inside);
                    ends.push((from, end.to_f64(), exit as u32));
                }
                for a in fst.arcs(q) {
                    let mut go = |label, call, to_models: u32, network: f64, models: f64, inside: f64| {
                        let to = table.number((a.nextstate as u64) << 32 | to_models as u64);
                        if to as usize == forward.len() {
                            forward.push(f64::INFINITY);
                            rows[a.nextstate as usize].push(to);
                        }
                        let via = g + network + models + inside;
                        forward[to as usize] = forward[to as usize].min(via);
                        edges.push(Edge { from, to, label, call, network, models });
                    };
                    let own = a.weight.to_f64();
                    let none = Call { instance: NO_CALL, exit: 0 };
                    match pointed(a.ilabel) {
                        Some(child) => {
                            let instance = self.solve(child, m)?;
                            for (i, e) in self.instances[instance as usize].exits.iter().enumerate() {
                                let call = Call { instance, exit: i as u32 };
                                go(a.ilabel, call, e.models, own, 0.0, e.inside);
                            }
                        }
                        None if a.ilabel == 0 => go(0, none, m, own, 0.0, 0.0),
                        None => {
                            let (to, charged) = self.scorer.step(m, a.ilabel as u32);
                            go(a.ilabel, none, to, own, charged, 0.0);
                        }
                    }
                }
            }
        }
        self.states += edges.len();
        if self.states > self.max_states {
            return Err(Error::limit(
                "pushdown composition",
                format!("{} arcs", self.max_states),
                "the network with the models is larger; use a smaller model, local pruning or more memory",
            ));
        }
        let number = self.instances.len() as u32;
        self.instances.push(Instance { forward, edges, ends, exits });
        self.numbers.insert(key, number);
        Ok(number)
    }
}

/// Composes and expands: what is at most `beam` worse than the best; infinite: everything.
pub fn expand<S: Scorer>(rtn: &Rtn, scorer: &mut S, beam: f64, max_states: usize) -> Result<Found> {
    let mut solver = Solver { rtn, scorer, numbers: HashMap::default(), instances: vec![], states: 0, max_states };
    let entry = solver.scorer.start();
    let root = solver.solve(rtn.root, entry)? as usize;
    let mut instances = solver.instances;
    // What it costs to leave the root: the end of the sentence.
    let mut best = f64::INFINITY;
    for e in &mut instances[root].exits {
        e.outside = scorer.end(e.models);
        best = best.min(e.inside + e.outside);
    }
    let empty = || Found { network: FlatFst::empty(), whole: FlatFst::empty(), expanded: 0 };
    if best == f64::INFINITY {
        return Ok(empty());
    }
    let limit = best + beam + 1e-9 * (1.0 + best.abs());
    // Callers are solved after those they call, so that from the end every exit is complete when its turn comes.
    let mut parts: Vec<Vec<FlatPart>> =
        instances.iter().map(|i| i.exits.iter().map(|_| FlatPart::default()).collect()).collect();
    for n in (0..=root).rev() {
        let (below, rest) = instances.split_at_mut(n);
        let instance = &mut rest[0];
        if instance.exits.iter().all(|e| e.outside == f64::INFINITY) {
            continue;
        }
        let mut backward = vec![f64::INFINITY; instance.forward.len()];
        for &(s, cost, exit) in &instance.ends {
            let via = cost + instance.exits[exit as usize].outside;
            backward[s as usize] = backward[s as usize].min(via);
        }
        for e in instance.edges.iter().rev() {
            let inside = inside_of(below, e.call);
            let via = e.network + e.models + inside + backward[e.to as usize];
            backward[e.from as usize] = backward[e.from as usize].min(via);
        }
        for e in &instance.edges {
            let around = instance.forward[e.from as usize] + e.network + e.models + backward[e.to as usize];
            if around + inside_of(below, e.call) > limit {
                continue;
            }
            if e.call.instance != NO_CALL {
                let exit = &mut below[e.call.instance as usize].exits[e.call.exit as usize];
                exit.outside = exit.outside.min(around);
            }
        }
        for (x, part) in parts[n].iter_mut().enumerate() {
            if instance.exits[x].outside + instance.exits[x].inside <= limit {
                *part = cut(instance, below, x as u32, limit);
            }
        }
    }
    expand_parts(&instances, &parts, root, scorer, beam, max_states)
}

fn inside_of(instances: &[Instance], call: Call) -> f64 {
    match call.instance {
        NO_CALL => 0.0,
        n => instances[n as usize].exits[call.exit as usize].inside,
    }
}

/// The part of an instance that leads to one exit, as an automaton: costs of the network and, arc for arc, of the models.
#[derive(Default)]
struct FlatPart {
    arcs: Vec<Edge>,
    ends: Vec<(u32, f64)>,
    states: usize,
}

/// What paths to the exit can use within the limit; its states are numbered anew, the entry first.
fn cut(instance: &Instance, below: &[Instance], exit: u32, limit: f64) -> FlatPart {
    let mut backward = vec![f64::INFINITY; instance.forward.len()];
    let outside = instance.exits[exit as usize].outside;
    for &(s, cost, x) in &instance.ends {
        if x == exit {
            backward[s as usize] = backward[s as usize].min(cost + outside);
        }
    }
    let mut part = FlatPart { arcs: vec![], ends: vec![], states: 1 };
    let mut place = vec![NO_STATE; instance.forward.len()];
    place[0] = 0;
    let mut new = |s: u32, states: &mut usize| {
        if place[s as usize] == NO_STATE {
            place[s as usize] = *states as u32;
            *states += 1;
        }
        place[s as usize]
    };
    for e in instance.edges.iter().rev() {
        let via = e.network + e.models + inside_of(below, e.call) + backward[e.to as usize];
        backward[e.from as usize] = backward[e.from as usize].min(via);
        if instance.forward[e.from as usize] + via <= limit {
            let (from, to) = (new(e.from, &mut part.states), new(e.to, &mut part.states));
            part.arcs.push(Edge { from, to, ..*e });
        }
    }
    part.arcs.reverse();
    for &(s, cost, x) in &instance.ends {
        if x == exit && instance.forward[s as usize] + cost + outside <= limit {
            part.ends.push((new(s, &mut part.states), cost));
        }
    }
    part
}

/// The parts as a network of their own, whose words are numbers of (label, models' cost), searched best first.
fn expand_parts<S: Scorer>(
    instances: &[Instance],
    parts: &[Vec<FlatPart>],
    root: usize,
    scorer: &mut S,
    beam: f64,
    max_states: usize,
) -> Result<Found> {
    let mut net = Network::default();
    let mut labels: Vec<(Label, f64)> = vec![(0, 0.0)];
    let mut place: Vec<Vec<usize>> = parts.iter().map(|p| vec![usize::MAX; p.len()]).collect();
    let mut cells = 0;
    let mut add =
        |net: &mut Network, labels: &mut Vec<(Label, f64)>, rows: &[(&FlatPart, f64)], place: &[Vec<usize>]| {
            let mut out = ScatterBuilder::<Tropical>::default();
            let start = out.add_state();
            out.set_start(start);
            for (part, end) in rows {
                let base = out.num_states() as StateId;
                (0..part.states).for_each(|_| {
                    out.add_state();
                });
                if part.states == 0 {
                    continue;
                }
                out.add_arc(start, Arc::new(0, 0, Tropical::ONE, base));
                for e in &part.arcs {
                    let label = match e.call.instance {
                        NO_CALL if e.label == 0 => 0,
                        NO_CALL => {
                            labels.push((e.label, e.models));
                            labels.len() as Label - 1
                        }
                        n => POINTER + place[n as usize][e.call.exit as usize] as Label,
                    };
                    out.add_arc(base + e.from, Arc::new(label, label, Tropical(e.network as f32), base + e.to));
                }
                for &(s, cost) in &part.ends {
                    // The models' end is paid through a last arc, like a word without letters.
                    let last = out.add_state();
                    labels.push((0, *end));
                    let label = labels.len() as Label - 1;
                    out.add_arc(base + s, Arc::new(label, label, Tropical(cost as f32), last));
                    out.set_final(last, Tropical::ONE);
                }
            }
            let fst = crate::fst::connect::connect(out.finish());
            net.push(&fst, |_, a| labels[a.ilabel as usize].1);
            cells += 1;
            cells - 1
        };
    for n in 0..root {
        for (x, part) in parts[n].iter().enumerate() {
            if part.states > 0 {
                place[n][x] = add(&mut net, &mut labels, &[(part, 0.0)], &place);
            }
        }
    }
    let rows: Vec<(&FlatPart, f64)> =
        parts[root].iter().zip(&instances[root].exits).map(|(p, e)| (p, scorer.end(e.models))).collect();
    let cell = add(&mut net, &mut labels, &rows, &place);
    let config = SearchConfig { beam, slack: 0.0, bound: f64::INFINITY, max_states, cut: false };
    let mut charged = Charged { labels: &labels };
    let mut found = best_first(&net, cell, &mut charged, &config)?;
    for fst in [&mut found.network, &mut found.whole] {
        for a in fst.all_arcs_mut() {
            let label = labels[a.ilabel as usize].0;
            (a.ilabel, a.olabel) = (label, label);
        }
    }
    Ok(found)
}

/// Words whose costs are known.
struct Charged<'a> {
    labels: &'a [(Label, f64)],
}

impl Scorer for Charged<'_> {
    fn start(&mut self) -> u32 {
        0
    }
    fn step(&mut self, _: u32, word: u32) -> (u32, f64) {
        (0, self.labels[word as usize].1)
    }
    fn prefetch(&self, _: u32, _: u32) {}
    fn end(&mut self, _: u32) -> f64 {
        0.0
    }
    fn least(&self, word: u32) -> f64 {
        self.labels[word as usize].1
    }
    fn least_end(&self) -> f64 {
        0.0
    }
    fn compare(&self, a: u32, b: u32) -> std::cmp::Ordering {
        a.cmp(&b)
    }
    fn parts(&mut self, state: u32, _: Option<u32>, _: &mut [f64]) -> u32 {
        state
    }
    fn is_word(&self, word: u32) -> bool {
        self.labels[word as usize].0 != 0
    }
}
