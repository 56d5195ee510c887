//! Local pruning, as in HiFST: cells that meet a condition are expanded, composed with the language models, pruned, and
//! stored without the models' costs.
//!
//! A condition is (nonterminal, least span, states, beam): a cell of that nonterminal, that span or wider, whose expansion
//! has more states than that, is pruned with that beam. Within a cell the models know nothing of the words before it.
//! Nothing is expanded outside the beam: the search is guided by what the models charged inside the cells below.
//! Strings of several derivations are merged, so that the cells above see each once.

use super::network::Network;
use super::search::{SearchConfig, best_first};
use super::{Rtn, Span, expand, pointed};
use crate::error::{Error, Result};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::{FlatFst, NO_STATE};
use crate::fst::rmepsilon::rmepsilon;
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
    /// States of one cell's search at most; what was found by then is kept.
    pub max_states: usize,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pruned {
    /// Cells that were pruned.
    pub cells: usize,
    /// States that the searches expanded.
    pub states: usize,
}

/// The network with its cells pruned; pointers to pruned cells lead to plain automata without pointers.
pub fn prune_cells<S: Scorer>(rtn: &Rtn, scorer: &mut S, config: &LocalConfig) -> Result<(Rtn, Pruned)> {
    let mut out = Rtn { cells: Vec::with_capacity(rtn.cells.len()), spans: rtn.spans.clone(), root: rtn.root };
    let mut net = Network::default();
    let mut sizes: Vec<f64> = vec![];
    let mut done = Pruned::default();
    let null = scorer.start();
    for (c, cell) in rtn.cells.iter().enumerate() {
        let arcs = cell.all_arcs().iter();
        let size = cell.num_states() as f64 + arcs.filter_map(|a| pointed(a.olabel)).map(|d| sizes[d]).sum::<f64>();
        let condition = config
            .conditions
            .iter()
            .find(|q| q.applies(&rtn.spans[c], config.start) && size >= q.max_states as f64)
            .filter(|_| c != rtn.root);
        // Words of a cell that was not composed: what they cost by themselves.
        net.push(cell, |_, a| scorer.step(null, a.ilabel as u32).1);
        let Some(condition) = condition else {
            sizes.push(size);
            out.cells.push(cell.clone());
            continue;
        };
        let search = SearchConfig { beam: condition.beam, max_states: config.max_states, cut: true };
        let found = best_first(&net, c, scorer, &search)?;
        done.cells += 1;
        done.states += found.expanded;
        let pruned = rmepsilon(found.network, &Default::default())?;
        let exact = DeterminizeConfig { delta: expand::EXACT, ..DeterminizeConfig::default() };
        let pruned = determinize(&pruned, &exact)?;
        if pruned.start() == NO_STATE {
            return Err(Error::op("local pruning", "a cell came out empty: a model gives its words no probability"));
        }
        net.pop(cell.num_states());
        let charged = charges(&pruned, scorer);
        net.push(&pruned, |i, _| charged[i]);
        sizes.push(pruned.num_states() as f64);
        out.cells.push(pruned);
    }
    Ok((out, done))
}

/// What the models charge for the word of every arc. Since the automaton comes from a composition with them, all ways to
/// a state leave the models in the same state.
fn charges<S: Scorer>(fst: &FlatFst<Tropical>, scorer: &mut S) -> Vec<f64> {
    const UNSEEN: u32 = u32::MAX;
    let mut models = vec![UNSEEN; fst.num_states()];
    let mut charged = vec![0.0; fst.num_arcs()];
    models[fst.start() as usize] = scorer.start();
    for s in visit::topological_order(fst).unwrap_or_default() {
        if models[s as usize] == UNSEEN {
            continue;
        }
        for i in fst.range(s) {
            let a = &fst.all_arcs()[i];
            let (to, cost) = scorer.step(models[s as usize], a.ilabel as u32);
            charged[i] = cost;
            models[a.nextstate as usize] = to;
        }
    }
    charged
}
