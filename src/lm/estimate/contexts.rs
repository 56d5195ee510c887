//! Normalises all orders in memory, without sorting: finds for every n-gram its context in the order below.
//!
//! In suffix order the n-grams that end in the same (n-1)-gram are together: the orders are the levels of a tree in which
//! the parent of `w_1 ... w_n` is `w_2 ... w_n`. The context `w_1 ... w_{n-1}` is the child by `w_1` of the parent's
//! context `w_2 ... w_{n-1}`. So contexts are found level by level, by a search among the children of one node, in
//! parallel; children are in the order of `w_1`, and the search goes on where it ended for the child before.
//!
//! Time: linear but for the searches. Memory besides the rows: 4 bytes an n-gram of three orders, and 20 or 28
//! bytes each for some millions of contexts.

use rayon::prelude::*;

use super::discount::Discount;
use super::interpolate::NO_CONTEXT;
use super::normalise::{Context, Sum};
use super::records::{self, DROPPED, PRUNED};
use crate::error::{Error, Result};

/// Parents a task.
const TASK: usize = 1 << 12;

/// Contexts whose sums are made at a time.
const RANGE: usize = 1 << 21;

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
    normalise_by(levels, discounts, pruning, RANGE)
}

/// As `normalise`, with the sums of `range` contexts at a time.
fn normalise_by(levels: &mut [Vec<u32>], discounts: &[Discount], pruning: bool, range: usize) -> Result<Vec<Vec<f32>>> {
    let weigh = |rows: &mut [u32], k: usize, contexts: &[u32], nodes| {
        let mut sums = Sums::new(nodes, range, pruning);
        sums.weigh(rows, k, contexts, &discounts[k - 1])
    };
    let mut weights = vec![];
    // Above the words is one node, the empty context.
    let mut contexts = vec![0u32; levels[0].len() / 3];
    let mut begins = vec![0, contexts.len() as u32];
    weigh(&mut levels[0], 1, &contexts, 1);
    for k in 2..=levels.len() {
        let (below, rest) = levels.split_at_mut(k - 1);
        let (lower, upper) = (Level { rows: &below[k - 2], words: k - 1 }, Level { rows: &rest[0], words: k });
        let kids = children(&upper, &lower)?;
        let found = find_all(&upper, &lower, &contexts, &begins, &kids)?;
        let nodes = lower.len();
        // The old ones go before the sums come.
        (contexts, begins) = (found, kids);
        weights.push(weigh(&mut rest[0], k, &contexts, nodes));
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

/// The sums of some contexts at a time: they stay small, and what is read in no order stays near.
struct Sums {
    nodes: usize,
    range: usize,
    sums: Vec<Sum>,
    /// Empty if nothing is pruned.
    pruned: Vec<u64>,
}

impl Sums {
    fn new(nodes: usize, range: usize, pruning: bool) -> Self {
        let size = nodes.min(range);
        Sums { nodes, range, sums: vec![Sum::default(); size], pruned: vec![0; if pruning { size } else { 0 }] }
    }

    /// Sums up the counts in every context and rewrites the rows; the weights of the contexts.
    fn weigh(&mut self, rows: &mut [u32], k: usize, contexts: &[u32], discount: &Discount) -> Vec<f32> {
        let width = k + 2;
        let mut weights = Vec::with_capacity(if k > 1 { self.nodes } else { 0 });
        for from in (0..self.nodes).step_by(self.range) {
            // The number among these contexts, or one that is too large.
            let mine = |context: u32| (context as usize).wrapping_sub(from);
            self.sums.fill(Sum::default());
            self.pruned.fill(0);
            for (row, &context) in rows.chunks_exact(width).zip(contexts) {
                self.add(mine(context), &row[k..]);
            }
            rows.par_chunks_mut(width * TASK).zip(contexts.par_chunks(TASK)).for_each(|(rows, contexts)| {
                for (row, &context) in rows.chunks_exact_mut(width).zip(contexts) {
                    if let Some(context) = self.context(mine(context), discount)
                        && !context.put(&mut row[k..], discount)
                    {
                        row[k + 1] = DROPPED;
                    }
                }
            });
            if k > 1 {
                let here = self.range.min(self.nodes - from);
                weights.extend((0..here).map(|i| match self.context(i, discount) {
                    Some(context) if !self.sums[i].is_empty() => context.weight,
                    _ => NO_CONTEXT,
                }));
            }
        }
        weights
    }

    #[inline]
    fn add(&mut self, i: usize, count: &[u32]) {
        if let Some(sum) = self.sums.get_mut(i) {
            let count = records::count(count);
            sum.add(count);
            if count & PRUNED != 0 {
                self.pruned[i] += count & !PRUNED;
            }
        }
    }

    #[inline]
    fn context(&self, i: usize, discount: &Discount) -> Option<Context> {
        let pruned = self.pruned.get(i).copied().unwrap_or(0);
        Some(Context::new(self.sums.get(i)?, pruned, discount))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn the_same_for_any_number_of_contexts_at_a_time() {
        let mut rng = SmallRng::seed_from_u64(3);
        let text: Vec<u32> = (0..600).map(|_| rng.random_range(1..9)).collect();
        let mut levels = vec![];
        for k in 1..=3 {
            let mut grams = BTreeMap::new();
            // The first ones are there without a context, as after `<s>`.
            for end in 0..text.len() {
                let gram: Vec<u32> = (0..k).map(|i| if i <= end { text[end - i] } else { 0 }).collect();
                if gram.iter().rev().skip(1).all(|&w| w != 0) {
                    *grams.entry(gram).or_insert(0u64) += 1;
                }
            }
            if k == 1 {
                grams.insert(vec![0], 0);
            }
            let mark = |c: u64| if c == 1 && k == 3 { c | PRUNED } else { c };
            let row = |(gram, c): (&Vec<u32>, &u64)| [&gram[..], &[mark(*c) as u32, (mark(*c) >> 32) as u32]].concat();
            levels.push(grams.iter().flat_map(row).collect::<Vec<u32>>());
        }
        let discounts = [Discount::default(); 3];
        let mut expected = levels.clone();
        let weights = normalise(&mut expected, &discounts, true).unwrap();
        assert!(weights[1].iter().all(|w| (0.0..=1.0).contains(w) || *w == NO_CONTEXT));
        for range in [1, 3, 8, 64] {
            let mut ours = levels.clone();
            assert_eq!(normalise_by(&mut ours, &discounts, true, range).unwrap(), weights);
            assert_eq!(ours, expected);
        }
    }
}
