//! Interpolates an order with the one below and writes it.
//!
//! All is in suffix order: the n-grams, the probabilities of the order below (whose n-grams are the same without the first
//! word) and the weights of those that are contexts of the order above. So every file is read once, and the lines of a
//! block are made in parallel.

use std::path::Path;

use rayon::prelude::*;

use super::Smoothing;
use super::arpa::{Writer, lines};
use super::sorter::{Merge, Sorted};
use super::vocabulary::{BOS, EOS, UNK};
use crate::error::{Error, Result};

/// Rows whose lines are made by one task.
const TASK: usize = 1 << 13;

/// What one order needs besides its rows.
pub struct Order<'a> {
    pub order: usize,
    pub smoothing: Smoothing,
    /// The probability of a word if nothing is known.
    pub uniform: f32,
    /// The order below; none for words alone.
    pub lower: Option<Merge>,
    /// The weights of contexts; none for the highest order.
    pub weights: Option<Merge>,
    pub place: (&'a Path, usize),
}

impl Order<'_> {
    /// Writes the section; gives the rows back with the final probabilities.
    pub fn write(mut self, rows: Sorted, out: &mut Writer) -> Result<Sorted> {
        let k = self.order;
        let width = k + 2;
        let highest = self.weights.is_none();
        out.section(k)?;
        let kept = rows.map(width, k, self.place, |block| {
            for row in block.chunks_exact_mut(width) {
                self.finish(row)?;
            }
            let words = out.words();
            let texts: Vec<_> = block.par_chunks(width * TASK).map(|rows| lines(rows, words, k, highest)).collect();
            texts.iter().try_for_each(|text: &Vec<u8>| out.put(text))
        })?;
        out.end_section()?;
        Ok(kept)
    }

    /// Probability and weight before, probability and back-off after.
    #[inline]
    fn finish(&mut self, row: &mut [u32]) -> Result<()> {
        let k = self.order;
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
        let mut backoff = 1f32;
        if let Some(weights) = &mut self.weights
            && row[0] != EOS
            && row[0] != UNK
        {
            while let Some(w) = weights.peek()
                && w[..k] < row[..k]
            {
                weights.advance()?;
            }
            if let Some(w) = weights.peek()
                && w[..k] == row[..k]
            {
                backoff = match self.smoothing {
                    Smoothing::KneserNey { .. } => f32::from_bits(w[k]),
                    Smoothing::Stupid { backoff } => backoff,
                };
            }
        }
        row[k + 1] = backoff.to_bits();
        Ok(())
    }
}
