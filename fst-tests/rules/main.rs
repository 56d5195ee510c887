//! Rules: extraction against a naive twin, scores that sum to one, the same file by every way, bad input.

#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod bad;
mod convert;
mod extract_twin;
mod filter_twin;
mod pipeline;
mod random;
