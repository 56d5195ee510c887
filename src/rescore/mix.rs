//! The evidence of several systems about the n-grams of one hypothesis lattice.
//!
//! Every system's n-gram posteriors are computed on its own lattice and summed with its weight: Σ weight · p(u|E).
//! Words are matched by name where lattices have symbol tables; words that the hypotheses do not have count in the
//! probabilities and nowhere else. Costs: see `posteriors`, for each system.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lattice::Lattice;
use super::ngrams::{Expansion, Grams};
use super::posteriors::Evidence;
use crate::error::{Error, Result};
use crate::fst::flat::{EPSILON, Label};
use crate::fst::symbols::SymbolTable;

/// The label of all words that the hypotheses do not have; no automaton has it.
const STRANGER: Label = -2;

/// A system's lattice of the sentence, its words numbered as those of the hypotheses.
pub struct System {
    pub lattice: Lattice,
    pub weight: f64,
    /// It is the lattice of the hypotheses, too.
    pub hypotheses: bool,
}

/// Hypotheses, and what the systems say of their n-grams.
pub struct Mixture {
    pub grams: Grams,
    /// What the best path is looked for in.
    pub lattice: Lattice,
    pub hypotheses: Expansion,
    /// For every scale, the mixed posteriors by n-gram.
    pub posteriors: Vec<Vec<f64>>,
}

impl Mixture {
    /// `hypotheses`: none if one of the systems has them. `most`: arcs of an expansion.
    pub fn new(
        op: &'static str,
        hypotheses: Option<Lattice>,
        systems: Vec<System>,
        alphas: &[f64],
        order: usize,
        most: usize,
    ) -> Result<Self> {
        let mut grams = Grams::default();
        let mut posteriors = vec![vec![]; alphas.len()];
        let mut shared = None;
        for system in systems {
            let mut evidence = Evidence::new(op, system.lattice, &mut grams, order, most)?;
            for (sum, found) in posteriors.iter_mut().zip(evidence.posteriors(op, &grams, alphas)?) {
                sum.resize(grams.count(), 0.0);
                sum.iter_mut().zip(found.path).for_each(|(s, p): (&mut f64, f64)| *s += system.weight * p);
            }
            if system.hypotheses {
                shared = evidence.expansions.pop().map(|e| (evidence.lattice, e));
            }
        }
        let (lattice, hypotheses) = match (hypotheses, shared) {
            (Some(lattice), _) => {
                let expansion = Expansion::new(op, &lattice, &mut grams, order, most)?;
                (lattice, expansion)
            }
            (None, Some(both)) => both,
            (None, None) => return Err(Error::op(op, "there are no hypotheses")),
        };
        Ok(Mixture { grams, lattice, hypotheses, posteriors })
    }
}

/// Numbers the words of a lattice as those of another one, by name. `name` is for errors.
pub fn match_words(
    op: &'static str,
    name: &str,
    lattice: &mut Lattice,
    own: Option<&SymbolTable>,
    target: Option<&SymbolTable>,
) -> Result<()> {
    let (own, target) = match (own, target) {
        (Some(own), Some(target)) => (own, target),
        (None, None) => return Ok(()),
        (Some(_), None) => {
            return Err(Error::op(
                op,
                format!("{name} has a symbol table, and the hypotheses have none: name one with --symbols"),
            ));
        }
        (None, Some(_)) => {
            return Err(Error::op(
                op,
                format!("{name} has no symbol table, and the hypotheses have one: name one with --symbols"),
            ));
        }
    };
    if std::ptr::eq(own, target) {
        return Ok(());
    }
    let mut known: HashMap<Label, Label, FxBuildHasher> = HashMap::from_iter([(EPSILON, EPSILON)]);
    for a in &mut lattice.arcs {
        a.word = match known.get(&a.word) {
            Some(&word) => word,
            None => {
                let Some(symbol) = own.symbol(a.word as i64) else {
                    return Err(Error::op(op, format!("{name}: label {} is not in its symbol table", a.word)));
                };
                let there = target.key(symbol).and_then(|k| Label::try_from(k).ok()).filter(|&k| k > EPSILON);
                *known.entry(a.word).or_insert(there.unwrap_or(STRANGER))
            }
        };
    }
    Ok(())
}

/// Makes epsilons of some words.
pub fn skip_words(lattice: &mut Lattice, words: &[Label]) {
    lattice.arcs.iter_mut().filter(|a| words.contains(&a.word)).for_each(|a| a.word = EPSILON);
}
