//! `Network`: all cells in one, states and arcs numbered through, with what it costs at least to get out of a cell.
//!
//! Cells are pushed bottom-up. The look-ahead of a state is the least cost from there to the end of its cell: its own
//! weights, for each word what the caller says the language models charge for it, and for a pointer the least cost of the
//! cell it points to.

use super::pointed;
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Tropical;
use crate::fst::visit;

#[derive(Clone, Copy, Debug)]
pub struct NetArc {
    pub label: Label,
    pub weight: f32,
    /// What the models are expected to charge for the word, or what the cell costs at least.
    pub expected: f32,
    pub next: StateId,
}

#[derive(Default)]
pub struct Network {
    offsets: Vec<u32>,
    arcs: Vec<NetArc>,
    finals: Vec<f32>,
    /// Of each state: the least cost to the end of its cell.
    pub ahead: Vec<f64>,
    /// Of each cell: its first state, `NO_STATE` if it has none.
    pub starts: Vec<StateId>,
}

impl Network {
    /// Adds a cell whose pointers lead to cells that are there; `charge` is what the models are expected to charge for
    /// the word of an arc, by the arc's place.
    pub fn push(&mut self, fst: &FlatFst<Tropical>, mut charge: impl FnMut(usize, &Arc<Tropical>) -> f64) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        let base = self.finals.len() as StateId;
        let first_arc = self.arcs.len();
        self.starts.push(if fst.start() == NO_STATE { NO_STATE } else { base + fst.start() });
        for s in fst.states() {
            self.arcs.extend(fst.arcs(s).iter().map(|a| NetArc {
                label: a.ilabel,
                weight: a.weight.0,
                expected: 0.0,
                next: base + a.nextstate,
            }));
            self.offsets.push(self.arcs.len() as u32);
            self.finals.push(fst.final_weight(s).0);
        }
        self.ahead.extend(fst.finals().iter().map(|w| w.0 as f64));
        // Cells have no cycles: they are finite sets of strings.
        let order = visit::topological_order(fst).unwrap_or_default();
        for &s in order.iter().rev() {
            for i in fst.range(s) {
                let a = &fst.all_arcs()[i];
                let word = match pointed(a.ilabel) {
                    Some(cell) => self.least(cell),
                    None if a.ilabel == 0 => 0.0,
                    None => charge(i, a),
                };
                self.arcs[first_arc + i].expected = word as f32;
                let via = a.weight.0 as f64 + word + self.ahead[(base + a.nextstate) as usize];
                let ahead = &mut self.ahead[(base + s) as usize];
                *ahead = ahead.min(via);
            }
        }
    }

    /// Takes the last cell away again.
    pub fn pop(&mut self, states: usize) {
        self.starts.pop();
        let kept = self.finals.len() - states;
        self.finals.truncate(kept);
        self.ahead.truncate(kept);
        self.offsets.truncate(kept + 1);
        self.arcs.truncate(self.offsets[kept] as usize);
    }

    /// The least cost of a cell.
    #[inline]
    pub fn least(&self, cell: usize) -> f64 {
        match self.starts[cell] {
            NO_STATE => f64::INFINITY,
            s => self.ahead[s as usize],
        }
    }
    #[inline(always)]
    pub fn arcs(&self, s: StateId) -> &[NetArc] {
        &self.arcs[self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize]
    }
    /// Infinite: not final.
    #[inline(always)]
    pub fn end(&self, s: StateId) -> f32 {
        self.finals[s as usize]
    }
}
