//! The costs of a rescored lattice, taken apart: one automaton a part, of the same states and arcs.
//!
//! The parts are the lattice's own costs, the unscaled cost −ln p of every model, and the number of words; the rescored
//! cost is their sum, weighted by 1, the scales and the word penalty. Tuning changes the weights and sums again.

use super::labels::{Labels, NO_WORD};
use super::product::Origin;
use super::scorer::Scorer;
use super::{OP, Term};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, Label, StateId};
use crate::fst::prune::{PruneConfig, prune};
use crate::fst::semiring::Weight;

/// One part of the costs.
#[derive(Clone, Debug)]
pub struct Part<W> {
    /// `lattice`, `lm1`, `lm2`, ..., `words`.
    pub name: String,
    pub fst: FlatFst<W>,
}

impl<W> Part<W> {
    /// The names of the parts, in order.
    pub fn names(terms: &[Term]) -> Vec<String> {
        let models = terms.iter().map(|t| t.part.to_string());
        std::iter::once("lattice".to_string()).chain(models).chain(["words".to_string()]).collect()
    }
}

pub fn separate<W: Weight, S: Scorer>(
    lattice: &FlatFst<W>,
    labels: &Labels,
    fst: &FlatFst<W>,
    origin: &Origin,
    terms: &[Term],
    scorer: &mut S,
) -> Vec<Part<W>> {
    let names = Part::<W>::names(terms);
    let mut parts: Vec<FlatFst<W>> = names.iter().map(|_| fst.clone()).collect();
    let mut scores = vec![0.0; terms.len()];
    for s in fst.states() {
        let (from, models) = origin.states[s as usize];
        for i in fst.range(s) {
            let at = origin.arcs[i] as usize;
            scores.fill(0.0);
            let word = labels.of_arc[at];
            let mut words = 0.0;
            if word != NO_WORD {
                scorer.parts(models, Some(word), &mut scores);
                words = f64::from(u8::from(scorer.is_word(word)));
            }
            let own = lattice.all_arcs()[at].weight;
            set(&mut parts, own, &scores, words, |part, w| part.all_arcs_mut()[i].weight = w);
        }
        if fst.is_final(s) {
            scorer.parts(models, None, &mut scores);
            let own = lattice.final_weight(from);
            set(&mut parts, own, &scores, 0.0, |part, w| part.finals_mut()[s as usize] = w);
        }
    }
    names.into_iter().zip(parts).map(|(name, fst)| Part { name, fst }).collect()
}

/// Puts the parts of one arc or final state in their places.
fn set<W: Weight>(
    parts: &mut [FlatFst<W>],
    own: W,
    scores: &[f64],
    words: f64,
    mut put: impl FnMut(&mut FlatFst<W>, W),
) {
    let last = parts.len() - 1;
    put(&mut parts[0], own);
    for (part, &score) in parts[1..last].iter_mut().zip(scores) {
        put(part, W::from_f64(score));
    }
    put(&mut parts[last], W::from_f64(words));
}

/// Pruning that knows where the states and arcs it keeps come from.
pub fn prune_with_origin<W: Weight>(
    fst: FlatFst<W>,
    origin: Origin,
    config: &PruneConfig<W>,
) -> Result<(FlatFst<W>, Origin)> {
    if fst.num_arcs() > Label::MAX as usize {
        return Err(Error::limit(
            OP,
            "2^31 arcs",
            "the lattice with the models is too large; give --prune a smaller beam",
        ));
    }
    // Arcs carry their own numbers through the pruning; states are known by the arcs that lead to them.
    let mut numbered = fst.clone();
    for (i, a) in numbered.all_arcs_mut().iter_mut().enumerate() {
        a.ilabel = i as Label;
    }
    let kept = prune(numbered, config)?;
    let mut old_state: Vec<StateId> = vec![fst.start(); kept.num_states()];
    let mut arcs = Vec::with_capacity(kept.num_arcs());
    for a in kept.all_arcs() {
        let old = &fst.all_arcs()[a.ilabel as usize];
        old_state[a.nextstate as usize] = old.nextstate;
        arcs.push(origin.arcs[a.ilabel as usize]);
    }
    let states = old_state.iter().map(|&s| origin.states[s as usize]).collect();
    let mut kept = kept;
    for a in kept.all_arcs_mut() {
        *a = Arc { ilabel: fst.all_arcs()[a.ilabel as usize].ilabel, ..*a };
    }
    Ok((kept, Origin { states, arcs }))
}
