//! Models on lattices: against every path by itself, against pruning afterwards, against composition.

use std::sync::Arc as Shared;

use proptest::prelude::*;
use weft::fst::compose::{ComposeConfig, Special, compose};
use weft::fst::flat::{Arc, FlatFst, Label, StateId};
use weft::fst::prune::{PruneConfig, prune};
use weft::fst::semiring::{Log64, Tropical, Weight};
use weft::fst::symbols::SymbolTable;
use weft::lm::apply::{ApplyConfig, Boundaries, Term, apply, apply_with_parts};
use weft::lm::automaton::{AutomatonConfig, Backoff as Kind, automaton, phi_label};
use weft::lm::{LanguageModel, LmState, WordId};

use super::backoff::{Backoff, backoff};

/// The words that labels stand for; 9 is a word that no model knows.
fn symbols() -> SymbolTable {
    let mut t = SymbolTable::new("words");
    for (word, key) in [("<eps>", 0), ("a", 1), ("b", 2), ("c", 3), ("other", 9), ("<s>", 20), ("</s>", 21)] {
        t.add_with_key(word, key);
    }
    t
}

/// Rows of (final, arcs), each arc (label, weight, target).
#[derive(Clone, Debug)]
struct Lattice {
    finals: Vec<Option<u32>>,
    arcs: Vec<(usize, usize, Label, i32)>,
}

impl Lattice {
    fn build<W: Weight>(&self) -> FlatFst<W> {
        let weight = |w: f64| W::from_f64(w / 8.0);
        let row = |s: usize| {
            let arcs = self.arcs.iter().filter(|a| a.0 == s);
            let arcs = arcs.map(|&(_, d, l, w)| Arc::new(l, l, weight(w as f64), d as StateId)).collect();
            (self.finals[s].map_or(W::ZERO, |w| weight(w as f64)), arcs)
        };
        let table = Shared::new(symbols());
        FlatFst::from_rows(0, (0..self.finals.len()).map(row).collect()).with_symbols(Some(table.clone()), Some(table))
    }
}

fn lattice(acyclic: bool) -> impl Strategy<Value = Lattice> {
    let label = prop_oneof![Just(0), Just(1), Just(2), Just(3), Just(9)];
    let arc = (0..6usize, 0..6usize, label, if acyclic { -10..20i32 } else { 0..20i32 });
    let finals = proptest::collection::vec(proptest::option::weighted(0.4, 0..20u32), 6);
    (proptest::collection::vec(arc, 0..14), finals).prop_map(move |(arcs, finals)| {
        let arcs = arcs.into_iter().filter(|a| a.0 != a.1 || (!acyclic && a.2 != 0));
        // Epsilons go forwards only: a cycle of them is bad input.
        let forwards = |(s, d, l, w): (usize, usize, Label, i32)| {
            if acyclic || l == 0 { (s.min(d), s.max(d), l, w) } else { (s, d, l, w) }
        };
        Lattice { finals, arcs: arcs.map(forwards).collect() }
    })
}

/// All paths of at most `most` arcs: words and cost.
fn paths<W: Weight>(fst: &FlatFst<W>, most: usize) -> Vec<(Vec<Label>, f64)> {
    let mut found = vec![];
    if fst.num_states() == 0 {
        return found;
    }
    let mut stack = vec![(fst.start(), vec![], 0.0, 0)];
    while let Some((s, words, cost, arcs)) = stack.pop() {
        if fst.is_final(s) {
            found.push((words.clone(), cost + fst.final_weight(s).to_f64()));
        }
        if arcs < most {
            for a in fst.arcs(s) {
                let mut words: Vec<Label> = words.clone();
                words.extend((a.olabel != 0).then_some(a.olabel));
                stack.push((a.nextstate, words, cost + a.weight.to_f64(), arcs + 1));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found
}

fn same_paths(got: &[(Vec<Label>, f64)], want: &[(Vec<Label>, f64)]) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        prop_assert_eq!(&g.0, &w.0);
        prop_assert!((g.1 - w.1).abs() < 1e-4 * (1.0 + w.1.abs()), "{:?}: {} not {}", g.0, g.1, w.1);
    }
    Ok(())
}

fn term<'a>(model: &'a dyn LanguageModel, scale: f64) -> Term<'a> {
    Term { model, scale, name: "test.arpa", part: "lm1" }
}

/// A lattice's words as text, for the definition.
fn spelt<'a>(table: &'a SymbolTable, words: &[Label]) -> Vec<&'a str> {
    words.iter().map(|&l| table.symbol(l as i64).unwrap()).collect()
}

fn config(boundaries: Boundaries, word_penalty: f64) -> ApplyConfig {
    ApplyConfig { boundaries, word_penalty, ..ApplyConfig::default() }
}

/// The paths of a lattice with the costs that the definition gives them.
fn rescored(paths: Vec<(Vec<Label>, f64)>, terms: &[(&Backoff, f64)], c: &ApplyConfig) -> Vec<(Vec<Label>, f64)> {
    let table = symbols();
    let mut all: Vec<_> = paths
        .into_iter()
        .map(|(words, own)| {
            let text = spelt(&table, &words);
            let lm: f64 = terms.iter().map(|(b, scale)| scale * b.cost(&text, c.boundaries == Boundaries::Add)).sum();
            let cost = own + lm + c.word_penalty * words.len() as f64;
            (words, cost)
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    all
}

/// A model that sets no bounds.
struct Boundless<'a>(&'a dyn LanguageModel);

impl LanguageModel for Boundless<'_> {
    fn word(&self, word: &str) -> Option<WordId> {
        self.0.word(word)
    }
    fn null(&self) -> LmState {
        self.0.null()
    }
    fn begin(&self) -> Option<LmState> {
        self.0.begin()
    }
    fn end_word(&self) -> Option<WordId> {
        self.0.end_word()
    }
    fn step(&self, state: LmState, word: WordId) -> (LmState, f64) {
        self.0.step(state, word)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every path costs its own cost plus the models' scores of its words.
    #[test]
    fn every_path_has_its_score(
        a in backoff(), b in backoff(), l in lattice(true), penalty in -2..3i32, add in any::<bool>(),
    ) {
        let lattice = l.build::<Log64>();
        let c = config(if add { Boundaries::Add } else { Boundaries::None }, penalty as f64);
        let (ma, mb) = (a.model(), b.model());
        let table = symbols();
        let got = apply(&lattice, &[term(&ma, 0.5)], &table, &c).unwrap();
        same_paths(&paths(&got, 99), &rescored(paths(&lattice, 99), &[(&a, 0.5)], &c))?;
        // A second model, and one that is taken away; three at a time.
        let terms = [term(&ma, 1.5), term(&mb, 0.25), term(&ma, -1.0)];
        let got = apply(&lattice, &terms, &table, &c).unwrap();
        let want = rescored(paths(&lattice, 99), &[(&a, 1.5), (&b, 0.25), (&a, -1.0)], &c);
        same_paths(&paths(&got, 99), &want)?;
        // No model at all: the word penalty alone.
        let got = apply(&lattice, &[], &table, &c).unwrap();
        same_paths(&paths(&got, 99), &rescored(paths(&lattice, 99), &[], &c))?;
    }

    #[test]
    fn paths_of_cyclic_lattices_have_their_scores(a in backoff(), l in lattice(false)) {
        let lattice = l.build::<Log64>();
        let c = config(Boundaries::Add, 0.0);
        let got = apply(&lattice, &[term(&a.model(), 1.0)], &symbols(), &c).unwrap();
        same_paths(&paths(&got, 5), &rescored(paths(&lattice, 5), &[(&a, 1.0)], &c))?;
    }

    /// Pruning during composition is composing and then pruning: the same automaton, bit by bit.
    #[test]
    fn a_beam_keeps_what_pruning_afterwards_keeps(
        a in backoff(), b in backoff(), acyclic in lattice(true), cyclic in lattice(false), beam in 0..40u32, two in any::<bool>(),
    ) {
        let (ma, mb) = (a.model(), b.model());
        let boundless = Boundless(&mb);
        let terms: Vec<Term> = if two { vec![term(&ma, 1.0), term(&mb, -0.5)] } else { vec![term(&ma, 0.75)] };
        let beam = beam as f64 / 2.0;
        for (lattice, terms) in [
            (acyclic.build::<Tropical>(), &terms[..]),
            (acyclic.build::<Tropical>(), &[term(&boundless, 1.0)][..]),
            // With a positive scale and no gains on arcs every cycle loses.
            (cyclic.build::<Tropical>(), &[term(&ma, 0.75)][..]),
        ] {
            let whole = apply(&lattice, terms, &symbols(), &config(Boundaries::Add, 0.25));
            let whole = prune(whole.unwrap(), &PruneConfig { weight: Tropical(beam as f32), ..Default::default() });
            let c = ApplyConfig { prune: Some(beam), ..config(Boundaries::Add, 0.25) };
            let pruned = match apply(&lattice, terms, &symbols(), &c) {
                // Back-offs above one can make a cycle gain; that is said, not guessed.
                Err(e) => { prop_assert!(e.to_string().contains("may cost less than nothing"), "{e}"); continue }
                Ok(p) => p,
            };
            let whole = whole.unwrap();
            prop_assert_eq!(&pruned, &whole);
            let (again, parts) = apply_with_parts(&lattice, terms, &symbols(), &c).unwrap();
            prop_assert_eq!(&again, &whole);
            for (i, arc) in again.all_arcs().iter().enumerate() {
                let part = |k: usize| parts[k].fst.all_arcs()[i].weight.0 as f64;
                let models: f64 = terms.iter().enumerate().map(|(k, t)| t.scale * part(k + 1)).sum();
                let sum = part(0) + models + 0.25 * part(terms.len() + 1);
                prop_assert!((sum - arc.weight.0 as f64).abs() < 1e-4, "{sum} {}", arc.weight);
            }
        }
    }

    /// The model as an automaton, composed, is the model applied.
    #[test]
    fn composition_with_the_automaton_is_application(a in backoff(), l in lattice(true), exact in any::<bool>()) {
        let model = a.model();
        let kind = if exact { Kind::Exact } else { Kind::Phi };
        let config = AutomatonConfig { backoff: kind, boundaries: Boundaries::Add, max_arcs: 1 << 20 };
        let g: FlatFst<Log64> = automaton(&model, &config).unwrap();
        // The lattice with the automaton's labels.
        let lattice = l.build::<Log64>();
        let names = symbols();
        let words = g.isyms.clone().unwrap();
        let mut renamed = lattice.clone();
        for arc in renamed.all_arcs_mut() {
            let word = names.symbol(arc.ilabel as i64).unwrap();
            let key = words.key(word).or(words.key("<unk>")).unwrap();
            (arc.ilabel, arc.olabel) = (key as Label, key as Label);
        }
        let renamed = renamed.with_symbols(Some(words.clone()), Some(words.clone()));
        let special = Special { phi: (!exact).then(|| phi_label(&model)), ..Special::default() };
        let composed = compose(&renamed, &g, &ComposeConfig { special, ..ComposeConfig::default() }).unwrap();
        let applied = apply(&renamed, &[term(&model, 1.0)], &words, &super::apply::config(Boundaries::Add, 0.0)).unwrap();
        same_paths(&paths(&composed, 99), &paths(&applied, 99))?;
    }
}

/// Boundaries that are words of the lattice score as boundaries that are added.
#[test]
fn boundaries_on_arcs_are_boundaries() {
    let text = "\\data\\\nngram 1=3\nngram 2=2\n\n\\1-grams:\n-9\t<s>\t-0.5\n-1\t</s>\n-2\ta\t-0.25\n\n\\2-grams:\n\
                -0.5\t<s> a\n-0.125\ta </s>\n\n\\end\\\n";
    let input = weft::format::io::from_bytes("t", text.into()).unwrap();
    let model = weft::lm::arpa::read_from(input).unwrap();
    let arc = |label, next| Arc::new(label, label, Tropical(0.0), next);
    let bare = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(1, 1)]), (Tropical::ONE, vec![])]);
    let rows = [20, 1, 21].iter().enumerate().map(|(i, &l)| (Tropical::ZERO, vec![arc(l, i as StateId + 1)]));
    let dressed = FlatFst::from_rows(0, rows.chain([(Tropical::ONE, vec![])]).collect());
    let cost = |l: &FlatFst<Tropical>, b, words| {
        let c = ApplyConfig { boundaries: b, word_penalty: 1.0, ..ApplyConfig::default() };
        let got = paths(&apply(l, &[term(&model, 1.0)], &symbols(), &c).unwrap(), 9);
        assert_eq!((got.len(), got[0].0.len()), (1, words));
        got[0].1
    };
    let want = 1.0 + 0.625 * std::f64::consts::LN_10;
    for got in [cost(&bare, Boundaries::Add, 1), cost(&dressed, Boundaries::Present, 3)] {
        assert!((got - want).abs() < 1e-6, "{got} {want}");
    }
    assert!((cost(&bare, Boundaries::None, 1) - 1.0 - 2.0 * std::f64::consts::LN_10).abs() < 1e-6);
    let c = ApplyConfig::default();
    let e = apply(&dressed, &[term(&model, 1.0)], &symbols(), &c).unwrap_err().to_string();
    assert!(e.contains("--boundaries present"), "{e}");
}
