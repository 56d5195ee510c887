use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::reverse::{ReverseConfig, reverse};
use crate::map_fst;

/// The same strings backwards
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst reverse a.fst backwards.fst")]
pub struct Cmd {
    /// Always make a new start state
    #[arg(
        long,
        default_value_t = true,
        action = clap::ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    require_superinitial: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let config = ReverseConfig { require_superinitial: self.require_superinitial };
        let fst = env.get(self.io.input())?;
        let out = map_fst!(&*fst, f => reverse(f, &config))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
