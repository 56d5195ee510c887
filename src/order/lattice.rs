//! The hypotheses of a search as a lattice of words.
//!
//! Two automata of the same strings: one with all costs, and one with those of the rules alone, for another model to be
//! applied to. Phrases of one hypothesis that begin alike share states; the cost of a rule is on its last word. Then every
//! string is made to have one path, with the cost of its best derivation.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rows::Searched;
use crate::chart::bag::{PhraseTrie, Type};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, Label, ScatterBuilder, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::lm::apply::scorer::Scorer;
use crate::rtn::small::smallest;

/// Differences of sums of costs that are no costs.
const ROUNDING: f64 = 1e-9;

/// A lattice with all costs, and the same strings with the costs of rules.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    pub whole: FlatFst<Tropical>,
    pub rules: FlatFst<Tropical>,
    /// It has less than was asked for.
    pub cut: bool,
}

/// The paths of a search that are at most `beam` worse than the best; `label` says what the words' labels are. If these have
/// more than `max_states`, a smaller beam is taken, and in the end the best path alone.
pub fn lattice<S: Scorer>(
    found: &Searched,
    trie: &PhraseTrie,
    scorer: &mut S,
    beam: f64,
    label: impl Fn(Type) -> Label,
    max_states: usize,
) -> Result<Lattice> {
    let mut beam = beam;
    let mut cut = false;
    loop {
        let made = build(found, trie, scorer, beam, &label);
        let small = |fst: FlatFst<Tropical>| {
            if fst.num_states() > max_states {
                return Err(Error::limit("order", format!("{max_states} states"), "the lattice takes more memory"));
            }
            smallest(&fst, max_states)
        };
        match small(made.whole).and_then(|whole| Ok(Lattice { whole, rules: small(made.rules)?, cut })) {
            // A smaller beam leaves fewer states. Many paths may cost the same: then there is one of them.
            Err(Error::Limit { .. }) => {
                beam = match beam {
                    b if b < 0.01 => return Ok(Lattice { cut: true, ..build(found, trie, scorer, -1.0, &label) }),
                    b if b.is_finite() => b / 2.0,
                    _ => 32.0,
                };
                cut = true;
            }
            other => return other,
        }
    }
}

/// The lattice of a beam; of the best path alone if the beam is negative.
fn build<S: Scorer>(
    found: &Searched,
    trie: &PhraseTrie,
    scorer: &mut S,
    beam: f64,
    label: &impl Fn(Type) -> Label,
) -> Lattice {
    let Some((goal, best)) = found.best() else { return Lattice::default() };
    // Sums of many costs in another order may differ in the last bits.
    let limit = best + beam.max(0.0) + best.abs() * 1e-12;
    let mut kept = if beam < 0.0 { best_arcs(found, goal) } else { arcs_within(found, limit) };
    kept.sort_unstable_by_key(|&(from, a)| (from, found.arcs[a as usize].phrase, a));
    let mut target = vec![0; found.arcs.len()];
    for (n, node) in found.nodes.iter().enumerate() {
        target[node.arcs.0 as usize..node.arcs.1 as usize].fill(n as u32);
    }
    let mut made = Two::default();
    let mut states: HashMap<u32, StateId, FxBuildHasher> = HashMap::default();
    let start = made.state();
    states.insert(0, start);
    made.whole.set_start(start);
    made.rules.set_start(start);
    let mut inside: HashMap<(u32, u32), (StateId, u32), FxBuildHasher> = HashMap::default();
    let mut last_from = None;
    for &(from, a) in &kept {
        if last_from.replace(from) != Some(from) {
            inside.clear();
        }
        let arc = &found.arcs[a as usize];
        let to = target[a as usize];
        let source = *states.entry(from).or_insert_with(|| made.state());
        let words = trie.words(arc.phrase);
        let mut nodes = vec![arc.phrase];
        while let Some(&n) = nodes.last()
            && n != PhraseTrie::ROOT
        {
            nodes.push(trie.node(n).parent);
        }
        nodes.reverse();
        let mut at = (source, found.nodes[from as usize].models);
        // What is not the models' is the rule's, and what it costs that its words come here.
        let mut own = arc.cost - found.nodes[from as usize].cost;
        for i in arc.shared as usize..words.len() {
            let (next, cost) = scorer.step(at.1, words[i]);
            own -= cost;
            if i + 1 == words.len() {
                let target = *states.entry(to).or_insert_with(|| made.state());
                made.arc(at.0, label(words[i]), cost, if own.abs() < ROUNDING { 0.0 } else { own }, target);
                break;
            }
            let key = (nodes[i + 1], arc.shared);
            at = match inside.get(&key) {
                Some(&there) => there,
                None => {
                    let state = made.state();
                    made.arc(at.0, label(words[i]), cost, 0.0, state);
                    inside.insert(key, (state, next));
                    (state, next)
                }
            };
        }
    }
    for &(n, end) in &found.goals {
        if let Some(&state) = states.get(&n)
            && found.nodes[n as usize].cost + end <= limit
        {
            made.whole.set_final(state, Tropical(end as f32));
            made.rules.set_final(state, Tropical::ONE);
        }
    }
    Lattice { whole: made.whole.finish(), rules: made.rules.finish(), cut: false }
}

/// The arcs of paths that cost no more than `limit`, by where they come from.
fn arcs_within(found: &Searched, limit: f64) -> Vec<(u32, u32)> {
    let mut backward = vec![f64::INFINITY; found.nodes.len()];
    for &(n, end) in &found.goals {
        backward[n as usize] = end;
    }
    let mut kept: Vec<(u32, u32)> = vec![];
    for n in (0..found.nodes.len()).rev() {
        if found.nodes[n].cost + backward[n] > limit {
            continue;
        }
        let (from, to) = found.nodes[n].arcs;
        for (a, arc) in (from..to).zip(&found.arcs[from as usize..to as usize]) {
            if arc.cost + backward[n] <= limit {
                let source = arc.from as usize;
                let step = arc.cost - found.nodes[source].cost;
                backward[source] = backward[source].min(step + backward[n]);
                kept.push((arc.from, a));
            }
        }
    }
    kept
}

/// The arcs of the best way to a hypothesis.
fn best_arcs(found: &Searched, mut node: u32) -> Vec<(u32, u32)> {
    let mut kept = vec![];
    loop {
        let (first, end) = found.nodes[node as usize].arcs;
        if first == end {
            return kept;
        }
        node = found.arcs[first as usize].from;
        kept.push((node, first));
    }
}

/// Two automata of the same states and arcs.
#[derive(Default)]
struct Two {
    whole: ScatterBuilder<Tropical>,
    rules: ScatterBuilder<Tropical>,
}

impl Two {
    fn state(&mut self) -> StateId {
        self.rules.add_state();
        self.whole.add_state()
    }
    fn arc(&mut self, from: StateId, label: Label, models: f64, rule: f64, to: StateId) {
        self.whole.add_arc(from, Arc::new(label, label, Tropical((models + rule) as f32), to));
        self.rules.add_arc(from, Arc::new(label, label, Tropical(rule as f32), to));
    }
}
