//! Stages that exist only in a cascade: `save` and `printstrings`.

use clap::{Args, ValueEnum};

use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::binary::Container;
use crate::fst::connect::connect;
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::with_fst;

/// Write the automaton to a file and pass it on
#[derive(Args, Clone, Debug)]
pub struct Save {
    /// File to write; `?` is the number or key of the input
    #[arg(value_name = "FILE")]
    file: String,
    /// Container to write
    #[arg(long, value_enum, default_value_t)]
    fst_type: Container,
}

impl Save {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        // A named output is written and stays the current automaton: that is all there is to it.
        let fst = env.take(None)?;
        env.put_as(Some(&self.file), fst, self.fst_type)?;
        Ok(Status::Done)
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    Input,
    #[default]
    Output,
}

/// Print the strings of an acyclic automaton, best first, one a line
#[derive(Args, Clone, Debug)]
pub struct PrintStrings {
    /// The labels to print
    #[arg(long, value_enum, default_value_t)]
    side: Side,
    /// Symbol table, instead of the one inside
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Numbers even where there are symbols
    #[arg(long)]
    numeric: bool,
    /// A tab and the weight of the path after every string
    #[arg(long)]
    print_weight: bool,
    /// Stop with an error at more paths than this
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    max_paths: usize,
}

impl PrintStrings {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.get(None)?;
        let inside = if self.side == Side::Input { fst.isyms() } else { fst.osyms() };
        let symbols = env.symbols_or(self.symbols.as_deref(), inside, self.numeric)?;
        let text = with_fst!(&*fst, f => self.strings(f, symbols.as_deref()))?;
        env.text(None, &mut |out| out.write_all(text.as_bytes()).map_err(|e| Error::io("strings", e)))?;
        Ok(Status::Done)
    }

    fn strings<W: Weight>(&self, fst: &FlatFst<W>, symbols: Option<&SymbolTable>) -> Result<String> {
        let mut paths = paths(fst, self.side, self.max_paths)?;
        // The sort is stable: paths of equal weight stay in the order of the arcs.
        paths.sort_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()));
        let mut text = String::new();
        for (labels, weight) in paths {
            for (i, &label) in labels.iter().enumerate() {
                if i > 0 {
                    text.push(' ');
                }
                match symbols {
                    None => text.push_str(&label.to_string()),
                    Some(t) => text.push_str(t.symbol(label as i64).ok_or_else(|| {
                        let side = if self.side == Side::Input { "input" } else { "output" };
                        Error::op("printstrings", format!("label {label} is not in the {side} symbol table"))
                    })?),
                }
            }
            if self.print_weight {
                text.push_str(&format!("\t{weight}"));
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// The labels without epsilons and the weight of every successful path, in the order of the arcs.
fn paths<W: Weight>(fst: &FlatFst<W>, side: Side, most: usize) -> Result<Vec<(Vec<Label>, W)>> {
    let mut found = vec![];
    // Without the states that lead nowhere, the work is no more than the output.
    let fst = &connect(fst.clone());
    if fst.start() == NO_STATE {
        return Ok(found);
    }
    // The path to the current state: its states, their next arcs, and what the arcs before them said.
    let mut stack: Vec<(StateId, usize, W, usize)> = vec![(fst.start(), 0, W::ONE, 0)];
    let mut labels: Vec<Label> = vec![];
    while let Some(top) = stack.last_mut() {
        let (state, next, weight, len) = *top;
        labels.truncate(len);
        if next == 0 && fst.is_final(state) {
            if found.len() == most {
                let message = "more strings than --max-paths; put `shortestpath --nshortest N` before this stage";
                return Err(Error::limit("printstrings", format!("{most} paths"), message));
            }
            found.push((labels.clone(), weight.otimes(fst.final_weight(state))));
        }
        let Some(arc) = fst.arcs(state).get(next) else {
            stack.pop();
            continue;
        };
        top.1 += 1;
        // On a path longer than there are states, a state is there twice.
        if stack.len() > fst.num_states() {
            return Err(Error::op("printstrings", "the automaton has a cycle, so it has no list of strings"));
        }
        let label = if side == Side::Input { arc.ilabel } else { arc.olabel };
        if label != 0 {
            labels.push(label);
        }
        stack.push((arc.nextstate, 0, weight.otimes(arc.weight), labels.len()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    fn arc(label: Label, cost: f32, to: StateId) -> Arc<Tropical> {
        Arc::new(label, label + 10, Tropical(cost), to)
    }

    #[test]
    fn strings_best_first_ties_in_arc_order() {
        let rows = vec![
            (Tropical::ZERO, vec![arc(1, 2.0, 1), arc(2, 1.0, 1), arc(3, 1.0, 1)]),
            (Tropical(0.5), vec![Arc::new(0, 0, Tropical(0.25), 2)]),
            (Tropical(0.0), vec![]),
        ];
        let fst = FlatFst::from_rows(0, rows);
        let p = PrintStrings { side: Side::Input, symbols: None, numeric: false, print_weight: true, max_paths: 10 };
        assert_eq!(p.strings(&fst, None).unwrap(), "2\t1.25\n3\t1.25\n2\t1.5\n3\t1.5\n1\t2.25\n1\t2.5\n");
        assert!(PrintStrings { max_paths: 5, ..p }.strings(&fst, None).is_err());
    }

    #[test]
    fn a_cycle_is_an_error_and_emptiness_is_not() {
        let fst = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0.0, 0)])]);
        assert!(paths(&fst, Side::Output, 10).unwrap_err().to_string().contains("cycle"));
        assert!(paths(&FlatFst::<Tropical>::empty(), Side::Output, 10).unwrap().is_empty());
    }
}
