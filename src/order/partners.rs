//! Words of bags for a pass over a text: looked up by their letters, and which of them share a bag.
//!
//! A pass asks two things of every word of the text, so both must be quick. `Words` finds the number of a word by its first
//! and last eight letters. `Partners` says for two words whether some bag has both: every word has a small table of its own
//! with the words it shares a bag with, which lies in one or two cache lines for a rare word and is an array for a frequent
//! one. The place of a pair in these tables is its number, so that counts of pairs are arrays.
//!
//! 4 bytes a slot, at most 3 slots a pair of words that share a bag, and the tables are never larger than words · words.

use crate::text::vocab::{Vocab, WordId, plain};

/// Words by their letters; 0 is no word.
pub struct Words {
    slots: Vec<Slot>,
    mask: usize,
    letters: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The first eight letters.
    first: u64,
    /// Where the letters lie, if there are more than eight.
    at: u32,
    length: u32,
    id: WordId,
}

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Eight bytes from `at` on, or as many as there are and zeros.
#[inline(always)]
fn eight(text: &[u8], at: usize) -> u64 {
    match text[at..] {
        [a, b, c, d, e, f, g, h, ..] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => text[at..].iter().rev().fold(0, |sum, &b| sum << 8 | b as u64),
    }
}

/// The first letters and the hash of the word `text[from..to]`.
#[inline(always)]
fn look(text: &[u8], from: usize, to: usize) -> (u64, u64) {
    let length = to - from;
    let mut first = eight(text, from);
    let mut last = 0;
    if length < 8 {
        first &= (1 << (8 * length)) - 1;
    } else {
        last = eight(text, to - 8);
    }
    let h = (first ^ last.rotate_left(23) ^ (length as u64) << 56).wrapping_mul(SPREAD);
    (first, h ^ h >> 32)
}

/// The end of the word that begins at `from`: the next white space.
#[inline(always)]
pub fn word_end(text: &[u8], from: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = from;
    while at + 8 <= text.len() {
        let bytes = eight(text, at);
        // Bytes up to the blank, 0x20, have their high bit set here; a later byte may, too, by a borrow, the first is right.
        let low = bytes.wrapping_sub(ONES * 0x21) & !bytes & HIGH;
        if low == 0 {
            at += 8;
            continue;
        }
        at += low.trailing_zeros() as usize / 8;
        if text[at].is_ascii_whitespace() {
            return at;
        }
        at += 1;
    }
    text[at..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |i| at + i)
}

impl Words {
    /// The words of a vocabulary from 1 on, but for `without`.
    pub fn new(vocab: &Vocab, without: Option<WordId>) -> Self {
        let size = (4 * vocab.len()).next_power_of_two().max(64);
        let mut words = Words { slots: vec![Slot::default(); size], mask: size - 1, letters: vec![] };
        for (id, word) in vocab.iter().skip(1).filter(|(id, _)| Some(*id) != without) {
            let text = plain(word).as_bytes();
            let (first, hash) = look(text, 0, text.len());
            let mut at = hash as usize & words.mask;
            while words.slots[at].id != 0 {
                at = (at + 1) & words.mask;
            }
            // A vocabulary has less than 4 GB of letters.
            words.slots[at] = Slot { first, at: words.letters.len() as u32, length: text.len() as u32, id };
            words.letters.extend_from_slice(text);
        }
        words
    }

    /// The number of the word `text[from..to]`; 0 if there is no such word.
    #[inline(always)]
    pub fn find(&self, text: &[u8], from: usize, to: usize) -> WordId {
        let (first, hash) = look(text, from, to);
        let length = to - from;
        let mut at = hash as usize & self.mask;
        loop {
            let slot = &self.slots[at];
            if slot.id == 0 {
                return 0;
            }
            if slot.first == first && slot.length as usize == length {
                let start = slot.at as usize;
                if length <= 8 || self.letters[start..start + length] == text[from..to] {
                    return slot.id;
                }
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// Which words share a bag, each pair with a number.
pub struct Partners {
    /// Of each word: the first slot of its table, and its size less one.
    tables: Vec<(u32, u32)>,
    /// The other word; 0 is empty.
    keys: Vec<WordId>,
}

impl Partners {
    /// `of(word, list)` puts the words that share a bag with `word` into the list, each once, the word itself among them
    /// if a bag has it twice.
    pub fn new(words: usize, mut of: impl FnMut(WordId, &mut Vec<WordId>)) -> Option<Self> {
        let mut partners = Partners { tables: Vec::with_capacity(words), keys: vec![] };
        let mut list = vec![];
        let whole = words.next_power_of_two();
        for word in 0..words as WordId {
            list.clear();
            of(word, &mut list);
            // A table of all words has no collisions: the number of a word is its place.
            let size = (list.len() + list.len() / 2 + 1).next_power_of_two().min(whole);
            let first = partners.keys.len();
            partners.keys.resize(first + size, 0);
            partners.tables.push((u32::try_from(first).ok()?, size as u32 - 1));
            for &other in &list {
                let mut at = other as usize & (size - 1);
                while partners.keys[first + at] != 0 {
                    at = (at + 1) & (size - 1);
                }
                partners.keys[first + at] = other;
            }
        }
        u32::try_from(partners.keys.len()).ok()?;
        Some(partners)
    }

    /// The number of a pair; `None` if no bag has both words.
    #[inline(always)]
    pub fn find(&self, a: WordId, b: WordId) -> Option<usize> {
        let (first, mask) = self.tables[a as usize];
        let mut at = b & mask;
        // A full table has every word of it in its place, or else there is an empty slot.
        for _ in 0..=mask {
            let slot = (first + at) as usize;
            let key = self.keys[slot];
            if key == 0 {
                return None;
            }
            if key == b {
                return Some(slot);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Counts that two words came in this order, if they share a bag.
    #[inline(always)]
    pub fn count(&self, tally: &mut Tally, a: WordId, b: WordId) {
        let (first, mask) = self.tables[a as usize];
        let mut at = b & mask;
        for _ in 0..=mask {
            let n = first + at;
            let slot = &mut tally.slots[n as usize];
            if slot.0 == 0 {
                return;
            }
            if slot.0 == b {
                slot.1 = slot.1.wrapping_add(1);
                if slot.1 == 0 {
                    tally.over.push(n);
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    pub fn tally(&self) -> Tally {
        Tally { slots: self.keys.iter().map(|&key| (key, 0)).collect(), over: vec![] }
    }

    /// Numbers of pairs are less than this.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All pairs with their numbers: `(number, first, second)`.
    pub fn iter(&self) -> impl Iterator<Item = (usize, WordId, WordId)> {
        self.tables.iter().enumerate().flat_map(move |(a, &(first, mask))| {
            let slots = first as usize..=(first + mask) as usize;
            slots.filter(|&s| self.keys[s] != 0).map(move |s| (s, a as WordId, self.keys[s]))
        })
    }
}

/// Counts of pairs beside their keys, so that a look-up that counts is one cache line.
#[derive(Default)]
pub struct Tally {
    slots: Vec<(WordId, u32)>,
    /// Numbers of pairs whose counts went round, once for each time.
    over: Vec<u32>,
}

impl Tally {
    /// By the numbers of pairs.
    pub fn of(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.slots.iter().map(|s| s.1 as u64).collect();
        self.over.iter().for_each(|&n| all[n as usize] += 1 << 32);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_letters() {
        let mut vocab = Vocab::default();
        let long = "a-word-of-more-than-sixteen-letters";
        let all =
            ["a", "of", "seven77", "eight888", "nine99999", "été", long, "a-word-of-MORE-than-sixteen-letters", "x"];
        let ids: Vec<WordId> = all.iter().map(|w| vocab.add(w)).collect();
        let words = Words::new(&vocab, Some(ids[8]));
        let text = format!("{} \tunknown a\u{1}b {}", all.join("  "), "b");
        let bytes = text.as_bytes();
        let mut found = vec![];
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii_whitespace() {
                at += 1;
                continue;
            }
            let end = word_end(bytes, at);
            found.push((text[at..end].to_string(), words.find(bytes, at, end)));
            at = end;
        }
        let split: Vec<&str> = text.split_ascii_whitespace().collect();
        assert_eq!(found.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), split);
        let meant: Vec<WordId> = ids[..8].iter().copied().chain([0; 4]).collect();
        assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), meant);
    }

    #[test]
    fn pairs_have_numbers_of_their_own() {
        // Word w shares a bag with its multiples.
        let of = |w: WordId, list: &mut Vec<WordId>| list.extend((1..40).filter(|m| w > 0 && m % w == 0));
        let partners = Partners::new(40, of).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for a in 0..40 {
            for b in 1..40 {
                let found = partners.find(a, b);
                assert_eq!(found.is_some(), a > 0 && b % a == 0, "{a} {b}");
                assert!(found.is_none_or(|n| n < partners.len() && seen.insert(n)));
            }
        }
        assert_eq!(partners.iter().count(), seen.len());
        assert!(partners.iter().all(|(n, a, b)| partners.find(a, b) == Some(n)));
    }
}
