use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::synchronize::synchronize;
use crate::map_fst;

/// Regroup labels so that input and output advance together
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst synchronize a.fst together.fst\n\n\
    Every cycle must have as many input as output labels.")]
pub struct Cmd {
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.get(self.io.input())?;
        let out = map_fst!(&*fst, f => synchronize(f))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
