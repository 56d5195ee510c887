//! The best translations of a lattice, with their features and derivations.
//!
//! The lattice gives the best distinct strings. The n best derivations have at most n distinct strings, which are the n
//! best ones, so that lists of derivations come from these, too, each string taken apart again with the chart. Costs of
//! hypotheses with features are summed anew, in f64.

use super::{Decoder, Exactness, Translation};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, NO_STATE};
use crate::fst::semiring::Tropical;
use crate::fst::shortestpath::{ShortestPathConfig, shortestpath};
use crate::lm::apply::labels::{Kind, Labels};
use crate::lm::apply::scorer::{Models, Scorer};
use crate::lm::apply::{Boundaries, Term};
use crate::rtn::derive::{Derivation, derive};
use crate::rules::grammar::{GLUE, PASS_THROUGH};
use crate::text::vocab::WordId;

/// Derivations of a string among which that of a pruned lattice is looked for.
const LOOKED_THROUGH: usize = 64;
/// A derivation whose cost differs by more than sums of floats do is another one.
const FAR: f64 = 0.01;

/// What n-best lists call the number of words that the word penalty is paid for.
pub const WORD_PENALTY: &str = "WordPenalty";

/// A translation.
#[derive(Clone, Debug, Default)]
pub struct Hypothesis {
    pub words: Vec<WordId>,
    pub cost: f64,
    /// Costs by name, unweighted, if they were asked for.
    pub features: Vec<(String, f64)>,
    pub derivation: Option<Derivation>,
}

pub fn hypotheses(decoder: &Decoder, t: &Translation) -> Result<Vec<Hypothesis>> {
    let config = &decoder.config;
    let most = config.nbest.max(1);
    let paths = shortestpath(
        &t.lattice().whole,
        &ShortestPathConfig { nshortest: most, unique: true, ..ShortestPathConfig::default() },
    )?;
    let strings = strings(&paths);
    if !config.derivations && (config.unique || most == 1) {
        return Ok(strings
            .into_iter()
            .map(|(words, cost)| Hypothesis { words, cost, ..Hypothesis::default() })
            .collect());
    }
    let models = if decoder.second.is_empty() { &decoder.models } else { &decoder.second };
    let terms: Vec<Term> = models.iter().map(super::Model::term).collect();
    let second_labels;
    let labels = if decoder.second.is_empty() {
        &decoder.labels
    } else {
        second_labels =
            Labels::of_words(decoder.model_words.iter().map(|(w, _)| w), &terms, &decoder.apply_config(None));
        &second_labels
    };
    let mut apply = decoder.apply_config(None);
    if terms.is_empty() {
        apply.boundaries = Boundaries::None;
    }
    let mut scorer = Models::new(&terms, labels, &apply)?;
    let mut all = vec![];
    for (words, in_lattice) in strings {
        let scores = scores(&words, &mut scorer, terms.len());
        let counted = words.iter().filter(|&&w| labels.kinds[w as usize] == Kind::Word).count() as f64;
        let pruned = t.exactness != Exactness::Exact;
        let wanted = match config.unique {
            true if pruned => LOOKED_THROUGH,
            true => 1,
            false => most,
        };
        let models_cost: f64 = terms.iter().zip(&scores).map(|(t, s)| t.scale * s).sum();
        let outside = models_cost + config.word_penalty * counted;
        let mut found = derive(&decoder.grammar, &t.chart, &words, config.pass_through, wanted);
        if config.unique && pruned {
            // Pruned cells may have lost the best derivation of a string: the one that the lattice has is meant.
            let off = |d: &(Derivation, f64)| (d.1 + outside - in_lattice).abs();
            let nearest = (0..found.len()).min_by(|&a, &b| off(&found[a]).total_cmp(&off(&found[b])));
            found = nearest.map(|i| found.swap_remove(i)).into_iter().collect();
        }
        if found.is_empty() {
            return Err(Error::op(
                "decode",
                "a translation without a derivation: this is a bug in weft, please report it",
            ));
        }
        for (derivation, rules) in found {
            let exact = rules + outside;
            let cost = if config.unique && pruned && (exact - in_lattice).abs() > FAR { in_lattice } else { exact };
            let mut features = rule_features(decoder, &derivation);
            features.extend(models.iter().zip(&scores).map(|(m, &s)| (m.feature.clone(), s)));
            features.push((WORD_PENALTY.to_string(), counted));
            all.push(Hypothesis { words: words.clone(), cost, features, derivation: Some(derivation) });
        }
    }
    all.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    all.truncate(most);
    Ok(all)
}

/// The paths of an n-best automaton, best first: words and cost.
pub(crate) fn strings(paths: &FlatFst<Tropical>) -> Vec<(Vec<WordId>, f64)> {
    let mut found = vec![];
    if paths.start() == NO_STATE {
        return found;
    }
    // Paths are in order at the start; from there on there is one way.
    let mut open = vec![(paths.start(), vec![], 0.0)];
    while let Some((mut s, mut words, mut cost)) = open.pop() {
        loop {
            if paths.is_final(s) && (paths.arcs(s).is_empty() || s != paths.start()) {
                found.push((words, cost + paths.final_weight(s).0 as f64));
                break;
            }
            let arcs = paths.arcs(s);
            if s == paths.start() && arcs.len() > 1 {
                for a in arcs.iter().rev() {
                    let first = if a.olabel == 0 { vec![] } else { vec![a.olabel as WordId] };
                    open.push((a.nextstate, first, a.weight.0 as f64));
                }
                break;
            }
            let Some(a) = arcs.first() else { break };
            if a.olabel != 0 {
                words.push(a.olabel as WordId);
            }
            cost += a.weight.0 as f64;
            s = a.nextstate;
        }
    }
    found
}

/// −ln p of the words by each model.
fn scores(words: &[WordId], scorer: &mut Models, models: usize) -> Vec<f64> {
    let mut sums = vec![0.0; models];
    let mut parts = vec![0.0; models];
    let mut state = scorer.start();
    for word in words.iter().map(|&w| Some(w)).chain([None]) {
        parts.fill(0.0);
        state = scorer.parts(state, word, &mut parts);
        sums.iter_mut().zip(&parts).for_each(|(sum, p)| *sum += p);
    }
    sums
}

/// The sums of the rules' features, by name; every feature of the grammar is there.
fn rule_features(decoder: &Decoder, derivation: &Derivation) -> Vec<(String, f64)> {
    let grammar = &decoder.grammar;
    let mut sums: Vec<(String, f64)> = grammar.features().iter().map(|f| (f.clone(), 0.0)).collect();
    let mut passed = 0.0;
    for rule in derivation.rules() {
        match rule {
            Some(rule) => grammar.rule_features(rule).for_each(|(id, v)| sums[id as usize].1 += v as f64),
            None => passed += 1.0,
        }
    }
    for name in [GLUE, PASS_THROUGH] {
        if !sums.iter().any(|(n, _)| n == name) {
            sums.push((name.to_string(), 0.0));
        }
    }
    sums.iter_mut().filter(|(n, _)| n == PASS_THROUGH).for_each(|(_, v)| *v += passed);
    sums
}
