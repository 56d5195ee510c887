//! `weft fst OP`: every OpenFst operation, one file each.

pub mod io;

mod arcsort;
mod closure;
mod compile;
mod compose;
mod concat;
mod connect;
mod convert;
mod determinize;
mod difference;
mod disambiguate;
mod draw;
mod encode;
mod epsnormalize;
mod equal;
mod equivalent;
mod info;
mod intersect;
mod invert;
mod isomorphic;
mod map;
mod minimize;
mod print;
mod project;
mod prune;
mod push;
mod randgen;
mod relabel;
mod replace;
mod reverse;
mod reweight;
mod rmepsilon;
mod shortestdistance;
mod shortestpath;
mod symbols;
mod synchronize;
mod topsort;
mod union;

use clap::{Args, Subcommand};

use super::env::{Env, Status};
use crate::error::Result;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft fst compose a.fst b.fst | weft fst shortestpath | weft fst print")]
pub struct FstArgs {
    #[command(subcommand)]
    pub command: FstCommand,
}

/// One operation: alone on the command line, or a stage of a cascade.
#[derive(Subcommand, Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a handful of values a process
pub enum FstCommand {
    Arcsort(arcsort::Cmd),
    Closure(closure::Cmd),
    Compile(compile::Cmd),
    Compose(compose::Cmd),
    Concat(concat::Cmd),
    Connect(connect::Cmd),
    Convert(convert::Cmd),
    Determinize(determinize::Cmd),
    Difference(difference::Cmd),
    Disambiguate(disambiguate::Cmd),
    Draw(draw::Cmd),
    Encode(encode::Cmd),
    Epsnormalize(epsnormalize::Cmd),
    Equal(equal::Cmd),
    Equivalent(equivalent::Cmd),
    Info(info::Cmd),
    Intersect(intersect::Cmd),
    Invert(invert::Cmd),
    Isomorphic(isomorphic::Cmd),
    Map(map::Cmd),
    Minimize(minimize::Cmd),
    Print(print::Cmd),
    Project(project::Cmd),
    Prune(prune::Cmd),
    Push(push::Cmd),
    Randgen(randgen::Cmd),
    Relabel(relabel::Cmd),
    Replace(replace::Cmd),
    Reverse(reverse::Cmd),
    Reweight(reweight::Cmd),
    Rmepsilon(rmepsilon::Cmd),
    Shortestdistance(shortestdistance::Cmd),
    Shortestpath(shortestpath::Cmd),
    Symbols(symbols::Cmd),
    Synchronize(synchronize::Cmd),
    Topsort(topsort::Cmd),
    Union(union::Cmd),
}

impl FstCommand {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        match self {
            FstCommand::Arcsort(c) => c.run(env),
            FstCommand::Closure(c) => c.run(env),
            FstCommand::Compile(c) => c.run(env),
            FstCommand::Compose(c) => c.run(env),
            FstCommand::Concat(c) => c.run(env),
            FstCommand::Connect(c) => c.run(env),
            FstCommand::Convert(c) => c.run(env),
            FstCommand::Determinize(c) => c.run(env),
            FstCommand::Difference(c) => c.run(env),
            FstCommand::Disambiguate(c) => c.run(env),
            FstCommand::Draw(c) => c.run(env),
            FstCommand::Encode(c) => c.run(env),
            FstCommand::Epsnormalize(c) => c.run(env),
            FstCommand::Equal(c) => c.run(env),
            FstCommand::Equivalent(c) => c.run(env),
            FstCommand::Info(c) => c.run(env),
            FstCommand::Intersect(c) => c.run(env),
            FstCommand::Invert(c) => c.run(env),
            FstCommand::Isomorphic(c) => c.run(env),
            FstCommand::Map(c) => c.run(env),
            FstCommand::Minimize(c) => c.run(env),
            FstCommand::Print(c) => c.run(env),
            FstCommand::Project(c) => c.run(env),
            FstCommand::Prune(c) => c.run(env),
            FstCommand::Push(c) => c.run(env),
            FstCommand::Randgen(c) => c.run(env),
            FstCommand::Relabel(c) => c.run(env),
            FstCommand::Replace(c) => c.run(env),
            FstCommand::Reverse(c) => c.run(env),
            FstCommand::Reweight(c) => c.run(env),
            FstCommand::Rmepsilon(c) => c.run(env),
            FstCommand::Shortestdistance(c) => c.run(env),
            FstCommand::Shortestpath(c) => c.run(env),
            FstCommand::Symbols(c) => c.run(env),
            FstCommand::Synchronize(c) => c.run(env),
            FstCommand::Topsort(c) => c.run(env),
            FstCommand::Union(c) => c.run(env),
        }
    }
}
