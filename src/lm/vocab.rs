//! The words of a model: strings in one buffer, and a table from string to number.
//!
//! Number 0 is `<unk>`; the others count from 1 in the order of the ARPA file, as KenLM numbers them. The table holds a
//! tag of the hash and the number; the string decides, so that no two words are ever taken for one.

use hashbrown::HashTable;

use super::layout::{Block, BlockBuilder, Section, hash_bytes, place};
use super::{UNKNOWN, WordId};
use crate::error::Result;

/// Names of the special words in ARPA files.
pub const BEGIN: &str = "<s>";
pub const END: &str = "</s>";
pub const UNK: &str = "<unk>";

/// True for the unknown word in either of its spellings.
pub fn is_unknown(word: &[u8]) -> bool {
    word == UNK.as_bytes() || word == b"<UNK>"
}

/// Words while a model is being read.
pub struct Growing {
    text: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<WordId>,
}

impl Default for Growing {
    fn default() -> Self {
        let mut g = Growing { text: vec![], ends: vec![], table: HashTable::new() };
        g.add(UNK.as_bytes());
        g
    }
}

impl Growing {
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    pub fn word(&self, id: WordId) -> &[u8] {
        let from = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.text[from as usize..self.ends[id as usize] as usize]
    }
    pub fn find(&self, word: &[u8]) -> Option<WordId> {
        if is_unknown(word) {
            return Some(UNKNOWN);
        }
        self.table.find(hash_bytes(word), |&id| self.word(id) == word).copied()
    }
    /// A new word's number; `None` if it was there, or if there is no more room.
    pub fn add(&mut self, word: &[u8]) -> Option<WordId> {
        if !self.is_empty() && self.find(word).is_some() {
            return None;
        }
        let id = self.ends.len() as WordId;
        self.text.extend_from_slice(word);
        self.ends.push(u32::try_from(self.text.len()).ok()?);
        let (text, ends) = (&self.text, &self.ends);
        let word_of = |id: WordId| {
            let from = if id == 0 { 0 } else { ends[id as usize - 1] };
            &text[from as usize..ends[id as usize] as usize]
        };
        self.table.insert_unique(hash_bytes(word), id, |&id| hash_bytes(word_of(id)));
        Some(id)
    }

    /// Appends the sections of a `Vocabulary`.
    pub fn push_sections(&self, block: &mut BlockBuilder) {
        block.push(&self.text);
        block.push(&self.ends);
        let places = self.len() * 3 / 2 + 1;
        block.push_with(places, |slots: &mut [u64]| {
            for id in 0..self.len() as WordId {
                let hash = hash_bytes(self.word(id));
                let mut at = place(hash, places);
                while slots[at] != 0 {
                    at = if at + 1 == places { 0 } else { at + 1 };
                }
                slots[at] = slot(hash, id);
            }
        });
    }
}

/// 32 bits of the hash that do not choose the place, and the number plus one.
#[inline(always)]
fn slot(hash: u64, id: WordId) -> u64 {
    hash << 32 | (id as u64 + 1)
}

pub struct Vocabulary {
    text: Section<u8>,
    ends: Section<u32>,
    slots: Section<u64>,
}

impl Vocabulary {
    pub const SECTIONS: usize = 3;

    /// The vocabulary in the three sections from `first` on.
    pub fn open(name: &str, block: &Block, first: usize) -> Result<Self> {
        Ok(Vocabulary {
            text: block.section(name, first)?,
            ends: block.section(name, first + 1)?,
            slots: block.section(name, first + 2)?,
        })
    }
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// Bytes of a word; empty for a number that no word has.
    #[inline]
    pub fn bytes(&self, id: WordId) -> &[u8] {
        let end = self.ends.get(id as usize).copied().unwrap_or(0) as usize;
        let from = if id == 0 { 0 } else { self.ends.get(id as usize - 1).copied().unwrap_or(0) as usize };
        self.text.get(from..end).unwrap_or(&[])
    }
    pub fn word(&self, id: WordId) -> &str {
        std::str::from_utf8(self.bytes(id)).unwrap_or("")
    }
    /// The number of a word that the model knows; `<unk>` itself is found, too.
    #[inline]
    pub fn find(&self, word: &[u8]) -> Option<WordId> {
        let places = self.slots.len();
        let hash = hash_bytes(word);
        let mut at = place(hash, places);
        for _ in 0..places {
            let found = self.slots[at];
            if found == 0 {
                break;
            }
            let id = (found as u32).wrapping_sub(1);
            if found >> 32 == hash & 0xFFFF_FFFF && self.bytes(id) == word {
                return Some(id);
            }
            at = if at + 1 == places { 0 } else { at + 1 };
        }
        (word == b"<UNK>").then_some(UNKNOWN)
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as WordId).map(|id| self.word(id))
    }
}
