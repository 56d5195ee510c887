use clap::Args;

use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::weight_from;
use crate::fst::reweight::{ReweightType, reweight};
use crate::fst::semiring::Weight;
use crate::map_fst;

/// Where weights move.
#[derive(Args, Clone, Debug)]
pub struct Direction {
    /// Towards the start or the final states
    #[arg(long, value_enum, default_value_t)]
    reweight_type: ReweightType,
    /// The older spelling of `--reweight-type to_final`
    #[arg(long)]
    to_final: bool,
}

impl Direction {
    pub fn reweight_type(&self) -> ReweightType {
        if self.to_final { ReweightType::ToFinal } else { self.reweight_type }
    }
}

/// Move weight along the paths by a potential for each state
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst reweight a.fst pot.txt moved.fst\n\n\
    The potentials are lines `state weight`, as `weft fst shortestdistance` prints them.")]
pub struct Cmd {
    #[command(flatten)]
    direction: Direction,
    /// Input automaton (`-`: standard input)
    #[arg(value_name = "IN")]
    input: String,
    /// Potentials, `state weight` a line; states that are not named have potential zero (`-`: standard input)
    #[arg(value_name = "POTENTIALS")]
    potentials: String,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let kind = self.direction.reweight_type();
        let fst = env.take(Some(&self.input))?;
        let (file, text) = env.read_text(&self.potentials)?;
        let mut beyond = 0;
        let out = map_fst!(fst, f => parse(&file, &text, f.num_states(), &mut beyond).map(|p| reweight(f, &p, kind)))?;
        if beyond > 0 {
            env.note(&format!("reweight: {file}: {beyond} potentials of states that the automaton does not have"));
        }
        env.put(self.output.as_deref().or(self.out.as_deref()), out)?;
        Ok(Status::Done)
    }
}

/// Potentials up to the last state named; `beyond` counts those of states from `states` on.
fn parse<W: Weight>(file: &str, text: &str, states: usize, beyond: &mut usize) -> Result<Vec<W>> {
    let mut potentials = vec![];
    for (i, line) in text.lines().enumerate() {
        let mut columns = line.split_ascii_whitespace();
        let Some(state) = columns.next() else { continue };
        let fail = |part: &str, message: String| Error::in_line(file, i + 1, line, part, message);
        let id: u64 = state.parse().map_err(|_| fail(state, format!("expected a state number, found {state:?}")))?;
        let (Some(weight), None) = (columns.next(), columns.next()) else {
            return Err(fail(state, "expected two columns, `state weight`".to_string()));
        };
        let value = weight_from(weight).map_err(|message| fail(weight, message))?;
        match usize::try_from(id) {
            Ok(s) if s < states => {
                if potentials.len() <= s {
                    potentials.resize(s + 1, W::ZERO);
                }
                potentials[s] = value;
            }
            _ => *beyond += 1,
        }
    }
    Ok(potentials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn potentials_in_any_order() {
        let mut beyond = 0;
        let mut read = |text: &str| parse::<Tropical>("p", text, 3, &mut beyond);
        assert_eq!(read("2\t1.5\n\n0 3\r\n7 1\n").unwrap(), [Tropical(3.0), Tropical::ZERO, Tropical(1.5)]);
        for (text, want) in [
            ("0\n", "p:1:1: expected two columns"),
            ("0 1\n-1 2\n", "p:2:1: expected a state number"),
            ("1  nan\n", "p:1:4: expected a weight"),
            ("0 1e39\n", "p:1:3: the weight 1e39 is too large"),
            ("0 1 2\n", "p:1:1: expected two columns"),
        ] {
            let e = read(text).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
        assert_eq!(beyond, 1);
    }
}
