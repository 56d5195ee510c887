//! How many n-grams two sentences share: counts of the one clipped by counts of the other, for all orders at once.
//!
//! Words or characters are small numbers, given out anew for every sentence (`Numbers`). The window of `order` numbers at a
//! position is packed into one integer, the first number highest; sorted, the windows have the n-grams of every order in runs.
//! A sentence of n words costs the sorting of n integers and one walk an order. Where the numbers do not fit into 128 bits
//! (very long sentences, high orders), n-grams get numbers by hashing pairs, order by order.

use std::hash::BuildHasher;
use std::ops::{BitAnd, BitOr, Shl, Shr};

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use super::space;

/// Numbers from 1 for the words and characters of one sentence and its references.
#[derive(Default)]
pub struct Numbers {
    /// The text that words lie in.
    pub text: String,
    words: Vec<(usize, usize)>,
    table: HashTable<u32>,
    ascii: Vec<u32>,
    chars: HashMap<char, u32, FxBuildHasher>,
    used: u32,
}

impl Numbers {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.text.clear();
        self.words.clear();
        self.table.clear();
        self.ascii.clear();
        self.ascii.resize(128, 0);
        self.chars.clear();
        self.used = 0;
    }

    /// How many were given out.
    pub fn len(&self) -> usize {
        self.used as usize
    }
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The numbers of the words of `text` from `start` on, which must stay there.
    pub fn words_from(&mut self, start: usize, out: &mut Vec<u32>) {
        out.clear();
        let mut at = start;
        let bytes = self.text.len();
        if self.text.as_bytes()[start..].is_ascii() {
            // The same as below without decoding.
            while at < bytes {
                let rest = &self.text.as_bytes()[at..];
                let len = rest.iter().position(|&b| space::is_ascii_space(b)).unwrap_or(rest.len());
                if len > 0 {
                    out.push(self.word(at, at + len));
                }
                at += len + 1;
            }
            return;
        }
        while at < bytes {
            let rest = &self.text[at..];
            let len = rest.find(space::is_space).unwrap_or(rest.len());
            if len > 0 {
                out.push(self.word(at, at + len));
            }
            at += len + self.text[at + len..].chars().next().map_or(1, char::len_utf8);
        }
    }

    /// The number of the word at these bytes of `text`.
    pub fn word(&mut self, start: usize, end: usize) -> u32 {
        let text = self.text.as_bytes();
        let word = &text[start..end];
        let words = &self.words;
        let get = |id: u32| {
            let (start, end) = words[id as usize - 1];
            &text[start..end]
        };
        let hash = FxBuildHasher.hash_one(word);
        if let Some(&id) = self.table.find(hash, |&id| get(id) == word) {
            return id;
        }
        self.words.push((start, end));
        self.used += 1;
        let (id, words) = (self.used, &self.words);
        let get = |id: u32| {
            let (start, end) = words[id as usize - 1];
            &text[start..end]
        };
        self.table.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(get(id)));
        id
    }

    /// The number of a character. Words and characters are not to be mixed between two `clear`s.
    pub fn char(&mut self, c: char) -> u32 {
        let place = match self.ascii.get_mut(c as usize) {
            Some(place) => place,
            None => self.chars.entry(c).or_insert(0),
        };
        if *place == 0 {
            self.used += 1;
            *place = self.used;
        }
        *place
    }
}

/// Memory for counting, kept from sentence to sentence.
#[derive(Default)]
pub struct Matcher {
    small: Sorted<u64>,
    large: Sorted<u128>,
}

#[derive(Default)]
struct Sorted<K> {
    hyp: Vec<K>,
    refs: Vec<Vec<K>>,
}

impl Matcher {
    /// Writes, for every order from 1 to `matches.len()`, how many n-grams of `hyp` are in a reference: each counted at
    /// most as often as the reference that has it most often has it. `used` is the largest number.
    pub fn count(&mut self, hyp: &[u32], refs: &[&[u32]], used: usize, matches: &mut [u64]) {
        let bits = usize::BITS - used.leading_zeros();
        match bits as usize * matches.len() {
            0 => matches.fill(0),
            1..=64 => self.small.count(hyp, refs, bits, matches),
            65..=128 => self.large.count(hyp, refs, bits, matches),
            _ => count_hashed(hyp, refs, matches),
        }
    }
}

/// What is asked of a packed window.
trait Key:
    Copy
    + Ord
    + Default
    + From<u32>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitOr<Output = Self>
    + BitAnd<Output = Self>
{
}
impl Key for u64 {}
impl Key for u128 {}

impl<K: Key> Sorted<K> {
    fn count(&mut self, hyp: &[u32], refs: &[&[u32]], bits: u32, matches: &mut [u64]) {
        let order = matches.len() as u32;
        pack(hyp, order, bits, &mut self.hyp);
        if self.refs.len() < refs.len() {
            self.refs.resize_with(refs.len(), Vec::new);
        }
        for (keys, words) in self.refs.iter_mut().zip(refs) {
            pack(words, order, bits, keys);
        }
        let last = K::from(((1u64 << bits) - 1) as u32);
        for (n, matched) in (1..).zip(matches.iter_mut()) {
            let shift = bits * (order - n);
            let mut total = 0;
            let one = |keys: &[K]| matched_one(&self.hyp, keys, shift, last);
            total += match refs.len() {
                0 => 0,
                1 => one(&self.refs[0]),
                _ => matched_many(&self.hyp, &self.refs[..refs.len()], shift, last),
            };
            *matched = total;
        }
    }
}

/// The windows of `order` numbers at every position, sorted; what lies behind the end is 0.
fn pack<K: Key>(words: &[u32], order: u32, bits: u32, keys: &mut Vec<K>) {
    keys.clear();
    keys.reserve(words.len());
    let whole = bits * order;
    let mut window = K::default();
    // From the end: the new number comes in at the top, the oldest falls off below.
    for &word in words.iter().rev() {
        window = (window >> bits) | (K::from(word) << (whole - bits));
        keys.push(window);
    }
    keys.sort_unstable();
}

/// Walks the runs of equal prefixes of `hyp`: each has its prefix and length. Windows that are too short are left out.
fn runs<K: Key>(hyp: &[K], shift: u32, last: K, mut each: impl FnMut(K, u64)) {
    let mut i = 0;
    while i < hyp.len() {
        let key = hyp[i] >> shift;
        let start = i;
        i += 1;
        while i < hyp.len() && hyp[i] >> shift == key {
            i += 1;
        }
        if key & last != K::default() {
            each(key, (i - start) as u64);
        }
    }
}

fn matched_one<K: Key>(hyp: &[K], keys: &[K], shift: u32, last: K) -> u64 {
    let (mut total, mut at) = (0, 0);
    runs(hyp, shift, last, |key, times| total += times.min(times_of(keys, shift, key, &mut at)));
    total
}

fn matched_many<K: Key>(hyp: &[K], refs: &[Vec<K>], shift: u32, last: K) -> u64 {
    let (mut total, mut at) = (0, vec![0; refs.len()]);
    runs(hyp, shift, last, |key, times| {
        let most = refs.iter().zip(&mut at).map(|(keys, at)| times_of(keys, shift, key, at)).max();
        total += times.min(most.unwrap_or(0));
    });
    total
}

/// How often `key` is a prefix in `keys`, of which everything before `at` is smaller.
fn times_of<K: Key>(keys: &[K], shift: u32, key: K, at: &mut usize) -> u64 {
    while *at < keys.len() && keys[*at] >> shift < key {
        *at += 1;
    }
    let start = *at;
    while *at < keys.len() && keys[*at] >> shift == key {
        *at += 1;
    }
    (*at - start) as u64
}

/// `Matcher::count` for numbers of any size: an n-gram's number is that of its first n - 1 words and its last.
fn count_hashed(hyp: &[u32], refs: &[&[u32]], matches: &mut [u64]) {
    let mut lines: Vec<(&[u32], Vec<u32>)> = refs.iter().chain([&hyp]).map(|&w| (w, w.to_vec())).collect();
    for (n, matched) in (1..).zip(matches.iter_mut()) {
        if n > 1 {
            let mut pairs: HashMap<(u32, u32), u32, FxBuildHasher> = HashMap::default();
            for (words, ids) in &mut lines {
                let len = (words.len() + 1).saturating_sub(n);
                ids.truncate(len);
                for (id, &word) in ids.iter_mut().zip(words.iter().skip(n - 1)) {
                    let next = pairs.len() as u32 + 1;
                    *id = *pairs.entry((*id, word)).or_insert(next);
                }
            }
        }
        let times = |ids: &[u32]| {
            let mut times: HashMap<u32, u64, FxBuildHasher> = HashMap::default();
            ids.iter().for_each(|&id| *times.entry(id).or_insert(0) += 1);
            times
        };
        let all: Vec<_> = lines.iter().map(|(_, ids)| times(ids)).collect();
        let Some((of_hyp, of_refs)) = all.split_last() else { continue };
        let most = |id: &u32| of_refs.iter().map(|t| t.get(id).copied().unwrap_or(0)).max().unwrap_or(0);
        *matched = of_hyp.iter().map(|(id, &times)| times.min(most(id))).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    /// The definition, with lists of n-grams.
    fn naive(hyp: &[u32], refs: &[&[u32]], n: usize) -> u64 {
        let mut seen: Vec<&[u32]> = hyp.windows(n).collect();
        seen.sort();
        seen.dedup();
        let times = |words: &[u32], gram: &[u32]| words.windows(n).filter(|w| *w == gram).count();
        seen.iter().map(|g| times(hyp, g).min(refs.iter().map(|r| times(r, g)).max().unwrap_or(0)) as u64).sum()
    }

    #[test]
    fn every_way_counts_alike() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut matcher = Matcher::default();
        for round in 0..2000 {
            let used = [1, 2, 3, 7, 1000, 70_000][round % 6];
            let mut sentence = |most: usize| -> Vec<u32> {
                let len = rng.random_range(0..most);
                (0..len).map(|_| rng.random_range(1..=used.min(4)).max(used * (round as u32 % 2))).collect()
            };
            let hyp = sentence(12);
            let refs: Vec<Vec<u32>> = (0..round % 4).map(|_| sentence(12)).collect();
            let refs: Vec<&[u32]> = refs.iter().map(|r| &r[..]).collect();
            let order = 1 + round % 9;
            let want: Vec<u64> = (1..=order).map(|n| naive(&hyp, &refs, n)).collect();
            let mut got = vec![0; order];
            matcher.count(&hyp, &refs, used as usize, &mut got);
            assert_eq!(got, want, "{hyp:?} {refs:?}");
            count_hashed(&hyp, &refs, &mut got);
            assert_eq!(got, want, "hashed: {hyp:?} {refs:?}");
        }
    }

    #[test]
    fn words_and_characters_have_numbers() {
        let mut numbers = Numbers::default();
        let mut out = vec![];
        for text in ["a bb a  c", "a bb\u{3000}a \u{a0} ç"] {
            numbers.clear();
            numbers.text.push_str("xx ");
            numbers.text.push_str(text);
            numbers.words_from(3, &mut out);
            assert_eq!(out, [1, 2, 1, 3], "{text}");
        }
        numbers.clear();
        assert_eq!("aéa漢é".chars().map(|c| numbers.char(c)).collect::<Vec<_>>(), [1, 2, 1, 3, 2]);
        assert_eq!(numbers.len(), 3);
    }
}
