//! Rescoring against brute force over all paths of random lattices, against recorded answers, and on the command line.

#[path = "../identities/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;
#[path = "../support/mod.rs"]
mod support;

mod combination;
mod combination_commands;
mod import;
mod lists;
mod lists_commands;
mod lmbr_commands;
mod posteriors;
