//! Language models: n-gram models estimated from text, read, queried, shown as automata and applied to lattices.
//!
//! `estimate` makes an ARPA file from text.

pub mod estimate;
