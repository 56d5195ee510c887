//! The language models of ordering: of words, or of classes of words.
//!
//! A model of classes reads a class for each word. What a word's share of its class is costs the same in every order, so
//! that the model of classes alone says all there is to say about orders. Classes are few, and their n-grams can be long:
//! such a model knows about the shape of a sentence what a model of words cannot.

use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::apply::Term;
use crate::lm::{LanguageModel, LmState, NgramModel, WordId};

/// A model, its weight and what its score is called.
#[derive(Clone)]
pub struct OrderModel {
    pub model: Shared<dyn LanguageModel + Send>,
    pub scale: f64,
    /// The file it comes from.
    pub name: String,
    /// `LM`, `LM2`, ... or `ClassLM`.
    pub feature: String,
}

impl OrderModel {
    pub fn term(&self) -> Term<'_> {
        Term { model: &*self.model, scale: self.scale, name: &self.name, part: &self.feature }
    }
}

/// The class of every word, and of those that no list has.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    of: HashMap<String, String, FxBuildHasher>,
}

/// The class of words that are in no list, if it is given.
const OTHERS: &str = "<unk>";

impl Classes {
    /// Reads lines `word<TAB>class`.
    pub fn read(name: &str) -> Result<Self> {
        let (shown, text) = io::read_text(name)?;
        let mut of = HashMap::default();
        for (i, line) in text.lines().enumerate() {
            let wrong = |column: usize, message: String| Error::text(&shown, i + 1, column, message);
            let fields: Vec<&str> = line.split('\t').collect();
            let &[word, class] = &fields[..] else {
                return Err(wrong(1, format!("{} fields, expected a word, a tab and its class", fields.len())));
            };
            if word.is_empty() || class.is_empty() {
                return Err(wrong(1, "expected a word, a tab and its class".into()));
            }
            if let Some(other) = of.insert(word.to_string(), class.to_string()).filter(|c| c != class) {
                return Err(wrong(1, format!("{word:?} is of class {class} here and of class {other} above")));
            }
        }
        Ok(Classes { of })
    }

    /// True if some class is a word of the model.
    pub fn fit(&self, model: &NgramModel) -> bool {
        self.of.values().any(|class| model.word(class).is_some())
    }

    pub fn class(&self, word: &str) -> Option<&str> {
        self.of.get(word).or_else(|| self.of.get(OTHERS)).map(String::as_str)
    }
}

/// A model of classes that is asked about words.
pub struct ClassModel {
    pub model: NgramModel,
    pub classes: Shared<Classes>,
}

impl LanguageModel for ClassModel {
    fn word(&self, word: &str) -> Option<WordId> {
        self.model.word(self.classes.class(word)?)
    }
    fn null(&self) -> LmState {
        self.model.null()
    }
    fn begin(&self) -> Option<LmState> {
        self.model.begin()
    }
    fn end_word(&self) -> Option<WordId> {
        self.model.end_word()
    }
    #[inline]
    fn step(&self, state: LmState, word: WordId) -> (LmState, f64) {
        self.model.step(state, word)
    }
    fn prefetch(&self, state: LmState, word: WordId) {
        self.model.prefetch(state, word);
    }
    fn cost_bounds(&self, word: WordId) -> (f64, f64) {
        self.model.cost_bounds(word)
    }
}
