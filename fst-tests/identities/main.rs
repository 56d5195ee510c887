//! Identities on random automata, each operation against brute force: every path followed, every string compared.
//!
//! Operations run through their command line in this process (`support::memory`), so an identity holds for what a user
//! types. Weights are multiples of 1/8, exact in f32; sums of probabilities are compared within 1e-3.

#[path = "../support/mod.rs"]
mod support;

mod acceptors;
mod optimise;
mod pairs;
mod random;
mod rational;
mod search;
mod structure;
mod texts;
