//! equal, isomorphic, equivalent: what they must say of automata that are known to be the same or not.

use proptest::prelude::*;

use crate::random::*;

/// The same automaton with other state numbers and another order of arcs; the start stays where it is.
fn shuffled(a: &Automaton, by: usize) -> Automaton {
    let n = a.finals.len();
    if n < 2 {
        return a.clone();
    }
    let turn = |s: usize| if s == a.start { s } else { 1 + (s - 1 + by) % (n - 1) };
    let mut b = a.clone();
    for s in 0..n {
        b.finals[turn(s)] = a.finals[s];
        b.arcs[turn(s)] = a.arcs[s].iter().rev().map(|x| Arc { to: turn(x.to), ..*x }).collect();
    }
    b
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn equal_sees_every_difference(a in automaton(ACYCLIC.cyclic().epsilons()), at in 0usize..20) {
        for ring in RINGS {
            prop_assert!(ring.ask("equal a b", &[&a, &a])?);
            let mut b = a.clone();
            let arcs = a.num_arcs();
            if arcs > 0 {
                b.arcs.iter_mut().flatten().nth(at % arcs).unwrap().w += 0.5;
                prop_assert!(!ring.ask("equal a b", &[&a, &b])?);
                prop_assert!(ring.ask("equal --delta 1 a b", &[&a, &b])?);
            }
        }
    }

    #[test]
    fn isomorphic_looks_past_numbers(a in automaton(ACYCLIC.cyclic().epsilons()), by in 0usize..4, at in 0usize..20) {
        // A state that is not reached has no place in the comparison.
        let a = Automaton::of(&Ring::Tropical.env("connect a out", &[&a])?.automata["out"]);
        for ring in RINGS {
            let b = shuffled(&a, by);
            prop_assert!(ring.ask("isomorphic a b", &[&a, &b])?);
            if a.num_arcs() > 0 {
                let mut c = b.clone();
                c.arcs.iter_mut().flatten().nth(at % a.num_arcs()).unwrap().i += 5;
                prop_assert!(!ring.ask("isomorphic a b", &[&a, &c])?);
            }
        }
    }

    #[test]
    fn equivalent_compares_languages(a in automaton(ACYCLIC.acceptor()), b in automaton(ACYCLIC.acceptor())) {
        for ring in RINGS {
            let env = ring.env("determinize a x; determinize b y; minimize x z", &[&a, &b])?;
            let of = |n: &str| Automaton::of(&env.automata[n]);
            let (x, y, z) = (of("x"), of("y"), of("z"));
            prop_assert!(ring.ask("equivalent a b", &[&x, &z])?);
            let (p, q) = (ring.relation(&a, ALL), ring.relation(&b, ALL));
            prop_assert_eq!(ring.ask("equivalent a b", &[&x, &y])?, same(&p, &q, 1e-3).is_ok());
            prop_assert!(ring.ask("equivalent --random --npath 20 a b", &[&x, &z])?);
        }
    }
}
