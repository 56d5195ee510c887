//! `weft rescore`: what is done to finished lattices, one file a command; each but `concat` is a stage of a cascade, too.

mod align;
mod combine;
mod concat;
mod consensus;
mod grid;
mod kbest;
mod lists;
mod lmbr;
mod oracle;
mod posteriors;
mod prune;
mod sample;

use clap::{Args, Subcommand};

use super::cascade::RunArgs;
use super::cascade::script::{Stage, StageCommand};
use super::env::{Env, Status};
use crate::error::{Error, Result};

#[derive(Args, Debug)]
#[command(
    after_help = "The words of a lattice are its output labels. Lattices are files, templates with --range, or archives;\n\
                  each command but concat is also a stage of `weft cascade`: `rescore-prune --posterior 0.01`.\n\n\
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
    /// Find the derivations that give a string
    #[command(after_help = align::HELP)]
    Align(Over<align::Align>),
    /// Make one lattice of several: union, intersection, interpolation, confusion network
    #[command(after_help = combine::HELP)]
    Combine(Over<combine::Combine>),
    Concat(concat::Concat),
    #[command(after_help = consensus::HELP)]
    Consensus(consensus::Cmd),
    /// List the n best strings of lattices, with costs and features
    #[command(after_help = kbest::HELP)]
    Kbest(Over<kbest::Kbest>),
    /// Minimum Bayes risk: the path that has the n-grams which are likely (LMBR)
    #[command(after_help = lmbr::HELP)]
    Lmbr(Over<lmbr::Lmbr>),
    #[command(after_help = oracle::HELP)]
    Oracle(oracle::Cmd),
    /// Print how likely n-grams, arcs and words are
    #[command(after_help = posteriors::HELP)]
    Posteriors(Over<posteriors::Posteriors>),
    /// Keep the arcs whose posterior probability is high enough
    #[command(after_help = prune::HELP)]
    Prune(Over<prune::Prune>),
    /// Draw paths from the posterior of lattices
    #[command(after_help = sample::HELP)]
    Sample(Over<sample::Sample>),
}

/// The same operations as stages of a cascade.
#[derive(Subcommand, Clone, Debug)]
pub enum RescoreStage {
    RescoreAlign(align::Align),
    RescoreCombine(combine::Combine),
    RescoreConsensus(consensus::Consensus),
    RescoreKbest(kbest::Kbest),
    RescoreLmbr(lmbr::Lmbr),
    RescoreOracle(oracle::Oracle),
    RescorePosteriors(posteriors::Posteriors),
    RescorePrune(prune::Prune),
    RescoreSample(sample::Sample),
}

impl RescoreArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            RescoreCommand::Align(c) => {
                c.stage.check()?;
                c.run.run(&[alone("rescore-align", RescoreStage::RescoreAlign(c.stage.clone()))])
            }
            RescoreCommand::Combine(c) => {
                c.stage.check()?;
                c.run.run(&[alone("rescore-combine", RescoreStage::RescoreCombine(c.stage.clone()))])
            }
            RescoreCommand::Concat(c) => c.run(),
            RescoreCommand::Consensus(c) => c.run(),
            RescoreCommand::Kbest(c) => {
                c.stage.check()?;
                c.run.run(&[alone("rescore-kbest", RescoreStage::RescoreKbest(c.stage.clone()))])
            }
            RescoreCommand::Lmbr(c) => {
                let (stage, run) = c.stage.command(&c.run)?;
                run.run(&[alone("rescore-lmbr", RescoreStage::RescoreLmbr(stage))])
            }
            RescoreCommand::Oracle(c) => c.run(),
            RescoreCommand::Posteriors(c) => {
                let stage = c.stage.command(&c.run)?;
                c.run.run(&[alone("rescore-posteriors", RescoreStage::RescorePosteriors(stage))])
            }
            RescoreCommand::Prune(c) => {
                c.run.run(&[alone("rescore-prune", RescoreStage::RescorePrune(c.stage.clone()))])
            }
            RescoreCommand::Sample(c) => {
                let stage = c.stage.for_output(!prints(c.run.output.as_deref(), c.stage.is_text())?);
                stage.check()?;
                c.run.run(&[alone("rescore-sample", RescoreStage::RescoreSample(stage))])
            }
        }
    }
}

impl RescoreStage {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        match self {
            RescoreStage::RescoreAlign(c) => c.run(env),
            RescoreStage::RescoreCombine(c) => c.run(env),
            RescoreStage::RescoreConsensus(c) => c.run(env),
            RescoreStage::RescoreKbest(c) => c.run(env),
            RescoreStage::RescoreLmbr(c) => c.run(env),
            RescoreStage::RescoreOracle(c) => c.run(env),
            RescoreStage::RescorePosteriors(c) => c.run(env),
            RescoreStage::RescorePrune(c) => c.run(env),
            RescoreStage::RescoreSample(c) => c.run(env),
        }
    }
}

/// The one stage of a command.
fn alone(name: &str, stage: RescoreStage) -> Stage {
    Stage { command: StageCommand::Rescore(stage), name: name.into(), words: name.into(), place: String::new() }
}

/// Whether what is found is printed: it is, unless the output's name is that of automata. `text`: it can only be printed.
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
