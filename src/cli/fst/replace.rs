use clap::Args;

use crate::cli::env::{Env, Status};
use crate::cli::operands::{self, Operands};
use crate::error::{Error, Result};
use crate::fst::any::{AnyFst, mixed};
use crate::fst::flat::Label;
use crate::fst::replace::{Labeling, ReplaceConfig, replace};
use std::sync::Arc as Shared;

/// Replace nonterminal labels by automata, recursively
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst replace root.fst 100 np.fst 101 -o r.fst")]
pub struct Cmd {
    /// Which labels of the arc into an automaton are kept
    #[arg(long, value_enum, default_value_t = Labeling::Input)]
    call_arc_labeling: Labeling,
    /// Which labels of the arc out of an automaton are set
    #[arg(long, value_enum, default_value_t = Labeling::Neither)]
    return_arc_labeling: Labeling,
    /// The label on the arc out of an automaton
    #[arg(long, default_value_t = 0)]
    return_label: Label,
    /// Call and return arcs are epsilons
    #[arg(long)]
    epsilon_on_replace: bool,
    /// Stop with an error when the result has more states
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
    /// The root automaton and its label, then each automaton and the label it replaces; last the output, if no -o
    #[arg(value_name = "ROOT LABEL [FST LABEL]... [OUT]", required = true, num_args = 1..)]
    parts: Vec<Operands>,
    /// Output file
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let parts = operands::all(&self.parts);
        let (pairs, rest) = parts.as_chunks::<2>();
        let output = match (rest, &self.output) {
            ([], given) => given.as_deref(),
            ([last], None) => Some(*last),
            ([last], Some(_)) => {
                return Err(Error::usage(format!(
                    "replace: {last} has no label after it; give pairs: ROOT LABEL FST LABEL ..."
                )));
            }
            _ => None,
        };
        if pairs.is_empty() {
            return Err(Error::usage("replace: give the root automaton and its label, then pairs FST LABEL"));
        }
        let mut labels: Vec<Label> = vec![];
        let mut automata: Vec<Shared<AnyFst>> = vec![];
        for [name, label] in pairs {
            labels.push(label.parse().map_err(|_| {
                Error::usage(format!("replace: expected the integer label of {name}, found {label:?}"))
            })?);
            automata.push(env.get(Some(name))?);
        }
        let config = if self.epsilon_on_replace {
            ReplaceConfig { call: Labeling::Neither, back: Labeling::Neither, ..self.config() }
        } else {
            self.config()
        };
        macro_rules! of {
            ($variant:ident) => {{
                let mut parts = vec![];
                for (label, fst) in labels.iter().zip(&automata) {
                    match &**fst {
                        AnyFst::$variant(f) => parts.push((*label, f)),
                        other => return Err(mixed("replace", automata[0].arc_type(), other.arc_type())),
                    }
                }
                AnyFst::$variant(replace(&parts, labels[0], &config)?)
            }};
        }
        let out = match &*automata[0] {
            AnyFst::Standard(_) => of!(Standard),
            AnyFst::Log(_) => of!(Log),
            AnyFst::Log64(_) => of!(Log64),
        };
        env.put(output, out)?;
        Ok(Status::Done)
    }

    fn config(&self) -> ReplaceConfig {
        ReplaceConfig {
            call: self.call_arc_labeling,
            back: self.return_arc_labeling,
            return_label: self.return_label,
            max_states: self.max_states,
        }
    }
}
