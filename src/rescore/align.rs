//! Which derivations of a lattice give a string: its paths with those output labels, best first.
//!
//! The lattice is composed with the string, arcs carrying their own numbers as input labels, and the n best paths of that
//! are found. O(arcs of the lattice · length of the string), and about n · length for the paths. Derivations may be many:
//! where all are asked for, more than a limit are an error. Where there is none, the error says how far the lattice goes
//! with the string.

use super::lattice::{check_weights, no_path, path_fst};
use crate::error::{Error, Result};
use crate::fst::compose::{ComposeConfig, compose};
use crate::fst::explain::{Cause, explain};
use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::{Path, ShortestPathConfig, best_paths};
use crate::fst::symbols::SymbolTable;

pub const OP: &str = "rescore-align";

#[derive(Clone, Copy, Debug)]
pub struct AlignConfig {
    /// Derivations at most.
    pub n: usize,
    /// More than `n` are an error.
    pub all: bool,
}

/// `table` names the words where it must be said what is not there.
pub fn align<W: Weight>(
    fst: &FlatFst<W>,
    string: &[Label],
    config: &AlignConfig,
    table: Option<&SymbolTable>,
) -> Result<Vec<Path>> {
    check_weights(OP, fst)?;
    if fst.num_arcs() >= Label::MAX as usize {
        return Err(Error::limit(OP, "2^31 arcs", "the lattice is too large; prune it first"));
    }
    let mut numbered = fst.clone().with_symbols(None, None);
    for (i, a) in numbered.all_arcs_mut().iter_mut().enumerate() {
        a.ilabel = i as Label + 1;
    }
    let words: Vec<(Label, f64)> = string.iter().map(|&label| (label, 0.0)).collect();
    let line = path_fst(&numbered, &words, 0.0);
    let both = compose(&numbered, &line, &ComposeConfig::default())?;
    let more = config.n.saturating_add(usize::from(config.all));
    let found = best_paths(&both, &ShortestPathConfig { nshortest: more, ..Default::default() })?;
    if found.is_empty() {
        return Err(not_there(fst, &line, table));
    }
    if found.len() > config.n {
        return Err(Error::limit(
            OP,
            format!("{} derivations", config.n),
            "there are more of this string; ask for the best ones (-n N) or raise --max-paths",
        ));
    }
    let path = |p: Path| {
        let numbers = p.labels(&both, |a| a.ilabel);
        let arcs: Vec<u32> = numbers.into_iter().map(|l| l as u32 - 1).collect();
        let end = arcs.last().map_or(fst.start(), |&a| fst.all_arcs()[a as usize].nextstate);
        Path { arcs, end, cost: p.cost }
    };
    Ok(found.into_iter().map(path).collect())
}

/// How far the lattice and the string go together.
fn not_there<W: Weight>(fst: &FlatFst<W>, line: &FlatFst<W>, table: Option<&SymbolTable>) -> Error {
    let lattice = fst.clone().with_symbols(None, None);
    let explained = match explain(&lattice, line, &ComposeConfig::default()) {
        Ok(explained) => explained,
        Err(e) => return e,
    };
    let Some(e) = explained else { return no_path(OP) };
    let word = |&l: &Label| table.and_then(|t| t.symbol(l as i64)).map_or_else(|| l.to_string(), str::to_string);
    let list = |labels: &[Label]| {
        let mut words: Vec<String> = labels.iter().take(8).map(word).collect();
        if labels.len() > 8 {
            words.push(format!("... ({} in all)", labels.len()));
        }
        words.join(" ")
    };
    let place = match e.prefix.split_last() {
        None => "its first word".to_string(),
        Some((last, _)) => format!("what follows its word {} ({})", e.prefix.len(), word(last)),
    };
    let why = match &e.cause {
        Cause::Empty(_) => return no_path(OP),
        Cause::FirstEnds { expected } => format!("the lattice ends where the string goes on with {}", list(expected)),
        Cause::SecondEnds { offered } => format!("the string ends where the lattice goes on with: {}", list(offered)),
        Cause::Unmatched { offered, expected, .. } => {
            format!("the string has {}, the lattice has: {}", list(expected), list(offered))
        }
    };
    Error::op(OP, format!("the string is not in the lattice: no path has {place}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::testing::{ONE, Z, arc};

    fn fst() -> FlatFst<crate::fst::semiring::Tropical> {
        FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 5, 1.0, 1), arc(2, 0, 0.25, 1), arc(3, 5, 0.5, 2)]),
                (Z, vec![arc(4, 5, 0.125, 2), arc(0, 6, 0.0, 2)]),
                (ONE, vec![]),
            ],
        )
    }

    #[test]
    fn derivations_best_first() {
        let found = align(&fst(), &[5], &AlignConfig { n: 10, all: true }, None).unwrap();
        let arcs: Vec<&[u32]> = found.iter().map(|p| &*p.arcs).collect();
        assert_eq!(arcs, [&[1, 3][..], &[2]]);
        assert_eq!(found[0].labels(&fst(), |a| a.ilabel), [2, 4]);
        assert_eq!(align(&fst(), &[5], &AlignConfig { n: 1, all: false }, None).unwrap().len(), 1);
        let many = align(&fst(), &[5], &AlignConfig { n: 1, all: true }, None).unwrap_err().to_string();
        assert!(many.contains("1 derivations"), "{many}");
    }

    #[test]
    fn where_a_string_leaves_the_lattice() {
        let said = |s: &[Label]| align(&fst(), s, &AlignConfig { n: 1, all: false }, None).unwrap_err().to_string();
        assert!(said(&[5, 7]).contains("word 1 (5): the string has 7, the lattice has: 5 6"), "{}", said(&[5, 7]));
        assert!(said(&[9]).contains("its first word: the string has 9"), "{}", said(&[9]));
        assert!(said(&[5, 5, 5]).contains("the lattice ends"), "{}", said(&[5, 5, 5]));
        assert!(said(&[]).contains("the string ends"), "{}", said(&[]));
    }
}
