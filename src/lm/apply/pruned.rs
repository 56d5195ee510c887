//! Composition that builds only what the beam keeps.
//!
//! A look-ahead h bounds from below what it costs to get from a lattice state to the end: the lattice's own backward costs
//! with every word at the least that the models ever charge for it. Pairs are expanded in order of g + h, g the exact cost
//! from the start; since h is consistent, g is final when a pair's turn comes, the first end that is reached is the best,
//! and the search stops when g + h leaves the beam around it (A*, Hart et al. 1968). What is left are all pairs and arcs
//! that a path within the beam can use, and few others; the ordinary pruning then cuts it to exactly what pruning the
//! whole composition would keep. Rounding in the lattice's weights is covered by a margin, not hoped away.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::OP;
use super::labels::NO_WORD;
use super::product::Product;
use super::scorer::Scorer;
use crate::error::{Error, Result};
use crate::fst::flat::StateId;
use crate::fst::semiring::Weight;
use crate::fst::visit::Incoming;

/// Expands what a beam needs. `acyclic`: the product's order is a topological one.
pub fn best_first<W: Weight, S: Scorer>(
    product: &mut Product<W>,
    scorer: &mut S,
    acyclic: bool,
    beam: f64,
) -> Result<()> {
    let ahead = look_ahead(product, scorer, acyclic)?;
    let largest = ahead.iter().filter(|h| h.is_finite()).fold(0.0f64, |m, h| m.max(h.abs()));
    // Sums of the lattice's floats go wrong by at most half a unit in the last place an arc.
    let arcs = 2 * product.lattice.num_states() + 4;
    let margin = |best: f64| arcs as f64 * (best.abs() + beam + largest) * f32::EPSILON as f64;
    let start = product.start(scorer);
    let mut cost = vec![0.0f64];
    let mut done = vec![false];
    let mut heap = BinaryHeap::from([Reverse((Cost(ahead[product.lattice.start() as usize]), start))]);
    let mut limit = f64::INFINITY;
    let mut ways: Vec<(f64, u32)> = vec![];
    while let Some(Reverse((f, number))) = heap.pop() {
        if f.0 > limit {
            break;
        }
        if std::mem::replace(&mut done[number as usize], true) {
            continue;
        }
        product.prefetch(number, scorer);
        let from = cost[number as usize];
        ways.clear();
        let end = from + product.expand(number, scorer, |c, to| ways.push((from + c, to)))?;
        cost.resize(product.table.len(), f64::INFINITY);
        done.resize(product.table.len(), false);
        if end.is_finite() {
            limit = limit.min(end + beam + margin(end));
        }
        for &(via, to) in &ways {
            let f = via + ahead[product.pair(to).0 as usize];
            // Not smaller: there is a turn for it already. Infinite: no path, but pruning is to say so.
            let better = via < cost[to as usize] || (via == f64::INFINITY && !done[to as usize]);
            if better && f <= limit {
                cost[to as usize] = via;
                if !done[to as usize] {
                    heap.push(Reverse((Cost(f), to)));
                }
            }
        }
    }
    Ok(())
}

/// Costs in their order; none is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost(pub f64);

impl Eq for Cost {}
impl Ord for Cost {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// For every lattice state, the least that any path to an end costs; −∞ if a model sets no bound.
fn look_ahead<W: Weight, S: Scorer>(product: &Product<W>, scorer: &S, acyclic: bool) -> Result<Vec<f64>> {
    let lattice = product.lattice;
    let least_end = scorer.least_end();
    let least: Vec<f64> = (0..product.labels.kinds.len() as u32).map(|w| scorer.least(w)).map(no_nan).collect();
    let arc_cost = |i: usize| {
        let own = lattice.all_arcs()[i].weight.to_f64();
        match product.labels.of_arc[i] {
            NO_WORD => own,
            word => no_nan(own + least[word as usize]),
        }
    };
    let at_end = |s: StateId| {
        let own = lattice.final_weight(s);
        if own.is_zero_w() { f64::INFINITY } else { no_nan(own.to_f64() + least_end) }
    };
    let mut ahead: Vec<f64> = lattice.states().map(at_end).collect();
    if acyclic {
        for &s in product.order.iter().rev() {
            for i in lattice.range(s) {
                let via = no_nan(arc_cost(i) + ahead[lattice.all_arcs()[i].nextstate as usize]);
                if via < ahead[s as usize] {
                    ahead[s as usize] = via;
                }
            }
        }
        return Ok(ahead);
    }
    let incoming = Incoming::new(lattice);
    let mut queue: VecDeque<StateId> = lattice.states().filter(|&s| lattice.is_final(s)).collect();
    let mut queued: Vec<bool> = lattice.states().map(|s| lattice.is_final(s)).collect();
    let mut turns = vec![0u32; lattice.num_states()];
    while let Some(t) = queue.pop_front() {
        queued[t as usize] = false;
        turns[t as usize] += 1;
        if turns[t as usize] as usize > lattice.num_states() + 1 {
            return Err(Error::op(
                OP,
                format!(
                    "a cycle of the lattice through state {t} may cost less than nothing, so that no path is the best; \
                     apply the models without --prune"
                ),
            ));
        }
        for &i in incoming.of(t) {
            let s = incoming.sources[i as usize];
            let via = no_nan(arc_cost(i as usize) + ahead[t as usize]);
            if via < ahead[s as usize] {
                ahead[s as usize] = via;
                if !std::mem::replace(&mut queued[s as usize], true) {
                    queue.push_back(s);
                }
            }
        }
    }
    Ok(ahead)
}

/// ∞ − ∞ comes from a model that sets no bound: then there is none.
fn no_nan(cost: f64) -> f64 {
    if cost.is_nan() { f64::NEG_INFINITY } else { cost }
}
