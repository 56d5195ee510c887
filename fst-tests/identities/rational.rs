//! union, concat, closure, reverse, invert, project, replace, and rustfst's own answers to the same questions.

use proptest::prelude::*;

use crate::random::*;

const SHORT: Bound = Bound { length: 3, steps: 80 };

fn swapped(r: &Relation) -> Relation {
    r.iter().map(|((i, o), w)| ((o.clone(), i.clone()), *w)).collect()
}

fn mirrored(r: &Relation) -> Relation {
    let turn = |s: &Vec<i64>| s.iter().rev().copied().collect::<Vec<_>>();
    r.iter().map(|((i, o), w)| ((turn(i), turn(o)), *w)).collect()
}

fn short(r: Relation, length: usize) -> Relation {
    r.into_iter().filter(|((i, o), _)| i.len() <= length && o.len() <= length).collect()
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn union_adds(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic().epsilons())) {
        for ring in RINGS {
            for (x, y, bound) in [(&a, &b, ALL), (&a, &c, SHORT), (&c, &b, SHORT)] {
                let found = ring.run("union a b out", &[x, y])?;
                let want = sum(&ring.relation(x, bound), &ring.relation(y, bound), ring.path());
                agree(&want, &ring.relation(&found, bound), ring)?;
            }
        }
    }

    #[test]
    fn concat_joins(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            for (x, y, bound) in [(&a, &b, ALL), (&a, &c, SHORT), (&c, &b, SHORT)] {
                let found = ring.run("concat a b out", &[x, y])?;
                let want = product(&ring.relation(x, bound), &ring.relation(y, bound), bound.length, ring.path());
                agree(&want, &ring.relation(&found, bound), ring)?;
            }
        }
    }

    #[test]
    fn closure_repeats(a in automaton(ACYCLIC.acceptor())) {
        for ring in RINGS {
            let once = short(ring.relation(&a, ALL), SHORT.length);
            // Every turn reads something, or costs something: the empty string is left out where it would turn for ever.
            prop_assume!(!once.contains_key(&(vec![], vec![])));
            let mut plus_closure = Relation::new();
            let mut power = once.clone();
            for _ in 0..SHORT.length {
                plus_closure = sum(&plus_closure, &power, ring.path());
                power = product(&power, &once, SHORT.length, ring.path());
            }
            let found = ring.run("closure --closure-plus a out", &[&a])?;
            agree(&plus_closure, &ring.relation(&found, SHORT), ring)?;
            let found = ring.run("closure a out", &[&a])?;
            add(&mut plus_closure, (vec![], vec![]), 0.0, ring.path());
            agree(&plus_closure, &ring.relation(&found, SHORT), ring)?;
        }
    }

    #[test]
    fn reverse_mirrors(a in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic().epsilons())) {
        for ring in RINGS {
            for option in ["", "--require-superinitial=false"] {
                for (x, bound) in [(&a, ALL), (&c, SHORT)] {
                    let found = ring.run(&format!("reverse {option} a out"), &[x])?;
                    agree(&mirrored(&ring.relation(x, bound)), &ring.relation(&found, bound), ring)?;
                }
            }
        }
    }

    #[test]
    fn invert_swaps_and_project_copies(a in automaton(ACYCLIC.epsilons()), c in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            for (x, bound) in [(&a, ALL), (&c, SHORT)] {
                let found = ring.run("invert a out", &[x])?;
                agree(&swapped(&ring.relation(x, bound)), &ring.relation(&found, bound), ring)?;
            }
            let whole = ring.relation(&a, ALL);
            for (side, line) in [("input", "project --project-type input a out"), ("output", "project --project-type output a out")] {
                let mut want = Relation::new();
                for ((i, o), w) in &whole {
                    let s = if side == "input" { i } else { o };
                    add(&mut want, (s.clone(), s.clone()), *w, ring.path());
                }
                agree(&want, &ring.relation(&ring.run(line, &[&a])?, ALL), ring)?;
            }
        }
    }

    #[test]
    fn replace_substitutes(root in automaton(ACYCLIC.labels(4)), p in automaton(ACYCLIC.labels(4)), q in automaton(ACYCLIC.labels(2))) {
        // Label 4 calls p in the root, label 3 calls q in both.
        let (mut root, mut p) = (root, p);
        for a in root.arcs.iter_mut().flatten() {
            if a.i >= 3 || a.o >= 3 {
                (a.i, a.o) = (a.i.max(a.o), a.i.max(a.o));
            }
        }
        for a in p.arcs.iter_mut().flatten() {
            (a.i, a.o) = if a.i.max(a.o) >= 3 { (3, 3) } else { (a.i, a.o) };
        }
        for ring in RINGS {
            let q_means = ring.relation(&q, ALL);
            let p_means = substituted(&p, &[(3, &q_means)], ring);
            let want = substituted(&root, &[(3, &q_means), (4, &p_means)], ring);
            let found = ring.run("replace --epsilon-on-replace a 100 b 4 c 3 -o out", &[&root, &p, &q])?;
            agree(&want, &ring.relation(&found, ALL), ring)?;
        }
    }

    #[test]
    fn rustfst_agrees(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons())) {
        use rustfst::algorithms::{ProjectType, closure::{ClosureType, closure}, concat::concat, invert, project, reverse, union::union};
        use rustfst::prelude::VectorFst;
        use weft::fst::flat::FlatFst;
        use weft::fst::semiring::Tropical;
        let ring = Ring::Tropical;
        prop_assume!(!a.finals.is_empty() && !b.finals.is_empty());
        let x = || a.flat::<Tropical>().to_vector_fst().unwrap();
        let y = b.flat::<Tropical>().to_vector_fst().unwrap();
        let means = |f: &VectorFst<Tropical>| {
            let twin = Automaton::of(&FlatFst::from_rustfst(f).unwrap().into());
            ring.relation(&twin, SHORT)
        };
        let check = |line: &str, theirs: &VectorFst<Tropical>| -> Result<(), TestCaseError> {
            agree(&means(theirs), &ring.relation(&ring.run(line, &[&a, &b])?, SHORT), ring)
        };
        let mut f = x();
        union(&mut f, &y).unwrap();
        check("union a b out", &f)?;
        let mut f = x();
        concat(&mut f, &y).unwrap();
        check("concat a b out", &f)?;
        let mut f = x();
        closure(&mut f, ClosureType::ClosureStar);
        check("closure a out", &f)?;
        let mut f = x();
        project(&mut f, ProjectType::ProjectOutput);
        check("project --project-type output a out", &f)?;
        let mut f = x();
        invert(&mut f);
        check("invert a out", &f)?;
        let f: VectorFst<Tropical> = reverse(&x()).unwrap();
        check("reverse a out", &f)?;
    }
}

/// What an acyclic automaton means when its labels `calls` stand for relations.
fn substituted(a: &Automaton, calls: &[(i64, &Relation)], ring: Ring) -> Relation {
    let mut total = Relation::new();
    for path in a.paths() {
        let mut arcs_weight = 0.0;
        let mut so_far = Relation::from([((vec![], vec![]), 0.0)]);
        for &(s, k) in &path.arcs {
            let arc = a.arcs[s][k];
            arcs_weight += arc.w;
            let letter = Relation::from([((vec![arc.i], vec![arc.o]), 0.0)]);
            let step = calls.iter().find(|c| c.0 == arc.o).map_or(&letter, |c| c.1);
            so_far = product(&so_far, step, 100, ring.path());
        }
        let rest = path.weight - arcs_weight;
        for (key, w) in so_far {
            add(&mut total, key, w + arcs_weight + rest, ring.path());
        }
    }
    total
}
