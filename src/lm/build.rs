//! From n-grams to the minimal-state machine of `model`.
//!
//! While a file is read, every n-gram below the highest order is a node of a tree of words (its context's node, its last
//! word). Then each node gets the link to its longest proper suffix that is a node, as in Aho and Corasick's machine; a
//! node that is extended or has a back-off weight becomes a state, and any other leads where its link leads. Suffixes that
//! a file lacks are filled in first (`suffixes`). Bounds of each word's score come from one pass over the states and one
//! over the n-grams.
//!
//! O(n-grams · order) time; about 40 bytes an n-gram while it is built.

mod suffixes;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

use super::layout::{BlockBuilder, Facts, hash_key, place};
use super::model::{
    BUCKET, Bounds, Bucket, Context, EMPTY, MISSING_UNKNOWN, NO_WORD, NgramModel, Slot, Unigram, arc_key,
};
use super::vocab::{BEGIN, END, Growing};
use super::{LmState, UNKNOWN, WordId};
use crate::error::{Error, Result};

/// An n-gram as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Node of all its words but the last; 0 for a unigram.
    pub context: u32,
    pub word: WordId,
    pub log10: f32,
    pub backoff: f32,
}

/// The root of the tree: no words.
const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

pub struct Builder {
    pub vocab: Growing,
    order: usize,
    has_unknown: bool,
    /// Nodes of order 1 up to below the highest, after the root; unigrams first, in the order of their numbers.
    nodes: Vec<Entry>,
    /// First node of each order from 1 up, and the end.
    starts: Vec<usize>,
    /// Node numbers by (context, word), for orders from 2 up; `NONE` is empty.
    table: Vec<u32>,
    used: usize,
    /// N-grams of the highest order.
    top: Vec<Entry>,
}

impl Builder {
    pub fn new(order: usize) -> Self {
        let mut b = Builder {
            vocab: Growing::default(),
            order,
            has_unknown: false,
            nodes: vec![Entry { context: ROOT, word: NO_WORD, log10: 0.0, backoff: 0.0 }],
            starts: vec![1],
            table: vec![NONE; 1024],
            used: 0,
            top: vec![],
        };
        b.nodes.push(Entry { context: ROOT, word: UNKNOWN, log10: MISSING_UNKNOWN, backoff: 0.0 });
        b
    }

    /// Adds a unigram; false if it was there.
    pub fn add_unigram(&mut self, word: &[u8], log10: f32, backoff: f32) -> bool {
        if super::vocab::is_unknown(word) {
            self.nodes[1] = Entry { context: ROOT, word: UNKNOWN, log10, backoff };
            return !std::mem::replace(&mut self.has_unknown, true);
        }
        match self.vocab.add(word) {
            Some(id) => {
                self.nodes.push(Entry { context: ROOT, word: id, log10, backoff });
                true
            }
            None => false,
        }
    }
    /// No more n-grams of this order.
    pub fn end_order(&mut self) {
        self.starts.push(self.nodes.len());
    }

    /// The node of some words; the number of words that have one if not all do.
    pub fn node(&self, words: &[WordId]) -> std::result::Result<u32, usize> {
        let mut node = ROOT;
        for (i, &w) in words.iter().enumerate() {
            node = self.child(node, w).ok_or(i)?;
        }
        Ok(node)
    }
    #[inline]
    fn child(&self, node: u32, word: WordId) -> Option<u32> {
        if node == ROOT {
            return Some(word + 1);
        }
        let n = self.table.len();
        let mut at = place(hash_key(arc_key(node, word)), n);
        loop {
            let found = self.table[at];
            if found == NONE {
                return None;
            }
            let e = &self.nodes[found as usize];
            if e.context == node && e.word == word {
                return Some(found);
            }
            at = if at + 1 == n { 0 } else { at + 1 };
        }
    }

    /// Adds n-grams of `order` from 2 up; the first that was there already is the error.
    pub fn add(&mut self, order: usize, entries: &[Entry]) -> std::result::Result<(), Entry> {
        if order == self.order {
            self.top.extend_from_slice(entries);
            return Ok(());
        }
        for &e in entries {
            if self.child(e.context, e.word).is_some() {
                return Err(e);
            }
            self.push(&e);
        }
        Ok(())
    }
    /// Adds a node of two words or more.
    fn push(&mut self, e: &Entry) {
        if (self.used + 1) * 3 > self.table.len() * 2 {
            self.grow();
        }
        self.insert(self.nodes.len() as u32, e);
        self.nodes.push(*e);
        self.used += 1;
    }
    fn insert(&mut self, node: u32, e: &Entry) {
        let n = self.table.len();
        let mut at = place(hash_key(arc_key(e.context, e.word)), n);
        while self.table[at] != NONE {
            at = if at + 1 == n { 0 } else { at + 1 };
        }
        self.table[at] = node;
    }
    fn grow(&mut self) {
        self.table = vec![NONE; self.table.len() * 2];
        for node in self.starts[1]..self.nodes.len() {
            let e = self.nodes[node];
            self.insert(node as u32, &e);
        }
    }

    /// The words of a node, for messages.
    pub fn words(&self, node: u32, last: WordId) -> String {
        let mut ids = vec![last];
        let mut node = node;
        while node != ROOT {
            let e = &self.nodes[node as usize];
            ids.push(e.word);
            node = e.context;
        }
        let words: Vec<_> = ids.iter().rev().map(|&w| String::from_utf8_lossy(self.vocab.word(w))).collect();
        words.join(" ")
    }

    /// N-grams of each order that were read.
    fn counts(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.starts.windows(2).map(|p| (p[1] - p[0]) as u64).collect();
        if let Some(first) = counts.first_mut() {
            *first -= u64::from(!self.has_unknown);
        }
        if let (Some(last), true) = (counts.last_mut(), self.order > 1) {
            *last = self.top.len() as u64;
        }
        counts
    }

    /// The longest suffix of context·word that is a node, looking from `context` on.
    fn descend(&self, links: &[u32], mut context: u32, word: WordId) -> u32 {
        loop {
            if let Some(node) = self.child(context, word) {
                return node;
            }
            context = links[context as usize];
        }
    }

    /// The longest proper suffix of each node and of each n-gram of the highest order that is a node; true if one of them
    /// is shorter than it should be.
    fn links(&self) -> (Vec<u32>, Vec<u32>, bool) {
        let nodes = &self.nodes;
        let mut links = vec![ROOT; nodes.len()];
        let lacks = AtomicBool::new(false);
        for n in 2..self.order {
            // The links of an order need only those of the orders below.
            let (from, to, whole) = (self.starts[n - 1], self.starts[n], self.starts[n - 2] as u32);
            let (below, from_here) = links.split_at_mut(from);
            from_here[..to - from].par_iter_mut().zip(&nodes[from..to]).for_each(|(link, e)| {
                *link = self.descend(below, below[e.context as usize], e.word);
                if *link < whole {
                    lacks.store(true, Relaxed);
                }
            });
        }
        let whole = if self.order > 1 { self.starts[self.order - 2] as u32 } else { 0 };
        let after = self.top.par_iter().map(|e| {
            let link = self.descend(&links, links[e.context as usize], e.word);
            if link < whole {
                lacks.store(true, Relaxed);
            }
            link
        });
        let after = after.collect();
        (links, after, lacks.into_inner())
    }

    pub fn finish(mut self, name: &str) -> Result<NgramModel> {
        let too_many = |what: &str| Err(Error::usage(format!("{name}: more than 2^32 {what}")));
        if self.nodes.len() >= u32::MAX as usize {
            return too_many("n-grams below the highest order");
        }
        let counts = self.counts();
        let (mut links, mut after, lacks) = self.links();
        if lacks {
            suffixes::fill(&mut self, &mut links, &mut after);
            if self.nodes.len() >= u32::MAX as usize {
                return too_many("n-grams and suffixes of n-grams");
            }
        }
        let nodes = &self.nodes;
        // Which nodes matter.
        let mut matters = vec![false; nodes.len()];
        matters[ROOT as usize] = true;
        for e in nodes.iter().skip(1).chain(&self.top) {
            matters[e.context as usize] = true;
        }
        // The highest order has no back-off; in a unigram model that is order 1.
        if self.order > 1 {
            for (node, e) in nodes.iter().enumerate().skip(1) {
                matters[node] |= e.backoff != 0.0;
            }
        }
        let mut states: Vec<LmState> = Vec::with_capacity(nodes.len());
        let mut contexts: Vec<Context> = vec![];
        let mut node_of: Vec<u32> = vec![];
        for (node, e) in nodes.iter().enumerate() {
            let shorter = states.get(links[node] as usize).copied().unwrap_or(0);
            if matters[node] {
                states.push(contexts.len() as LmState);
                contexts.push(Context { backoff: e.backoff, shorter });
                node_of.push(node as u32);
            } else {
                states.push(shorter);
            }
        }
        let first_of = |start: &usize| node_of.partition_point(|&n| (n as usize) < *start) as u32;
        let lengths: Vec<u32> = std::iter::once(0).chain(self.starts[..self.order - 1].iter().map(first_of)).collect();

        let middle = &nodes[self.starts.get(1).copied().unwrap_or(nodes.len())..];
        let buckets = ((middle.len() + self.top.len()) * 3 / 2).div_ceil(BUCKET) + 1;
        after.par_iter_mut().for_each(|node| *node = states[*node as usize]);
        let mut twice = None;
        let mut block = BlockBuilder::default();
        self.vocab.push_sections(&mut block);
        let unigrams = &nodes[1..1 + self.vocab.len()];
        block.push_with(unigrams.len(), |out: &mut [Unigram]| {
            for (i, (to, e)) in out.iter_mut().zip(unigrams).enumerate() {
                *to = Unigram { log10: e.log10, next: states[i + 1] };
            }
        });
        block.push(&contexts);
        let mut bounds = WordBounds::new(&contexts, unigrams);
        block.push_with(buckets, |table: &mut [Bucket]| {
            table.fill(Bucket([Slot { key: EMPTY, next: 0, log10: 0.0 }; BUCKET]));
            let first = nodes.len() - middle.len();
            for (i, e) in middle.iter().enumerate() {
                let state = states[e.context as usize];
                bounds.add(state, e);
                if !put(table, arc_key(state, e.word), states[first + i], e.log10) {
                    twice.get_or_insert(*e);
                }
            }
            for (e, &next) in self.top.iter().zip(&after) {
                let state = states[e.context as usize];
                bounds.add(state, e);
                if !put(table, arc_key(state, e.word), next, e.log10) {
                    twice.get_or_insert(*e);
                }
            }
        });
        if let Some(e) = twice {
            let words = self.words(e.context, e.word);
            return Err(Error::usage(format!("{name}: the {}-gram {words:?} is there twice", self.order)));
        }
        block.push(&bounds.bounds);
        block.push(&lengths);
        block.push(&counts);
        let block = block.finish(&Facts {
            order: self.order as u32,
            words: self.vocab.len() as u64,
            states: contexts.len() as u64,
            begin_word: self.vocab.find(BEGIN.as_bytes()).unwrap_or(NO_WORD),
            end_word: self.vocab.find(END.as_bytes()).unwrap_or(NO_WORD),
            has_unknown: self.has_unknown,
        });
        NgramModel::open(name, block)
    }
}

/// Puts an arc into the table; false if it is there.
fn put(table: &mut [Bucket], key: u64, next: LmState, log10: f32) -> bool {
    let n = table.len();
    let mut at = place(hash_key(key), n);
    loop {
        for slot in &mut table[at].0 {
            if slot.key == EMPTY {
                *slot = Slot { key, next, log10 };
                return true;
            }
            if slot.key == key {
                return false;
            }
        }
        at = if at + 1 == n { 0 } else { at + 1 };
    }
}

/// The least and the largest score of each word, over all states: an n-gram's own log10 p plus the least and the largest
/// sum of back-offs on the way to its context, from any state that may back off to it.
struct WordBounds {
    /// Of each state: least and largest sum of back-offs paid before it is reached, the empty sum among them.
    paid: Vec<(f64, f64)>,
    bounds: Vec<Bounds>,
}

impl WordBounds {
    fn new(contexts: &[Context], unigrams: &[Entry]) -> Self {
        let mut paid = vec![(0.0f64, 0.0f64); contexts.len()];
        for (s, c) in contexts.iter().enumerate().skip(1).rev() {
            let (least, most) = paid[s];
            let to = &mut paid[c.shorter as usize];
            to.0 = to.0.min(least + c.backoff as f64);
            to.1 = to.1.max(most + c.backoff as f64);
        }
        let none = Bounds { least: f32::INFINITY, most: f32::NEG_INFINITY };
        let mut w = WordBounds { paid, bounds: vec![none; unigrams.len()] };
        for e in unigrams {
            w.add(0, e);
        }
        w
    }
    fn add(&mut self, state: LmState, e: &Entry) {
        let (least, most) = self.paid[state as usize];
        let b = &mut self.bounds[e.word as usize];
        // Rounded outwards: a bound may be loose, never wrong.
        b.least = b.least.min(((least + e.log10 as f64) as f32).next_down());
        b.most = b.most.max(((most + e.log10 as f64) as f32).next_up());
    }
}
