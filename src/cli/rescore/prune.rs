//! `weft rescore prune`: keeps the arcs that a share of the probability passes through.

use clap::Args;

use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::map_fst;
use crate::rescore::prune::{PruneConfig, prune};

pub const HELP: &str = "The probability of a path is e^(-alpha * cost), over the sum for all paths. The best path stays, whatever its \
                        probability.\n\nExamples:\n  weft rescore prune --posterior 0.01 lat.fst -o small.fst\n  \
                        weft rescore prune --posterior 0.1 --alpha 0.5 'lats/?.fst' --range 1:3 -o 'out/?.fst.gz'";

/// Keep the arcs whose posterior probability is high enough
#[derive(Args, Clone, Debug)]
pub struct Prune {
    /// Least probability of the paths through an arc, from 0 to 1
    #[arg(long, value_name = "P")]
    posterior: f64,
    /// What costs are multiplied by before they become probabilities
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
}

impl Prune {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let config = PruneConfig { alpha: self.alpha, posterior: self.posterior };
        let fst = env.get(None)?;
        let kept = map_fst!(&*fst, f => prune(f, &config))?;
        env.put(None, kept)?;
        Ok(Status::Done)
    }
}
