//! Histories cut down to their last word, and the least that words cost after them: what searches look ahead with.
//!
//! A class stands for one coarse state of each model (see `lm::bigrams`). A word leads to the same class whatever came
//! before it, so that the class after a symbol is known where the models' state is not.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Model;
use crate::lm::apply::labels::{Kind, Labels};
use crate::lm::apply::{ApplyConfig, Boundaries};
use crate::lm::bigrams::Bigrams;
use crate::lm::{LanguageModel, LmState, UNKNOWN, WordId};
use crate::rtn::ahead::Histories;

/// Classes of all words of a grammar; made once.
pub struct Coarse {
    bigrams: Vec<Bigrams>,
    /// Of each word the class after it; `None`: as before.
    classes: Vec<Option<u32>>,
    /// Of each class the coarse states, one a model.
    states: Vec<LmState>,
    null: u32,
    begin: u32,
}

impl Coarse {
    pub fn new(models: &[Model], labels: &Labels) -> Self {
        let mut index: HashMap<Vec<LmState>, u32, FxBuildHasher> = HashMap::default();
        let mut states = vec![];
        let mut class = |tuple: Vec<LmState>| {
            *index.entry(tuple).or_insert_with_key(|tuple| {
                states.extend_from_slice(tuple);
                (states.len() / tuple.len().max(1)) as u32 - u32::from(!tuple.is_empty())
            })
        };
        let begin_of = |m: &Model| m.model.begin().unwrap_or(m.model.null());
        let null = class(models.iter().map(|m| m.model.null()).collect());
        let begin = class(models.iter().map(begin_of).collect());
        let after = |w: usize| models.iter().zip(&labels.ids).map(move |(m, ids)| m.model.unigram(ids[w]).next);
        let classes = labels.kinds.iter().enumerate().map(|(w, kind)| match kind {
            Kind::Silent => None,
            Kind::Begin => Some(begin),
            Kind::Word | Kind::End => Some(class(after(w).collect())),
        });
        let classes = classes.collect();
        let bigrams = models
            .iter()
            .zip(&labels.ids)
            .map(|(m, ids)| {
                let mut wanted = vec![false; m.model.vocab().len()];
                let known = ids.iter().copied().chain([UNKNOWN]).chain(m.model.begin_word()).chain(m.model.end_word());
                known.for_each(|w| wanted[w as usize] = true);
                Bigrams::new(&m.model, &wanted)
            })
            .collect();
        Coarse { bigrams, classes, states, null, begin }
    }

    /// What a search asks for, with the models' weights. `likely`: what words are likely to cost, which may be too much, instead of the
    /// least that they can cost.
    pub fn histories<'a>(
        &'a self,
        models: &'a [Model],
        labels: &'a Labels,
        config: &ApplyConfig,
        likely: bool,
    ) -> impl Histories + 'a {
        Weighted {
            likely,
            coarse: self,
            models,
            labels,
            penalty: config.word_penalty,
            oov_cost: config.oov_cost,
            boundaries: config.boundaries,
        }
    }
}

/// Where the likely cost of a word lies between the least and what it costs after the word before it alone.
const LIKELY: f64 = 0.3;

struct Weighted<'a> {
    likely: bool,
    coarse: &'a Coarse,
    models: &'a [Model],
    labels: &'a Labels,
    penalty: f64,
    oov_cost: Option<f64>,
    boundaries: Boundaries,
}

impl Weighted<'_> {
    fn bound(&self, m: usize, class: u32, id: WordId) -> f64 {
        let Model { model, scale, .. } = &self.models[m];
        let state = || self.coarse.states[class as usize * self.models.len() + m];
        match self.oov_cost {
            _ if *scale == 0.0 => 0.0,
            Some(oov) if id == UNKNOWN => scale * oov,
            _ if self.likely && *scale > 0.0 => {
                let least = self.coarse.bigrams[m].least(model, state(), id);
                scale * (least + LIKELY * (model.step(state(), id).1 - least))
            }
            // A model that counts against itself: the most that its word costs in any context.
            _ if *scale < 0.0 => scale * model.cost_bounds(id).1,
            _ => scale * self.coarse.bigrams[m].least(model, state(), id),
        }
    }
}

impl Histories for Weighted<'_> {
    fn start(&self) -> u32 {
        if self.boundaries == Boundaries::Add { self.coarse.begin } else { self.coarse.null }
    }
    fn after(&self, class: u32, word: u32) -> u32 {
        self.coarse.classes[word as usize].unwrap_or(class)
    }
    fn is_silent(&self, word: u32) -> bool {
        self.coarse.classes[word as usize].is_none()
    }
    fn least(&self, class: u32, word: u32) -> f64 {
        let kind = self.labels.kinds[word as usize];
        let penalty = if kind == Kind::Word { self.penalty } else { 0.0 };
        match kind {
            Kind::Begin | Kind::Silent => 0.0,
            Kind::Word | Kind::End => {
                let ids = &self.labels.ids;
                penalty + (0..self.models.len()).map(|m| self.bound(m, class, ids[m][word as usize])).sum::<f64>()
            }
        }
    }
    fn least_end(&self, class: u32) -> f64 {
        if self.boundaries != Boundaries::Add {
            return 0.0;
        }
        let end = |m: usize| self.models[m].model.end_word().map_or(0.0, |end| self.bound(m, class, end));
        (0..self.models.len()).map(end).sum()
    }
}
