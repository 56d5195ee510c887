//! Word ordering: everything against plain recursion over permutations, and the command.

mod brute;
mod command;
mod dependencies;
mod phrases;
#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;
mod search;
mod words;
