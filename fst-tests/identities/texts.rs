//! compile, print, draw, info, symbols: what is written can be read, and says what is there.

use proptest::prelude::*;

use crate::random::*;

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn compile_reads_what_print_writes(a in automaton(ACYCLIC.cyclic().epsilons())) {
        for (ring, arc) in RINGS.into_iter().zip(["standard", "log", "log64"]) {
            let mut env = ring.env("print a t", &[&a])?;
            env.run(&format!("compile --keep-state-numbering --arc-type {arc} t out")).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&Automaton::of(&env.automata["out"]), &a);
        }
    }

    #[test]
    fn draw_shows_every_arc(a in automaton(ACYCLIC.cyclic())) {
        for ring in RINGS {
            let env = ring.env("draw a", &[&a])?;
            let text = String::from_utf8_lossy(&env.texts["-"]).into_owned();
            prop_assert_eq!(text.matches(" -> ").count(), a.num_arcs());
            prop_assert_eq!(text.matches("doublecircle").count(), a.finals.iter().filter(|w| **w < f64::INFINITY).count());
        }
    }

    #[test]
    fn info_counts(a in automaton(ACYCLIC.cyclic().epsilons())) {
        for ring in RINGS {
            let env = ring.env("info a", &[&a])?;
            let text = String::from_utf8_lossy(&env.texts["-"]).into_owned();
            let value = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<usize>().ok());
            prop_assert_eq!(value("# of states"), Some(a.finals.len()));
            prop_assert_eq!(value("# of arcs"), Some(a.num_arcs()));
            prop_assert_eq!(value("# of input epsilons"), Some(a.arcs.iter().flatten().filter(|x| x.i == 0).count()));
        }
    }

    #[test]
    fn symbols_come_and_go(a in automaton(ACYCLIC)) {
        for ring in RINGS {
            let mut env = ring.load(&[&a]);
            env.texts.insert("s".into(), b"<eps> 0\na 1\nb 2\nc 3\n".to_vec());
            env.run("symbols --isymbols s --osymbols s a b").map_err(TestCaseError::fail)?;
            prop_assert!(env.automata["b"].isyms().is_some());
            env.run("symbols --clear-isymbols --clear-osymbols b out").map_err(TestCaseError::fail)?;
            prop_assert!(env.automata["out"].isyms().is_none() && env.automata["out"].osyms().is_none());
            prop_assert_eq!(&Automaton::of(&env.automata["out"]), &a);
        }
    }
}
