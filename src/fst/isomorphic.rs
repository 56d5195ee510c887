//! Are two automata the same up to the numbers of their states (and the order of arcs)?
//!
//! The start states are paired, then the targets of arcs with equal labels and weights, and so on. Only states that the
//! start reaches count. Where a state has several arcs of the same labels and weight (twins) the pairing is a guess by
//! state number, O(V + E log d) for out-degree d; where weights are near each other and some further apart than
//! `delta`, it is a guess by weight. If that leads to a contradiction, states get colours by what lies around them, and
//! `search` tries the other ways of pairing twins: exact, but exponential at worst, and so it has a limit.

mod colours;
mod search;

use std::cmp::Ordering;

use super::flat::{Arc, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use crate::error::{Error, Result};

/// The first reason why they are not isomorphic, in words, or `None` if they are. Weights within `delta` are equal.
pub fn first_difference<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Result<Option<String>> {
    match (a.start() == NO_STATE, b.start() == NO_STATE) {
        (true, true) => return Ok(None),
        (true, false) => return Ok(Some("the first is empty and the second is not".into())),
        (false, true) => return Ok(Some("the second is empty and the first is not".into())),
        _ => {}
    }
    let mut guess = Guess { a, b, delta, colours: [&[], &[]], sides: Sides::default() };
    let (what, guessed) = match guess.run() {
        None => return Ok(None),
        Some(failed) => failed,
    };
    if !guessed {
        return Ok(Some(what));
    }
    let found = match colours::colours(a, b, delta) {
        None => Some(false),
        Some([ours, theirs]) => {
            guess.colours = [&ours, &theirs];
            if guess.run().is_none() { Some(true) } else { search::pairable(a, b, delta, [&ours, &theirs]) }
        }
    };
    match found {
        Some(true) => Ok(None),
        Some(false) => Ok(Some(format!("no way to pair the states fits; with the first, {what}"))),
        None => Err(Error::op(
            "isomorphic",
            "cannot be decided: too many arcs with the same labels and weight, and too many ways to pair them",
        )),
    }
}

pub fn isomorphic<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Result<bool> {
    Ok(first_difference(a, b, delta)?.is_none())
}

struct Pairing {
    there: Vec<StateId>,
    back: Vec<StateId>,
    queue: Vec<(StateId, StateId)>,
    guessed: bool,
}

impl Pairing {
    fn of_starts<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>) -> Self {
        let (there, back) = (vec![NO_STATE; a.num_states()], vec![NO_STATE; b.num_states()]);
        let mut pairing = Pairing { there, back, queue: vec![], guessed: false };
        pairing.pair(a.start(), b.start());
        pairing
    }

    fn pair(&mut self, s: StateId, t: StateId) -> bool {
        let (x, y) = (self.there[s as usize], self.back[t as usize]);
        if x == NO_STATE && y == NO_STATE {
            self.there[s as usize] = t;
            self.back[t as usize] = s;
            self.queue.push((s, t));
            return true;
        }
        x == t && y == s
    }
}

/// Pairs twins by colour and number, come what may.
struct Guess<'a, W> {
    a: &'a FlatFst<W>,
    b: &'a FlatFst<W>,
    delta: f32,
    /// Of the states of both, or nothing.
    colours: [&'a [u64]; 2],
    sides: Sides<W>,
}

impl<W: Weight> Guess<'_, W> {
    /// What does not fit, and whether twins were paired before that showed; `None` if everything fits.
    fn run(&mut self) -> Option<(String, bool)> {
        let mut p = Pairing::of_starts(self.a, self.b);
        let mut next = 0;
        while let Some(&(s, t)) = p.queue.get(next) {
            next += 1;
            if let Some(what) = self.compare(&mut p, s, t) {
                return Some((what, p.guessed));
            }
        }
        None
    }

    fn compare(&mut self, p: &mut Pairing, s: StateId, t: StateId) -> Option<String> {
        let Guess { a, b, delta, colours, sides } = self;
        let delta = *delta;
        let (f, g) = (a.final_weight(s), b.final_weight(t));
        if !f.approx_eq(g, delta) {
            return Some(format!("states {s} and {t} have final weights {f} and {g}"));
        }
        let (m, n) = (a.arcs(s).len(), b.arcs(t).len());
        if m != n {
            return Some(format!("states {s} and {t} have {m} and {n} arcs"));
        }
        let weights = |x: &Arc<W>, y: &Arc<W>| {
            let (i, o, v, w) = (x.ilabel, x.olabel, x.weight, y.weight);
            Some(format!("arcs {i}:{o} of states {s} and {t} have weights {v} and {w}"))
        };
        if let Err((x, y)) = sides.line_up([a.arcs(s), b.arcs(t)], delta, *colours) {
            if (x.ilabel, x.olabel) == (y.ilabel, y.olabel) {
                return weights(&x, &y);
            }
            let (i, o, j, q) = (x.ilabel, x.olabel, y.ilabel, y.olabel);
            return Some(format!("states {s} and {t} have arcs {i}:{o} and {j}:{q}"));
        }
        for (left, right, _) in sides.runs() {
            p.guessed |= left.iter().any(|x| x.nextstate != left[0].nextstate);
            for (x, y) in left.iter().zip(right) {
                if !x.weight.approx_eq(y.weight, delta) {
                    return weights(x, y);
                }
                if !p.pair(x.nextstate, y.nextstate) {
                    return Some(format!(
                        "arcs {}:{} of states {s} and {t} lead to states {} and {}, which are not the same",
                        x.ilabel, x.olabel, x.nextstate, y.nextstate
                    ));
                }
            }
        }
        None
    }
}

fn same<W: Weight>(x: &Arc<W>, y: &Arc<W>, delta: f32) -> bool {
    x.ilabel == y.ilabel && x.olabel == y.olabel && x.weight.approx_eq(y.weight, delta)
}

/// The arcs of two states side by side, in runs of those that may be paired with each other.
struct Sides<W> {
    left: Vec<Arc<W>>,
    right: Vec<Arc<W>>,
    /// Where each run ends, and whether it is loose.
    runs: Vec<(usize, bool)>,
}

impl<W> Default for Sides<W> {
    fn default() -> Self {
        Sides { left: vec![], right: vec![], runs: vec![] }
    }
}

impl<W: Weight> Sides<W> {
    /// Takes the arcs of two states with equally many. An error, with two arcs that show it, if their labels and
    /// weights alone leave no way to pair them.
    ///
    /// A run has the same labels, and weights that are connected by steps within `delta`, those of both sides taken
    /// together. Twins are sorted by the colour of their target, if there are colours, and its number. If some weights
    /// of a run are further apart than `delta`, it is loose, and sorted by colour, weight and number: without colours
    /// the weights fit.
    fn line_up(
        &mut self,
        arcs: [&[Arc<W>]; 2],
        delta: f32,
        colours: [&[u64]; 2],
    ) -> std::result::Result<(), (Arc<W>, Arc<W>)> {
        let Sides { left, right, runs } = self;
        let by_weight = |x: &Arc<W>, y: &Arc<W>| x.weight.to_f64().total_cmp(&y.weight.to_f64());
        for (out, arcs) in [&mut *left, &mut *right].into_iter().zip(arcs) {
            out.clear();
            out.extend_from_slice(arcs);
            out.sort_by(|x, y| (x.ilabel, x.olabel).cmp(&(y.ilabel, y.olabel)).then_with(|| by_weight(x, y)));
        }
        runs.clear();
        let mut first = 0;
        for (i, (x, y)) in left.iter().zip(right.iter()).enumerate() {
            // On a line, what can be paired at all can be paired in order.
            if !same(x, y, delta) {
                return Err((*x, *y));
            }
            let near = |at: usize| [&left[at], &right[at]].map(|z| (same(x, z, delta), same(y, z, delta)));
            match runs.last_mut() {
                Some((end, loose)) if near(i - 1).iter().any(|n| n.0 || n.1) => {
                    *end = i + 1;
                    *loose |= !near(first).iter().all(|n| n.0 && n.1);
                }
                _ => {
                    first = i;
                    runs.push((i + 1, false));
                }
            }
        }
        let mut from = 0;
        for &(end, loose) in runs.iter() {
            let range = std::mem::replace(&mut from, end)..end;
            if range.len() == 1 {
                continue;
            }
            for (arcs, colours) in [&mut *left, &mut *right].into_iter().zip(colours) {
                let colour = |x: &Arc<W>| colours.get(x.nextstate as usize);
                arcs[range.clone()].sort_by(|x, y| {
                    let by_weight = || if loose { by_weight(x, y) } else { Ordering::Equal };
                    colour(x).cmp(&colour(y)).then_with(by_weight).then(x.nextstate.cmp(&y.nextstate))
                });
            }
        }
        Ok(())
    }

    /// Of each run the arcs of both sides, equally many, and whether it is loose.
    fn runs(&self) -> impl Iterator<Item = (&[Arc<W>], &[Arc<W>], bool)> {
        let mut from = 0;
        self.runs.iter().map(move |&(end, loose)| {
            let range = std::mem::replace(&mut from, end)..end;
            (&self.left[range.clone()], &self.right[range], loose)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{DELTA, Tropical};

    fn arc(l: i32, w: f32, t: StateId) -> Arc<Tropical> {
        Arc::new(l, l, Tropical(w), t)
    }
    const Z: Tropical = Tropical::ZERO;
    const ONE: Tropical = Tropical::ONE;

    #[test]
    fn other_numbers_are_the_same() {
        let a = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1.0, 1), arc(2, 0.0, 0)]), (ONE, vec![])]);
        let b = FlatFst::from_rows(1, vec![(ONE, vec![]), (Z, vec![arc(2, 0.0, 1), arc(1, 1.0, 0)])]);
        assert!(isomorphic(&a, &b, DELTA).unwrap());
        let c = FlatFst::from_rows(1, vec![(ONE, vec![]), (Z, vec![arc(2, 0.0, 1), arc(1, 1.5, 0)])]);
        assert!(first_difference(&a, &c, DELTA).unwrap().unwrap().contains("weights"));
    }

    #[test]
    fn equivalent_is_not_enough() {
        let two = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0.0, 1), arc(2, 0.0, 2)]), (ONE, vec![]), (ONE, vec![])]);
        let one = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0.0, 1), arc(2, 0.0, 1)]), (ONE, vec![])]);
        assert!(!isomorphic(&two, &one, DELTA).unwrap());
        assert!(!isomorphic(&one, &two, DELTA).unwrap());
    }

    #[test]
    fn a_guess_that_fails_is_taken_back() {
        let rows = |x, y| {
            vec![(Z, vec![arc(1, 0.0, 1), arc(1, 0.0, 2)]), (ONE, vec![arc(x, 0.0, 1)]), (ONE, vec![arc(y, 0.0, 2)])]
        };
        let (a, b) = (FlatFst::from_rows(0, rows(5, 6)), FlatFst::from_rows(0, rows(6, 5)));
        assert!(isomorphic(&a, &a, DELTA).unwrap());
        assert!(isomorphic(&a, &b, DELTA).unwrap());
        let c = FlatFst::from_rows(0, rows(6, 6));
        assert!(!isomorphic(&a, &c, DELTA).unwrap() && !isomorphic(&c, &a, DELTA).unwrap());
    }

    /// Weights that are connected by steps within delta, and further apart than it at the ends.
    #[test]
    fn near_weights_are_paired_by_what_follows() {
        let rows = |to: [StateId; 4], weights: [f32; 3]| {
            let mut rows = vec![(Z, vec![]); 5];
            rows[0].1 = (1..4).map(|i| arc(1, weights[i - 1], to[i])).collect();
            (1..4).for_each(|i| rows[to[i] as usize].1.push(arc(i as i32 + 4, 0.0, 4)));
            rows[4].0 = ONE;
            FlatFst::from_rows(0, rows)
        };
        let a = rows([0, 1, 2, 3], [0.0, 0.0009, 0.0018]);
        for to in [[0, 3, 2, 1], [0, 1, 3, 2], [0, 2, 3, 1]] {
            assert!(isomorphic(&a, &rows(to, [0.0, 0.0009, 0.0018]), DELTA).unwrap());
            assert!(isomorphic(&a, &rows(to, [0.0009, 0.0009, 0.001]), DELTA).unwrap());
            // The other way round they are too far apart.
            assert!(!isomorphic(&a, &rows(to, [0.0018, 0.0009, 0.0]), DELTA).unwrap());
        }
    }

    #[test]
    fn many_near_weights_are_fast() {
        let n = 100_000u32;
        let rows = |to: &dyn Fn(u32) -> StateId| {
            let mut rows = vec![(Z, vec![]); n as usize + 1];
            rows[0].1 = (0..n).map(|i| arc(1, i as f32 / 8192.0, to(i))).collect();
            (0..n).for_each(|i| rows[to(i) as usize] = (ONE, vec![arc(i as i32 + 1, 0.0, 0)]));
            FlatFst::from_rows(0, rows)
        };
        assert!(isomorphic(&rows(&|i| i + 1), &rows(&|i| n - i), DELTA).unwrap());
    }

    /// Against all orders of the states: small automata of many twins and of near weights, one a copy of the other with
    /// other numbers and, now and then, with one arc bent.
    #[test]
    fn twins_are_paired_as_brute_force_pairs_them() {
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        let (mut yes, mut no) = (0, 0);
        for case in 0..8000 {
            let near = case % 2 == 1;
            let n = 2 + random(4);
            let mut rows: Vec<(Tropical, Vec<Arc<Tropical>>)> =
                (0..n).map(|_| (if random(3) == 0 { ONE } else { Z }, vec![arc(1, 0.0, 0); random(4)])).collect();
            for a in rows.iter_mut().flat_map(|r| &mut r.1) {
                let weight = if near { random(4) as f32 * 0.0006 } else { 0.0 };
                *a = arc(1 + (random(4) == 0) as i32, weight, random(n) as StateId);
            }
            let mut to: Vec<StateId> = (0..n as StateId).collect();
            (1..n).for_each(|i| to.swap(i, random(i + 1)));
            let mut other = rows.clone();
            for (s, row) in rows.iter().enumerate() {
                let mut moved = |x: &Arc<Tropical>| {
                    let more = if near { random(3) as f32 * 0.0003 } else { 0.0 };
                    arc(x.ilabel, x.weight.0 + more, to[x.nextstate as usize])
                };
                let mut arcs: Vec<_> = row.1.iter().map(&mut moved).collect();
                arcs.reverse();
                other[to[s] as usize] = (row.0, arcs);
            }
            let bent = random(n);
            if random(2) == 0
                && let Some(a) = other[bent].1.first_mut()
            {
                a.nextstate = random(n) as StateId;
            }
            let (a, b) = (FlatFst::from_rows(0, rows.clone()), FlatFst::from_rows(to[0], other.clone()));
            let reached = |f: &FlatFst<Tropical>| {
                let mut seen = vec![f.start()];
                let mut next = 0;
                while let Some(&s) = seen.get(next) {
                    next += 1;
                    for x in f.arcs(s) {
                        if !seen.contains(&x.nextstate) {
                            seen.push(x.nextstate);
                        }
                    }
                }
                seen
            };
            let (from, onto) = (reached(&a), reached(&b));
            let want = from.len() == onto.len() && some_order_fits(&a, &b, &from, &mut onto.clone(), 0);
            assert_eq!(isomorphic(&a, &b, DELTA).unwrap(), want, "{rows:?} {other:?}");
            // Colours leave the search little to do; without them it has to find the same.
            let same = vec![1; n];
            assert_eq!(search::pairable(&a, &b, DELTA, [&same, &same]), Some(want), "{rows:?} {other:?}");
            if want { yes += 1 } else { no += 1 }
        }
        assert!(yes > 500 && no > 500, "{yes} {no}");
    }

    /// True if some order of `onto` from `at` on, state by state, makes `from` the same automaton.
    fn some_order_fits(
        a: &FlatFst<Tropical>,
        b: &FlatFst<Tropical>,
        from: &[StateId],
        onto: &mut Vec<StateId>,
        at: usize,
    ) -> bool {
        if at == from.len() {
            let place = |s: StateId| from.iter().position(|&x| x == s).map(|i| onto[i]);
            return place(a.start()) == Some(b.start())
                && from.iter().zip(&*onto).all(|(&s, &t)| {
                    // What is lined up by labels, target and weight fits in order if it fits at all.
                    let ours = a.arcs(s).iter().map(|x| (x.ilabel, place(x.nextstate).unwrap(), x.weight.0));
                    let theirs = b.arcs(t).iter().map(|x| (x.ilabel, x.nextstate, x.weight.0));
                    let (mut ours, mut theirs): (Vec<_>, Vec<_>) = (ours.collect(), theirs.collect());
                    ours.sort_by(|x, y| x.partial_cmp(y).unwrap());
                    theirs.sort_by(|x, y| x.partial_cmp(y).unwrap());
                    let near = |v: f32, w: f32| Tropical(v).approx_eq(Tropical(w), DELTA);
                    ours.len() == theirs.len()
                        && ours.iter().zip(&theirs).all(|(x, y)| (x.0, x.1) == (y.0, y.1) && near(x.2, y.2))
                        && a.final_weight(s) == b.final_weight(t)
                });
        }
        (at..onto.len()).any(|i| {
            onto.swap(at, i);
            let fits = some_order_fits(a, b, from, onto, at + 1);
            onto.swap(at, i);
            fits
        })
    }
}
