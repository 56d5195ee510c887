//! Transducers for minimization: outputs pushed to the front as strings beside the weights, and written out again.
//!
//! Strings are lists with shared tails, each kept once: equal strings have equal numbers, and a label in front of a string
//! costs nothing, so that a long chain does not cost the square of its length.

use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{OP, merge};
use crate::error::{Error, Result};
use crate::fst::encode::EncodeTable;
use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_LABEL, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::Weight;
use crate::fst::shortestdistance::{DistanceConfig, shortest_distance};
use crate::fst::symbols::SymbolTable;
use crate::fst::visit;

/// Number of a string; 0 is the empty one.
type Str = u32;
/// No string yet: what the longest common prefix of no strings is.
const INFINITE: Str = u32::MAX;

#[derive(Default)]
struct Lists {
    /// First label and the rest of string i + 1.
    cells: Vec<(Label, Str)>,
    lengths: Vec<u32>,
    known: HashMap<(Label, Str), Str, FxBuildHasher>,
    scratch: Vec<Label>,
}

impl Lists {
    fn cons(&mut self, label: Label, rest: Str) -> Str {
        if label == EPSILON {
            return rest;
        }
        *self.known.entry((label, rest)).or_insert_with(|| {
            self.cells.push((label, rest));
            let length = if rest == 0 { 1 } else { self.lengths[rest as usize - 1] + 1 };
            self.lengths.push(length);
            self.cells.len() as Str
        })
    }
    /// First label and rest.
    fn cut(&self, s: Str) -> Option<(Label, Str)> {
        (s != 0).then(|| self.cells[s as usize - 1])
    }
    fn len(&self, s: Str) -> u32 {
        if s == 0 { 0 } else { self.lengths[s as usize - 1] }
    }
    fn build(&mut self, rest: Str) -> Str {
        let mut s = rest;
        while let Some(label) = self.scratch.pop() {
            s = self.cons(label, s);
        }
        s
    }
    /// The longest common prefix.
    fn common(&mut self, a: Str, b: Str) -> Str {
        if a == b || b == INFINITE {
            return a;
        }
        if a == INFINITE {
            return b;
        }
        let (mut x, mut y) = (a, b);
        while let (Some((l, p)), Some((m, q))) = (self.cut(x), self.cut(y)) {
            if l != m {
                break;
            }
            self.scratch.push(l);
            (x, y) = (p, q);
        }
        if x == 0 {
            self.scratch.clear();
            return a;
        }
        if y == 0 {
            self.scratch.clear();
            return b;
        }
        self.build(0)
    }
    fn concat(&mut self, a: Str, b: Str) -> Str {
        if b == 0 {
            return a;
        }
        let mut x = a;
        while let Some((l, rest)) = self.cut(x) {
            self.scratch.push(l);
            x = rest;
        }
        self.build(b)
    }
    /// `s` without its prefix `prefix`.
    fn without(&self, s: Str, prefix: Str) -> Str {
        if s == prefix {
            return 0;
        }
        let mut s = s;
        for _ in 0..self.len(prefix) {
            s = self.cut(s).map_or(0, |c| c.1);
        }
        s
    }
}

/// A transducer with a string on every arc (its number in the place of the output label) and at every final state.
pub struct Gallic<W> {
    fst: FlatFst<W>,
    ends: Vec<Str>,
    lists: Lists,
}

/// Pushes, rounds, encodes, merges states and decodes.
pub fn minimize<W: Weight>(fst: FlatFst<W>, delta: f32) -> Result<Gallic<W>> {
    let mut gallic = push(fst, delta)?;
    for a in gallic.fst.all_arcs_mut() {
        a.weight = a.weight.quantized(delta);
    }
    for w in gallic.fst.finals_mut() {
        *w = w.quantized(delta);
    }
    let Gallic { fst, ends, lists } = gallic;
    if lists.cells.len() > Label::MAX as usize {
        return Err(Error::limit(OP, "2^31 strings", "the outputs of the transducer are too many"));
    }
    if fst.start() == NO_STATE {
        return Ok(Gallic { fst: FlatFst::empty(), ends: vec![], lists });
    }
    let mut table = EncodeTable::new(true, true);
    let superfinal = fst.num_states() as StateId;
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + fst.num_states());
    for s in fst.states() {
        b.add_state(W::ZERO);
        for a in fst.arcs(s) {
            let code = table.code(a.ilabel, a.olabel, a.weight);
            b.push_arc(Arc::new(code, code, W::ONE, a.nextstate));
        }
        if fst.is_final(s) {
            let code = table.code(NO_LABEL, ends[s as usize] as Label, fst.final_weight(s));
            b.push_arc(Arc::new(code, code, W::ONE, superfinal));
        }
    }
    b.add_state(W::ONE);
    b.set_start(fst.start());
    drop(fst);
    let coded = merge(b.finish());
    // Back: the final state is the one that only final weights lead to, and goes.
    let n = coded.num_states();
    let mut ends = vec![0; n];
    let mut b = Builder::with_capacity(n, coded.num_arcs());
    let mut last = NO_STATE;
    for s in coded.states() {
        b.add_state(W::ZERO);
        for a in coded.arcs(s) {
            let Some(&(ilabel, string, weight)) = table.get(a.ilabel) else { continue };
            if ilabel == NO_LABEL {
                b.set_final(s, weight);
                ends[s as usize] = string as Str;
                last = a.nextstate;
            } else {
                b.push_arc(Arc::new(ilabel, string, weight, a.nextstate));
            }
        }
    }
    b.set_start(coded.start());
    let keep: Vec<bool> = (0..n as StateId).map(|s| s != last).collect();
    let mut at = 0;
    ends.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    Ok(Gallic { fst: crate::fst::connect::keep_states(b.finish(), &keep), ends, lists })
}

/// The longest common prefix of all outputs from each state; `INFINITE` where there is none.
fn prefixes<W: Weight>(fst: &FlatFst<W>, lists: &mut Lists) -> Vec<Str> {
    let mut d: Vec<Str> = vec![INFINITE; fst.num_states()];
    let of_state = |s: StateId, d: &[Str], lists: &mut Lists| {
        let mut sum = if fst.is_final(s) { 0 } else { INFINITE };
        for a in fst.arcs(s) {
            let next = d[a.nextstate as usize];
            if next != INFINITE && sum != 0 && !a.weight.is_zero_w() {
                let with = lists.cons(a.olabel, next);
                sum = lists.common(sum, with);
            }
        }
        sum
    };
    if let Some(order) = visit::topological_order(fst) {
        for &s in order.iter().rev() {
            d[s as usize] = of_state(s, &d, lists);
        }
        return d;
    }
    // Component by component from the end; inside one, until nothing gets shorter.
    let components = visit::components(fst, |_| true);
    let incoming = visit::Incoming::new(fst);
    let mut states: Vec<StateId> = fst.states().collect();
    states.sort_by_key(|&s| std::cmp::Reverse(components.of[s as usize]));
    let mut queued = vec![false; fst.num_states()];
    let mut queue = std::collections::VecDeque::new();
    for group in states.chunk_by(|&a, &b| components.of[a as usize] == components.of[b as usize]) {
        for &s in group {
            queue.push_back(s);
            queued[s as usize] = true;
        }
        while let Some(s) = queue.pop_front() {
            queued[s as usize] = false;
            let new = of_state(s, &d, lists);
            if new == d[s as usize] {
                continue;
            }
            d[s as usize] = new;
            for &i in incoming.of(s) {
                let p = incoming.sources[i as usize];
                if components.of[p as usize] == components.of[s as usize]
                    && !std::mem::replace(&mut queued[p as usize], true)
                {
                    queue.push_back(p);
                }
            }
        }
    }
    d
}

/// Moves weights and outputs towards the start.
fn push<W: Weight>(mut fst: FlatFst<W>, delta: f32) -> Result<Gallic<W>> {
    let mut lists = Lists::default();
    let distance = shortest_distance(&fst, &DistanceConfig { reverse: true, delta, ..Default::default() })?;
    let prefix = prefixes(&fst, &mut lists);
    let mut ends = vec![0; fst.num_states()];
    for s in fst.states() {
        let (d, p) = (distance[s as usize], prefix[s as usize]);
        let there = p != INFINITE;
        for a in fst.arcs_mut(s) {
            let (e, q) = (distance[a.nextstate as usize], prefix[a.nextstate as usize]);
            let string = lists.cons(a.olabel, if there && q != INFINITE { q } else { 0 });
            a.olabel = string as Label;
            if there && q != INFINITE {
                a.olabel = lists.without(string, p) as Label;
                a.weight = a.weight.otimes(e).odivide(d);
            }
        }
        if there {
            // At a final state the common prefix is empty.
            let w = &mut fst.finals_mut()[s as usize];
            *w = w.odivide(d);
        }
    }
    let start = fst.start();
    if start == NO_STATE || prefix[start as usize] == INFINITE {
        return Ok(Gallic { fst, ends, lists });
    }
    let (d, p) = (distance[start as usize], prefix[start as usize]);
    if p == 0 && d.is_one_w() {
        return Ok(Gallic { fst, ends, lists });
    }
    if visit::start_on_cycle(&fst) {
        let (_, mut offsets, mut finals, mut arcs) = fst.into_parts();
        finals.push(W::ZERO);
        ends.push(0);
        arcs.push(Arc::new(EPSILON, p as Label, d, start));
        offsets.push(arcs.len() as u32);
        let fst = FlatFst::from_parts(finals.len() as StateId - 1, offsets, finals, arcs);
        return Ok(Gallic { fst, ends, lists });
    }
    for a in fst.arcs_mut(start) {
        a.weight = d.otimes(a.weight);
        a.olabel = lists.concat(p, a.olabel as Str) as Label;
    }
    let w = &mut fst.finals_mut()[start as usize];
    *w = d.otimes(*w);
    ends[start as usize] = p;
    Ok(Gallic { fst, ends, lists })
}

impl<W: Weight> Gallic<W> {
    /// One label an arc: what a string has more is carried on to the next arcs, or written by arcs of its own at the end.
    pub fn factored(mut self) -> Result<FlatFst<W>> {
        let mut b = Builder::default();
        if self.fst.start() == NO_STATE {
            return Ok(b.finish());
        }
        // State (or none, after the end) and the string that is still to be written.
        let mut nodes: Vec<(StateId, Str)> = vec![(self.fst.start(), 0)];
        let mut known: HashMap<(StateId, Str), StateId, FxBuildHasher> = HashMap::default();
        known.insert(nodes[0], 0);
        let mut find = |node: (StateId, Str), nodes: &mut Vec<(StateId, Str)>| {
            *known.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() as StateId - 1
            })
        };
        // The one state that a last label leads to comes last; its number is not known until the end.
        let mut to_end: Vec<usize> = vec![];
        b.set_start(0);
        let mut i = 0;
        while i < nodes.len() {
            let (state, carried) = nodes[i];
            b.add_state(W::ZERO);
            let mut end = Some((carried, W::ONE));
            if state != NO_STATE {
                for a in self.fst.arcs(state) {
                    let string = self.lists.concat(carried, a.olabel as Str);
                    let (olabel, rest) = self.lists.cut(string).unwrap_or((EPSILON, 0));
                    let dest = find((a.nextstate, rest), &mut nodes);
                    b.push_arc(Arc::new(a.ilabel, olabel, a.weight, dest));
                }
                end = self
                    .fst
                    .is_final(state)
                    .then(|| (self.lists.concat(carried, self.ends[state as usize]), self.fst.final_weight(state)));
            }
            match end.map(|(string, weight)| (self.lists.cut(string), weight)) {
                None => {}
                Some((None, weight)) => b.set_final(i as StateId, weight),
                Some((Some((label, 0)), weight)) => {
                    to_end.push(b.num_arcs());
                    b.push_arc(Arc::new(EPSILON, label, weight, 0));
                }
                Some((Some((label, rest)), weight)) => {
                    let dest = find((NO_STATE, rest), &mut nodes);
                    b.push_arc(Arc::new(EPSILON, label, weight, dest));
                }
            }
            i += 1;
        }
        if to_end.is_empty() {
            return Ok(b.finish());
        }
        let end = b.add_state(W::ONE);
        let mut fst = b.finish();
        for i in to_end {
            fst.all_arcs_mut()[i].nextstate = end;
        }
        Ok(fst)
    }

    /// A new output label for every string, and the transducer that maps them to the strings.
    pub fn split(
        mut self,
        isyms: Option<Shared<SymbolTable>>,
        osyms: Option<Shared<SymbolTable>>,
    ) -> Result<(FlatFst<W>, FlatFst<W>)> {
        let mut second = ScatterBuilder::default();
        let home = second.add_state();
        second.set_start(home);
        second.set_final(home, W::ONE);
        let mut names = osyms.as_ref().map(|table| {
            let mut names = SymbolTable::new(format!("{}_from_gallic", table.name()));
            names.add_with_key(table.symbol(0).unwrap_or_default(), 0);
            names
        });
        let mut known: HashMap<Str, Label, FxBuildHasher> = HashMap::default();
        let lists = &self.lists;
        let mut label_of = |string: Str| {
            if string == 0 {
                return EPSILON;
            }
            let next = known.len() as Label + 1;
            *known.entry(string).or_insert_with(|| {
                let (mut from, mut input, mut left) = (home, next, string);
                let mut name = String::new();
                while let Some((label, rest)) = lists.cut(left) {
                    let to = if rest == 0 { home } else { second.add_state() };
                    second.add_arc(from, Arc::new(input, label, W::ONE, to));
                    if let Some(table) = &osyms {
                        if input == EPSILON {
                            name.push('_');
                        }
                        name.push_str(table.symbol(label as i64).unwrap_or_default());
                    }
                    (from, input, left) = (to, EPSILON, rest);
                }
                if let Some(names) = &mut names {
                    names.add_with_key(&name, next as i64);
                }
                next
            })
        };
        let n = self.fst.num_states() as StateId;
        let mut b = Builder::with_capacity(n as usize + 1, self.fst.num_arcs());
        let mut superfinal = false;
        for s in self.fst.states() {
            b.add_state(W::ZERO);
            for a in self.fst.arcs(s) {
                b.push_arc(Arc { olabel: label_of(a.olabel as Str), ..*a });
            }
            let (weight, end) = (self.fst.final_weight(s), self.ends[s as usize]);
            if self.fst.is_final(s) && end != 0 {
                superfinal = true;
                b.push_arc(Arc::new(EPSILON, label_of(end), weight, n));
            } else {
                b.set_final(s, weight);
            }
        }
        if superfinal {
            b.add_state(W::ONE);
        }
        b.set_start(self.fst.start());
        self.ends.clear();
        let names = names.map(Shared::new);
        let first = b.finish().with_symbols(isyms, names.clone());
        Ok((first, second.finish().with_symbols(names, osyms)))
    }
}
