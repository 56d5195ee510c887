//! Is there a way to pair the states of two automata, with twins (arcs of the same labels and weight) paired as need be?
//!
//! States that follow from those that are paired are paired first; then a choice is taken for the target of one twin, and
//! taken back when it fails. States of different colours are never tried. O(d log d) a look at two states of degree d, one
//! look and more a pair; with as many choices as there are twins of one colour, exponential at worst.

use super::{Pairing, same, sorted};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// Arcs that are looked at before the search gives up, all together, beside a hundred looks at each.
const LIMIT: u64 = 100_000_000;

/// True if there is a way to pair states of the same colours; `None` if it was not found within the limit.
pub(super) fn pairable<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32, colours: [&[u64]; 2]) -> Option<bool> {
    let p = Pairing::of_starts(a, b);
    Search { a, b, delta, colours, p, open: vec![], left: vec![], right: vec![], steps: 0 }.run()
}

struct Search<'a, W> {
    a: &'a FlatFst<W>,
    b: &'a FlatFst<W>,
    delta: f32,
    colours: [&'a [u64]; 2],
    p: Pairing,
    /// Pairs with twins for whose targets there was more than one way.
    open: Vec<(StateId, StateId)>,
    left: Vec<Arc<W>>,
    right: Vec<Arc<W>>,
    /// Arcs looked at.
    steps: u64,
}

/// The state that was paired, the others it may be paired with, and what was known before.
struct Choice {
    state: StateId,
    others: Vec<StateId>,
    paired: usize,
    open: usize,
    settled: usize,
}

struct Contradiction;

/// A state and those it may be paired with, the likeliest last; none if nothing is open.
type Found = Result<Option<(StateId, Vec<StateId>)>, Contradiction>;

/// The target of twins: how many of them, its colour, its number. Targets that have the first two in common may be paired.
type Target = (usize, u64, StateId);

impl<W: Weight> Search<'_, W> {
    fn run(&mut self) -> Option<bool> {
        let limit = LIMIT + 100 * self.a.num_arcs() as u64;
        let mut choices: Vec<Choice> = vec![];
        // Pairs whose arcs were looked at, and open ones that are settled.
        let (mut next, mut settled) = (0, 0);
        loop {
            let fits = if let Some(&(s, t)) = self.p.queue.get(next) {
                next += 1;
                self.look(s, t).map(|choice| {
                    if choice.is_some() {
                        self.open.push((s, t));
                    }
                })
            } else if let Some(&(s, t)) = self.open.get(settled) {
                self.look(s, t).map(|choice| match choice {
                    None => settled += 1,
                    // What follows from the pairs that were just found comes first.
                    Some(_) if next < self.p.queue.len() => {}
                    Some((state, mut others)) => {
                        let Some(first) = others.pop() else { return };
                        let (paired, open) = (self.p.queue.len(), self.open.len());
                        choices.push(Choice { state, others, paired, open, settled });
                        self.p.pair(state, first);
                    }
                })
            } else {
                return Some(true);
            };
            if self.steps > limit {
                return None;
            }
            if fits.is_err() {
                let (choice, other) = loop {
                    let Some(mut choice) = choices.pop() else { return Some(false) };
                    if let Some(other) = choice.others.pop() {
                        break (choice, other);
                    }
                };
                self.back_to(choice.paired);
                self.open.truncate(choice.open);
                (next, settled) = (choice.paired, choice.settled);
                self.p.pair(choice.state, other);
                choices.push(choice);
            }
        }
    }

    fn back_to(&mut self, paired: usize) {
        for (s, t) in self.p.queue.drain(paired..) {
            self.p.there[s as usize] = NO_STATE;
            self.p.back[t as usize] = NO_STATE;
        }
    }

    /// Pairs the targets of the arcs of `s` and `t` that have one way to be paired; if some have more, the first of them
    /// with those it may be paired with.
    fn look(&mut self, s: StateId, t: StateId) -> Found {
        let (mut left, mut right) = (std::mem::take(&mut self.left), std::mem::take(&mut self.right));
        sorted(self.a.arcs(s), self.delta, self.colours[0], &mut left);
        sorted(self.b.arcs(t), self.delta, self.colours[1], &mut right);
        self.steps += 1 + left.len() as u64;
        let found = self.look_at(s, t, &left, &right);
        (self.left, self.right) = (left, right);
        found
    }

    fn look_at(&mut self, s: StateId, t: StateId, left: &[Arc<W>], right: &[Arc<W>]) -> Found {
        let finals_fit = self.a.final_weight(s).approx_eq(self.b.final_weight(t), self.delta);
        let arcs_fit = || left.iter().zip(right).all(|(x, y)| same(x, y, self.delta));
        if !finals_fit || left.len() != right.len() || !arcs_fit() {
            return Err(Contradiction);
        }
        let mut choice = None;
        let mut from = 0;
        for twins in left.chunk_by(|x, y| same(x, y, self.delta)) {
            let range = from..from + twins.len();
            from = range.end;
            let (mut ours, mut theirs) = (targets(twins, self.colours[0]), targets(&right[range], self.colours[1]));
            // Targets that have their partner must have it here, as often.
            for &(times, colour, u) in &ours {
                let v = self.p.there[u as usize];
                if v != NO_STATE && theirs.binary_search(&(times, colour, v)).is_err() {
                    return Err(Contradiction);
                }
            }
            ours.retain(|x| self.p.there[x.2 as usize] == NO_STATE);
            theirs.retain(|x| self.p.back[x.2 as usize] == NO_STATE);
            let kind = |x: &Target| (x.0, x.1);
            if !ours.iter().map(kind).eq(theirs.iter().map(kind)) {
                return Err(Contradiction);
            }
            let mut at = 0;
            for alike in ours.chunk_by(|x, y| kind(x) == kind(y)) {
                let partners = &theirs[at..at + alike.len()];
                at += alike.len();
                if let ([u], [v]) = (alike, partners) {
                    self.p.pair(u.2, v.2);
                } else if choice.is_none() {
                    choice = Some((alike[0].2, partners.iter().rev().map(|v| v.2).collect()));
                }
            }
        }
        Ok(choice)
    }
}

/// The targets of twins, sorted.
fn targets<W: Weight>(twins: &[Arc<W>], colours: &[u64]) -> Vec<Target> {
    // They are not always sorted by their targets: on this side, steps within `delta` may not make them twins.
    let mut states: Vec<StateId> = twins.iter().map(|a| a.nextstate).collect();
    states.sort_unstable();
    let runs = states.chunk_by(|x, y| x == y);
    let mut targets: Vec<Target> = runs.map(|run| (run.len(), colours[run[0] as usize], run[0])).collect();
    targets.sort_unstable();
    targets
}
