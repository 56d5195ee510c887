//! The search row by row: sets of tokens with the models' states, longer by a phrase at a time.
//!
//! The grammar of a bag is left-branching, I(A ∪ B) → I(A) u with u a phrase of the tokens B, so that a cell of a row is
//! what the first words of a sentence can be. A hypothesis is a cell and the models' state after its words; those that
//! share both are one, with an arc for every way to get there. Rows are finished in order: from row `row` on, what is worse
//! than the best of the row by more than `beam` goes (function PRUNE-ROW, Figure 4 of de Gispert et al. 2014, without
//! making the union of the row), and in any row what is not among the best `most`. With a beam without end nothing goes,
//! and the result is that of the full expansion composed with the models.
//!
//! Hypotheses of a row have different words behind them. Each is judged with what the words it still lacks are expected to
//! cost (`future`), so that it is no gain to say the cheap words first; this estimate is for pruning only.
//!
//! A cost that depends on which words come before which is a cost of a cell and the next word: all words that the cell lacks
//! come later.
//!
//! Costs a model step for every phrase beginning that fits, a look-up for every phrase, 56 bytes a hypothesis of the rows
//! ahead, 24 bytes an arc.

use hashbrown::HashTable;

use super::future::Expected;
use super::tiling::Tiling;
use crate::chart::bag::{Bag, Cover, NO_PHRASE, PhraseTrie, Type};
use crate::error::{Error, Result};
use crate::fst::statetable::StateTable;
use crate::lm::apply::scorer::Scorer;

#[derive(Clone, Copy, Debug)]
pub struct SearchConfig {
    /// The first row that the beam is for.
    pub row: usize,
    /// How much worse than the best of its row a hypothesis may be.
    pub beam: f64,
    /// Hypotheses that a row keeps at most.
    pub most: usize,
    /// Every arc is kept, not only the best.
    pub lattice: bool,
    /// Words that a phrase may share with the end of what is there.
    pub overlap: usize,
    /// Hypotheses and arcs at most, all rows together; more is a limit error.
    pub max_nodes: usize,
}

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
    next: u32,
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

struct Open<const W: usize> {
    cover: Cover<W>,
    models: u32,
    /// The last words, if phrases may share them.
    context: u32,
    arcs: u32,
    cost: f64,
    /// What the words that are not there are expected to cost, whatever is before them.
    least: f64,
    /// The same, or closer.
    rest: f64,
}

impl<const W: usize> Open<W> {
    fn judged(&self) -> f64 {
        self.cost + self.rest
    }
    fn key(&self) -> u64 {
        (self.models as u64) << 32 | self.context as u64
    }
}

struct Row<const W: usize> {
    nodes: Vec<Open<W>>,
    table: HashTable<u32>,
    arcs: Vec<Back>,
    best: f64,
    /// Nothing worse than this is taken.
    cutoff: f64,
}

impl<const W: usize> Default for Row<W> {
    fn default() -> Self {
        Row { nodes: vec![], table: HashTable::new(), arcs: vec![], best: f64::INFINITY, cutoff: f64::INFINITY }
    }
}

/// The last words of hypotheses, if phrases may share them.
#[derive(Default)]
struct Contexts {
    /// (older words, word) → number, less one.
    table: StateTable,
    /// By number: words, newest last.
    words: Vec<Vec<Type>>,
    longest: usize,
}

impl Contexts {
    fn after(&mut self, context: u32, new: &[Type]) -> u32 {
        let mut words: Vec<Type> = self.words[context as usize].iter().chain(new).copied().collect();
        words.drain(..words.len().saturating_sub(self.longest));
        let mut number = 0;
        for i in 0..words.len() {
            number = self.table.number((number as u64) << 32 | words[i] as u64) + 1;
            if number as usize == self.words.len() {
                self.words.push(words[..=i].to_vec());
            }
        }
        number
    }
}

pub struct Search<'a, S, const W: usize> {
    bag: &'a Bag,
    trie: &'a PhraseTrie,
    scorer: S,
    expected: &'a Expected,
    /// What it costs that a word comes before another; empty: nothing.
    before: &'a [f64],
    /// Of every word, what it costs to come before all that are left.
    early: Vec<f64>,
    config: &'a SearchConfig,
    tiling: Option<Tiling<'a, W>>,
    rows: Vec<Row<W>>,
    contexts: Contexts,
    steps: StepCache,
    /// Room to count words in.
    counts: Vec<u32>,
    out: Searched,
}

/// The models' answers, kept a while: a bag asks the same again and again.
struct StepCache(Vec<(u64, f64, u32)>);

const CACHE: usize = 1 << 15;

impl StepCache {
    #[inline(always)]
    fn step(&mut self, scorer: &mut impl Scorer, state: u32, word: u32) -> (u32, f64) {
        let key = (state as u64) << 32 | word as u64;
        let place = (key ^ key >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize >> (64 - CACHE.trailing_zeros());
        let slot = &mut self.0[place];
        if slot.0 != key {
            let (next, cost) = scorer.step(state, word);
            *slot = (key, cost, next);
        }
        (slot.2, slot.1)
    }
}

impl<'a, S: Scorer, const W: usize> Search<'a, S, W> {
    pub fn new(
        bag: &'a Bag,
        trie: &'a PhraseTrie,
        scorer: S,
        expected: &'a Expected,
        before: &'a [f64],
        tiling: Option<Tiling<'a, W>>,
        config: &'a SearchConfig,
    ) -> Self {
        let longest = if config.overlap > 0 { config.overlap.min(trie.longest().saturating_sub(1)) } else { 0 };
        Search {
            bag,
            trie,
            scorer,
            expected,
            before,
            early: vec![0.0; bag.words.len()],
            config,
            tiling,
            rows: (0..=bag.len()).map(|_| Row::default()).collect(),
            contexts: Contexts { table: StateTable::default(), words: vec![vec![]], longest },
            steps: StepCache(vec![(u64::MAX, 0.0, 0); CACHE]),
            counts: vec![],
            out: Searched::default(),
        }
    }

    pub fn run(mut self) -> Result<(Searched, S)> {
        let n = self.bag.len();
        let words: f64 = self.bag.counts.iter().zip(&self.expected.least).map(|(&c, e)| c as f64 * e).sum();
        let rest = words + self.expected.end;
        if self.tiling.as_mut().is_some_and(|t| !t.possible(self.bag.all())) {
            return Ok((self.out, self.scorer));
        }
        let models = self.scorer.start();
        self.rows[0].nodes.push(Open {
            cover: Cover::EMPTY,
            models,
            context: 0,
            arcs: NONE,
            cost: 0.0,
            least: rest,
            rest,
        });
        let mut stack = vec![];
        for x in 0..=n {
            let row = self.finish_row(x);
            let base = self.out.nodes.len() as u32 - row.len() as u32;
            if x == n {
                for (i, node) in row.iter().enumerate() {
                    let end = self.scorer.end(node.models);
                    self.out.goals.push((base + i as u32, end));
                }
                break;
            }
            for (i, node) in row.iter().enumerate() {
                self.grow(x, base + i as u32, node, &mut stack);
                self.check_memory(x)?;
            }
        }
        Ok((self.out, self.scorer))
    }

    fn check_memory(&self, x: usize) -> Result<()> {
        let ahead = x + 1..self.rows.len().min(x + 2 + self.trie.longest());
        let open: usize = self.rows[ahead].iter().map(|r| 2 * r.nodes.len() + r.arcs.len()).sum();
        if open + self.out.nodes.len() + self.out.arcs.len() > self.config.max_nodes {
            return Err(Error::limit(
                "order",
                format!("{} hypotheses", self.config.max_nodes),
                "the search takes more than --max-memory",
            ));
        }
        Ok(())
    }

    /// Prunes a row, and moves it to what is finished; the hypotheses that stay, the best first.
    fn finish_row(&mut self, x: usize) -> Vec<Open<W>> {
        let mut row = std::mem::take(&mut self.rows[x]);
        let mut nodes = std::mem::take(&mut row.nodes);
        let before = nodes.len();
        nodes.retain(|n| n.judged() <= row.cutoff);
        nodes.sort_by(|a, b| {
            a.judged().total_cmp(&b.judged()).then_with(|| (a.cover, a.key()).cmp(&(b.cover, b.key())))
        });
        nodes.truncate(self.config.most);
        self.out.pruned |= nodes.len() < before;
        let mut cells: Vec<Cover<W>> = nodes.iter().map(|n| n.cover).collect();
        cells.sort_unstable();
        cells.dedup();
        self.out.cells += cells.len();
        for node in &nodes {
            let from = self.out.arcs.len();
            let mut at = node.arcs;
            while at != NONE {
                let arc = row.arcs[at as usize];
                at = arc.next;
                if arc.cost + node.rest <= row.cutoff {
                    self.out.arcs.push(arc);
                }
            }
            self.out.arcs[from..]
                .sort_by(|a, b| a.cost.total_cmp(&b.cost).then((a.from, a.phrase).cmp(&(b.from, b.phrase))));
            let arcs = (from as u32, self.out.arcs.len() as u32);
            self.out.nodes.push(Node { models: node.models, cost: node.cost, arcs });
        }
        nodes
    }

    /// Appends every phrase that fits to a hypothesis.
    fn grow(&mut self, x: usize, number: u32, node: &Open<W>, stack: &mut Vec<Part<W>>) {
        let root = Part {
            trie: PhraseTrie::ROOT,
            models: node.models,
            cover: node.cover,
            cost: node.cost,
            rest: node.least,
            new: 0,
        };
        stack.push(root);
        self.set_early(&node.cover);
        // A phrase may begin with words that are there: the trie is entered where these lead.
        for shared in 1..=self.contexts.words[node.context as usize].len().min(self.config.overlap) {
            let words = &self.contexts.words[node.context as usize];
            let last = &words[words.len() - shared..];
            if let Some(trie) = last.iter().try_fold(PhraseTrie::ROOT, |n, &w| self.trie.child(n, w)) {
                stack.push(Part { trie, ..root });
            }
        }
        while let Some(part) = stack.pop() {
            let children = self.trie.node(part.trie).children.clone();
            for c in children {
                let child = &self.trie.nodes[c as usize];
                let Some(cover) = self.bag.with(&part.cover, child.word) else { continue };
                let (models, cost) = self.steps.step(&mut self.scorer, part.models, child.word);
                let next = Part {
                    trie: c,
                    models,
                    cover,
                    cost: part.cost + cost + self.early(part.trie, part.new, child.word),
                    rest: part.rest - self.expected.least[child.word as usize],
                    new: part.new + 1,
                };
                if child.phrase != NO_PHRASE {
                    self.emit(x, number, node.context, &next, child.cost, child.depth);
                }
                if !child.children.is_empty() {
                    stack.push(next);
                }
            }
        }
    }

    /// What words cost that come next, before all others that a set lacks.
    fn set_early(&mut self, cover: &Cover<W>) {
        let n = self.bag.words.len();
        if self.before.is_empty() {
            return;
        }
        self.early.fill(0.0);
        for second in 0..n {
            let left = self.bag.counts[second] as u64 - self.bag.count(cover, second as Type);
            if left > 0 {
                let costs = self.before.iter().skip(second).step_by(n);
                self.early.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += left as f64 * cost);
            }
        }
    }

    /// What a word costs that comes after `new` words of a phrase, before all that are left then.
    #[inline(always)]
    fn early(&self, mut trie: u32, new: u32, word: Type) -> f64 {
        if self.before.is_empty() {
            return 0.0;
        }
        let row = &self.before[word as usize * self.bag.words.len()..];
        let mut cost = self.early[word as usize];
        for _ in 0..new {
            let node = self.trie.node(trie);
            cost -= row[node.word as usize];
            trie = node.parent;
        }
        cost
    }

    fn emit(&mut self, x: usize, from: u32, context: u32, part: &Part<W>, rule: f64, depth: u32) {
        self.out.tried += 1;
        let at = x + part.new as usize;
        let cost = part.cost + rule;
        let row = &mut self.rows[at];
        if cost + part.rest > row.cutoff {
            self.out.pruned = true;
            return;
        }
        let context = match self.contexts.longest {
            0 => 0,
            _ => {
                let words = self.trie.words(part.trie);
                self.contexts.after(context, &words[(depth - part.new) as usize..])
            }
        };
        let mut arc = Back { from, phrase: part.trie, shared: depth - part.new, next: NONE, cost };
        let key = (part.models as u64) << 32 | context as u64;
        let hash = spread(part.cover.hash_with(key));
        let nodes = &row.nodes;
        let same = |&i: &u32| nodes[i as usize].cover == part.cover && nodes[i as usize].key() == key;
        let rest = if let Some(&i) = row.table.find(hash, same) {
            let node = &mut row.nodes[i as usize];
            if self.config.lattice {
                arc.next = node.arcs;
                node.arcs = row.arcs.len() as u32;
                row.arcs.push(arc);
            } else if cost < node.cost {
                row.arcs[node.arcs as usize] = arc;
            }
            node.cost = node.cost.min(cost);
            node.rest
        } else {
            let rest = match &self.expected.left {
                Some(left) => {
                    let last = self.trie.node(part.trie).word;
                    left.cost(self.bag, &part.cover, last, row.cutoff - cost, &mut self.counts)
                }
                None => part.rest,
            };
            if cost + rest > row.cutoff {
                self.out.pruned = true;
                return;
            }
            if let Some(tiling) = &mut self.tiling
                && !tiling.possible(self.bag.rest(&part.cover))
            {
                return;
            }
            let i = row.nodes.len() as u32;
            row.nodes.push(Open {
                cover: part.cover,
                models: part.models,
                context,
                arcs: row.arcs.len() as u32,
                cost,
                least: part.rest,
                rest,
            });
            row.arcs.push(arc);
            let nodes = &row.nodes;
            row.table.insert_unique(hash, i, |&i| {
                let n = &nodes[i as usize];
                spread(n.cover.hash_with(n.key()))
            });
            rest
        };
        let judged = cost + rest;
        if judged < row.best {
            row.best = judged;
            if at >= self.config.row {
                row.cutoff = row.cutoff.min(judged + self.config.beam);
            }
        }
        let most = self.config.most;
        if row.nodes.len() >= most.saturating_mul(2) || row.arcs.len() >= most.saturating_mul(24) {
            row.shrink(most);
            self.out.pruned = true;
        }
    }
}

/// A hypothesis with the first words of a phrase.
#[derive(Clone, Copy)]
struct Part<const W: usize> {
    trie: u32,
    models: u32,
    cover: Cover<W>,
    cost: f64,
    rest: f64,
    /// Words that are new.
    new: u32,
}

/// The hash of the table wants its upper bits filled.
#[inline(always)]
fn spread(hash: u64) -> u64 {
    hash ^ hash.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<const W: usize> Row<W> {
    /// Keeps the best hypotheses, and of their arcs those that are not much worse; nothing worse is taken from now on.
    fn shrink(&mut self, most: usize) {
        if self.nodes.len() > most {
            let mut judged: Vec<f64> = self.nodes.iter().map(Open::judged).collect();
            let (_, last, _) = judged.select_nth_unstable_by(most - 1, f64::total_cmp);
            self.cutoff = self.cutoff.min(*last);
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
