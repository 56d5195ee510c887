//! From the counts of the highest order to the adjusted counts of all orders.
//!
//! An n-gram of a lower order has as its adjusted count the number of different words before it, or its real count if it
//! begins with `<s>` and nothing can be before it. In suffix order all n-grams that end alike are together, so that one
//! pass over the highest order makes all the others, each in suffix order, with a row a order in memory.
//!
//! The same pass marks what will be pruned (by real counts) and counts how many n-grams have adjusted count 1 to 4.

use super::discount::Frequencies;
use super::records::{self, PRUNED};
use super::sorter::{Merge, Sorter};
use super::vocabulary::{BOS, EOS, UNK};
use super::{Options, Smoothing};
use crate::error::Result;

/// All orders, to be sorted by context.
pub struct Adjusted {
    pub sorters: Vec<Sorter>,
    pub frequencies: Vec<Frequencies>,
}

/// `unwanted` says of every word whether its n-grams are pruned; `memory` bytes are for the rows.
pub fn adjust(mut counts: Merge, options: &Options, unwanted: Option<&[bool]>, memory: usize) -> Result<Adjusted> {
    let order = options.order;
    let mut pass = Pass {
        options,
        unwanted,
        memory,
        used: 0,
        sorters: (1..=order).map(|k| Sorter::by_context(k + 2)).collect(),
        frequencies: vec![Frequencies::default(); order],
    };
    // What the last row began, by length: adjusted and real counts.
    let mut open = vec![(0u64, 0u64); order];
    let mut last = vec![0; order];
    let mut row = vec![0; order + 2];
    pass.emit(&[UNK], 0, u64::MAX, None)?;
    if order == 1 {
        pass.emit(&[BOS], 0, u64::MAX, None)?;
        while counts.next_summed(&mut row)? {
            let count = records::count(&row[1..]);
            pass.emit(&row[..1], count, count, None)?;
        }
        return Ok(pass.done());
    }
    // `<s>` as a word is there with no count; it is not pruned.
    last[0] = BOS;
    open[0] = (0, u64::MAX);
    let mut valid = 1;
    while counts.next_summed(&mut row)? {
        let count = records::count(&row[order..]);
        let same = (0..valid).take_while(|&i| row[i] == last[i]).count();
        for k in (same..valid).rev() {
            let (adjusted, real) = open[k];
            pass.emit(&last[..=k], adjusted, real, None)?;
        }
        for (_, real) in &mut open[..same] {
            *real += count;
        }
        if same > 0 {
            open[same - 1].0 += 1;
        }
        let mut k = same;
        while k < order - 1 && row[k] != BOS {
            open[k] = (1, count);
            k += 1;
        }
        if k < order - 1 {
            open[k] = (count, count);
            valid = k + 1;
        } else {
            pass.emit(&row[..order], count, count, None)?;
            valid = order - 1;
        }
        last.copy_from_slice(&row[..order]);
    }
    // lmplz takes the last n-gram of every order with its real count here; the discounts shall be the same.
    for k in 0..valid {
        let (adjusted, real) = open[k];
        pass.emit(&last[..=k], adjusted, real, Some(real))?;
    }
    Ok(pass.done())
}

struct Pass<'a> {
    options: &'a Options,
    unwanted: Option<&'a [bool]>,
    memory: usize,
    used: usize,
    sorters: Vec<Sorter>,
    frequencies: Vec<Frequencies>,
}

impl Pass<'_> {
    /// Takes an n-gram, last word first.
    #[inline]
    fn emit(&mut self, words: &[u32], adjusted: u64, real: u64, counted: Option<u64>) -> Result<()> {
        let k = words.len() - 1;
        let special = k == 0 && words[0] <= EOS;
        let unwanted = self.unwanted.is_some_and(|u| words.iter().any(|&w| u[w as usize]));
        let pruned = !special && (real <= self.options.prune[k] || unwanted);
        self.frequencies[k].add(counted.unwrap_or(adjusted), pruned);
        let mut count = match self.options.smoothing {
            Smoothing::KneserNey { .. } => adjusted,
            Smoothing::Stupid { .. } if special && words[0] != EOS => 0,
            Smoothing::Stupid { .. } => real,
        };
        if pruned {
            count |= PRUNED;
        }
        let mut tail = [0; 2];
        records::set_count(&mut tail, count);
        self.sorters[k].push(words, &tail);
        self.used += (k + 3) * 4;
        if self.used > self.memory {
            self.spill()?;
        }
        Ok(())
    }

    /// Writes the order that has most in memory.
    #[cold]
    fn spill(&mut self) -> Result<()> {
        if let Some(most) = self.sorters.iter_mut().max_by_key(|s| s.bytes()) {
            self.used -= most.bytes();
            most.spill(&self.options.temp)?;
        }
        Ok(())
    }

    fn done(self) -> Adjusted {
        Adjusted { sorters: self.sorters, frequencies: self.frequencies }
    }
}
