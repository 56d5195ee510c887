//! weft: a weighted finite-state transducer engine with machine-translation front-ends.
//!
//! ```text
//! text, alignments
//!   └─ rules ──► chart ──► rtn ──expand──► lattice ──lm──► pruned lattice ──► strings, scores
//! files ──format──► FlatFst ──fst──► FlatFst ──format──► files
//! text, references ──eval──► scores
//! ```
//!
//! Modules in pipeline order: `text` and `rules` are what comes in, `chart` says which rules apply where, `rtn` makes
//! automata of that and expands them, `decode` puts these together; `fst` computes on automata, `lm` scores them,
//! `rescore` chooses from finished lattices, `eval` scores translations, `format` reads and writes, `cli` is the command.

pub mod error;
pub mod text;

pub mod chart;
pub mod decode;
pub mod eval;
pub mod format;
pub mod fst;
pub mod lm;
pub mod order;
pub mod rescore;
pub mod rtn;
pub mod rules;

pub mod cli;

pub use error::{Error, Result};

/// The example of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
