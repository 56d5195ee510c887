//! Local pruning, as in HiFST: cells that meet a condition are expanded, composed with the language models, pruned, and
//! stored without the models' costs.
//!
//! A condition is (nonterminal, least span, states, beam): a cell of that nonterminal, that span or wider, whose expansion
//! has at least so many states, is pruned with that beam. Within a cell the models know nothing of the words before it.
//! What is kept are the arcs of the composition, without epsilons, that some path in the beam uses, and with them paths
//! outside it that have no other arcs. That, and which cells meet a condition, depends on how cells share states, so
//! they share them as HiFST's do: cells of few states are taken in where they are pointed to, cells are deterministic and
//! minimal over words and pointers, and pointers with the same return share what they lead to. Nothing is composed that
//! cannot be in the beam: the search looks ahead with bounds that never say too much.

use super::ahead::{Histories, Words};
use super::network::Network;
use super::search::{Found, SearchConfig, best_first};
use super::small::smallest;
use super::{Rtn, Span, pointed};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, ScatterBuilder, StateId};
use crate::fst::replace::{Labeling, ReplaceConfig, replace};
use crate::fst::semiring::Tropical;
use crate::fst::visit;
use crate::lm::apply::scorer::Scorer;
use crate::rules::grammar::Nt;

/// When a cell is pruned, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// `None`: every nonterminal but the start symbol.
    pub nt: Option<Nt>,
    pub min_span: usize,
    /// Prune if the expansion has at least this many states.
    pub max_states: usize,
    pub beam: f64,
}

impl Condition {
    fn applies(&self, span: &Span, start: Nt) -> bool {
        self.nt.map_or(span.nt != start, |nt| nt == span.nt) && span.width() >= self.min_span
    }
}

#[derive(Clone, Debug)]
pub struct LocalConfig {
    pub conditions: Vec<Condition>,
    pub start: Nt,
    /// Memory of one cell's search at most; what was found by then is kept.
    pub max_bytes: usize,
    /// States of one cell's search at most; what was found by then is kept.
    pub max_states: usize,
    /// Look ahead with what words are likely to cost: what is lost is not much, and the search is much shorter.
    pub likely: bool,
}

/// A network with pruned cells.
pub struct Pruned {
    /// Pointers to pruned cells lead to plain automata without pointers; cells of few states are not pointed to.
    pub rtn: Rtn,
    /// Cells whose search took more memory than it may, so that paths in the beam may be missing.
    pub cut: usize,
}

/// Cells with fewer states are taken in where they are pointed to.
const POINTED_TO: usize = 4;

pub fn prune_cells<H: Histories, S: Scorer>(
    rtn: &Rtn,
    words: &mut Words<H>,
    scorer: &mut S,
    config: &LocalConfig,
) -> Result<Pruned> {
    let mut out = Rtn { cells: Vec::with_capacity(rtn.cells.len()), spans: rtn.spans.clone(), root: rtn.root };
    let mut cut = 0;
    let mut net = Network::new(words, None);
    let mut sizes: Vec<f64> = vec![];
    for (c, cell) in rtn.cells.iter().enumerate() {
        let taken_in = |d: usize| {
            rtn.spans[d].nt == config.start
                || (out.cells[d].num_states() < POINTED_TO && out.cells[d].start() != NO_STATE)
        };
        let cell = take_in(cell, &out.cells, taken_in)?;
        // The two ends of a called automaton fall together with the ends of the arc.
        let calls = cell.all_arcs().iter().filter_map(|a| pointed(a.olabel));
        let size = cell.num_states() as f64 + calls.map(|d| sizes[d] - 2.0).sum::<f64>();
        let fits = |q: &&Condition| q.applies(&rtn.spans[c], config.start) && size >= q.max_states as f64;
        let condition = config.conditions.iter().filter(fits).max_by_key(|q| (q.min_span, q.max_states));
        let charged = config.likely.then(|| charges(&cell, scorer));
        net.push(&cell, charged.as_deref());
        let Some(condition) = condition else {
            sizes.push(size);
            out.cells.push(cell);
            continue;
        };
        let search = SearchConfig {
            beam: condition.beam,
            bound: f64::INFINITY,
            max_bytes: config.max_bytes,
            max_states: config.max_states,
            cut: true,
        };
        let found = best_first(&mut net, c, scorer, &search)?;
        cut += usize::from(found.cut);
        let pruned = smallest(&in_the_beam(&found, condition.beam), usize::MAX)?;
        if pruned.start() == NO_STATE {
            return Err(Error::op("local pruning", "a cell came out empty: a model gives its words no probability"));
        }
        net.pop();
        let charged = config.likely.then(|| charges(&pruned, scorer));
        net.push(&pruned, charged.as_deref());
        sizes.push(pruned.num_states() as f64);
        out.cells.push(pruned);
    }
    Ok(Pruned { rtn: out, cut })
}

/// The cell with the automata of some pointers in their place, deterministic and minimal again.
fn take_in(
    cell: &FlatFst<Tropical>,
    cells: &[FlatFst<Tropical>],
    taken_in: impl Fn(usize) -> bool,
) -> Result<FlatFst<Tropical>> {
    let mut called: Vec<usize> =
        cell.all_arcs().iter().filter_map(|a| pointed(a.olabel)).filter(|&d| taken_in(d)).collect();
    called.sort_unstable();
    called.dedup();
    if called.is_empty() {
        return Ok(cell.clone());
    }
    let root = Label::MAX;
    let mut parts: Vec<(Label, &FlatFst<Tropical>)> = vec![(root, cell)];
    parts.extend(called.iter().map(|&d| (Rtn::pointer(d), &cells[d])));
    let config = ReplaceConfig { call: Labeling::Neither, ..ReplaceConfig::default() };
    smallest(&replace(&parts, root, &config)?, usize::MAX)
}

/// A cost with the models', and the network's own.
type Pair = (f64, f64);

const WORST: Pair = (f64::INFINITY, f64::INFINITY);

fn plus(a: Pair, b: Pair) -> Pair {
    (a.0 + b.0, a.1 + b.1)
}

/// What a search found, without its epsilons, and of that the arcs that a path in the beam uses, with the costs of the
/// network.
fn in_the_beam(found: &Found, beam: f64) -> FlatFst<Tropical> {
    let Found { network, whole, .. } = found;
    if whole.start() == NO_STATE {
        return FlatFst::empty();
    }
    let n = whole.num_states();
    let cost = |i: usize| (whole.all_arcs()[i].weight.0 as f64, network.all_arcs()[i].weight.0 as f64);
    let end = |s: StateId| (whole.final_weight(s).0 as f64, network.final_weight(s).0 as f64);
    // States are in topological order. A state stays if a word leads to it.
    let mut stays = vec![false; n];
    stays[whole.start() as usize] = true;
    whole.all_arcs().iter().filter(|a| a.ilabel != 0).for_each(|a| stays[a.nextstate as usize] = true);
    let mut best = vec![WORST; n];
    let mut arcs: Vec<(Label, StateId, Pair)> = vec![];
    let mut offsets = vec![0usize; n + 1];
    let mut ends = vec![WORST; n];
    let mut reached: Vec<StateId> = vec![];
    for s in whole.states() {
        if stays[s as usize] {
            best[s as usize] = (0.0, 0.0);
            reached.push(s);
            let from = arcs.len();
            // What epsilons lead to lies behind; each is complete when its turn comes.
            let mut at = 0;
            while at < reached.len() {
                reached[at..].sort_unstable();
                let q = reached[at];
                at += 1;
                let here = best[q as usize];
                let finish = plus(here, end(q));
                if finish < ends[s as usize] {
                    ends[s as usize] = finish;
                }
                for i in whole.range(q) {
                    let a = &whole.all_arcs()[i];
                    let via = plus(here, cost(i));
                    if a.ilabel != 0 {
                        arcs.push((a.ilabel, a.nextstate, via));
                        continue;
                    }
                    let known = &mut best[a.nextstate as usize];
                    if *known == WORST {
                        reached.push(a.nextstate);
                    }
                    if via < *known {
                        *known = via;
                    }
                }
            }
            reached.drain(..).for_each(|q| best[q as usize] = WORST);
            // Parallel arcs are one, with the least cost.
            arcs[from..].sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.0.total_cmp(&b.2.0)));
            let mut kept = from;
            for i in from..arcs.len() {
                if kept == from || (arcs[i].0, arcs[i].1) != (arcs[kept - 1].0, arcs[kept - 1].1) {
                    arcs[kept] = arcs[i];
                    kept += 1;
                }
            }
            arcs.truncate(kept);
        }
        offsets[s as usize + 1] = arcs.len();
    }
    let mut forward = vec![f64::INFINITY; n];
    forward[whole.start() as usize] = 0.0;
    for s in 0..n {
        for &(_, to, cost) in &arcs[offsets[s]..offsets[s + 1]] {
            forward[to as usize] = forward[to as usize].min(forward[s] + cost.0);
        }
    }
    let mut backward: Vec<f64> = ends.iter().map(|e| e.0).collect();
    for s in (0..n).rev() {
        for &(_, to, cost) in &arcs[offsets[s]..offsets[s + 1]] {
            backward[s] = backward[s].min(cost.0 + backward[to as usize]);
        }
    }
    let least = backward[whole.start() as usize];
    // Costs are sums of floats.
    let limit = least + beam + 1e-6 * (1.0 + least.abs());
    let mut out = ScatterBuilder::<Tropical>::default();
    (0..n).for_each(|_| {
        out.add_state();
    });
    out.set_start(whole.start());
    for s in 0..n {
        if forward[s] + ends[s].0 <= limit {
            out.set_final(s as StateId, Tropical(ends[s].1 as f32));
        }
        for &(label, to, cost) in &arcs[offsets[s]..offsets[s + 1]] {
            if forward[s] + cost.0 + backward[to as usize] <= limit {
                out.add_arc(s as StateId, Arc::new(label, label, Tropical(cost.1 as f32), to));
            }
        }
    }
    out.finish()
}

/// What the models charge for the words of every arc that has words before it in its cell; NaN for others. Where several
/// ways lead to a state, by one of them.
pub fn charges<S: Scorer>(fst: &FlatFst<Tropical>, scorer: &mut S) -> Vec<f64> {
    let mut charged = vec![f64::NAN; fst.num_arcs()];
    // The models' state of one way to get there, if it knows a word.
    let mut models: Vec<Option<u32>> = vec![None; fst.num_states()];
    let null = scorer.start();
    for s in visit::topological_order(fst).unwrap_or_default() {
        for i in fst.range(s) {
            let a = &fst.all_arcs()[i];
            if a.ilabel == 0 || pointed(a.ilabel).is_some() {
                models[a.nextstate as usize] = None;
                continue;
            }
            let before = models[s as usize];
            let (to, cost) = scorer.step(before.unwrap_or(null), a.ilabel as u32);
            if before.is_some() {
                charged[i] = cost;
            }
            models[a.nextstate as usize] = Some(to);
        }
    }
    charged
}
