use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::closure::{ClosureType, closure};
use crate::map_fst;

/// Concatenative closure, T* or T+
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst closure a.fst star.fst")]
pub struct Cmd {
    /// Which closure
    #[arg(long, value_enum, default_value_t)]
    closure_type: ClosureType,
    /// The older spelling of `--closure-type plus`: at least once, do not add the empty string
    #[arg(long)]
    closure_plus: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let kind = if self.closure_plus { ClosureType::Plus } else { self.closure_type };
        let fst = env.get(self.io.input())?;
        let out = map_fst!(&*fst, f => Result::Ok(closure(f, kind)))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
