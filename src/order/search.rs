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
//! The phrases after a state of the models are found once for all hypotheses of a row that have it, and each hypothesis looks
//! at no more of them than may be good enough (`extensions`).
//!
//! Costs a model step for every state and beginning of a phrase, a look-up for every phrase that fits and is good enough, 56
//! bytes a hypothesis of the rows ahead, 24 bytes an arc.

use smallvec::SmallVec;

use super::extensions::{Extension, Extensions};
use super::future::{Expected, LeftCells};
use super::rows::{Back, NONE, Node, Open, Row, Searched, by_state, spread};
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
    /// What it costs that a word comes before another, `[first * words + second]`; empty: nothing.
    before: &'a [f64],
    /// The same, `[second * words + first]`.
    behind: Vec<f64>,
    /// The least and the most of it.
    before_range: (f64, f64),
    /// Of every word, what it costs to come before all that are left.
    early: Vec<f64>,
    config: &'a SearchConfig,
    tiling: Option<Tiling<'a, W>>,
    rows: Vec<Row<W>>,
    contexts: Contexts,
    steps: StepCache,
    extensions: Extensions<W>,
    /// What the words that a set lacks are expected to cost, if this is asked for.
    left: Option<LeftCells<'a, W>>,
    hopes: Hopes,
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
            behind: transposed(before, bag.words.len()),
            before_range: before.iter().fold((0.0, 0.0), |(low, high), &c| (f64::min(low, c), f64::max(high, c))),
            early: vec![0.0; bag.words.len()],
            config,
            tiling,
            rows: (0..=bag.len()).map(|_| Row::default()).collect(),
            contexts: Contexts { table: StateTable::default(), words: vec![vec![]], longest },
            steps: StepCache(vec![(u64::MAX, 0.0, 0); CACHE]),
            extensions: Extensions::new(bag, trie, expected, config.overlap),
            left: expected.left.as_ref().map(|left| LeftCells::new(bag, left)),
            hopes: Hopes::default(),
            out: Searched::default(),
        }
    }

    pub fn run(mut self) -> Result<(Searched, S)> {
        let n = self.bag.len();
        let words: f64 = self.bag.counts.iter().zip(&self.expected.least).map(|(&c, e)| c as f64 * e).sum();
        let rest = words + self.expected.end;
        if self.tiling.as_mut().is_some_and(|t| !t.completes(self.bag, &Cover::EMPTY)) {
            return Ok((self.out, self.scorer));
        }
        let models = self.scorer.start();
        self.rows[0].nodes.push(Open {
            cover: Cover::EMPTY,
            models,
            context: 0,
            last: 0,
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
            for group in by_state(&row) {
                for &i in &group {
                    let (number, node) = (base + i, &row[i as usize]);
                    if group.len() < MANY {
                        self.grow(x, number, node, &mut stack);
                    } else {
                        self.grow_by_list(x, number, node);
                    }
                    self.check_memory(x)?;
                }
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
        nodes.sort_by(Open::order);
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
        self.set_early(&node.cover);
        let hoping = self.left.is_some();
        if hoping {
            self.hope_words(x, node);
        }
        stack.extend(self.roots(node.context).map(|(trie, _)| Part { trie, ..root }));
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
                    let cost = next.cost + child.cost;
                    let hoped = if hoping { self.hoped(c, next.new as usize) } else { f64::INFINITY };
                    let cutoff = self.rows[x + next.new as usize].cutoff + ROUNDING;
                    if self.hopes.judged + (cost - node.cost) - hoped > cutoff {
                        self.out.pruned = true;
                    } else {
                        self.emit(x, number, node.context, &Part { cost, ..next });
                    }
                }
                if !child.children.is_empty() {
                    stack.push(next);
                }
            }
        }
    }

    /// Where phrases may begin, with the number of words that are there already: the trie is entered where these lead.
    fn roots(&self, context: u32) -> impl Iterator<Item = (u32, u32)> {
        let words = &self.contexts.words[context as usize];
        (0..=words.len().min(self.config.overlap)).filter_map(|shared| {
            let last = &words[words.len() - shared..];
            let root = last.iter().try_fold(PhraseTrie::ROOT, |n, &w| self.trie.child(n, w))?;
            Some((root, shared as u32))
        })
    }

    /// As `grow`, for a hypothesis whose state others have, too.
    fn grow_by_list(&mut self, x: usize, number: u32, node: &Open<W>) {
        self.set_early(&node.cover);
        let roots: SmallVec<[(u32, u32); 4]> = self.roots(node.context).collect();
        let (scorer, steps) = (&mut self.scorer, &mut self.steps);
        let step = |state, word| steps.step(scorer, state, word);
        let list = self.extensions.list(node.key(), node.models, &roots, self.bag, self.trie, step);
        self.hope(x, node);
        for new in 1..=self.extensions.longest().min(self.bag.len() - x) {
            let places = list.of(new);
            let early = self.least_early(&node.cover, new, self.bag.len() - x);
            let base = self.hopes.judged + early - self.hopes.saved[new - 1];
            for at in places.clone() {
                let extension = self.extensions.all[at];
                let cutoff = self.rows[x + new].cutoff + ROUNDING;
                if base + extension.excess > cutoff {
                    let rest = &self.extensions.all[at..places.end];
                    let fits =
                        |e: &Extension| self.bag.fits(&node.cover, &self.extensions.tails[e.tail as usize].cover);
                    self.out.pruned = self.out.pruned || rest.iter().any(fits);
                    break;
                }
                let tail = &self.extensions.tails[extension.tail as usize];
                let Some(cover) = self.bag.union(&node.cover, &tail.cover) else { continue };
                if self.hopes.judged + early + extension.cost - self.hoped(tail.trie, new) > cutoff {
                    self.out.pruned = true;
                    continue;
                }
                let part = Part {
                    trie: tail.trie,
                    models: extension.models,
                    cover,
                    cost: node.cost + extension.cost + self.all_early(tail.trie, tail.new),
                    rest: node.least - tail.least,
                    new: tail.new,
                };
                self.emit(x, number, node.context, &part);
            }
        }
    }

    /// What the words that a hypothesis lacks are expected to cost, word by word.
    fn hope_words(&mut self, x: usize, node: &Open<W>) {
        let Hopes { judged, words, .. } = &mut self.hopes;
        *judged = node.judged();
        match &mut self.left {
            Some(left) => {
                left.enter(&node.cover);
                if x > 0 {
                    left.each(node.last, words);
                } else {
                    // Nothing is before the first word.
                    words.clone_from(&self.expected.least);
                }
            }
            None => words.clone_from(&self.expected.least),
        }
    }

    /// The same, and how much so many of them may have been expected to cost.
    fn hope(&mut self, x: usize, node: &Open<W>) {
        self.hope_words(x, node);
        let Hopes { words, saved, more, .. } = &mut self.hopes;
        let least = &self.expected.least;
        more.clear();
        for t in 0..least.len() {
            let lacking = self.bag.counts[t] as u64 - self.bag.count(&node.cover, t as Type);
            more.extend((0..lacking).map(|_| words[t] - least[t]));
        }
        more.sort_unstable_by(|a, b| b.total_cmp(a));
        saved.clear();
        let sums = more.iter().scan(0.0, |sum, more| {
            *sum += more;
            Some(*sum)
        });
        saved.extend(sums);
    }

    /// What the last `new` words of a phrase were expected to cost.
    fn hoped(&self, mut trie: u32, new: usize) -> f64 {
        let mut sum = 0.0;
        for _ in 0..new {
            let node = self.trie.node(trie);
            sum += self.hopes.words[node.word as usize];
            trie = node.parent;
        }
        sum
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
                let costs = &self.behind[second * n..(second + 1) * n];
                self.early.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += left as f64 * cost);
            }
        }
    }

    /// What `new` words that come next cost at least by being before the others of the `left` tokens.
    fn least_early(&self, cover: &Cover<W>, new: usize, left: usize) -> f64 {
        if self.before.is_empty() {
            return 0.0;
        }
        let lacks = |t: usize| self.bag.count(cover, t as Type) < self.bag.counts[t] as u64;
        let words = (0..self.early.len()).filter(|&t| lacks(t));
        let least = words.map(|t| self.early[t]).fold(f64::INFINITY, f64::min);
        // The words of a phrase are not left when those behind them are said.
        let (low, high) = self.before_range;
        let among = (new * (new - 1) / 2) as f64 * high.max(0.0);
        (new as f64 * least - among).max((new * left) as f64 * low.min(0.0))
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

    /// What the last `new` words of a phrase cost that come next, each before all that are left after it.
    fn all_early(&self, mut trie: u32, new: u32) -> f64 {
        if self.before.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        for earlier in (0..new).rev() {
            let node = self.trie.node(trie);
            sum += self.early(node.parent, earlier, node.word);
            trie = node.parent;
        }
        sum
    }

    /// Takes a hypothesis that ends with a phrase, if it is good enough.
    fn emit(&mut self, x: usize, from: u32, context: u32, part: &Part<W>) {
        self.out.tried += 1;
        let at = x + part.new as usize;
        let cost = part.cost;
        let depth = self.trie.node(part.trie).depth;
        let row = &mut self.rows[at];
        if cost + part.rest > row.cutoff {
            self.out.pruned = true;
            return;
        }
        if self.tiling.as_ref().is_some_and(|t| t.hopeless(&part.cover)) {
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
            } else {
                // Of ways that cost the same, one that does not depend on which was found first.
                let old = &mut row.arcs[node.arcs as usize];
                let order = cost.total_cmp(&old.cost).then((from, arc.phrase).cmp(&(old.from, old.phrase)));
                if order.is_lt() {
                    *old = arc;
                }
            }
            node.cost = node.cost.min(cost);
            node.rest
        } else {
            let last = self.trie.node(part.trie).word;
            let rest = match &mut self.left {
                None => part.rest,
                Some(left) => {
                    let words: SmallVec<[Type; 8]> = self.trie.last_words(part.trie, part.new).collect();
                    left.after(&words)
                }
            };
            if cost + rest > row.cutoff {
                self.out.pruned = true;
                return;
            }
            // What takes longer is asked last, and once for a hypothesis.
            if let Some(tiling @ Tiling::Asked(_)) = &mut self.tiling
                && !tiling.completes(self.bag, &part.cover)
            {
                return;
            }
            let i = row.nodes.len() as u32;
            row.nodes.push(Open {
                cover: part.cover,
                models: part.models,
                context,
                last,
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

fn transposed(costs: &[f64], n: usize) -> Vec<f64> {
    (0..costs.len()).map(|i| costs[i % n * n + i / n]).collect()
}

/// What a hypothesis hopes for: no word that it lacks will cost less when others have been said. So what a phrase makes of it
/// is seen, nearly, before its set is looked up.
#[derive(Default)]
struct Hopes {
    /// Its cost and what the rest is expected to cost.
    judged: f64,
    /// Of every word that is lacking, what it is expected to cost.
    words: Vec<f64>,
    /// By number of words less one: what so many may have been expected to cost more than whatever is before them.
    saved: Vec<f64>,
    /// Room to sort in.
    more: Vec<f64>,
}

/// Sums in another order may differ by so much.
const ROUNDING: f64 = 1e-9;

/// As many hypotheses with the same state are worth a list of what may follow it.
const MANY: usize = 4;

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
