use clap::Args;

use super::io::{Unary, weight_text};
use super::prune::{state_limit, threshold};
use super::shortestdistance::QueueType;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::shortestpath::{ShortestPathConfig, shortestpath};
use crate::map_fst;

/// The n best paths, or the n best distinct strings
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst shortestpath --nshortest 10 --unique a.fst -o n.fst")]
pub struct Cmd {
    /// How many paths
    #[arg(long, default_value_t = 1)]
    nshortest: usize,
    /// Distinct input strings instead of distinct paths (exact; epsilons do not count)
    #[arg(long)]
    unique: bool,
    /// How much worse than the best a path may be
    #[arg(long, value_parser = weight_text, value_name = "WEIGHT", allow_negative_numbers = true)]
    weight: Option<String>,
    /// Stop when the search has made this many states (-1: no limit)
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    nstate: i64,
    /// Accepted as in OpenFst; costs here are exact, so nothing depends on it
    #[arg(long, hide = true)]
    delta: Option<f32>,
    /// Accepted as in OpenFst; the engine picks the order of its work
    #[arg(long, value_enum, default_value_t, hide = true)]
    queue_type: QueueType,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.get(self.io.input())?;
        let (nshortest, unique, nstate) = (self.nshortest, self.unique, state_limit(self.nstate));
        let out = map_fst!(&*fst, f => threshold(&self.weight).and_then(|weight| {
            shortestpath(f, &ShortestPathConfig { nshortest, unique, weight, nstate })
        }))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
