//! The `weft` command: exit codes and broken pipes, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    weft::cli::main(std::env::args_os().collect())
}
