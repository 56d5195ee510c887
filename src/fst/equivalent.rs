//! Do two automata accept the same strings with the same weights?
//!
//! Epsilon-free deterministic acceptors are compared as they are, after weights are pushed: pairs of states that one
//! string reaches are merged with union-find, and must agree in their labels, weights and final weights. Almost linear.
//! Anything else is prepared first, which may be exponential and is stopped at `max_states`: unconnected states and
//! epsilons are removed, labels of transducers are encoded in pairs, and the acceptor is determinized. Transducers that
//! differ as sequences of label pairs may still be equal as relations: that is decided by the delay of one output behind
//! the other if both are deterministic without input epsilons, and is an error otherwise.
//! `random_equivalent` compares the weights of random paths instead, for any input.
//! J. Hopcroft and R. Karp, A linear algorithm for testing equivalence of finite automata, 1971.

mod delay;
mod random;

pub use super::randgen::Select;
pub use random::{RandomConfig, random_equivalent};

use super::connect::connect;
use super::determinize::{DeterminizeConfig, determinize};
use super::encode::{EncodeTable, encode};
use super::flat::{EPSILON, FlatFst, NO_STATE};
use super::minimize::nondeterministic_state;
use super::rmepsilon::{RmEpsilonConfig, rmepsilon};
use super::semiring::{DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::symbols::compatible_symbols;
use super::visit::start_on_cycle;
use crate::error::{Error, Result};

const OP: &str = "equivalent";

#[derive(Clone, Copy, Debug)]
pub struct EquivalentConfig {
    /// Weights this close are equal.
    pub delta: f32,
    /// Where to stop determinizing input that is not deterministic; 0: nowhere.
    pub max_states: usize,
}

impl Default for EquivalentConfig {
    fn default() -> Self {
        EquivalentConfig { delta: DELTA, max_states: 1_000_000 }
    }
}

pub fn equivalent<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &EquivalentConfig) -> Result<bool> {
    check(a, b, config.delta)?;
    let trim = |f: &FlatFst<W>| {
        let f = drop_zero_arcs(f);
        let f = if f.all_arcs().iter().any(|x| x.ilabel == EPSILON && x.olabel == EPSILON) {
            rmepsilon(f, &RmEpsilonConfig::default())?
        } else {
            f
        };
        Ok::<_, Error>(connect(f))
    };
    let (a, b) = (trim(a)?, trim(b)?);
    if a.is_acceptor() && b.is_acceptor() {
        return acceptors(a, b, config);
    }
    // The same pairs of labels with the same weights: then they are equal. The other way round is not so.
    let mut table = EncodeTable::new(true, false);
    let coded = (encode(&a, &mut table), encode(&b, &mut table));
    let same_pairs = acceptors(coded.0, coded.1, config);
    if matches!(same_pairs, Ok(true)) {
        return Ok(true);
    }
    let sequential =
        |f: &FlatFst<W>| nondeterministic_state(f).is_none() && f.all_arcs().iter().all(|x| x.ilabel != EPSILON);
    if sequential(&a) && sequential(&b) {
        return Ok(delay::equivalent(&a, &b, config.delta));
    }
    same_pairs?;
    Err(Error::op(
        OP,
        "cannot be decided: the transducers differ in how input and output labels are paired on arcs, and are not \
         deterministic, so that their relations may still be equal; compare random paths (--random --npath 1000)",
    ))
}

fn check<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Result<()> {
    if !(delta > 0.0 && delta.is_finite()) {
        return Err(Error::usage(format!("equivalent: --delta must be a positive number, not {delta}")));
    }
    compatible_symbols(OP, a.isyms.as_deref(), b.isyms.as_deref())?;
    compatible_symbols(OP, a.osyms.as_deref(), b.osyms.as_deref())
}

/// Arcs of weight zero are as good as none.
fn drop_zero_arcs<W: Weight>(fst: &FlatFst<W>) -> FlatFst<W> {
    if fst.all_arcs().iter().all(|a| !a.weight.is_zero_w()) {
        return fst.clone();
    }
    let mut b = super::flat::Builder::with_capacity(fst.num_states(), fst.num_arcs());
    for s in fst.states() {
        b.add_state(fst.final_weight(s));
        b.extend_arcs(fst.arcs(s).iter().filter(|a| !a.weight.is_zero_w()).copied());
    }
    b.set_start(fst.start());
    b.finish()
}

/// Trim epsilon-free acceptors.
fn acceptors<W: Weight>(a: FlatFst<W>, b: FlatFst<W>, config: &EquivalentConfig) -> Result<bool> {
    let det = |f: FlatFst<W>| {
        if nondeterministic_state(&f).is_none() {
            return Ok(f);
        }
        // Residual weights are rounded more finely than they are compared, so that errors do not add up.
        let config =
            DeterminizeConfig { delta: config.delta / 1024.0, max_states: config.max_states, ..Default::default() };
        determinize(&f, &config)
    };
    let (mut a, mut b) = (det(a)?, det(b)?);
    if a.start() == NO_STATE || b.start() == NO_STATE {
        return Ok(a.start() == b.start());
    }
    sort(&mut a);
    sort(&mut b);
    if !a.is_unweighted() || !b.is_unweighted() {
        let to_end = DistanceConfig { reverse: true, ..Default::default() };
        let (Ok(p), Ok(q)) = (shortest_distance(&a, &to_end), shortest_distance(&b, &to_end)) else {
            // A sum over cycles that does not converge: the paths still have weights, one a string.
            return Ok(delay::equivalent(&a, &b, config.delta));
        };
        let totals = (push(&mut a, &p), push(&mut b, &q));
        if start_on_cycle(&a) || start_on_cycle(&b) {
            // OpenFst puts a state in front where the start lies on a cycle, and so tells a cycle from the same cycle
            // with its first round unrolled. The totals are compared by themselves instead.
            if !same_weight(totals.0, totals.1, config.delta) {
                return Ok(false);
            }
        } else {
            // As OpenFst pushes: rounding then acts on the same weights.
            multiply_start(&mut a, totals.0);
            multiply_start(&mut b, totals.1);
        }
    }
    Ok(same_language(&a, &b, config.delta))
}

/// OpenFst's test: both round to the same multiple of `delta`. So weights that lie nearer than delta to each other may
/// differ, on either side of an edge; only what the rounding of sums can do is forgiven.
fn same_weight<W: Weight>(x: W, y: W, delta: f32) -> bool {
    const NOISE: f32 = 1e-5;
    x.quantized(delta) == y.quantized(delta) || x.approx_eq(y, NOISE.min(delta / 2.0))
}

fn multiply_start<W: Weight>(fst: &mut FlatFst<W>, weight: W) {
    let start = fst.start();
    fst.arcs_mut(start).iter_mut().for_each(|a| a.weight = weight.otimes(a.weight));
    let w = &mut fst.finals_mut()[start as usize];
    *w = weight.otimes(*w);
}

/// Pushes weights to the front by the distances to the end, and takes them off there: the total.
fn push<W: Weight>(fst: &mut FlatFst<W>, d: &[W]) -> W {
    for s in fst.states() {
        let here = d[s as usize];
        for a in fst.arcs_mut(s) {
            a.weight = a.weight.otimes(d[a.nextstate as usize]).odivide(here);
        }
        let w = &mut fst.finals_mut()[s as usize];
        *w = w.odivide(here);
    }
    d[fst.start() as usize]
}

fn sort<W: Weight>(fst: &mut FlatFst<W>) {
    for s in fst.states() {
        fst.arcs_mut(s).sort_unstable_by_key(|a| a.ilabel);
    }
}

/// Trim deterministic acceptors with sorted arcs and pushed weights.
fn same_language<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> bool {
    let n = a.num_states() as u32;
    let mut parent: Vec<u32> = (0..n + b.num_states() as u32).collect();
    fn find(parent: &mut [u32], mut x: u32) -> u32 {
        while parent[x as usize] != x {
            parent[x as usize] = parent[parent[x as usize] as usize];
            x = parent[x as usize];
        }
        x
    }
    let mut stack = vec![(a.start(), b.start())];
    while let Some((s, t)) = stack.pop() {
        let (x, y) = (find(&mut parent, s), find(&mut parent, n + t));
        if x == y {
            continue;
        }
        parent[x as usize] = y;
        if !same_weight(a.final_weight(s), b.final_weight(t), delta) {
            return false;
        }
        let (p, q) = (a.arcs(s), b.arcs(t));
        // Every arc lies on a successful path, so that an arc of one alone is a string of one alone.
        if p.len() != q.len() {
            return false;
        }
        for (x, y) in p.iter().zip(q) {
            if x.ilabel != y.ilabel || !same_weight(x.weight, y.weight, delta) {
                return false;
            }
            stack.push((x.nextstate, y.nextstate));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::{Arc, Label, StateId};
    use crate::fst::semiring::Tropical;

    const Z: Tropical = Tropical::ZERO;
    const ONE: Tropical = Tropical::ONE;
    fn arc(i: Label, o: Label, w: f32, t: StateId) -> Arc<Tropical> {
        Arc::new(i, o, Tropical(w), t)
    }
    fn same(a: &FlatFst<Tropical>, b: &FlatFst<Tropical>) -> bool {
        equivalent(a, b, &Default::default()).unwrap()
    }

    #[test]
    fn weights_may_lie_anywhere_on_the_path() {
        let early = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 3.0, 1)]), (ONE, vec![arc(2, 2, 1.0, 1)])]);
        let late = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 1.0, 1)]), (Tropical(2.0), vec![arc(2, 2, 1.0, 1)])]);
        let other = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 1.0, 1)]), (Tropical(2.0), vec![arc(2, 2, 1.1, 1)])]);
        assert!(same(&early, &late));
        assert!(!same(&early, &other));
    }

    #[test]
    fn a_start_on_a_cycle_is_no_matter() {
        let cycle = FlatFst::from_rows(0, vec![(Tropical(2.0), vec![arc(1, 1, 0.5, 0)])]);
        let ahead = FlatFst::from_rows(
            0,
            vec![(Tropical(2.0), vec![arc(1, 1, 0.5, 1)]), (Tropical(2.0), vec![arc(1, 1, 0.5, 1)])],
        );
        assert!(same(&cycle, &ahead));
    }

    #[test]
    fn nondeterminism_and_epsilons_are_prepared() {
        let plain = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 1.0, 1)]), (ONE, vec![])]);
        let messy = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 1, 1.0, 1), arc(1, 1, 4.0, 1), arc(0, 0, 0.5, 2)]),
                (ONE, vec![]),
                (Z, vec![arc(1, 1, 0.5, 1), arc(9, 9, 0.0, 3)]),
                (Z, vec![]),
            ],
        );
        assert!(same(&plain, &messy));
        assert!(same(&FlatFst::empty(), &FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 0.0, 0)])])));
        assert!(!same(&FlatFst::empty(), &plain));
    }

    #[test]
    fn output_may_come_early_or_late() {
        let early =
            FlatFst::from_rows(0, vec![(Z, vec![arc(1, 7, 1.0, 1)]), (Z, vec![arc(2, 0, 0.0, 2)]), (ONE, vec![])]);
        let late =
            FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0, 0.0, 1)]), (Z, vec![arc(2, 7, 1.0, 2)]), (ONE, vec![])]);
        let other =
            FlatFst::from_rows(0, vec![(Z, vec![arc(1, 0, 0.0, 1)]), (Z, vec![arc(2, 8, 1.0, 2)]), (ONE, vec![])]);
        assert!(same(&early, &late));
        assert!(!same(&early, &other));
        let random = RandomConfig { npath: 20, ..Default::default() };
        assert!(random_equivalent(&early, &late, &random).unwrap());
        assert!(!random_equivalent(&early, &other, &random).unwrap());
        let guess = FlatFst::from_rows(
            0,
            vec![(Z, vec![arc(1, 0, 0.0, 1), arc(1, 0, 0.0, 1)]), (Z, vec![arc(2, 7, 1.0, 2)]), (ONE, vec![])],
        );
        assert!(same(&late, &guess));
        assert!(equivalent(&early, &guess, &Default::default()).is_err());
    }
}
