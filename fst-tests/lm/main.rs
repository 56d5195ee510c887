//! Language models: against the real KenLM, against twins written from the formulas, on random lattices and bad input.

#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod apply;
mod backoff;
mod bad;
mod estimate_cli;
mod estimate_golden;
mod estimate_same;
mod estimate_sums;
mod estimate_twin;
mod model;
mod query_golden;
mod scores;
