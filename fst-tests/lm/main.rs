//! Language models, against the real KenLM and against twins written from the formulas.

#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod estimate_cli;
mod estimate_golden;
mod estimate_same;
mod estimate_sums;
mod estimate_twin;
mod model;
