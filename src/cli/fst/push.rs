use clap::Args;

use super::io::{Unary, nearness};
use super::reweight::Direction;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::push::{PushConfig, push};
use crate::fst::semiring::DELTA;
use crate::map_fst;

/// Move weights and output labels towards the start or the final states
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst push --push-weights --remove-total-weight a.fst pushed.fst")]
pub struct Cmd {
    /// Move weights
    #[arg(long)]
    push_weights: bool,
    /// Move output labels
    #[arg(long)]
    push_labels: bool,
    /// Divide by the total weight of all paths
    #[arg(long)]
    remove_total_weight: bool,
    /// Drop the beginning (or end) that all output strings share
    #[arg(long)]
    remove_common_affix: bool,
    #[command(flatten)]
    direction: Direction,
    /// Ways to a state that differ by no more than this are not told apart; when a log sum over cycles counts as converged
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let config = PushConfig {
            weights: self.push_weights,
            labels: self.push_labels,
            remove_total_weight: self.remove_total_weight,
            remove_common_affix: self.remove_common_affix,
            direction: self.direction.reweight_type(),
            delta: self.delta,
        };
        if !config.weights && !config.labels {
            env.note("push: neither --push-weights nor --push-labels is given, so nothing moves");
        }
        let fst = env.take(self.io.input())?;
        let out = map_fst!(fst, f => push(f, &config))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
