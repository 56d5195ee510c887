//! The words of a lattice as the models number them.
//!
//! Every distinct output label is looked up once a lattice, so that the search does array look-ups only.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{ApplyConfig, Boundaries, OP, Term};
use crate::error::{Error, Result};
use crate::fst::flat::{EPSILON, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::lm::vocab::{BEGIN, END};
use crate::lm::{UNKNOWN, WordId};

/// The word of an arc that has none.
pub const NO_WORD: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Begin,
    End,
    /// On arcs, but nothing that models know of.
    Silent,
}

/// What HiFST writes for a deleted word, for an unknown one and between parts of a sentence: its models pass over them.
pub const SILENT: [&str; 3] = ["<dr>", "<oov>", "<sep>"];

impl Kind {
    fn of(word: &str, config: &ApplyConfig) -> Self {
        match word {
            BEGIN => Kind::Begin,
            END => Kind::End,
            _ if config.silent && SILENT.contains(&word) => Kind::Silent,
            _ => Kind::Word,
        }
    }
}

pub struct Labels {
    /// For every arc of the lattice, by its position, the index of its word or `NO_WORD`.
    pub of_arc: Vec<u32>,
    /// Of every word.
    pub kinds: Vec<Kind>,
    /// Of every word, for every term, its number in the model.
    pub ids: Vec<Vec<WordId>>,
}

impl Labels {
    pub fn new<W: Weight>(
        lattice: &FlatFst<W>,
        terms: &[Term],
        symbols: &SymbolTable,
        config: &ApplyConfig,
    ) -> Result<Self> {
        let labels = Labels::of_lattice(lattice, terms, |labels, label| labels.add(label, terms, symbols, config))?;
        if config.boundaries == Boundaries::Present && lattice.num_arcs() > 0 {
            for (kind, word) in [(Kind::Begin, BEGIN), (Kind::End, END)] {
                if !labels.kinds.contains(&kind) {
                    return Err(Error::op(
                        OP,
                        format!("the lattice has no {word} on any arc, but --boundaries present says that it is there"),
                    ));
                }
            }
        }
        if config.oov_cost.is_none() {
            labels.check_models(terms, symbols)?;
        }
        Ok(labels)
    }

    /// Every label but epsilon is a word, whose number in a model `word` says.
    pub fn numbered<W: Weight>(lattice: &FlatFst<W>, terms: &[Term], word: impl Fn(Label, &Term) -> WordId) -> Self {
        let add = |labels: &mut Labels, label| {
            labels.ids.iter_mut().zip(terms).for_each(|(ids, term)| ids.push(word(label, term)));
            labels.kinds.push(Kind::Word);
            Ok(())
        };
        // Nothing in it fails.
        Labels::of_lattice(lattice, terms, add).unwrap_or_else(|e: std::convert::Infallible| match e {})
    }

    /// The words of all arcs; a label that is met for the first time is added by `add`.
    fn of_lattice<W: Weight, E>(
        lattice: &FlatFst<W>,
        terms: &[Term],
        mut add: impl FnMut(&mut Labels, Label) -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        let mut index: HashMap<Label, u32, FxBuildHasher> = HashMap::default();
        let mut labels =
            Labels { of_arc: Vec::with_capacity(lattice.num_arcs()), kinds: vec![], ids: vec![vec![]; terms.len()] };
        for a in lattice.all_arcs() {
            let word = match index.get(&a.olabel) {
                _ if a.olabel == EPSILON => NO_WORD,
                Some(&word) => word,
                None => {
                    let word = labels.kinds.len() as u32;
                    add(&mut labels, a.olabel)?;
                    index.insert(a.olabel, word);
                    word
                }
            };
            labels.of_arc.push(word);
        }
        Ok(labels)
    }

    /// All words of a table at once, index for index, for searches that have no lattice yet.
    pub fn of_words<'a>(words: impl Iterator<Item = &'a str>, terms: &[Term], config: &ApplyConfig) -> Self {
        let mut labels = Labels { of_arc: vec![], kinds: vec![], ids: vec![vec![]; terms.len()] };
        words.for_each(|word| labels.push(word, terms, config));
        labels
    }

    fn push(&mut self, word: &str, terms: &[Term], config: &ApplyConfig) {
        for (ids, term) in self.ids.iter_mut().zip(terms) {
            ids.push(term.model.word(word).unwrap_or(UNKNOWN));
        }
        self.kinds.push(Kind::of(word, config));
    }

    fn add(&mut self, label: Label, terms: &[Term], symbols: &SymbolTable, config: &ApplyConfig) -> Result<()> {
        let Some(word) = symbols.symbol(label as i64) else {
            return Err(Error::op(
                OP,
                format!(
                    "label {label} of the lattice has no word in its symbol table; name the right one with --symbols"
                ),
            ));
        };
        if [BEGIN, END].contains(&word)
            && matches!(config.boundaries, Boundaries::Add | Boundaries::Begin | Boundaries::End)
        {
            return Err(Error::op(
                OP,
                format!("the lattice has {word} on an arc; its boundaries are there already: use --boundaries present"),
            ));
        }
        self.push(word, terms, config);
        Ok(())
    }

    /// A lattice whose words are all unknown is an ordinary thing; a table whose words are all unknown is a mistake, unless
    /// the user says what unknown words cost.
    fn check_models(&self, terms: &[Term], symbols: &SymbolTable) -> Result<()> {
        for (ids, term) in self.ids.iter().zip(terms) {
            if ids.is_empty() || ids.iter().any(|&id| id != UNKNOWN) {
                continue;
            }
            let words = || symbols.iter().filter(|&(w, key)| key != 0 && w != BEGIN && w != END);
            if words().all(|(w, _)| term.model.word(w).is_none()) {
                let (count, first) = (words().count(), words().next().map_or("", |(w, _)| w));
                return Err(Error::op(
                    OP,
                    format!(
                        "none of the {count} words of the lattice's symbol table ({first:?} and so on) is in the model {}; \
                         is it the right model, with words written the same way? (--oov-cost takes them all as unknown)",
                        term.name
                    ),
                ));
            }
        }
        Ok(())
    }
}
