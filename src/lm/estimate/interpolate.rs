//! Interpolates an order with the one below and writes it.
//!
//! All is in suffix order: the n-grams, the probabilities of the order below (whose n-grams are the same without the first
//! word) and the weights of those that are contexts of the order above. So every file is read once, and the lines of a
//! block are made in parallel.

use std::path::Path;

use rayon::prelude::*;

use super::Smoothing;
use super::arpa::{Writer, lines};
use super::records::DROPPED;
use super::sorter::{Merge, Sorted};
use super::vocabulary::{BOS, EOS, UNK};
use crate::error::{Error, Result};

/// Rows whose lines are made by one task.
const TASK: usize = 1 << 13;

/// The weights of n-grams as contexts, in suffix order.
pub enum Weights {
    /// The highest order has none.
    None,
    /// Contexts with their weights; not all n-grams are there, and pruned ones may be.
    Keyed(Merge),
    /// One a row, pruned ones too; `NO_CONTEXT` where nothing follows.
    Listed(std::vec::IntoIter<f32>),
}

/// In place of a weight: nothing follows this n-gram.
pub const NO_CONTEXT: f32 = -1.0;

/// What one order needs besides its rows.
pub struct Order<'a> {
    pub order: usize,
    pub smoothing: Smoothing,
    /// The probability of a word if nothing is known.
    pub uniform: f32,
    /// The order below; none for words alone.
    pub lower: Option<Merge>,
    /// The weights of contexts.
    pub weights: Weights,
    pub place: (&'a Path, usize),
}

impl Order<'_> {
    /// Writes the section; gives the rows back with the final probabilities.
    pub fn write(mut self, rows: Sorted, out: &mut Writer) -> Result<Sorted> {
        let k = self.order;
        let width = k + 2;
        let highest = matches!(self.weights, Weights::None);
        out.section(k)?;
        let words = out.words();
        let mut made: Vec<Vec<u8>> = vec![];
        let kept = rows.map(width, k, self.place, !highest, |block| {
            // One block is written while the next one is made.
            let texts = std::mem::take(&mut made);
            let (written, next) = rayon::join(
                || texts.iter().try_for_each(|text| out.put(text)),
                || {
                    block.chunks_exact_mut(width).try_for_each(|row| self.finish(row))?;
                    Ok(block.par_chunks(width * TASK).map(|rows| lines(rows, words, k, highest)).collect())
                },
            );
            written?;
            made = next?;
            Ok(())
        })?;
        made.iter().try_for_each(|text| out.put(text))?;
        out.end_section()?;
        Ok(kept)
    }

    /// Probability and weight before, probability and back-off after.
    #[inline]
    fn finish(&mut self, row: &mut [u32]) -> Result<()> {
        let k = self.order;
        let backoff = self.backoff(&row[..k])?;
        if row[k + 1] == DROPPED {
            return Ok(());
        }
        let below = match &mut self.lower {
            None => self.uniform,
            Some(lower) => loop {
                match lower.peek() {
                    Some(l) if l[..k - 1] == row[..k - 1] => break f32::from_bits(l[k - 1]),
                    Some(_) => lower.advance()?,
                    None => return Err(Error::op("lm estimate", "a bug in weft: an n-gram without its suffix")),
                }
            },
        };
        let special = k == 1 && row[0] <= BOS;
        let (p, weight) = (f32::from_bits(row[k]), f32::from_bits(row[k + 1]));
        let p = match self.smoothing {
            // `<s>` is given; it costs nothing where it is asked for.
            _ if special && row[0] == BOS => 1.0,
            Smoothing::KneserNey { .. } if special => weight * below,
            Smoothing::KneserNey { .. } => p + weight * below,
            Smoothing::Stupid { .. } => p,
        };
        row[k] = p.to_bits();
        row[k + 1] = backoff.to_bits();
        Ok(())
    }

    /// The back-off weight of the next row.
    #[inline]
    fn backoff(&mut self, words: &[u32]) -> Result<f32> {
        let k = self.order;
        let weight = match &mut self.weights {
            Weights::None => None,
            Weights::Listed(weights) => weights.next().filter(|&w| w != NO_CONTEXT),
            Weights::Keyed(_) if words[0] == EOS || words[0] == UNK => None,
            Weights::Keyed(weights) => {
                while let Some(w) = weights.peek()
                    && w[..k] < *words
                {
                    weights.advance()?;
                }
                weights.peek().filter(|w| w[..k] == *words).map(|w| f32::from_bits(w[k]))
            }
        };
        Ok(match (weight, self.smoothing) {
            (None, _) => 1.0,
            (Some(w), Smoothing::KneserNey { .. }) => w,
            (Some(_), Smoothing::Stupid { backoff }) => backoff,
        })
    }
}
