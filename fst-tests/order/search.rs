//! The search against plain recursion: the same sentences, the same costs, in every algorithm.

use std::collections::BTreeMap;

use weft::chart::bag::{Bag, PhraseTrie};
use weft::order::features::RuleWeights;
use weft::order::grid::Grid;
use weft::order::{Algorithm, Future, OrderConfig, Ordered, Orderer, Orders, Rung};
use weft::rtn::{bag, expand};

use crate::brute::{ALL, Case, case, exact, weights};

fn sentences(orderer: &Orderer, done: &Ordered) -> BTreeMap<String, f64> {
    let text = |words: &[u32]| words.iter().map(|&w| orderer.vocab.word(w)).collect::<Vec<_>>().join(" ");
    let found: BTreeMap<String, f64> = done.answers.iter().map(|a| (text(&a.words), a.cost)).collect();
    assert_eq!(found.len(), done.answers.len(), "a sentence twice");
    found
}

#[track_caller]
fn same(seed: u64, found: &BTreeMap<String, f64>, meant: &BTreeMap<String, f64>) {
    let keys = |m: &BTreeMap<String, f64>| m.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(found), keys(meant), "seed {seed}");
    for (sentence, cost) in meant {
        assert!((found[sentence] - cost).abs() < 1e-4, "seed {seed}: {sentence}: {} and not {cost}", found[sentence]);
    }
}

fn is_permutation(case: &Case, orderer: &Orderer, done: &Ordered) -> bool {
    let mut tokens = case.tokens();
    tokens.sort_unstable();
    done.answers.iter().all(|a| {
        let mut words: Vec<&str> = a.words.iter().map(|&w| orderer.vocab.word(w)).collect();
        words.sort_unstable();
        words == tokens
    })
}

#[test]
fn all_algorithms_find_all_sentences_with_their_costs() {
    for seed in 0..150 {
        let case = case(seed, 6, seed % 3 == 0);
        let meant = case.sentences(&weights(), ALL, 0);
        for algorithm in [Algorithm::Full, Algorithm::Expand, Algorithm::Parse] {
            for future in [Future::None, Future::Unigram, Future::Best, Future::Left] {
                let orderer = case.orderer(OrderConfig { future, ..exact(algorithm) }, weights());
                let done = orderer.order(&case.tokens()).unwrap();
                if meant.is_empty() {
                    assert_ne!(done.rung, Rung::Chosen, "seed {seed}");
                    assert!(is_permutation(&case, &orderer, &done));
                    continue;
                }
                assert!(done.exact && done.rung == Rung::Chosen, "seed {seed}");
                same(seed, &sentences(&orderer, &done), &meant);
            }
        }
    }
}

#[test]
fn some_cases_have_sentences_and_some_have_none() {
    let counts: Vec<usize> = (0..150).map(|s| case(s, 6, s % 3 == 0).sentences(&weights(), ALL, 0).len()).collect();
    assert!(counts.iter().filter(|&&n| n == 0).count() > 10 && counts.iter().filter(|&&n| n > 20).count() > 10);
}

#[test]
fn the_best_alone_is_the_best_of_all() {
    for seed in 0..150 {
        let case = case(seed, 7, seed % 2 == 0);
        let best = |nbest, lattice| {
            let orderer = case.orderer(OrderConfig { nbest, lattice, ..exact(Algorithm::Parse) }, weights());
            orderer.order(&case.tokens()).unwrap().answers.swap_remove(0)
        };
        let (alone, first) = (best(1, false), best(5, true));
        assert!((alone.cost - first.cost).abs() < 1e-4, "seed {seed}: {} {}", alone.cost, first.cost);
    }
}

#[test]
fn orders_of_pairs_cost_what_they_should() {
    let weights = RuleWeights { before: 0.5, ..weights() };
    for seed in 200..260 {
        let case = case(seed, 6, true);
        let orderer = case.orderer(exact(Algorithm::Parse), weights.clone());
        let done = orderer.order(&case.tokens()).unwrap();
        same(seed, &sentences(&orderer, &done), &case.sentences(&weights, ALL, 0));
    }
}

#[test]
fn phrases_may_share_words() {
    let orders = Orders { least: 2, most: 4 };
    let mut more = 0;
    for seed in 300..420 {
        let case = case(seed, 6, false);
        for overlap in [1, 3] {
            let meant = case.sentences(&weights(), orders, overlap);
            if meant.is_empty() {
                continue;
            }
            more += usize::from(meant.len() > case.sentences(&weights(), orders, 0).len());
            let orderer = case.orderer(OrderConfig { overlap, orders, ..exact(Algorithm::Parse) }, weights());
            let done = orderer.order(&case.tokens()).unwrap();
            if done.rung == Rung::Chosen {
                same(seed, &sentences(&orderer, &done), &meant);
            }
        }
    }
    assert!(more > 10, "{more}");
}

#[test]
fn pruned_searches_find_permutations_that_are_no_better() {
    for seed in 500..600 {
        let case = case(seed, 7, seed % 2 == 0);
        let meant = case.sentences(&weights(), ALL, 0);
        let least = meant.values().copied().fold(f64::INFINITY, f64::min);
        for (beam, hypotheses) in [(0.0, 1), (1.0, 3), (2.0, 100)] {
            for algorithm in [Algorithm::Expand, Algorithm::Parse] {
                let config = OrderConfig { beam, hypotheses: Some(hypotheses), nbest: 10, ..exact(algorithm) };
                let orderer = case.orderer(config, weights());
                let done = orderer.order(&case.tokens()).unwrap();
                assert!(is_permutation(&case, &orderer, &done), "seed {seed}");
                if !meant.is_empty() {
                    // A pruned search never ends without an answer where there is one.
                    assert_eq!(done.rung, Rung::Chosen, "seed {seed}");
                    for (sentence, cost) in sentences(&orderer, &done) {
                        assert!(
                            cost > least - 1e-4 && (meant[&sentence] - cost).abs() < 1e-4
                                || cost > meant[&sentence] - 1e-4
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_network_expands_to_the_same_sentences() {
    for seed in 0..80 {
        let case = case(seed, 6, seed % 3 == 0);
        let meant = case.sentences(&weights(), ALL, 0);
        let orderer = case.orderer(exact(Algorithm::Full), weights());
        let b = Bag::new(case.tokens()).unwrap();
        let all = orderer.phrases.phrases(&b, ALL);
        let trie = PhraseTrie::new(orderer.rules(&b, &all, Rung::Chosen));
        let grid = Grid::<1>::parse(&b, &trie, 10_000).unwrap();
        let Some((rtn, names)) = bag::build(&b, &trie, &grid, |t| t as i32 + 1) else {
            assert!(meant.is_empty(), "seed {seed}");
            continue;
        };
        assert_eq!(names[rtn.root], "1".repeat(b.len()));
        let fst = expand::expand(&rtn, 1_000_000).unwrap();
        let mut found = vec![];
        let mut open = vec![(fst.start(), vec![])];
        while let Some((s, words)) = open.pop() {
            if fst.is_final(s) {
                found.push(words.join(" "));
            }
            for a in fst.arcs(s) {
                let mut longer: Vec<&str> = words.clone();
                longer.push(&b.words[a.ilabel as usize - 1]);
                open.push((a.nextstate, longer));
            }
        }
        found.sort();
        assert_eq!(found, meant.keys().cloned().collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn too_little_memory_prunes_and_says_so() {
    let case = case(7, 7, true);
    let tokens: Vec<String> = (0..14).map(|i| ["a", "b", "c", "d", "e"][i % 5].to_string()).collect();
    let case = Case { tokens, ..case };
    let case = Case { phrases: ["a", "b", "c", "d", "e"].map(|w| (vec![w.to_string()], 1)).to_vec(), ..case };
    let config = OrderConfig { max_memory: 100_000, nbest: 1, ..exact(Algorithm::Full) };
    let orderer = case.orderer(config, weights());
    let done = orderer.order(&case.tokens()).unwrap();
    assert!(done.forced && !done.exact && is_permutation(&case, &orderer, &done));
}

#[test]
fn bags_of_any_width_are_ordered_whole() {
    let tokens: Vec<String> = (0..90).map(|i| format!("{}{i}", ["a", "b", "c"][i % 3])).collect();
    let case = Case { tokens, phrases: vec![], pairs: BTreeMap::new(), toy: 1 };
    for count in [0, 1, 63, 64, 65, 90] {
        let some = Case { tokens: case.tokens[..count].to_vec(), phrases: vec![], pairs: BTreeMap::new(), toy: 1 };
        let config =
            OrderConfig { beam: 5.0, hypotheses: Some(10), nbest: 1, lattice: false, ..exact(Algorithm::Parse) };
        let orderer = some.orderer(config, weights());
        let done = orderer.order(&some.tokens()).unwrap();
        assert!(is_permutation(&some, &orderer, &done));
    }
}

#[test]
fn a_search_that_loses_everything_prunes_less() {
    // With phrases that share words nothing says which beginnings lead to an end: narrow searches lose them all.
    let orders = Orders { least: 2, most: 4 };
    let mut wider = 0;
    for seed in 300..500 {
        let case = case(seed, 7, false);
        let meant = case.sentences(&weights(), orders, 3);
        let narrow =
            OrderConfig { overlap: 3, orders, hypotheses: Some(2), beam: 1.0, nbest: 1, ..exact(Algorithm::Parse) };
        let orderer = case.orderer(narrow, weights());
        let done = orderer.order(&case.tokens()).unwrap();
        assert!(is_permutation(&case, &orderer, &done), "seed {seed}");
        wider += usize::from(done.wider);
        if done.wider && done.rung == Rung::Chosen {
            assert!(meant.contains_key(sentences(&orderer, &done).keys().next().unwrap()), "seed {seed}");
        }
    }
    assert!(wider > 3, "{wider}");
}

#[test]
fn phrases_that_no_sentence_needs_change_nothing() {
    let mut dropped = 0;
    for seed in 600..680 {
        let case = case(seed, 6, true);
        let free = RuleWeights { phrase: 0.25, ..RuleWeights::default() };
        for weights in [RuleWeights::default(), free, weights()] {
            let orderer = case.orderer(exact(Algorithm::Parse), weights.clone());
            let done = orderer.order(&case.tokens()).unwrap();
            let bag = Bag::new(case.tokens()).unwrap();
            let all = orderer.phrases.phrases(&bag, ALL).len();
            dropped += usize::from(done.phrases < all);
            same(seed, &sentences(&orderer, &done), &case.sentences(&weights, ALL, 0));
        }
    }
    assert!(dropped > 20, "{dropped}");
}
