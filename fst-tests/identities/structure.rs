//! arcsort, connect, topsort, map, encode, relabel, convert: states, arcs and weights one by one.

use proptest::prelude::*;
use weft::fst::any::AnyFst;
use weft::fst::flat::FlatFst;
use weft::fst::semiring::Tropical;
use weft::rtn::contract::contract;

use crate::random::*;

const SHORT: Bound = Bound { length: 3, steps: 80 };

fn multiset(arcs: &[Arc]) -> Vec<(i64, i64, u64, usize)> {
    let mut m: Vec<_> = arcs.iter().map(|x| (x.i, x.o, x.w.to_bits(), x.to)).collect();
    m.sort_unstable();
    m
}

fn reach(a: &Automaton, from: Vec<usize>, back: bool) -> Vec<bool> {
    let mut seen = vec![false; a.finals.len()];
    let mut stack = from;
    while let Some(s) = stack.pop() {
        if std::mem::replace(&mut seen[s], true) {
            continue;
        }
        for (p, arcs) in a.arcs.iter().enumerate() {
            for x in arcs {
                let (u, v) = if back { (x.to, p) } else { (p, x.to) };
                if u == s && !seen[v] {
                    stack.push(v);
                }
            }
        }
    }
    seen
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn arcsort_sorts(a in automaton(ACYCLIC.cyclic().epsilons().size(5, 14))) {
        for ring in RINGS {
            for side in ["ilabel", "olabel"] {
                let found = ring.run(&format!("arcsort --sort-type {side} a out"), &[&a])?;
                prop_assert_eq!(&found.finals, &a.finals);
                for (x, y) in a.arcs.iter().zip(&found.arcs) {
                    prop_assert_eq!(multiset(x), multiset(y));
                    let key = |z: &Arc| if side == "ilabel" { (z.i, z.o) } else { (z.o, z.i) };
                    prop_assert!(y.is_sorted_by_key(key));
                }
            }
        }
    }

    /// Epsilons that go take no string along and add no arc.
    #[test]
    fn contracting_keeps_strings_and_costs(a in automaton(ACYCLIC.acceptor().epsilons().size(8, 16))) {
        let fst = a.flat::<Tropical>();
        let less = contract(&fst);
        prop_assert!(less.num_arcs() <= fst.num_arcs() && less.num_states() <= fst.num_states());
        let epsilons = |f: &FlatFst<Tropical>| f.all_arcs().iter().filter(|a| a.ilabel == 0).count();
        prop_assert!(epsilons(&less) <= epsilons(&fst));
        prop_assert!(less.states().all(|s| less.arcs(s).iter().all(|a| a.nextstate > s)), "not in topological order");
        let found = Automaton::of(&AnyFst::Standard(less));
        same(&Ring::Tropical.relation(&a, ALL), &Ring::Tropical.relation(&found, ALL), 1e-6)
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn connect_leaves_useful_states(a in automaton(ACYCLIC.cyclic().epsilons().size(6, 9))) {
        let forward = reach(&a, vec![a.start], false);
        let ends: Vec<usize> = (0..a.finals.len()).filter(|&s| a.finals[s] < f64::INFINITY).collect();
        let backward = reach(&a, ends, true);
        let useful = (0..a.finals.len()).filter(|&s| forward[s] && backward[s]).count();
        for ring in RINGS {
            let found = keeps("connect a out", &a, SHORT, ring)?;
            prop_assert_eq!(found.finals.len(), useful);
        }
    }

    #[test]
    fn topsort_puts_arcs_forward(a in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            let found = keeps("topsort a out", &a, ALL, ring)?;
            prop_assert!(found.arcs.iter().enumerate().all(|(s, arcs)| arcs.iter().all(|x| x.to > s)));
            prop_assert_eq!(found.num_arcs(), a.num_arcs());
            keeps("topsort a out", &c, SHORT, ring).ok(); // a cyclic input stays or is refused; it must not panic
        }
    }

    #[test]
    fn map_changes_weights(a in automaton(ACYCLIC.cyclic().epsilons()), k in 0u32..16) {
        let k = k as f64 / 8.0;
        for ring in RINGS {
            let with = |f: &dyn Fn(f64) -> f64| {
                let mut b = a.clone();
                b.finals.iter_mut().filter(|w| **w < f64::INFINITY).for_each(|w| *w = f(*w));
                b.arcs.iter_mut().flatten().for_each(|x| x.w = f(x.w));
                b
            };
            let run = |options: &str| ring.run(&format!("map --map-type {options} a out"), &[&a]);
            prop_assert_eq!(&run("identity")?, &a);
            prop_assert_eq!(run(&format!("times --weight {k}"))?, with(&|w| w + k));
            prop_assert_eq!(run("rmweight")?, with(&|_| 0.0));
            prop_assert_eq!(run("quantize --delta 0.5")?, with(&|w| (w / 0.5 + 0.5).floor() * 0.5));
            prop_assert_eq!(run("invert")?, with(&|w| -w));
            let found = keeps("map --map-type superfinal a out", &a, SHORT, ring)?;
            prop_assert!(found.finals.iter().filter(|w| **w < f64::INFINITY).count() <= 1);
            keeps("map --map-type arc_sum a out", &a, SHORT, ring)?;
            let found = ring.run_all("map --map-type to_log64 a l; map --map-type to_std l out", &[&a])?;
            prop_assert_eq!(&found, &a);
            for (t, input) in [("input_epsilon", true), ("output_epsilon", false)] {
                let mut want = a.clone();
                want.arcs.iter_mut().flatten().for_each(|x| if input { x.i = 0 } else { x.o = 0 });
                prop_assert_eq!(run(t)?, want);
            }
        }
    }

    #[test]
    fn encode_and_decode_is_nothing(a in automaton(ACYCLIC.cyclic().epsilons())) {
        let dir = tempfile::tempdir().unwrap();
        let codex = dir.path().join("codex");
        let codex = codex.to_str().unwrap();
        for ring in RINGS {
            for option in ["--encode-labels", "--encode-weights", "--encode-labels --encode-weights"] {
                let found = ring.run_all(&format!("encode {option} a {codex} e; encode --decode e {codex} out"), &[&a])?;
                // Decoding trims, and encoded final weights come back on an arc to a new state.
                agree(&ring.relation(&a, SHORT), &ring.relation(&found, SHORT), ring)?;
            }
        }
    }

    #[test]
    fn relabel_and_back_is_nothing(a in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            let mut env = ring.load(&[&a]);
            env.texts.insert("p".into(), b"1 7\n2 9\n3 1\n".to_vec());
            env.texts.insert("q".into(), b"7 1\n9 2\n1 3\n".to_vec());
            env.run("relabel --relabel-ipairs p --relabel-opairs p a b").map_err(TestCaseError::fail)?;
            let there = Automaton::of(&env.automata["b"]);
            prop_assert!(there.arcs.iter().flatten().all(|x| [7, 9, 1].contains(&x.i)));
            env.run("relabel --relabel-ipairs q --relabel-opairs q b out").map_err(TestCaseError::fail)?;
            prop_assert_eq!(&Automaton::of(&env.automata["out"]), &a);
        }
    }

    #[test]
    fn convert_keeps_everything(a in automaton(ACYCLIC.cyclic().epsilons())) {
        for ring in RINGS {
            prop_assert_eq!(&ring.run_all("convert --fst-type const a b; convert --fst-type vector b out", &[&a])?, &a);
        }
    }
}
