use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::any::AnyFst;
use crate::fst::topsort::topsort;

/// Number the states so that arcs only go up; a cyclic automaton stays as it is
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst topsort a.fst sorted.fst")]
pub struct Cmd {
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let sorted = match env.take(self.io.input())? {
            AnyFst::Standard(f) => topsort(f).map(AnyFst::from).map_err(AnyFst::from),
            AnyFst::Log(f) => topsort(f).map(AnyFst::from).map_err(AnyFst::from),
            AnyFst::Log64(f) => topsort(f).map(AnyFst::from).map_err(AnyFst::from),
        };
        let out = sorted.unwrap_or_else(|cyclic| {
            env.note("topsort: the automaton is cyclic and stays as it is");
            cyclic
        });
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
