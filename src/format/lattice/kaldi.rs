//! Kaldi's lattices in text: a line with the name of an utterance, its arcs and final states, an empty line.
//!
//! An arc is `from to word graph,acoustic[,alignment]` (compact lattices) or `from to transition word graph,acoustic`;
//! a final state is `state [graph,acoustic[,alignment]]`. The first state named is the start. The cost of an arc is
//! lm · graph + acoustic · acoustic. Words are words, or numbers that a table names.

use super::{Imported, Reader, Scales, finite, weight};
use crate::error::{Error, Result};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::fst::symbols::SymbolTable;

/// Every lattice of a file; keys are the names of the utterances.
pub fn read(file: &str, text: &str, scales: &Scales, table: Option<&SymbolTable>) -> impl Iterator<Item = Imported> {
    let mut lines = text.lines().enumerate().peekable();
    std::iter::from_fn(move || {
        while lines.next_if(|(_, l)| l.trim().is_empty()).is_some() {}
        let (_, name) = lines.next()?;
        let mut rows = vec![];
        while let Some((n, line)) = lines.next_if(|(_, l)| !l.trim().is_empty()) {
            rows.push((n + 1, line));
        }
        Some(Imported { key: name.trim().to_string(), fst: lattice(file, &rows, scales, table) })
    })
}

fn lattice(
    file: &str,
    rows: &[(usize, &str)],
    scales: &Scales,
    table: Option<&SymbolTable>,
) -> Result<FlatFst<Tropical>> {
    let (lm, acoustic) = (scales.lm.unwrap_or(1.0), scales.acoustic.unwrap_or(1.0));
    let mut out = Reader::new();
    let mut finals = vec![];
    let mut start = None;
    for &(n, line) in rows {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let column = |i: usize| {
            let at = fields.get(i).map_or(line.len(), |f| f.as_ptr() as usize - line.as_ptr() as usize);
            line[..at].chars().count() + 1
        };
        let bad = |i: usize, what: &str| Error::text(file, n, column(i), what);
        let state = |i: usize| fields[i].parse::<u64>().map_err(|_| bad(i, "expected the number of a state"));
        // The cost with what is added for a word.
        let cost = |i: usize, words: f64| -> Result<Tropical> {
            let Some(pair) = fields.get(i) else { return weight(Some(words)).map_err(|why| bad(0, &why)) };
            let mut parts = pair.split(',');
            let mut next = || match parts.next() {
                Some("Infinity") => Some(f64::INFINITY),
                other => other.and_then(finite),
            };
            match (next(), next()) {
                (Some(g), Some(a)) => {
                    let possible = g < f64::INFINITY && a < f64::INFINITY;
                    weight(possible.then_some(lm * g + acoustic * a + words)).map_err(|why| bad(i, &why))
                }
                _ => Err(bad(i, "expected two costs, graph and acoustic, with a comma between")),
            }
        };
        let from = state(0)?;
        start.get_or_insert(from);
        // `from to word` without costs, or costs in the last place.
        let priced = fields.last().is_some_and(|f| f.contains(',') && f.split(',').next().is_some_and(is_cost));
        match fields.len() - usize::from(priced) {
            1 => finals.push((from, cost(1, 0.0)?)),
            len @ (3 | 4) => {
                let place = len - 1;
                let word = match table {
                    Some(t) if fields[place] != "0" && t.key(fields[place]).is_none() => {
                        let name = fields[place].parse().ok().and_then(|k| t.symbol(k));
                        name.ok_or_else(|| bad(place, "the word is not in the symbol table"))?
                    }
                    _ => fields[place],
                };
                // Number 0 is epsilon in every table.
                let word = if word == "0" { "" } else { word };
                let words = if super::is_nothing(word) { 0.0 } else { scales.word_penalty.unwrap_or(0.0) };
                out.arc(from, state(1)?, word, cost(len, words)?);
            }
            _ => {
                let expected = "expected `from to word graph,acoustic`, `from to transition word graph,acoustic`, or a final state";
                return Err(bad(0, expected));
            }
        }
    }
    match start {
        Some(start) => Ok(out.finish(start, &finals)),
        None => Ok(FlatFst::empty()),
    }
}

fn is_cost(text: &str) -> bool {
    text == "Infinity" || finite(text).is_some()
}
