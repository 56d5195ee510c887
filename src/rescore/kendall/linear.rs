//! The best of all orders: a linear ordering problem, maximise the sum over i before j of P(i before j).
//!
//! An arc from i to j where i is rather before j than after makes a graph; between its strongly connected components every
//! pair can have its better order at once, so the components are ordered by themselves (petgraph). Inside a component
//! of m words: up to 20, dynamic programming over sets, O(m 2^m); beyond, branch and bound (`branch`), which has a limit and
//! says whether its answer is proven. Samples that agree more or less have small components. Of equal orders the one with
//! the lower words first is taken, where sets are enumerated.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::branch;
use super::{Answer, Pairs};

/// Words of a component whose sets are all looked at.
const MOST_SETS: usize = 20;

/// The best order of all words. `limit` is on the steps of branch and bound, for all components together.
pub fn best(pairs: &Pairs, limit: u64) -> Answer {
    let mut order: Vec<u32> = Vec::with_capacity(pairs.len());
    let mut left = limit;
    // How much more there might be to gain, over the components whose order is not proven.
    let mut slack = 0.0;
    for component in components(pairs) {
        if component.len() <= MOST_SETS {
            order.extend(by_sets(pairs, &component));
        } else {
            let found = branch::search(&differences(pairs, &component), left);
            left -= found.steps.min(left);
            slack += found.loss - found.least;
            order.extend(found.order.iter().map(|&i| component[i]));
        }
    }
    let bound = (slack > 0.0).then(|| pairs.gain(&order) + slack);
    pairs.answer(order, bound)
}

/// The strongly connected components, each in ascending order, in an order that gives every pair across its better side; of
/// those that may come next, the one with the lowest word.
fn components(pairs: &Pairs) -> Vec<Vec<u32>> {
    let n = pairs.len();
    let rather = |i: usize, j: usize| pairs.before(i, j) > pairs.before(j, i);
    let mut graph = DiGraph::<(), ()>::with_capacity(n, n * n.saturating_sub(1) / 2);
    (0..n).for_each(|_| {
        graph.add_node(());
    });
    for i in 0..n {
        for j in (0..n).filter(|&j| rather(i, j)) {
            graph.add_edge(NodeIndex::new(i), NodeIndex::new(j), ());
        }
    }
    let mut found: Vec<Vec<u32>> =
        tarjan_scc(&graph).into_iter().map(|c| c.into_iter().map(|v| v.index() as u32).collect()).collect();
    let mut of = vec![0; n];
    for (c, words) in found.iter_mut().enumerate() {
        words.sort_unstable();
        words.iter().for_each(|&w| of[w as usize] = c);
    }
    let mut waits = vec![0usize; found.len()];
    let across = |e: &petgraph::graph::Edge<()>| (of[e.source().index()], of[e.target().index()]);
    for (_, to) in graph.raw_edges().iter().map(across).filter(|(a, b)| a != b) {
        waits[to] += 1;
    }
    let mut ready: BinaryHeap<Reverse<(u32, usize)>> =
        (0..found.len()).filter(|&c| waits[c] == 0).map(|c| Reverse((found[c][0], c))).collect();
    let mut sorted = Vec::with_capacity(found.len());
    while let Some(Reverse((_, c))) = ready.pop() {
        let words = std::mem::take(&mut found[c]);
        for to in words.iter().flat_map(|&w| graph.neighbors(NodeIndex::new(w as usize))).map(|v| of[v.index()]) {
            if to != c {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.push(Reverse((found[to][0], to)));
                }
            }
        }
        sorted.push(words);
    }
    sorted
}

/// How much rather i is before j than after, for the words of a component: `[i * m + j]`.
fn differences(pairs: &Pairs, words: &[u32]) -> Vec<f64> {
    let at = |i: u32, j: u32| pairs.before(i as usize, j as usize) - pairs.before(j as usize, i as usize);
    words.iter().flat_map(|&i| words.iter().map(move |&j| at(i, j))).collect()
}

/// The best order of a few words: for every set that may come first, the best gain of what comes after it.
fn by_sets(pairs: &Pairs, words: &[u32]) -> Vec<u32> {
    let m = words.len();
    if m < 2 {
        return words.to_vec();
    }
    // The gain of word j after a set is a sum over its low and over its high half, both looked up.
    let low = m / 2;
    let (low_sets, high_sets) = (1usize << low, 1usize << (m - low));
    let sums = |from: usize, sets: usize| {
        let mut table = vec![0.0; m * sets];
        for (j, row) in table.chunks_exact_mut(sets).enumerate() {
            for set in 1..sets {
                let first = set.trailing_zeros() as usize;
                let i = words[from + first] as usize;
                row[set] = row[set & (set - 1)] + pairs.before(i, words[j] as usize);
            }
        }
        table
    };
    let (lows, highs) = (sums(0, low_sets), sums(low, high_sets));
    let gain = |set: usize, j: usize| lows[j * low_sets + (set & (low_sets - 1))] + highs[j * high_sets + (set >> low)];
    let full = (1usize << m) - 1;
    let mut best = vec![0.0; full + 1];
    for set in (0..full).rev() {
        let mut most = f64::NEG_INFINITY;
        let mut left = full & !set;
        while left != 0 {
            let j = left.trailing_zeros() as usize;
            left &= left - 1;
            most = most.max(gain(set, j) + best[set | 1 << j]);
        }
        best[set] = most;
    }
    let mut order = Vec::with_capacity(m);
    let mut set = 0usize;
    while set != full {
        let next = |j: &usize| set >> j & 1 == 0 && gain(set, *j) + best[set | 1 << j] == best[set];
        let Some(j) = (0..m).find(next) else { break };
        order.push(words[j]);
        set |= 1 << j;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(orders: &[(f64, &[u32])]) -> Pairs {
        let mut p = Pairs::new(orders[0].1.len());
        orders.iter().for_each(|(w, o)| p.add(o, *w));
        p
    }

    #[test]
    fn a_cycle_of_three_and_words_that_all_agree_about() {
        // 0 < 1 < 2 < 0 by two thirds each, 3 always first and 4 always last.
        let p = pairs(&[(1.0, &[3, 0, 1, 2, 4]), (1.0, &[3, 1, 2, 0, 4]), (1.0, &[3, 2, 0, 1, 4])]);
        assert_eq!(components(&p), [vec![3], vec![0, 1, 2], vec![4]]);
        let a = best(&p, 0);
        assert_eq!(a.order, [3, 0, 1, 2, 4]);
        assert_eq!(a.gain, 7.0 + 5.0 / 3.0);
        assert!(a.proven);
    }

    #[test]
    fn all_sets_and_branch_and_bound_agree() {
        use rand::{SeedableRng, rngs::SmallRng, seq::SliceRandom};
        for seed in 0..12 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let mut order: Vec<u32> = (0..8 + seed as u32 % 5).collect();
            let mut p = Pairs::new(order.len());
            for weight in 1..6 {
                order.shuffle(&mut rng);
                p.add(&order, weight as f64);
            }
            let words: Vec<u32> = (0..order.len() as u32).collect();
            let by_sets = by_sets(&p, &words);
            let found = branch::search(&differences(&p, &words), 1 << 40);
            assert_eq!(found.loss, found.least, "seed {seed}");
            let by_branch: Vec<u32> = found.order.iter().map(|&i| i as u32).collect();
            assert_eq!(p.gain(&by_sets), p.gain(&by_branch), "seed {seed}");
            assert_eq!(p.gain(&by_sets) / p.total, best(&p, 0).gain, "seed {seed}");
        }
    }

    #[test]
    fn ties_are_in_ascending_order() {
        let p = pairs(&[(1.0, &[0, 1, 2, 3]), (1.0, &[3, 2, 1, 0])]);
        assert_eq!(best(&p, 0).order, [0, 1, 2, 3]);
        assert_eq!(best(&Pairs { total: 1.0, ..Pairs::new(0) }, 0).order, [0u32; 0]);
    }
}
