//! Language models applied to a lattice: the exact composition with their failure machines, never built.
//!
//! A state of the result is a pair of a lattice state and the models' states; an arc's cost is the lattice's own plus, for
//! every model, scale · −ln p(word | state), plus the word penalty. Epsilons leave the models where they are. Acyclic
//! lattices are walked in topological order, cyclic ones from the start on; with a beam, best-first with a look-ahead
//! (`pruned`). The result has no dead ends, and its states are numbered by lattice state and then by model state,
//! whichever way they were found: the same bytes with and without a beam, for any number of threads.
//!
//! Costs one model step and one hash look-up a resulting arc. Sums are f64 and rounded once, to the lattice's weights.

pub mod labels;
mod parts;
mod product;
mod pruned;
pub mod scorer;

pub use parts::Part;

use super::{LanguageModel, WordId};
use crate::error::{Error, Result};
use crate::fst::connect::connect;
use crate::fst::flat::{EPSILON, FlatFst, Label, NO_STATE, StateId};
use crate::fst::prune::{PruneConfig, prune, require_path};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::fst::visit;
use labels::Labels;
use product::Product;
use scorer::{Many, One, Scorer};

/// The name in messages.
pub const OP: &str = "lm-apply";

/// A model and what its score is multiplied by; a negative scale takes the score away.
#[derive(Clone, Copy)]
pub struct Term<'a> {
    pub model: &'a dyn LanguageModel,
    pub scale: f64,
    /// For messages.
    pub name: &'a str,
    /// What the part of the costs that it makes is called: `lm1`.
    pub part: &'a str,
}

/// Where the sentence boundaries are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Boundaries {
    /// Not in the lattice: a path begins after <s>, and its </s> is scored
    #[default]
    Add,
    /// In the lattice, as words: <s> costs nothing
    Present,
    /// Nowhere: a path begins and ends in the middle of a sentence
    None,
    /// A path begins a sentence, after <s>, and ends in the middle of it
    Begin,
    /// A path begins in the middle of a sentence and ends it: its </s> is scored
    End,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ApplyConfig {
    pub boundaries: Boundaries,
    /// Added for every word but `<s>` and `</s>`.
    pub word_penalty: f64,
    /// −ln p of a word that a model does not know, instead of the model's own.
    pub oov_cost: Option<f64>,
    /// Keep what is at most this much worse than the best path.
    pub prune: Option<f64>,
    /// Stop with an error at this many states; none: as many as it takes.
    pub max_states: Option<usize>,
    /// HiFST's `<dr>`, `<oov>` and `<sep>` are no words.
    pub silent: bool,
}

/// The lattice with the models' costs. Its words are the output labels, named by `symbols`.
pub fn apply<W: Weight>(
    lattice: &FlatFst<W>,
    terms: &[Term],
    symbols: &SymbolTable,
    config: &ApplyConfig,
) -> Result<FlatFst<W>> {
    run(lattice, terms, config, false, |l| Labels::new(l, terms, symbols, config)).map(|(fst, _)| fst)
}

/// As `apply`, where the caller knows the words: `word(label, term)` is a label's number in a model. Every label is a word.
pub fn apply_numbered<W: Weight>(
    lattice: &FlatFst<W>,
    terms: &[Term],
    word: impl Fn(Label, &Term) -> WordId,
    config: &ApplyConfig,
) -> Result<FlatFst<W>> {
    run(lattice, terms, config, false, |l| Ok(Labels::numbered(l, terms, word))).map(|(fst, _)| fst)
}

/// As `apply`, with every part of the costs by itself, in automata of the same states and arcs.
pub fn apply_with_parts<W: Weight>(
    lattice: &FlatFst<W>,
    terms: &[Term],
    symbols: &SymbolTable,
    config: &ApplyConfig,
) -> Result<(FlatFst<W>, Vec<Part<W>>)> {
    run(lattice, terms, config, true, |l| Labels::new(l, terms, symbols, config))
        .map(|(fst, parts)| (fst, parts.unwrap_or_default()))
}

type Applied<W> = (FlatFst<W>, Option<Vec<Part<W>>>);

fn run<W: Weight>(
    lattice: &FlatFst<W>,
    terms: &[Term],
    config: &ApplyConfig,
    parts: bool,
    labels: impl FnOnce(&FlatFst<W>) -> Result<Labels>,
) -> Result<Applied<W>> {
    check(config, terms.iter().map(|t| t.scale))?;
    if config.prune.is_some() {
        require_path::<W>(OP)?;
    }
    let trimmed = trim(lattice);
    let lattice = trimmed.as_ref().unwrap_or(lattice);
    let labels = labels(lattice)?;
    no_epsilon_cycle(lattice)?;
    match terms {
        [term] => search(lattice, &labels, terms, One::new(term, 0, &labels, config)?, config, parts),
        _ => search(lattice, &labels, terms, Many::new(terms, &labels, config)?, config, parts),
    }
}

/// An error if a number cannot be meant.
pub fn check(config: &ApplyConfig, mut scales: impl Iterator<Item = f64>) -> Result<()> {
    let finite = |what: &str, x: f64| {
        if x.is_finite() { Ok(()) } else { Err(Error::op(OP, format!("{what} is {x}, expected a finite number"))) }
    };
    finite("the word penalty", config.word_penalty)?;
    finite("the cost of unknown words", config.oov_cost.unwrap_or(0.0))?;
    scales.try_for_each(|scale| finite("a scale", scale))?;
    match config.prune {
        Some(beam) if beam.is_nan() || beam < 0.0 => {
            Err(Error::op(OP, format!("the beam is {beam}, expected a number of at least 0")))
        }
        _ => Ok(()),
    }
}

/// The lattice without dead ends, if it has any.
fn trim<W: Weight>(lattice: &FlatFst<W>) -> Option<FlatFst<W>> {
    let (reached, useful) = (visit::accessible(lattice), visit::coaccessible(lattice));
    let whole = reached.iter().zip(&useful).all(|(&a, &b)| a && b);
    (!whole).then(|| connect(lattice.clone()))
}

/// A cycle of epsilons has no words to score and, if it gains something, no best path.
fn no_epsilon_cycle<W: Weight>(lattice: &FlatFst<W>) -> Result<()> {
    if !lattice.all_arcs().iter().any(|a| a.olabel == EPSILON) {
        return Ok(());
    }
    let components = visit::components(lattice, |a| a.olabel == EPSILON);
    for s in lattice.states() {
        let same = |t: StateId| components.of[t as usize] == components.of[s as usize];
        if let Some(a) = lattice.arcs(s).iter().find(|a| a.olabel == EPSILON && same(a.nextstate)) {
            return Err(Error::op(
                OP,
                format!(
                    "the lattice has a cycle of epsilon arcs, through states {s} and {}; remove it first (weft fst rmepsilon)",
                    a.nextstate
                ),
            ));
        }
    }
    Ok(())
}

fn search<W: Weight, S: Scorer>(
    lattice: &FlatFst<W>,
    labels: &Labels,
    terms: &[Term],
    mut scorer: S,
    config: &ApplyConfig,
    parts: bool,
) -> Result<Applied<W>> {
    if lattice.start() == NO_STATE {
        let empty = FlatFst::empty().with_symbols_of(lattice);
        let names = parts.then(|| Part::<W>::names(terms).into_iter().map(|name| Part { name, fst: empty.clone() }));
        return Ok((empty.clone(), names.map(Iterator::collect)));
    }
    let order = visit::topological_order(lattice);
    let sorted = order.is_some();
    let order = order.unwrap_or_else(|| lattice.states().collect());
    let mut product = Product::new(lattice, labels, &order, config.max_states);
    match (config.prune, sorted) {
        (Some(beam), _) => pruned::best_first(&mut product, &mut scorer, sorted, beam)?,
        (None, true) => product.in_order(&mut scorer)?,
        (None, false) => product.as_reached(&mut scorer)?,
    }
    let (fst, origin) = product.finish(&scorer);
    let Some(beam) = config.prune else {
        let parts = parts.then(|| parts::separate(lattice, labels, &fst, &origin, terms, &mut scorer));
        return Ok((fst, parts));
    };
    let config = PruneConfig { weight: W::from_f64(beam), ..Default::default() };
    if !parts {
        return Ok((prune(fst, &config)?, None));
    }
    let (fst, origin) = parts::prune_with_origin(fst, origin, &config)?;
    let parts = parts::separate(lattice, labels, &fst, &origin, terms, &mut scorer);
    Ok((fst, Some(parts)))
}
