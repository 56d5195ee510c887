//! Oracles against all paths: the linear approximation's best, the true best, the best of a list.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use weft::fst::flat::{Arc, FlatFst, Label, StateId};
use weft::fst::semiring::{Tropical, Weight};
use weft::rescore::lattice::path_fst;
use weft::rescore::oracle::{Method, NO_WORD, Oracle, OracleConfig, oracle};

const WORDS: Label = 6;

/// A random acyclic lattice, some arcs without words.
fn lattice(rng: &mut SmallRng) -> FlatFst<Tropical> {
    let n: StateId = rng.random_range(2..8);
    let rows = (0..n).map(|s| {
        let end = if s + 1 == n { Tropical(0.5) } else { Tropical::ZERO };
        let mut arcs = vec![];
        if s + 1 < n {
            for i in 0..rng.random_range(1..4) {
                let to = if i == 0 { s + 1 } else { rng.random_range(s + 1..n) };
                let word = if rng.random_range(0..6) == 0 { 0 } else { rng.random_range(1..=WORDS) };
                arcs.push(Arc::new(77, word, Tropical(rng.random_range(0..64) as f32 / 16.0), to));
            }
        }
        (end, arcs)
    });
    FlatFst::from_rows(0, rows.collect())
}

/// Words 5 and 6 are in no reference.
fn number(label: Label) -> u32 {
    match label {
        0 => NO_WORD,
        5.. => 0,
        l => l as u32,
    }
}

fn references(rng: &mut SmallRng) -> Vec<Vec<u32>> {
    let mut one = || (0..rng.random_range(1..8)).map(|_| rng.random_range(1..=4)).collect();
    let first = one();
    let second: Vec<u32> = one();
    if second.len() > 3 { vec![first, second] } else { vec![first] }
}

/// Every string with its least cost.
fn strings(fst: &FlatFst<Tropical>) -> BTreeMap<Vec<Label>, f64> {
    fn go(f: &FlatFst<Tropical>, s: StateId, words: &mut Vec<Label>, cost: f64, out: &mut BTreeMap<Vec<Label>, f64>) {
        if f.is_final(s) {
            let least = out.entry(words.clone()).or_insert(f64::INFINITY);
            *least = least.min(cost + f.final_weight(s).0 as f64);
        }
        for a in f.arcs(s) {
            words.extend((a.olabel > 0).then_some(a.olabel));
            go(f, a.nextstate, words, cost + a.weight.0 as f64, out);
            if a.olabel > 0 {
                words.pop();
            }
        }
    }
    let mut out = BTreeMap::new();
    go(fst, 0, &mut vec![], 0.0, &mut out);
    out
}

fn found_words(o: &Oracle) -> Vec<Label> {
    o.path.iter().map(|p| p.0).filter(|&l| l > 0).collect()
}

/// −1 a word, 1/(4 p r^(n−1)) for every n-gram that a reference has, by looking for it.
fn linear_bleu(words: &[Label], references: &[Vec<u32>], p: f64, r: f64) -> f64 {
    let words: Vec<u32> = words.iter().map(|&l| number(l)).collect();
    let mut sum = 0.0;
    for end in 1..=words.len() {
        let mut gain = -1.0;
        for n in 1..=4.min(end) {
            let gram = &words[end - n..end];
            if references.iter().any(|r| r.windows(n).any(|w| w == gram)) {
                gain += 1.0 / (4.0 * p * r.powi(n as i32 - 1));
            }
        }
        sum += gain;
    }
    sum
}

/// sacreBLEU's sentence BLEU, from the sets of n-grams.
fn bleu(words: &[Label], references: &[Vec<u32>]) -> f64 {
    let words: Vec<u32> = words.iter().map(|&l| number(l)).collect();
    let count = |text: &[u32], gram: &[u32]| text.windows(gram.len()).filter(|w| *w == gram).count();
    let (mut logs, mut orders, mut halves, mut any) = (0.0, 0, 1.0, false);
    for n in 1..=4 {
        let total = (words.len() + 1).saturating_sub(n);
        if total == 0 {
            break;
        }
        let grams: BTreeSet<&[u32]> = words.windows(n).collect();
        let matched: usize = grams
            .iter()
            .filter(|g| !g.contains(&0))
            .map(|g| count(&words, g).min(references.iter().map(|r| count(r, g)).max().unwrap()))
            .sum();
        any |= matched > 0;
        let share = if matched > 0 {
            matched as f64
        } else {
            halves *= 2.0;
            1.0 / halves
        };
        logs += (100.0 * share / total as f64).ln();
        orders += 1;
    }
    if !any {
        return 0.0;
    }
    let length = references.iter().map(|r| r.len()).min_by_key(|l| (l.abs_diff(words.len()), *l)).unwrap() as f64;
    let short = if (words.len() as f64) < length { (1.0 - length / words.len() as f64).exp() } else { 1.0 };
    short * (logs / orders as f64).exp()
}

fn run(fst: &FlatFst<Tropical>, references: &[Vec<u32>], method: Method) -> Oracle {
    oracle(fst, references, |l| Ok(number(l)), &OracleConfig { method, max_states: 1 << 20 }).unwrap()
}

#[test]
fn the_linear_best_of_all_paths_and_the_true_best() {
    let (mut grid_is_true, mut all) = (0, 0);
    for seed in 0..300 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let fst = lattice(&mut rng);
        let references = references(&mut rng);
        let strings = strings(&fst);
        let mut most = 0.0f64;
        for (p, r) in [(0.3, 0.7), (0.85, 0.5), (0.5, 1.0), (1.0, 1.0)] {
            let found = run(&fst, &references, Method::Linear(p, r));
            let words = found_words(&found);
            let want = strings.keys().map(|w| linear_bleu(w, &references, p, r)).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(linear_bleu(&words, &references, p, r), want, "seed {seed}");
            // Of equal strings the one of least cost, and its own costs.
            let cheapest = strings
                .iter()
                .filter(|(w, _)| linear_bleu(w, &references, p, r) == want)
                .map(|s| *s.1)
                .fold(f64::INFINITY, f64::min);
            let cost = found.path.iter().map(|p| p.1).sum::<f64>() + found.end;
            assert_eq!(cost, cheapest, "seed {seed}");
            assert!((found.stats.sentence_bleu() - bleu(&words, &references)).abs() < 1e-9);
            most = most.max(found.stats.sentence_bleu());
        }
        let truth = strings.keys().map(|w| bleu(w, &references)).fold(0.0, f64::max);
        let exact = run(&fst, &references, Method::List(strings.len()));
        assert!((exact.stats.sentence_bleu() - truth).abs() < 1e-9, "seed {seed}");
        let grid = run(&fst, &references, Method::Grid).stats.sentence_bleu();
        assert!(most <= truth + 1e-9 && grid <= truth + 1e-9, "seed {seed}");
        all += 1;
        grid_is_true += (grid > truth - 1e-9) as usize;
    }
    println!("the grid finds the true oracle of {grid_is_true} of {all} lattices");
    assert!(grid_is_true * 10 >= all * 8, "{grid_is_true} of {all}");
}

#[test]
fn a_second_reference_that_is_a_path_is_found() {
    let a = |word: Label, to| Arc::new(word, word, Tropical(1.0), to);
    // 1 2 1 2 4 has more matches than either reference, in pieces.
    let rows = vec![
        (Tropical::ZERO, vec![a(1, 1)]),
        (Tropical::ZERO, vec![a(2, 2)]),
        (Tropical(0.0), vec![a(1, 3), a(5, 3)]),
        (Tropical::ZERO, vec![a(2, 4)]),
        (Tropical(0.0), vec![a(4, 5)]),
        (Tropical(0.0), vec![]),
    ];
    let fst = FlatFst::from_rows(0, rows);
    let references = vec![vec![1, 2, 4, 1, 2, 3], vec![1, 2]];
    let found = run(&fst, &references, Method::Grid);
    assert_eq!(found_words(&found), [1, 2]);
}

#[test]
fn the_best_of_a_list() {
    for seed in 1000..1200 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let fst = lattice(&mut rng);
        let references = references(&mut rng);
        let mut strings: Vec<(Vec<Label>, f64)> = strings(&fst).into_iter().collect();
        strings.sort_by(|a, b| a.1.total_cmp(&b.1));
        for n in 1..4 {
            let found = run(&fst, &references, Method::List(n));
            // Strings of the n-th cost may stand in for each other.
            let limit = strings[n.min(strings.len()) - 1].1;
            let words = found_words(&found);
            let cost = strings.iter().find(|s| s.0 == words).unwrap().1;
            assert!(cost <= limit, "seed {seed}");
            let sure = strings.iter().filter(|s| s.1 < limit).map(|s| bleu(&s.0, &references)).fold(0.0, f64::max);
            let most = strings.iter().filter(|s| s.1 <= limit).map(|s| bleu(&s.0, &references)).fold(0.0, f64::max);
            let got = found.stats.sentence_bleu();
            assert!(got >= sure - 1e-9 && got <= most + 1e-9, "seed {seed}: {sure} {got} {most}");
        }
    }
}

#[test]
fn a_path_as_an_automaton_has_its_cost() {
    let mut rng = SmallRng::seed_from_u64(5);
    let fst = lattice(&mut rng);
    let references = references(&mut rng);
    let found = run(&fst, &references, Method::Grid);
    let path = path_fst(&fst, &found.path, found.end);
    let only = strings(&path);
    assert_eq!(only.len(), 1);
    assert_eq!(only[&found_words(&found)], strings(&fst)[&found_words(&found)]);
}
