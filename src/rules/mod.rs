//! Synchronous rules: the type, text formats, extraction, scoring, filtering, and the grammar that the chart matches.

pub mod rule;
