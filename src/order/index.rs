//! An index of a text collection: its n-grams in order, mapped from a file, so that the phrases of a bag are there at once.
//!
//! The file has the words of the text as numbers, with a 0 after each sentence, and the places of all words sorted by
//! what follows: the n-grams of any order up to that of the index, each a range of places, as long as its count. Longer
//! n-grams are ranges inside those of their beginnings, found by bisection. 8 bytes a word of text, and the vocabulary.
//! Making it takes 24 bytes a word of memory and one sort.
//!
//! In which order two words come is counted in the sentences of the rarer one. Sentences of frequent words are many, so that
//! pairs of these are counted when the index is made, in a table that adds half a byte a word of text.

use std::fs::File;
use std::io::Write;
use std::ops::Range;

use hashbrown::HashMap;
use memmap2::Mmap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::Orders;
use super::scan::FAR;
use super::table::{Phrases, walk};
use crate::chart::bag::{Bag, Type};
use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::estimate::Progress;
use crate::text::lines::Blocks;
use crate::text::vocab::{Vocab, plain, spelled};

const MAGIC: [u8; 8] = *b"weft-ix\n";
const VERSION: u64 = 2;
/// Magic, version, order, words of text with sentence ends and without, words of the vocabulary, bytes of its letters,
/// frequent words, a sum of these.
const FIELDS: usize = 9;
const HEADER: usize = 8 * FIELDS;

pub struct Index {
    map: Mmap,
    name: String,
    pub order: usize,
    text: Range<usize>,
    places: Range<usize>,
    /// Ends of the words in `letters`, sorted words.
    ends: Range<usize>,
    /// The number of each sorted word.
    numbers: Range<usize>,
    /// The numbers of frequent words, sorted.
    frequent: Range<usize>,
    /// How often a frequent word came before another, `[first * words + second]`, in two halves, the lower first.
    pairs: Range<usize>,
    letters: Range<usize>,
}

/// What was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    pub sentences: u64,
    pub words: u64,
    pub vocabulary: u64,
}

fn sum(fields: &[u64]) -> u64 {
    fields.iter().fold(0x9E37_79B9_7F4A_7C15, |h, &f| (h ^ f).wrapping_mul(0x0100_0000_01B3).rotate_left(23))
}

/// Makes an index of texts for n-grams up to `order`.
pub fn build(texts: &[String], order: usize, output: &str, progress: &dyn Progress) -> Result<Indexed> {
    progress.stage("reading", None);
    let mut vocab = Vocab::default();
    let mut text: Vec<u32> = vec![];
    let mut seen = Indexed::default();
    for name in texts {
        let mut blocks = Blocks::open(name)?;
        while let Some(block) = blocks.next_block()? {
            for (_, line) in block.lines() {
                let before = text.len();
                text.extend(line.split_ascii_whitespace().map(|w| vocab.add(&spelled(w))));
                seen.words += (text.len() - before) as u64;
                seen.sentences += 1;
                text.push(0);
            }
            progress.advance(block.text.len() as u64);
            if text.len() > u32::MAX as usize - 2 {
                return Err(Error::limit(
                    "order index",
                    "2^32 words",
                    "the text is too long for one index; index it in parts, or use `weft order phrases`",
                ));
            }
        }
    }
    progress.stage("sorting", None);
    // The first two words of an n-gram decide most comparisons.
    let key = |p: usize| (text[p] as u64) << 32 | if text[p] == 0 { 0 } else { text[p + 1] as u64 };
    let mut places: Vec<(u64, u32)> = (0..text.len()).filter(|&p| text[p] != 0).map(|p| (key(p), p as u32)).collect();
    let ngram = |p: u32| {
        let rest = &text[p as usize..text.len().min(p as usize + order)];
        &rest[..rest.iter().position(|&w| w == 0).unwrap_or(rest.len())]
    };
    places.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| ngram(a.1).cmp(ngram(b.1))).then_with(|| a.1.cmp(&b.1))
    });
    progress.stage("writing", None);
    let mut words: Vec<(&str, u32)> = vocab.iter().skip(1).map(|(id, w)| (plain(w), id)).collect();
    words.sort_unstable();
    seen.vocabulary = words.len() as u64;
    let letters: usize = words.iter().map(|(w, _)| w.len()).sum();
    let frequent = frequent_words(&text, words.len());
    let pairs = count_pairs(&text, &frequent);
    let fields = [
        u64::from_le_bytes(MAGIC),
        VERSION,
        order as u64,
        text.len() as u64,
        places.len() as u64,
        words.len() as u64,
        letters as u64,
        frequent.len() as u64,
    ];
    let mut out = io::create_as_is(output)?;
    let fail = |e| Error::io(output, e);
    for field in fields.iter().chain(&[sum(&fields)]) {
        out.write_all(&field.to_le_bytes()).map_err(fail)?;
    }
    let mut write = |numbers: &mut dyn Iterator<Item = u32>| -> Result<()> {
        let mut buffer = Vec::with_capacity(1 << 16);
        for n in numbers {
            buffer.extend_from_slice(&n.to_le_bytes());
            if buffer.len() >= 1 << 16 {
                out.write_all(&buffer).map_err(fail)?;
                buffer.clear();
            }
        }
        out.write_all(&buffer).map_err(fail)
    };
    write(&mut text.iter().copied())?;
    write(&mut places.iter().map(|p| p.1))?;
    let mut end = 0;
    write(&mut words.iter().map(|(w, _)| {
        end += w.len() as u32;
        end
    }))?;
    write(&mut words.iter().map(|w| w.1))?;
    write(&mut frequent.iter().copied())?;
    write(&mut pairs.iter().flat_map(|&n| [n as u32, (n >> 32) as u32]))?;
    for (word, _) in &words {
        out.write_all(word.as_bytes()).map_err(fail)?;
    }
    out.commit()?;
    Ok(seen)
}

/// The words whose pairs are counted when the index is made: so many that what is left for `pairs` of a bag is rare.
fn frequent_words(text: &[u32], words: usize) -> Vec<u32> {
    let mut counts: Vec<(u64, u32)> = (0..=words as u32).map(|w| (0, w)).collect();
    text.iter().for_each(|&w| counts[w as usize].0 += 1);
    counts.remove(0);
    counts.sort_unstable_by_key(|&(count, w)| (std::cmp::Reverse(count), w));
    counts.truncate(text.len().isqrt() / 4);
    let mut frequent: Vec<u32> = counts.into_iter().map(|(_, w)| w).collect();
    frequent.sort_unstable();
    frequent
}

/// How often a frequent word came before another in a sentence.
fn count_pairs(text: &[u32], frequent: &[u32]) -> Vec<u64> {
    let k = frequent.len();
    let mut pairs = vec![0u64; k * k];
    // (place in the sentence, frequent word)
    let mut here: Vec<(usize, usize)> = vec![];
    for sentence in text.split(|&w| w == 0) {
        here.clear();
        here.extend(sentence.iter().enumerate().filter_map(|(i, w)| Some((i, frequent.binary_search(w).ok()?))));
        for (n, &(i, first)) in here.iter().enumerate() {
            let near = here[n + 1..].iter().take_while(|(j, _)| j - i < FAR);
            near.filter(|(_, second)| *second != first).for_each(|(_, second)| pairs[first * k + second] += 1);
        }
    }
    pairs
}

impl Index {
    /// Maps an index.
    pub fn open(name: &str) -> Result<Self> {
        let file = File::open(name).map_err(|e| Error::io(name, e))?;
        let length = file.metadata().map_err(|e| Error::io(name, e))?.len() as usize;
        let wrong = |at: usize, what: &str| Error::binary(name, at as u64, what.to_string());
        if length < HEADER {
            return Err(wrong(length, "the file ends inside the header; expected an index of `weft order index`"));
        }
        // SAFETY: the file is only read; if somebody changes it meanwhile, numbers change, and all of them are checked.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(name, e))?;
        let mut fields = [0; FIELDS];
        for (i, field) in fields.iter_mut().enumerate() {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&map[8 * i..8 * i + 8]);
            *field = u64::from_le_bytes(bytes);
        }
        let [magic, version, order, text, places, words, letters, frequent, check] = fields;
        if magic != u64::from_le_bytes(MAGIC) {
            return Err(wrong(0, "not an index; make one with `weft order index`"));
        }
        if version != VERSION {
            return Err(wrong(
                8,
                &format!("version {version}, expected {VERSION}; make it anew with `weft order index`"),
            ));
        }
        if check != sum(&fields[..FIELDS - 1]) {
            return Err(wrong(HEADER - 8, "the header is damaged"));
        }
        let mut at = HEADER;
        let mut section = |bytes: u64| {
            let from = at;
            at = at.saturating_add(bytes as usize);
            from..at
        };
        let (text, places) = (section(text.saturating_mul(4)), section(places.saturating_mul(4)));
        let (ends, numbers) = (section(words.saturating_mul(4)), section(words.saturating_mul(4)));
        let pairs = frequent.saturating_mul(frequent).saturating_mul(8);
        let (frequent, pairs) = (section(frequent.saturating_mul(4)), section(pairs));
        let letters = section(letters);
        if letters.end != length {
            let what = format!("the file has {length} bytes, its header says {}; it is cut off", letters.end);
            return Err(wrong(length.min(letters.end), &what));
        }
        let (name, order) = (name.to_string(), order as usize);
        Ok(Index { map, name, order, text, places, ends, numbers, frequent, pairs, letters })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number `i` of a section; out of it: 0.
    #[inline(always)]
    fn get(&self, section: &Range<usize>, i: usize) -> u32 {
        let from = section.start + 4 * i;
        match self.map[..section.end].get(from..from + 4) {
            Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }

    fn word(&self, i: usize) -> &[u8] {
        let from = if i == 0 { 0 } else { self.get(&self.ends, i - 1) as usize };
        self.map[self.letters.clone()].get(from..self.get(&self.ends, i) as usize).unwrap_or(&[])
    }

    /// The number of a word.
    fn find(&self, word: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.ends.len() / 4);
        while low < high {
            let middle = (low + high) / 2;
            match self.word(middle).cmp(word.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(self.get(&self.numbers, middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The place of a word among the frequent ones.
    fn frequent(&self, word: &u32) -> Option<usize> {
        let (mut low, mut high) = (0, self.frequent.len() / 4);
        while low < high {
            let middle = (low + high) / 2;
            if self.get(&self.frequent, middle) < *word { low = middle + 1 } else { high = middle }
        }
        (low < self.frequent.len() / 4 && self.get(&self.frequent, low) == *word).then_some(low)
    }

    /// How often a frequent word came before another.
    fn pair(&self, first: usize, second: usize) -> u64 {
        let at = 2 * (first * (self.frequent.len() / 4) + second);
        u64::from(self.get(&self.pairs, at)) | u64::from(self.get(&self.pairs, at + 1)) << 32
    }

    /// The word at a distance from a place of the sorted ones.
    #[inline(always)]
    fn after(&self, place: usize, distance: usize) -> u32 {
        self.get(&self.text, self.get(&self.places, place) as usize + distance)
    }

    /// The places of a range whose word at a distance is `word`.
    fn narrow(&self, range: &Range<usize>, distance: usize, word: u32) -> Range<usize> {
        let bound = |mut low: usize, mut high: usize, least: u32| {
            while low < high {
                let middle = (low + high) / 2;
                if self.after(middle, distance) < least { low = middle + 1 } else { high = middle }
            }
            low
        };
        let from = bound(range.start, range.end, word);
        if from == range.end || self.after(from, distance) != word {
            return from..from;
        }
        // Most ranges are short: double the step before bisecting.
        let mut step = 1;
        while from + step < range.end && self.after(from + step, distance) == word {
            step *= 2;
        }
        from..bound(from + step / 2, range.end.min(from + step), word.saturating_add(1))
    }
}

impl Phrases for Index {
    fn phrases(&self, bag: &Bag, orders: Orders) -> Vec<(Vec<Type>, u64)> {
        let ids: Vec<Option<u32>> = bag.words.iter().map(|w| self.find(w)).collect();
        let orders = Orders { least: orders.least, most: orders.most.min(self.order) };
        walk(bag, orders, (0..self.places.len() / 4, 0), |(range, depth), t| {
            let narrower = self.narrow(&range, depth, ids[t as usize]?);
            let count = narrower.len() as u64;
            (count > 0).then_some(((narrower, depth + 1), count))
        })
    }

    /// Counted in the sentences of the rarer word, or looked up if both are frequent.
    fn pairs(&self, bag: &Bag) -> Option<Vec<u64>> {
        let ids: Vec<Option<u32>> = bag.words.iter().map(|w| self.find(w)).collect();
        let all = 0..self.places.len() / 4;
        let ranges: Vec<Range<usize>> = ids.iter().map(|id| id.map_or(0..0, |id| self.narrow(&all, 0, id))).collect();
        let frequent: Vec<Option<usize>> = ids.iter().map(|id| self.frequent(id.as_ref()?)).collect();
        let types: HashMap<u32, usize, FxBuildHasher> =
            ids.iter().enumerate().filter_map(|(t, id)| Some(((*id)?, t))).collect();
        let n = ids.len();
        let mut pairs = vec![0; n * n];
        for (a, range) in ranges.iter().enumerate() {
            if let Some(first) = frequent[a] {
                let known = |b: usize| Some(self.pair(first, frequent[b].filter(|&second| second != first)?));
                (0..n).for_each(|b| pairs[a * n + b] += known(b).unwrap_or(0));
                continue;
            }
            for place in range.clone() {
                let at = self.get(&self.places, place) as usize;
                let mut count = |word: u32, before: bool| {
                    let Some(&b) = types.get(&word) else { return };
                    let rarer = frequent[b].is_some() || (range.len(), a) < (ranges[b].len(), b);
                    if rarer {
                        pairs[if before { b * n + a } else { a * n + b }] += 1;
                    }
                };
                let word = |i: usize| Some(self.get(&self.text, i)).filter(|&w| w != 0);
                (1..FAR.min(at + 1)).map_while(|d| word(at - d)).for_each(|w| count(w, true));
                (1..FAR).map_while(|d| word(at + d)).for_each(|w| count(w, false));
            }
        }
        Some(pairs)
    }
}
