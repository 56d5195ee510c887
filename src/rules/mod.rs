//! Synchronous rules: the type, text formats, extraction, scoring, filtering, and the grammar that the chart matches.

pub mod format;
pub mod grammar;
pub mod load;
pub mod rule;
