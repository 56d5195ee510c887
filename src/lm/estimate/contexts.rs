//! Normalises all orders in memory, without sorting: finds for every n-gram its context in the order below.
//!
//! In suffix order the n-grams that end in the same (n-1)-gram are together: the orders are the levels of a tree in which
//! the parent of `w_1 ... w_n` is `w_2 ... w_n`. The context `w_1 ... w_{n-1}` is the child by `w_1` of the parent's
//! context `w_2 ... w_{n-1}`. So contexts are found level by level, by a search among the children of one node, in
//! parallel; children are in the order of `w_1`, and the search goes on where it ended for the child before.
//!
//! Time: linear but for the searches. Memory besides the rows: 4 bytes a n-gram of two orders, 20 or 28 a context of one.

use rayon::prelude::*;

use super::discount::Discount;
use super::interpolate::NO_CONTEXT;
use super::normalise::{Context, Sum};
use super::records::{self, DROPPED, PRUNED};
use crate::error::{Error, Result};

/// Parents a task.
const TASK: usize = 1 << 12;

/// Rows of an order: words in suffix order and two numbers.
struct Level<'a> {
    rows: &'a [u32],
    words: usize,
}

impl Level<'_> {
    fn len(&self) -> usize {
        self.rows.len() / (self.words + 2)
    }
    #[inline]
    fn gram(&self, i: usize) -> &[u32] {
        let at = i * (self.words + 2);
        &self.rows[at..at + self.words]
    }
    /// The first word of the n-gram.
    #[inline]
    fn first(&self, i: usize) -> u32 {
        self.rows[i * (self.words + 2) + self.words - 1]
    }

    /// The row from `low` to `high` that begins with this word; the words of these rows rise.
    #[inline]
    fn find(&self, word: u32, mut low: usize, mut high: usize) -> Option<usize> {
        let mut step = 1;
        while low + step < high && self.first(low + step) <= word {
            low += step;
            step *= 2;
        }
        high = high.min(low + step);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.first(middle) <= word {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low < high && self.first(low) == word).then_some(low)
    }
}

/// Where the children of each row of `lower` begin in `upper`, and the end.
fn children(upper: &Level, lower: &Level) -> Result<Vec<u32>> {
    let mut begin = Vec::with_capacity(lower.len() + 1);
    let mut i = 0;
    for p in 0..lower.len() {
        begin.push(i as u32);
        let parent = lower.gram(p);
        while i < upper.len() && upper.gram(i)[..lower.words] == *parent {
            i += 1;
        }
    }
    begin.push(i as u32);
    if i == upper.len() { Ok(begin) } else { Err(bug()) }
}

fn bug() -> Error {
    Error::op("lm estimate", "a bug in weft: an n-gram without its context")
}

/// Rewrites the rows of all orders: probability and weight for the count, `DROPPED` where they are pruned.
/// Gives, for every order but the highest, the weights of its rows as contexts.
pub fn normalise(levels: &mut [Vec<u32>], discounts: &[Discount], pruning: bool) -> Result<Vec<Vec<f32>>> {
    let mut weights = vec![];
    // Above the words is one node, the empty context.
    let mut contexts = vec![0u32; levels[0].len() / 3];
    let mut begins = vec![0, contexts.len() as u32];
    weigh(&mut levels[0], 1, &contexts, 1, &discounts[0], pruning);
    for k in 2..=levels.len() {
        let (below, rest) = levels.split_at_mut(k - 1);
        let (lower, upper) = (Level { rows: &below[k - 2], words: k - 1 }, Level { rows: &rest[0], words: k });
        let kids = children(&upper, &lower)?;
        let found = find_all(&upper, &lower, &contexts, &begins, &kids)?;
        let nodes = lower.len();
        weights.push(weigh(&mut rest[0], k, &found, nodes, &discounts[k - 1], pruning));
        (contexts, begins) = (found, kids);
    }
    Ok(weights)
}

/// The contexts of all rows of `upper`: rows of `lower`. `contexts` are those of `lower` and `begins` where their
/// children begin; `kids` is where the children of `lower` begin.
fn find_all(upper: &Level, lower: &Level, contexts: &[u32], begins: &[u32], kids: &[u32]) -> Result<Vec<u32>> {
    let mut found = vec![0u32; upper.len()];
    let mut tasks = vec![];
    let mut rest = &mut found[..];
    for from in (0..lower.len()).step_by(TASK) {
        let to = (from + TASK).min(lower.len());
        let (mine, others) = rest.split_at_mut((kids[to] - kids[from]) as usize);
        tasks.push((from..to, mine));
        rest = others;
    }
    tasks.into_par_iter().try_for_each(|(parents, out)| {
        let first = kids[parents.start];
        for p in parents {
            let node = contexts[p] as usize;
            let (mut low, high) = (begins[node] as usize, begins[node + 1] as usize);
            for i in kids[p]..kids[p + 1] {
                low = lower.find(upper.first(i as usize), low, high).ok_or_else(bug)?;
                out[(i - first) as usize] = low as u32;
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Sums up the counts in every context and rewrites the rows; the weights of the contexts.
fn weigh(rows: &mut [u32], k: usize, contexts: &[u32], nodes: usize, discount: &Discount, pruning: bool) -> Vec<f32> {
    let width = k + 2;
    let mut sums = vec![Sum::default(); nodes];
    let mut pruned = vec![0u64; if pruning { nodes } else { 0 }];
    for (row, &context) in rows.chunks_exact(width).zip(contexts) {
        let count = records::count(&row[k..]);
        sums[context as usize].add(count);
        if count & PRUNED != 0 {
            pruned[context as usize] += count & !PRUNED;
        }
    }
    let context = |i: u32| {
        let i = i as usize;
        Context::new(&sums[i], pruned.get(i).copied().unwrap_or(0), discount)
    };
    rows.par_chunks_mut(width * TASK).zip(contexts.par_chunks(TASK)).for_each(|(rows, contexts)| {
        for (row, &i) in rows.chunks_exact_mut(width).zip(contexts) {
            if !context(i).put(&mut row[k..], discount) {
                row[k + 1] = DROPPED;
            }
        }
    });
    if k == 1 {
        return vec![];
    }
    (0..nodes as u32)
        .into_par_iter()
        .map(|i| if sums[i as usize].is_empty() { NO_CONTEXT } else { context(i).weight })
        .collect()
}
