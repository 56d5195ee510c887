//! An operand of a composition: its epsilons, and the arcs of a state with a label.
//!
//! A look-up is a binary search, or one step in a direct index where a state has very many arcs with labels close
//! together (the lowest order of a back-off model). Where the other operand is searched, all arcs of this one are looked at,
//! unless there are very many of them and few that can match.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::fst::flat::{Arc, EPSILON, FlatFst, Label, StateId};
use crate::fst::semiring::Weight;

pub(super) const ALL_EPSILON: u8 = 1;
pub(super) const NO_EPSILON: u8 = 2;
const KNOWN: u8 = 4;

/// One operand as composition looks at it: `OUTPUT`, by its output labels, or else by its input labels.
///
/// Nothing here is made for a state before it is visited, so that a small lattice does not pay for a large model.
pub(super) struct Side<const OUTPUT: bool> {
    pub(super) sorted: bool,
    /// Per state: `KNOWN`, `ALL_EPSILON` (and not final), `NO_EPSILON`.
    pub(super) flags: Vec<u8>,
    /// For states with very many arcs: `INDEXED` and their number in `dense`, or how often they were searched so far.
    dense_of: Vec<u32>,
    dense: Vec<Dense>,
    /// For states with very many arcs that are not sorted: how often they were asked for, and the positions by label.
    by_label: HashMap<StateId, (u32, Vec<u32>), FxBuildHasher>,
}

/// First arc of every label from `least` on: `first[label - least]`, up to `first[label - least + 1]`.
struct Dense {
    least: Label,
    first: Vec<u32>,
}

/// States with this many arcs get a direct index if their labels are close together.
const DENSE_ARCS: usize = 128;

impl<const OUTPUT: bool> Side<OUTPUT> {
    pub(super) fn new<W: Weight>(fst: &FlatFst<W>, sorted: bool) -> Self {
        Side { sorted, flags: vec![0; fst.num_states()], dense_of: vec![], dense: vec![], by_label: HashMap::default() }
    }

    #[inline(always)]
    fn label<W>(arc: &Arc<W>) -> Label {
        if OUTPUT { arc.olabel } else { arc.ilabel }
    }

    #[inline(always)]
    pub(super) fn flags<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId) -> u8 {
        match self.flags[s as usize] {
            0 => self.look_at(fst, s),
            known => known,
        }
    }

    fn look_at<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId) -> u8 {
        let arcs = fst.arcs(s);
        let epsilons = if self.sorted && arcs.first().is_some_and(|x| Self::label(x) > EPSILON) {
            0
        } else if self.sorted && arcs.first().is_some_and(|x| Self::label(x) == EPSILON) {
            arcs.partition_point(|x| Self::label(x) == EPSILON)
        } else {
            arcs.iter().filter(|x| Self::label(x) == EPSILON).count()
        };
        let all = epsilons == arcs.len() && !fst.is_final(s);
        let flags = KNOWN | if all { ALL_EPSILON } else { 0 } | if epsilons == 0 { NO_EPSILON } else { 0 };
        self.flags[s as usize] = flags;
        flags
    }

    /// Positions of the epsilons of `s`: in front, unless there are negative labels. Needs sorted arcs.
    #[inline(always)]
    pub(super) fn epsilons<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId) -> std::ops::Range<usize> {
        let arcs = fst.arcs(s);
        match arcs.first() {
            Some(x) if Self::label(x) == EPSILON => {
                let from = fst.range(s).start;
                from..from + arcs.iter().take_while(|x| Self::label(x) == EPSILON).count()
            }
            Some(x) if Self::label(x) < EPSILON => self.find(fst, s, EPSILON),
            _ => 0..0,
        }
    }

    /// Positions of the arcs of `s` with this label. Needs sorted arcs.
    #[inline(always)]
    pub(super) fn find<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId, label: Label) -> std::ops::Range<usize> {
        let range = fst.range(s);
        if range.len() >= DENSE_ARCS {
            return self.find_large(fst, s, label);
        }
        Self::search(fst, range, label)
    }

    #[inline(always)]
    fn search<W: Weight>(fst: &FlatFst<W>, range: std::ops::Range<usize>, label: Label) -> std::ops::Range<usize> {
        let arcs = &fst.all_arcs()[range.clone()];
        let from = arcs.partition_point(|x| Self::label(x) < label);
        let count = arcs[from..].iter().take_while(|x| Self::label(x) == label).count();
        range.start + from..range.start + from + count
    }

    /// The arcs of `s` that carry epsilon or one of `labels`, by position, into `found`; false if it is quicker to look at
    /// all arcs. Needs nothing of the order of the arcs; `labels` must be sorted.
    pub(super) fn find_some<W: Weight>(
        &mut self,
        fst: &FlatFst<W>,
        s: StateId,
        labels: impl ExactSizeIterator<Item = Label>,
        found: &mut Vec<u32>,
    ) -> bool {
        /// A look at all arcs costs as much as one of so many searches.
        const SEARCH: usize = 16;
        let range = fst.range(s);
        if range.len() < DENSE_ARCS || (labels.len() + 1) * SEARCH > range.len() {
            return false;
        }
        let (asked, places) = self.by_label.entry(s).or_default();
        *asked = asked.saturating_add(1);
        // Sorting costs as much as some looks at all arcs: worth it only where there are many.
        if *asked < SEARCH as u32 {
            return false;
        }
        let arcs = fst.all_arcs();
        let label = |&i: &u32| Self::label(&arcs[i as usize]);
        if places.is_empty() {
            places.extend(range.start as u32..range.end as u32);
            places.sort_by_key(label);
        }
        found.clear();
        let mut last = None;
        for l in std::iter::once(EPSILON).chain(labels.filter(|&l| l != EPSILON)) {
            if last.replace(l) != Some(l) {
                let from = places.partition_point(|i| label(i) < l);
                found.extend(places[from..].iter().take_while(|i| label(i) == l));
            }
        }
        found.sort_unstable();
        true
    }

    fn find_large<W: Weight>(&mut self, fst: &FlatFst<W>, s: StateId, label: Label) -> std::ops::Range<usize> {
        const INDEXED: u32 = 1 << 31;
        const TOO_SPARSE: u32 = u32::MAX;
        let range = fst.range(s);
        if self.dense_of.is_empty() {
            self.dense_of = vec![0; fst.num_states()];
        }
        let mut slot = self.dense_of[s as usize];
        // An index costs a look at every arc: worth it only where there are many searches.
        if slot < INDEXED && (slot as usize) < range.len() / 16 {
            self.dense_of[s as usize] += 1;
            return Self::search(fst, range, label);
        }
        if slot < INDEXED {
            let arcs = fst.arcs(s);
            let least = Self::label(&arcs[0]);
            let span = Self::label(&arcs[arcs.len() - 1]) as i64 - least as i64 + 1;
            slot = if span <= 8 * arcs.len() as i64 {
                let mut first = Vec::with_capacity(span as usize + 1);
                for (i, x) in arcs.iter().enumerate() {
                    while first.len() <= (Self::label(x) as i64 - least as i64) as usize {
                        first.push((range.start + i) as u32);
                    }
                }
                first.push(range.end as u32);
                self.dense.push(Dense { least, first });
                INDEXED | (self.dense.len() as u32 - 1)
            } else {
                TOO_SPARSE
            };
            self.dense_of[s as usize] = slot;
        }
        if slot == TOO_SPARSE {
            return Self::search(fst, range, label);
        }
        let dense = &self.dense[(slot & !INDEXED) as usize];
        let at = label as i64 - dense.least as i64;
        if at < 0 || at as usize + 1 >= dense.first.len() {
            return range.start..range.start;
        }
        dense.first[at as usize] as usize..dense.first[at as usize + 1] as usize
    }
}
