//! N-gram language models: estimation, ARPA and binary files, scoring, the model as an automaton, application to lattices.
//!
//! ```text
//! text ──estimate──► ARPA ──arpa──► NgramModel ──binary──► mapped file
//!                                     │ step(state, word) -> (state, cost)
//!            sentences ──query──► scores        lattices ──apply──► lattices        automaton ──► FlatFst
//! ```
//!
//! Log10 lives inside the model, exactly as the ARPA file has it; everything that leaves through `LanguageModel` is a
//! cost, −ln p.

pub mod apply;
pub mod arpa;
pub mod automaton;
pub mod bigrams;
pub mod binary;
pub mod build;
pub mod classes;
pub mod estimate;
pub mod layout;
pub mod model;
pub mod query;
pub mod vocab;

pub use model::NgramModel;

/// A word of a model; `UNKNOWN` stands for every word that the model does not know.
pub type WordId = u32;
/// What a model remembers of the words so far.
pub type LmState = u32;

/// The word that stands for all others.
pub const UNKNOWN: WordId = 0;

/// ln 10: log10 p times −LN_10 is the cost −ln p.
pub const LN_10: f64 = std::f64::consts::LN_10;

/// What a model must answer to be applied to lattices: plug in another one (neural scores, a dependency model) by
/// implementing it. States are numbers that the model gives out; equal states must have equal futures, and the fewer
/// states, the smaller the lattices. One model serves all threads.
///
/// ```
/// use weft::fst::flat::{Arc, FlatFst};
/// use weft::fst::semiring::Tropical;
/// use weft::fst::symbols::SymbolTable;
/// use weft::lm::apply::{ApplyConfig, Boundaries, Term, apply};
/// use weft::lm::{LanguageModel, LmState, WordId};
///
/// /// Dislikes a word that was just said.
/// struct NoEcho;
/// impl LanguageModel for NoEcho {
///     fn word(&self, word: &str) -> Option<WordId> {
///         word.bytes().next().map(WordId::from)
///     }
///     fn null(&self) -> LmState {
///         0
///     }
///     fn begin(&self) -> Option<LmState> {
///         None
///     }
///     fn end_word(&self) -> Option<WordId> {
///         None
///     }
///     fn step(&self, last: LmState, word: WordId) -> (LmState, f64) {
///         (word, if last == word { 5.0 } else { 0.0 })
///     }
/// }
///
/// let mut words = SymbolTable::new("words");
/// ["<eps>", "no", "yes"].iter().for_each(|w| { words.add(w); });
/// let arc = |label, next| Arc::new(label, label, Tropical(1.0), next);
/// let lattice = FlatFst::from_rows(0, vec![
///     (Tropical(f32::INFINITY), vec![arc(1, 1)]),
///     (Tropical(f32::INFINITY), vec![arc(1, 2), arc(2, 2)]),
///     (Tropical(0.0), vec![]),
/// ]);
/// let config = ApplyConfig { boundaries: Boundaries::None, ..ApplyConfig::default() };
/// let term = Term { model: &NoEcho, scale: 1.0, name: "no echo", part: "echo" };
/// let scored = apply(&lattice, &[term], &words, &config)?;
/// assert_eq!(scored.arcs(1).iter().map(|a| a.weight.0).collect::<Vec<_>>(), [6.0, 1.0]);
/// # Ok::<(), weft::Error>(())
/// ```
pub trait LanguageModel: Sync {
    /// The number of a word; `None` if the model does not know it (it is then scored as `UNKNOWN`).
    fn word(&self, word: &str) -> Option<WordId>;
    /// The state with no words before.
    fn null(&self) -> LmState;
    /// The state after `<s>`; `None` if the model has no sentence boundaries.
    fn begin(&self) -> Option<LmState>;
    /// The word `</s>`; `None` if the model has no sentence boundaries.
    fn end_word(&self) -> Option<WordId>;
    /// The state after `word`, and what the word costs: −ln p(word | state).
    fn step(&self, state: LmState, word: WordId) -> (LmState, f64);
    /// `step` will be asked this soon: a model may bring what it needs into the cache.
    fn prefetch(&self, _state: LmState, _word: WordId) {}
    /// The least and the most that `word` can cost in any state; (−∞, ∞) if that is not known. Pruning during
    /// composition is as good as these bounds are tight.
    fn cost_bounds(&self, _word: WordId) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
}
