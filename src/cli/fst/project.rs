use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::project::{ProjectType, project};
use crate::map_fst;

/// Make an acceptor of the input or the output side
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst project --project-type output a.fst out.fst")]
pub struct Cmd {
    /// The side to keep
    #[arg(long, value_enum, default_value_t)]
    project_type: ProjectType,
    /// The older spelling of `--project-type output`
    #[arg(long)]
    project_output: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let side = if self.project_output { ProjectType::Output } else { self.project_type };
        let fst = env.take(self.io.input())?;
        let out = map_fst!(fst, f => Result::Ok(project(f, side)))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
