use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::epsnormalize::{EpsNormType, epsnormalize};
use crate::map_fst;

/// Move the epsilons of one side to the end of every path
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst epsnormalize --eps-norm-type output a.fst normal.fst")]
pub struct Cmd {
    /// The side whose epsilons move
    #[arg(long, value_enum, default_value_t)]
    eps_norm_type: EpsNormType,
    /// The older spelling of `--eps-norm-type output`
    #[arg(long)]
    eps_norm_output: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let side = if self.eps_norm_output { EpsNormType::Output } else { self.eps_norm_type };
        let fst = env.take(self.io.input())?;
        let out = map_fst!(fst, f => epsnormalize(f, side))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
