//! The subset construction, state by state and on demand.
//!
//! Subsets lie one after the other in one array of (state, residual) pairs; a hash table finds the number of a subset.
//! The arcs of a subset are gathered in one buffer, sorted by label and destination, and cut into the new subsets, so
//! that nothing is allocated for a single state.

use hashbrown::HashTable;

use super::relation::Relation;
use super::residual::{Divisor, Residual};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// An arc of the result. `dest` is a subset.
#[derive(Clone, Copy)]
pub struct DetArc<W> {
    pub ilabel: Label,
    pub divisor: Divisor<W>,
    pub dest: u32,
}

#[derive(Clone, Copy)]
struct Entry<T> {
    /// Group (label, or number of the head's arc) and destination state.
    key: u64,
    seq: u32,
    temp: T,
}

pub struct Engine<'a, W: Weight, R: Residual<W>> {
    fst: &'a FlatFst<W>,
    pub residual: R,
    op: &'static str,
    max_states: usize,
    /// For disambiguation: which states have a common future; every subset then has a head state.
    relation: Option<&'a Relation>,
    heads: Vec<StateId>,
    elements: Vec<(StateId, R::Elem)>,
    ends: Vec<usize>,
    /// Upper half of the hash and the number of the subset.
    table: HashTable<(u32, u32)>,
    /// The subset of one state and nothing else, by state.
    singles: Vec<u32>,
    buffer: Vec<Entry<R::Temp>>,
    groups: Vec<(Label, StateId)>,
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(h: u64, x: u64) -> u64 {
    (h.rotate_left(26) ^ x).wrapping_mul(SEED)
}

#[inline(always)]
fn spread(upper: u32) -> u64 {
    (upper as u64).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(32)
}

/// Labels in the order of signed integers, in the upper half of a key.
#[inline(always)]
fn label_key(label: Label) -> u64 {
    ((label as u32 ^ 0x8000_0000) as u64) << 32
}

impl<'a, W: Weight, R: Residual<W>> Engine<'a, W, R> {
    pub fn new(fst: &'a FlatFst<W>, residual: R, op: &'static str, max_states: usize) -> Self {
        let singles = if R::PLAIN_SINGLES { vec![u32::MAX; fst.num_states()] } else { vec![] };
        Engine {
            fst,
            residual,
            op,
            max_states: if max_states == 0 { u32::MAX as usize - 1 } else { max_states },
            relation: None,
            heads: vec![],
            elements: vec![],
            ends: vec![],
            table: HashTable::new(),
            singles,
            buffer: vec![],
            groups: vec![],
        }
    }

    pub fn with_relation(mut self, relation: &'a Relation) -> Self {
        self.relation = Some(relation);
        self.singles.clear();
        self
    }

    pub fn num_subsets(&self) -> usize {
        self.ends.len()
    }
    pub fn has_heads(&self) -> bool {
        self.relation.is_some()
    }
    /// The heads of all subsets (disambiguation only, or else none).
    pub fn take_heads(&mut self) -> Vec<StateId> {
        std::mem::take(&mut self.heads)
    }
    /// The head state of a subset (disambiguation only).
    pub fn head(&self, s: u32) -> StateId {
        self.heads[s as usize]
    }
    #[inline(always)]
    pub fn subset(&self, s: u32) -> &[(StateId, R::Elem)] {
        let i = s as usize;
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.elements[from..self.ends[i]]
    }

    /// The subset of the start state, number 0; `None` if there is none.
    pub fn start(&mut self) -> Result<Option<u32>> {
        let start = self.fst.start();
        if start == NO_STATE {
            return Ok(None);
        }
        let one = self.residual.one();
        self.elements.push((start, one));
        if !self.singles.is_empty() {
            return self.find_single(start).map(Some);
        }
        let hash = self.hash_tail(0, start);
        self.find(0, start, hash).map(Some)
    }

    pub fn final_weight(&mut self, s: u32) -> Result<R::Final> {
        let mut sum = self.residual.zero_final();
        if self.relation.is_some() && !self.fst.is_final(self.heads[s as usize]) {
            return Ok(sum);
        }
        let to = self.ends[s as usize];
        let from = to - self.subset(s).len();
        for i in from..to {
            let (state, e) = self.elements[i];
            let weight = self.fst.final_weight(state);
            if !weight.is_zero_w() {
                self.residual.add_final(&mut sum, e, weight)?;
            }
        }
        Ok(sum)
    }

    /// The arcs of subset `s`, in the order of their labels, handed to `emit`.
    #[inline]
    pub fn expand(&mut self, s: u32, mut emit: impl FnMut(DetArc<W>)) -> Result<()> {
        self.buffer.clear();
        let sorted = if self.relation.is_some() { self.gather_related(s) } else { self.gather(s) };
        if !sorted {
            // Of equal keys the later comes first: sums are then done in OpenFst's order.
            self.buffer.sort_unstable_by(|a, b| a.key.cmp(&b.key).then(b.seq.cmp(&a.seq)));
        }
        let n = self.buffer.len();
        let mut i = 0;
        while i < n {
            let group = self.buffer[i].key >> 32;
            let (label, head) = match self.relation {
                None => ((group as u32 ^ 0x8000_0000) as Label, 0),
                Some(_) => self.groups[group as usize],
            };
            let mut divisor = Divisor::none();
            let single = i + 1 == n || self.buffer[i + 1].key >> 32 != group;
            if single && !self.singles.is_empty() {
                let entry = self.buffer[i];
                self.residual.divisor(&mut divisor, entry.temp);
                let state = entry.key as u32;
                let known = self.singles[state as usize];
                let dest = if known != u32::MAX {
                    known
                } else {
                    let one = self.residual.one();
                    self.elements.push((state, one));
                    self.find_single(state)?
                };
                emit(DetArc { ilabel: label, divisor, dest });
                i += 1;
                continue;
            }
            // Equal states are summed in place, at the front of the group.
            let first = i;
            let mut kept = i;
            while i < n && self.buffer[i].key >> 32 == group {
                let entry = self.buffer[i];
                self.residual.divisor(&mut divisor, entry.temp);
                if kept > first && self.buffer[kept - 1].key == entry.key {
                    let sum = self.residual.plus(self.buffer[kept - 1].temp, entry.temp)?;
                    self.buffer[kept - 1].temp = sum;
                } else {
                    self.buffer[kept] = entry;
                    kept += 1;
                }
                i += 1;
            }
            let base = self.elements.len();
            for entry in &self.buffer[first..kept] {
                let e = self.residual.divide(entry.temp, &divisor);
                self.elements.push((entry.key as u32, e));
            }
            let plain = kept == first + 1
                && !self.singles.is_empty()
                && self.residual.key(self.elements[base].1) == self.residual.key(self.residual.one());
            let dest = if plain {
                self.find_single(self.elements[base].0)?
            } else {
                let hash = self.hash_tail(base, head);
                self.find(base, head, hash)?
            };
            emit(DetArc { ilabel: label, divisor, dest });
        }
        Ok(())
    }

    /// Arcs of the subset with their residuals. True if they came in order.
    #[inline(always)]
    fn gather(&mut self, s: u32) -> bool {
        let to = self.ends[s as usize];
        let from = if s == 0 { 0 } else { self.ends[s as usize - 1] };
        let (mut sorted, mut last) = (true, None);
        for i in from..to {
            let (state, e) = self.elements[i];
            for arc in self.fst.arcs(state) {
                if arc.weight.is_zero_w() {
                    continue; // no path goes through it
                }
                let key = label_key(arc.ilabel) | arc.nextstate as u64;
                sorted &= last.is_none_or(|l| key > l);
                last = Some(key);
                let temp = self.residual.times(e, arc);
                self.buffer.push(Entry { key, seq: self.buffer.len() as u32, temp });
            }
        }
        sorted
    }

    /// As `gather`, for disambiguation: one group for every arc of the head, with the arcs into states that have a future
    /// in common with the arc's destination. The arcs of every state must be sorted by label, then destination.
    fn gather_related(&mut self, s: u32) -> bool {
        let Some(relation) = self.relation else { return true };
        self.groups.clear();
        for arc in self.fst.arcs(self.heads[s as usize]) {
            let group = (arc.ilabel, arc.nextstate);
            if !arc.weight.is_zero_w() && self.groups.last() != Some(&group) {
                self.groups.push(group);
            }
        }
        let to = self.ends[s as usize];
        let from = if s == 0 { 0 } else { self.ends[s as usize - 1] };
        for i in from..to {
            let (state, e) = self.elements[i];
            let mut g = 0;
            for arc in self.fst.arcs(state) {
                if arc.weight.is_zero_w() {
                    continue;
                }
                while g < self.groups.len() && self.groups[g].0 < arc.ilabel {
                    g += 1;
                }
                let mut h = g;
                while h < self.groups.len() && self.groups[h].0 == arc.ilabel {
                    if relation.holds(arc.nextstate, self.groups[h].1) {
                        let key = (h as u64) << 32 | arc.nextstate as u64;
                        let temp = self.residual.times(e, arc);
                        self.buffer.push(Entry { key, seq: self.buffer.len() as u32, temp });
                    }
                    h += 1;
                }
            }
        }
        false
    }

    #[inline]
    fn hash_tail(&self, base: usize, head: StateId) -> u64 {
        let mut h = mix(SEED, head as u64);
        for &(state, e) in &self.elements[base..] {
            let (a, b) = self.residual.key(e);
            h = mix(mix(h, state as u64 ^ b << 32), a);
        }
        h ^ h >> 29
    }

    /// The number of the subset that begins at `base` and ends the array: its old one, and then it is taken off, or a new.
    #[inline]
    fn find(&mut self, base: usize, head: StateId, hash: u64) -> Result<u32> {
        let upper = (hash >> 32) as u32 ^ hash as u32;
        let tail = &self.elements[base..];
        let found = self.table.find(spread(upper), |&(u, id)| {
            u == upper && {
                let old = self.subset(id);
                old.len() == tail.len()
                    && (self.relation.is_none() || self.heads[id as usize] == head)
                    && old.iter().zip(tail).all(|(x, y)| x.0 == y.0 && self.residual.key(x.1) == self.residual.key(y.1))
            }
        });
        if let Some(&(_, id)) = found {
            self.elements.truncate(base);
            return Ok(id);
        }
        let id = self.close()?;
        if self.relation.is_some() {
            self.heads.push(head);
        }
        self.table.insert_unique(spread(upper), (upper, id), |e| spread(e.0));
        Ok(id)
    }

    /// As `find`, for one state with residual one at the end of the array.
    #[inline]
    fn find_single(&mut self, state: StateId) -> Result<u32> {
        let known = self.singles[state as usize];
        if known != u32::MAX {
            self.elements.pop();
            return Ok(known);
        }
        let id = self.close()?;
        self.singles[state as usize] = id;
        Ok(id)
    }

    #[inline]
    fn close(&mut self) -> Result<u32> {
        // Outputs that only grow use up memory long before the states do.
        let outputs = self.residual.size() > self.max_states.saturating_mul(64).saturating_add(1 << 16);
        if self.ends.len() >= self.max_states || outputs {
            let advice = if self.has_heads() {
                "the result is too large, or has no end (paths of one string with different weights on cycles); prune it \
                 first, or use --weight or --nstate; remove epsilons (rmepsilon); or raise --max-states"
            } else {
                "the result is too large, or the input cannot be determinized (twins with different weights on a cycle); \
                 prune it first, or use --weight or --nstate; remove epsilons (rmepsilon) and ambiguity (disambiguate); \
                 or determinize it unweighted (encode --encode-labels --encode-weights)"
            };
            return Err(Error::limit(self.op, format!("{} states", self.max_states), advice));
        }
        self.ends.push(self.elements.len());
        Ok(self.ends.len() as u32 - 1)
    }
}
