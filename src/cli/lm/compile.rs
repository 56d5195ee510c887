//! `weft lm compile`: a model in the form that loads in milliseconds.

use std::io::IsTerminal;

use clap::Args;

use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::binary;

/// Turns an ARPA file into a binary file that is mapped into memory, not read
#[derive(Args, Debug)]
#[command(
    after_help = "A file whose name ends in .gz or .zst is compressed and must then be unpacked at every use.\n\n\
                  Example:\n  weft lm compile lm.arpa -o lm.bin"
)]
pub struct Cmd {
    /// Model (`-` or nothing: standard input)
    model: Option<String>,
    /// Output file (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let output = self.output.as_deref().or(self.out.as_deref()).unwrap_or("-");
        if io::is_stdio(output) && std::io::stdout().is_terminal() {
            return Err(Error::usage("the result is a binary model: write it to a file (-o FILE)"));
        }
        let model = binary::load(self.model.as_deref().unwrap_or("-"))?;
        binary::write(output, &model)?;
        Ok(Status::Done)
    }
}
