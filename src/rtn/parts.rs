//! What a search of the network as a pushdown automaton found, cut down to a beam and expanded.
//!
//! The instances of the search are a network again: an arc that called a cell calls an instance and names the exit. Best
//! costs inside instances and outside of exits say for every arc what the best path through it costs, so that the beam
//! is cut out of the composed network exactly, before anything is expanded; the expansion follows these costs and meets
//! no path outside the beam.

use super::agenda::{Agenda, EXIT, NO_CALL};
use super::ahead::{Histories, Words};
use super::network::Network;
use super::search::{Found, SearchConfig, best_first};
use super::{POINTER, pointed};
use crate::error::Result;
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::lm::apply::scorer::Scorer;

/// What an arc of an instance calls.
#[derive(Clone, Copy)]
struct Call {
    instance: u32,
    exit: u32,
}

#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    label: Label,
    call: Call,
    network: f32,
    models: f64,
}

#[derive(Clone, Copy)]
struct End {
    from: u32,
    network: f32,
    models: f64,
    exit: u32,
}

#[derive(Clone, Copy)]
struct Exit {
    inside: f64,
    outside: f64,
}

/// A cell entered with the models in one state.
#[derive(Default)]
struct Instance {
    /// Best cost from the entry to each of its states.
    forward: Vec<f64>,
    /// In an order in which an edge comes after all edges into its source.
    edges: Vec<Edge>,
    ends: Vec<End>,
    exits: Vec<Exit>,
}

/// The instances of a search, each after those it calls; the root is the last.
fn instances(agenda: &Agenda) -> Vec<Instance> {
    let mut order: Vec<u32> = (0..agenda.num_instances() as u32).collect();
    order.sort_by_key(|&i| (agenda.cell(i), i));
    let mut place = vec![0u32; order.len()];
    for (at, &i) in order.iter().enumerate() {
        place[i as usize] = at as u32;
    }
    let taken = |item: &u32| agenda.cost(*item).is_some();
    let mut items: Vec<(u32, StateId, u32)> = (0..agenda.num_items() as u32)
        .filter(taken)
        .map(|item| {
            let (instance, state) = agenda.place(item);
            (place[instance as usize], state, item)
        })
        .collect();
    // States of cells are in topological order; exits have the largest number.
    items.sort_unstable();
    let mut instances: Vec<Instance> = order.iter().map(|_| Instance::default()).collect();
    let mut number = vec![NO_STATE; agenda.num_items()];
    for &(instance, state, item) in &items {
        let of = &mut instances[instance as usize];
        let cost = agenda.cost(item).unwrap_or(f64::INFINITY);
        if state == EXIT {
            number[item as usize] = of.exits.len() as u32;
            of.exits.push(Exit { inside: cost, outside: f64::INFINITY });
        } else {
            number[item as usize] = of.forward.len() as u32;
            of.forward.push(cost);
        }
    }
    for e in agenda.edges() {
        let (from, to) = (number[e.from as usize], number[e.to as usize]);
        if from == NO_STATE || to == NO_STATE {
            continue;
        }
        let (instance, state) = agenda.place(e.to);
        let of = &mut instances[place[instance as usize] as usize];
        if state == EXIT {
            of.ends.push(End { from, network: e.network, models: e.models, exit: to });
            continue;
        }
        let call = match e.exit {
            NO_CALL => Call { instance: NO_CALL, exit: 0 },
            exit => Call { instance: place[agenda.place(exit).0 as usize], exit: number[exit as usize] },
        };
        of.edges.push(Edge { from, to, label: e.label, call, network: e.network, models: e.models });
    }
    for instance in &mut instances {
        instance.edges.sort_by_key(|e| e.from);
    }
    instances
}

/// Expands what a search found: what is at most `beam` worse than the best; infinite: everything.
pub fn expand(agenda: &Agenda, beam: f64, max_bytes: usize) -> Result<Found> {
    let mut instances = instances(agenda);
    let Some(root) = instances.len().checked_sub(1) else { return Ok(Found::default()) };
    let mut best = f64::INFINITY;
    for e in &mut instances[root].exits {
        e.outside = 0.0;
        best = best.min(e.inside);
    }
    if best == f64::INFINITY {
        return Ok(Found::default());
    }
    let limit = best + beam + 1e-9 * (1.0 + best.abs());
    // Callers come after those they call, so that from the end every exit is complete when its turn comes.
    let mut parts: Vec<Vec<Part>> =
        instances.iter().map(|i| i.exits.iter().map(|_| Part::default()).collect()).collect();
    for n in (0..=root).rev() {
        let (below, rest) = instances.split_at_mut(n);
        let instance = &mut rest[0];
        if instance.exits.iter().all(|e| e.outside == f64::INFINITY) {
            continue;
        }
        let mut backward = vec![f64::INFINITY; instance.forward.len()];
        for e in &instance.ends {
            let via = e.network as f64 + e.models + instance.exits[e.exit as usize].outside;
            backward[e.from as usize] = backward[e.from as usize].min(via);
        }
        for e in instance.edges.iter().rev() {
            let via = cost(below, e) + backward[e.to as usize];
            backward[e.from as usize] = backward[e.from as usize].min(via);
        }
        for e in &instance.edges {
            let around = instance.forward[e.from as usize] + e.network as f64 + e.models + backward[e.to as usize];
            if e.call.instance != NO_CALL {
                let exit = &mut below[e.call.instance as usize].exits[e.call.exit as usize];
                if around + exit.inside <= limit {
                    exit.outside = exit.outside.min(around);
                }
            }
        }
        for (x, part) in parts[n].iter_mut().enumerate() {
            if instance.exits[x].outside + instance.exits[x].inside <= limit {
                *part = cut(instance, below, x as u32, limit);
            }
        }
    }
    expand_parts(&parts, root, beam, max_bytes)
}

/// What an edge costs, with what it calls.
fn cost(instances: &[Instance], e: &Edge) -> f64 {
    let inside = match e.call.instance {
        NO_CALL => 0.0,
        n => instances[n as usize].exits[e.call.exit as usize].inside,
    };
    e.network as f64 + e.models + inside
}

/// The part of an instance that leads to one exit.
#[derive(Default)]
struct Part {
    edges: Vec<Edge>,
    /// (state, network, models).
    ends: Vec<(u32, f32, f64)>,
    states: usize,
}

/// What paths to the exit can use within the limit; its states are numbered anew, the entry first.
fn cut(instance: &Instance, below: &[Instance], exit: u32, limit: f64) -> Part {
    let mut backward = vec![f64::INFINITY; instance.forward.len()];
    let outside = instance.exits[exit as usize].outside;
    for e in instance.ends.iter().filter(|e| e.exit == exit) {
        let via = e.network as f64 + e.models + outside;
        backward[e.from as usize] = backward[e.from as usize].min(via);
    }
    let mut part = Part { edges: vec![], ends: vec![], states: 1 };
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
        let via = cost(below, e) + backward[e.to as usize];
        backward[e.from as usize] = backward[e.from as usize].min(via);
        if instance.forward[e.from as usize] + via <= limit {
            let (from, to) = (new(e.from, &mut part.states), new(e.to, &mut part.states));
            part.edges.push(Edge { from, to, ..*e });
        }
    }
    part.edges.reverse();
    for e in instance.ends.iter().filter(|e| e.exit == exit) {
        if instance.forward[e.from as usize] + e.network as f64 + e.models + outside <= limit {
            part.ends.push((new(e.from, &mut part.states), e.network, e.models));
        }
    }
    part
}

/// The parts as a network of their own, whose words are numbers of (label, models' cost), searched best first.
fn expand_parts(parts: &[Vec<Part>], root: usize, beam: f64, max_bytes: usize) -> Result<Found> {
    let mut labels: Vec<(Label, f64)> = vec![(0, 0.0)];
    let mut place: Vec<Vec<usize>> = parts.iter().map(|p| vec![usize::MAX; p.len()]).collect();
    let mut cells = vec![];
    for n in 0..root {
        for (x, part) in parts[n].iter().enumerate() {
            if part.states > 0 {
                place[n][x] = cells.len();
                cells.push(automaton(std::slice::from_ref(part), &mut labels, &place));
            }
        }
    }
    cells.push(automaton(&parts[root], &mut labels, &place));
    let known = || Charged { labels: &labels };
    let all = cells.iter().flat_map(|c| c.all_arcs()).map(|a| a.ilabel);
    let mut words = Words::of(all.filter(|&l| l != 0 && pointed(l).is_none()).collect(), known());
    let mut net = Network::new(&mut words, None);
    cells.iter().for_each(|c| net.push(c, None));
    let config = SearchConfig { beam, bound: f64::INFINITY, max_bytes, max_states: usize::MAX, cut: false };
    let mut found = best_first(&mut net, cells.len() - 1, &mut known(), &config)?;
    for fst in [&mut found.network, &mut found.whole] {
        for a in fst.all_arcs_mut() {
            let label = labels[a.ilabel as usize].0;
            (a.ilabel, a.olabel) = (label, label);
        }
    }
    Ok(found)
}

/// The union of parts; words are numbered in `labels`, calls are pointers to what `place` says.
fn automaton(parts: &[Part], labels: &mut Vec<(Label, f64)>, place: &[Vec<usize>]) -> FlatFst<Tropical> {
    let mut out = ScatterBuilder::<Tropical>::default();
    let start = out.add_state();
    out.set_start(start);
    for part in parts.iter().filter(|p| p.states > 0) {
        let base = out.num_states() as StateId;
        (0..part.states).for_each(|_| {
            out.add_state();
        });
        out.add_arc(start, Arc::new(0, 0, Tropical::ONE, base));
        let mut number = |label: Label, cost: f64| {
            labels.push((label, cost));
            labels.len() as Label - 1
        };
        for e in &part.edges {
            let label = match e.call.instance {
                NO_CALL if e.label == 0 => 0,
                NO_CALL => number(e.label, e.models),
                n => POINTER + place[n as usize][e.call.exit as usize] as Label,
            };
            out.add_arc(base + e.from, Arc::new(label, label, Tropical(e.network), base + e.to));
        }
        for &(s, network, models) in &part.ends {
            // The models' end is paid through a last arc, like a word without letters.
            let last = out.add_state();
            let label = if models == 0.0 { 0 } else { number(0, models) };
            out.add_arc(base + s, Arc::new(label, label, Tropical(network), last));
            out.set_final(last, Tropical::ONE);
        }
    }
    crate::fst::connect::connect(out.finish())
}

/// Words whose costs are known.
struct Charged<'a> {
    labels: &'a [(Label, f64)],
}

impl Histories for Charged<'_> {
    fn start(&self) -> u32 {
        0
    }
    fn after(&self, _: u32, _: u32) -> u32 {
        0
    }
    fn is_silent(&self, _: u32) -> bool {
        false
    }
    fn least(&self, _: u32, word: u32) -> f64 {
        self.labels[word as usize].1
    }
    fn least_end(&self, _: u32) -> f64 {
        0.0
    }
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
