use clap::Args;

use super::io::{Unary, nearness};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::write_g;
use crate::fst::semiring::{SHORTEST_DELTA, Weight};
use crate::fst::shortestdistance::{DistanceConfig, shortest_distance};
use crate::with_fst;

/// OpenFst's names of the order in which states are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum QueueType {
    #[default]
    Auto,
    Fifo,
    Lifo,
    Shortest,
    State,
    Top,
}

/// Print the distance from the start to every state, or from every state to the end
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst shortestdistance --reverse a.fst")]
pub struct Cmd {
    /// Distance to the final states instead of from the start
    #[arg(long)]
    reverse: bool,
    /// Ways to a state that differ by no more than this are not told apart; when a log sum over cycles counts as converged
    #[arg(long, default_value_t = SHORTEST_DELTA)]
    delta: f32,
    /// The state to start from, as in OpenFst (-1: the start state)
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    nstate: i64,
    /// Significant digits; 9 are exact for standard and log, 17 for log64
    #[arg(long, default_value_t = 9)]
    precision: usize,
    /// Accepted as in OpenFst; the engine picks the order of its work, and the result is the same
    #[arg(long, value_enum, default_value_t, hide = true)]
    queue_type: QueueType,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let fst = env.get(self.io.input())?;
        // OpenFst lets --nstate be where the distances are to the end.
        let source = u32::try_from(self.nstate).ok().filter(|_| !self.reverse);
        if self.reverse && self.nstate >= 0 {
            env.note("--nstate (where to start) plays no part in distances to the end (--reverse)");
        }
        let config = DistanceConfig { reverse: self.reverse, delta: Some(self.delta), source, ..Default::default() };
        let costs: Vec<f64> =
            with_fst!(&*fst, f => shortest_distance(f, &config)?.into_iter().map(|w| w.to_f64()).collect());
        // As OpenFst: nothing for the states after the last one that has a distance or, going forward, that an arc leads
        // to from one that has, if only with the weight Infinity.
        let mut last = costs.iter().rposition(|&c| c < f64::INFINITY).map_or(0, |p| p + 1);
        if !self.reverse {
            let reached = with_fst!(&*fst, f => f.transitions().filter(|(s, _)| costs[*s as usize] < f64::INFINITY)
                .map(|(_, a)| a.nextstate as usize + 1).max());
            last = last.max(reached.unwrap_or(0));
        }
        let mut text = String::new();
        for (s, &cost) in costs[..last].iter().enumerate() {
            text += &format!("{s}\t");
            write_g(&mut text, cost, self.precision);
            text.push('\n');
        }
        let name = self.io.output().unwrap_or("standard output").to_string();
        env.text(self.io.output(), &mut |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(&name, e)))?;
        Ok(Status::Done)
    }
}
