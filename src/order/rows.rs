//! Hypotheses of a search for the order of a bag: rows while they are open, and what is left of them.
//!
//! An open row finds a hypothesis by its set of tokens and its states in a hash table, and keeps the ways to each as a list of
//! arcs. A row that grows too large is cut to its best (`shrink`). What is finished is flat: nodes, and arcs side by side.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use crate::chart::bag::{Cover, PhraseTrie, Type};

/// No hypothesis, no arc.
pub const NONE: u32 = u32::MAX;

/// A hypothesis that is finished.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The models' state.
    pub models: u32,
    /// The least cost to get here.
    pub cost: f64,
    /// The arcs that lead here, the best first.
    pub arcs: (u32, u32),
}

/// A phrase that leads to a hypothesis.
#[derive(Clone, Copy, Debug)]
pub struct Back {
    pub from: u32,
    /// The node of the trie where the phrase ends.
    pub phrase: u32,
    /// Words of the phrase that were there already.
    pub shared: u32,
    /// While the row is open: the next arc to the same hypothesis.
    pub(super) next: u32,
    /// What it costs to get to the hypothesis this way.
    pub cost: f64,
}

/// All hypotheses, row by row; arcs lead from earlier rows to later ones.
#[derive(Debug, Default)]
pub struct Searched {
    pub nodes: Vec<Node>,
    pub arcs: Vec<Back>,
    /// Hypotheses with all tokens, with what it costs to end there.
    pub goals: Vec<(u32, f64)>,
    /// Something was left out.
    pub pruned: bool,
    /// Cells that were not empty.
    pub cells: usize,
    /// Phrases that were tried.
    pub tried: u64,
}

pub(super) struct Open<const W: usize> {
    pub cover: Cover<W>,
    pub models: u32,
    /// The last words, if phrases may share them.
    pub context: u32,
    /// The last word of one way to get here.
    pub last: Type,
    pub arcs: u32,
    pub cost: f64,
    /// What the words that are not there are expected to cost, whatever is before them.
    pub least: f64,
    /// The same, or closer.
    pub rest: f64,
}

impl<const W: usize> Open<W> {
    pub fn judged(&self) -> f64 {
        self.cost + self.rest
    }
    /// The better first; of equals, one that does not depend on which was found first.
    pub fn order(&self, other: &Self) -> Ordering {
        let same = || (self.cover, self.key()).cmp(&(other.cover, other.key()));
        self.judged().total_cmp(&other.judged()).then_with(same)
    }
    pub fn key(&self) -> u64 {
        (self.models as u64) << 32 | self.context as u64
    }
}

pub(super) struct Row<const W: usize> {
    pub nodes: Vec<Open<W>>,
    pub table: HashTable<u32>,
    pub arcs: Vec<Back>,
    pub best: f64,
    /// Nothing worse than this is taken.
    pub cutoff: f64,
}

impl<const W: usize> Default for Row<W> {
    fn default() -> Self {
        Row { nodes: vec![], table: HashTable::new(), arcs: vec![], best: f64::INFINITY, cutoff: f64::INFINITY }
    }
}
/// The hypotheses of a row by the models' states: groups in the order of their best, each the best first.
pub(super) fn by_state<const W: usize>(row: &[Open<W>]) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = vec![];
    let mut table: HashMap<u64, usize, FxBuildHasher> = HashMap::default();
    for (i, node) in row.iter().enumerate() {
        let group = *table.entry(node.key()).or_insert_with(|| {
            groups.push(vec![]);
            groups.len() - 1
        });
        groups[group].push(i as u32);
    }
    groups
}
/// The hash of the table wants its upper bits filled.
#[inline(always)]
pub(super) fn spread(hash: u64) -> u64 {
    hash ^ hash.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<const W: usize> Row<W> {
    /// Keeps the best hypotheses, and of their arcs those that are not much worse; nothing worse is taken from now on.
    pub fn shrink(&mut self, most: usize) {
        if self.nodes.len() > most {
            // Many may cost the same: so many stay all the same, or the next one would be too many again.
            let (_, last, _) = self.nodes.select_nth_unstable_by(most - 1, Open::order);
            self.cutoff = self.cutoff.min(last.judged());
            self.nodes.truncate(most);
        }
        let cutoff = self.cutoff;
        self.nodes.retain(|n| n.judged() <= cutoff);
        let mut arcs = vec![];
        let mut some = vec![];
        for node in &mut self.nodes {
            some.clear();
            let mut at = std::mem::replace(&mut node.arcs, NONE);
            while at != NONE {
                let arc = self.arcs[at as usize];
                at = arc.next;
                if arc.cost + node.rest <= cutoff {
                    some.push(arc);
                }
            }
            // Of many ways to one hypothesis the best few are enough when there is no room for all.
            some.sort_by(|a: &Back, b| a.cost.total_cmp(&b.cost).then((a.from, a.phrase).cmp(&(b.from, b.phrase))));
            some.truncate(8);
            for arc in some.iter().rev() {
                let next = std::mem::replace(&mut node.arcs, arcs.len() as u32);
                arcs.push(Back { next, ..*arc });
            }
        }
        self.arcs = arcs;
        self.table.clear();
        let nodes = &self.nodes;
        let hash = |i: &u32| {
            let n = &nodes[*i as usize];
            spread(n.cover.hash_with(n.key()))
        };
        for i in 0..nodes.len() as u32 {
            self.table.insert_unique(hash(&i), i, hash);
        }
    }
}

impl Searched {
    /// The hypothesis with all tokens that costs least, with its cost.
    pub fn best(&self) -> Option<(u32, f64)> {
        let total = |&(n, end): &(u32, f64)| (n, self.nodes[n as usize].cost + end);
        self.goals.iter().map(total).min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
    }

    /// The words of the best way to a hypothesis.
    pub fn words(&self, trie: &PhraseTrie, mut node: u32) -> Vec<Type> {
        let mut phrases = vec![];
        loop {
            let (from, to) = self.nodes[node as usize].arcs;
            if from == to {
                break;
            }
            let arc = self.arcs[from as usize];
            phrases.push((arc.phrase, arc.shared));
            node = arc.from;
        }
        let mut words = vec![];
        for &(phrase, shared) in phrases.iter().rev() {
            words.extend_from_slice(&trie.words(phrase)[shared as usize..]);
        }
        words
    }
}
