use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::invert::invert;
use crate::map_fst;

/// Exchange input and output labels
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst invert a.fst inverse.fst")]
pub struct Cmd {
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.take(self.io.input())?;
        let out = map_fst!(fst, f => Result::Ok(invert(f)))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
