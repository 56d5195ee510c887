//! kbest, sample and align against every path.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weft::fst::flat::FlatFst;
use weft::fst::semiring::{Log64, Tropical, Weight};
use weft::fst::shortestpath::Path as Found;
use weft::rescore::align::{AlignConfig, align};
use weft::rescore::kbest::{KbestConfig, kbest};
use weft::rescore::sample::{SampleConfig, sample};

use crate::random::*;

/// Output string and cost of a path that was found; its arcs must be a path of the automaton.
fn followed<W: Weight>(fst: &FlatFst<W>, path: &Found) -> (Vec<i64>, f64) {
    let mut at = fst.start();
    let mut cost = 0.0;
    let mut words = vec![];
    for &i in &path.arcs {
        assert!(fst.range(at).contains(&(i as usize)), "arc {i} does not leave state {at}");
        let a = &fst.all_arcs()[i as usize];
        cost += a.weight.to_f64();
        words.extend((a.olabel != 0).then_some(a.olabel as i64));
        at = a.nextstate;
    }
    assert_eq!(at, path.end);
    assert!(fst.is_final(at));
    cost += fst.final_weight(at).to_f64();
    assert!((cost - path.cost).abs() < 1e-9, "{cost} is said to be {}", path.cost);
    assert_eq!(cost, path.cost_in(fst));
    (words, cost)
}

fn best_of_strings(a: &Automaton) -> BTreeMap<Vec<i64>, f64> {
    let mut best = BTreeMap::new();
    for p in a.paths() {
        let e = best.entry(p.o).or_insert(f64::INFINITY);
        *e = p.weight.min(*e);
    }
    best
}

fn sorted(costs: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut costs: Vec<f64> = costs.into_iter().collect();
    costs.sort_by(f64::total_cmp);
    costs
}

fn check_kbest<W: Weight>(a: &Automaton, n: usize) -> Result<(), TestCaseError> {
    let fst: FlatFst<W> = a.flat();
    let strings = best_of_strings(a);
    let run = |unique| kbest(&fst, &KbestConfig { n, unique });
    if strings.is_empty() {
        prop_assert!(run(true).is_err() && run(false).is_err());
        return Ok(());
    }
    let found: Vec<(Vec<i64>, f64)> = run(true).unwrap().iter().map(|p| followed(&fst, p)).collect();
    // Costs are multiples of 1/8: equal is equal.
    let costs: Vec<f64> = found.iter().map(|f| f.1).collect();
    prop_assert_eq!(&costs, &sorted(strings.values().copied())[..n.min(strings.len())]);
    let distinct: BTreeMap<Vec<i64>, f64> = found.iter().cloned().collect();
    prop_assert_eq!(distinct.len(), found.len());
    for (words, cost) in distinct {
        prop_assert_eq!(strings[&words], cost);
    }
    let paths = run(false).unwrap();
    let costs: Vec<f64> = paths.iter().map(|p| followed(&fst, p).1).collect();
    let all = sorted(a.paths().iter().map(|p| p.weight));
    prop_assert_eq!(&costs, &all[..n.min(all.len())]);
    let mut arcs: Vec<(&[u32], u32)> = paths.iter().map(|p| (&*p.arcs, p.end)).collect();
    arcs.sort();
    arcs.dedup();
    prop_assert_eq!(arcs.len(), paths.len());
    prop_assert_eq!(run(true).unwrap(), run(true).unwrap());
    Ok(())
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn the_best_strings_and_paths(a in automaton(ACYCLIC.epsilons().size(7, 18)), n in 1usize..12) {
        check_kbest::<Tropical>(&a, n)?;
        check_kbest::<Log64>(&a, n)?;
        check_kbest::<Tropical>(&a, 100_000)?;
    }

    #[test]
    fn all_derivations_of_every_string(a in automaton(ACYCLIC.epsilons().size(7, 14))) {
        let fst: FlatFst<Tropical> = a.flat();
        let mut by_string: BTreeMap<Vec<i64>, Vec<(Vec<i64>, f64)>> = BTreeMap::new();
        for p in a.paths() {
            by_string.entry(p.o).or_default().push((p.i, p.weight));
        }
        for (words, derivations) in &mut by_string {
            let labels: Vec<i32> = words.iter().map(|&l| l as i32).collect();
            let n = derivations.len();
            let found = align(&fst, &labels, &AlignConfig { n, all: true }, None).unwrap();
            let mut got = vec![];
            for path in &found {
                let (o, cost) = followed(&fst, path);
                prop_assert_eq!(&o, words);
                got.push((path.labels(&fst, |a| a.ilabel).iter().map(|&l| l as i64).collect::<Vec<_>>(), cost));
            }
            prop_assert!(got.windows(2).all(|w| w[0].1 <= w[1].1));
            let key = |x: &(Vec<i64>, f64), y: &(Vec<i64>, f64)| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1));
            got.sort_by(key);
            derivations.sort_by(key);
            prop_assert_eq!(&got, derivations);
            if n > 1 {
                let too_many = align(&fst, &labels, &AlignConfig { n: n - 1, all: true }, None);
                prop_assert!(too_many.is_err());
                prop_assert_eq!(align(&fst, &labels, &AlignConfig { n: n - 1, all: false }, None).unwrap().len(), n - 1);
            }
        }
        for other in [vec![], vec![1], vec![2, 1], vec![1, 2, 3]] {
            let labels: Vec<i32> = other.iter().map(|&l| l as i32).collect();
            let found = align(&fst, &labels, &AlignConfig { n: 1, all: false }, None);
            prop_assert_eq!(found.is_ok(), by_string.contains_key(&other));
        }
    }
}

proptest! {
    #![proptest_config(config(24))]

    /// Shares of the paths among many draws, by the chi-square statistic: mean d, variance 2d for d degrees of freedom.
    #[test]
    fn draws_follow_the_posterior(a in automaton(ACYCLIC.epsilons().size(6, 12)), scale in 1u32..8, seed in 0u64..1000) {
        let fst: FlatFst<Tropical> = a.flat();
        let alpha = scale as f64 / 4.0;
        let paths = a.paths();
        let draws = SampleConfig { n: 20_000, seed, alpha };
        if paths.is_empty() {
            prop_assert!(sample(&fst, &draws).is_err());
            return Ok(());
        }
        let mut counts: BTreeMap<Vec<(usize, usize)>, f64> = BTreeMap::new();
        for p in sample(&fst, &draws).unwrap() {
            followed(&fst, &p);
            let place = |&i: &u32| {
                let s = fst.states().find(|&s| fst.range(s).contains(&(i as usize))).unwrap();
                (s as usize, i as usize - fst.range(s).start)
            };
            *counts.entry(p.arcs.iter().map(place).collect()).or_default() += 1.0;
        }
        let total: f64 = paths.iter().map(|p| (-alpha * p.weight).exp()).sum();
        let mut statistic = 0.0;
        let (mut rare, mut rare_count, mut degrees) = (0.0, 0.0, 0.0);
        let mut known = 0.0;
        for p in &paths {
            let expected = draws.n as f64 * (-alpha * p.weight).exp() / total;
            let count = counts.get(&p.arcs).copied().unwrap_or(0.0);
            known += count;
            if expected < 8.0 {
                rare += expected;
                rare_count += count;
            } else {
                statistic += (count - expected).powi(2) / expected;
                degrees += 1.0;
            }
        }
        prop_assert_eq!(known, draws.n as f64, "every draw is a path");
        if rare > 8.0 {
            statistic += (rare_count - rare).powi(2) / rare;
            degrees += 1.0;
        }
        let limit = degrees + 5.0 * (2.0f64 * degrees).sqrt() + 5.0;
        prop_assert!(statistic < limit, "{} for {} degrees of freedom", statistic, degrees);
    }
}

#[test]
fn a_cycle_has_best_strings() {
    // a (b a)* with costs 1 and 0.5: strings by length.
    let a = Automaton::read("0 1 1 1 1\n1 0 2 2 0.5\n1 0.25\n").unwrap();
    let fst: FlatFst<Tropical> = a.flat();
    let found = kbest(&fst, &KbestConfig { n: 4, unique: true }).unwrap();
    let costs: Vec<f64> = found.iter().map(|p| followed(&fst, p).1).collect();
    assert_eq!(costs, [1.25, 2.75, 4.25, 5.75]);
    let found = align(&fst, &[1, 2, 1], &AlignConfig { n: 5, all: true }, None).unwrap();
    assert_eq!(found.len(), 1);
    assert!(sample(&fst, &SampleConfig { n: 1, seed: 1, alpha: 1.0 }).unwrap_err().to_string().contains("cycle"));
}
