use clap::Args;

use super::io::nearness;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::isomorphic::first_difference;
use crate::fst::semiring::DELTA;
use crate::with_fst2;

/// Exit 0 if two automata are the same but for the numbers of their states, 1 if not
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst isomorphic a.fst a.fst")]
pub struct Cmd {
    /// Weights this close are equal
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    /// Say on standard error what the first difference is
    #[arg(short, long)]
    verbose: bool,
    /// First automaton (`-`: standard input)
    #[arg(value_name = "A")]
    a: String,
    /// Second automaton (`-` or nothing: standard input)
    #[arg(value_name = "B")]
    b: Option<String>,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        nearness(self.delta)?;
        let (a, b) = (env.get(Some(&self.a))?, env.get(self.b.as_deref())?);
        let difference = with_fst2!("isomorphic", &*a, &*b, (f, g) => first_difference(f, g, self.delta))?;
        if let (true, Some(what)) = (self.verbose, &difference) {
            env.note(&format!("isomorphic: {what}"));
        }
        Ok(Status::from_answer(difference.is_none()))
    }
}
