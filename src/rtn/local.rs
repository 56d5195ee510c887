//! Local pruning, as in HiFST: cells that meet a condition are expanded, composed with the language models, pruned, and
//! stored without the models' costs.
//!
//! A condition is (nonterminal, least span, states, beam): a cell of that nonterminal, that span or wider, whose expansion
//! has more states than that, is pruned with that beam. Within a cell the models know nothing of the words before it.
//! Nothing is expanded far outside the beam: the search is guided by what the models charged inside the cells below, and
//! by what the first word of a cell is likely to cost after words that are not known yet. Strings of several derivations
//! are merged, so that the cells above see each once.

use super::network::Network;
use super::search::{SearchConfig, best_first};
use super::{Rtn, Span, expand, pointed};
use crate::error::{Error, Result};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::{FlatFst, NO_STATE};
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::Tropical;
use crate::fst::topsort::topsort;
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
    /// How far outside the beam a cell is searched, since the guide of the search is only nearly right.
    pub slack: f64,
}

/// The network with its cells pruned, where pointers to pruned cells lead to plain automata without pointers; and the same
/// as it is searched, with what words are likely to cost.
pub fn prune_cells<S: Scorer>(rtn: &Rtn, scorer: &mut S, config: &LocalConfig) -> Result<(Rtn, Network)> {
    let mut out = Rtn { cells: Vec::with_capacity(rtn.cells.len()), spans: rtn.spans.clone(), root: rtn.root };
    let mut net = Network::default();
    let mut sizes: Vec<f64> = vec![];
    for (c, cell) in rtn.cells.iter().enumerate() {
        // The two ends of a called automaton fall together with the ends of the arc.
        let calls = cell.all_arcs().iter().filter_map(|a| pointed(a.olabel));
        let size = cell.num_states() as f64 + calls.map(|d| sizes[d] - 2.0).sum::<f64>();
        let fits = |q: &&Condition| q.applies(&rtn.spans[c], config.start) && size >= q.max_states as f64;
        let condition = config.conditions.iter().filter(fits).max_by_key(|q| q.max_states).filter(|_| c != rtn.root);
        let charged = charges(cell, scorer);
        net.push(cell, |i, _| charged[i]);
        let Some(condition) = condition else {
            sizes.push(size);
            out.cells.push(cell.clone());
            continue;
        };
        let search = SearchConfig {
            beam: condition.beam,
            slack: config.slack,
            bound: f64::INFINITY,
            max_states: config.max_states,
            cut: true,
        };
        let found = best_first(&net, c, scorer, &search)?;
        let pruned = rmepsilon(found.network, &Default::default())?;
        let exact = DeterminizeConfig { delta: expand::EXACT, ..DeterminizeConfig::default() };
        let pruned = determinize(&pruned, &exact)?;
        if pruned.start() == NO_STATE {
            return Err(Error::op("local pruning", "a cell came out empty: a model gives its words no probability"));
        }
        let pruned = topsort(pruned).unwrap_or_else(|fst| fst);
        net.pop(cell.num_states());
        let charged = charges(&pruned, scorer);
        net.push(&pruned, |i, _| charged[i]);
        sizes.push(pruned.num_states() as f64);
        out.cells.push(pruned);
    }
    Ok((out, net))
}

/// Where the first word of a cell lies between the least that it can cost and what it costs with nothing before it: the
/// words before it are not known yet. Chosen by the costs of the best translations of real sentences.
const FIRST_WORD: f64 = 0.3;

/// What the models are likely to charge for the word of every arc.
fn charges<S: Scorer>(fst: &FlatFst<Tropical>, scorer: &mut S) -> Vec<f64> {
    const UNSEEN: u32 = u32::MAX;
    let mut charged = vec![0.0; fst.num_arcs()];
    // The models' state of one way to get there, and whether it knows a word.
    let mut models = vec![(UNSEEN, false); fst.num_states()];
    let null = scorer.start();
    models[fst.start() as usize] = (null, false);
    for s in visit::topological_order(fst).unwrap_or_default() {
        let (state, has_word) = models[s as usize];
        if state == UNSEEN {
            continue;
        }
        for i in fst.range(s) {
            let a = &fst.all_arcs()[i];
            if pointed(a.ilabel).is_some() {
                models[a.nextstate as usize] = (null, false);
                continue;
            }
            let (to, cost) = scorer.step(state, a.ilabel as u32);
            let least = scorer.least(a.ilabel as u32);
            charged[i] = if has_word || !least.is_finite() { cost } else { least + FIRST_WORD * (cost - least) };
            models[a.nextstate as usize] = (to, true);
        }
    }
    charged
}
