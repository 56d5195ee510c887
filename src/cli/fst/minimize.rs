use clap::Args;

use super::io::{Unary, distinct};
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::any::AnyFst;
use crate::fst::minimize::{MinimizeConfig, minimize, minimize_split};
use crate::fst::semiring::SHORTEST_DELTA;
use crate::{map_fst, with_fst};

/// Make the equivalent deterministic automaton with the fewest states
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "With OUT2, the outputs of a transducer become new labels, one a string, and OUT2 maps these to the \
                  strings: OUT composed with OUT2 is the minimal transducer.\n\n\
                  Example:\n  weft fst determinize acc.fst | weft fst minimize - minimal.fst"
)]
pub struct Cmd {
    /// Weights are rounded to a multiple of this
    #[arg(long, default_value_t = SHORTEST_DELTA)]
    delta: f32,
    /// Take nondeterministic input too, and merge states of the same future (tropical only)
    #[arg(long)]
    allow_nondet: bool,
    #[command(flatten)]
    io: Unary,
    /// Second output: from new labels to the strings of outputs
    #[arg(value_name = "OUT2")]
    out2: Option<String>,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        if let Some(second) = &self.out2 {
            distinct(&[self.io.output(), Some(second)])?;
        }
        let fst = env.take(self.io.input())?;
        let config = MinimizeConfig { delta: self.delta, allow_nondet: self.allow_nondet };
        match &self.out2 {
            None => env.put(self.io.output(), map_fst!(fst, f => minimize(f, &config))?)?,
            Some(second) => {
                let (a, b): (AnyFst, AnyFst) = with_fst!(fst, f => {
                    let (a, b) = minimize_split(f, &config)?;
                    (a.into(), b.into())
                });
                env.put(self.io.output(), a)?;
                env.put(Some(second), b)?;
            }
        }
        Ok(Status::Done)
    }
}
