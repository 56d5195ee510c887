//! `FlatFst`: the automaton of the engine, states and arcs in flat arrays (CSR), built once and then read.
//!
//! `arcs[offsets[s]..offsets[s + 1]]` leave state `s`; `finals[s]` is its final weight (zero: not final). Cyclic or not,
//! acceptor or transducer. One conversion each way to rustfst's `VectorFst`, for user code and rustfst's algorithms.
//! An `Arc` of f32 weight has 16 bytes and the field order of OpenFst's binary files.

use std::ops::Range;
use std::sync::{Arc as Shared, OnceLock};

use rustfst::fst_impls::VectorFst;
use rustfst::fst_traits::{ExpandedFst, MutableFst};
use rustfst::{Tr, Trs};

use super::semiring::Weight;
use super::symbols::SymbolTable;
use crate::error::{Error, Result};

pub type StateId = u32;
pub type Label = i32;

/// The label that consumes nothing.
pub const EPSILON: Label = 0;
/// No label: never on an arc of an automaton.
pub const NO_LABEL: Label = -1;
/// No state: the start of an empty automaton.
pub const NO_STATE: StateId = u32::MAX;
/// An automaton has no more arcs than this.
pub const MAX_ARCS: usize = u32::MAX as usize - 1;

/// An error if a result has more arcs than an automaton holds.
pub fn check_arcs(op: &'static str, arcs: usize) -> Result<()> {
    if arcs > MAX_ARCS {
        return Err(Error::limit(op, "2^32 - 2 arcs", "the result is too large"));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Arc<W> {
    pub ilabel: Label,
    pub olabel: Label,
    pub weight: W,
    pub nextstate: StateId,
}

impl<W> Arc<W> {
    #[inline(always)]
    pub fn new(ilabel: Label, olabel: Label, weight: W, nextstate: StateId) -> Self {
        Arc { ilabel, olabel, weight, nextstate }
    }
}

#[derive(Clone, Debug)]
pub struct FlatFst<W> {
    start: StateId,
    offsets: Vec<u32>,
    finals: Vec<W>,
    arcs: Vec<Arc<W>>,
    pub isyms: Option<Shared<SymbolTable>>,
    pub osyms: Option<Shared<SymbolTable>>,
    /// It is known that the start lies on no cycle; false: not known. Kept in files, as OpenFst does: union asks for it.
    pub start_acyclic: bool,
    sorted: Sorted,
}

/// Whether arcs are sorted, once somebody asked: a model that thousands of lattices are composed with is looked at once.
#[derive(Clone, Debug, Default)]
struct Sorted {
    by_ilabel: OnceLock<bool>,
    by_olabel: OnceLock<bool>,
}

impl<W: Weight> Default for FlatFst<W> {
    fn default() -> Self {
        Self::empty()
    }
}

/// States, arcs and weights are equal; symbol tables are not looked at.
impl<W: PartialEq> PartialEq for FlatFst<W> {
    fn eq(&self, other: &Self) -> bool {
        self.start == other.start
            && self.offsets == other.offsets
            && self.finals == other.finals
            && self.arcs == other.arcs
    }
}

impl<W: Weight> FlatFst<W> {
    /// No states: the empty language.
    pub fn empty() -> Self {
        FlatFst {
            start: NO_STATE,
            offsets: vec![0],
            finals: vec![],
            arcs: vec![],
            isyms: None,
            osyms: None,
            start_acyclic: false,
            sorted: Sorted::default(),
        }
    }

    /// From finished arrays. `offsets` has one entry more than `finals`, starts at 0 and ends at `arcs.len()`.
    ///
    /// # Panics
    /// If the arrays contradict each other: a bug of the caller, never of the input.
    pub fn from_parts(start: StateId, offsets: Vec<u32>, finals: Vec<W>, arcs: Vec<Arc<W>>) -> Self {
        assert_eq!(offsets.len(), finals.len() + 1);
        assert_eq!(offsets.last().map(|&end| end as usize), Some(arcs.len()));
        assert!(start == NO_STATE || (start as usize) < finals.len());
        debug_assert!(arcs.iter().all(|a| (a.nextstate as usize) < finals.len()));
        FlatFst {
            start,
            offsets,
            finals,
            arcs,
            isyms: None,
            osyms: None,
            start_acyclic: false,
            sorted: Sorted::default(),
        }
    }

    /// One state a row: `(final weight, arcs)`. For tests and small automata.
    pub fn from_rows(start: StateId, rows: Vec<(W, Vec<Arc<W>>)>) -> Self {
        let mut b = Builder::with_capacity(rows.len(), rows.iter().map(|r| r.1.len()).sum());
        for (weight, arcs) in rows {
            b.add_state(weight);
            for a in arcs {
                b.push_arc(a);
            }
        }
        b.set_start(start);
        b.finish()
    }

    /// The same automaton with these symbol tables.
    pub fn with_symbols(mut self, isyms: Option<Shared<SymbolTable>>, osyms: Option<Shared<SymbolTable>>) -> Self {
        self.isyms = isyms;
        self.osyms = osyms;
        self
    }
    /// The same automaton with the symbol tables of `other`.
    pub fn with_symbols_of<V>(mut self, other: &FlatFst<V>) -> Self {
        self.isyms = other.isyms.clone();
        self.osyms = other.osyms.clone();
        self
    }

    #[inline(always)]
    pub fn start(&self) -> StateId {
        self.start
    }
    pub fn set_start(&mut self, s: StateId) {
        assert!(s == NO_STATE || (s as usize) < self.finals.len());
        self.start = s;
        self.start_acyclic = false;
    }
    #[inline(always)]
    pub fn num_states(&self) -> usize {
        self.finals.len()
    }
    #[inline(always)]
    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }
    pub fn states(&self) -> Range<StateId> {
        0..self.finals.len() as StateId
    }
    /// Final weight; `W::ZERO` if `s` is not final.
    #[inline(always)]
    pub fn final_weight(&self, s: StateId) -> W {
        self.finals[s as usize]
    }
    #[inline(always)]
    pub fn is_final(&self, s: StateId) -> bool {
        !self.finals[s as usize].is_zero_w()
    }
    #[inline(always)]
    pub fn arcs(&self, s: StateId) -> &[Arc<W>] {
        &self.arcs[self.range(s)]
    }
    /// Positions of the arcs of `s` in `all_arcs`.
    #[inline(always)]
    pub fn range(&self, s: StateId) -> Range<usize> {
        self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize
    }
    #[inline(always)]
    pub fn all_arcs(&self) -> &[Arc<W>] {
        &self.arcs
    }
    /// Labels and weights may change freely; a new `nextstate` must be a state.
    pub fn all_arcs_mut(&mut self) -> &mut [Arc<W>] {
        self.sorted = Sorted::default();
        &mut self.arcs
    }
    pub fn arcs_mut(&mut self, s: StateId) -> &mut [Arc<W>] {
        self.sorted = Sorted::default();
        let r = self.range(s);
        &mut self.arcs[r]
    }
    pub fn finals(&self) -> &[W] {
        &self.finals
    }
    pub fn finals_mut(&mut self) -> &mut [W] {
        &mut self.finals
    }
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
    /// `(start, offsets, finals, arcs)`.
    pub fn into_parts(self) -> (StateId, Vec<u32>, Vec<W>, Vec<Arc<W>>) {
        (self.start, self.offsets, self.finals, self.arcs)
    }

    /// Every arc with its source state, in order.
    pub fn transitions(&self) -> impl Iterator<Item = (StateId, &Arc<W>)> {
        self.states().flat_map(move |s| self.arcs(s).iter().map(move |a| (s, a)))
    }

    /// The same states and arcs with other weights.
    pub fn map_weights<V: Weight>(&self, mut f: impl FnMut(W) -> V) -> FlatFst<V> {
        FlatFst {
            start: self.start,
            offsets: self.offsets.clone(),
            finals: self.finals.iter().map(|&w| f(w)).collect(),
            arcs: self.arcs.iter().map(|a| Arc::new(a.ilabel, a.olabel, f(a.weight), a.nextstate)).collect(),
            isyms: self.isyms.clone(),
            osyms: self.osyms.clone(),
            start_acyclic: self.start_acyclic,
            sorted: self.sorted.clone(),
        }
    }

    pub fn is_acceptor(&self) -> bool {
        self.arcs.iter().all(|a| a.ilabel == a.olabel)
    }
    pub fn is_ilabel_sorted(&self) -> bool {
        *self.sorted.by_ilabel.get_or_init(|| self.is_sorted_by(|a| a.ilabel))
    }
    pub fn is_olabel_sorted(&self) -> bool {
        *self.sorted.by_olabel.get_or_init(|| self.is_sorted_by(|a| a.olabel))
    }
    fn is_sorted_by(&self, label: impl Fn(&Arc<W>) -> Label) -> bool {
        self.states().all(|s| self.arcs(s).windows(2).all(|p| label(&p[0]) <= label(&p[1])))
    }
    /// True if no arc or final weight differs from one (and zero, for non-final states).
    pub fn is_unweighted(&self) -> bool {
        self.arcs.iter().all(|a| a.weight.is_one_w()) && self.finals.iter().all(|w| w.is_one_w() || w.is_zero_w())
    }

    /// To rustfst's `VectorFst`. Symbol tables with gaps cannot be carried over and stay behind.
    pub fn to_vector_fst(&self) -> Result<VectorFst<W>> {
        let fail = |e: anyhow::Error| Error::op("to_vector_fst", e.to_string());
        let mut v = VectorFst::<W>::new();
        v.add_states(self.num_states());
        for s in self.states() {
            if self.is_final(s) {
                v.set_final(s, self.final_weight(s)).map_err(fail)?;
            }
            let mut trs = Vec::with_capacity(self.range(s).len());
            for a in self.arcs(s) {
                if a.ilabel < 0 || a.olabel < 0 {
                    return Err(Error::op("to_vector_fst", format!("negative label on an arc of state {s}")));
                }
                trs.push(Tr::new(a.ilabel as u32, a.olabel as u32, a.weight, a.nextstate));
            }
            for tr in trs {
                v.add_tr(s, tr).map_err(fail)?;
            }
        }
        if self.start != NO_STATE {
            v.set_start(self.start).map_err(fail)?;
        }
        Ok(v)
    }

    /// From any expanded rustfst automaton with our weights.
    pub fn from_rustfst<F: ExpandedFst<W>>(fst: &F) -> Result<Self> {
        let fail = |e: anyhow::Error| Error::op("from_rustfst", e.to_string());
        let mut b = Builder::with_capacity(fst.num_states(), 0);
        for s in 0..fst.num_states() as StateId {
            b.add_state(fst.final_weight(s).map_err(fail)?.unwrap_or(W::ZERO));
            for tr in fst.get_trs(s).map_err(fail)?.trs() {
                b.push_arc(Arc::new(tr.ilabel as Label, tr.olabel as Label, tr.weight, tr.nextstate));
            }
        }
        b.set_start(fst.start().unwrap_or(NO_STATE));
        Ok(b.finish())
    }
}

/// Builds a `FlatFst` state by state: `add_state`, then the arcs of that state with `push_arc`.
/// States may be named in arcs before they are added; all must be there at `finish`.
pub struct Builder<W> {
    start: StateId,
    offsets: Vec<u32>,
    finals: Vec<W>,
    arcs: Vec<Arc<W>>,
}

impl<W: Weight> Default for Builder<W> {
    fn default() -> Self {
        Self::with_capacity(0, 0)
    }
}

impl<W: Weight> Builder<W> {
    pub fn with_capacity(states: usize, arcs: usize) -> Self {
        Builder {
            start: NO_STATE,
            offsets: Vec::with_capacity(states + 1),
            finals: Vec::with_capacity(states),
            arcs: Vec::with_capacity(arcs),
        }
    }
    pub fn set_start(&mut self, s: StateId) {
        self.start = s;
    }
    /// Opens the next state; arcs pushed from here on leave it.
    #[inline]
    pub fn add_state(&mut self, final_weight: W) -> StateId {
        let s = self.finals.len() as StateId;
        self.offsets.push(self.arcs.len() as u32);
        self.finals.push(final_weight);
        s
    }
    #[inline(always)]
    pub fn push_arc(&mut self, arc: Arc<W>) {
        self.arcs.push(arc);
    }
    pub fn extend_arcs(&mut self, arcs: impl IntoIterator<Item = Arc<W>>) {
        self.arcs.extend(arcs);
    }
    pub fn set_final(&mut self, s: StateId, weight: W) {
        self.finals[s as usize] = weight;
    }
    pub fn num_states(&self) -> usize {
        self.finals.len()
    }
    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }
    /// Arcs pushed so far of the state opened last.
    pub fn open_arcs(&mut self) -> &mut [Arc<W>] {
        let from = self.offsets.last().copied().unwrap_or(0) as usize;
        &mut self.arcs[from..]
    }
    pub fn finish(mut self) -> FlatFst<W> {
        assert!(self.arcs.len() <= MAX_ARCS, "an automaton holds at most 2^32 - 2 arcs");
        self.offsets.push(self.arcs.len() as u32);
        FlatFst::from_parts(self.start, self.offsets, self.finals, self.arcs)
    }
}

/// Builds a `FlatFst` from arcs in any order of their sources; arcs of one state keep the order they were added in.
pub struct ScatterBuilder<W> {
    start: StateId,
    finals: Vec<W>,
    arcs: Vec<(StateId, Arc<W>)>,
}

impl<W: Weight> Default for ScatterBuilder<W> {
    fn default() -> Self {
        ScatterBuilder { start: NO_STATE, finals: vec![], arcs: vec![] }
    }
}

impl<W: Weight> ScatterBuilder<W> {
    /// A new state, not final.
    pub fn add_state(&mut self) -> StateId {
        self.finals.push(W::ZERO);
        self.finals.len() as StateId - 1
    }
    pub fn num_states(&self) -> usize {
        self.finals.len()
    }
    pub fn set_start(&mut self, s: StateId) {
        self.start = s;
    }
    pub fn set_final(&mut self, s: StateId, weight: W) {
        self.finals[s as usize] = weight;
    }
    #[inline]
    pub fn add_arc(&mut self, source: StateId, arc: Arc<W>) {
        self.arcs.push((source, arc));
    }
    pub fn finish(self) -> FlatFst<W> {
        assert!(self.arcs.len() <= MAX_ARCS, "an automaton holds at most 2^32 - 2 arcs");
        let n = self.finals.len();
        let mut offsets = vec![0u32; n + 1];
        for (s, _) in &self.arcs {
            offsets[*s as usize + 1] += 1;
        }
        for s in 0..n {
            offsets[s + 1] += offsets[s];
        }
        let arcs = if self.arcs.windows(2).all(|p| p[0].0 <= p[1].0) {
            self.arcs.into_iter().map(|(_, a)| a).collect()
        } else {
            let mut place = offsets.clone();
            let mut arcs = vec![Arc::new(0, 0, W::ONE, 0); self.arcs.len()];
            for (s, a) in self.arcs {
                arcs[place[s as usize] as usize] = a;
                place[s as usize] += 1;
            }
            arcs
        };
        FlatFst::from_parts(self.start, offsets, self.finals, arcs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn too_many_arcs_are_an_error() {
        assert!(check_arcs("op", MAX_ARCS).is_ok());
        for arcs in [MAX_ARCS + 1, MAX_ARCS + 2, MAX_ARCS + 3, usize::MAX] {
            assert!(check_arcs("op", arcs).unwrap_err().to_string().contains("2^32 - 2 arcs"));
        }
    }

    #[test]
    fn scatter_builder_keeps_the_order_of_each_state() {
        let mut b = ScatterBuilder::<Tropical>::default();
        let (p, q) = (b.add_state(), b.add_state());
        b.add_arc(q, Arc::new(9, 9, Tropical(1.0), p));
        b.add_arc(p, Arc::new(1, 1, Tropical(1.0), q));
        b.add_arc(q, Arc::new(3, 3, Tropical(1.0), q));
        b.set_start(p);
        let f = b.finish();
        assert_eq!(f.arcs(q).iter().map(|a| a.ilabel).collect::<Vec<_>>(), [9, 3]);
        assert_eq!(f.arcs(p).len(), 1);
    }

    #[test]
    fn rustfst_and_back_is_the_same() {
        let f = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![Arc::new(1, 2, Tropical(0.5), 1)]), (Tropical(2.0), vec![])],
        );
        assert_eq!(FlatFst::from_rustfst(&f.to_vector_fst().unwrap()).unwrap(), f);
    }
}
