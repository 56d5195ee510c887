//! Synchronous rules: the type, text formats, extraction, scoring, filtering, and the grammar that the chart matches.
//!
//! ```text
//! corpus ──extract──► instances ──sort──combine──► counted rules ──sort──score──► rules ──filter──► rules for a test set
//! ```

pub mod combine;
pub mod convert;
pub mod extract;
pub mod filter;
pub mod format;
pub mod grammar;
pub mod lexicon;
pub mod load;
pub mod pattern;
pub mod pipeline;
pub mod rule;
pub mod score;
pub mod shallow;
pub mod sort;
pub mod stage;
