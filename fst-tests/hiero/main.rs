//! Hiero decoding: against an enumeration of all derivations, against HiFST, on the command line.

#[path = "../lm/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod brute;
mod command;
mod exact;
mod figure;
mod hifst;
mod local;
mod rule_lattice;
