//! `Network`: all cells in one, states and arcs numbered through, with what it costs at least to get out of a cell.
//!
//! Cells are pushed bottom-up. The look-ahead of a state is the least cost from there to the end of its cell, given a class
//! of histories (see `ahead::Histories`): a word after a word costs what the models charge for the two in any longer
//! context, a word after a pointer what it costs after the likeliest last word of the cell that is pointed to. Each cell
//! keeps its possible first words with what the rest costs at least, and its possible last classes; with these, the
//! least cost of a cell after a class is found without entering it, and found once.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::ahead::{Histories, Words};
use super::pointed;
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Tropical;
use crate::fst::visit;

/// An arc without a word.
pub const NO_WORD: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub struct NetArc {
    pub label: Label,
    pub weight: f32,
    pub next: StateId,
    /// The word as the sentence numbers it; `NO_WORD`: a pointer or an epsilon.
    pub word: u32,
    /// What the models charge for the word, where that is taken for known; NaN: it depends on the class.
    pub charge: f64,
    /// Of a word that counts: the weight and the least cost after it. Of a pointer: the weight and the least cost after
    /// the cell, whatever its last word is. Of others: the weight.
    pub rest: f64,
}

/// What others need to know of a cell.
#[derive(Clone, Copy)]
struct Outline {
    start: StateId,
    /// Places in `firsts`.
    firsts: (u32, u32),
    /// Places in `lasts`.
    lasts: (u32, u32),
    /// The least cost without any word that counts; infinite: there is always one.
    empty: f64,
    /// `firsts` tell all; not so where a cell inside may have no words.
    flat: bool,
    states: u32,
}

pub struct Network<'a, H> {
    pub words: &'a mut Words<H>,
    offsets: Vec<u32>,
    arcs: Vec<NetArc>,
    finals: Vec<f32>,
    outlines: Vec<Outline>,
    /// Words that cells may begin with, and the least cost of the rest after each.
    firsts: Vec<(u32, f64)>,
    /// Classes that cells may end with.
    lasts: Vec<u32>,
    /// Of each state: the least cost after a cell that returns to it.
    back: Vec<f64>,
    /// By cell and class: the least cost of the cell; NaN: not asked for yet.
    cells: Vec<f64>,
    /// The least cost from states with many arcs.
    wide: HashMap<(StateId, u32), f64, FxBuildHasher>,
    /// The cell where sentences end, whose last class pays for it.
    root: Option<usize>,
    scratch: Vec<f64>,
}

/// States with more arcs than this have their look-ahead looked up.
const WIDE: usize = 4;

impl<'a, H: Histories> Network<'a, H> {
    /// `root`: the cell where sentences end, if they do.
    pub fn new(words: &'a mut Words<H>, root: Option<usize>) -> Self {
        let scratch = vec![f64::INFINITY; words.len()];
        Network {
            words,
            offsets: vec![0],
            arcs: vec![],
            finals: vec![],
            outlines: vec![],
            firsts: vec![],
            lasts: vec![],
            back: vec![],
            cells: vec![],
            wide: HashMap::default(),
            root,
            scratch,
        }
    }

    /// Adds a cell whose pointers lead to cells that are there. Every word of it must be in `words`. `charges`: what the
    /// models charge for the words of some arcs, by their place; NaN for others.
    pub fn push(&mut self, fst: &FlatFst<Tropical>, charges: Option<&[f64]>) {
        let base = self.finals.len() as StateId;
        let first_arc = self.arcs.len();
        let cell = self.outlines.len();
        let ends = self.root == Some(cell);
        for s in fst.states() {
            for i in fst.range(s) {
                let a = &fst.all_arcs()[i];
                let is_word = a.ilabel != 0 && pointed(a.ilabel).is_none();
                let word = if is_word { self.words.number(a.ilabel) } else { NO_WORD };
                let charge = charges.map_or(f64::NAN, |c| c[i]);
                let (label, weight, next) = (a.ilabel, a.weight.0, base + a.nextstate);
                self.arcs.push(NetArc { label, weight, next, word, charge, rest: 0.0 });
            }
            self.offsets.push(self.arcs.len() as u32);
            self.finals.push(fst.final_weight(s).0);
        }
        self.back.resize(self.finals.len(), f64::INFINITY);
        // From here on the cell can be asked about its states, from the end on.
        self.outlines.push(Outline {
            start: if fst.start() == NO_STATE { NO_STATE } else { base + fst.start() },
            firsts: (self.firsts.len() as u32, self.firsts.len() as u32),
            lasts: (self.lasts.len() as u32, self.lasts.len() as u32),
            empty: f64::INFINITY,
            flat: true,
            states: fst.num_states() as u32,
        });
        // Cells have no cycles: they are finite sets of strings.
        let order = visit::topological_order(fst).unwrap_or_default();
        let mut empties = vec![f64::INFINITY; fst.num_states()];
        for &s in order.iter().rev() {
            let mut empty = fst.final_weight(s).0 as f64;
            for i in fst.range(s) {
                let mut a = self.arcs[first_arc + i];
                let after = empties[(a.next - base) as usize];
                a.rest = a.weight as f64;
                match pointed(a.label) {
                    Some(c) => {
                        let back = self.after_cell(ends, a.next, c);
                        self.back[a.next as usize] = self.back[a.next as usize].min(back);
                        a.rest += back;
                        empty = empty.min(a.weight as f64 + self.outlines[c].empty + after);
                    }
                    None if self.is_silent(&a) => empty = empty.min(a.weight as f64 + after),
                    None => {
                        let class = self.words.after(0, a.word);
                        a.rest += self.ahead(ends, a.next, class);
                    }
                }
                self.arcs[first_arc + i].rest = a.rest;
            }
            empties[s as usize] = empty;
        }
        self.outline(cell, fst, base, &empties);
    }

    /// First words, last classes and the least cost without a word.
    fn outline(&mut self, cell: usize, fst: &FlatFst<Tropical>, base: StateId, empties: &[f64]) {
        let classes = self.words.classes();
        self.cells.resize((cell + 1) * classes, f64::NAN);
        self.cells[cell * classes..].fill(f64::NAN);
        if fst.start() == NO_STATE {
            return;
        }
        let mut flat = true;
        let mut seen = vec![];
        let mut open = vec![(base + fst.start(), 0.0)];
        while let Some((s, cost)) = open.pop() {
            for i in self.range(s) {
                let a = self.arcs[i];
                match pointed(a.label) {
                    Some(c) => {
                        for i in range(self.outlines[c].firsts) {
                            let (word, rest) = self.firsts[i];
                            add_first(&mut self.scratch, &mut seen, word, cost + rest + a.rest);
                        }
                        flat &= self.outlines[c].flat && self.outlines[c].empty == f64::INFINITY;
                    }
                    None if self.is_silent(&a) => open.push((a.next, cost + a.weight as f64)),
                    None => add_first(&mut self.scratch, &mut seen, a.word, cost + a.rest),
                }
            }
        }
        let first = self.firsts.len() as u32;
        for w in seen {
            let rest = std::mem::replace(&mut self.scratch[w as usize], f64::INFINITY);
            self.firsts.push((w, rest));
        }
        let mut ends = vec![false; classes];
        for s in fst.states() {
            for i in fst.range(s) {
                let a = self.arcs[self.offsets[base as usize] as usize + i];
                if empties[(a.next - base) as usize] == f64::INFINITY {
                    continue;
                }
                match pointed(a.label) {
                    Some(c) => range(self.outlines[c].lasts).for_each(|l| ends[self.lasts[l] as usize] = true),
                    None if self.is_silent(&a) => {}
                    None => ends[self.words.after(0, a.word) as usize] = true,
                }
            }
        }
        let last = self.lasts.len() as u32;
        self.lasts.extend((0..classes as u32).filter(|&c| ends[c as usize]));
        let outline = &mut self.outlines[cell];
        outline.firsts = (first, self.firsts.len() as u32);
        outline.lasts = (last, self.lasts.len() as u32);
        outline.empty = empties[fst.start() as usize];
        outline.flat = flat;
    }

    /// Takes the last cell away again.
    pub fn pop(&mut self) {
        let Some(outline) = self.outlines.pop() else { return };
        let kept = self.finals.len() - outline.states as usize;
        self.finals.truncate(kept);
        self.back.truncate(kept);
        self.offsets.truncate(kept + 1);
        self.arcs.truncate(self.offsets[kept] as usize);
        self.firsts.truncate(outline.firsts.0 as usize);
        self.lasts.truncate(outline.lasts.0 as usize);
        self.wide.retain(|&(s, _), _| (s as usize) < kept);
    }

    /// The least cost to come after the cell `c` at a state, whatever the last word of `c` is.
    fn after_cell(&mut self, ends: bool, s: StateId, c: usize) -> f64 {
        if self.range(s).is_empty() && !ends {
            return self.finals[s as usize] as f64;
        }
        if self.outlines[c].empty < f64::INFINITY {
            // The last word is one from before the cell.
            return (0..self.words.classes() as u32).fold(f64::INFINITY, |m, k| m.min(self.ahead(ends, s, k)));
        }
        let mut least = f64::INFINITY;
        for i in range(self.outlines[c].lasts) {
            least = least.min(self.ahead(ends, s, self.lasts[i]));
        }
        least
    }

    /// The least cost from a state to the end of its cell, after this class. `ends`: it is the cell where sentences end.
    pub fn ahead(&mut self, ends: bool, s: StateId, class: u32) -> f64 {
        let arcs = self.range(s);
        let wide = arcs.len() > WIDE;
        if wide && let Some(&known) = self.wide.get(&(s, class)) {
            return known;
        }
        let mut least = self.finals[s as usize] as f64;
        if ends && least < f64::INFINITY {
            least += self.words.least_end(class);
        }
        for i in arcs {
            let a = self.arcs[i];
            let via = match pointed(a.label) {
                Some(c) => a.rest + self.least(c, class),
                None if self.is_silent(&a) => a.weight as f64 + self.ahead(ends, a.next, class),
                None => a.rest + self.charge(&a, class),
            };
            least = least.min(via);
        }
        if wide {
            self.wide.insert((s, class), least);
        }
        least
    }

    /// What the models charge at least, or are taken to charge, for the word of an arc after this class.
    #[inline]
    pub fn charge(&mut self, a: &NetArc, class: u32) -> f64 {
        if a.charge.is_nan() { self.words.least(class, a.word) } else { a.charge }
    }

    /// The least cost of a cell after this class.
    pub fn least(&mut self, cell: usize, class: u32) -> f64 {
        let at = cell * self.words.classes() + class as usize;
        if self.cells[at].is_nan() {
            let Outline { start, firsts, flat, empty, .. } = self.outlines[cell];
            let mut least = empty;
            if flat {
                for i in range(firsts) {
                    let (word, rest) = self.firsts[i];
                    least = least.min(rest + self.words.least(class, word));
                }
            } else if start != NO_STATE {
                least = self.ahead(false, start, class);
            }
            self.cells[at] = least;
        }
        self.cells[at]
    }

    /// The least cost after a cell that returns to this state.
    #[inline]
    pub fn back(&self, s: StateId) -> f64 {
        self.back[s as usize]
    }
    #[inline]
    fn is_silent(&self, a: &NetArc) -> bool {
        a.word == NO_WORD || self.words.is_silent(a.word)
    }
    #[inline(always)]
    pub fn range(&self, s: StateId) -> std::ops::Range<usize> {
        self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize
    }
    #[inline(always)]
    pub fn arc(&self, i: usize) -> NetArc {
        self.arcs[i]
    }
    /// Infinite: not final.
    #[inline(always)]
    pub fn end(&self, s: StateId) -> f32 {
        self.finals[s as usize]
    }
    /// The cell where sentences end.
    pub fn root(&self) -> Option<usize> {
        self.root
    }
    /// The first state of a cell, `NO_STATE` if it has none.
    #[inline(always)]
    pub fn start(&self, cell: usize) -> StateId {
        self.outlines[cell].start
    }
    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        self.arcs.capacity() * size_of::<NetArc>()
            + self.finals.capacity() * 20
            + self.firsts.capacity() * 16
            + self.lasts.capacity() * 4
            + self.cells.capacity() * 8
            + self.wide.capacity() * 24
            + self.words.bytes()
    }
}

fn range((from, to): (u32, u32)) -> std::ops::Range<usize> {
    from as usize..to as usize
}

fn add_first(scratch: &mut [f64], seen: &mut Vec<u32>, word: u32, cost: f64) {
    let least = &mut scratch[word as usize];
    if *least == f64::INFINITY && cost < f64::INFINITY {
        seen.push(word);
    }
    *least = least.min(cost);
}
