//! Oracles: the path of a lattice that is most like its references, by BLEU.
//!
//! BLEU of a path is no sum over its arcs, and the best path is hard to find (Leusch et al. 2008). `linear` finds the best
//! path by a linear approximation, over the whole lattice; for settings of its two parameters the true BLEU of the
//! sentence decides. `list` is exact, but only over the n best strings. References and hypotheses are numbers here: those
//! of reference words begin with 1, a word that is in no reference is `OTHER`, and a label that is no word is `NO_WORD`.

pub mod bleu;
mod grams;
mod linear;
mod list;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::eval::bleu::BleuStats;
use crate::fst::flat::{EPSILON, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::rescore::lattice::Lattice;
use bleu::{OTHER, References};

pub const OP: &str = "rescore-oracle";

/// A label that does not count: epsilon, the boundaries of a sentence.
pub const NO_WORD: u32 = u32::MAX;

/// How the oracle is looked for.
#[derive(Clone, Debug)]
pub struct OracleConfig {
    pub method: Method,
    /// Most states of the lattice combined with the references' n-grams.
    pub max_states: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub enum Method {
    /// Linear approximations with several p and r, to all references together and to each alone; of their paths the one
    /// of highest sentence BLEU.
    #[default]
    Grid,
    /// The linear approximation with this p and r.
    Linear(f64, f64),
    /// The string of highest sentence BLEU among so many of least cost.
    List(usize),
}

/// Few words that match are better than many that do not (large p and r), or the other way round.
const GRID: ([f64; 6], [f64; 4]) = ([0.15, 0.3, 0.45, 0.6, 0.75, 0.9], [0.3, 0.5, 0.7, 0.9]);

/// The references of a sentence with their words as numbers.
#[derive(Debug, Default)]
pub struct Reference<'a> {
    pub numbers: HashMap<&'a str, u32, FxBuildHasher>,
    pub words: Vec<Vec<u32>>,
}

/// Sentence boundaries are no words.
pub fn is_boundary(word: &str) -> bool {
    word == "<s>" || word == "</s>"
}

impl<'a> Reference<'a> {
    pub fn new(lines: &[&'a str]) -> Self {
        let mut made = Reference::default();
        for line in lines {
            let words = line.split_whitespace().filter(|w| !is_boundary(w)).map(|word| {
                let next = made.numbers.len() as u32 + 1;
                *made.numbers.entry(word).or_insert(next)
            });
            made.words.push(words.collect());
        }
        made
    }
    /// The number of a word, by its name.
    pub fn number(&self, word: &str) -> u32 {
        if is_boundary(word) { NO_WORD } else { self.numbers.get(word).copied().unwrap_or(OTHER) }
    }
}

/// A path, and how good it is.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    /// Labels with their costs, epsilons among them.
    pub path: Vec<(Label, f64)>,
    /// Cost of the end.
    pub end: f64,
    pub stats: BleuStats,
}

/// The oracle of a lattice. `number` gives the number of the word that a label is.
pub fn oracle<W: Weight>(
    fst: &FlatFst<W>,
    reference: &[Vec<u32>],
    mut number: impl FnMut(Label) -> Result<u32>,
    config: &OracleConfig,
) -> Result<Oracle> {
    let lattice = Lattice::new(OP, fst)?;
    let mut known: HashMap<Label, u32, FxBuildHasher> = HashMap::default();
    known.insert(EPSILON, NO_WORD);
    let mut words = Vec::with_capacity(lattice.arcs.len());
    for arc in &lattice.arcs {
        words.push(match known.get(&arc.word) {
            Some(&w) => w,
            None => {
                let w = number(arc.word)?;
                known.insert(arc.word, w);
                w
            }
        });
    }
    let mut counts = References::new(reference);
    // Strings of equal BLEU: the first one stays.
    let mut best: Option<(f64, Oracle)> = None;
    let mut offer = |path: Vec<(Label, f64)>, end: f64| {
        let string: Vec<u32> = path.iter().map(|(l, _)| known[l]).filter(|&w| w != NO_WORD).collect();
        let stats = counts.stats(&string);
        let bleu = stats.sentence_bleu();
        if best.as_ref().is_none_or(|(b, _)| bleu > *b) {
            best = Some((bleu, Oracle { path, end, stats }));
        }
    };
    let mut by_linear = |reference: &[Vec<u32>], settings: &[(f64, f64)]| {
        let product = linear::Product::new(&lattice, &words, reference, config.max_states)?;
        for &(p, r) in settings {
            let (arcs, end) = product.best(&lattice, &linear::gains(p, r));
            offer(arcs.iter().map(|&i| (lattice.arcs[i].word, lattice.arcs[i].cost)).collect(), end);
        }
        Ok::<_, Error>(())
    };
    match config.method {
        Method::Grid => {
            let together = std::iter::once(reference);
            // Matches of one reference here and of another there are no good match of either.
            let alone = reference.iter().map(std::slice::from_ref).filter(|_| reference.len() > 1);
            let settings: Vec<_> = GRID.0.iter().flat_map(|&p| GRID.1.map(|r| (p, r))).collect();
            for part in together.chain(alone) {
                by_linear(part, &settings)?;
            }
        }
        Method::Linear(p, r) => by_linear(reference, &[(p, r)])?,
        Method::List(n) => list::each(&lattice, n, &mut offer)?,
    }
    best.map(|(_, oracle)| oracle).ok_or_else(|| Error::op(OP, "there is no path to choose from"))
}
