//! From adjusted counts to probabilities before interpolation, and the weight of the lower order in every context.
//!
//! For what does not fit in memory (`contexts` is for what does). In context order all continuations of a context are together: their counts add up to the denominator, the discounts of
//! those that stay and the whole counts of those that are pruned make the weight of the lower order. Rows leave with
//! probability and weight instead of the count, in suffix order again. Contexts come out in suffix order by themselves.

use std::path::Path;

use super::discount::Discount;
use super::records::{self, PRUNED};
use super::sorter::{Sorted, Sorter, Spool};
use crate::error::Result;

/// One order, normalised.
pub struct Normalised {
    /// Words in suffix order, probability, weight of the lower order (bits of f32).
    pub rows: Sorted,
    /// Contexts in suffix order with their weights.
    pub weights: Sorted,
}

/// `sorted` is in context order; `memory` bytes are for what is made.
pub fn normalise(
    sorted: Sorted,
    order: usize,
    discount: &Discount,
    (folder, memory): (&Path, usize),
) -> Result<Normalised> {
    let mut weights = Spool::default();
    let place = (folder, memory / 4);
    let rows = match sorted {
        Sorted::Memory(data) => Sorted::Memory(in_place(data, order, discount, &mut weights, place)?),
        disk => by_copy(disk, order, discount, &mut weights, (folder, memory))?,
    };
    Ok(Normalised { rows, weights: weights.finish(folder)? })
}

/// Rows in memory are rewritten where they are.
fn in_place(
    mut data: Vec<u32>,
    order: usize,
    discount: &Discount,
    weights: &mut Spool,
    place: (&Path, usize),
) -> Result<Vec<u32>> {
    let width = order + 2;
    let (mut from, mut kept) = (0, 0);
    while from < data.len() {
        let mut end = from + width;
        while end < data.len() && data[end..end + order - 1] == data[from..from + order - 1] {
            end += width;
        }
        let context = Context::of(&data[from..end], order, discount);
        if order > 1 {
            weights.push(&data[from..from + order - 1], context.weight.to_bits(), place)?;
        }
        for at in (from..end).step_by(width) {
            if context.put(&mut data[at + order..at + width], discount) {
                data[at..at + order].rotate_right(1);
                data.copy_within(at..at + width, kept);
                kept += width;
            }
        }
        from = end;
    }
    data.truncate(kept);
    records::sort(&mut data, width);
    Ok(data)
}

/// Rows on disk are read, and written again.
fn by_copy(
    sorted: Sorted,
    order: usize,
    discount: &Discount,
    weights: &mut Spool,
    (folder, memory): (&Path, usize),
) -> Result<Sorted> {
    let width = order + 2;
    let place = (folder, memory / 4);
    let mut rows = Sorter::new(width);
    let mut merge = sorted.read(width, order, memory / 4)?;
    let mut group = vec![];
    while let Some(first) = merge.peek() {
        group.clear();
        group.extend_from_slice(first);
        merge.advance()?;
        while let Some(row) = merge.peek()
            && row[..order - 1] == group[..order - 1]
        {
            group.extend_from_slice(row);
            merge.advance()?;
        }
        let context = Context::of(&group, order, discount);
        if order > 1 {
            weights.push(&group[..order - 1], context.weight.to_bits(), place)?;
        }
        for row in group.chunks_exact_mut(width) {
            if context.put(&mut row[order..], discount) {
                row[..order].rotate_right(1);
                rows.push(row, &[]);
                if rows.bytes() > memory / 2 {
                    rows.spill(folder)?;
                }
            }
        }
    }
    // What did not fit before is not kept now: the orders above need the memory.
    rows.spill(folder)?;
    rows.finish(folder)
}

/// What is known of the continuations of a context.
#[derive(Clone, Copy, Default)]
#[repr(C, packed(4))]
pub struct Sum {
    /// All counts.
    counts: u64,
    /// How many have the counts 1, 2, 3 or more and stay.
    kept: [u32; 3],
}

impl Sum {
    #[inline]
    pub fn add(&mut self, count: u64) {
        self.counts += count & !PRUNED;
        if count & PRUNED == 0 && count > 0 {
            self.kept[count.min(3) as usize - 1] += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.counts == 0
    }
}

pub struct Context {
    denominator: f32,
    pub weight: f32,
}

impl Context {
    #[inline]
    pub fn new(sum: &Sum, pruned: u64, discount: &Discount) -> Self {
        let denominator = sum.counts as f32;
        let kept = sum.kept;
        let mut weight = 0f32;
        for (d, n) in discount.0[1..].iter().zip(kept) {
            weight += d * n as f32;
        }
        weight += pruned as f32;
        Context { denominator, weight: weight / denominator }
    }

    fn of(rows: &[u32], order: usize, discount: &Discount) -> Self {
        let (mut sum, mut pruned) = (Sum::default(), 0);
        for row in rows.chunks_exact(order + 2) {
            let count = records::count(&row[order..]);
            sum.add(count);
            if count & PRUNED != 0 {
                pruned += count & !PRUNED;
            }
        }
        Self::new(&sum, pruned, discount)
    }

    /// Rewrites the end of a row; false if it is pruned.
    #[inline]
    pub fn put(&self, end: &mut [u32], discount: &Discount) -> bool {
        let count = records::count(end);
        if count & PRUNED != 0 {
            return false;
        }
        end[0] = (discount.apply(count) / self.denominator).to_bits();
        end[1] = self.weight.to_bits();
        true
    }
}
