//! What can be said next: the phrases that may follow a state of the models, by length, the promising ones first.
//!
//! Hypotheses of a row have many different sets of tokens behind them, but few different states of the models: those that
//! share a state share what every phrase costs after it. So the models are asked once for a state, and the answers are
//! sorted by how much dearer a phrase is than its words are expected to be. A hypothesis goes through them until the next
//! would be worse than what the row it leads to still takes; all that follow are worse, too, and are not looked at.
//!
//! A list costs a model step for every node of the trie and sorting; the last lists are kept, 24 bytes a phrase.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::future::Expected;
use crate::chart::bag::{Bag, Cover, NO_PHRASE, PhraseTrie, Type};

/// Phrases of all lists that are kept, at most.
const KEPT: usize = 1 << 21;

/// The new words of a phrase: all of them, or those after the first `shared`.
#[derive(Clone, Copy, Debug)]
pub struct Tail<const W: usize> {
    pub cover: Cover<W>,
    /// What they are expected to cost.
    pub least: f64,
    /// The node of the trie where the phrase ends.
    pub trie: u32,
    pub new: u32,
}

/// A phrase after a state.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// How much it costs more than its words are expected to.
    pub excess: f64,
    /// What its words cost, and its rule.
    pub cost: f64,
    pub tail: u32,
    /// The state after it.
    pub models: u32,
}

/// Places of the lists of a state.
#[derive(Clone, Debug)]
pub struct List {
    /// By the number of new words, from 1: where the phrases begin; one more at the end.
    firsts: Vec<u32>,
}

impl List {
    /// Where the phrases of `new` new words are, from 1.
    pub fn of(&self, new: usize) -> std::ops::Range<usize> {
        self.firsts[new - 1] as usize..self.firsts[new] as usize
    }
}

pub struct Extensions<const W: usize> {
    /// By node of the trie and number of shared words.
    pub tails: Vec<Tail<W>>,
    /// Numbers of shared words, 0 among them.
    ways: usize,
    longest: usize,
    lists: HashMap<u64, List, FxBuildHasher>,
    pub all: Vec<Extension>,
}

impl<const W: usize> Extensions<W> {
    /// `overlap`: words that a phrase may share with what is before it.
    pub fn new(bag: &Bag, trie: &PhraseTrie, expected: &Expected, overlap: usize) -> Self {
        let ways = overlap + 1;
        let mut tails = Vec::with_capacity(trie.nodes.len() * ways);
        for n in 0..trie.nodes.len() as u32 {
            let words = trie.words(n);
            for shared in 0..ways {
                let new: &[Type] = words.get(shared..).unwrap_or(&[]);
                let least = new.iter().map(|&w| expected.least[w as usize]).sum();
                // Phrases that a bag has too few tokens for are in no list.
                let cover = bag.cover(new).unwrap_or(Cover::EMPTY);
                tails.push(Tail { cover, least, trie: n, new: new.len() as u32 });
            }
        }
        Extensions { tails, ways, longest: trie.longest(), lists: HashMap::default(), all: vec![] }
    }

    /// New words at most.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The list of a hypothesis' state. If it is not there, it is made: phrases are walked through from `roots`, nodes of
    /// the trie where some shared words lead, with the words' costs by `step`.
    pub fn list(
        &mut self,
        key: u64,
        models: u32,
        roots: &[(u32, u32)],
        bag: &Bag,
        trie: &PhraseTrie,
        mut step: impl FnMut(u32, Type) -> (u32, f64),
    ) -> List {
        if let Some(list) = self.lists.get(&key) {
            return list.clone();
        }
        if self.all.len() >= KEPT {
            self.lists.clear();
            self.all.clear();
        }
        let from = self.all.len();
        let mut stack: Vec<(u32, u32, u32, f64, Cover<W>)> =
            roots.iter().map(|&(root, shared)| (root, shared, models, 0.0, Cover::EMPTY)).collect();
        while let Some((node, shared, models, cost, cover)) = stack.pop() {
            for c in trie.node(node).children.clone() {
                let child = trie.node(c);
                let Some(cover) = bag.with(&cover, child.word) else { continue };
                let (models, more) = step(models, child.word);
                let cost = cost + more;
                if child.phrase != NO_PHRASE {
                    let tail = c as usize * self.ways + shared as usize;
                    let cost = cost + child.cost;
                    let excess = cost - self.tails[tail].least;
                    self.all.push(Extension { excess, cost, tail: tail as u32, models });
                }
                if !child.children.is_empty() {
                    stack.push((c, shared, models, cost, cover));
                }
            }
        }
        let tails = &self.tails;
        let new = |e: &Extension| tails[e.tail as usize].new;
        self.all[from..].sort_unstable_by(|a, b| {
            (new(a).cmp(&new(b))).then(a.excess.total_cmp(&b.excess)).then(a.tail.cmp(&b.tail))
        });
        let first = |n: u32| (from + self.all[from..].partition_point(|e| new(e) < n)) as u32;
        let list = List { firsts: (1..=self.longest as u32 + 1).map(first).collect() };
        self.lists.insert(key, list.clone());
        list
    }
}
