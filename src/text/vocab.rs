//! `Vocab`: words and their numbers, one table for all that is read; 0 is epsilon.
//!
//! Words lie in one buffer in the order they were added. Looking a word up hashes it once; nothing is allocated.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::fst::symbols::SymbolTable;

/// The number of a word. 0 is epsilon, no word.
pub type WordId = u32;

/// The name of number 0 in symbol tables.
pub const EPSILON: &str = "<eps>";

/// What stands between two words of which the first came somewhere before the second.
pub const GAP: &str = "<...>";

/// True for words that are spelled with one backslash more in vocabularies and symbol tables: `<eps>` and `<...>`, which are
/// no words there, and whatever would be taken for their spelling.
fn reserved(word: &str) -> bool {
    [EPSILON, GAP].contains(&word.trim_start_matches('\\'))
}

/// How a word of a text is spelled where `<eps>` and `<...>` are no words.
pub fn spelled(word: &str) -> Cow<'_, str> {
    if reserved(word) { Cow::Owned(format!("\\{word}")) } else { Cow::Borrowed(word) }
}

/// The word that is spelled so.
pub fn plain(word: &str) -> &str {
    word.strip_prefix('\\').filter(|w| reserved(w)).unwrap_or(word)
}

#[derive(Clone, Debug)]
pub struct Vocab {
    text: String,
    ends: Vec<u32>,
    table: HashTable<WordId>,
}

impl Default for Vocab {
    fn default() -> Self {
        let mut v = Vocab { text: String::new(), ends: vec![], table: HashTable::new() };
        v.add(EPSILON);
        v
    }
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word)
}

/// Word `id` of a buffer.
fn word_at<'a>(text: &'a str, ends: &[u32], id: WordId) -> &'a str {
    let from = if id == 0 { 0 } else { ends[id as usize - 1] };
    &text[from as usize..ends[id as usize] as usize]
}

impl Vocab {
    /// How many numbers there are, epsilon's among them.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Never: epsilon is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
    pub fn find(&self, word: &str) -> Option<WordId> {
        self.table.find(hash(word), |&id| self.word(id) == word).copied()
    }
    /// The word's number; a new one gets the next.
    ///
    /// # Panics
    /// If the words have more than 4 GB of letters.
    pub fn add(&mut self, word: &str) -> WordId {
        let (text, ends) = (&self.text, &self.ends);
        if let Some(&id) = self.table.find(hash(word), |&id| word_at(text, ends, id) == word) {
            return id;
        }
        let id = self.ends.len() as WordId;
        self.text.push_str(word);
        self.ends.push(u32::try_from(self.text.len()).expect("a vocabulary has less than 4 GB of letters"));
        let (text, ends) = (&self.text, &self.ends);
        self.table.insert_unique(hash(word), id, |&id| hash(word_at(text, ends, id)));
        id
    }
    /// # Panics
    /// If there is no such number.
    pub fn word(&self, id: WordId) -> &str {
        word_at(&self.text, &self.ends, id)
    }
    pub fn iter(&self) -> impl Iterator<Item = (WordId, &str)> {
        (0..self.len() as WordId).map(|id| (id, self.word(id)))
    }
    /// As a symbol table, for automata whose labels are these numbers.
    pub fn to_symbols(&self, name: &str) -> SymbolTable {
        let mut table = SymbolTable::new(name);
        for (id, word) in self.iter() {
            table.push(word, id as i64);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_spelling_of_its_own() {
        for (word, meant) in
            [("a", "a"), (EPSILON, r"\<eps>"), (r"\<eps>", r"\\<eps>"), (r"\a", r"\a"), ("<eps>a", "<eps>a")]
        {
            assert_eq!(spelled(word), meant);
            assert_eq!(plain(meant), word);
        }
    }

    #[test]
    fn numbers_are_given_in_turn_and_kept() {
        let mut v = Vocab::default();
        assert_eq!((v.add("a"), v.add("b"), v.add("a"), v.add(EPSILON)), (1, 2, 1, 0));
        assert_eq!((v.find("b"), v.find("c"), v.word(2), v.len()), (Some(2), None, "b", 3));
        assert_eq!(v.to_symbols("words").key("b"), Some(2));
    }
}
