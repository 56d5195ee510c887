use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::binary::Container;

/// Write an automaton in another container
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst convert --fst-type const a.fst const.fst")]
pub struct Cmd {
    /// Container to write: vector or const
    #[arg(long, default_value = "vector", value_name = "TYPE")]
    fst_type: String,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let container = match self.fst_type.as_str() {
            "vector" => Container::Vector,
            "const" => Container::Const,
            other => {
                return Err(Error::usage(format!(
                    "automaton type {other:?} cannot be written; vector and const can, and OpenFst's fstconvert reads both"
                )));
            }
        };
        let fst = env.take(self.io.input())?;
        env.put_as(self.io.output(), fst, container)?;
        Ok(Status::Done)
    }
}
