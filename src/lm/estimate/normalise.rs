//! From adjusted counts to probabilities before interpolation, and the weight of the lower order in every context.
//!
//! In context order all continuations of a context are together: their counts add up to the denominator, the discounts of
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
    let width = order + 2;
    let mut weights = Spool::default();
    let place = (folder, memory / 4);
    match sorted {
        Sorted::Memory(mut data) => {
            let (mut from, mut to) = (0, 0);
            while from < data.len() {
                let end = group_end(&data, from, width);
                let group = Context::sum(&data[from..end], order, discount);
                if order > 1 {
                    weights.push(&data[from..from + order - 1], group.weight.to_bits(), place)?;
                }
                while from < end {
                    if group.put(&mut data[from..from + width], order, discount) {
                        data.copy_within(from..from + width, to);
                        to += width;
                    }
                    from += width;
                }
            }
            data.truncate(to);
            records::sort(&mut data, width);
            Ok(Normalised { rows: Sorted::Memory(data), weights: weights.finish(folder)? })
        }
        Sorted::Disk { .. } => {
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
                let context = Context::sum(&group, order, discount);
                if order > 1 {
                    weights.push(&group[..order - 1], context.weight.to_bits(), place)?;
                }
                for row in group.chunks_exact_mut(width) {
                    if context.put(row, order, discount) {
                        rows.push(row, &[]);
                        if rows.bytes() > memory / 2 {
                            rows.spill(folder)?;
                        }
                    }
                }
            }
            Ok(Normalised { rows: rows.finish(folder)?, weights: weights.finish(folder)? })
        }
    }
}

/// Where the rows with the context of the row at `from` end.
fn group_end(data: &[u32], from: usize, width: usize) -> usize {
    let context = width - 3;
    let mut end = from + width;
    while end < data.len() && data[end..end + context] == data[from..from + context] {
        end += width;
    }
    end
}

struct Context {
    denominator: f32,
    weight: f32,
}

impl Context {
    fn sum(rows: &[u32], order: usize, discount: &Discount) -> Self {
        let (mut denominator, mut pruned) = (0, 0);
        let mut kept = [0u64; 4];
        for row in rows.chunks_exact(order + 2) {
            let count = records::count(&row[order..]);
            denominator += count & !PRUNED;
            if count & PRUNED != 0 {
                pruned += count & !PRUNED;
            } else if count > 0 {
                kept[count.min(3) as usize] += 1;
            }
        }
        let mut weight = 0f32;
        for (d, &n) in discount.0.iter().zip(&kept).skip(1) {
            weight += d * n as f32;
        }
        weight += pruned as f32;
        Context { denominator: denominator as f32, weight: weight / denominator as f32 }
    }

    /// Rewrites a row; false if it is pruned.
    #[inline]
    fn put(&self, row: &mut [u32], order: usize, discount: &Discount) -> bool {
        let count = records::count(&row[order..]);
        if count & PRUNED != 0 {
            return false;
        }
        row[..order].rotate_right(1);
        row[order] = (discount.apply(count) / self.denominator).to_bits();
        row[order + 1] = self.weight.to_bits();
        true
    }
}
