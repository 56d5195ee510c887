use clap::Args;

use crate::cli::env::{Env, Status};
use crate::cli::operands::{self, Operands};
use crate::error::Result;
use crate::fst::any::{AnyFst, mixed};
use crate::fst::union::union_all;

/// The strings of any of two or more automata
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst union a.fst b.fst acc.fst -o any.fst")]
pub struct Cmd {
    /// Automata (`-`: standard input; a single one is joined to standard input). Without -o, a third name is the output
    #[arg(value_name = "A B [OUT]", required = true)]
    files: Vec<Operands>,
    /// Output file, instead of OUT; before it there may be any number of automata
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        // OpenFst's form is `A B [OUT]`; more than two inputs need their output named apart, or go to standard output.
        let files = operands::all(&self.files);
        let (inputs, output) = match (&self.output, &files[..]) {
            (None, [a, b, out]) => (vec![Some(*a), Some(*b)], Some(*out)),
            (output, [a]) => (vec![Some(*a), None], output.as_deref()),
            (output, all) => (all.iter().map(|n| Some(*n)).collect(), output.as_deref()),
        };
        let operands = inputs.into_iter().map(|name| env.get(name)).collect::<Result<Vec<_>>>()?;
        macro_rules! all {
            ($kind:ident) => {{
                let mut same = Vec::with_capacity(operands.len());
                for x in &operands {
                    match &**x {
                        AnyFst::$kind(f) => same.push(f),
                        other => return Err(mixed("union", operands[0].arc_type(), other.arc_type())),
                    }
                }
                AnyFst::$kind(union_all(&same)?)
            }};
        }
        let out = match &*operands[0] {
            AnyFst::Standard(_) => all!(Standard),
            AnyFst::Log(_) => all!(Log),
            AnyFst::Log64(_) => all!(Log64),
        };
        env.put(output, out)?;
        Ok(Status::Done)
    }
}
