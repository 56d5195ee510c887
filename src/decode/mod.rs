//! Decoding: sentences to lattices, n-best lists and derivations.
//!
//! ```text
//! words ──chart──► rules over spans ──rtn──► network ──expand──► lattice ──lm──► lattice ──► hypotheses
//! ```
//!
//! A `Decoder` is read by all threads; each sentence is one call of `decode`. Where a sentence would take more memory than
//! it may, cells are pruned, with ever smaller beams until it fits, and the result says so.

pub mod coarse;
pub mod dump;
pub mod hypotheses;
pub mod sentence;
pub mod weights;

use std::sync::Arc as Shared;

use crate::chart::parse::ParseConfig;
use crate::error::Result;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::fst::symbols::SymbolTable;
use crate::lm::NgramModel;
use crate::lm::apply::labels::Labels;
use crate::lm::apply::{ApplyConfig, Boundaries, Term};
use crate::rtn::local::Condition;
use crate::rtn::rule_lattice::{RuleLatticeConfig, rule_lattice};
use crate::rules::grammar::Grammar;
use crate::rules::load::SPECIAL;

use coarse::Coarse;
pub use hypotheses::Hypothesis;
pub use sentence::{Exactness, Translation};

/// How the network becomes a lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Expansion {
    /// Where a beam is known (--prune, n-best lists, the best translation alone): lazy on small networks, or, for a wide beam,
    /// expanded and composed as a whole, if that fits; pdt on others, with what is found by pruned cells as a bound. Full
    /// elsewhere
    #[default]
    Auto,
    /// Expand everything, then apply the language models
    Full,
    /// Expand and apply the models in one search, only what the beam needs
    Lazy,
    /// Apply the models to the network as a pushdown automaton, best first, then expand
    Pdt,
}

/// A language model and its weight.
#[derive(Clone)]
pub struct Model {
    pub model: Shared<NgramModel>,
    pub scale: f64,
    pub name: String,
    /// What n-best lists call its score: `LM`, `LM2`, ...
    pub feature: String,
}

impl Model {
    pub fn term(&self) -> Term<'_> {
        Term { model: &*self.model, scale: self.scale, name: &self.name, part: &self.feature }
    }
}

#[derive(Clone, Debug)]
pub struct DecodeConfig {
    pub parse: ParseConfig,
    pub expansion: Expansion,
    /// Local pruning; empty: none unless memory asks for it.
    pub conditions: Vec<Condition>,
    /// Keep what is at most this much worse than the best translation.
    pub prune: Option<f64>,
    pub nbest: usize,
    /// Distinct strings instead of derivations.
    pub unique: bool,
    /// A lattice is wanted, not only hypotheses.
    pub lattice: bool,
    /// Derivations and features of the hypotheses are wanted.
    pub derivations: bool,
    pub boundaries: Boundaries,
    /// `<dr>`, `<oov>` and `<sep>` of HiFST's rules are no words for the models.
    pub silent: bool,
    pub word_penalty: f64,
    pub oov_cost: Option<f64>,
    /// The cost of a word that is passed through.
    pub pass_through: f64,
    /// Bytes that one sentence may take, about.
    pub max_memory: usize,
}

/// Everything that sentences share.
pub struct Decoder {
    pub grammar: Grammar,
    pub models: Vec<Model>,
    /// Models of the second pass, instead of the first ones.
    pub second: Vec<Model>,
    pub config: DecodeConfig,
    /// The words as the models have them: in HiFST's numbers, 1 and 2 are the sentence boundaries.
    pub model_words: SymbolTable,
    /// The words' numbers in the models of the first pass.
    pub labels: Labels,
    /// What searches look ahead with.
    coarse: Coarse,
    /// Words are HiFST's numbers.
    pub integers: bool,
    /// What the labels of lattices are called.
    pub symbols: Shared<SymbolTable>,
}

impl Decoder {
    /// `integers`: words are HiFST's numbers.
    pub fn new(
        grammar: Grammar,
        models: Vec<Model>,
        second: Vec<Model>,
        config: DecodeConfig,
        integers: bool,
    ) -> Result<Self> {
        let mut model_words = SymbolTable::new("words");
        for (id, word) in grammar.vocab.iter() {
            let special = SPECIAL.iter().find(|(_, number)| integers && *number == word);
            model_words.push(special.map_or(word, |(name, _)| name), id as i64);
        }
        let terms: Vec<Term> = models.iter().map(Model::term).collect();
        let silent = ApplyConfig { silent: config.silent, ..ApplyConfig::default() };
        let labels = Labels::of_words(model_words.iter().map(|(w, _)| w), &terms, &silent);
        models.iter().chain(&second).for_each(|m| m.model.prepare());
        let coarse = Coarse::new(&models, &labels);
        let symbols = Shared::new(grammar.vocab.to_symbols("words"));
        Ok(Decoder { grammar, models, second, config, model_words, labels, coarse, integers, symbols })
    }

    /// Every derivation of every string of the lattice, as a transducer from rules to words; a limit error if that takes
    /// more memory than a sentence may.
    pub fn rule_lattice(&self, t: &Translation) -> Result<FlatFst<Tropical>> {
        let config =
            RuleLatticeConfig { pass_through: self.config.pass_through, max_states: states_in(self.config.max_memory) };
        rule_lattice(&self.grammar, &t.chart, &t.lattice().whole, &config)
    }

    fn apply_config(&self, prune: Option<f64>) -> ApplyConfig {
        ApplyConfig {
            boundaries: self.config.boundaries,
            word_penalty: self.config.word_penalty,
            oov_cost: self.config.oov_cost,
            prune,
            max_states: Some(states_in(self.config.max_memory)),
            silent: self.config.silent,
        }
    }
}

/// States and arcs of operations that fit into so much memory, about. Searches count their bytes themselves.
fn states_in(bytes: usize) -> usize {
    (bytes / BYTES_A_STATE).max(100)
}

/// What a state takes with its arcs, its places in tables and the copies that operations make, about.
const BYTES_A_STATE: usize = 200;
