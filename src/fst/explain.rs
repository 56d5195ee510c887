//! Why a composition is empty: how far the two operands go together, and which symbol no path could match.
//!
//! Walks the product breadth first, counting matched symbols. At the pairs of states that matched the most symbols, every
//! label that one operand offers is missing in the other, or only leads round a cycle: those labels are the answer. Failure
//! arcs (phi) offer what lies behind them. O(size of the product).

use std::collections::{BTreeSet, VecDeque};

use super::compose::{ComposeConfig, Special, product};
use super::flat::{EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::semiring::Weight;
use crate::error::Result;

/// Where a composition died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Symbols matched before the end, along the shortest way there.
    pub prefix: Vec<Label>,
    /// Symbols that match there, too, but only lead round a cycle.
    pub circling: Vec<Label>,
    /// The pair of states it got to.
    pub states: (StateId, StateId),
    pub cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An operand has no path at all; 1 or 2.
    Empty(u8),
    /// The first operand goes on with one of these labels; the second has none of them there.
    Unmatched {
        /// What the first operand would write next.
        offered: Vec<Label>,
        /// What the second operand would read next.
        expected: Vec<Label>,
        /// The offered labels that the second operand never reads, anywhere.
        never_in_second: Vec<Label>,
        /// The expected labels that the first operand never writes, anywhere.
        never_in_first: Vec<Label>,
    },
    /// The first operand ends here; the second must go on.
    FirstEnds { expected: Vec<Label> },
    /// The second operand ends here; the first must go on.
    SecondEnds { offered: Vec<Label> },
}

/// `None` if the composition is not empty.
pub fn explain<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &ComposeConfig) -> Result<Option<Explanation>> {
    for (fst, which) in [(a, 1), (b, 2)] {
        if fst.start() == NO_STATE || !super::visit::coaccessible(fst)[fst.start() as usize] {
            let cause = Cause::Empty(which);
            return Ok(Some(Explanation { prefix: vec![], circling: vec![], states: (0, 0), cause }));
        }
    }
    // Dead ends of an operand must not count as matches: look at what can still be completed.
    let trim = |fst: &FlatFst<W>| {
        let keep = super::visit::coaccessible(fst);
        let mut ids = vec![];
        for (s, &k) in keep.iter().enumerate() {
            if k {
                ids.push(s as StateId);
            }
        }
        (super::connect::keep_states(fst.clone(), &keep), ids)
    };
    let (ta, ids_a) = trim(a);
    let (tb, ids_b) = trim(b);
    // The labels that were matched are needed, also where the second operand writes others: an inner tape.
    let mut inner = tb.clone();
    for arc in inner.all_arcs_mut() {
        arc.olabel = arc.ilabel;
    }
    let (fst, pairs) = product(&ta, &inner, config)?;
    if fst.states().any(|s| fst.is_final(s)) {
        return Ok(None);
    }
    let far = farthest(&fst);
    let (s1, s2) = pairs.pair(far.state);
    let phi = config.special.phi;
    let failing = |first: bool| phi.filter(|_| config.special.on_first == first);
    let mut offered = reachable_labels(&ta, s1, failing(true), |x| x.olabel);
    let mut expected = reachable_labels(&tb, s2, failing(false), |x| x.ilabel);
    let mut circling: Vec<Label> = offered.intersection(&expected).copied().collect();
    if circling.len() < offered.len().min(expected.len()) {
        offered.retain(|l| !circling.contains(l));
        expected.retain(|l| !circling.contains(l));
    } else {
        circling.clear();
    }
    let special = |l: &Label| is_special(&config.special, *l);
    let ends_a = offered.is_empty();
    let ends_b = expected.is_empty();
    let cause = if ends_a && !ends_b {
        Cause::FirstEnds { expected: expected.into_iter().collect() }
    } else if ends_b && !ends_a {
        Cause::SecondEnds { offered: offered.into_iter().collect() }
    } else {
        let all_a: BTreeSet<Label> = a.all_arcs().iter().map(|x| x.olabel).collect();
        let all_b: BTreeSet<Label> = b.all_arcs().iter().map(|x| x.ilabel).collect();
        Cause::Unmatched {
            never_in_second: offered.iter().filter(|l| !all_b.contains(l) && !special(l)).copied().collect(),
            never_in_first: expected.iter().filter(|l| !all_a.contains(l) && !special(l)).copied().collect(),
            offered: offered.into_iter().collect(),
            expected: expected.into_iter().collect(),
        }
    };
    let states = (ids_a[s1 as usize], ids_b[s2 as usize]);
    Ok(Some(Explanation { prefix: far.prefix, circling, states, cause }))
}

fn is_special(special: &Special, label: Label) -> bool {
    [special.phi, special.rho, special.sigma].contains(&Some(label))
}

struct Farthest {
    state: StateId,
    prefix: Vec<Label>,
}

/// The state with the most matched symbols on a shortest way to it; the lowest-numbered of several.
fn farthest<W: Weight>(fst: &FlatFst<W>) -> Farthest {
    let n = fst.num_states();
    let mut depth = vec![u32::MAX; n];
    let mut back: Vec<(StateId, Label)> = vec![(NO_STATE, EPSILON); n];
    let mut queue = VecDeque::from([fst.start()]);
    depth[fst.start() as usize] = 0;
    let mut best = fst.start();
    while let Some(s) = queue.pop_front() {
        let d = depth[s as usize];
        if d > depth[best as usize] || (d == depth[best as usize] && s < best) {
            best = s;
        }
        for x in fst.arcs(s) {
            // The output side is the inner tape: epsilon if the first operand moved alone.
            let free = x.olabel == EPSILON;
            let next = d + u32::from(!free);
            if next < depth[x.nextstate as usize] {
                depth[x.nextstate as usize] = next;
                back[x.nextstate as usize] = (s, x.olabel);
                if free { queue.push_front(x.nextstate) } else { queue.push_back(x.nextstate) }
            }
        }
    }
    let mut prefix = vec![];
    let mut s = best;
    while back[s as usize].0 != NO_STATE {
        let (from, label) = back[s as usize];
        if label != EPSILON {
            prefix.push(label);
        }
        s = from;
    }
    prefix.reverse();
    Farthest { state: best, prefix }
}

/// Labels other than epsilon that can come next from `s`, through epsilons and, if there is a label for them, failures.
fn reachable_labels<W: Weight>(
    fst: &FlatFst<W>,
    s: StateId,
    phi: Option<Label>,
    label: impl Fn(&super::flat::Arc<W>) -> Label,
) -> BTreeSet<Label> {
    let mut seen = vec![false; fst.num_states()];
    let mut stack = vec![s];
    seen[s as usize] = true;
    let mut labels = BTreeSet::new();
    while let Some(s) = stack.pop() {
        for x in fst.arcs(s) {
            // A failure that stays where it is reads every label, and is shown as itself.
            let silent = label(x) == EPSILON || (phi == Some(label(x)) && x.nextstate != s);
            if !silent {
                labels.insert(label(x));
            } else if !std::mem::replace(&mut seen[x.nextstate as usize], true) {
                stack.push(x.nextstate);
            }
        }
    }
    labels
}
