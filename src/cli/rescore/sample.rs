//! `weft rescore sample`: paths drawn from the posterior of lattices.

use clap::Args;

use super::lists::{Line, ListArgs, ListFormat, put_list};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::rescore::sample::{OP, SampleConfig, automaton, sample, seed_of};
use crate::{map_fst, with_fst};

pub const HELP: &str = "Each path is drawn with the probability e^(-alpha * cost), over the sum for all paths, and independently of the \
    others. The same seed gives the same paths, whatever the number of threads and whichever other lattices there are: each \
    sentence has its own numbers, by the seed and the number of the sentence.\n\n\
    Examples:\n  weft rescore sample -n 3 --seed 7 lat.fst\n  \
    weft rescore sample -n 100 --alpha 0.5 --format moses 'lats/?.fst' --range 1:3 -o samples.txt\n  \
    weft rescore sample -n 100 'lats/?.fst' --range 1:3 -o samples.far\n\n\
    The first prints, of a lattice with \"a c\" and \"b c\" at the same cost:\n\
    \u{20}   a c\n    a c\n    a c";

/// Draw paths from the posterior of lattices
#[derive(Args, Clone, Debug)]
pub struct Sample {
    /// How many
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    n: usize,
    /// Where the random numbers begin
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// What costs are multiplied by before they become probabilities
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// Make an automaton of the paths, each once, with -ln of its share of the draws as its cost; implied by -o with .fst or .far
    #[arg(long)]
    automaton: bool,
    /// What a line looks like
    #[arg(long, value_enum, default_value_t = ListFormat::Strings, conflicts_with = "automaton")]
    format: ListFormat,
    /// A tab and the cost after plain strings
    #[arg(long, conflicts_with = "automaton")]
    print_weight: bool,
    #[command(flatten)]
    list: ListArgs,
}

impl Sample {
    /// True if what is asked for can only be printed.
    pub fn is_text(&self) -> bool {
        self.print_weight || self.list.features() || self.format == ListFormat::Moses
    }

    /// The same, for a file of automata or not.
    pub fn for_output(&self, automata: bool) -> Self {
        Sample { automaton: self.automaton || automata, ..self.clone() }
    }

    /// What can be known to be wrong before any lattice is read.
    pub fn check(&self) -> Result<()> {
        if self.n == 0 {
            return Err(Error::usage("-n 0: expected how many paths to draw, from 1 on"));
        }
        if !self.alpha.is_finite() {
            return Err(Error::usage(format!("--alpha {}: expected a number", self.alpha)));
        }
        if self.list.features() && (self.automaton || self.format == ListFormat::Strings) {
            return Err(Error::usage("features are a part of Moses' lines: add --format moses"));
        }
        Ok(())
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let number = env.number();
        let config = SampleConfig { n: self.n, seed: seed_of(self.seed, number), alpha: self.alpha };
        let fst = env.get(None)?;
        if self.automaton {
            let drawn = map_fst!(&*fst, f => sample(f, &config).map(|paths| automaton(f, &paths)))?;
            env.put(None, drawn)?;
            return Ok(Status::Done);
        }
        let files = self.list.files(env, &fst)?;
        let line = Line { format: self.format, cost: self.print_weight, number };
        put_list(env, OP, &fst, &files, line, |fst| with_fst!(fst, f => sample(f, &config)))?;
        Ok(Status::Done)
    }
}
