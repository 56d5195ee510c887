use clap::Args;

use super::io::nearness;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::equivalent::{EquivalentConfig, RandomConfig, Select, equivalent, random_equivalent};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::{DELTA, Weight};
use crate::with_fst2;

/// Exit 0 if two automata accept the same strings with the same weights, 1 if not
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Input that is not an epsilon-free deterministic acceptor is prepared: epsilons are removed, pairs of \
                  labels encoded, and the acceptor determinized (up to --max-states). If that does not decide it, as for \
                  some nondeterministic transducers, it is an error; --random works on any input.\n\n\
                  Example:\n  weft fst equivalent acc.fst acc.fst && echo same"
)]
pub struct Cmd {
    /// Weights this close are equal
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    /// Compare the weights of random paths instead: a yes is then only likely
    #[arg(long)]
    random: bool,
    /// Random: number of paths
    #[arg(long, value_name = "N", default_value_t = 1)]
    npath: usize,
    /// Random: leave out paths longer than this
    #[arg(long, value_name = "N", default_value_t = i32::MAX as usize)]
    max_length: usize,
    /// Random: seed of the generator
    #[arg(long, value_name = "N", default_value_t = 3629558605)]
    seed: u64,
    /// Random: how arcs are chosen
    #[arg(long, value_enum, default_value_t)]
    select: Select,
    /// Stop with an error when preparing makes this many states (0: no limit)
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_states: usize,
    /// First automaton (`-`: standard input)
    #[arg(value_name = "A")]
    a: String,
    /// Second automaton (`-` or nothing: standard input)
    #[arg(value_name = "B")]
    b: Option<String>,
}

impl Cmd {
    fn go<W: Weight>(&self, a: &FlatFst<W>, b: &FlatFst<W>) -> Result<bool> {
        if !self.random {
            return equivalent(a, b, &EquivalentConfig { delta: self.delta, max_states: self.max_states });
        }
        let config = RandomConfig {
            delta: self.delta,
            npath: self.npath,
            max_length: self.max_length,
            seed: self.seed,
            select: self.select,
        };
        random_equivalent(a, b, &config)
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let (a, b) = (env.get(Some(&self.a))?, env.get(self.b.as_deref())?);
        let yes = with_fst2!("equivalent", &*a, &*b, (f, g) => self.go(f, g))?;
        Ok(Status::from_answer(yes))
    }
}
