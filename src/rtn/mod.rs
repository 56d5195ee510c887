//! Cells as automata with pointers: a recursive transition network, and the ways to expand it.
//!
//! ```text
//! Chart ──build──► Rtn ──expand (full)───────────────────► lattice ──lm──► lattice
//!                   ├──── local: cells pruned with the LM ──┘
//!                   ├──── whole: expansion × LM, where that fits ──► lattice
//!                   ├──── lazy: network × LM, best first, only what a beam needs ──► lattice
//!                   └──── agenda: network × LM as a pushdown automaton, best first ──parts──► lattice
//! Chart × lattice ──rule_lattice──► transducer from rules to words
//! ```

pub mod agenda;
pub mod ahead;
pub mod bag;
pub mod build;
pub mod cell;
pub mod contract;
pub mod derive;
pub mod expand;
pub mod local;
pub mod network;
pub mod parts;
pub mod queue;
pub mod rule_lattice;
mod rule_parts;
pub mod search;
pub mod small;
pub mod whole;

use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Tropical;
use crate::rules::grammar::{Grammar, Nt};

/// Labels from here up point to cells.
pub const POINTER: Label = 1 << 30;

/// The cell that a label points to.
#[inline(always)]
pub fn pointed(label: Label) -> Option<usize> {
    (label >= POINTER).then(|| (label - POINTER) as usize)
}

/// What a cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub nt: Nt,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn name(&self, grammar: &Grammar) -> String {
        format!("{}[{}:{}]", grammar.nonterminals()[self.nt as usize], self.start, self.end)
    }
    pub fn width(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// One automaton a cell, each after those it points to.
#[derive(Clone, Debug)]
pub struct Rtn {
    pub cells: Vec<FlatFst<Tropical>>,
    pub spans: Vec<Span>,
    pub root: usize,
}

impl Rtn {
    pub fn num_states(&self) -> usize {
        self.cells.iter().map(FlatFst::num_states).sum()
    }
    pub fn num_arcs(&self) -> usize {
        self.cells.iter().map(FlatFst::num_arcs).sum()
    }
    pub fn pointer(cell: usize) -> Label {
        POINTER + cell as Label
    }
}
