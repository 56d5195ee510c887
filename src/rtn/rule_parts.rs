//! The parts of a rule lattice, cells between two states of a lattice, and the network that they make.
//!
//! A part has a path for each way to read it: the arc of its rule, with its cost and with the first word if the target
//! begins with one, then words and pointers to other parts. Ways of a part that end alike share what they end with, so that
//! a pointer there is expanded once. Parts that begin the sentence with a cell of the spine (see `build`) are states of the
//! root. O(symbols of the ways).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{POINTER, pointed};
use crate::fst::flat::{Arc, EPSILON, FlatFst, Label, ScatterBuilder, StateId};
use crate::fst::semiring::{Tropical, Weight};

/// A state that was reached, and the words and pointers on the way there.
pub type Read = (StateId, Vec<Label>);

/// A way to read words with a cell: a rule, or a word that is passed through.
pub struct Way {
    label: Label,
    cost: f32,
    /// Words and pointers to parts in `Found::symbols`.
    symbols: (u32, u32),
}

/// A cell between two states of the lattice; the first is the same for all that one walk finds.
pub struct Part {
    cell: u32,
    pub end: StateId,
    ways: (u32, u32),
}

/// All parts and their ways, in flat arrays.
#[derive(Default)]
pub struct Found {
    pub parts: Vec<Part>,
    pub ways: Vec<Way>,
    symbols: Vec<Label>,
}

impl Found {
    /// The parts of a cell from one state, by the ways to read it from there: what was read, label and cost of the rule.
    /// What ends in one state is one part; its ways stay in order.
    pub fn add(&mut self, cell: u32, mut ways: Vec<(Read, Label, f32)>) -> (u32, u32) {
        ways.sort_by_key(|((end, _), ..)| *end);
        let from = self.parts.len();
        for ((end, symbols), label, cost) in ways {
            let way = self.ways.len() as u32;
            let begin = self.symbols.len() as u32;
            self.symbols.extend(symbols);
            self.ways.push(Way { label, cost, symbols: (begin, self.symbols.len() as u32) });
            match self.parts[from..].last_mut() {
                Some(part) if part.end == end => part.ways.1 = way + 1,
                _ => self.parts.push(Part { cell, end, ways: (way, way + 1) }),
            }
        }
        (from as u32, self.parts.len() as u32)
    }

    pub fn root(&self) -> Label {
        POINTER + self.parts.len() as Label
    }

    /// The parts that derivations of the whole sentence are made of, by their labels; the root is the spine.
    pub fn network(&self, goals: &[u32], spine: &[bool]) -> Vec<(Label, FlatFst<Tropical>)> {
        let mut network = vec![(self.root(), self.spine(goals, spine))];
        let mut called = vec![false; self.parts.len()];
        let mut next = 0;
        while next < network.len() {
            let mut calls: Vec<usize> = network[next].1.all_arcs().iter().filter_map(|a| pointed(a.olabel)).collect();
            calls.retain(|&p| !std::mem::replace(&mut called[p], true));
            network.extend(calls.into_iter().map(|p| (POINTER + p as Label, self.part(p))));
            next += 1;
        }
        network
    }

    fn ways(&self, part: usize) -> impl Iterator<Item = (&Way, &[Label])> {
        let (from, to) = self.parts[part].ways;
        let symbols = |w: &Way| &self.symbols[w.symbols.0 as usize..w.symbols.1 as usize];
        self.ways[from as usize..to as usize].iter().map(move |w| (w, symbols(w)))
    }

    fn part(&self, part: usize) -> FlatFst<Tropical> {
        let mut paths = Paths::default();
        let (start, end) = (paths.out.add_state(), paths.out.add_state());
        for (way, symbols) in self.ways(part) {
            paths.add(start, way, symbols, end);
        }
        paths.out.set_start(start);
        paths.out.set_final(end, Tropical::ONE);
        paths.out.finish()
    }

    /// A state for every part that begins the sentence with a cell of the spine.
    fn spine(&self, goals: &[u32], spine: &[bool]) -> FlatFst<Tropical> {
        let mut paths = Paths::default();
        let start = paths.out.add_state();
        paths.out.set_start(start);
        let mut ends: HashMap<usize, StateId, FxBuildHasher> = HashMap::default();
        let mut open = vec![];
        for &goal in goals {
            let end = paths.out.add_state();
            paths.out.set_final(end, Tropical::ONE);
            ends.insert(goal as usize, end);
            open.push((goal as usize, end));
        }
        while let Some((part, end)) = open.pop() {
            for (way, symbols) in self.ways(part) {
                let before = symbols.first().and_then(|&s| pointed(s));
                match before.filter(|&p| spine[self.parts[p].cell as usize]) {
                    None => paths.add(start, way, symbols, end),
                    Some(before) => {
                        let from = *ends.entry(before).or_insert_with(|| {
                            let from = paths.out.add_state();
                            open.push((before, from));
                            from
                        });
                        paths.add(from, way, &symbols[1..], end);
                    }
                }
            }
        }
        paths.out.finish()
    }
}

/// Ways as paths; what they end with is shared.
#[derive(Default)]
struct Paths<'a> {
    out: ScatterBuilder<Tropical>,
    /// By symbols and the state after them: the state before.
    ends: HashMap<(&'a [Label], StateId), StateId, FxBuildHasher>,
}

impl<'a> Paths<'a> {
    /// The rule's arc has the first word, too, if the target begins with one.
    fn add(&mut self, from: StateId, way: &Way, symbols: &'a [Label], to: StateId) {
        let (word, rest) = match symbols.split_first() {
            Some((&word, rest)) if pointed(word).is_none() => (word, rest),
            _ => (EPSILON, symbols),
        };
        let next = self.before(rest, to);
        self.out.add_arc(from, Arc::new(way.label, word, Tropical(way.cost), next));
    }

    fn before(&mut self, symbols: &'a [Label], to: StateId) -> StateId {
        let Some((&first, rest)) = symbols.split_first() else { return to };
        if let Some(&s) = self.ends.get(&(symbols, to)) {
            return s;
        }
        let next = self.before(rest, to);
        let s = self.out.add_state();
        self.out.add_arc(s, Arc::new(EPSILON, first, Tropical::ONE, next));
        self.ends.insert((symbols, to), s);
        s
    }
}
