//! Is there a way to pair the states of two automata, with twins (arcs of the same labels and weight) paired as need be?
//!
//! States that follow from those that are paired are paired first; then a choice is taken for the target of one twin, and
//! taken back when it fails. States of different colours are never tried. O(d log d) a look at two states of degree d, one
//! look and more a pair; with as many choices as there are twins of one colour, exponential at worst.

use std::cmp::Ordering;

use super::{Pairing, Sides};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// Arcs that are looked at before the search gives up, all together, beside a hundred looks at each.
const LIMIT: u64 = 100_000_000;

/// True if there is a way to pair states of the same colours; `None` if it was not found within the limit.
pub(super) fn pairable<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32, colours: [&[u64]; 2]) -> Option<bool> {
    let p = Pairing::of_starts(a, b);
    Search { a, b, delta, colours, p, open: vec![], sides: Sides::default(), steps: 0 }.run()
}

struct Search<'a, W> {
    a: &'a FlatFst<W>,
    b: &'a FlatFst<W>,
    delta: f32,
    colours: [&'a [u64]; 2],
    p: Pairing,
    /// Pairs with twins for whose targets there was more than one way.
    open: Vec<(StateId, StateId)>,
    sides: Sides<W>,
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
type Open = Option<(StateId, Vec<StateId>)>;
type Found = Result<Open, Contradiction>;

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
        let mut sides = std::mem::take(&mut self.sides);
        self.steps += 1 + self.a.arcs(s).len() as u64;
        let found = self.look_at(s, t, &mut sides);
        self.sides = sides;
        found
    }

    fn look_at(&mut self, s: StateId, t: StateId, sides: &mut Sides<W>) -> Found {
        let arcs = [self.a.arcs(s), self.b.arcs(t)];
        let finals_fit = self.a.final_weight(s).approx_eq(self.b.final_weight(t), self.delta);
        if !finals_fit || arcs[0].len() != arcs[1].len() || sides.line_up(arcs, self.delta, self.colours).is_err() {
            return Err(Contradiction);
        }
        let mut choice = None;
        for (left, right, loose) in sides.runs() {
            if loose {
                self.pair_loose(left, right, &mut choice)?;
            } else {
                self.pair_twins(left, right, &mut choice)?;
            }
        }
        Ok(choice)
    }

    fn pair_twins(&mut self, left: &[Arc<W>], right: &[Arc<W>], choice: &mut Open) -> Result<(), Contradiction> {
        let (mut ours, mut theirs) = (targets(left, self.colours[0]), targets(right, self.colours[1]));
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
                *choice = Some((alike[0].2, partners.iter().rev().map(|v| v.2).collect()));
            }
        }
        Ok(())
    }

    /// As `pair_twins`, but the weights of the arcs to two targets must fit, too, in their order.
    fn pair_loose(&mut self, left: &[Arc<W>], right: &[Arc<W>], choice: &mut Open) -> Result<(), Contradiction> {
        let (left, right) = (by_target(left), by_target(right));
        let (ours, theirs) = (bundles(&left), bundles(&right));
        let Search { delta, colours, p, steps, .. } = self;
        let colour = |side: usize, arcs: &[Arc<W>]| colours[side][arcs[0].nextstate as usize];
        let fit = |ours: &[Arc<W>], theirs: &[Arc<W>]| {
            ours.len() == theirs.len()
                && colour(0, ours) == colour(1, theirs)
                && ours.iter().zip(theirs).all(|(x, y)| x.weight.approx_eq(y.weight, *delta))
        };
        // Targets that have their partner must have it here.
        let mut paired = 0;
        for u in &ours {
            let v = p.there[u[0].nextstate as usize];
            if v != NO_STATE {
                let at = theirs.binary_search_by_key(&v, |v| v[0].nextstate).map_err(|_| Contradiction)?;
                if !fit(u, theirs[at]) {
                    return Err(Contradiction);
                }
                paired += 1;
            }
        }
        let mut free: Vec<&[Arc<W>]> = theirs;
        let all = free.len();
        free.retain(|v| p.back[v[0].nextstate as usize] == NO_STATE);
        if ours.len() != all || free.len() != all - paired {
            return Err(Contradiction);
        }
        // Those that may fit lie side by side.
        let least = |arcs: &[Arc<W>]| arcs[0].weight;
        free.sort_by(|v, w| {
            let kinds = (v.len(), colour(1, v)).cmp(&(w.len(), colour(1, w)));
            kinds.then_with(|| least(v).to_f64().total_cmp(&least(w).to_f64()))
        });
        for u in ours {
            if p.there[u[0].nextstate as usize] != NO_STATE {
                continue;
            }
            let kind = (u.len(), colour(0, u));
            let near = |v: &[Arc<W>]| least(u).approx_eq(least(v), *delta);
            let before = |v: &[Arc<W>]| match (v.len(), colour(1, v)).cmp(&kind) {
                Ordering::Equal => least(v).to_f64() < least(u).to_f64() && !near(v),
                order => order.is_lt(),
            };
            let first = free.partition_point(|v| before(v));
            let mut partners =
                free[first..].iter().take_while(|v| (v.len(), colour(1, v)) == kind && near(v)).filter(|v| {
                    *steps += 1;
                    p.back[v[0].nextstate as usize] == NO_STATE && fit(u, v)
                });
            let (state, one) = (u[0].nextstate, partners.next().ok_or(Contradiction)?[0].nextstate);
            match partners.next() {
                None => {
                    drop(partners);
                    p.pair(state, one);
                }
                Some(other) if choice.is_none() => {
                    let mut others: Vec<StateId> = partners.map(|v| v[0].nextstate).collect();
                    others.reverse();
                    others.extend([other[0].nextstate, one]);
                    *choice = Some((state, others));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// Arcs sorted by their target, those to one target by weight.
fn by_target<W: Weight>(arcs: &[Arc<W>]) -> Vec<Arc<W>> {
    let mut arcs = arcs.to_vec();
    arcs.sort_by(|x, y| x.nextstate.cmp(&y.nextstate).then_with(|| x.weight.to_f64().total_cmp(&y.weight.to_f64())));
    arcs
}

/// The arcs to each target, by its number.
fn bundles<W>(arcs: &[Arc<W>]) -> Vec<&[Arc<W>]> {
    arcs.chunk_by(|x, y| x.nextstate == y.nextstate).collect()
}

/// The targets of twins, sorted.
fn targets<W: Weight>(twins: &[Arc<W>], colours: &[u64]) -> Vec<Target> {
    let mut states: Vec<StateId> = twins.iter().map(|a| a.nextstate).collect();
    states.sort_unstable();
    let runs = states.chunk_by(|x, y| x == y);
    let mut targets: Vec<Target> = runs.map(|run| (run.len(), colours[run[0] as usize], run[0])).collect();
    targets.sort_unstable();
    targets
}
