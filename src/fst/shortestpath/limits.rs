//! What a search for the n best need not look at: places it has been at n times, and costs above the n-th best known.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::entry::Entry;
use crate::fst::flat::StateId;

/// How often the search has been at the same place: the same state or, where a node is a string, the same states with the
/// same differences of cost. From there on all goes the same way. The first n of a place give n results that are no worse
/// and no later than those of any other, so the others need not be looked at.
pub(super) struct Visits {
    most: usize,
    states: Vec<usize>,
    /// For nodes of several states, epsilons not followed yet.
    sets: Sets,
    /// The same with all that epsilons lead back to: many nodes may lead to the same.
    whole: Sets,
}

/// How often every set of states was there, each state with the bits of how much more it costs than the first, by number.
type Sets = hashbrown::HashMap<Box<[(StateId, u64)]>, usize, rustc_hash::FxBuildHasher>;

impl Visits {
    pub fn new(most: usize, states: usize) -> Self {
        Visits { most, states: vec![0; states], sets: Sets::default(), whole: Sets::default() }
    }
    /// Counts a visit; false if there were enough.
    pub fn count(&mut self, node: &[Entry]) -> bool {
        let times = match node {
            [single] => &mut self.states[single.state as usize],
            _ => self.sets.entry(set(node.iter())).or_default(),
        };
        *times += 1;
        *times <= self.most
    }
    /// The same for a node whose epsilons have been followed.
    pub fn count_whole<'a>(&mut self, node: impl Iterator<Item = &'a Entry>) -> bool {
        let times = self.whole.entry(set(node)).or_default();
        *times += 1;
        *times <= self.most
    }
    pub fn enough(&self, state: StateId) -> bool {
        self.states[state as usize] >= self.most
    }
}

fn set<'a>(node: impl Iterator<Item = &'a Entry>) -> Box<[(StateId, u64)]> {
    let mut key: Box<[(StateId, u64)]> = node.map(|e| (e.state, e.cost.to_bits())).collect();
    key.sort_unstable();
    let first = key.first().map_or(0.0, |e| f64::from_bits(e.1));
    key.iter_mut().for_each(|e| e.1 = (f64::from_bits(e.1) - first).to_bits());
    key
}

/// The n-th best cost there can be. Whatever waits or is complete leads to a string or path of its own, at exactly its
/// cost; once n of them are known, nothing worse than the n-th needs to be kept.
pub(super) struct Bound {
    most: usize,
    /// The n least costs so far, the largest on top.
    least: BinaryHeap<Cost>,
    /// Nothing above this need be kept.
    pub limit: f64,
    /// The cost of the node being expanded, until the child that inherits it is seen: both are one result.
    pub inherited: Option<f64>,
}

struct Cost(f64);

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
impl PartialEq for Cost {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Cost {}

impl Bound {
    /// For the `most` best; 0: for all.
    pub fn new(most: usize) -> Self {
        Bound { most, least: BinaryHeap::new(), limit: f64::INFINITY, inherited: None }
    }
    /// Sums made in another order differ in their last digits.
    fn about(cost: f64) -> f64 {
        cost + 1e-9 * (1.0 + cost.abs())
    }
    pub fn count(&mut self, cost: f64) {
        if self.inherited.is_some_and(|c| cost <= Self::about(c)) {
            self.inherited = None;
            return;
        }
        if self.most == 0 {
            return;
        }
        if self.least.len() < self.most {
            self.least.push(Cost(cost));
        } else if let Some(mut top) = self.least.peek_mut()
            && cost < top.0
        {
            *top = Cost(cost);
        }
        if self.least.len() == self.most
            && let Some(top) = self.least.peek()
        {
            self.limit = Self::about(top.0);
        }
    }
}
