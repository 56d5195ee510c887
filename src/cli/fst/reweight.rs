use clap::Args;

use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::parse_weight;
use crate::fst::reweight::{ReweightType, reweight};
use crate::fst::semiring::Weight;
use crate::map_fst;

/// Move weight along the paths by a potential for each state
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst reweight a.fst pot.txt moved.fst\n\n\
    The potentials are lines `state weight`, as `weft fst shortestdistance` prints them.")]
pub struct Cmd {
    /// Towards the final states, not the start
    #[arg(long)]
    to_final: bool,
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
        let kind = if self.to_final { ReweightType::ToFinal } else { ReweightType::ToInitial };
        let fst = env.take(Some(&self.input))?;
        let (file, text) = env.read_text(&self.potentials)?;
        let (potentials, beyond) = parse(&file, &text, fst.num_states())?;
        if beyond > 0 {
            env.note(&format!("reweight: {file}: {beyond} potentials of states that the automaton does not have"));
        }
        let out = map_fst!(fst, f => Result::Ok(reweight(f, &weights(&potentials), kind)))?;
        env.put(self.output.as_deref().or(self.out.as_deref()), out)?;
        Ok(Status::Done)
    }
}

fn weights<W: Weight>(values: &[f64]) -> Vec<W> {
    values.iter().map(|&v| W::from_f64(v)).collect()
}

/// Potentials up to the last state named, and how many are of states from `states` on.
fn parse(file: &str, text: &str, states: usize) -> Result<(Vec<f64>, usize)> {
    let (mut potentials, mut beyond) = (vec![], 0);
    for (i, line) in text.lines().enumerate() {
        let mut columns = line.split_ascii_whitespace();
        let Some(state) = columns.next() else { continue };
        let fail = |message: String| Error::text(file, i + 1, 1, message);
        let id: u64 = state.parse().map_err(|_| fail(format!("{state:?} is not a state number")))?;
        let (Some(weight), None) = (columns.next(), columns.next()) else {
            return Err(fail("expected two columns, `state weight`".to_string()));
        };
        let weight = parse_weight(weight).ok_or_else(|| fail(format!("{weight:?} is not a weight")))?;
        match usize::try_from(id) {
            Ok(s) if s < states => {
                if potentials.len() <= s {
                    potentials.resize(s + 1, f64::INFINITY);
                }
                potentials[s] = weight;
            }
            _ => beyond += 1,
        }
    }
    Ok((potentials, beyond))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn potentials_in_any_order() {
        let inf = f64::INFINITY;
        assert_eq!(parse("p", "2\t1.5\n\n0 3\r\n7 1\n", 3).unwrap(), (vec![3.0, inf, 1.5], 1));
        assert!(parse("p", "0\n", 3).unwrap_err().to_string().starts_with("p:1:"));
        assert!(parse("p", "-1 2\n", 3).is_err());
        assert!(parse("p", "0 nan\n", 3).is_err());
        assert!(parse("p", "0 1 2\n", 3).is_err());
    }
}
