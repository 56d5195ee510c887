//! Walks over epsilons, one from every state that a label enters, that do not go over the same states again and again.
//!
//! A state that only epsilons enter is not in the result, and most often in one walk only; so it gets no arcs of its
//! own. But thousands of walks may lead into one long tail of epsilons. When walks have become longer than the
//! automaton, some times over, then states that are behind several of them are expanded, too, and walks end there. That
//! is linear where epsilons are acyclic. No more is spent on these states than on walks before, because what one of
//! them keeps may be more than it saves. Weights along a shared tail are then added up from its end, and may round
//! otherwise.
//!
//! The arcs of such a state are kept in the order in which a walk meets them (not turned around, as those of a finished
//! state are), so that a longer walk meets all arcs in the order it would without: when a walk comes to a state, all
//! that is behind states it has seen is seen, too, unless they lie on one cycle. States on cycles are not expanded.

use super::flat::{Arc, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use super::visit::components;
use crate::error::Result;

/// Walks, in states and arcs of the automaton, that are no reason to look for shared states.
pub(crate) fn patience<W: Weight>(fst: &FlatFst<W>) -> usize {
    8 * (fst.num_states() + fst.num_arcs())
}

/// What an epsilon removal does to a state.
pub(crate) trait Expand {
    /// Gives a state that is entered the arcs behind its epsilons. How far that was: states and arcs that were looked
    /// at, without those of expanded states and what comes into the result.
    fn expand(&mut self, s: StateId) -> Result<usize>;
    /// The same for a state that walks share, with all that was looked at.
    fn share(&mut self, s: StateId) -> Result<usize>;
    fn is_expanded(&self, s: StateId) -> bool;
}

/// Expands the states that are `entered`, and others as need be. `order`: all states, so that epsilons lead to states
/// that come earlier, but for cycles. Says how far the walks were all together.
#[inline]
pub(crate) fn expand_all<W: Weight>(
    fst: &FlatFst<W>,
    epsilon: impl Fn(&Arc<W>) -> bool,
    order: &[StateId],
    entered: &[bool],
    patience: usize,
    work: &mut impl Expand,
) -> Result<usize> {
    let (mut walked, mut spent, mut patience) = (0, 0, patience);
    let mut shared: Option<Vec<bool>> = None;
    for (i, &s) in order.iter().enumerate() {
        if !entered[s as usize] {
            if spent <= walked && shared.as_ref().is_some_and(|shared| shared[s as usize]) {
                spent += work.share(s)?;
            }
            continue;
        }
        walked += work.expand(s)?;
        if walked <= patience {
            continue;
        }
        let shared = shared.get_or_insert_with(|| shared_states(fst, &epsilon, order, entered));
        for &t in &order[..i] {
            if spent > walked {
                break;
            }
            if shared[t as usize] && !work.is_expanded(t) {
                spent += work.share(t)?;
            }
        }
        patience = 2 * walked;
    }
    Ok(walked + spent)
}

/// States to expand so that every other state that is not `entered` is in one walk only, unless it lies on a cycle.
fn shared_states<W: Weight>(
    fst: &FlatFst<W>,
    epsilon: &impl Fn(&Arc<W>) -> bool,
    order: &[StateId],
    entered: &[bool],
) -> Vec<bool> {
    /// Stands for states on a cycle, all walks that may come from there.
    const MANY: StateId = NO_STATE - 1;
    let c = components(fst, epsilon);
    let mut size = vec![0u32; c.count];
    c.of.iter().for_each(|&k| size[k as usize] += 1);
    // The state where the walk begins that a state is in.
    let mut begin = vec![NO_STATE; fst.num_states()];
    let mut shared = vec![false; fst.num_states()];
    for &s in order.iter().rev() {
        if entered[s as usize] {
            begin[s as usize] = s;
        }
        let from = begin[s as usize];
        if from == NO_STATE {
            continue;
        }
        for a in fst.arcs(s).iter().filter(|a| epsilon(a)) {
            let t = a.nextstate as usize;
            if entered[t] {
                continue;
            }
            if size[c.of[t] as usize] > 1 {
                begin[t] = MANY;
            } else if from == MANY || (begin[t] != NO_STATE && begin[t] != from) {
                shared[t] = true;
                begin[t] = t as StateId;
            } else {
                begin[t] = from;
            }
        }
    }
    shared
}
