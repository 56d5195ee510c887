use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::arcsort::{SortType, arcsort};
use crate::map_fst;

/// Sort the arcs of every state by label
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst arcsort --sort-type olabel a.fst sorted.fst")]
pub struct Cmd {
    /// The label to sort by
    #[arg(long, value_enum, default_value_t)]
    sort_type: SortType,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.take(self.io.input())?;
        let sorted = map_fst!(fst, f => crate::error::Result::Ok(arcsort(f, self.sort_type)))?;
        env.put(self.io.output(), sorted)?;
        Ok(Status::Done)
    }
}
