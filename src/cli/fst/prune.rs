use clap::Args;

use super::io::{Unary, nearness, weight_text};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::weight_from;
use crate::fst::prune::{PruneConfig, prune};
use crate::fst::semiring::{DELTA, Weight};
use crate::map_fst;

/// Keep what is near the best path: by weight, by number of states
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst prune --weight 3 acc.fst pruned.fst")]
pub struct Cmd {
    /// How much worse than the best path a path may be
    #[arg(long, value_parser = weight_text, value_name = "WEIGHT", allow_negative_numbers = true)]
    weight: Option<String>,
    /// Keep at most this many states, the best first (-1: no limit)
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    nstate: i64,
    /// Of two ways to the end that differ by no more than this the one that is found first counts; 0 is exact
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    #[command(flatten)]
    io: Unary,
}

/// A weight given as an option; nothing given is zero, the threshold that lets everything pass.
pub fn threshold<W: Weight>(given: &Option<String>) -> Result<W> {
    match given.as_deref().filter(|t| !t.is_empty()) {
        None => Ok(W::ZERO),
        Some(text) => weight_from(text).map_err(|message| Error::usage(format!("--weight: {message}"))),
    }
}

/// A number of states given as an option; negative is no limit.
pub fn state_limit(given: i64) -> Option<usize> {
    usize::try_from(given).ok()
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let fst = env.take(self.io.input())?;
        let (nstate, delta) = (state_limit(self.nstate), Some(self.delta));
        let out = map_fst!(fst, f => {
            threshold(&self.weight).and_then(|weight| prune(f, &PruneConfig { weight, nstate, delta }))
        })?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
