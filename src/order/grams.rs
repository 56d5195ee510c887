//! Counts for a pass over a text: by number, and of n-grams by their keys.
//!
//! A pass waits for memory more than for anything else. An n-gram is one entry of 16 bytes with its key, its number and its
//! count, in a table with open addressing: a look-up that counts is one cache line, and it can be fetched ahead.

use crate::lm::layout::prefetch;

/// Counts by number: 32 bits each, and what is too much for these.
#[derive(Default)]
pub struct Counts {
    low: Vec<u32>,
    /// Numbers whose counts went round, once for each time.
    over: Vec<u32>,
}

impl Counts {
    pub fn new(len: usize) -> Self {
        Counts { low: vec![0; len], over: vec![] }
    }
    #[inline(always)]
    pub fn add(&mut self, n: usize) {
        self.low[n] = self.low[n].wrapping_add(1);
        if self.low[n] == 0 {
            self.over.push(n as u32);
        }
    }
    pub fn of(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.low.iter().map(|&c| c as u64).collect();
        self.over.iter().for_each(|&n| all[n as usize] += 1 << 32);
        all
    }
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// 0 is empty.
    key: u64,
    number: u32,
    count: u32,
}

/// N-grams by their keys, numbered as they are found.
pub struct Ngrams {
    entries: Vec<Entry>,
    mask: usize,
    len: u32,
    over: Vec<u32>,
}

impl Default for Ngrams {
    fn default() -> Self {
        Ngrams { entries: vec![Entry::default(); 1024], mask: 1023, len: 0, over: vec![] }
    }
}

#[inline(always)]
fn hash(key: u64) -> usize {
    let h = (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (h ^ h >> 29) as usize
}

impl Ngrams {
    /// `count` will be asked this soon.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.entries[hash(key) & self.mask]);
    }

    /// Counts a key, which is not 0, and gives its number; one that is not there is made if `wanted` says so.
    #[inline]
    pub fn count(&mut self, key: u64, wanted: impl FnOnce() -> bool) -> Option<u32> {
        let mut at = hash(key) & self.mask;
        loop {
            let entry = &mut self.entries[at];
            if entry.key == key {
                entry.count = entry.count.wrapping_add(1);
                if entry.count == 0 {
                    self.over.push(entry.number);
                }
                return Some(entry.number);
            }
            if entry.key == 0 {
                break;
            }
            at = (at + 1) & self.mask;
        }
        if !wanted() {
            return None;
        }
        let number = self.len;
        self.entries[at] = Entry { key, number, count: 1 };
        self.len += 1;
        if self.len as usize * 2 > self.mask {
            self.grow();
        }
        Some(number)
    }

    fn grow(&mut self) {
        let size = 2 * self.entries.len();
        let old = std::mem::replace(&mut self.entries, vec![Entry::default(); size]);
        self.mask = size - 1;
        for entry in old.into_iter().filter(|e| e.key != 0) {
            let mut at = hash(entry.key) & self.mask;
            while self.entries[at].key != 0 {
                at = (at + 1) & self.mask;
            }
            self.entries[at] = entry;
        }
    }

    /// Keys with their counts, in the order of their numbers.
    pub fn of(&self) -> Vec<(u64, u64)> {
        let mut all = vec![(0, 0); self.len as usize];
        for e in self.entries.iter().filter(|e| e.key != 0) {
            all[e.number as usize] = (e.key, e.count as u64);
        }
        self.over.iter().for_each(|&n| all[n as usize].1 += 1 << 32);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_as_they_come_and_counted() {
        let mut ngrams = Ngrams::default();
        for round in 0..3 {
            for key in 1..5000u64 {
                let key = key << 20 | 1;
                let found = ngrams.count(key, || round == 0 && key >> 20 & 1 == 0);
                assert_eq!(found, (key >> 20 & 1 == 0).then(|| (key >> 21) as u32 - 1));
            }
        }
        let all = ngrams.of();
        assert_eq!(all.len(), 2499);
        assert!(all.iter().enumerate().all(|(i, &(key, count))| key == (i as u64 + 1) << 21 | 1 && count == 3));
    }

    #[test]
    fn counts_go_beyond_32_bits() {
        let mut counts = Counts::new(2);
        counts.low[1] = u32::MAX;
        counts.add(1);
        counts.add(1);
        assert_eq!(counts.of(), [0, (1 << 32) + 1]);
    }
}
