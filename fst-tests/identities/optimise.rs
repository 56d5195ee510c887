//! determinize, disambiguate, minimize, rmepsilon, push, encode, epsnormalize, synchronize: other automata, same meaning.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::random::*;

const SHORT: Bound = Bound { length: 3, steps: 80 };

fn deterministic(a: &Automaton) -> bool {
    a.arcs.iter().all(|arcs| {
        let labels: BTreeSet<i64> = arcs.iter().map(|x| x.i).collect();
        labels.len() == arcs.len()
    })
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn determinize_keeps_the_language(a in automaton(ACYCLIC.acceptor().labels(2).size(6, 14)), c in automaton(ACYCLIC.cyclic().acceptor().unweighted())) {
        for ring in RINGS {
            prop_assert!(deterministic(&keeps("determinize a out", &a, ALL, ring)?));
        }
        // Without weights every cycle is harmless (and only the tropical semiring does not count paths).
        prop_assert!(deterministic(&keeps("determinize a out", &c, Bound::length(6), Ring::Tropical)?));
    }

    #[test]
    fn determinize_keeps_functions(a in functional(ACYCLIC.labels(2))) {
        for ring in RINGS {
            keeps("determinize a out", &a, ALL, ring)?;
            keeps("determinize --det-type nonfunctional a out", &a, ALL, ring)?;
        }
    }

    #[test]
    fn determinize_keeps_relations(a in automaton(ACYCLIC.labels(2))) {
        for ring in RINGS {
            keeps("determinize --det-type nonfunctional a out", &a, ALL, ring)?;
        }
    }

    #[test]
    fn determinize_disambiguate_keeps_the_best_output(a in automaton(ACYCLIC.labels(2))) {
        let ring = Ring::Tropical;
        let mut best: BTreeMap<Vec<i64>, f64> = BTreeMap::new();
        for ((i, _), w) in ring.relation(&a, ALL) {
            let b = best.entry(i).or_insert(f64::INFINITY);
            *b = b.min(w);
        }
        let found = ring.run("determinize --det-type disambiguate a out", &[&a])?;
        let whole = ring.relation(&a, ALL);
        let means = ring.relation(&found, ALL);
        prop_assert_eq!(means.len(), best.len(), "one output an input");
        for ((i, o), w) in means {
            prop_assert_eq!(best[&i], w);
            prop_assert_eq!(whole.get(&(i, o)).copied(), Some(w));
        }
    }

    #[test]
    fn determinize_stops_at_the_beam(a in automaton(ACYCLIC.acceptor().labels(2).size(6, 14)), beam in 0u32..16) {
        let ring = Ring::Tropical;
        let whole = ring.relation(&a, ALL);
        let best = whole.values().copied().fold(f64::INFINITY, f64::min);
        let limit = best + beam as f64 / 8.0;
        let found = ring.relation(&ring.run(&format!("determinize --weight {} a out", beam as f64 / 8.0), &[&a])?, ALL);
        for (key, w) in &whole {
            if *w <= limit {
                prop_assert_eq!(found.get(key), Some(w), "within the beam");
            }
        }
        for (key, w) in &found {
            prop_assert_eq!(whole.get(key), Some(w), "nothing new");
        }
    }

    #[test]
    fn disambiguate_leaves_one_path_a_string(a in automaton(ACYCLIC.acceptor().labels(2))) {
        let ring = Ring::Tropical;
        let found = keeps("disambiguate a out", &a, ALL, ring)?;
        let mut seen = BTreeSet::new();
        for p in found.paths() {
            prop_assert!(seen.insert(p.i), "two paths for one string");
        }
    }

    #[test]
    fn minimize_keeps_the_language(a in automaton(ACYCLIC.acceptor().labels(2).size(6, 14))) {
        for ring in RINGS {
            let det = ring.run("determinize a out", &[&a])?;
            let min = keeps("minimize a out", &det, ALL, ring)?;
            prop_assert!(deterministic(&min));
            prop_assert!(min.finals.len() <= det.finals.len());
        }
    }

    #[test]
    fn minimize_is_minimal(a in automaton(ACYCLIC.acceptor().labels(2).unweighted().size(6, 14)), c in automaton(ACYCLIC.cyclic().acceptor().unweighted())) {
        let ring = Ring::Tropical;
        for (x, bound) in [(&a, ALL), (&c, Bound::length(8))] {
            let det = ring.run_all("determinize a d; connect d out", &[x])?;
            let min = keeps("minimize a out", &det, bound, ring)?;
            // As many states as there are different futures (Myhill and Nerode).
            let futures: BTreeSet<Vec<(Vec<i64>, Vec<i64>)>> = (0..det.finals.len())
                .map(|s| ring.relation(&Automaton { start: s, ..det.clone() }, bound).into_keys().collect())
                .collect();
            prop_assert_eq!(min.finals.len(), futures.len());
        }
    }

    #[test]
    fn minimize_keeps_transducers(a in functional(ACYCLIC.labels(2)), b in automaton(ACYCLIC)) {
        for ring in RINGS {
            let det = ring.run("determinize a out", &[&a])?;
            keeps("minimize a out", &det, ALL, ring)?;
        }
        // Where paths add up, only deterministic automata can be minimized.
        keeps("minimize --allow-nondet a out", &b, ALL, Ring::Tropical)?;
    }

    #[test]
    fn minimize_keeps_nondeterministic_cycles(
        a in automaton(ACYCLIC.cyclic().acceptor()),
        b in automaton(ACYCLIC.cyclic().acceptor().unweighted().size(8, 16)),
        c in automaton(ACYCLIC.cyclic()),
    ) {
        for (x, bound) in [(&a, SHORT), (&b, Bound::length(6)), (&c, SHORT)] {
            keeps("minimize --allow-nondet a out", x, bound, Ring::Tropical)?;
        }
    }

    #[test]
    fn rmepsilon_keeps_the_relation(a in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic().epsilons())) {
        for ring in RINGS {
            for (x, bound) in [(&a, ALL), (&c, SHORT)] {
                for option in ["", "--connect=false"] {
                    let found = keeps(&format!("rmepsilon {option} a out"), x, bound, ring)?;
                    prop_assert!(found.arcs.iter().flatten().all(|x| x.i != 0 || x.o != 0));
                }
            }
        }
    }

    #[test]
    fn push_keeps_path_weights(a in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            for to_final in ["", "--to-final"] {
                // Weights of a cyclic automaton may add up without end in log.
                let cyclic: &[(&Automaton, Bound)] = if ring.path() { &[(&c, SHORT)] } else { &[] };
                for &(x, bound) in [(&a, ALL)].iter().chain(cyclic) {
                    let x = &ring.run("connect a out", &[x])?;
                    let found = keeps(&format!("push --push-weights {to_final} a out"), x, bound, ring)?;
                    // A start state with arcs into it gets a new state before it.
                    prop_assert!((x.num_arcs()..=x.num_arcs() + 1).contains(&found.num_arcs()));
                    // Stochastic: what leaves every state adds up to one.
                    if to_final.is_empty() {
                        for s in (0..found.finals.len()).filter(|&s| s != found.start) {
                            let total = found.arcs[s].iter().fold(found.finals[s], |t, x| plus(t, x.w, ring.path()));
                            prop_assert!(total.abs() < 5e-3, "state {} sums to {}", s, total);
                        }
                    }
                }
                keeps(&format!("push --push-labels {to_final} a out"), &a, ALL, ring)?;
                keeps(&format!("push --push-labels --push-weights {to_final} a out"), &a, ALL, ring)?;
                let x = ring.run("connect a out", &[&a])?;
                let total = ring.relation(&x, ALL).values().fold(f64::INFINITY, |t, w| plus(t, *w, ring.path()));
                if total < f64::INFINITY {
                    let found = ring.run(&format!("push --push-weights --remove-total-weight {to_final} a out"), &[&x])?;
                    let want = ring.relation(&x, ALL).into_iter().map(|(k, w)| (k, w - total)).collect();
                    agree(&want, &ring.relation(&found, ALL), ring)?;
                }
            }
        }
    }

    #[test]
    fn reweight_keeps_path_weights(a in automaton(ACYCLIC.cyclic()), pot in proptest::collection::vec(0u32..16, 4)) {
        for ring in RINGS {
            let text: String = pot.iter().take(a.finals.len()).enumerate().map(|(s, p)| format!("{s}\t{}\n", *p as f64 / 8.0)).collect();
            for to_final in ["", "--to-final"] {
                let mut env = ring.load(&[&a]);
                env.texts.insert("pot".into(), text.clone().into());
                env.run(&format!("reweight {to_final} a pot out")).map_err(TestCaseError::fail)?;
                let found = Automaton::of(&env.automata["out"]);
                agree(&ring.relation(&a, SHORT), &ring.relation(&found, SHORT), ring)?;
            }
        }
    }

    #[test]
    fn epsnormalize_moves_epsilons_to_the_end(a in automaton(ACYCLIC.epsilons())) {
        for ring in RINGS {
            for (option, output) in [("", false), ("--eps-norm-output", true)] {
                let found = keeps(&format!("epsnormalize {option} a out"), &a, ALL, ring)?;
                for p in found.paths() {
                    let labels = p.arcs.iter().map(|&(s, k)| if output { found.arcs[s][k].o } else { found.arcs[s][k].i });
                    let silent: Vec<bool> = labels.map(|l| l == 0).collect();
                    prop_assert!(silent.is_sorted(), "an epsilon before a label");
                }
            }
        }
    }

    #[test]
    fn synchronize_keeps_the_relation(a in automaton(ACYCLIC.epsilons())) {
        for ring in RINGS {
            let found = keeps("synchronize a out", &a, ALL, ring)?;
            for p in found.paths() {
                // Both sides go on together until one of them ends.
                let both: Vec<bool> = p.arcs.iter().map(|&(s, k)| found.arcs[s][k]).filter(|x| x.i != 0 || x.o != 0).map(|x| x.i == 0 || x.o == 0).collect();
                prop_assert!(both.is_sorted());
            }
        }
    }
}

proptest! {
    // The automata are small, and few of them have arcs into both halves of a class just where it is split.
    #![proptest_config(config(600))]

    #[test]
    fn minimize_tells_late_differences_apart(a in late_differences()) {
        keeps("minimize --allow-nondet a out", &a, Bound::length(8), Ring::Tropical)?;
    }
}
