//! One numbering of the words of several automata: tables that differ are merged by name.
//!
//! The first automaton keeps its labels; words of the others that it does not have get new numbers behind its own. Label 0
//! is epsilon whatever a table calls it. Linear in arcs, and in the table where a word must be added.

use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::flat::{EPSILON, Label};
use crate::fst::symbols::SymbolTable;
use crate::with_fst;

/// Gives all automata the same tables. `names` are for errors.
pub fn share_tables(op: &'static str, fsts: &mut [AnyFst], names: &[String]) -> Result<()> {
    share(op, fsts, names, Side::Input)?;
    share(op, fsts, names, Side::Output)
}

/// The same for the words alone: the output labels.
pub fn share_words(op: &'static str, fsts: &mut [AnyFst], names: &[String]) -> Result<()> {
    share(op, fsts, names, Side::Output)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

fn share(op: &'static str, fsts: &mut [AnyFst], names: &[String], side: Side) -> Result<()> {
    let table = |fst: &AnyFst| if side == Side::Input { fst.isyms().cloned() } else { fst.osyms().cloned() };
    let tables: Vec<Option<Shared<SymbolTable>>> = fsts.iter().map(table).collect();
    let Some(first) = tables.iter().flatten().next().cloned() else { return Ok(()) };
    let mut merged = Merged { next: first.available_key(), table: first };
    for ((fst, own), name) in fsts.iter_mut().zip(&tables).zip(names) {
        let Some(own) = own else {
            // Nothing to name: an automaton without labels fits everywhere.
            if with_fst!(&*fst, f => f.all_arcs().iter().all(|a| label(a.ilabel, a.olabel, side) == EPSILON)) {
                continue;
            }
            return Err(Error::op(
                op,
                format!(
                    "{name} has no symbol table, but others have; give it one (weft fst symbols) or take theirs away"
                ),
            ));
        };
        if Shared::ptr_eq(own, &merged.table) || **own == *merged.table {
            continue;
        }
        let mut known: HashMap<Label, Label, FxBuildHasher> = HashMap::default();
        with_fst!(fst, f => for a in f.all_arcs_mut() {
            let place = if side == Side::Input { &mut a.ilabel } else { &mut a.olabel };
            if *place != EPSILON {
                *place = match known.get(place) {
                    Some(&new) => new,
                    None => {
                        let new = merged.number(op, own, *place, name)?;
                        known.insert(*place, new);
                        new
                    }
                };
            }
        });
    }
    for fst in fsts {
        match side {
            Side::Input => fst.set_isyms(Some(merged.table.clone())),
            Side::Output => fst.set_osyms(Some(merged.table.clone())),
        }
    }
    Ok(())
}

fn label(ilabel: Label, olabel: Label, side: Side) -> Label {
    if side == Side::Input { ilabel } else { olabel }
}

/// The table of all, copied when the first word is added to it.
struct Merged {
    table: Shared<SymbolTable>,
    /// The next free number.
    next: i64,
}

impl Merged {
    fn number(&mut self, op: &'static str, own: &SymbolTable, old: Label, name: &str) -> Result<Label> {
        let Some(word) = own.symbol(old as i64) else {
            return Err(Error::op(op, format!("{name}: label {old} is not in its symbol table")));
        };
        let key = match self.table.key(word).filter(|&k| k != EPSILON as i64) {
            Some(key) => key,
            None => {
                let key = self.next.max(1);
                self.next = key + 1;
                Shared::make_mut(&mut self.table).add_with_key(word, key);
                key
            }
        };
        Label::try_from(key)
            .map_err(|_| Error::op(op, format!("{name}: the number of {word:?} does not fit in 32 bits")))
    }
}

/// The words of labels, with spaces between; numbers where there is no table.
pub fn spell(op: &'static str, labels: &[Label], table: Option<&SymbolTable>) -> Result<String> {
    let mut text = String::new();
    for (i, &label) in labels.iter().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        text.push_str(&word(op, label, table)?);
    }
    Ok(text)
}

/// The word of a label; its number where there is no table.
pub fn word(op: &'static str, label: Label, table: Option<&SymbolTable>) -> Result<String> {
    match table {
        None => Ok(label.to_string()),
        Some(t) => match t.symbol(label as i64) {
            Some(word) => Ok(word.to_string()),
            None => Err(Error::op(op, format!("label {label} is not in the symbol table {:?}", t.name()))),
        },
    }
}

/// The labels of words, or of numbers where there is no table.
pub fn labels(op: &'static str, text: &str, table: Option<&SymbolTable>) -> Result<Vec<Label>> {
    let label = |word: &str| {
        let key = match table {
            Some(t) => t.key(word).ok_or_else(|| Error::op(op, format!("the lattice has no word {word:?}")))?,
            None => word.parse().map_err(|_| {
                Error::op(
                    op,
                    format!("{word:?} is no number, and the lattice has no symbol table; name one (--symbols)"),
                )
            })?,
        };
        Label::try_from(key).map_err(|_| Error::op(op, format!("the number of {word:?} does not fit in 32 bits")))
    };
    text.split_whitespace().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::FlatFst;
    use crate::fst::testing::{ONE, Z, arc};

    fn acceptor(words: &[&str], used: &[Label]) -> AnyFst {
        let mut table = SymbolTable::new("words");
        words.iter().for_each(|w| {
            table.add(w);
        });
        let table = Shared::new(table);
        let arcs = used.iter().map(|&l| arc(l, l, 0.0, 1)).collect();
        FlatFst::from_rows(0, vec![(Z, arcs), (ONE, vec![])]).with_symbols(Some(table.clone()), Some(table)).into()
    }

    fn words_of(fst: &AnyFst) -> Vec<String> {
        with_fst!(fst, f => f.all_arcs().iter().map(|a| {
            assert_eq!(a.ilabel, a.olabel);
            word("op", a.olabel, f.osyms.as_deref()).unwrap()
        }).collect())
    }

    #[test]
    fn words_keep_their_names() {
        let mut fsts = [
            acceptor(&["<eps>", "a", "b"], &[1, 2]),
            acceptor(&["-", "b", "c", "a", "never"], &[3, 0, 2, 1]),
            acceptor(&["<eps>", "d", "c"], &[1, 2]),
        ];
        let names = ["x".to_string(), "y".to_string(), "z".to_string()];
        share_tables("op", &mut fsts, &names).unwrap();
        assert_eq!(words_of(&fsts[0]), ["a", "b"]);
        assert_eq!(words_of(&fsts[1]), ["a", "<eps>", "c", "b"]);
        assert_eq!(words_of(&fsts[2]), ["d", "c"]);
        assert_eq!(fsts[2].osyms().unwrap().key("never"), None);
        fsts[1].set_osyms(None);
        let e = share_words("op", &mut fsts, &names).unwrap_err().to_string();
        assert!(e.contains("y has no symbol table"), "{e}");
    }

    #[test]
    fn words_to_labels_and_back() {
        let fst = acceptor(&["<eps>", "a", "b"], &[]);
        let table = fst.osyms().map(|t| &**t);
        assert_eq!(labels("op", " b  a", table).unwrap(), [2, 1]);
        assert_eq!(spell("op", &[2, 1], table).unwrap(), "b a");
        assert!(labels("op", "x", table).unwrap_err().to_string().contains("no word \"x\""));
        assert_eq!(labels("op", "7 8", None).unwrap(), [7, 8]);
        assert!(labels("op", "x", None).unwrap_err().to_string().contains("no number"));
        assert!(spell("op", &[9], table).unwrap_err().to_string().contains("label 9"));
    }
}
