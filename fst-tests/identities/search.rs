//! shortestdistance, shortestpath, prune, randgen against every path.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::random::*;

/// One number a line after the state, as `shortestdistance` prints them.
fn distances(ring: Ring, option: &str, a: &Automaton) -> Result<Vec<f64>, TestCaseError> {
    let env = ring.env(&format!("shortestdistance {option} a"), &[a])?;
    let text = String::from_utf8_lossy(&env.texts["-"]).into_owned();
    let mut found = vec![f64::INFINITY; a.finals.len()];
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let state: usize = words.next().and_then(|w| w.parse().ok()).expect("a state");
        found[state] = words.next().map_or(0.0, |w| number(w).expect("a weight"));
    }
    Ok(found)
}

/// Relaxation until nothing changes: forward from the start, or backward from the final states.
fn relaxed(a: &Automaton, reverse: bool, path: bool) -> Vec<f64> {
    let n = a.finals.len();
    let mut total = vec![f64::INFINITY; n];
    // front[s]: the sum over walks of exactly k arcs.
    let mut front: Vec<f64> = match reverse {
        true => a.finals.clone(),
        false => (0..n).map(|s| if s == a.start { 0.0 } else { f64::INFINITY }).collect(),
    };
    for _ in 0..60 {
        for s in 0..n {
            total[s] = plus(total[s], front[s], path);
        }
        let mut next = vec![f64::INFINITY; n];
        for s in 0..n {
            for x in &a.arcs[s] {
                let (from, to) = if reverse { (x.to, s) } else { (s, x.to) };
                next[to] = plus(next[to], front[from] + x.w, path);
            }
        }
        front = next;
    }
    total
}

fn sorted(mut w: Vec<f64>) -> Vec<f64> {
    w.sort_by(f64::total_cmp);
    w
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn shortestdistance_sums_all_paths(a in automaton(ACYCLIC.epsilons().size(7, 16)), c in automaton(ACYCLIC.cyclic().epsilons().size(6, 12))) {
        for ring in RINGS {
            let cyclic: &[&Automaton] = if ring.path() { &[&c] } else { &[] };
            for x in [&a].into_iter().chain(cyclic.iter().copied()) {
                for (option, reverse) in [("", false), ("--reverse", true), ("--queue-type fifo", false), ("--queue-type auto", false)] {
                    let (want, found) = (relaxed(x, reverse, ring.path()), distances(ring, option, x)?);
                    for s in 0..want.len() {
                        let close = want[s] == found[s] || (want[s] - found[s]).abs() < ring.tolerance();
                        prop_assert!(close, "{:?} {} state {}: {} and {}", ring, option, s, want[s], found[s]);
                    }
                }
            }
        }
    }

    #[test]
    fn shortestpath_is_the_best(a in automaton(ACYCLIC.epsilons().size(7, 16)), c in automaton(ACYCLIC.cyclic().epsilons().size(6, 12))) {
        let ring = Ring::Tropical;
        for (x, bound) in [(&a, ALL), (&c, Bound::length(4))] {
            let whole = ring.relation(x, bound);
            let paths = ring.run("shortestpath a out", &[x])?.paths();
            let best = relaxed(x, true, true).get(x.start).copied().unwrap_or(f64::INFINITY);
            if best == f64::INFINITY {
                prop_assert!(paths.is_empty());
                continue;
            }
            prop_assert_eq!(paths.len(), 1);
            prop_assert_eq!(paths[0].weight, best);
            let key = (paths[0].i.clone(), paths[0].o.clone());
            if key.0.len().max(key.1.len()) <= bound.length {
                prop_assert_eq!(whole.get(&key).copied(), Some(best));
            }
        }
    }

    #[test]
    fn nbest_is_brute_force(a in automaton(ACYCLIC.epsilons().size(7, 16)), n in 1usize..12) {
        let ring = Ring::Tropical;
        let all = a.paths();
        let want: Vec<f64> = sorted(all.iter().map(|p| p.weight).collect()).into_iter().take(n).collect();
        let found = ring.run(&format!("shortestpath --nshortest {n} a out"), &[&a])?.paths();
        // In order: the arcs of the start lead to the best, the second best, and so on.
        prop_assert_eq!(found.iter().map(|p| p.weight).collect::<Vec<_>>(), want);
        // Every path is one of the automaton, and none is used twice.
        let mut left: BTreeMap<_, usize> = BTreeMap::new();
        for p in &all {
            *left.entry((p.i.clone(), p.o.clone(), p.weight.to_bits())).or_default() += 1;
        }
        for p in &found {
            let count = left.entry((p.i.clone(), p.o.clone(), p.weight.to_bits())).or_default();
            prop_assert!(*count > 0, "a path that is not there: {:?}", p);
            *count -= 1;
        }
    }

    #[test]
    fn nbest_unique_is_brute_force(a in automaton(ACYCLIC.acceptor().labels(2).size(7, 16)), e in automaton(ACYCLIC.acceptor().epsilons().labels(2).size(6, 12)), n in 1usize..12) {
        let ring = Ring::Tropical;
        for x in [&a, &e] {
            let strings: Vec<f64> = sorted(ring.relation(x, ALL).into_values().collect());
            let found = ring.run(&format!("shortestpath --nshortest {n} --unique a out"), &[x])?.paths();
            let want: Vec<f64> = strings.into_iter().take(n).collect();
            prop_assert_eq!(found.iter().map(|p| p.weight).collect::<Vec<_>>(), want);
            let whole = ring.relation(x, ALL);
            let mut seen = BTreeSet::new();
            for p in found {
                prop_assert_eq!(whole.get(&(p.i.clone(), p.o.clone())).copied(), Some(p.weight));
                prop_assert!(seen.insert(p.i), "a string twice");
            }
        }
    }

    #[test]
    fn nbest_with_cycles(c in automaton(ACYCLIC.cyclic().acceptor().epsilons().size(4, 7)), n in 1usize..8) {
        // Every arc costs at least 1/2, so that the n best are short, and not much more, so that there are many.
        let mut c = c;
        for x in c.arcs.iter_mut().flatten() {
            x.w = 0.5 + x.w / 8.0;
        }
        // All walks of at most 8 arcs, each with the string it reads; what is longer costs more than 4.
        let mut walks: Vec<(Vec<i64>, f64)> = vec![];
        let mut front = if c.finals.is_empty() { vec![] } else { vec![(c.start, vec![], 0.0)] };
        for _ in 0..=8 {
            walks.extend(front.iter().map(|(s, read, w)| (read.clone(), w + c.finals[*s])).filter(|x| x.1 <= 4.0));
            let longer = |(s, read, w): &(usize, Vec<i64>, f64)| {
                let (read, w) = (read.clone(), *w);
                let step = move |x: &Arc| (x.to, [&read[..], &[x.i][..usize::from(x.i != 0)]].concat(), w + x.w);
                c.arcs[*s].iter().map(step).collect::<Vec<_>>()
            };
            front = front.iter().flat_map(longer).filter(|x| x.2 <= 4.0).collect();
            if front.len() > 50_000 {
                return Ok(());
            }
        }
        let mut strings: BTreeMap<Vec<i64>, f64> = BTreeMap::new();
        for (read, w) in &walks {
            let best = strings.entry(read.clone()).or_insert(f64::INFINITY);
            *best = best.min(*w);
        }
        let ring = Ring::Tropical;
        for (unique, costs) in [("", walks.iter().map(|x| x.1).collect()), ("--unique", strings.values().copied().collect())] {
            let want: Vec<f64> = sorted(costs).into_iter().take(n).collect();
            let found = ring.run(&format!("shortestpath --nshortest {n} {unique} a out"), &[&c])?.paths();
            let weights: Vec<f64> = found.iter().map(|p| p.weight).collect();
            prop_assert_eq!(weights.iter().copied().filter(|w| *w <= 4.0).collect::<Vec<_>>(), want);
            if !unique.is_empty() {
                let mut seen = BTreeSet::new();
                for p in found {
                    prop_assert!(p.weight > 4.0 || strings.get(&p.i) == Some(&p.weight), "{:?}", p);
                    prop_assert!(seen.insert(p.i), "a string twice");
                }
            }
        }
    }

    #[test]
    fn prune_keeps_the_beam(a in automaton(ACYCLIC.epsilons().size(7, 16)), beam in 0u32..24) {
        let ring = Ring::Tropical;
        let beam = beam as f64 / 8.0;
        let all = a.paths();
        let best = all.iter().map(|p| p.weight).fold(f64::INFINITY, f64::min);
        let inside: Vec<&Path> = all.iter().filter(|p| p.weight <= best + beam).collect();
        let kept: BTreeSet<(usize, usize)> = inside.iter().flat_map(|p| p.arcs.clone()).collect();
        let found = ring.run(&format!("prune --weight {beam} a out"), &[&a])?;
        // Exactly the arcs that lie on some path within the beam.
        prop_assert_eq!(found.num_arcs(), kept.len());
        let paths = found.paths();
        let means = |p: &Path| (p.i.clone(), p.o.clone(), p.weight.to_bits());
        let mut left: Vec<_> = paths.iter().map(means).collect();
        for p in &inside {
            let at = left.iter().position(|q| *q == means(p));
            prop_assert!(at.is_some(), "lost a path within the beam: {:?}", p);
            left.swap_remove(at.unwrap());
        }
        // What is left over is made of arcs that each lie on a path within the beam.
        let bits: BTreeSet<_> = all.iter().filter(|p| p.arcs.iter().all(|x| kept.contains(x))).map(means).collect();
        prop_assert!(left.iter().all(|q| bits.contains(q)));
        if best < f64::INFINITY {
            prop_assert_eq!(paths.iter().map(|p| p.weight).fold(f64::INFINITY, f64::min), best);
        }
    }

    #[test]
    fn randgen_stays_inside(a in automaton(ACYCLIC.epsilons()), seed in 1u32..1000) {
        for ring in RINGS {
            let whole = ring.relation(&a, ALL);
            for select in ["uniform", "log_prob", "fast_log_prob"] {
                let found = ring.run(&format!("randgen --npath 5 --seed {seed} --select {select} a out"), &[&a])?;
                let paths = found.paths();
                if whole.is_empty() {
                    continue;
                }
                for p in paths {
                    prop_assert!(whole.contains_key(&(p.i.clone(), p.o.clone())), "{:?}", p);
                }
                let again = ring.run(&format!("randgen --npath 5 --seed {seed} --select {select} a out"), &[&a])?;
                prop_assert_eq!(found, again, "the same seed, the same paths");
            }
        }
    }
}
