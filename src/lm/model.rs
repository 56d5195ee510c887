//! `NgramModel`: a back-off model as a deterministic machine over its minimal states.
//!
//! A state is a context that matters: an n-gram that some longer n-gram extends, or that has a back-off weight of its
//! own; every other context acts exactly like its longest suffix that is one. State 0 is the empty context, and longer
//! contexts have larger numbers. An n-gram is an arc from the state of its context to the state after its last word, kept
//! in one hash table of cache-line buckets keyed by (state, word); unigrams lie in an array. Scoring a word looks into
//! the table once for each context it backs off from: no allocation, no lock, and a table that all threads share.
//!
//! Costs 24 bytes an n-gram of two words or more, 32 a word besides its letters, 8 a state. The n-grams, sums and states
//! are those of KenLM (Heafield 2011), so that scores agree to the last bit.
//!
//! Most words are not found in the longest context. For searches that ask for millions of words, `prepare` makes a sieve:
//! 32 bits a state, one of them set for each word that the state has an n-gram of, so that most of these are known without
//! looking into the table.

use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

use super::layout::{Block, Header, Section, hash_key, place, prefetch};
use super::vocab::Vocabulary;
use super::{LN_10, LanguageModel, LmState, UNKNOWN, WordId};
use crate::error::{Error, Result};

/// No such word: there is no `<s>` or `</s>` in the model.
pub const NO_WORD: WordId = u32::MAX;
/// log10 p of an unknown word in a model that has no `<unk>`, as in KenLM.
pub const MISSING_UNKNOWN: f32 = -100.0;

/// An n-gram as an arc.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    /// State of the context and last word; `EMPTY` if there is no arc here.
    pub key: u64,
    pub next: LmState,
    pub log10: f32,
}

pub const EMPTY: u64 = u64::MAX;

#[inline(always)]
pub fn arc_key(state: LmState, word: WordId) -> u64 {
    (state as u64) << 32 | word as u64
}

/// Slots that lie in one line of the cache.
pub const BUCKET: usize = 4;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Bucket(pub [Slot; BUCKET]);

/// A one-word n-gram.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Unigram {
    pub log10: f32,
    pub next: LmState,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Context {
    pub backoff: f32,
    /// The longest suffix that is a state: always a smaller number.
    pub shorter: LmState,
}

/// The least and the largest log10 p of a word in any state.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Bounds {
    pub least: f32,
    pub most: f32,
}

/// A scored word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scored {
    pub state: LmState,
    /// log10 p(word | state), in the float arithmetic of KenLM.
    pub log10: f32,
    /// Words of the longest n-gram that matched.
    pub length: u32,
}

pub struct NgramModel {
    name: String,
    // Sections point into the block; it must stay as long as they do.
    block: Block,
    vocab: Vocabulary,
    unigrams: Section<Unigram>,
    contexts: Section<Context>,
    buckets: Section<Bucket>,
    bounds: Section<Bounds>,
    /// First state of each length from 0 up.
    lengths: Section<u32>,
    /// N-grams of each order from 1 up that were read; suffixes that were filled in are not among them.
    counts: Section<u64>,
    /// Of each state the `sieve_bit`s of the words that it has an n-gram of.
    sieve: OnceLock<Vec<u32>>,
}

#[inline(always)]
fn sieve_bit(word: WordId) -> u32 {
    1 << (word.wrapping_mul(0x9E37_79B9) >> 27)
}

impl NgramModel {
    /// The model in a block; `name` is for errors.
    pub fn open(name: &str, block: Block) -> Result<Self> {
        let vocab = Vocabulary::open(name, &block, 0)?;
        let at = Vocabulary::SECTIONS;
        let model = NgramModel {
            name: name.to_string(),
            unigrams: block.section(name, at)?,
            contexts: block.section(name, at + 1)?,
            buckets: block.section(name, at + 2)?,
            bounds: block.section(name, at + 3)?,
            lengths: block.section(name, at + 4)?,
            counts: block.section(name, at + 5)?,
            vocab,
            block,
            sieve: OnceLock::new(),
        };
        let h = model.block.header();
        let words = h.words as usize;
        let sound = words > 0
            && model.vocab.len() == words
            && model.unigrams.len() == words
            && model.bounds.len() == words
            && !model.contexts.is_empty()
            && model.contexts.len() as u64 == h.states
            && !model.buckets.is_empty()
            && h.order > 0
            && model.lengths.len() == h.order as usize
            && model.counts.len() == h.order as usize;
        if sound { Ok(model) } else { Err(Error::binary(name, 0, "the sizes in the header contradict each other")) }
    }

    /// The file it comes from.
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn header(&self) -> &Header {
        self.block.header()
    }
    pub fn block(&self) -> &Block {
        &self.block
    }
    pub fn vocab(&self) -> &Vocabulary {
        &self.vocab
    }
    pub fn order(&self) -> usize {
        self.block.header().order as usize
    }
    /// N-grams of each order from 1 up that were read.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
    pub fn num_states(&self) -> usize {
        self.contexts.len()
    }
    pub fn begin_word(&self) -> Option<WordId> {
        Some(self.block.header().begin_word).filter(|&w| w != NO_WORD)
    }
    pub fn context(&self, state: LmState) -> Context {
        // A damaged file must not end the process: an impossible state is taken for the last one.
        self.contexts[(state as usize).min(self.contexts.len() - 1)]
    }
    pub fn unigram(&self, word: WordId) -> Unigram {
        self.unigrams.get(word as usize).copied().unwrap_or(self.unigrams[UNKNOWN as usize])
    }
    /// Words of a state.
    pub fn length(&self, state: LmState) -> u32 {
        self.lengths.iter().take_while(|&&first| first <= state).count() as u32 - 1
    }
    /// Every n-gram of two words or more, filled-in ones too, in no order: (state of the context, word, arc).
    pub fn arcs(&self) -> impl Iterator<Item = (LmState, WordId, Slot)> {
        self.buckets
            .iter()
            .flat_map(|b| b.0.iter())
            .filter(|s| s.key != EMPTY)
            .map(|&s| ((s.key >> 32) as LmState, s.key as WordId, s))
    }

    #[inline(always)]
    pub fn find(&self, state: LmState, word: WordId) -> Option<&Slot> {
        let key = arc_key(state, word);
        let n = self.buckets.len();
        let mut at = place(hash_key(key), n);
        for _ in 0..n {
            let bucket = &self.buckets[at].0;
            for slot in bucket {
                if slot.key == key {
                    return Some(slot);
                }
            }
            if bucket[BUCKET - 1].key == EMPTY {
                return None;
            }
            at = if at + 1 == n { 0 } else { at + 1 };
        }
        None
    }

    /// Makes `step` faster, for many steps: reads the whole model once, and keeps 4 bytes a state.
    pub fn prepare(&self) {
        self.sieve.get_or_init(|| {
            let mut sieve = vec![0; self.num_states()];
            for (state, word, _) in self.arcs() {
                if let Some(bits) = sieve.get_mut(state as usize) {
                    *bits |= sieve_bit(word);
                }
            }
            sieve
        });
    }

    /// The context that `s` backs off to. In a damaged file, too, the way leads to the empty one.
    #[inline(always)]
    pub fn shorter(&self, s: LmState, context: Context) -> LmState {
        if context.shorter < s { context.shorter } else { 0 }
    }

    /// Scores a word as KenLM does: the same floats added in the same order, the back-off of the shortest context first.
    pub fn score(&self, from: LmState, word: WordId) -> Scored {
        let mut steps = Steps::new(from);
        loop {
            if let Some(scored) = self.advance(&mut steps, word) {
                return scored;
            }
        }
    }

    /// Looks the word up in one context; `None`: it is not there, and the next shorter context is to be tried.
    #[inline(always)]
    fn advance(&self, steps: &mut Steps, word: WordId) -> Option<Scored> {
        let s = steps.now;
        let (found, state) = if s == 0 {
            let unigram = self.unigram(word);
            (unigram.log10, unigram.next)
        } else if let Some(arc) = self.find(s, word) {
            (arc.log10, arc.next)
        } else {
            let context = self.context(s);
            if steps.depth < INLINE {
                steps.backoffs[steps.depth] = context.backoff;
            }
            steps.depth += 1;
            steps.now = self.shorter(s, context);
            return None;
        };
        let log10 = if steps.depth <= INLINE {
            steps.backoffs[..steps.depth].iter().rev().fold(found, |sum, b| sum + b)
        } else {
            self.add_backoffs(steps.from, steps.depth, found)
        };
        Some(Scored { state, log10, length: self.length(s) + 1 })
    }

    /// Scores many sentences at once, each from `start` on: `sentences` are ranges of `words`, and `scored` gets the score
    /// of every word. The sentences take turns, so that the memory one waits for comes while others are looked at.
    pub fn score_all(&self, start: LmState, words: &[WordId], sentences: &[Range<usize>], scored: &mut [Scored]) {
        let mut waiting = sentences.iter().filter(|r| !r.is_empty());
        let mut lanes: Vec<Lane> = Vec::with_capacity(LANES);
        lanes.extend(waiting.by_ref().take(LANES).map(|r| Lane { at: r.start, end: r.end, steps: Steps::new(start) }));
        while !lanes.is_empty() {
            let mut i = 0;
            while let Some(lane) = lanes.get_mut(i) {
                if let Some(done) = self.advance(&mut lane.steps, words[lane.at]) {
                    scored[lane.at] = done;
                    lane.at += 1;
                    lane.steps = Steps::new(done.state);
                    if lane.at == lane.end {
                        let Some(r) = waiting.next() else {
                            lanes.swap_remove(i);
                            continue;
                        };
                        *lane = Lane { at: r.start, end: r.end, steps: Steps::new(start) };
                    }
                }
                self.prefetch(lane.steps.now, words[lane.at]);
                i += 1;
            }
        }
    }

    /// The sum of `score` for models of an order that nobody uses.
    #[cold]
    fn add_backoffs(&self, from: LmState, depth: usize, found: f32) -> f32 {
        let mut backoffs = Vec::with_capacity(depth);
        let mut s = from;
        for _ in 0..depth {
            let context = self.context(s);
            backoffs.push(context.backoff);
            s = self.shorter(s, context);
        }
        backoffs.iter().rev().fold(found, |sum, b| sum + b)
    }
}

/// Back-offs kept on the stack.
const INLINE: usize = 16;
/// Sentences that are scored at a time.
const LANES: usize = 16;

/// A word on its way from context to context.
#[derive(Clone, Copy)]
struct Steps {
    from: LmState,
    now: LmState,
    depth: usize,
    backoffs: [f32; INLINE],
}

impl Steps {
    fn new(from: LmState) -> Self {
        Steps { from, now: from, depth: 0, backoffs: [0.0; INLINE] }
    }
}

/// A sentence that is being scored: its next word.
struct Lane {
    at: usize,
    end: usize,
    steps: Steps,
}

impl LanguageModel for NgramModel {
    fn word(&self, word: &str) -> Option<WordId> {
        self.vocab.find(word.as_bytes()).filter(|&id| id != UNKNOWN)
    }
    fn null(&self) -> LmState {
        0
    }
    fn begin(&self) -> Option<LmState> {
        self.begin_word().map(|w| self.unigram(w).next)
    }
    fn end_word(&self) -> Option<WordId> {
        Some(self.block.header().end_word).filter(|&w| w != NO_WORD)
    }
    #[inline]
    fn step(&self, from: LmState, word: WordId) -> (LmState, f64) {
        let mut s = from;
        let mut log10 = 0.0;
        let sieve = self.sieve.get();
        let bit = sieve_bit(word);
        let (found, next) = loop {
            if s == 0 {
                let unigram = self.unigram(word);
                break (unigram.log10, unigram.next);
            }
            let context = self.context(s);
            let may_be = sieve.is_none_or(|bits| bits.get(s as usize).is_none_or(|b| b & bit != 0));
            if may_be && let Some(arc) = self.find(s, word) {
                break (arc.log10, arc.next);
            }
            log10 += context.backoff as f64;
            s = self.shorter(s, context);
        };
        (next, (found as f64 + log10) * -LN_10)
    }
    #[inline]
    fn prefetch(&self, state: LmState, word: WordId) {
        if state == 0 {
            prefetch(&self.unigrams[(word as usize).min(self.unigrams.len() - 1)]);
        } else {
            prefetch(&self.buckets[place(hash_key(arc_key(state, word)), self.buckets.len())]);
            prefetch(&self.contexts[(state as usize).min(self.contexts.len() - 1)]);
        }
    }
    fn cost_bounds(&self, word: WordId) -> (f64, f64) {
        let b = self.bounds.get(word as usize).copied().unwrap_or(self.bounds[UNKNOWN as usize]);
        (b.most as f64 * -LN_10, b.least as f64 * -LN_10)
    }
}
