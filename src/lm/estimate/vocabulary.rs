//! The words of a corpus, numbered by first appearance. `<unk>`, `<s>` and `</s>` come first.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

pub const UNK: u32 = 0;
pub const BOS: u32 = 1;
pub const EOS: u32 = 2;

/// All the words in one string, and a table from words to numbers.
pub struct Words {
    text: Vec<u8>,
    /// Where each word ends in `text`; the next begins there.
    ends: Vec<usize>,
    /// Half of the hash, to leave the text alone if it differs, and the number.
    table: HashTable<(u32, u32)>,
}

pub fn hash(word: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word);
    hasher.finish()
}

fn tag(hash: u64) -> u32 {
    (hash >> 16) as u32
}

impl Words {
    pub fn empty() -> Self {
        Words { text: vec![], ends: vec![], table: HashTable::new() }
    }

    /// With the three special words.
    pub fn new() -> Self {
        let mut words = Self::empty();
        for special in ["<unk>", "<s>", "</s>"] {
            words.add(special.as_bytes());
        }
        words
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory it has.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 9
    }

    pub fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.text[start..self.ends[id]]
    }

    pub fn find(&self, word: &[u8], hash: u64) -> Option<u32> {
        self.table.find(hash, |&(t, id)| t == tag(hash) && self.get(id) == word).map(|&(_, id)| id)
    }

    pub fn add(&mut self, word: &[u8]) -> u32 {
        self.add_hashed(word, hash(word))
    }

    /// The number of the word, new if it is.
    pub fn add_hashed(&mut self, word: &[u8], code: u64) -> u32 {
        if let Some(id) = self.find(word, code) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.extend_from_slice(word);
        self.ends.push(self.text.len());
        let (text, ends) = (&self.text, &self.ends);
        let again = |&(_, id): &(u32, u32)| {
            let id = id as usize;
            hash(&text[if id == 0 { 0 } else { ends[id - 1] }..ends[id]])
        };
        self.table.insert_unique(code, (tag(code), id), again);
        id
    }
}
