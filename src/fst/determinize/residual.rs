//! What a subset keeps beside each state: the part of weight and output that was not emitted yet.
//!
//! Acceptors keep a weight. Transducers keep a string and a weight (the Gallic semiring), or, where one input may have
//! several outputs, a set of them. Strings are numbered, so that a subset stores an integer; an arc adds at most one label,
//! which stays beside the integer until the first label is taken off.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::fst::flat::{Arc, Label};
use crate::fst::semiring::Weight;
use crate::fst::strings::{EMPTY, StringId, Strings};

const OP: &str = "determinize";

/// The part that all elements of a destination share and that its arc emits: at most one label, and a weight.
/// `label` is `None` before the first element.
#[derive(Clone, Copy)]
pub struct Divisor<W> {
    label: Option<Label>,
    pub weight: W,
}

impl<W: Weight> Divisor<W> {
    pub fn none() -> Self {
        Divisor { label: None, weight: W::ZERO }
    }
    /// The output label of the arc, 0 if none.
    pub fn olabel(&self) -> Label {
        self.label.unwrap_or(0)
    }
    /// Takes one more element in, whose output begins with `first` (0: empty).
    #[inline]
    fn add(&mut self, first: Label, weight: W) {
        self.label = match self.label {
            None => Some(first),
            Some(l) if l == first => Some(l),
            Some(_) => Some(0),
        };
        self.weight = self.weight.oplus(weight);
    }
}

pub trait Residual<W: Weight> {
    /// In a subset.
    type Elem: Copy;
    /// After an arc, before the divisor is taken off.
    type Temp: Copy;
    /// Sum over the final states of a subset.
    type Final;
    /// A subset of one state with nothing left to emit is the rule: its number is looked up without hashing.
    const PLAIN_SINGLES: bool;

    fn one(&self) -> Self::Elem;
    fn times(&mut self, e: Self::Elem, arc: &Arc<W>) -> Self::Temp;
    fn divisor(&self, d: &mut Divisor<W>, t: Self::Temp);
    fn plus(&mut self, a: Self::Temp, b: Self::Temp) -> Result<Self::Temp>;
    /// `d \ t`, quantized.
    fn divide(&mut self, t: Self::Temp, d: &Divisor<W>) -> Self::Elem;
    fn key(&self, e: Self::Elem) -> (u64, u64);
    /// Memory that grows with the residuals, in labels and weights.
    fn size(&self) -> usize {
        0
    }
    fn zero_final(&self) -> Self::Final;
    fn add_final(&mut self, sum: &mut Self::Final, e: Self::Elem, weight: W) -> Result<()>;
}

/// Acceptors.
pub struct Weights {
    pub delta: f32,
}

impl<W: Weight> Residual<W> for Weights {
    type Elem = W;
    type Temp = W;
    type Final = W;
    const PLAIN_SINGLES: bool = true;

    fn one(&self) -> W {
        W::ONE
    }
    #[inline(always)]
    fn times(&mut self, e: W, arc: &Arc<W>) -> W {
        e.otimes(arc.weight)
    }
    #[inline(always)]
    fn divisor(&self, d: &mut Divisor<W>, t: W) {
        d.weight = d.weight.oplus(t);
    }
    #[inline(always)]
    fn plus(&mut self, a: W, b: W) -> Result<W> {
        Ok(a.oplus(b))
    }
    #[inline(always)]
    fn divide(&mut self, t: W, d: &Divisor<W>) -> W {
        t.odivide(d.weight).quantized(self.delta)
    }
    #[inline(always)]
    fn key(&self, e: W) -> (u64, u64) {
        (e.key(), 0)
    }
    fn zero_final(&self) -> W {
        W::ZERO
    }
    #[inline(always)]
    fn add_final(&mut self, sum: &mut W, e: W, weight: W) -> Result<()> {
        *sum = sum.oplus(e.otimes(weight));
        Ok(())
    }
}

/// The string `s` and then `extra` (0: none), without its first label if `drop`.
#[inline]
fn slide(strings: &mut Strings, s: StringId, extra: Label, drop: bool) -> StringId {
    match (drop, s) {
        (false, _) => strings.append(s, extra),
        (true, EMPTY) => EMPTY,
        (true, _) => {
            let rest = strings.rest(s);
            strings.append(rest, extra)
        }
    }
}

/// One output a path: functional transducers, or (`min`) the best of several outputs.
pub struct Gallic {
    pub delta: f32,
    pub min: bool,
    pub strings: Strings,
}

/// String, label after it (0: none), weight.
#[derive(Clone, Copy)]
pub struct Pending<W>(StringId, Label, W);

impl Gallic {
    fn ambiguous() -> Error {
        Error::op(
            OP,
            "the transducer is not functional: one input has two outputs; keep them all with --det-type nonfunctional, \
             or the best with --det-type disambiguate",
        )
    }
}

impl<W: Weight> Residual<W> for Gallic {
    type Elem = (StringId, W);
    type Temp = Pending<W>;
    type Final = Option<(StringId, W)>;
    const PLAIN_SINGLES: bool = false;

    fn one(&self) -> (StringId, W) {
        (0, W::ONE)
    }
    #[inline]
    fn times(&mut self, e: (StringId, W), arc: &Arc<W>) -> Pending<W> {
        Pending(e.0, arc.olabel, e.1.otimes(arc.weight))
    }
    #[inline]
    fn divisor(&self, d: &mut Divisor<W>, t: Pending<W>) {
        d.add(if t.0 == EMPTY { t.1 } else { self.strings.first(t.0) }, t.2);
    }
    fn plus(&mut self, a: Pending<W>, b: Pending<W>) -> Result<Pending<W>> {
        if self.min {
            return Ok(if a.2.less(b.2) { a } else { b });
        }
        let same = (a.0, a.1) == (b.0, b.1) || self.strings.append(a.0, a.1) == self.strings.append(b.0, b.1);
        if !same {
            return Err(Self::ambiguous());
        }
        Ok(Pending(a.0, a.1, a.2.oplus(b.2)))
    }
    fn divide(&mut self, t: Pending<W>, d: &Divisor<W>) -> (StringId, W) {
        (slide(&mut self.strings, t.0, t.1, d.olabel() != 0), t.2.odivide(d.weight).quantized(self.delta))
    }
    #[inline]
    fn key(&self, e: (StringId, W)) -> (u64, u64) {
        (e.1.key(), e.0 as u64)
    }
    fn size(&self) -> usize {
        self.strings.size()
    }
    fn zero_final(&self) -> Self::Final {
        None
    }
    fn add_final(&mut self, sum: &mut Self::Final, e: (StringId, W), weight: W) -> Result<()> {
        let new = (e.0, e.1.otimes(weight));
        *sum = Some(match *sum {
            None => new,
            Some(old) if self.min => {
                if old.1.less(new.1) {
                    old
                } else {
                    new
                }
            }
            Some(old) if old.0 == new.0 => (old.0, old.1.oplus(new.1)),
            Some(_) => return Err(Self::ambiguous()),
        });
        Ok(())
    }
}

/// All outputs of a path: a set of strings with weights, ordered by length, then labels, and interned as a whole.
pub struct GallicSet<W> {
    pub delta: f32,
    pub strings: Strings,
    items: Vec<(StringId, W)>,
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl<W: Weight> GallicSet<W> {
    pub fn new(delta: f32) -> Self {
        let mut new =
            GallicSet { delta, strings: Strings::default(), items: vec![], ends: vec![0], table: HashTable::new() };
        new.intern(&[(0, W::ONE)]);
        new
    }
    pub fn get(&self, id: u32) -> &[(StringId, W)] {
        let i = id as usize;
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.items[from..self.ends[i]]
    }
    fn hash(items: &[(StringId, W)]) -> u64 {
        items.iter().fold(0, |h, &(s, w)| FxBuildHasher.hash_one((h, s, w.key())))
    }
    fn intern(&mut self, set: &[(StringId, W)]) -> u32 {
        let hash = Self::hash(set);
        if let Some(&id) = self.table.find(hash, |&id| self.get(id) == set) {
            return id;
        }
        self.items.extend_from_slice(set);
        self.ends.push(self.items.len());
        let id = self.ends.len() as u32 - 1;
        let (ends, items) = (&self.ends, &self.items);
        self.table.insert_unique(hash, id, |&i| Self::hash(&items[ends[i as usize - 1]..ends[i as usize]]));
        id
    }
    fn merge(&mut self, a: u32, b: u32) -> u32 {
        let mut sum: Vec<(StringId, W)> = Vec::with_capacity(self.get(a).len() + self.get(b).len());
        sum.extend_from_slice(self.get(a));
        sum.extend_from_slice(self.get(b));
        sum.sort_by(|x, y| self.strings.military(x.0, y.0));
        sum.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.oplus(later.1);
            }
            same
        });
        self.intern(&sum)
    }
}

impl<W: Weight> Residual<W> for GallicSet<W> {
    type Elem = u32;
    type Temp = u32;
    /// A set; `None` is the empty one.
    type Final = Option<u32>;
    const PLAIN_SINGLES: bool = false;

    fn one(&self) -> u32 {
        1
    }
    fn times(&mut self, e: u32, arc: &Arc<W>) -> u32 {
        let mut set = self.get(e).to_vec();
        for item in &mut set {
            *item = (self.strings.append(item.0, arc.olabel), item.1.otimes(arc.weight));
        }
        self.intern(&set)
    }
    fn divisor(&self, d: &mut Divisor<W>, t: u32) {
        for &(s, w) in self.get(t) {
            d.add(self.strings.first(s), w);
        }
    }
    fn plus(&mut self, a: u32, b: u32) -> Result<u32> {
        Ok(self.merge(a, b))
    }
    fn divide(&mut self, t: u32, d: &Divisor<W>) -> u32 {
        let mut set = self.get(t).to_vec();
        let drop = d.olabel() != 0;
        for item in &mut set {
            *item = (slide(&mut self.strings, item.0, 0, drop), item.1.odivide(d.weight).quantized(self.delta));
        }
        self.intern(&set)
    }
    fn key(&self, e: u32) -> (u64, u64) {
        (e as u64, 0)
    }
    fn size(&self) -> usize {
        self.strings.size() + self.items.len()
    }
    fn zero_final(&self) -> Option<u32> {
        None
    }
    fn add_final(&mut self, sum: &mut Option<u32>, e: u32, weight: W) -> Result<()> {
        let mut set = self.get(e).to_vec();
        for item in &mut set {
            item.1 = item.1.otimes(weight);
        }
        let new = self.intern(&set);
        *sum = Some(match *sum {
            None => new,
            Some(old) => self.merge(old, new),
        });
        Ok(())
    }
}
