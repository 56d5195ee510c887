use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::format::binary::Container;

/// Write an automaton in another container
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst convert --fst-type const a.fst const.fst")]
pub struct Cmd {
    /// Container to write; a compact one leaves out what such an automaton has not: labels, weights, states
    #[arg(long, value_enum, default_value_t)]
    fst_type: Container,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.take(self.io.input())?;
        env.put_as(self.io.output(), fst, self.fst_type)?;
        Ok(Status::Done)
    }
}
