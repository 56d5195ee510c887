use clap::Args;

use super::io::Binary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::concat::concat;
use crate::map_fst2;

/// Strings of the first automaton followed by strings of the second
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst concat a.fst b.fst ab.fst")]
pub struct Cmd {
    #[command(flatten)]
    io: Binary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let (a, b) = (env.get(self.io.a())?, env.get(self.io.b())?);
        let out = map_fst2!("concat", &*a, &*b, (f, g) => concat(f, g))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
