//! Union, interpolation, intersection and meshes against every path.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weft::fst::any::AnyFst;
use weft::fst::flat::FlatFst;
use weft::fst::semiring::{Log64, Tropical, Weight};
use weft::rescore::combine::{CombineConfig, interpolate, intersect, mesh_of, union};
use weft::rescore::lattice::Lattice;

use crate::random::*;

type Strings = BTreeMap<Vec<i64>, f64>;

fn lattice(a: &Automaton) -> Option<Lattice> {
    Lattice::new("test", &a.flat::<Log64>()).ok()
}

/// Probability of every string, by e^(-alpha * cost), normalized or not.
fn probabilities(a: &Automaton, alpha: f64, normalize: bool) -> Strings {
    let mut all = Strings::new();
    for p in a.paths() {
        *all.entry(p.o).or_default() += (-alpha * p.weight).exp();
    }
    let total: f64 = if normalize { all.values().sum() } else { 1.0 };
    all.values_mut().for_each(|p| *p /= total);
    all
}

fn of<W: Weight>(fst: FlatFst<W>) -> Automaton
where
    AnyFst: From<FlatFst<W>>,
{
    Automaton::of(&fst.into())
}

fn close(want: &Strings, got: &Strings, tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert!(want.keys().eq(got.keys()), "{:?} instead of {:?}", got, want);
    for (s, p) in want {
        prop_assert!((p - got[s]).abs() <= tolerance * (1.0 + p.abs()), "{:?}: {} instead of {}", s, got[s], p);
    }
    Ok(())
}

fn mixed(a: &Automaton, b: &Automaton, config: &CombineConfig) -> Strings {
    let sum: f64 = if config.normalize { config.weights.iter().sum() } else { 1.0 };
    let mut want = Strings::new();
    for (x, w) in [a, b].into_iter().zip(&config.weights).filter(|(_, w)| **w > 0.0) {
        for (s, p) in probabilities(x, config.alpha, config.normalize) {
            *want.entry(s).or_default() += w / sum * p;
        }
    }
    want
}

/// Every string of the automaton is a string of the bins.
fn is_in(words: &[i64], bins: &[Vec<(i32, f64)>]) -> bool {
    // How many words can be matched with the bins so far.
    let mut at = vec![false; words.len() + 1];
    at[0] = true;
    for bin in bins {
        let has = |word: i64| bin.iter().any(|b| b.0 as i64 == word);
        let mut next = vec![false; words.len() + 1];
        for i in 0..=words.len() {
            next[i] = (at[i] && has(0)) || (i > 0 && at[i - 1] && has(words[i - 1]));
        }
        at = next;
    }
    at[words.len()]
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    (0u32..5, 1u32..5).prop_map(|(a, b)| vec![a as f64, b as f64])
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn union_and_interpolation_mix_probabilities(
        a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons()), weights in weights(),
        scale in 1u32..8, normalize in any::<bool>(),
    ) {
        let (Some(x), Some(y)) = (lattice(&a), lattice(&b)) else { return Ok(()) };
        let config = CombineConfig { weights, alpha: scale as f64 / 4.0, normalize, max_states: 100_000 };
        let want = mixed(&a, &b, &config);
        let both = of(union::<Log64>(&[x.clone(), y.clone()], &config));
        close(&want, &probabilities(&both, 1.0, false), 1e-12)?;
        let one = of(interpolate::<Log64>(&[x.clone(), y.clone()], &config).unwrap());
        close(&want, &probabilities(&one, 1.0, false), 1e-8)?;
        let mut strings: Vec<Vec<i64>> = one.paths().into_iter().map(|p| p.o).collect();
        let all = strings.len();
        strings.sort();
        strings.dedup();
        prop_assert_eq!(strings.len(), all, "one path a string");
        let rounded = of(interpolate::<Tropical>(&[x, y], &config).unwrap());
        close(&want, &probabilities(&rounded, 1.0, false), 1e-5)?;
    }

    #[test]
    fn intersection_adds_costs(
        a in automaton(ACYCLIC.epsilons().labels(2)), b in automaton(ACYCLIC.epsilons().labels(2)), weights in weights(), scale in 1u32..8,
    ) {
        let (Some(x), Some(y)) = (lattice(&a), lattice(&b)) else { return Ok(()) };
        let alpha = scale as f64 / 4.0;
        let config = CombineConfig { weights: weights.clone(), alpha, normalize: true, max_states: 100_000 };
        for path in [true, false] {
            let mut cost: Vec<Strings> = vec![];
            for x in [&a, &b] {
                let mut strings = Strings::new();
                for p in x.paths() {
                    let e = strings.entry(p.o).or_insert(f64::INFINITY);
                    *e = plus(*e, alpha * p.weight, path);
                }
                cost.push(strings);
            }
            let mut want = Strings::new();
            for (s, p) in &cost[0] {
                want.extend(cost[1].get(s).map(|q| (s.clone(), weights[0] * p + weights[1] * q)));
            }
            let lattices = [x.clone(), y.clone()];
            let made = if path { intersect::<Tropical>(&lattices, &config).map(of) } else { intersect::<Log64>(&lattices, &config).map(of) };
            let Ok(made) = made else {
                prop_assert!(want.is_empty());
                continue;
            };
            let mut got = Strings::new();
            for p in made.paths() {
                let e = got.entry(p.o).or_insert(f64::INFINITY);
                *e = plus(*e, p.weight, path);
            }
            close(&want, &got, if path { 1e-5 } else { 1e-8 })?;
        }
    }

    #[test]
    fn a_mesh_has_every_path_and_bins_sum_to_one(
        a in automaton(ACYCLIC.epsilons().size(8, 18)), b in automaton(ACYCLIC.epsilons().size(6, 12)), weights in weights(), scale in 1u32..8,
    ) {
        let (Some(x), Some(y)) = (lattice(&a), lattice(&b)) else { return Ok(()) };
        let config = CombineConfig { weights, alpha: scale as f64 / 4.0, normalize: true, max_states: 1 };
        let mesh = mesh_of(&[x, y], &config).unwrap();
        let want = mixed(&a, &b, &config);
        for words in want.keys() {
            prop_assert!(is_in(words, &mesh.bins), "{:?} is not in {:?}", words, mesh.bins);
        }
        let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
        for bin in &mesh.bins {
            prop_assert!((bin.iter().map(|b| b.1).sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(bin.iter().any(|b| b.0 != 0) && bin.iter().all(|b| b.1 > 0.0));
            prop_assert!(bin.windows(2).all(|w| w[0].1 >= w[1].1));
            for &(word, p) in bin.iter().filter(|b| b.0 != 0) {
                *counts.entry(word as i64).or_default() += p;
            }
        }
        // No arc is lost or counted twice: the expected number of each word is that of the lattices.
        let mut expected: BTreeMap<i64, f64> = BTreeMap::new();
        for (words, p) in &want {
            words.iter().for_each(|w| *expected.entry(*w).or_default() += p);
        }
        prop_assert!(counts.keys().eq(expected.keys()));
        for (word, p) in &expected {
            prop_assert!((p - counts[word]).abs() < 1e-9, "{}: {} instead of {}", word, counts[word], p);
        }
        // As an automaton it accepts them, too.
        let fst: FlatFst<Tropical> = mesh.to_fst();
        prop_assert_eq!((fst.num_states(), fst.is_final(fst.num_states() as u32 - 1)), (mesh.bins.len() + 1, true));
    }
}

fn acceptor(text: &str) -> Lattice {
    lattice(&Automaton::read(text).unwrap()).unwrap()
}

#[test]
fn equal_words_share_a_bin() {
    // 1 2 3 against 1 3, 1 4 3 and 5 1 2 3.
    let a = acceptor("0 1 1 1\n1 2 2 2\n2 3 3 3\n3\n");
    let b = acceptor("0 1 1 1 1\n1 2 3 3\n1 3 4 4 0.5\n3 2 3 3\n0 4 5 5 1\n4 5 1 1\n5 6 2 2\n6 2 3 3\n2\n");
    let config = CombineConfig { weights: vec![3.0, 1.0], alpha: 1.0, normalize: true, max_states: 1 };
    let mesh = mesh_of(&[a, b], &config).unwrap();
    let words: Vec<Vec<i32>> = mesh.bins.iter().map(|b| b.iter().map(|w| w.0).collect()).collect();
    assert_eq!(words, [vec![0, 5], vec![1], vec![2, 0, 4], vec![3]]);
}

#[test]
fn limits_and_bad_weights() {
    let config =
        |weights: &[f64]| CombineConfig { weights: weights.to_vec(), alpha: 1.0, normalize: true, max_states: 20 };
    for bad in [&[-1.0, 1.0][..], &[0.0, 0.0], &[f64::NAN, 1.0]] {
        assert!(config(bad).check().is_err());
    }
    // Strings whose weights never repeat: the sum needs a state a prefix.
    let mut text = String::new();
    for i in 0..12 {
        let (a, b) = (2 * i, 2 * i + 1);
        for label in [1, 2] {
            text += &format!("{a} {} {label} {label} 0.{}\n", a + 2, (i * 7 + label * 13) % 89);
            text += &format!("{b} {} {label} {label} 0.{}\n", b + 2, (i * 11 + label * 29) % 97);
        }
    }
    text = format!("s 0 0 0\ns 1 0 0\n{text}24\n25\n");
    let lattice = acceptor(&text);
    let e = interpolate::<Tropical>(&[lattice], &config(&[1.0])).unwrap_err().to_string();
    assert!(e.contains("20 states") && e.contains("--max-states"), "{e}");
}
