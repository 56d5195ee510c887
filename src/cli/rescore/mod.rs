//! `weft rescore`: what is done to finished lattices, one file a command; each is a stage of a cascade, too.

mod consensus;
mod oracle;
mod prune;

use clap::{Args, Subcommand};

use super::cascade::RunArgs;
use super::cascade::script::{Stage, StageCommand};
use super::env::{Env, Status};
use crate::error::{Error, Result};

#[derive(Args, Debug)]
#[command(
    after_help = "The words of a lattice are its output labels. Lattices are files, templates with --range, or archives;\n\
                  each command is also a stage of `weft cascade`: `rescore-prune --posterior 0.01`.\n\n\
                  Example:\n  weft rescore prune --posterior 0.1 'lats/?.fst' --range 1:3 -o pruned.far"
)]
pub struct RescoreArgs {
    #[command(subcommand)]
    command: RescoreCommand,
}

/// An operation over many lattices: what it does, and what it runs over.
#[derive(Args, Debug)]
struct Over<S: Args> {
    #[command(flatten)]
    stage: S,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant)] // one value a process
enum RescoreCommand {
    #[command(after_help = consensus::HELP)]
    Consensus(consensus::Cmd),
    #[command(after_help = oracle::HELP)]
    Oracle(oracle::Cmd),
    #[command(after_help = prune::HELP)]
    Prune(Over<prune::Prune>),
}

/// The same operations as stages of a cascade.
#[derive(Subcommand, Clone, Debug)]
pub enum RescoreStage {
    RescoreConsensus(consensus::Consensus),
    RescoreOracle(oracle::Oracle),
    RescorePrune(prune::Prune),
}

impl RescoreArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            RescoreCommand::Consensus(c) => c.run(),
            RescoreCommand::Oracle(c) => c.run(),
            RescoreCommand::Prune(c) => {
                c.run.run(&[alone("rescore-prune", RescoreStage::RescorePrune(c.stage.clone()))])
            }
        }
    }
}

impl RescoreStage {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        match self {
            RescoreStage::RescoreConsensus(c) => c.run(env),
            RescoreStage::RescoreOracle(c) => c.run(env),
            RescoreStage::RescorePrune(c) => c.run(env),
        }
    }
}

/// The one stage of a command.
fn alone(name: &str, stage: RescoreStage) -> Stage {
    Stage { command: StageCommand::Rescore(stage), name: name.into(), words: name.into(), place: String::new() }
}

/// Whether what is found is printed: it is, unless the output's name is that of an automaton. `text`: it can only be printed.
fn prints(output: Option<&str>, text: bool) -> Result<bool> {
    let Some(name) = output else { return Ok(true) };
    let bare = [".gz", ".zst", ".zstd"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
    let automata = [".far", ".fst", ".fsa"].iter().any(|s| bare.ends_with(s));
    if automata && text {
        return Err(Error::usage(format!(
            "{name} is the name of an automaton, but text is to be written; name a text file"
        )));
    }
    Ok(!automata)
}
