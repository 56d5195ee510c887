//! A model as an automaton, to look at or to compose elsewhere.
//!
//! One state a context that matters, one arc an n-gram, and for what no arc matches
//! - `phi`: a failure arc to the shorter context. Composed with a phi matcher it is the model, exactly.
//! - `epsilon`: the same arc as an epsilon. Every composition takes it, but then a path may back off although there is an
//!   n-gram for its words; where that is cheaper, the cost of a sentence comes out too low, and there are paths to spare.
//! - `exact`: no back-off arcs; every state has an arc for every word. Exact everywhere, and states × words large.
//!
//! Every state is final with the exact cost of `</s>` there. Unknown words are spelt `<unk>`.

use std::sync::Arc as Shared;

use super::vocab::UNK;
use super::{LN_10, LanguageModel, LmState, NgramModel, UNKNOWN, WordId};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::lm::apply::Boundaries;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Backoff {
    /// Failure arcs: exact, for composition with a phi label
    #[default]
    Phi,
    /// Epsilon arcs: an approximation that every tool can compose
    Epsilon,
    /// No back-off arcs, every word from every state: exact and large
    Exact,
}

#[derive(Clone, Copy, Debug)]
pub struct AutomatonConfig {
    pub backoff: Backoff,
    pub boundaries: Boundaries,
    /// Refuse to make more arcs than this.
    pub max_arcs: u64,
}

const OP: &str = "lm fst";
/// The symbol on failure arcs, unless it is a word of the model: then with `_` after it.
pub const PHI: &str = "<phi>";
/// The symbol of epsilon, likewise.
const EPS: &str = "<eps>";

fn free_name(model: &NgramModel, name: &str) -> String {
    let mut name = name.to_string();
    while model.vocab().find(name.as_bytes()).is_some() {
        name.push('_');
    }
    name
}

/// The label of a word: its number; `<unk>` comes after all others, since 0 is epsilon.
pub fn label(model: &NgramModel, word: WordId) -> Label {
    if word == UNKNOWN { model.vocab().len() as Label } else { word as Label }
}

/// The label of failure arcs.
pub fn phi_label(model: &NgramModel) -> Label {
    model.vocab().len() as Label + 1
}

fn symbols(model: &NgramModel, phi: bool) -> SymbolTable {
    let mut table = SymbolTable::new("words");
    table.push(&free_name(model, EPS), 0);
    for word in model.vocab().iter().skip(1) {
        table.push(word, table.len() as i64);
    }
    table.push(UNK, table.len() as i64);
    if phi {
        table.push(&free_name(model, PHI), table.len() as i64);
    }
    table
}

pub fn automaton<W: Weight>(model: &NgramModel, config: &AutomatonConfig) -> Result<FlatFst<W>> {
    let boundaries = config.boundaries;
    let (begin, end) = match (boundaries, model.begin(), model.end_word()) {
        (Boundaries::None, ..) => (model.null(), None),
        (Boundaries::Begin, Some(begin), _) => (begin, None),
        (Boundaries::End, _, Some(end)) => (model.null(), Some(end)),
        (_, Some(begin), Some(end)) => (begin, Some(end)),
        _ => {
            return Err(Error::op(
                OP,
                format!("the model {} has no <s> or no </s>; without boundaries use --boundaries none", model.name()),
            ));
        }
    };
    let states = model.num_states();
    let words = model.vocab().len();
    let arcs = match config.backoff {
        Backoff::Exact => (states as u64).saturating_mul(words as u64),
        _ => (words + model.arcs().count() + states) as u64,
    };
    if arcs > config.max_arcs.min(u32::MAX as u64 - 2) {
        return Err(Error::limit(
            OP,
            format!("{} arcs", config.max_arcs),
            format!("the automaton has about {arcs}; use --backoff phi, or a larger --max-arcs"),
        ));
    }
    if words + 2 > Label::MAX as usize {
        return Err(Error::op(OP, "more words than there are labels"));
    }
    let made = Maker { model, config, begin, end }.make();
    let table = Shared::new(symbols(model, config.backoff == Backoff::Phi));
    Ok(made.with_symbols(Some(table.clone()), Some(table)))
}

struct Maker<'a> {
    model: &'a NgramModel,
    config: &'a AutomatonConfig,
    begin: LmState,
    end: Option<WordId>,
}

/// An arc without its back-off: word, log10 p and the state it leads to.
type Way = (WordId, f64, LmState);

impl Maker<'_> {
    fn make<W: Weight>(&self) -> FlatFst<W> {
        let states = self.model.num_states() as LmState;
        // With boundaries on arcs there are two more states: before <s> and after </s>.
        let present = self.config.boundaries == Boundaries::Present;
        let last = states;
        let mut b = Builder::<W>::default();
        let ways = self.explicit_ways();
        let mut row: Vec<Way> = vec![];
        for s in 0..states {
            let finality = match (self.config.boundaries, self.end) {
                (Boundaries::Add | Boundaries::End, Some(end)) => W::from_f64(self.model.step(s, end).1),
                (Boundaries::None | Boundaries::Begin, _) => W::ONE,
                _ => W::ZERO,
            };
            b.add_state(finality);
            row.clear();
            match self.config.backoff {
                Backoff::Exact => row.extend((0..self.model.vocab().len() as WordId).map(|w| {
                    let (next, cost) = self.model.step(s, w);
                    (w, cost / -LN_10, next)
                })),
                _ => row.extend_from_slice(ways.of(s)),
            }
            self.push_row(&mut b, s, &row, present.then_some(last));
        }
        let mut start = self.begin;
        if present {
            b.add_state(W::ONE);
            start = b.add_state(W::ZERO);
            if let Some(word) = self.model.begin_word() {
                let l = label(self.model, word);
                b.push_arc(Arc::new(l, l, W::ONE, self.begin));
            }
        }
        b.set_start(start);
        // Contexts that only lie behind others, such as those that begin before <s>, are kept: it is the model.
        b.finish()
    }

    fn push_row<W: Weight>(&self, b: &mut Builder<W>, s: LmState, row: &[Way], after_end: Option<LmState>) {
        let model = self.model;
        let backoff = (s != 0 && self.config.backoff != Backoff::Exact).then(|| {
            let context = model.context(s);
            (W::from_f64(context.backoff as f64 * -LN_10), model.shorter(s, context))
        });
        if let (Some((weight, shorter)), Backoff::Epsilon) = (backoff, self.config.backoff) {
            b.push_arc(Arc::new(EPSILON, EPSILON, weight, shorter));
        }
        let mut unknown = None;
        for &(word, log10, next) in row {
            let next = match (Some(word) == self.end, after_end) {
                (true, Some(after)) => after,
                (true, None) => continue,
                _ => next,
            };
            // <s> is where a sentence begins; it is never foretold.
            if Some(word) == model.begin_word() && self.end.is_some() {
                continue;
            }
            let l = label(model, word);
            let arc = Arc::new(l, l, W::from_f64(log10 * -LN_10), next);
            // A word of probability zero: with failure arcs its arc must stay, or it would be backed off from.
            if arc.weight.is_zero_w() && (s == 0 || self.config.backoff == Backoff::Exact) {
                continue;
            }
            // The label of <unk> is the largest of the words'.
            if word == UNKNOWN { unknown = Some(arc) } else { b.push_arc(arc) }
        }
        b.extend_arcs(unknown);
        if let (Some((weight, shorter)), Backoff::Phi) = (backoff, self.config.backoff) {
            let phi = phi_label(model);
            b.push_arc(Arc::new(phi, phi, weight, shorter));
        }
    }

    /// The n-grams by state, words in order.
    fn explicit_ways(&self) -> Ways {
        let states = self.model.num_states();
        let mut offsets = vec![0usize; states + 1];
        if self.config.backoff == Backoff::Exact {
            return Ways { offsets, ways: vec![] };
        }
        let words = self.model.vocab().len() as WordId;
        let unigrams = (0..words).map(|w| {
            let u = self.model.unigram(w);
            (0, (w, u.log10 as f64, u.next))
        });
        let ngrams = self.model.arcs().map(|(s, w, slot)| (s, (w, slot.log10 as f64, slot.next)));
        let mut all: Vec<(LmState, Way)> = unigrams.chain(ngrams).collect();
        all.sort_unstable_by_key(|&(s, (w, ..))| (s, w));
        for &(s, _) in &all {
            offsets[(s as usize).min(states - 1) + 1] += 1;
        }
        for s in 0..states {
            offsets[s + 1] += offsets[s];
        }
        Ways { offsets, ways: all.into_iter().map(|(_, way)| way).collect() }
    }
}

struct Ways {
    offsets: Vec<usize>,
    ways: Vec<Way>,
}

impl Ways {
    fn of(&self, s: LmState) -> &[Way] {
        &self.ways[self.offsets[s as usize]..self.offsets[s as usize + 1]]
    }
}
