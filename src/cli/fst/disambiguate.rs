use clap::Args;

use super::io::{Unary, weight_text};
use super::prune::threshold;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::disambiguate::{DisambiguateConfig, disambiguate};
use crate::fst::semiring::{DELTA, Weight};
use crate::map_fst;

/// Make an equivalent automaton with one path at most for every input string
#[derive(Args, Clone, Debug)]
#[command(after_help = "Epsilon is a label like any other here; remove epsilons first (weft fst rmepsilon).\n\n\
                  Example:\n  weft fst disambiguate acc.fst unambiguous.fst")]
pub struct Cmd {
    /// Weights of subsets that differ by less count as equal
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    /// Keep at most this many states, best first (tropical only)
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = -1)]
    nstate: i64,
    /// Keep only paths within this weight of the best (tropical only)
    #[arg(long, value_parser = weight_text, value_name = "WEIGHT", allow_hyphen_values = true)]
    weight: Option<String>,
    /// Input label of the arcs that emit what output is left at a final state
    #[arg(long, value_name = "LABEL", allow_negative_numbers = true, default_value_t = 0)]
    subsequential_label: i32,
    /// Stop with an error when the result has more states (0: no limit)
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_states: usize,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    fn config<W: Weight>(&self) -> Result<DisambiguateConfig<W>> {
        Ok(DisambiguateConfig {
            delta: self.delta,
            weight: threshold(&self.weight)?,
            nstate: usize::try_from(self.nstate).ok(),
            subsequential_label: self.subsequential_label,
            max_states: self.max_states,
        })
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.take(self.io.input())?;
        let result = map_fst!(fst, f => disambiguate(f, &self.config()?))?;
        env.put(self.io.output(), result)?;
        Ok(Status::Done)
    }
}
