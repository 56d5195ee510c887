//! The network as a pushdown automaton, composed with language models before it is expanded, best first.
//!
//! A cell that is entered with the models in state m is an instance (cell, m); it is solved once, however often it is
//! called, and has an exit for every models' state it can be left with. An item is (instance, state of the cell, models'
//! state) with the least cost g inside the instance. Items are taken in order of o + g + h: h is the network's look-ahead
//! to the end of the cell, o what it costs at least to get to the instance and from its end to the end of the sentence,
//! by the first call of it. A call waits in the same queue, so that the first one is the one with the least o; later ones
//! find the exits that are there. The look-ahead never says too much and never falls along a path, so every item is
//! taken with its least g, and when the queue has nothing left within the beam, every item that a path in the beam uses was
//! taken (A* parsing: Klein & Manning 2003, with calls as in Earley's algorithm).
//!
//! Items are bounded by states of the network times pairs of models' states, where an expansion may be exponential in the
//! depth of the network. Iglesias et al., Hierarchical phrase-based translation representations, EMNLP 2011; Allauzen et
//! al., Pushdown automata in statistical machine translation, Computational Linguistics 40(3), 2014.

use super::ahead::Histories;
use super::network::Network;
use super::pointed;
use super::queue::Queue;
use crate::error::{Error, Result};
use crate::fst::flat::{Label, NO_STATE, StateId};
use crate::fst::statetable::StateTable;
use crate::lm::apply::scorer::Scorer;

#[derive(Clone, Copy, Debug)]
pub struct AgendaConfig {
    /// How much worse than the best a path may be.
    pub beam: f64,
    /// No path that costs more than this is wanted, whatever the best one costs. The number of items grows exponentially on
    /// the way there: a search that will not come so far with the items it may have is ended early.
    pub bound: f64,
    /// One best path is enough: others to the same item are forgotten.
    pub best_only: bool,
    /// Stop with an error at so much memory.
    pub max_bytes: usize,
    /// Stop with an error at so many items.
    pub max_items: usize,
}

/// A step from one item to another of the same instance: a word, or a call that was left by an exit.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    pub label: Label,
    /// The item of the exit; `NO_CALL`: a word, an epsilon or an end.
    pub exit: u32,
    pub network: f32,
    pub models: f64,
}

pub const NO_CALL: u32 = u32::MAX;
/// Among states: where an instance is left.
pub const EXIT: StateId = NO_STATE;
/// Sums in another order may differ by so much.
const TINY: f64 = 1e-7;
/// Nothing follows in a list.
const NO_MORE: u32 = u32::MAX;
/// Numbers of the queue from here up are calls.
const CALL: u32 = 1 << 31;

#[inline(always)]
fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

/// An instance and the two lists that it has: calls of it, and exits that were taken.
#[derive(Clone, Copy)]
struct Instance {
    outside: f64,
    calls: u32,
    exits: u32,
}

/// A call: the item and the arc.
#[derive(Clone, Copy)]
struct Call {
    from: u32,
    arc: u32,
    /// The next call of the same instance.
    next: u32,
}

#[derive(Clone, Copy)]
struct Item {
    cost: f64,
    ahead: f64,
    class: u32,
    done: bool,
}

pub struct Agenda {
    /// (cell, models' state).
    instances: StateTable,
    /// (instance, state of the network).
    places: StateTable,
    /// (place, models' state).
    numbers: StateTable,
    items: Vec<Item>,
    edges: Vec<Edge>,
    state: Vec<Instance>,
    calls: Vec<Call>,
    /// (item, next exit of the same instance).
    exits: Vec<(u32, u32)>,
    queue: Queue,
    limit: f64,
    beam: f64,
    best_only: bool,
}

impl Agenda {
    pub fn num_items(&self) -> usize {
        self.items.len()
    }
    pub fn num_instances(&self) -> usize {
        self.state.len()
    }
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
    /// Instance and state of the network.
    #[inline]
    pub fn place(&self, item: u32) -> (u32, StateId) {
        let place = self.places.key((self.numbers.key(item) >> 32) as u32);
        ((place >> 32) as u32, place as u32)
    }
    pub fn cell(&self, instance: u32) -> usize {
        (self.instances.key(instance) >> 32) as usize
    }
    /// The least cost inside the instance, if the item was taken.
    pub fn cost(&self, item: u32) -> Option<f64> {
        Some(self.items[item as usize]).filter(|i| i.done).map(|i| i.cost)
    }

    fn bytes(&self) -> usize {
        self.instances.bytes()
            + self.places.bytes()
            + self.numbers.bytes()
            + self.items.capacity() * size_of::<Item>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.state.capacity() * size_of::<Instance>()
            + self.calls.capacity() * size_of::<Call>()
            + self.exits.capacity() * 8
            + self.queue.bytes()
    }

    /// A way to an item; the item is new, got better, or neither.
    #[inline]
    fn reach<H: Histories>(
        &mut self,
        net: &mut Network<H>,
        instance: u32,
        state: StateId,
        models: u32,
        class: u32,
        edge: Edge,
        cost: f64,
    ) {
        let place = self.places.number(pair(instance, state));
        let to = self.numbers.number(pair(place, models));
        if to as usize == self.items.len() {
            let ahead = if state == EXIT { 0.0 } else { net.ahead(instance == 0, state, class) };
            self.items.push(Item { cost: f64::INFINITY, ahead, class, done: false });
        }
        let item = &mut self.items[to as usize];
        let f = self.state[instance as usize].outside + cost + item.ahead;
        if f > self.limit + TINY {
            return;
        }
        let better = cost < item.cost;
        if better {
            item.cost = cost;
            if !item.done {
                self.queue.push(f, to);
            }
            if state == EXIT && instance == 0 {
                self.limit = self.limit.min(cost + self.beam);
            }
        }
        if edge.from != NO_CALL && (better || !self.best_only) {
            self.edges.push(Edge { to, ..edge });
        }
    }

    /// A call comes back by an exit.
    #[inline]
    fn come_back<H: Histories>(&mut self, net: &mut Network<H>, call: Call, exit: u32) {
        let (instance, _) = self.place(call.from);
        let arc = net.arc(call.arc as usize);
        let left = self.items[exit as usize];
        let models = self.numbers.key(exit) as u32;
        let edge = Edge { from: call.from, to: 0, label: arc.label, exit, network: arc.weight, models: 0.0 };
        let cost = self.items[call.from as usize].cost + arc.weight as f64 + left.cost;
        self.reach(net, instance, arc.next, models, left.class, edge, cost);
    }
}

fn too_large(config: &AgendaConfig) -> Error {
    Error::limit(
        "search",
        format!("{} MB", config.max_bytes >> 20),
        "the network with the models is larger; give a smaller beam or more memory",
    )
}

/// Items after which a search is first asked how far it has come.
const FIRST_LOOK: usize = 4096;

/// Searches the network from its root; `None`: there is no way to the end.
pub fn search<H: Histories, S: Scorer>(
    net: &mut Network<H>,
    root: usize,
    scorer: &mut S,
    config: &AgendaConfig,
) -> Result<Option<Agenda>> {
    let mut agenda = Agenda {
        instances: StateTable::default(),
        places: StateTable::default(),
        numbers: StateTable::default(),
        items: vec![],
        edges: vec![],
        state: vec![],
        calls: vec![],
        exits: vec![],
        queue: Queue::default(),
        limit: config.bound,
        beam: config.beam,
        best_only: config.best_only,
    };
    if net.start(root) == NO_STATE {
        return Ok(None);
    }
    const NOWHERE: Edge = Edge { from: NO_CALL, to: 0, label: 0, exit: NO_CALL, network: 0.0, models: 0.0 };
    let models = scorer.start();
    agenda.instances.number(pair(root as u32, models));
    agenda.state.push(Instance { outside: 0.0, calls: NO_MORE, exits: NO_MORE });
    let class = net.words.start();
    agenda.reach(net, 0, net.start(root), models, class, NOWHERE, 0.0);
    let mut taken = 0usize;
    let mut last = (FIRST_LOOK / 2, f64::NEG_INFINITY);
    while let Some((f, number)) = agenda.queue.pop() {
        if f > agenda.limit + TINY {
            break;
        }
        taken += 1;
        if taken % 1024 == 0 && (agenda.bytes() > config.max_bytes || agenda.items.len() > config.max_items) {
            return Err(too_large(config));
        }
        // Where a bound is known: as many items as there were doublings of them on the way to it.
        if agenda.items.len() >= 2 * last.0 && config.bound.is_finite() {
            let more = (config.bound - config.beam - f) / (f - last.1).max(1e-9);
            let hopeless =
                last.1.is_finite() && agenda.items.len() as f64 * more.exp2() > 2.0 * config.max_items as f64;
            if hopeless {
                return Err(too_large(config));
            }
            last = (agenda.items.len(), f);
        }
        if number >= CALL {
            let at = number - CALL;
            let call = agenda.calls[at as usize];
            let arc = net.arc(call.arc as usize);
            let Some(cell) = pointed(arc.label) else { continue };
            let models = agenda.numbers.key(call.from) as u32;
            let instance = agenda.instances.number(pair(cell as u32, models));
            if instance as usize == agenda.state.len() {
                let (caller, _) = agenda.place(call.from);
                let item = agenda.items[call.from as usize];
                let outside = agenda.state[caller as usize].outside + item.cost + arc.rest;
                agenda.state.push(Instance { outside, calls: NO_MORE, exits: NO_MORE });
                agenda.reach(net, instance, net.start(cell), models, item.class, NOWHERE, 0.0);
            }
            let state = &mut agenda.state[instance as usize];
            agenda.calls[at as usize].next = std::mem::replace(&mut state.calls, at);
            let mut exit = state.exits;
            while exit != NO_MORE {
                let (item, next) = agenda.exits[exit as usize];
                agenda.come_back(net, call, item);
                exit = next;
            }
            continue;
        }
        let item = agenda.items[number as usize];
        if std::mem::replace(&mut agenda.items[number as usize].done, true) {
            continue;
        }
        let (instance, state) = agenda.place(number);
        if state == EXIT {
            let of = &mut agenda.state[instance as usize];
            let at = agenda.exits.len() as u32;
            agenda.exits.push((number, std::mem::replace(&mut of.exits, at)));
            let mut call = of.calls;
            while call != NO_MORE {
                let now = agenda.calls[call as usize];
                agenda.come_back(net, now, number);
                call = now.next;
            }
            continue;
        }
        let models = agenda.numbers.key(number) as u32;
        let end = net.end(state);
        let mut edge = Edge { from: number, ..NOWHERE };
        if end < f32::INFINITY {
            edge.network = end;
            edge.models = if instance == 0 { scorer.end(models) } else { 0.0 };
            let cost = item.cost + end as f64 + edge.models;
            agenda.reach(net, instance, EXIT, models, item.class, edge, cost);
        }
        let before = agenda.state[instance as usize].outside + item.cost;
        for i in net.range(state) {
            let a = net.arc(i);
            edge = Edge { label: a.label, network: a.weight, ..Edge { from: number, ..NOWHERE } };
            match pointed(a.label) {
                Some(cell) => {
                    let f = before + a.rest + net.least(cell, item.class);
                    if f <= agenda.limit + TINY && net.start(cell) != NO_STATE {
                        let at = agenda.calls.len() as u32;
                        agenda.calls.push(Call { from: number, arc: i as u32, next: NO_MORE });
                        agenda.queue.push(f, CALL + at);
                    }
                }
                None if a.label == 0 => {
                    agenda.reach(net, instance, a.next, models, item.class, edge, item.cost + a.weight as f64);
                }
                None => {
                    // What cannot be in the beam need not be asked for.
                    if before + a.rest + net.charge(&a, item.class) > agenda.limit + TINY
                        && !net.words.is_silent(a.word)
                    {
                        continue;
                    }
                    let (to, charged) = scorer.step(models, a.label as u32);
                    // Nor need it be numbered.
                    if before + a.rest + charged > agenda.limit + TINY && !net.words.is_silent(a.word) {
                        continue;
                    }
                    edge.models = charged;
                    let class = net.words.after(item.class, a.word);
                    let cost = item.cost + a.weight as f64 + charged;
                    agenda.reach(net, instance, a.next, to, class, edge, cost);
                }
            }
        }
    }
    Ok(Some(agenda).filter(|a| a.state[0].exits != NO_MORE))
}
