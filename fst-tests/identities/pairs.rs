//! compose, intersect, difference: joins and filters of the strings of two automata.

use proptest::prelude::*;

use crate::random::*;

const SHORT: Bound = Bound { length: 3, steps: 120 };

fn compose(ring: Ring, options: &str, x: &Automaton, y: &Automaton) -> Result<Automaton, TestCaseError> {
    ring.run_all(&format!("arcsort --sort-type olabel a a1; compose {options} a1 b out"), &[x, y])
}

impl Ring {
    /// As `run`, for several commands separated by `;`.
    pub fn run_all(self, lines: &str, operands: &[&Automaton]) -> Result<Automaton, TestCaseError> {
        let env = self.env(lines, operands)?;
        env.automata.get("out").map(Automaton::of).ok_or_else(|| TestCaseError::fail(format!("{lines}: no output")))
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn compose_joins(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons())) {
        for ring in RINGS {
            let want = join(&ring.relation(&a, ALL), &ring.relation(&b, ALL), ring.path());
            // Sums of probabilities count every path once: the filters must leave no second way.
            for filter in ["auto", "sequence", "alt_sequence", "match"] {
                let found = compose(ring, &format!("--compose-filter {filter}"), &a, &b)?;
                agree(&want, &ring.relation(&found, ALL), ring)?;
            }
        }
        let want = join(&Ring::Tropical.relation(&a, ALL), &Ring::Tropical.relation(&b, ALL), true);
        let found = compose(Ring::Tropical, "--compose-filter trivial", &a, &b)?;
        agree(&want, &relation(&found, ALL, true), Ring::Tropical)?;
    }

    #[test]
    fn compose_joins_with_cycles(a in automaton(ACYCLIC.labels(2)), c in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            let bound = Bound { length: 6, steps: 20 };
            let want = join(&ring.relation(&a, bound), &ring.relation(&c, bound), ring.path());
            agree(&want, &ring.relation(&compose(ring, "", &a, &c)?, bound), ring)?;
            let want = join(&ring.relation(&c, bound), &ring.relation(&a, bound), ring.path());
            agree(&want, &ring.relation(&compose(ring, "", &c, &a)?, bound), ring)?;
        }
    }

    #[test]
    fn compose_is_associative(a in automaton(ACYCLIC.cyclic().epsilons()), b in automaton(ACYCLIC.cyclic().epsilons()), c in automaton(ACYCLIC.cyclic().epsilons())) {
        let ring = Ring::Tropical;
        let left = ring.run_all("arcsort --sort-type olabel a a1; compose a1 b ab; arcsort --sort-type olabel ab ab1; compose ab1 c out", &[&a, &b, &c])?;
        let right = ring.run_all("arcsort --sort-type ilabel c c1; compose b c1 bc; arcsort --sort-type ilabel bc bc1; compose a bc1 out", &[&a, &b, &c])?;
        agree(&ring.relation(&left, SHORT), &ring.relation(&right, SHORT), ring)?;
    }

    #[test]
    fn rustfst_composes_the_same(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.epsilons())) {
        use rustfst::algorithms::{compose::compose as theirs, tr_sort};
        use rustfst::prelude::{OLabelCompare, VectorFst};
        use weft::fst::{flat::FlatFst, semiring::Tropical};
        prop_assume!(!a.finals.is_empty() && !b.finals.is_empty());
        let mut x = a.flat::<Tropical>().to_vector_fst().unwrap();
        tr_sort(&mut x, OLabelCompare {});
        let y = b.flat::<Tropical>().to_vector_fst().unwrap();
        let f: VectorFst<Tropical> = theirs::<_, VectorFst<Tropical>, VectorFst<Tropical>, _, _, _>(x, y).unwrap();
        let twin = Automaton::of(&FlatFst::from_rustfst(&f).unwrap().into());
        agree(&relation(&twin, ALL, true), &relation(&compose(Ring::Tropical, "", &a, &b)?, ALL, true), Ring::Tropical)?;
    }

    #[test]
    fn intersect_keeps_what_both_accept(a in automaton(ACYCLIC.acceptor().epsilons()), b in automaton(ACYCLIC.acceptor().epsilons()), c in automaton(ACYCLIC.cyclic().acceptor())) {
        for ring in RINGS {
            for (x, y) in [(&a, &b), (&a, &c), (&c, &b)] {
                let bound = Bound { length: 6, steps: 20 };
                let want = join(&ring.relation(x, bound), &ring.relation(y, bound), ring.path());
                let found = ring.run_all("arcsort --sort-type olabel a a1; intersect a1 b out", &[x, y])?;
                agree(&want, &ring.relation(&found, bound), ring)?;
            }
        }
    }

    #[test]
    fn difference_takes_away(a in automaton(ACYCLIC.acceptor().epsilons()), b in automaton(ACYCLIC.acceptor().unweighted()), c in automaton(ACYCLIC.cyclic().acceptor())) {
        for ring in RINGS {
            for x in [&a, &c] {
                let bound = Bound { length: 5, steps: 30 };
                let gone = ring.relation(&b, ALL);
                let mut want = ring.relation(x, bound);
                want.retain(|key, _| !gone.contains_key(key));
                // The subtrahend has to be deterministic and without weights.
                let found = ring.run_all("determinize b b1; map --map-type rmweight b1 b2; arcsort b2 b3; difference a b3 out", &[x, &b])?;
                agree(&want, &ring.relation(&found, bound), ring)?;
            }
        }
    }

    #[test]
    fn sigma_rho_and_phi_stand_for_labels(a in automaton(ACYCLIC.epsilons()), b in automaton(ACYCLIC.acceptor().labels(4).size(5, 12)), c in automaton(ACYCLIC.cyclic().acceptor().labels(4))) {
        for ring in RINGS {
            for what in ["sigma", "rho", "phi"] {
                for y in [&b, &c] {
                    if what == "phi" && y == &c {
                        continue; // failure arcs in a circle lead nowhere
                    }
                    let y = if what == "phi" { &one_failure_arc(y) } else { y };
                    let bound = Bound { length: 6, steps: 30 };
                    let plain = explicit(y, what);
                    let want = join(&ring.relation(&a, bound), &ring.relation(&plain, bound), ring.path());
                    let found = compose(ring, &format!("--{what}-label {SPECIAL}"), &a, y)?;
                    agree(&want, &ring.relation(&found, bound), ring)?;
                    // The same on the other side.
                    let want = join(&ring.relation(&plain, bound), &ring.relation(&a, bound), ring.path());
                    let line = format!("arcsort --sort-type ilabel b b1; compose --{what}-label {SPECIAL} --special-side first a b1 out");
                    agree(&want, &ring.relation(&ring.run_all(&line, &[y, &a])?, bound), ring)?;
                }
            }
        }
    }
}

/// The label with a meaning; the others are 1, 2 and 3.
const SPECIAL: i64 = 4;

/// At most one failure arc a state.
fn one_failure_arc(a: &Automaton) -> Automaton {
    let mut a = a.clone();
    for arcs in &mut a.arcs {
        let mut seen = false;
        arcs.retain(|x| x.i != SPECIAL || !std::mem::replace(&mut seen, true));
    }
    a
}

/// The acceptor with its special arcs spelled out, one arc a label.
fn explicit(a: &Automaton, what: &str) -> Automaton {
    let mut b = a.clone();
    for s in 0..a.finals.len() {
        let mut arcs: Vec<Arc> = a.arcs[s].iter().copied().filter(|x| x.i != SPECIAL).collect();
        let special: Vec<Arc> = a.arcs[s].iter().copied().filter(|x| x.i == SPECIAL).collect();
        for l in 1..SPECIAL {
            let there = a.arcs[s].iter().any(|x| x.i == l);
            match what {
                "rho" if there => {}
                "rho" | "sigma" => arcs.extend(special.iter().map(|x| Arc { i: l, o: l, ..*x })),
                _ if there => {}
                _ => {
                    // Fail, and fail again, until the label is there.
                    let (mut at, mut cost) = (s, 0.0);
                    while let Some(x) = a.arcs[at].iter().find(|x| x.i == SPECIAL) {
                        (at, cost) = (x.to, cost + x.w);
                        if a.arcs[at].iter().any(|x| x.i == l) {
                            let found = a.arcs[at].iter().filter(|x| x.i == l);
                            arcs.extend(found.map(|x| Arc { w: x.w + cost, ..*x }));
                            break;
                        }
                    }
                }
            }
        }
        b.arcs[s] = arcs;
        if what == "phi" {
            let (mut at, mut cost) = (s, 0.0);
            while a.finals[at] == f64::INFINITY {
                let Some(x) = a.arcs[at].iter().find(|x| x.i == SPECIAL) else { break };
                (at, cost) = (x.to, cost + x.w);
            }
            b.finals[s] = a.finals[at] + cost;
        }
    }
    b
}
