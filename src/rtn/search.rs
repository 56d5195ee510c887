//! A network composed with language models on the fly: only what a beam needs is ever expanded.
//!
//! A state is (stack of returns, state of the network, models' state); stacks are interned. States are expanded in order
//! of g + h, g the best cost found from the start and h the network's look-ahead of the state and of every return on its
//! stack, after the last word. The search stops when g + h leaves the beam around the first end. If the look-ahead never says too much, all
//! paths in the beam are found (A*, Hart et al. 1968); a sharper look-ahead that is only nearly right finds nearly all of
//! them with a fraction of the states, which is what local pruning wants. What is left is then pruned exactly, in f64.

use super::ahead::Histories;
use super::network::Network;
use super::pointed;
use super::queue::Queue;
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::statetable::StateTable;
use crate::fst::visit;
use crate::lm::apply::scorer::Scorer;

#[derive(Clone, Copy, Debug)]
pub struct SearchConfig {
    /// How much worse than the best a path may be.
    pub beam: f64,
    /// No path that costs more than this is wanted, whatever the best one costs.
    pub bound: f64,
    /// Stop with an error at so many bytes.
    pub max_bytes: usize,
    /// Stop with an error at this many states.
    pub max_states: usize,
    /// Instead of an error: the search ends there, and what it found counts.
    pub cut: bool,
}

/// What a search found.
#[derive(Default)]
pub struct Found {
    /// Costs of the network alone; epsilons where cells begin and end.
    pub network: FlatFst<Tropical>,
    /// The same states and arcs with the models' costs added.
    pub whole: FlatFst<Tropical>,
    /// The search ended before its time: paths in the beam may be missing.
    pub cut: bool,
}

#[derive(Clone, Copy)]
struct Step {
    label: i32,
    network: f64,
    models: f64,
    next: u32,
}

/// Where the states are: the stack and the state of the network, then the models' state.
struct States {
    stacks: StateTable,
    /// Of each stack: the least cost from its returns to the end.
    stack_ahead: Vec<f64>,
    places: StateTable,
    states: StateTable,
}

/// Sums in another order may differ by so much.
const TINY: f64 = 1e-6;

#[inline(always)]
fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

impl States {
    fn new() -> Self {
        let mut stacks = StateTable::default();
        stacks.number(u64::MAX);
        States { stacks, stack_ahead: vec![0.0], places: StateTable::default(), states: StateTable::default() }
    }
    fn bytes(&self) -> usize {
        self.stacks.bytes() + self.places.bytes() + self.states.bytes() + 8 * self.stack_ahead.capacity()
    }
    #[inline]
    fn push<H: Histories>(&mut self, stack: u32, back: StateId, net: &Network<H>) -> u32 {
        let number = self.stacks.number(pair(stack, back));
        if number as usize == self.stack_ahead.len() {
            self.stack_ahead.push(self.stack_ahead[stack as usize] + net.back(back));
        }
        number
    }
    #[inline]
    fn number(&mut self, stack: u32, state: StateId, models: u32) -> u32 {
        let place = self.places.number(pair(stack, state));
        self.states.number(pair(place, models))
    }
    /// Stack, state of the network, models' state.
    #[inline]
    fn get(&self, number: u32) -> (u32, StateId, u32) {
        let key = self.states.key(number);
        let place = self.places.key((key >> 32) as u32);
        ((place >> 32) as u32, place as u32, key as u32)
    }
}

pub fn best_first<H: Histories, S: Scorer>(
    net: &mut Network<H>,
    root: usize,
    scorer: &mut S,
    config: &SearchConfig,
) -> Result<Found> {
    let start_state = net.start(root);
    if start_state == NO_STATE {
        return Ok(Found::default());
    }
    let ends_here = net.root() == Some(root);
    let first_class = net.words.start();
    let mut states = States::new();
    let models = scorer.start();
    let first = states.number(0, start_state, models);
    let mut cost = vec![0.0f64];
    let mut classes = vec![first_class];
    let mut done = vec![false];
    let mut queue = Queue::default();
    queue.push(net.ahead(ends_here, start_state, first_class), first);
    let mut limit = config.bound;
    let (mut ended, mut cut) = (false, false);
    let mut rows: Vec<u32> = vec![];
    let mut ends: Vec<(f64, f64)> = vec![];
    let mut offsets = vec![0usize];
    let mut steps: Vec<Step> = vec![];
    while let Some((f, number)) = queue.pop() {
        if f > limit {
            break;
        }
        if std::mem::replace(&mut done[number as usize], true) {
            continue;
        }
        let bytes = || states.bytes() + 17 * cost.capacity() + queue.bytes() + 32 * steps.capacity();
        if states.states.len() > config.max_states || (rows.len() % 256 == 0 && bytes() > config.max_bytes) {
            if config.cut && ended {
                cut = true;
                break;
            }
            // Without an end yet there is nothing to give back; go on a while, towards the first.
            if !config.cut || states.states.len() / 16 > config.max_states || bytes() / 16 > config.max_bytes {
                return Err(Error::limit(
                    "search",
                    format!("{} states", states.states.len()),
                    "the network with the models is larger; give a smaller beam or more memory",
                ));
            }
        }
        let (stack, state, models) = states.get(number);
        let g = cost[number as usize];
        rows.push(number);
        let from = steps.len();
        let end = net.end(state);
        let mut ending = (f64::INFINITY, 0.0);
        if end < f32::INFINITY {
            if stack == 0 {
                ending = (end as f64, scorer.end(models));
                limit = limit.min(g + ending.0 + ending.1 + config.beam);
                ended = true;
            } else {
                let back = states.stacks.key(stack);
                let next = states.number((back >> 32) as u32, back as u32, models);
                if next as usize == classes.len() {
                    classes.push(classes[number as usize]);
                }
                steps.push(Step { label: 0, network: end as f64, models: 0.0, next });
            }
        }
        let above = states.stack_ahead[stack as usize];
        let class = classes[number as usize];
        for i in net.range(state) {
            let a = net.arc(i);
            let (next, charged, label, after) = match pointed(a.label) {
                Some(cell) => {
                    let begin = net.start(cell);
                    // What cannot be in the beam need not be asked for; a sum may be off by a bit.
                    let hope = g + a.rest + net.least(cell, class) + above;
                    if begin == NO_STATE || hope > limit + TINY {
                        continue;
                    }
                    let deeper = states.push(stack, a.next, net);
                    (states.number(deeper, begin, models), 0.0, 0, class)
                }
                None if a.label == 0 => (states.number(stack, a.next, models), 0.0, 0, class),
                None => {
                    let hope = g + a.rest + net.charge(&a, class) + above;
                    if hope > limit + TINY && !net.words.is_silent(a.word) {
                        continue;
                    }
                    let (to, charged) = scorer.step(models, a.label as u32);
                    // Nor need it be numbered.
                    if g + a.rest + charged + above > limit + TINY && !net.words.is_silent(a.word) {
                        continue;
                    }
                    (states.number(stack, a.next, to), charged, a.label, net.words.after(class, a.word))
                }
            };
            if next as usize >= classes.len() {
                classes.resize(next as usize + 1, after);
            }
            steps.push(Step { label, network: a.weight as f64, models: charged, next });
        }
        ends.push(ending);
        offsets.push(steps.len());
        cost.resize(states.states.len(), f64::INFINITY);
        done.resize(states.states.len(), false);
        for step in &steps[from..] {
            let via = g + step.network + step.models;
            if via < cost[step.next as usize] {
                cost[step.next as usize] = via;
                let (stack, state, _) = states.get(step.next);
                let ahead = net.ahead(ends_here && stack == 0, state, classes[step.next as usize]);
                let f = via + ahead + states.stack_ahead[stack as usize];
                if f <= limit && !done[step.next as usize] {
                    queue.push(f, step.next);
                }
            }
        }
    }
    let found = prune(&rows, &offsets, &steps, &ends, states.states.len(), config.beam);
    Ok(Found { cut, ..found })
}

/// The expanded states and arcs that a path in the beam uses.
fn prune(rows: &[u32], offsets: &[usize], steps: &[Step], ends: &[(f64, f64)], states: usize, beam: f64) -> Found {
    let mut row_of = vec![NO_STATE; states];
    for (row, &number) in rows.iter().enumerate() {
        row_of[number as usize] = row as u32;
    }
    // A topological order of the expanded states, through an automaton without weights.
    let mut arcs: Vec<Arc<Tropical>> = Vec::with_capacity(steps.len());
    let mut origin: Vec<u32> = Vec::with_capacity(steps.len());
    let mut starts: Vec<u32> = vec![0];
    for row in 0..rows.len() {
        for i in offsets[row]..offsets[row + 1] {
            let to = row_of[steps[i].next as usize];
            if to != NO_STATE {
                arcs.push(Arc::new(steps[i].label, steps[i].label, Tropical::ONE, to));
                origin.push(i as u32);
            }
        }
        starts.push(arcs.len() as u32);
    }
    let shape = FlatFst::from_parts(0, starts, vec![Tropical::ZERO; rows.len()], arcs);
    let order = visit::topological_order(&shape).unwrap_or_default();
    let total = |i: usize| steps[origin[i] as usize].network + steps[origin[i] as usize].models;
    let mut forward = vec![f64::INFINITY; rows.len()];
    forward[0] = 0.0;
    for &s in &order {
        for i in shape.range(s) {
            let to = shape.all_arcs()[i].nextstate as usize;
            forward[to] = forward[to].min(forward[s as usize] + total(i));
        }
    }
    let mut backward: Vec<f64> = ends.iter().map(|e| e.0 + e.1).collect();
    for &s in order.iter().rev() {
        for i in shape.range(s) {
            let via = total(i) + backward[shape.all_arcs()[i].nextstate as usize];
            backward[s as usize] = backward[s as usize].min(via);
        }
    }
    // Two ways to the same sum may differ in its last bits.
    let limit = backward[0] + beam + 1e-9 * (1.0 + backward[0].abs() + beam.min(1e9));
    let mut place = vec![NO_STATE; rows.len()];
    let mut kept = 0;
    for &s in &order {
        if forward[s as usize] + backward[s as usize] <= limit && backward[s as usize].is_finite() {
            place[s as usize] = kept;
            kept += 1;
        }
    }
    if kept == 0 {
        return Found::default();
    }
    let mut network = crate::fst::flat::Builder::with_capacity(kept as usize, 0);
    let mut whole = crate::fst::flat::Builder::with_capacity(kept as usize, 0);
    for &s in order.iter().filter(|&&s| place[s as usize] != NO_STATE) {
        let (own, models) = ends[s as usize];
        let ends_here = forward[s as usize] + own + models <= limit && own.is_finite();
        let finals = if ends_here { (own as f32, (own + models) as f32) } else { (f32::INFINITY, f32::INFINITY) };
        network.add_state(Tropical(finals.0));
        whole.add_state(Tropical(finals.1));
        for i in shape.range(s) {
            let a = &shape.all_arcs()[i];
            let to = a.nextstate as usize;
            if place[to] != NO_STATE && forward[s as usize] + total(i) + backward[to] <= limit {
                let arc = |w: f64| Arc::new(a.ilabel, a.olabel, Tropical(w as f32), place[to]);
                network.push_arc(arc(steps[origin[i] as usize].network));
                whole.push_arc(arc(total(i)));
            }
        }
    }
    network.set_start(place[0]);
    whole.set_start(place[0]);
    Found { network: network.finish(), whole: whole.finish(), cut: false }
}
