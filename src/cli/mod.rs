//! The `weft` command: one file a subcommand, each a clap struct and a short `run`.

/// A line on standard error. That nobody reads it (a closed pipe, a full disk) is no reason to end otherwise.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use say;

pub mod allocator;
pub mod args;
pub mod cascade;
mod claims;
pub mod decode;
pub mod demo;
pub mod env;
pub mod eval;
pub mod far;
pub mod fst;
pub mod lattice;
mod library_flags;
pub mod lm;
pub mod memory;
pub mod operands;
pub mod order;
pub mod rescore;
pub mod rules;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::Result;
use env::Status;

#[derive(Parser, Debug)]
#[command(
    name = "weft",
    version,
    about = "Weighted finite-state transducers and what is built on them",
    long_about = "weft: a weighted finite-state transducer engine with machine-translation front-ends.\n\n\
                  Everything reads and writes OpenFst's files. `-` or no name is standard input or output; \
                  gz and zstd are recognised on reading and chosen by the suffix on writing.",
    after_help = "Examples:\n  weft fst compile --acceptor a.txt | weft fst determinize | weft fst print --acceptor\n  \
                  weft lm apply --lm lm.arpa --prune 9 'lats/?.fst' -o 'out/?.fst.gz' --range 1:3",
    propagate_version = true,
    disable_help_subcommand = true
)]
pub struct Weft {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant)] // one value a process
enum Command {
    /// Every OpenFst operation, with the same names, options and files
    Fst(fst::FstArgs),
    /// Archives of many automata in one file (OpenFst's far tools)
    Far(far::FarArgs),
    /// Lattices of other tools
    Lattice(lattice::LatticeArgs),
    /// Language models: estimate, query, look at as automata, apply to lattices
    Lm(lm::LmArgs),
    Decode(decode::DecodeArgs),
    /// From aligned text to translations on shipped data, every command shown
    Demo(demo::DemoArgs),
    Order(order::OrderArgs),
    /// Translation rules: extract, score, filter, convert, make shallow
    Rules(rules::RulesArgs),
    /// How good translations and word orders are, and whether systems differ
    Eval(eval::EvalArgs),
    /// What is done to finished lattices
    Rescore(rescore::RescoreArgs),
    /// A script of operations over one lattice or thousands, in parallel
    Cascade(cascade::CascadeArgs),
}

/// Runs the command line. 0: all done; 1: a test said no, or some inputs failed; 2: usage or environment.
pub fn main(argv: Vec<OsString>) -> ExitCode {
    let mut command = args::openfst_booleans_of(Weft::command(), &argv[1.min(argv.len())..]);
    let argv = operands::set_aside(&command, argv);
    let argv = match library_flags::take(&command, argv) {
        Ok(argv) => args::openfst_spelling(&command, argv),
        Err(e) => {
            crate::cli::say!("weft: {e}");
            return ExitCode::from(2);
        }
    };
    let parsed = command.try_get_matches_from_mut(argv).and_then(|m| Weft::from_arg_matches(&m));
    // It is large, and the process will not need its memory for anything else.
    std::mem::forget(command);
    let weft = match parsed {
        Ok(w) => w,
        Err(e) => {
            // A closed pipe under `--help | head` is nobody's error.
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    let mut env = env::ProcessEnv::default();
    match weft.run(&mut env) {
        Ok(Status::Done) => ExitCode::SUCCESS,
        Ok(Status::No) => ExitCode::from(1),
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            crate::cli::say!("weft: {}", env.told(&e));
            ExitCode::from(2)
        }
    }
}

impl Weft {
    fn run(self, env: &mut env::ProcessEnv) -> Result<Status> {
        match self.command {
            Command::Fst(args) => args.command.run(env),
            Command::Far(args) => args.run(),
            Command::Lattice(args) => args.run(),
            Command::Lm(args) => args.run(),
            Command::Rules(args) => args.run(),
            Command::Decode(args) => args.run(),
            Command::Order(args) => args.run(),
            Command::Demo(args) => args.run(),
            Command::Eval(args) => args.run(),
            Command::Rescore(args) => args.run(),
            Command::Cascade(args) => args.run(),
        }
    }
}
