//! The decoder finds the strings that an enumeration of all derivations finds, with the same costs.

use std::collections::BTreeMap;
use std::sync::Arc as Shared;

use weft::chart::parse::{ParseConfig, PassThrough};
use weft::decode::{DecodeConfig, Decoder, Exactness, Expansion, Model as LanguageModel};
use weft::lm::NgramModel;
use weft::lm::apply::Boundaries;
use weft::rtn::local::Condition;
use weft::rules::load::{LoadConfig, load};

use crate::brute::{Case, PLAIN, SHALLOW, Shape, WIDE, case};
use crate::model::{Model, random_text, run};

pub const WEIGHTS: [f64; 3] = [0.5, 2.0, 0.25];
const SCALE: f64 = 0.75;
const PENALTY: f64 = -0.5;

/// A trigram model of the target words, read by weft and by the tests' own reader.
pub struct Trigrams {
    weft: Shared<NgramModel>,
    plain: Model,
}

impl Trigrams {
    pub fn new(seed: u64) -> Self {
        let text = random_text(seed, 60, 5);
        let arpa = run(&[text.as_bytes()], |o| o.order = 3).unwrap().0;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("lm.arpa");
        std::fs::write(&file, &arpa).unwrap();
        let weft = Shared::new(weft::lm::binary::load(file.to_str().unwrap()).unwrap());
        Trigrams { weft, plain: Model::parse(&arpa) }
    }

    /// −ln p of a sentence.
    fn cost(&self, words: &[String]) -> f64 {
        let known =
            |w: &String| if self.plain.get(std::slice::from_ref(w)).is_some() { w.clone() } else { "<unk>".into() };
        let mut all = vec!["<s>".to_string()];
        all.extend(words.iter().map(known));
        all.push("</s>".to_string());
        let log10: f64 = (1..all.len()).map(|i| self.plain.score(&all[i.saturating_sub(2)..=i])).sum();
        -log10 * std::f64::consts::LN_10
    }
}

pub fn config(case: &Case) -> DecodeConfig {
    DecodeConfig {
        parse: ParseConfig { max_span: case.max_span, pass_through: PassThrough::Never },
        expansion: Expansion::Full,
        conditions: vec![],
        prune: None,
        nbest: 100_000,
        unique: true,
        lattice: true,
        derivations: false,
        boundaries: Boundaries::Add,
        silent: false,
        word_penalty: PENALTY,
        oov_cost: None,
        pass_through: 0.0,
        max_memory: 1 << 30,
    }
}

pub fn decoder(case: &Case, models: Vec<LanguageModel>, config: DecodeConfig) -> (Decoder, Vec<u32>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rules");
    std::fs::write(&file, case.file()).unwrap();
    let files = [file.to_str().unwrap().to_string()];
    let mut grammar = load(&files, &LoadConfig::default()).unwrap().grammar;
    let weights: Vec<f64> = grammar
        .features()
        .iter()
        .map(|f| match f.as_str() {
            "A" => WEIGHTS[0],
            "B" => WEIGHTS[1],
            "Glue" => WEIGHTS[2],
            other => panic!("{other}"),
        })
        .collect();
    grammar.weigh(&weights);
    let sentence = case.sentence.iter().map(|w| grammar.vocab.add(w)).collect();
    (Decoder::new(grammar, models, vec![], config, false).unwrap(), sentence)
}

pub fn model(lm: &Trigrams) -> Vec<LanguageModel> {
    vec![LanguageModel { model: lm.weft.clone(), scale: SCALE, name: "lm".into(), feature: "LM".into() }]
}

/// Strings with costs; an error of the decoder is no string at all.
fn decode(case: &Case, models: Vec<LanguageModel>, config: DecodeConfig) -> Vec<(Vec<String>, f64)> {
    let (decoder, sentence) = decoder(case, models, config);
    match decoder.decode(&sentence, false) {
        Ok(t) => {
            let words = |h: &[u32]| h.iter().map(|&w| decoder.grammar.vocab.word(w).to_string()).collect();
            t.hypotheses.iter().map(|h| (words(&h.words), h.cost)).collect()
        }
        Err(e) => {
            assert!(e.to_string().contains("no derivation"), "{e}");
            vec![]
        }
    }
}

/// What a string costs whose rules cost so much.
pub fn total(words: &[String], rules: f64, lm: &Trigrams) -> f64 {
    rules + PENALTY * words.len() as f64 + SCALE * lm.cost(words)
}

/// The expected strings: costs of rules, and of the model if there is one.
fn expected(case: &Case, lm: Option<&Trigrams>) -> BTreeMap<Vec<String>, f64> {
    let mut all = case.translations(WEIGHTS);
    for (words, cost) in &mut all {
        *cost += PENALTY * words.len() as f64 + lm.map_or(0.0, |lm| SCALE * lm.cost(words));
    }
    all
}

/// Floats of the lattice are rounded once an arc.
const CLOSE: f64 = 2e-4;

#[track_caller]
fn same(got: &[(Vec<String>, f64)], want: &BTreeMap<Vec<String>, f64>, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}: number of strings");
    for (words, cost) in got {
        let expected = want.get(words).unwrap_or_else(|| panic!("{what}: {words:?} is no translation"));
        assert!((cost - expected).abs() < CLOSE, "{what}: {words:?}: {cost} instead of {expected}");
    }
    assert!(got.windows(2).all(|p| p[0].1 <= p[1].1 + CLOSE), "{what}: not in order");
}

pub fn cases(from: u64, count: u64, shape: Shape) -> impl Iterator<Item = (u64, Case)> {
    // Enumerations that would take too long are left out; nothing else is.
    (from..from + count)
        .map(move |seed| (seed, case(seed, shape)))
        .filter(|(_, c)| c.derivations(WEIGHTS).len() < 20_000)
}

#[test]
fn all_translations_without_a_model() {
    let mut found = 0;
    for shape in [PLAIN, SHALLOW, WIDE] {
        for (seed, case) in cases(0, 60, shape) {
            let want = expected(&case, None);
            found += want.len();
            for expansion in [Expansion::Full, Expansion::Lazy, Expansion::Pdt] {
                let got = decode(&case, vec![], DecodeConfig { expansion, ..config(&case) });
                same(&got, &want, &format!("{shape:?} {seed} {expansion:?}\n{}", case.file()));
            }
        }
    }
    assert!(found > 2000, "only {found} strings: the cases are too easy");
}

#[test]
fn all_translations_with_a_model() {
    let lm = Trigrams::new(7);
    for shape in [PLAIN, SHALLOW, WIDE] {
        for (seed, case) in cases(1000, 40, shape) {
            let want = expected(&case, Some(&lm));
            for expansion in [Expansion::Full, Expansion::Lazy, Expansion::Pdt] {
                let got = decode(&case, model(&lm), DecodeConfig { expansion, ..config(&case) });
                same(&got, &want, &format!("{shape:?} {seed} {expansion:?}\n{}", case.file()));
            }
        }
    }
}

/// A beam keeps what it says, whichever way the network is expanded.
#[test]
fn beams_keep_all_that_is_in_them() {
    let lm = Trigrams::new(8);
    for (seed, case) in cases(2000, 60, WIDE) {
        let all = expected(&case, Some(&lm));
        let best = all.values().copied().fold(f64::INFINITY, f64::min);
        for beam in [0.0, 1.5, 4.0] {
            for expansion in [Expansion::Auto, Expansion::Full, Expansion::Lazy, Expansion::Pdt] {
                let got = decode(&case, model(&lm), DecodeConfig { expansion, prune: Some(beam), ..config(&case) });
                let what = format!("{seed} {expansion:?} beam {beam}");
                for (words, cost) in &all {
                    let there = got.iter().any(|g| g.0 == *words);
                    assert!(there || *cost > best + beam - CLOSE, "{what}: {words:?} is lost");
                }
                for (words, cost) in &got {
                    assert!((cost - all[words]).abs() < CLOSE, "{what}: {words:?}: {cost} instead of {}", all[words]);
                }
            }
        }
    }
}

/// Local pruning with a beam that nothing leaves changes nothing.
#[test]
fn local_pruning_with_a_wide_beam_changes_nothing() {
    let lm = Trigrams::new(9);
    for (seed, case) in cases(3000, 60, SHALLOW) {
        let want = expected(&case, Some(&lm));
        let condition = Condition { nt: None, min_span: 1, max_states: 0, beam: f64::INFINITY };
        for expansion in [Expansion::Full, Expansion::Lazy, Expansion::Pdt] {
            let conditions = vec![condition];
            let got = decode(&case, model(&lm), DecodeConfig { expansion, conditions, ..config(&case) });
            same(&got, &want, &format!("{seed} {expansion:?}\n{}", case.file()));
        }
        // The start symbol's cells, too.
        let start = decoder(&case, vec![], config(&case)).0.grammar.start();
        let conditions = vec![condition, Condition { nt: Some(start), ..condition }];
        let got = decode(&case, model(&lm), DecodeConfig { conditions, ..config(&case) });
        same(&got, &want, &format!("{seed} with S"));
    }
}

/// Without `lattice` and a beam, only as much is searched as the list needs; the list is the same.
#[test]
fn short_lists_are_the_beginning_of_long_ones() {
    let lm = Trigrams::new(10);
    for (seed, case) in cases(4000, 60, SHALLOW) {
        let mut want: Vec<f64> = expected(&case, Some(&lm)).into_values().collect();
        want.sort_by(f64::total_cmp);
        for nbest in [1, 3, 20] {
            let got = decode(&case, model(&lm), DecodeConfig { nbest, lattice: false, ..config(&case) });
            assert_eq!(got.len(), want.len().min(nbest), "{seed}");
            for (g, w) in got.iter().zip(&want) {
                assert!((g.1 - w).abs() < CLOSE, "{seed}: {g:?} instead of {w}");
            }
        }
    }
}

/// The models of a second pass take the place of those of the first.
#[test]
fn a_second_pass_has_its_own_model() {
    let (first, second) = (Trigrams::new(13), Trigrams::new(14));
    for (seed, case) in cases(7000, 40, SHALLOW) {
        let want = expected(&case, Some(&second));
        for (lattice, nbest) in [(true, 100_000), (false, 3)] {
            let config = DecodeConfig { lattice, nbest, ..config(&case) };
            let (mut decoder, sentence) = decoder(&case, model(&first), config);
            decoder.second = model(&second);
            let Ok(t) = decoder.decode(&sentence, false) else {
                assert!(want.is_empty(), "{seed}");
                continue;
            };
            let words = |h: &[u32]| h.iter().map(|&w| decoder.grammar.vocab.word(w).to_string()).collect::<Vec<_>>();
            let got: Vec<(Vec<String>, f64)> = t.hypotheses.iter().map(|h| (words(&h.words), h.cost)).collect();
            if lattice {
                same(&got, &want, &format!("{seed}"));
            } else {
                let mut costs: Vec<f64> = want.values().copied().collect();
                costs.sort_by(f64::total_cmp);
                assert_eq!(got.len(), costs.len().min(nbest), "{seed}");
                assert!(got.iter().zip(&costs).all(|(g, w)| (g.1 - w).abs() < CLOSE), "{seed}: {got:?} {costs:?}");
            }
        }
    }
}

/// Lists of derivations, not of strings: every derivation of the chart, best first, with features that give its cost.
#[test]
fn lists_of_derivations() {
    let lm = Trigrams::new(11);
    for (seed, case) in cases(5000, 60, SHALLOW) {
        let all = case.derivations(WEIGHTS);
        let mut want: Vec<f64> =
            all.iter().map(|(words, cost)| cost + PENALTY * words.len() as f64 + SCALE * lm.cost(words)).collect();
        want.sort_by(f64::total_cmp);
        want.truncate(30);
        let config = DecodeConfig { nbest: 30, unique: false, derivations: true, lattice: false, ..config(&case) };
        let (decoder, sentence) = decoder(&case, model(&lm), config);
        let Ok(t) = decoder.decode(&sentence, false) else {
            assert!(want.is_empty());
            continue;
        };
        assert_eq!(t.exactness, Exactness::Exact);
        assert_eq!(t.hypotheses.len(), want.len(), "{seed}\n{}", case.file());
        for (h, w) in t.hypotheses.iter().zip(&want) {
            assert!((h.cost - w).abs() < 1e-5, "{seed}: {} instead of {w}", h.cost);
            let weight = |name: &str| match name {
                "A" => WEIGHTS[0],
                "B" => WEIGHTS[1],
                "Glue" => WEIGHTS[2],
                "LM" => SCALE,
                "WordPenalty" => PENALTY,
                _ => 0.0,
            };
            let sum: f64 = h.features.iter().map(|(n, v)| weight(n) * v).sum();
            assert!((sum - h.cost).abs() < 1e-5, "{seed}: features sum to {sum}, the cost is {}", h.cost);
        }
    }
}

/// With little memory there is still a translation, and it is said that the search was not exact.
#[test]
fn little_memory_is_no_failure() {
    let lm = Trigrams::new(12);
    let mut forced = 0;
    for (seed, case) in cases(6000, 80, WIDE) {
        let all = expected(&case, Some(&lm));
        let small = DecodeConfig { max_memory: 1, nbest: 1, ..config(&case) };
        let (decoder, sentence) = decoder(&case, model(&lm), small);
        let Ok(t) = decoder.decode(&sentence, false) else {
            assert!(all.is_empty(), "{seed}");
            continue;
        };
        let words: Vec<String> =
            t.hypotheses[0].words.iter().map(|&w| decoder.grammar.vocab.word(w).to_string()).collect();
        let best = all.values().copied().fold(f64::INFINITY, f64::min);
        match t.exactness {
            Exactness::Exact => assert!((all[&words] - best).abs() < CLOSE, "{seed}"),
            Exactness::Forced(_) => {
                forced += 1;
                assert!(all.contains_key(&words), "{seed}");
            }
            Exactness::Pruned => panic!("{seed}: nobody asked for it"),
        }
    }
    assert!(forced > 0, "memory was never short: the test tests nothing");
}

#[test]
fn unary_rules_in_a_circle_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rules");
    std::fs::write(
        &file,
        "[X] ||| [V,1] ||| [V,1] ||| A=1\n[V] ||| [X,1] ||| [X,1] ||| A=1\n[V] ||| a ||| b ||| A=1\n",
    )
    .unwrap();
    let e = load(&[file.to_str().unwrap().to_string()], &LoadConfig::default()).err().unwrap().to_string();
    assert!(e.contains("circle") && e.contains("[X] ||| [V,1] ||| [V,1]") && e.contains("[V] ||| [X,1]"), "{e}");
}
