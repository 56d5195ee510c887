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
}
