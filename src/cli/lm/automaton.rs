//! `weft lm fst`: a model as an automaton.

use clap::{Args, ValueEnum};

use crate::cli::env::{Env, ProcessEnv, Status};
use crate::error::Result;
use crate::fst::any::AnyFst;
use crate::lm::apply::Boundaries;
use crate::lm::automaton::{AutomatonConfig, Backoff, automaton};
use crate::lm::binary;

/// Writes a model as an automaton, with its words as symbols
#[derive(Args, Debug)]
#[command(
    after_help = "Compose a lattice with it exactly by `weft fst compose --phi-label '<phi>' lattice.fst G.fst`, if the words \
                  of\nboth have the same numbers; `weft lm apply` looks words up by name, knows unknown words, and is faster.\n\n\
                  Example:\n  weft lm fst --backoff phi lm.arpa -o G.fst"
)]
pub struct Cmd {
    /// Model: ARPA, or made by `weft lm compile` (`-` or nothing: standard input)
    model: Option<String>,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// What happens when no n-gram matches
    #[arg(long, value_enum, default_value_t)]
    backoff: Backoff,
    /// Where the sentence boundaries are: `add`: start and final weights, `present`: arcs, `none`: nowhere
    #[arg(long, value_enum, default_value_t)]
    boundaries: Boundaries,
    /// Arc type of the automaton
    #[arg(long, value_enum, default_value_t)]
    arc_type: ArcType,
    /// Refuse to make an automaton of more arcs
    #[arg(long, default_value_t = 500_000_000, value_name = "N")]
    max_arcs: u64,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ArcType {
    #[default]
    Standard,
    Log,
    Log64,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let model = binary::load(self.model.as_deref().unwrap_or("-"))?;
        let config = AutomatonConfig { backoff: self.backoff, boundaries: self.boundaries, max_arcs: self.max_arcs };
        let fst: AnyFst = match self.arc_type {
            ArcType::Standard => automaton(&model, &config).map(AnyFst::Standard),
            ArcType::Log => automaton(&model, &config).map(AnyFst::Log),
            ArcType::Log64 => automaton(&model, &config).map(AnyFst::Log64),
        }?;
        let mut env = ProcessEnv::default();
        env.put(self.output.as_deref().or(self.out.as_deref()), fst)?;
        Ok(Status::Done)
    }
}
