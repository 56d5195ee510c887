//! Relabel: other labels on the same arcs, by pairs of labels or by the words of two symbol tables.
//!
//! Needs nothing of its input; linear in its arcs. A label that no pair names stays as it is; of two pairs for one label
//! the first holds. With tables, each label goes to the number its word has in the new table; a word that is not there
//! goes to the unknown symbol, or is an error where an arc has it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::{FlatFst, Label, NO_LABEL};
use super::semiring::Weight;
use super::symbols::SymbolTable;
use crate::error::{Error, Result};

/// What to relabel on each side; `NO_LABEL` as a new label stands for "not in the new vocabulary".
#[derive(Clone, Debug, Default)]
pub struct RelabelConfig {
    pub ipairs: Vec<(Label, Label)>,
    pub opairs: Vec<(Label, Label)>,
}

/// The pairs that take the labels of one table to those of another, and how many words the other lacks. `unknown` stands
/// for such words, if it is there itself.
pub fn pairs_between(
    old: &SymbolTable,
    new: &SymbolTable,
    unknown: Option<&str>,
) -> Result<(Vec<(Label, Label)>, usize)> {
    let mut missing = 0;
    let unknown = unknown.and_then(|word| new.key(word));
    let mut pairs = Vec::with_capacity(old.len());
    for (symbol, key) in old.iter() {
        // A number that no label can have needs no pair.
        let Ok(from) = Label::try_from(key) else { continue };
        let to = match new.key(symbol).or(unknown) {
            Some(to) => Label::try_from(to)
                .map_err(|_| Error::op("relabel", format!("the id {to} of {symbol:?} does not fit in 32 bits")))?,
            None => {
                missing += 1;
                NO_LABEL
            }
        };
        pairs.push((from, to));
    }
    Ok((pairs, missing))
}

type Map = HashMap<Label, Label, FxBuildHasher>;

fn map_of(pairs: &[(Label, Label)]) -> Map {
    let mut map = Map::with_capacity_and_hasher(pairs.len(), FxBuildHasher);
    for &(old, new) in pairs {
        map.entry(old).or_insert(new);
    }
    map
}

/// The same automaton with other labels. Symbol tables stay; the caller knows what they should be.
pub fn relabel<W: Weight>(mut fst: FlatFst<W>, config: &RelabelConfig) -> Result<FlatFst<W>> {
    let (imap, omap) = (map_of(&config.ipairs), map_of(&config.opairs));
    let find = |map: &Map, label: Label, side: &str, table: Option<&SymbolTable>| match map.get(&label) {
        None => Ok(label),
        Some(&NO_LABEL) => {
            let word = table.and_then(|t| t.symbol(label as i64)).map_or(String::new(), |w| format!(" ({w:?})"));
            Err(Error::op(
                "relabel",
                format!(
                    "the {side} label {label}{word} is not in the new symbol table; see --unknown-{}symbol",
                    &side[..1]
                ),
            ))
        }
        Some(&new) => Ok(new),
    };
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    for a in fst.all_arcs_mut() {
        if !imap.is_empty() {
            a.ilabel = find(&imap, a.ilabel, "input", isyms.as_deref())?;
        }
        if !omap.is_empty() {
            a.olabel = find(&omap, a.olabel, "output", osyms.as_deref())?;
        }
    }
    Ok(fst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    fn one(ilabel: Label, olabel: Label) -> FlatFst<Tropical> {
        FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![Arc::new(ilabel, olabel, Tropical::ONE, 1)]), (Tropical::ONE, vec![])],
        )
    }

    #[test]
    fn the_first_pair_holds_and_the_rest_stays() {
        let config = RelabelConfig { ipairs: vec![(1, 5), (1, 6)], opairs: vec![(7, 8)] };
        assert_eq!(relabel(one(1, 2), &config).unwrap(), one(5, 2));
    }

    #[test]
    fn words_lead_from_table_to_table() {
        let table = |words: &[(&str, i64)]| {
            let mut t = SymbolTable::new("t");
            for &(w, k) in words {
                t.add_with_key(w, k);
            }
            t
        };
        let (old, new) = (table(&[("a", 1), ("b", 2)]), table(&[("b", 9), ("<unk>", 3)]));
        let (ipairs, missing) = pairs_between(&old, &new, None).unwrap();
        assert_eq!((ipairs.as_slice(), missing), (&[(1, NO_LABEL), (2, 9)][..], 1));
        let config = RelabelConfig { ipairs, opairs: vec![] };
        assert_eq!(relabel(one(2, 2), &config).unwrap(), one(9, 2));
        assert!(relabel(one(1, 2), &config).unwrap_err().to_string().contains("--unknown-isymbol"));
        assert_eq!(pairs_between(&old, &new, Some("<unk>")).unwrap(), (vec![(1, 3), (2, 9)], 0));
        // What is not there itself stands for nothing.
        let (ipairs, missing) = pairs_between(&old, &new, Some("none")).unwrap();
        assert_eq!((ipairs.as_slice(), missing), (&[(1, NO_LABEL), (2, 9)][..], 1));
    }
}
