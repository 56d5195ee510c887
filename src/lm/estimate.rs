//! An n-gram model from text: interpolated modified Kneser-Ney as KenLM's `lmplz` computes it, or stupid back-off.
//!
//! ```text
//! text ──count──► n-grams of the highest order ──adjust──► all orders ──normalise──► ──interpolate──► ARPA
//! ```
//!
//! After Heafield, Pouzyrevsky, Clark and Koehn, "Scalable Modified Kneser-Ney Language Model Estimation" (2013): every
//! step reads and writes n-grams in a sorted order, so that what does not fit in memory goes through the disk. Stupid
//! back-off: Brants, Popat, Xu, Och and Dean, "Large Language Models in Machine Translation" (2007).
//!
//! The arithmetic is lmplz's, in single precision, so that the two files have the same digits. They differ only where
//! lmplz goes wrong: a last line without a newline can shift its back-offs; here an n-gram that nothing follows has none.

mod adjust;
mod arpa;
mod contexts;
mod corpus;
mod count;
mod discount;
mod interpolate;
mod normalise;
mod records;
mod sorter;
pub(crate) mod temp;
mod vocabulary;

use std::path::PathBuf;

pub use discount::Discount;

use crate::error::{Error, Result};
use crate::format::io;
use sorter::{Merge, Sorted, Sorter};
use vocabulary::{EOS, Words};

/// The highest order.
pub const MAX_ORDER: usize = records::MAX_WIDTH - 2;

/// Less memory than this would make more runs than it is worth.
const MIN_MEMORY: usize = 1 << 17;

/// How what was not seen gets a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Interpolated modified Kneser-Ney. With a fallback, orders whose discounts cannot be estimated take it.
    KneserNey { fallback: Option<Discount> },
    /// Relative frequencies and one back-off weight; not normalised.
    Stupid { backoff: f32 },
}

/// What to estimate from what.
#[derive(Clone, Debug)]
pub struct Options {
    pub order: usize,
    /// Text files, plain or compressed; `-` is standard input.
    pub corpora: Vec<String>,
    pub smoothing: Smoothing,
    /// For every order, the count up to which n-grams are pruned; never less than for the order below.
    pub prune: Vec<u64>,
    /// A file of words: n-grams with any other word are pruned.
    pub vocabulary: Option<String>,
    /// Take `<s>`, `</s>` and `<unk>` in the text as blanks, not as an error.
    pub skip_symbols: bool,
    /// Bytes to use at most, if that can be done.
    pub memory: usize,
    /// The folder of temporary files.
    pub temp: PathBuf,
}

impl Options {
    pub fn new(order: usize, corpora: Vec<String>) -> Self {
        Options {
            order,
            corpora,
            smoothing: Smoothing::KneserNey { fallback: None },
            prune: vec![],
            vocabulary: None,
            skip_symbols: false,
            memory: 1 << 30,
            temp: std::env::temp_dir(),
        }
    }

    /// Fills in what was left out, or says what is wrong.
    fn check(&self) -> Result<Options> {
        let mut checked = self.clone();
        let order = self.order;
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::usage(format!("the order is {order}; it must be from 1 to {MAX_ORDER}")));
        }
        if self.prune.len() > order {
            return Err(Error::usage(format!("{} pruning thresholds for a model of order {order}", self.prune.len())));
        }
        if !self.prune.is_sorted() {
            return Err(Error::usage("a pruning threshold is less than that of the order below"));
        }
        checked.memory = self.memory.max(MIN_MEMORY);
        checked.prune.resize(order, self.prune.last().copied().unwrap_or(0));
        if self.corpora.is_empty() {
            checked.corpora.push("-".into());
        }
        if checked.corpora.iter().filter(|n| io::is_stdio(n)).count() > 1 {
            return Err(Error::usage("standard input can be read only once"));
        }
        if let Smoothing::Stupid { backoff } = self.smoothing
            && !(backoff > 0.0 && backoff <= 1.0)
        {
            return Err(Error::usage(format!("the back-off weight is {backoff}; it must be above 0 and at most 1")));
        }
        Ok(checked)
    }
}

/// Is told how far the work is.
pub trait Progress: Sync {
    /// A new stage, of so many steps if that is known.
    fn stage(&self, name: &str, steps: Option<u64>);
    fn advance(&self, steps: u64);
}

/// Does not tell.
pub struct Quiet;

impl Progress for Quiet {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}

/// What was estimated.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Words of the text.
    pub tokens: u64,
    /// For every order: n-grams in the model, n-grams before pruning, discounts.
    pub orders: Vec<(u64, u64, Discount)>,
    /// Orders that took the fallback discounts.
    pub fell_back: Vec<usize>,
    /// Special words in the text were left out.
    pub skipped: bool,
}

/// Estimates a model and writes it to `output` (`-`: standard output), whole or not at all.
pub fn estimate(options: &Options, output: &str, progress: &dyn Progress) -> Result<Summary> {
    let options = &options.check()?;
    let order = options.order;
    let wanted = options.vocabulary.as_deref().map(io::read_text).transpose()?;
    let out = io::create(output)?;

    // The rest is for the program itself and what the allocator keeps.
    let memory = options.memory / 16 * 15;
    let counts = count::count(options, memory, progress)?;
    if counts.runs.is_empty() {
        return Err(Error::op("lm estimate", "the corpus is empty"));
    }
    let words = counts.words;
    let memory = memory.saturating_sub(words.bytes()).max(memory / 8);
    let unwanted = wanted.map(|(_, text)| unwanted(&words, &text));

    progress.stage("adjusting counts", None);
    // Merging frees a run by halves, and has up to a quarter of it twice.
    let left = memory.saturating_sub(counts.held / 4 * 5).max(memory / 8);
    let merge = Merge::new(counts.runs, order + 2, order, left / 8)?;
    let adjusted = adjust::adjust(merge, options, unwanted.as_deref(), left / 4 * 3)?;

    let mut summary = Summary { tokens: counts.tokens, orders: vec![], fell_back: vec![], skipped: counts.skipped };
    for (i, f) in adjusted.frequencies.iter().enumerate() {
        let discount = match options.smoothing {
            Smoothing::Stupid { .. } => Discount::NONE,
            Smoothing::KneserNey { fallback } => match (f.discount(i + 1), fallback) {
                (Ok(d), _) => d,
                (Err(_), Some(d)) => {
                    summary.fell_back.push(i + 1);
                    d
                }
                (Err(e), None) => return Err(e),
            },
        };
        summary.orders.push((f.kept, f.all, discount));
    }

    progress.stage("normalising", None);
    let discounts: Vec<Discount> = summary.orders.iter().map(|o| o.2).collect();
    let (normalised, held) = normalise_all(adjusted.sorters, &discounts, options, memory)?;

    let kept: Vec<u64> = summary.orders.iter().map(|o| o.0).collect();
    progress.stage("writing", Some(kept.iter().sum()));
    let mut writer = arpa::Writer::new(out, &words, &kept)?;
    let left = memory.saturating_sub(held).max(memory / 16);
    let mut lower = None;
    for (i, (rows, weights)) in normalised.into_iter().enumerate() {
        let k = i + 1;
        let work = interpolate::Order {
            order: k,
            smoothing: options.smoothing,
            // Without <s>, which is never predicted.
            uniform: (1.0 / (kept[0] - 1) as f32 as f64) as f32,
            lower,
            weights: match weights {
                Some(Weights::Sorted(weights)) => interpolate::Weights::Keyed(weights.read(k + 1, k, left / 4)?),
                Some(Weights::Listed(weights)) => interpolate::Weights::Listed(weights.into_iter()),
                None => interpolate::Weights::None,
            },
            place: (&options.temp, left / 4),
        };
        let rows = work.write(rows, &mut writer)?;
        progress.advance(kept[i]);
        lower = Some(rows.read(k + 2, k, left / 4)?);
    }
    writer.finish()?;
    Ok(summary)
}

/// The weights of an order's n-grams as contexts.
enum Weights {
    Sorted(Sorted),
    Listed(Vec<f32>),
}

/// The rows of an order, and their weights as contexts if it is not the highest.
type Normalised = (Sorted, Option<Weights>);

/// All orders, in memory if they are; and how many bytes of memory they have now.
fn normalise_all(
    mut sorters: Vec<Sorter>,
    discounts: &[Discount],
    options: &Options,
    memory: usize,
) -> Result<(Vec<Normalised>, usize)> {
    let mut held: usize = sorters.iter().map(Sorter::bytes).sum();
    // Row numbers have 32 bits there, and what is found beside the rows is less than half of them.
    let rows = sorters.iter().map(|s| s.rows()).max().unwrap_or(0);
    if held / 2 * 3 <= memory && rows < u32::MAX as usize && sorters.iter().all(Sorter::in_memory) {
        let mut levels: Vec<Vec<u32>> = sorters.iter_mut().map(Sorter::unsorted).collect();
        let pruning = options.vocabulary.is_some() || options.prune.iter().any(|&p| p > 0);
        let weights = contexts::normalise(&mut levels, discounts, pruning)?;
        let weights = weights.into_iter().map(|w| Some(Weights::Listed(w))).chain([None]);
        return Ok((levels.into_iter().map(Sorted::Memory).zip(weights).collect(), held));
    }
    let mut normalised: Vec<Normalised> = vec![];
    for (i, sorter) in sorters.into_iter().enumerate() {
        held -= sorter.bytes();
        let sorted = sorter.finish(&options.temp)?;
        let left = memory.saturating_sub(held + sorted.bytes()).max(memory / 16);
        let done = normalise::normalise(sorted, i + 1, &discounts[i], (&options.temp, left))?;
        held += done.rows.bytes() + done.weights.bytes();
        if let Some(below) = normalised.last_mut() {
            below.1 = Some(Weights::Sorted(done.weights));
        }
        normalised.push((done.rows, None));
    }
    Ok((normalised, held))
}

/// Of every word of the corpus: whether it is missing in a list of words. Special words never are.
fn unwanted(words: &Words, list: &str) -> Vec<bool> {
    let mut unwanted = vec![true; words.len()];
    unwanted[..=EOS as usize].fill(false);
    let _ = corpus::split(list.as_bytes(), |start, end| {
        let word = &list.as_bytes()[start..end];
        if let Some(id) = words.find(word, vocabulary::hash(word)) {
            unwanted[id as usize] = false;
        }
        Ok(())
    });
    unwanted
}
