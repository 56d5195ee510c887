//! N-grams with their counts: what `order phrases` writes, and where the phrases of a bag are looked up.
//!
//! The n-grams are a trie in one hash table, (beginning, word) → number. A file of them has lines `words<TAB>count`, sorted
//! as `LC_ALL=C sort` does; `first <...> second<TAB>count` says how often a word came somewhere before another. The phrases of a bag are found by walking the trie with the words that the bag still has.

use std::io::Write;

use rayon::prelude::*;

use super::Orders;
use crate::chart::bag::{Bag, Type};
use crate::error::{Error, Result};
use crate::format::packed::PackedOutput;
use crate::fst::statetable::StateTable;
use crate::text::lines::{Block, Blocks};
use crate::text::vocab::{EPSILON, GAP, Vocab, WordId, spelled};

/// Phrases of a bag with their counts, from wherever they are kept.
pub trait Phrases: Sync {
    /// Every n-gram of these orders that is made of words of the bag, each at most as often as the bag has it.
    fn phrases(&self, bag: &Bag, orders: Orders) -> Vec<(Vec<Type>, u64)>;
    /// How often a word of the bag came before another in a sentence, `[first * words + second]`; `None`: not known.
    fn pairs(&self, bag: &Bag) -> Option<Vec<u64>>;
}

/// The node of the empty n-gram.
pub const ROOT: u32 = 0;

#[derive(Default)]
pub struct NgramTable {
    pub vocab: Vocab,
    /// (node, word) → the number of the longer node, less one.
    table: StateTable,
    /// By node.
    counts: Vec<u64>,
    /// Lengths of the n-grams that were read, as bits.
    lengths: u32,
}

#[inline(always)]
fn key(node: u32, word: WordId) -> u64 {
    (node as u64) << 32 | word as u64
}

impl NgramTable {
    pub fn new(vocab: Vocab) -> Self {
        NgramTable { vocab, table: StateTable::default(), counts: vec![0], lengths: 0 }
    }
    /// N-grams, those that are only the beginnings of others among them.
    pub fn len(&self) -> usize {
        self.table.len()
    }
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
    #[inline]
    pub fn find(&self, node: u32, word: WordId) -> Option<u32> {
        self.table.find(key(node, word)).map(|n| n + 1)
    }
    /// The node after one more word; a new one is made.
    #[inline]
    pub fn add(&mut self, node: u32, word: WordId) -> u32 {
        let next = self.table.number(key(node, word)) + 1;
        if next as usize >= self.counts.len() {
            self.counts.resize(next as usize + 1, 0);
        }
        next
    }
    #[inline]
    pub fn count(&mut self, node: u32, count: u64) {
        let sum = &mut self.counts[node as usize];
        *sum = sum.saturating_add(count);
    }
    /// True if a file had n-grams of this length.
    pub fn has_length(&self, n: usize) -> bool {
        self.lengths >> n & 1 == 1
    }

    /// True if it is known how often words came before others.
    pub fn has_pairs(&self) -> bool {
        self.vocab.find(GAP).is_some()
    }

    /// N-grams of these orders that were counted, and pairs, with their counts, as sorted lines.
    fn lines(&self, orders: Orders) -> Vec<Vec<u8>> {
        let nodes = 1..=self.table.len() as u32;
        let gap = self.vocab.find(GAP);
        let mut depth = vec![0u8; self.table.len() + 1];
        for n in nodes.clone() {
            let key = self.table.key(n - 1);
            let before = depth[(key >> 32) as usize];
            // Whatever the orders, pairs are wanted if they were counted.
            depth[n as usize] = if gap == Some(key as WordId) { orders.least as u8 - 1 } else { before + 1 };
        }
        let wanted = |n: &u32| self.counts[*n as usize] > 0 && orders.has(depth[*n as usize] as usize);
        let mut lines: Vec<Vec<u8>> = nodes.into_par_iter().filter(wanted).map(|n| self.line(n)).collect();
        lines.par_sort_unstable();
        lines
    }

    fn line(&self, node: u32) -> Vec<u8> {
        let mut words = vec![];
        let mut n = node;
        while n != ROOT {
            let k = self.table.key(n - 1);
            words.push(k as WordId);
            n = (k >> 32) as u32;
        }
        let mut line = vec![];
        for (i, &word) in words.iter().rev().enumerate() {
            if i > 0 {
                line.push(b' ');
            }
            line.extend_from_slice(self.vocab.word(word).as_bytes());
        }
        let _ = writeln!(line, "\t{}", self.counts[node as usize]);
        line
    }

    /// Writes the n-grams of these orders; how many there are.
    pub fn write(&self, name: &str, orders: Orders) -> Result<usize> {
        const LINES: usize = 20_000;
        let mut out = PackedOutput::create(name)?;
        let packing = out.packing();
        let lines = self.lines(orders);
        for some in lines.chunks(LINES * 16) {
            let packed: Vec<Result<Vec<u8>>> =
                some.par_chunks(LINES).map(|piece| packing.pack(piece.concat())).collect();
            for piece in packed {
                out.write(&piece?)?;
            }
        }
        out.commit()?;
        Ok(lines.len())
    }

    /// Reads a file of n-grams; equal ones add up.
    pub fn read(name: &str) -> Result<Self> {
        let mut table = NgramTable::new(Vocab::default());
        let spelled_epsilon = spelled(EPSILON);
        let mut blocks = Blocks::open(name)?;
        while let Some(block) = blocks.next_block()? {
            for (number, line) in block.lines() {
                let (words, count) = parse(&block, number, line)?;
                let (mut node, mut length, mut gap) = (ROOT, 0, false);
                for word in words.split(' ') {
                    // `<eps>` itself is what somebody else wrote who has no other meaning for it.
                    let id = table.vocab.add(if word == EPSILON { &spelled_epsilon } else { word });
                    gap |= word == GAP;
                    node = table.add(node, id);
                    length += 1;
                }
                if length <= Orders::MOST && !gap {
                    table.lengths |= 1 << length;
                }
                table.count(node, count);
            }
        }
        Ok(table)
    }
}

/// The words and the count of a line.
fn parse<'a>(block: &Block, number: usize, line: &'a str) -> Result<(&'a str, u64)> {
    let wrong = |column: usize, what: &str| {
        let message = format!("{what}; expected words, a tab and a count, as `weft order phrases` writes them");
        Error::text(&block.file, number, column, message)
    };
    let Some((words, count)) = line.split_once('\t') else {
        return Err(wrong(line.chars().count() + 1, "no tab"));
    };
    if words.is_empty() || words.split(' ').any(str::is_empty) {
        return Err(wrong(1, "an empty word"));
    }
    if words.contains(GAP) && words.split(' ').any(|w| w == GAP) {
        let pair: Vec<&str> = words.split(' ').collect();
        if pair.len() != 3 || pair[1] != GAP || pair[0] == GAP || pair[2] == GAP {
            let column = words.find(GAP).map_or(1, |at| words[..at].chars().count() + 1);
            return Err(wrong(column, &format!("{GAP} stands between two words, or is the word \\{GAP}")));
        }
    }
    let count = count.parse().map_err(|_| wrong(words.chars().count() + 2, &format!("{count:?} is not a count")))?;
    Ok((words, count))
}

/// The words of a line of n-grams.
pub fn words_of(line: &str) -> &str {
    line.split_once('\t').map_or(line, |(words, _)| words)
}

/// The reduce step: lines with equal words become one. Lines are sorted.
pub fn combine(block: &Block) -> Result<Vec<u8>> {
    let mut out = vec![];
    let mut last: Option<(&str, u64)> = None;
    let say = |out: &mut Vec<u8>, (words, count): (&str, u64)| {
        let _ = writeln!(out, "{words}\t{count}");
    };
    for (number, line) in block.lines() {
        let (words, count) = parse(block, number, line)?;
        match &mut last {
            Some((w, sum)) if *w == words => *sum = sum.saturating_add(count),
            Some(group) => {
                // The lines are sorted with their tabs, which come before blanks.
                if line.as_bytes() < group.0.as_bytes() {
                    return Err(crate::rules::stage::unsorted(block, number));
                }
                say(&mut out, *group);
                *group = (words, count);
            }
            None => last = Some((words, count)),
        }
    }
    if let Some(group) = last {
        say(&mut out, group);
    }
    Ok(out)
}

impl Phrases for NgramTable {
    fn phrases(&self, bag: &Bag, orders: Orders) -> Vec<(Vec<Type>, u64)> {
        let ids: Vec<Option<WordId>> = bag.words.iter().map(|w| self.vocab.find(&spelled(w))).collect();
        let step = |node: u32, t: Type| {
            let next = self.find(node, ids[t as usize]?)?;
            Some((next, self.counts[next as usize]))
        };
        walk(bag, orders, ROOT, step)
    }

    fn pairs(&self, bag: &Bag) -> Option<Vec<u64>> {
        let gap = self.vocab.find(GAP)?;
        let ids: Vec<Option<WordId>> = bag.words.iter().map(|w| self.vocab.find(&spelled(w))).collect();
        let mut pairs = vec![0; ids.len() * ids.len()];
        for (a, &first) in ids.iter().enumerate() {
            let Some(node) = first.and_then(|w| self.find(self.find(ROOT, w)?, gap)) else { continue };
            for (b, &second) in ids.iter().enumerate() {
                if let Some(found) = second.and_then(|w| self.find(node, w)) {
                    pairs[a * ids.len() + b] = self.counts[found as usize];
                }
            }
        }
        Some(pairs)
    }
}

/// Walks n-grams with the words that a bag still has: `step` gives the state after a word and how often it was seen.
pub fn walk<S: Clone>(
    bag: &Bag,
    orders: Orders,
    root: S,
    mut step: impl FnMut(S, Type) -> Option<(S, u64)>,
) -> Vec<(Vec<Type>, u64)> {
    let mut left: Vec<u32> = bag.counts.clone();
    let mut found = vec![];
    let mut words: Vec<Type> = vec![];
    // States on the way, each with the next word to try.
    let mut open: Vec<(S, Type)> = vec![(root, 0)];
    while let Some((state, next)) = open.last_mut() {
        let t = *next;
        if t as usize == bag.words.len() || words.len() == orders.most {
            open.pop();
            if let Some(last) = words.pop() {
                left[last as usize] += 1;
            }
            continue;
        }
        *next += 1;
        if left[t as usize] == 0 {
            continue;
        }
        if let Some((state, count)) = step(state.clone(), t) {
            words.push(t);
            left[t as usize] -= 1;
            if count > 0 && orders.has(words.len()) {
                found.push((words.clone(), count));
            }
            open.push((state, 0));
        }
    }
    found
}
