//! weft: a weighted finite-state transducer engine with machine-translation front-ends.
//!
//! ```text
//! files ──format──► FlatFst ──fst──► FlatFst ──format──► files
//!                      ▲                │
//!                      └──── cli: weft fst OP, weft cascade
//! ```
//!
//! Modules in pipeline order: `format` reads and writes, `fst` computes, `cli` is the command.

pub mod chart;
pub mod decode;
pub mod error;
pub mod format;
pub mod fst;
pub mod lm;
pub mod rtn;
pub mod rules;
pub mod text;

pub mod cli;

pub use error::{Error, Result};

/// The example of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
