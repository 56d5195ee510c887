//! n-gram posteriors, arc posteriors, confidences and LMBR against every path of random lattices.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weft::fst::any::AnyFst;
use weft::fst::semiring::{Log64, Tropical};
use weft::rescore::confidence::{arc_posteriors, confidences};
use weft::rescore::lattice::Lattice;
use weft::rescore::lmbr::{Thetas, best_path, canonical, gains, rescored};
use weft::rescore::mix::{Mixture, System};
use weft::rescore::ngrams::{GramId, Grams};
use weft::rescore::posteriors::Evidence;

use crate::random::*;

const OP: &str = "test";
const MOST: usize = 1_000_000;
type Numbers = BTreeMap<Vec<i64>, f64>;

/// Few words, so that paths have n-grams twice; epsilons; several final states.
const SHAPE: Shape = Shape { labels: 2, states: 9, arcs: 22, ..ACYCLIC.epsilons() };

fn lattice(a: &Automaton) -> Option<Lattice> {
    Lattice::new(OP, &a.flat::<Log64>()).ok()
}

/// The words of every path with its probability.
fn probabilities(a: &Automaton, alpha: f64) -> Vec<(Vec<i64>, f64)> {
    let all: Vec<(Vec<i64>, f64)> = a.paths().into_iter().map(|p| (p.o, (-alpha * p.weight).exp())).collect();
    let total: f64 = all.iter().map(|p| p.1).sum();
    all.into_iter().map(|(words, p)| (words, p / total)).collect()
}

/// Path posteriors and expected counts of all n-grams, one path after the other.
fn brute(a: &Automaton, alpha: f64, order: usize) -> (Numbers, Numbers) {
    let (mut path, mut count) = (Numbers::new(), Numbers::new());
    for (words, p) in probabilities(a, alpha) {
        let mut here: Vec<&[i64]> = (1..=order).flat_map(|n| words.windows(n)).collect();
        for u in &here {
            *count.entry(u.to_vec()).or_default() += p;
        }
        here.sort();
        here.dedup();
        for u in here {
            *path.entry(u.to_vec()).or_default() += p;
        }
    }
    (path, count)
}

fn named(grams: &Grams, g: GramId) -> Vec<i64> {
    grams.words(g).into_iter().map(i64::from).collect()
}

fn found(lattice: Lattice, alphas: &[f64], order: usize) -> Vec<(Numbers, Numbers)> {
    let mut grams = Grams::default();
    let evidence = Evidence::new(OP, lattice, &mut grams, order, MOST).unwrap();
    let all = evidence.posteriors(OP, &grams, alphas).unwrap();
    let numbers = |v: &[f64]| (1..grams.count()).map(|g| (named(&grams, g as GramId), v[g])).collect();
    all.iter().map(|p| (numbers(&p.path), numbers(&p.count))).collect()
}

fn close(want: &Numbers, got: &Numbers) -> Result<(), TestCaseError> {
    prop_assert!(want.keys().eq(got.keys()), "{:?} instead of {:?}", got, want);
    for (u, p) in want {
        prop_assert!((p - got[u]).abs() < 1e-12, "{:?}: {} instead of {}", u, got[u], p);
    }
    Ok(())
}

/// The gain of a sentence by its definition.
fn gain(words: &[i64], posteriors: &Numbers, thetas: &Thetas, wp: f64) -> f64 {
    let of_order = |n: usize| -> f64 { words.windows(n).filter_map(|u| posteriors.get(u)).sum() };
    let ngrams: f64 = (1..=thetas.order()).map(|n| thetas.0[n] * of_order(n)).sum();
    (thetas.0[0] - wp) * words.len() as f64 + ngrams
}

fn system(a: &Automaton, weight: f64, hypotheses: bool) -> Option<System> {
    lattice(a).map(|lattice| System { lattice, weight, hypotheses })
}

/// The words of the best path, with its gain.
fn best(m: &Mixture, scale: usize, thetas: &Thetas, wp: f64) -> (Vec<i64>, f64) {
    let gains = gains(&m.grams, &m.posteriors[scale], thetas);
    let (words, gain) = best_path(&m.lattice, &m.hypotheses, &gains, wp);
    (words.into_iter().map(i64::from).collect(), gain)
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn posteriors_are_those_of_all_paths(a in automaton(SHAPE), alpha in 0u32..5, order in 1usize..6) {
        let Some(lattice) = lattice(&a) else { return Ok(()) };
        let alphas = [alpha as f64 / 2.0, 0.75];
        for (found, &alpha) in found(lattice, &alphas, order).iter().zip(&alphas) {
            let (path, count) = brute(&a, alpha, order);
            close(&path, &found.0)?;
            close(&count, &found.1)?;
        }
    }

    #[test]
    fn lmbr_is_the_best_of_all_paths(
        a in automaton(SHAPE), b in automaton(Shape { labels: 3, ..SHAPE }), mix in 0u32..5, wp in -2i32..3, p in 1u32..9, order in 1usize..5
    ) {
        let (Some(hypotheses), Some(one), Some(two)) = (lattice(&a), system(&a, mix as f64 / 4.0, false), system(&b, 1.0 - mix as f64 / 4.0, false)) else {
            return Ok(());
        };
        let (wp, alphas) = (wp as f64 / 20.0, [0.5, 2.0]);
        let thetas = Thetas::from_precision(p as f64 / 10.0, 0.6, 10.0, order);
        let m = Mixture::new(OP, Some(hypotheses), vec![one, two], &alphas, order, MOST).unwrap();
        for (scale, &alpha) in alphas.iter().enumerate() {
            let mut mixed = Numbers::new();
            for (x, w) in [(&a, mix as f64 / 4.0), (&b, 1.0 - mix as f64 / 4.0)] {
                for (u, p) in brute(x, alpha, order).0 {
                    *mixed.entry(u).or_default() += w * p;
                }
            }
            let all: Vec<(Vec<i64>, f64)> = a.paths().into_iter().map(|p| (p.o.clone(), gain(&p.o, &mixed, &thetas, wp))).collect();
            let most = all.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
            let (words, found) = best(&m, scale, &thetas, wp);
            prop_assert!((found - most).abs() < 1e-12, "{} instead of {}", found, most);
            prop_assert!((gain(&words, &mixed, &thetas, wp) - most).abs() < 1e-12);
            prop_assert!(all.iter().any(|p| p.0 == words));
            // The lattice of gains has every path with its gain.
            let gains = gains(&m.grams, &m.posteriors[scale], &thetas);
            let made = Automaton::of(&AnyFst::Standard(rescored(&m.lattice, &m.hypotheses, &gains, wp)));
            let mut costs: Vec<(Vec<i64>, f64)> = made.paths().into_iter().map(|p| (p.o, p.weight)).collect();
            let mut want: Vec<(Vec<i64>, f64)> = all.iter().map(|(words, g)| (words.clone(), -g)).collect();
            let order = |x: &(Vec<i64>, f64), y: &(Vec<i64>, f64)| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1));
            costs.sort_by(order);
            want.sort_by(order);
            prop_assert_eq!(costs.len(), want.len());
            for (c, w) in costs.iter().zip(&want) {
                prop_assert!(c.0 == w.0 && (c.1 - w.1).abs() < 1e-5, "{:?} instead of {:?}", c, w);
            }
        }
    }

    #[test]
    fn a_mixture_with_weight_one_is_the_single_system(a in automaton(SHAPE), b in automaton(SHAPE)) {
        let (Some(one), Some(same), Some(other)) = (system(&a, 1.0, true), system(&a, 1.0, true), system(&b, 0.0, false)) else {
            return Ok(());
        };
        let thetas = Thetas::from_precision(0.85, 0.72, 10.0, 4);
        let single = Mixture::new(OP, None, vec![one], &[0.5], 4, MOST).unwrap();
        let mixed = Mixture::new(OP, None, vec![same, other], &[0.5], 4, MOST).unwrap();
        prop_assert_eq!(best(&single, 0, &thetas, 0.0), best(&mixed, 0, &thetas, 0.0));
    }

    #[test]
    fn the_evidence_of_hifst_has_one_path_a_string(a in automaton(SHAPE), beam in 0u32..12) {
        let Some(lattice) = lattice(&a) else { return Ok(()) };
        let costs = |paths: Vec<Path>| {
            let mut best = Numbers::new();
            for p in paths {
                let c = best.entry(p.o).or_insert(f64::INFINITY);
                *c = c.min(p.weight);
            }
            best
        };
        let all = costs(a.paths());
        let least = all.values().copied().fold(f64::INFINITY, f64::min);
        let of = |l: &Lattice| {
            let fst = l.to_fst::<Tropical>(|_, a| a.cost, |s| l.finals[s as usize]);
            Automaton::of(&AnyFst::Standard(fst)).paths()
        };
        let small = of(&canonical(&lattice, None, MOST).unwrap());
        prop_assert_eq!(small.len(), all.len());
        for (words, c) in costs(small) {
            prop_assert!((c - all[&words]).abs() < 1e-4);
        }
        let beam = beam as f64 / 4.0 + 0.1;
        let pruned = costs(of(&canonical(&lattice, Some(beam), MOST).unwrap()));
        for (words, c) in &all {
            prop_assert!(*c > least + beam || (pruned[words] - c).abs() < 1e-4);
        }
        prop_assert!(pruned.keys().all(|w| all.contains_key(w)));
    }

    #[test]
    fn arcs_and_words(a in automaton(SHAPE), alpha in 0u32..5) {
        let Some(lattice) = lattice(&a) else { return Ok(()) };
        let alpha = alpha as f64 / 2.0;
        let fst = a.flat::<Log64>();
        let made = Automaton::of(&AnyFst::Log64(arc_posteriors(OP, &fst, &lattice, alpha).unwrap()));
        // What leaves the start is everything, but for what ends there.
        let p = |cost: f64| (-cost).exp();
        let leaves: f64 = made.arcs[made.start].iter().map(|a| p(a.w)).sum::<f64>() + p(made.finals[made.start]);
        prop_assert!((leaves - 1.0).abs() < 1e-9);
        prop_assert!((made.finals.iter().map(|&f| p(f)).sum::<f64>() - 1.0).abs() < 1e-9);
        let mut by_word: BTreeMap<i64, f64> = BTreeMap::new();
        made.arcs.iter().flatten().filter(|a| a.o != 0).for_each(|a| *by_word.entry(a.o).or_default() += p(a.w));
        for (u, count) in brute(&a, alpha, 1).1 {
            prop_assert!((by_word[&u[0]] - count).abs() < 1e-9);
        }
        let all = probabilities(&a, alpha);
        let least = a.paths().iter().map(|p| p.weight).fold(f64::INFINITY, f64::min);
        let best = confidences(OP, lattice, alpha, MOST).unwrap();
        let words: Vec<i64> = best.iter().map(|c| c.word as i64).collect();
        prop_assert!(a.paths().iter().any(|p| p.o == words && p.weight < least + 1e-9));
        for (i, c) in best.iter().enumerate() {
            let sum = |has: &dyn Fn(&[i64]) -> bool| all.iter().filter(|p| has(&p.0)).map(|p| p.1).sum::<f64>();
            prop_assert!((c.place - sum(&|w| w.get(i) == Some(&words[i]))).abs() < 1e-9);
            prop_assert!((c.anywhere - sum(&|w| w.contains(&words[i]))).abs() < 1e-9);
            prop_assert!(c.arc <= c.place + 1e-9 && c.place <= c.anywhere + 1e-9 || c.arc <= c.anywhere + 1e-9);
        }
    }
}

#[test]
fn a_single_path_is_its_own_best() {
    let text = "0 1 3 3 0.5\n1 2 4 4 1\n2 3 3 3\n3 4 4 4 2\n4 0.25\n";
    let a = Automaton::read(text).unwrap();
    let m = Mixture::new(OP, None, vec![system(&a, 1.0, true).unwrap()], &[0.0, 1.0, 30.0], 4, MOST).unwrap();
    for scale in 0..3 {
        let (words, gain) = best(&m, scale, &Thetas::from_precision(0.85, 0.72, 10.0, 4), 0.5);
        assert_eq!(words, [3, 4, 3, 4]);
        assert!(m.posteriors[scale].iter().skip(1).all(|&p| p == 1.0));
        assert!(gain < 0.0, "four words cost 2");
    }
}

/// A wide lattice: more states than a word of bits, more n-grams than a batch. The twin follows (state, words before,
/// seen) for each n-gram alone.
#[test]
fn many_repeats_against_a_twin() {
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    let mut rng = SmallRng::seed_from_u64(5);
    for (states, words, step) in [(300usize, 12i64, 3usize), (900, 3, 5)] {
        let mut a = Automaton { start: 0, finals: vec![f64::INFINITY; states], arcs: vec![vec![]; states] };
        a.finals[states - 1] = 0.0;
        for s in 0..states - 1 {
            for k in 0..rng.random_range(1..4usize) {
                let to = if k == 0 { s + 1 } else { (s + rng.random_range(1..=step)).min(states - 1) };
                let word = if rng.random_range(0..9) == 0 { 0 } else { rng.random_range(1..=words) };
                a.arcs[s].push(Arc { i: word, o: word, w: rng.random_range(0..16u32) as f64 / 8.0, to });
            }
        }
        let got = found(lattice(&a).unwrap(), &[1.0], 2).swap_remove(0).0;
        let mut to_end = vec![0.0f64; states];
        to_end[states - 1] = 1.0;
        for s in (0..states - 1).rev() {
            to_end[s] = a.arcs[s].iter().map(|x| (-x.w).exp() * to_end[x.to]).sum();
        }
        for u in got.keys().step_by(1 + got.len() / 40) {
            // Mass of the paths without u, by state and word before.
            let mut without: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); states];
            without[0].insert(-1, 1.0);
            for s in 0..states - 1 {
                for (&before, &mass) in &without[s].clone() {
                    for x in &a.arcs[s] {
                        let p = mass * (-x.w).exp() * to_end[x.to] / to_end[s];
                        let has = match u[..] {
                            [one] => x.o == one,
                            _ => before == u[0] && x.o == u[1],
                        };
                        if x.o == 0 || !has {
                            *without[x.to].entry(if x.o == 0 { before } else { x.o }).or_default() += p;
                        }
                    }
                }
            }
            let want = 1.0 - without[states - 1].values().sum::<f64>();
            assert!((got[u] - want).abs() < 1e-9, "{u:?}: {} instead of {want}", got[u]);
        }
    }
}
