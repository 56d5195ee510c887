use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::connect::connect;
use crate::map_fst;

/// Remove the states that lie on no path from the start to a final state
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst connect a.fst trim.fst")]
pub struct Cmd {
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.take(self.io.input())?;
        let out = map_fst!(fst, f => Result::Ok(connect(f)))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
