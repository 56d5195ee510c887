//! Which rules apply where: the chart of a sentence.

pub mod bag;
pub mod parse;
pub mod show;

use std::ops::Range;

use crate::rules::grammar::{Nt, RuleId};
use crate::text::vocab::WordId;

/// A cell: a nonterminal over a span of the sentence.
#[derive(Clone, Debug)]
pub struct Cell {
    pub nt: Nt,
    pub start: u32,
    pub end: u32,
    /// Its applications in `Chart::applications`.
    pub applications: Range<u32>,
}

/// What is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// Rules with one source side and one left-hand side.
    Rules(Range<RuleId>),
    /// A word without a rule stays as it is.
    PassThrough(WordId),
}

/// Rules over the same cells.
#[derive(Clone, Debug)]
pub struct Application {
    pub applied: Applied,
    /// The cells of the source's nonterminals, in order, in `Chart::children`.
    pub children: Range<u32>,
}

/// All cells from which the whole sentence can be built; each after those it is made of.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub words: usize,
    pub cells: Vec<Cell>,
    pub applications: Vec<Application>,
    pub children: Vec<u32>,
    /// The cell of the start symbol over the whole sentence; `None`: there is no derivation.
    pub goal: Option<u32>,
    /// Places of words that were passed through although rules know them, since nothing else gave a derivation.
    pub forced: Vec<u32>,
    /// Dotted items that were looked at.
    pub items: usize,
}

impl Chart {
    pub fn applications(&self, cell: u32) -> &[Application] {
        let r = &self.cells[cell as usize].applications;
        &self.applications[r.start as usize..r.end as usize]
    }
    pub fn children(&self, a: &Application) -> &[u32] {
        &self.children[a.children.start as usize..a.children.end as usize]
    }
    /// Rules applied, each once a place.
    pub fn num_rules(&self) -> usize {
        let count = |a: &Application| match &a.applied {
            Applied::Rules(r) => r.len(),
            Applied::PassThrough(_) => 1,
        };
        self.applications.iter().map(count).sum()
    }
}
