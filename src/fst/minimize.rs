//! Minimizes a deterministic automaton: the fewest states with the same weighted language (for transducers: among those
//! whose outputs are pushed as far to the front as they go).
//!
//! Weighted automata are pushed, their weights rounded to a multiple of `delta`, and labels and weights encoded, so that
//! they are minimized as unweighted acceptors; outputs of transducers are pushed with the weights, as strings, and
//! written out again one label an arc at the end, or as a second transducer from new labels to strings.
//! Acyclic input: states with the same final weight and the same arcs are merged from the end backwards, O(E). Cyclic or
//! nondeterministic input: partition refinement, O(E log V). Nondeterministic input is only merged where states have
//! arcs with the same labels into the same classes, and so the same future; it need not become minimal, and needs the
//! tropical semiring and `allow_nondet`. Nothing is recursive.
//! D. Revuz, Minimisation of acyclic deterministic automata in linear time, TCS 92(1), 1992; J. Hopcroft, An n log n
//! algorithm for minimizing states in a finite automaton, 1971; M. Mohri, Minimization algorithms for sequential
//! transducers, TCS 234, 2000.

mod gallic;
mod hopcroft;
mod stable;

use hashbrown::HashTable;

use super::connect::connect;
use super::encode::{EncodeTable, decode, encode};
use super::flat::{Arc, Builder, FlatFst, NO_STATE, StateId};
use super::reweight::{ReweightType, reweight};
use super::semiring::{SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::stdsort::sort_by_key;
use super::visit;
use crate::error::{Error, Result};

const OP: &str = "minimize";

#[derive(Clone, Copy, Debug)]
pub struct MinimizeConfig {
    /// Weights are rounded to a multiple of this.
    pub delta: f32,
    pub allow_nondet: bool,
}

impl Default for MinimizeConfig {
    fn default() -> Self {
        MinimizeConfig { delta: SHORTEST_DELTA, allow_nondet: false }
    }
}

pub fn minimize<W: Weight>(fst: FlatFst<W>, config: &MinimizeConfig) -> Result<FlatFst<W>> {
    check(&fst, config)?;
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let result = if !fst.is_acceptor() {
        gallic::minimize(fst, config.delta)?.factored()?
    } else {
        acceptor(fst, config.delta)?
    };
    Ok(result.with_symbols(isyms, osyms))
}

/// The minimal transducer with one new label for every string of output, and the transducer from these to the strings.
/// For an acceptor the second is empty.
pub fn minimize_split<W: Weight>(fst: FlatFst<W>, config: &MinimizeConfig) -> Result<(FlatFst<W>, FlatFst<W>)> {
    check(&fst, config)?;
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    if fst.is_acceptor() {
        return Ok((acceptor(fst, config.delta)?.with_symbols(isyms, osyms), FlatFst::empty()));
    }
    gallic::minimize(fst, config.delta)?.split(isyms, osyms)
}

fn check<W: Weight>(fst: &FlatFst<W>, config: &MinimizeConfig) -> Result<()> {
    if !(config.delta > 0.0 && config.delta.is_finite()) {
        return Err(Error::usage(format!("minimize: --delta must be a positive number, not {}", config.delta)));
    }
    if let Some(s) = nondeterministic_state(fst) {
        let what = format!("the input is not deterministic (state {s} has two arcs with the same input label)");
        let message = if !W::PATH {
            format!("{what}, and the {} semiring does not allow that; determinize it first", W::ARC_TYPE)
        } else if !config.allow_nondet {
            format!("{what}; determinize it first, or merge what can be merged with --allow-nondet")
        } else {
            return Ok(());
        };
        return Err(Error::op(OP, message));
    }
    Ok(())
}

/// The first state with two arcs of the same input label.
pub fn nondeterministic_state<W: Weight>(fst: &FlatFst<W>) -> Option<StateId> {
    let mut labels = vec![];
    fst.states().find(|&s| {
        let arcs = fst.arcs(s);
        if arcs.windows(2).all(|p| p[0].ilabel < p[1].ilabel) {
            return false;
        }
        labels.clear();
        labels.extend(arcs.iter().map(|a| a.ilabel));
        labels.sort_unstable();
        labels.windows(2).any(|p| p[0] == p[1])
    })
}

fn acceptor<W: Weight>(fst: FlatFst<W>, delta: f32) -> Result<FlatFst<W>> {
    let plain = |w: W| w.is_one_w() || w.is_zero_w();
    if fst.all_arcs().iter().all(|a| plain(a.weight)) && fst.finals().iter().all(|&w| plain(w)) {
        return Ok(merge(fst));
    }
    let distance =
        shortest_distance(&fst, &DistanceConfig { reverse: true, delta: Some(delta), ..Default::default() })?;
    let mut fst = reweight(fst, &distance, ReweightType::ToInitial);
    for a in fst.all_arcs_mut() {
        a.weight = a.weight.quantized(delta);
    }
    for w in fst.finals_mut() {
        *w = w.quantized(delta);
    }
    let mut table = EncodeTable::new(true, true);
    let coded = encode(&fst, &mut table);
    drop(fst);
    decode(merge(coded), &table)
}

/// The minimal automaton of an unweighted acceptor: one state for every class of states with the same future, in the
/// order of the states that stand for them. Which one does is OpenFst's choice.
fn merge<W: Weight>(fst: FlatFst<W>) -> FlatFst<W> {
    let mut fst = connect(fst);
    if fst.start() == NO_STATE {
        return fst;
    }
    let mut deterministic = true;
    let mut spare = vec![];
    for s in fst.states() {
        let arcs = fst.arcs_mut(s);
        if !arcs.is_sorted_by(|a, b| a.ilabel < b.ilabel) {
            sort_by_key(arcs, &mut spare, |a| a.ilabel);
            deterministic &= arcs.is_sorted_by(|a, b| a.ilabel < b.ilabel);
        }
    }
    let order = if deterministic { visit::topological_order(&fst) } else { None };
    let stands_for = match order {
        Some(order) => acyclic(&fst, &order),
        None if deterministic => hopcroft::classes(&fst),
        None => stable::refine(&fst, hopcroft::classes(&fst)),
    };
    let mut id = vec![NO_STATE; fst.num_states()];
    let mut count = 0;
    for s in fst.states() {
        if stands_for[s as usize] == s {
            id[s as usize] = count;
            count += 1;
        }
    }
    let mut b = Builder::with_capacity(count as usize, fst.num_arcs());
    let mut arcs: Vec<Arc<W>> = vec![];
    for s in fst.states().filter(|&s| stands_for[s as usize] == s) {
        b.add_state(fst.final_weight(s));
        let mapped = fst.arcs(s).iter().map(|a| Arc { nextstate: id[stands_for[a.nextstate as usize] as usize], ..*a });
        if deterministic {
            b.extend_arcs(mapped);
            continue;
        }
        arcs.clear();
        arcs.extend(mapped);
        arcs.sort_by_key(|a| (a.ilabel, a.olabel, a.nextstate));
        arcs.dedup();
        b.extend_arcs(arcs.iter().copied());
    }
    b.set_start(id[stands_for[fst.start() as usize] as usize]);
    b.finish().with_symbols_of(&fst)
}

/// For every state of a trim acyclic deterministic acceptor the state that stands for its class.
fn acyclic<W: Weight>(fst: &FlatFst<W>, order: &[StateId]) -> Vec<StateId> {
    let n = fst.num_states();
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut class = vec![0u32; n];
    // Of each class: a member, its height, and the least member.
    let mut member: Vec<StateId> = vec![];
    let mut height: Vec<u32> = vec![];
    let mut least: Vec<StateId> = vec![];
    let mut top: Vec<StateId> = vec![0; n + 1]; // the greatest state of each height
    let mut table: HashTable<(u32, u32)> = HashTable::with_capacity(n / 2);
    for &s in order.iter().rev() {
        let mut h = fst.final_weight(s).key().wrapping_mul(SEED);
        for a in fst.arcs(s) {
            let x = (a.ilabel as u32 as u64) << 32 | class[a.nextstate as usize] as u64;
            h = (h.rotate_left(26) ^ x).wrapping_mul(SEED);
        }
        let h = (h >> 32) as u32 ^ h as u32;
        let spread = |h: u32| (h as u64).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(32);
        let found = table.find(spread(h), |&(g, c)| {
            g == h && {
                let (x, y) = (fst.arcs(s), fst.arcs(member[c as usize]));
                x.len() == y.len()
                    && fst.final_weight(s) == fst.final_weight(member[c as usize])
                    && x.iter().zip(y).all(|(x, y)| {
                        x.ilabel == y.ilabel && class[x.nextstate as usize] == class[y.nextstate as usize]
                    })
            }
        });
        let c = match found {
            Some(&(_, c)) => c,
            None => {
                let c = member.len() as u32;
                member.push(s);
                let up = fst.arcs(s).iter().map(|a| height[class[a.nextstate as usize] as usize] + 1).max();
                height.push(up.unwrap_or(0));
                least.push(s);
                table.insert_unique(spread(h), (h, c), |e| spread(e.0));
                c
            }
        };
        class[s as usize] = c;
        least[c as usize] = least[c as usize].min(s);
        let top = &mut top[height[c as usize] as usize];
        *top = s.max(*top);
    }
    // The greatest state of a height stands for its class, in the other classes the least does.
    let stands: Vec<StateId> = (0..member.len())
        .map(|c| {
            let top = top[height[c] as usize];
            if class[top as usize] == c as u32 { top } else { least[c] }
        })
        .collect();
    class.iter().map(|&c| stands[c as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Label;
    use crate::fst::semiring::{Log, Tropical};
    use crate::fst::testing::{ONE, Z, arc};
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn weights_are_pushed_before_states_are_merged() {
        // a/1 b/2 and c/2 b/1: after pushing both middle states are the same.
        let f = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 1, 1.0, 1), arc(3, 3, 2.0, 2)]),
                (Z, vec![arc(2, 2, 2.0, 3)]),
                (Z, vec![arc(2, 2, 1.0, 3)]),
                (ONE, vec![]),
            ],
        );
        let m = minimize(f, &Default::default()).unwrap();
        assert_eq!((m.num_states(), m.num_arcs()), (3, 3));
        assert!(m.arcs(m.start()).iter().all(|a| a.weight.approx_eq(Tropical(3.0), 1e-5)));
    }

    #[test]
    fn nondeterministic_input_is_refused_with_advice() {
        let rows = |w: f32| vec![(Z, vec![arc(1, 1, w, 1), arc(1, 1, w, 0)]), (ONE, vec![])];
        let e = minimize(FlatFst::from_rows(0, rows(0.0)), &Default::default()).unwrap_err().to_string();
        assert!(e.contains("determinize it first"), "{e}");
        let allow = MinimizeConfig { allow_nondet: true, ..Default::default() };
        assert!(minimize(FlatFst::from_rows(0, rows(0.0)), &allow).is_ok());
        let log = FlatFst::from_rows(0, rows(0.0)).map_weights(|w| Log(w.0));
        assert!(minimize(log, &allow).is_err());
    }

    #[test]
    fn a_chain_of_many_states() {
        let n = 200_000u32;
        let mut rows: Vec<_> = (0..n).map(|s| (Z, vec![arc(1, 2, 0.25, s + 1)])).collect();
        rows.push((ONE, vec![]));
        let m = minimize(FlatFst::from_rows(0, rows), &Default::default()).unwrap();
        assert_eq!(m.num_states(), n as usize + 1);
    }

    /// The strings up to a length.
    fn strings(f: &FlatFst<Tropical>, length: usize) -> BTreeSet<Vec<Label>> {
        let mut all = BTreeSet::new();
        let mut paths: BTreeSet<(Vec<Label>, StateId)> = [(vec![], f.start())].into();
        for _ in 0..=length {
            all.extend(paths.iter().filter(|p| f.is_final(p.1)).map(|p| p.0.clone()));
            let longer = paths.iter().flat_map(|(string, s)| {
                f.arcs(*s).iter().map(|a| ([string.as_slice(), &[a.ilabel]].concat(), a.nextstate))
            });
            paths = longer.collect();
        }
        all
    }

    const ALLOW: MinimizeConfig = MinimizeConfig { delta: SHORTEST_DELTA, allow_nondet: true };

    /// State 7 leads to three groups of states, of which the second has arcs into both others.
    #[test]
    fn arcs_into_both_halves_of_a_class_tell_states_apart() {
        let mut rows = vec![(Z, vec![]); 11];
        rows[0].0 = ONE;
        for (s, t, l) in [
            (7, 5, 20),
            (7, 6, 21),
            (7, 10, 22),
            (1, 0, 4),
            (2, 0, 5),
            (3, 1, 3),
            (4, 2, 3),
            (5, 8, 1),
            (5, 9, 1),
            (6, 9, 1),
            (8, 3, 2),
            (9, 4, 2),
            (10, 3, 2),
        ] {
            rows[s as usize].1.push(arc(l, l, 0.0, t));
        }
        let f = FlatFst::from_rows(7, rows);
        let m = minimize(f.clone(), &ALLOW).unwrap();
        assert_eq!(strings(&m, 6), strings(&f, 6));
    }

    /// Copies of a few states, with arcs into one or more copies of the targets, and little that makes them different:
    /// against refining by all classes until nothing changes.
    #[test]
    fn nondeterministic_automata_keep_their_strings() {
        let mut rng = SmallRng::seed_from_u64(5);
        let mut apart = 0;
        for _ in 0..3000 {
            let (states, copies) = (rng.random_range(2..5u32), rng.random_range(2..4u32));
            let n = states * copies;
            let mut rows = vec![(Z, vec![]); n as usize];
            for s in 0..states {
                let last = s == 0;
                let arcs: Vec<(Label, StateId)> = (0..rng.random_range(1..3))
                    .map(|_| (rng.random_range(1..3), rng.random_range(0..states)))
                    .collect();
                for c in 0..copies {
                    let row = &mut rows[(s * copies + c) as usize];
                    row.0 = if last { ONE } else { Z };
                    for &(l, t) in &arcs {
                        let to = rng.random_range(0..copies);
                        row.1.push(arc(l, l, 0.0, t * copies + to));
                        if rng.random_bool(0.5) {
                            row.1.push(arc(l, l, 0.0, t * copies + (to + 1) % copies));
                        }
                    }
                }
            }
            for _ in 0..rng.random_range(1..3) {
                let s = rng.random_range(0..n) as usize;
                rows[s].1.push(arc(3, 3, 0.0, rng.random_range(0..n)));
            }
            let f = connect(FlatFst::from_rows(rng.random_range(0..n), rows));
            if f.start() == NO_STATE {
                continue;
            }
            let mut class: Vec<usize> = f.states().map(|s| f.is_final(s) as usize).collect();
            loop {
                let mut kinds = BTreeMap::new();
                let finer: Vec<usize> = f
                    .states()
                    .map(|s| {
                        let to: BTreeSet<_> =
                            f.arcs(s).iter().map(|a| (a.ilabel, class[a.nextstate as usize])).collect();
                        let next = kinds.len();
                        *kinds.entry((class[s as usize], to)).or_insert(next)
                    })
                    .collect();
                if finer == std::mem::replace(&mut class, finer.clone()) {
                    break;
                }
            }
            let m = minimize(f.clone(), &ALLOW).unwrap();
            assert_eq!(m.num_states(), class.iter().collect::<BTreeSet<_>>().len(), "{f:?}");
            assert_eq!(strings(&m, 5), strings(&f, 5), "{f:?}");
            let mut sorted = f.clone();
            f.states().for_each(|s| sorted.arcs_mut(s).sort_by_key(|a| a.ilabel));
            let halves: BTreeSet<StateId> = hopcroft::classes(&sorted).into_iter().collect();
            apart += (halves.len() < m.num_states()) as u32;
        }
        assert!(apart > 30, "{apart} automata have arcs into both halves of a class");
    }

    /// Random complete-ish acceptors against the classes of pairs that no string tells apart.
    #[test]
    fn as_few_states_as_classes() {
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..400 {
            let n = rng.random_range(1..8u32);
            let rows: Vec<_> = (0..n)
                .map(|_| {
                    let mut arcs = vec![];
                    for label in [3, 1, 2] {
                        if rng.random_bool(0.6) {
                            arcs.push(arc(label, label, 0.0, rng.random_range(0..n)));
                        }
                    }
                    (if rng.random_bool(0.4) { ONE } else { Z }, arcs)
                })
                .collect();
            let f = connect(FlatFst::from_rows(0, rows));
            let n = f.num_states();
            let go = |s: usize, l: Label| f.arcs(s as u32).iter().find(|a| a.ilabel == l).map(|a| a.nextstate as usize);
            let mut differ = vec![vec![false; n + 1]; n + 1];
            let last = |s: usize| s < n && f.is_final(s as u32);
            for _ in 0..=n * n {
                for p in 0..=n {
                    for q in 0..=n {
                        let step = |s: usize, l| if s == n { n } else { go(s, l).unwrap_or(n) };
                        differ[p][q] |= last(p) != last(q) || (1..=3).any(|l| differ[step(p, l)][step(q, l)]);
                    }
                }
            }
            let classes = (0..n).filter(|&p| (0..p).all(|q| differ[p][q])).count();
            assert_eq!(minimize(f.clone(), &Default::default()).unwrap().num_states(), classes);
        }
    }
}
