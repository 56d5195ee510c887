//! The `weft` command: its memory and its exit code, nothing else.

use std::process::ExitCode;

use weft::cli::allocator::{Memory, explain_refusals};

#[global_allocator]
static MEMORY: Memory = Memory;

fn main() -> ExitCode {
    explain_refusals();
    weft::cli::main(std::env::args_os().collect())
}
