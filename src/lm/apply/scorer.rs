//! One or several models as one: states, costs and bounds of the weighted sum.

use std::cmp::Ordering;

use super::labels::{Kind, Labels};
use super::{ApplyConfig, Boundaries, OP, Term};
use crate::error::{Error, Result};
use crate::fst::statetable::StateTable;
use crate::lm::{LmState, UNKNOWN, WordId};

/// What the search asks of the models. Words are indices into `Labels`.
pub trait Scorer {
    fn start(&mut self) -> u32;
    /// The state after a word, and what it costs with all scales and penalties.
    fn step(&mut self, state: u32, word: u32) -> (u32, f64);
    /// `step` will be asked this soon.
    fn prefetch(&self, state: u32, word: u32);
    /// What it costs to end here.
    fn end(&mut self, state: u32) -> f64;
    /// The least that a word can cost.
    fn least(&self, word: u32) -> f64;
    /// The least that an end can cost.
    fn least_end(&self) -> f64;
    /// An order of states that does not depend on when they were seen.
    fn compare(&self, a: u32, b: u32) -> Ordering;
    /// The unscaled cost of each term for a word, or for an end, and the state after it.
    fn parts(&mut self, state: u32, word: Option<u32>, out: &mut [f64]) -> u32;
    /// Of a word in any state: whether the word penalty is paid.
    fn is_word(&self, word: u32) -> bool;
}

/// A single model.
pub struct One<'a> {
    term: &'a Term<'a>,
    ids: &'a [WordId],
    kinds: &'a [Kind],
    penalty: f64,
    oov_cost: Option<f64>,
    start: LmState,
    /// State after `<s>`, for lattices that have it.
    begin: LmState,
    /// Scored at the end of a path.
    end: Option<WordId>,
}

impl<'a> One<'a> {
    pub fn new(term: &'a Term<'a>, index: usize, labels: &'a Labels, config: &ApplyConfig) -> Result<Self> {
        let model = term.model;
        let missing = || {
            Err(Error::op(
                OP,
                format!(
                    "the model {} has no <s> or no </s>; without sentence boundaries use --boundaries none",
                    term.name
                ),
            ))
        };
        let (start, begin, end) = match (config.boundaries, model.begin(), model.end_word()) {
            (Boundaries::None, begin, _) => (model.null(), begin.unwrap_or(model.null()), None),
            (Boundaries::Add, Some(begin), Some(end)) => (begin, begin, Some(end)),
            (Boundaries::Present, Some(begin), Some(_)) => (model.null(), begin, None),
            (Boundaries::Begin, Some(begin), _) => (begin, begin, None),
            (Boundaries::End, begin, Some(end)) => (model.null(), begin.unwrap_or(model.null()), Some(end)),
            _ => return missing(),
        };
        Ok(One {
            term,
            ids: &labels.ids[index],
            kinds: &labels.kinds,
            penalty: config.word_penalty,
            oov_cost: config.oov_cost,
            start,
            begin,
            end,
        })
    }

    /// The state after a word and its unscaled cost.
    #[inline]
    fn plain(&self, state: LmState, word: u32) -> (LmState, f64) {
        let id = self.ids[word as usize];
        match self.kinds[word as usize] {
            Kind::Begin => return (self.begin, 0.0),
            Kind::Silent => return (state, 0.0),
            Kind::Word | Kind::End => {}
        }
        let (next, cost) = self.term.model.step(state, id);
        match self.oov_cost {
            Some(oov) if id == UNKNOWN => (next, oov),
            _ => (next, cost),
        }
    }
    #[inline]
    fn penalty(&self, word: u32) -> f64 {
        if self.kinds[word as usize] == Kind::Word { self.penalty } else { 0.0 }
    }
    fn bound(&self, id: WordId) -> f64 {
        let (least, most) = match self.oov_cost {
            Some(oov) if id == UNKNOWN => (oov, oov),
            _ => self.term.model.cost_bounds(id),
        };
        match self.term.scale {
            0.0 => 0.0,
            scale if scale > 0.0 => scale * least,
            scale => scale * most,
        }
    }
    fn scaled(&self, cost: f64) -> f64 {
        // 0 · ∞ is no score at all, not a NaN.
        if self.term.scale == 0.0 { 0.0 } else { self.term.scale * cost }
    }
}

impl Scorer for One<'_> {
    fn start(&mut self) -> u32 {
        self.start
    }
    #[inline]
    fn step(&mut self, state: u32, word: u32) -> (u32, f64) {
        let (next, cost) = self.plain(state, word);
        (next, self.scaled(cost) + self.penalty(word))
    }
    #[inline]
    fn prefetch(&self, state: u32, word: u32) {
        self.term.model.prefetch(state, self.ids[word as usize]);
    }
    fn end(&mut self, state: u32) -> f64 {
        self.end.map_or(0.0, |end| self.scaled(self.term.model.step(state, end).1))
    }
    fn least(&self, word: u32) -> f64 {
        let score = match self.kinds[word as usize] {
            Kind::Begin | Kind::Silent => 0.0,
            Kind::Word | Kind::End => self.bound(self.ids[word as usize]),
        };
        score + self.penalty(word)
    }
    fn least_end(&self) -> f64 {
        self.end.map_or(0.0, |end| self.bound(end))
    }
    fn compare(&self, a: u32, b: u32) -> Ordering {
        a.cmp(&b)
    }
    fn parts(&mut self, state: u32, word: Option<u32>, out: &mut [f64]) -> u32 {
        let (next, cost) = match (word, self.end) {
            (Some(word), _) => self.plain(state, word),
            (None, Some(end)) => self.term.model.step(state, end),
            (None, None) => (state, 0.0),
        };
        out[0] = cost;
        next
    }
    fn is_word(&self, word: u32) -> bool {
        self.kinds[word as usize] == Kind::Word
    }
}

/// Several models, or none; a state stands for one state of each, numbered as they are seen.
pub struct Many<'a> {
    parts: Vec<One<'a>>,
    kinds: &'a [Kind],
    penalty: f64,
    /// `states[n * parts.len()..]` are the states that number `n` stands for.
    states: Vec<LmState>,
    /// For each model but the first, numbers of (what the models before are in, its state).
    tables: Vec<StateTable>,
    scratch: Vec<LmState>,
}

impl<'a> Many<'a> {
    pub fn new(terms: &'a [Term<'a>], labels: &'a Labels, config: &ApplyConfig) -> Result<Self> {
        // The penalty is paid once, not once a model.
        let alone = ApplyConfig { word_penalty: 0.0, ..*config };
        let parts =
            terms.iter().enumerate().map(|(i, t)| One::new(t, i, labels, &alone)).collect::<Result<Vec<_>>>()?;
        let tables = terms.iter().skip(1).map(|_| StateTable::default()).collect();
        let scratch = vec![0; terms.len()];
        Ok(Many { parts, kinds: &labels.kinds, penalty: config.word_penalty, states: vec![], tables, scratch })
    }
    /// The number of the states in `scratch`.
    fn number(&mut self) -> u32 {
        let Some((&first, rest)) = self.scratch.split_first() else { return 0 };
        let mut number = first;
        for (table, &state) in self.tables.iter_mut().zip(rest) {
            number = table.number((number as u64) << 32 | state as u64);
        }
        if number as usize * self.parts.len() == self.states.len() {
            self.states.extend_from_slice(&self.scratch);
        }
        number
    }
    fn states(&self, number: u32) -> &[LmState] {
        let k = self.parts.len();
        &self.states[number as usize * k..][..k]
    }
    fn penalty(&self, word: u32) -> f64 {
        if self.is_word(word) { self.penalty } else { 0.0 }
    }
}

impl Scorer for Many<'_> {
    fn start(&mut self) -> u32 {
        for (s, p) in self.scratch.iter_mut().zip(&mut self.parts) {
            *s = p.start();
        }
        self.number()
    }
    fn step(&mut self, state: u32, word: u32) -> (u32, f64) {
        let mut cost = self.penalty(word);
        let from = state as usize * self.parts.len();
        for (i, part) in self.parts.iter_mut().enumerate() {
            let (next, more) = part.step(self.states[from + i], word);
            self.scratch[i] = next;
            cost += more;
        }
        (self.number(), cost)
    }
    fn prefetch(&self, state: u32, word: u32) {
        self.parts.iter().zip(self.states(state)).for_each(|(part, &s)| part.prefetch(s, word));
    }
    fn end(&mut self, state: u32) -> f64 {
        let from = state as usize * self.parts.len();
        let states = &self.states[from..];
        self.parts.iter_mut().zip(states).map(|(p, &s)| p.end(s)).sum()
    }
    fn least(&self, word: u32) -> f64 {
        self.penalty(word) + self.parts.iter().map(|p| p.least(word)).sum::<f64>()
    }
    fn least_end(&self) -> f64 {
        self.parts.iter().map(One::least_end).sum()
    }
    fn compare(&self, a: u32, b: u32) -> Ordering {
        self.states(a).cmp(self.states(b))
    }
    fn parts(&mut self, state: u32, word: Option<u32>, out: &mut [f64]) -> u32 {
        let from = state as usize * self.parts.len();
        for (i, part) in self.parts.iter_mut().enumerate() {
            self.scratch[i] = part.parts(self.states[from + i], word, &mut out[i..i + 1]);
        }
        self.number()
    }
    fn is_word(&self, word: u32) -> bool {
        self.kinds[word as usize] == Kind::Word
    }
}

/// One model or any number of them, chosen when the search begins.
pub enum Models<'a> {
    One(One<'a>),
    Many(Many<'a>),
}

impl<'a> Models<'a> {
    pub fn new(terms: &'a [Term<'a>], labels: &'a Labels, config: &ApplyConfig) -> Result<Self> {
        match terms {
            [term] => One::new(term, 0, labels, config).map(Models::One),
            _ => Many::new(terms, labels, config).map(Models::Many),
        }
    }
}

macro_rules! either {
    ($self:ident, $models:ident => $what:expr) => {
        match $self {
            Models::One($models) => $what,
            Models::Many($models) => $what,
        }
    };
}

impl Scorer for Models<'_> {
    fn start(&mut self) -> u32 {
        either!(self, m => m.start())
    }
    #[inline]
    fn step(&mut self, state: u32, word: u32) -> (u32, f64) {
        either!(self, m => m.step(state, word))
    }
    #[inline]
    fn prefetch(&self, state: u32, word: u32) {
        either!(self, m => m.prefetch(state, word))
    }
    fn end(&mut self, state: u32) -> f64 {
        either!(self, m => m.end(state))
    }
    fn least(&self, word: u32) -> f64 {
        either!(self, m => m.least(word))
    }
    fn least_end(&self) -> f64 {
        either!(self, m => m.least_end())
    }
    fn compare(&self, a: u32, b: u32) -> Ordering {
        either!(self, m => m.compare(a, b))
    }
    fn parts(&mut self, state: u32, word: Option<u32>, out: &mut [f64]) -> u32 {
        either!(self, m => m.parts(state, word, out))
    }
    fn is_word(&self, word: u32) -> bool {
        either!(self, m => m.is_word(word))
    }
}
