use clap::Args;

use super::io::{Unary, nearness, weight_text};
use super::prune::{state_limit, threshold};
use super::shortestdistance::QueueType;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::rmepsilon::{RmEpsilonConfig, rmepsilon};
use crate::fst::semiring::SHORTEST_DELTA;
use crate::map_fst;

/// Remove arcs that are epsilon on both sides
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst rmepsilon a.fst noeps.fst")]
pub struct Cmd {
    /// Trim the result
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    connect: bool,
    /// When a sum over epsilon cycles counts as converged (log semirings)
    #[arg(long, default_value_t = SHORTEST_DELTA)]
    delta: f32,
    /// Prune the result to at most this many states (-1: no limit)
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    nstate: i64,
    /// Prune the result: how much worse than the best path a path may be
    #[arg(long, value_parser = weight_text, value_name = "WEIGHT")]
    weight: Option<String>,
    /// Accepted as in OpenFst; the engine picks the order of its work, and the result is the same
    #[arg(long, value_enum, default_value_t, hide = true)]
    queue_type: QueueType,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let fst = env.take(self.io.input())?;
        let (connect, delta, nstate) = (self.connect, self.delta, state_limit(self.nstate));
        let out = map_fst!(fst, f => threshold(&self.weight).and_then(|weight| {
            rmepsilon(f, &RmEpsilonConfig { connect, weight, nstate, delta })
        }))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
