//! What a subset keeps beside each state: the part of weight and output that was not emitted yet.
//!
//! Acceptors keep a weight. Transducers keep a string and a weight (the Gallic semiring), or, where one input may have
//! several outputs, a set of them. Strings lie in one buffer and are interned, so that a subset stores an integer; an arc
//! adds at most one label, which stays beside the integer until the divided string is interned.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::fst::flat::{Arc, Label};
use crate::fst::semiring::Weight;

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

/// Interned strings of labels; number 0 is the empty one.
pub struct Strings {
    labels: Vec<Label>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    scratch: Vec<Label>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { labels: vec![], ends: vec![0], table: HashTable::new(), scratch: vec![] }
    }
}

impl Strings {
    pub fn get(&self, id: u32) -> &[Label] {
        let i = id as usize;
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.labels[from..self.ends[i]]
    }
    fn first(&self, id: u32, extra: Label) -> Label {
        if id == 0 { extra } else { self.get(id)[0] }
    }
    fn hash(labels: &[Label]) -> u64 {
        FxBuildHasher.hash_one(labels)
    }
    pub fn intern(&mut self, string: &[Label]) -> u32 {
        if string.is_empty() {
            return 0;
        }
        let hash = Self::hash(string);
        if let Some(&id) = self.table.find(hash, |&id| self.get(id) == string) {
            return id;
        }
        self.labels.extend_from_slice(string);
        self.ends.push(self.labels.len());
        let id = self.ends.len() as u32 - 1;
        let (ends, labels) = (&self.ends, &self.labels);
        self.table.insert_unique(hash, id, |&i| Self::hash(&labels[ends[i as usize - 1]..ends[i as usize]]));
        id
    }
    /// The string `id`·`extra` without its first `drop` labels.
    fn slide(&mut self, id: u32, extra: Label, drop: usize) -> u32 {
        if extra == 0 && drop == 0 {
            return id;
        }
        let mut s = std::mem::take(&mut self.scratch);
        s.clear();
        s.extend_from_slice(self.get(id));
        if extra != 0 {
            s.push(extra);
        }
        let new = self.intern(s.get(drop..).unwrap_or(&[]));
        self.scratch = s;
        new
    }
    pub fn without_first(&mut self, id: u32) -> u32 {
        self.slide(id, 0, 1)
    }
    fn same(&self, a: (u32, Label), b: (u32, Label)) -> bool {
        if (a.1 == 0) == (b.1 == 0) {
            return a == b;
        }
        let (long, extra, short) = if b.1 == 0 { (a.0, a.1, b.0) } else { (b.0, b.1, a.0) };
        self.get(short).split_last().is_some_and(|(&last, rest)| last == extra && rest == self.get(long))
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
pub struct Pending<W>(u32, Label, W);

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
    type Elem = (u32, W);
    type Temp = Pending<W>;
    type Final = Option<(u32, W)>;
    const PLAIN_SINGLES: bool = false;

    fn one(&self) -> (u32, W) {
        (0, W::ONE)
    }
    #[inline]
    fn times(&mut self, e: (u32, W), arc: &Arc<W>) -> Pending<W> {
        Pending(e.0, arc.olabel, e.1.otimes(arc.weight))
    }
    #[inline]
    fn divisor(&self, d: &mut Divisor<W>, t: Pending<W>) {
        d.add(self.strings.first(t.0, t.1), t.2);
    }
    fn plus(&mut self, a: Pending<W>, b: Pending<W>) -> Result<Pending<W>> {
        if self.min {
            return Ok(if a.2.less(b.2) { a } else { b });
        }
        if !self.strings.same((a.0, a.1), (b.0, b.1)) {
            return Err(Self::ambiguous());
        }
        Ok(Pending(a.0, a.1, a.2.oplus(b.2)))
    }
    fn divide(&mut self, t: Pending<W>, d: &Divisor<W>) -> (u32, W) {
        let drop = usize::from(d.olabel() != 0);
        (self.strings.slide(t.0, t.1, drop), t.2.odivide(d.weight).quantized(self.delta))
    }
    #[inline]
    fn key(&self, e: (u32, W)) -> (u64, u64) {
        (e.1.key(), e.0 as u64)
    }
    fn size(&self) -> usize {
        self.strings.labels.len()
    }
    fn zero_final(&self) -> Self::Final {
        None
    }
    fn add_final(&mut self, sum: &mut Self::Final, e: (u32, W), weight: W) -> Result<()> {
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
    items: Vec<(u32, W)>,
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
    pub fn get(&self, id: u32) -> &[(u32, W)] {
        let i = id as usize;
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.items[from..self.ends[i]]
    }
    fn hash(items: &[(u32, W)]) -> u64 {
        items.iter().fold(0, |h, &(s, w)| FxBuildHasher.hash_one((h, s, w.key())))
    }
    fn intern(&mut self, set: &[(u32, W)]) -> u32 {
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
    /// Military order: by length, then label by label.
    fn order(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let (a, b) = (self.strings.get(a), self.strings.get(b));
        a.len().cmp(&b.len()).then_with(|| a.cmp(b))
    }
    fn merge(&mut self, a: u32, b: u32) -> u32 {
        let mut sum: Vec<(u32, W)> = Vec::with_capacity(self.get(a).len() + self.get(b).len());
        sum.extend_from_slice(self.get(a));
        sum.extend_from_slice(self.get(b));
        sum.sort_by(|x, y| self.order(x.0, y.0));
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
            *item = (self.strings.slide(item.0, arc.olabel, 0), item.1.otimes(arc.weight));
        }
        self.intern(&set)
    }
    fn divisor(&self, d: &mut Divisor<W>, t: u32) {
        for &(s, w) in self.get(t) {
            d.add(self.strings.first(s, 0), w);
        }
    }
    fn plus(&mut self, a: u32, b: u32) -> Result<u32> {
        Ok(self.merge(a, b))
    }
    fn divide(&mut self, t: u32, d: &Divisor<W>) -> u32 {
        let mut set = self.get(t).to_vec();
        let drop = usize::from(d.olabel() != 0);
        for item in &mut set {
            *item = (self.strings.slide(item.0, 0, drop), item.1.odivide(d.weight).quantized(self.delta));
        }
        self.intern(&set)
    }
    fn key(&self, e: u32) -> (u64, u64) {
        (e as u64, 0)
    }
    fn size(&self) -> usize {
        self.strings.labels.len() + self.items.len()
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
