//! Lattice minimum Bayes-risk decoding with the linear approximation to BLEU.
//!
//! The gain of a hypothesis is theta_0 · words + Σ_n theta_n · Σ over its n-grams, each as often as it stands there,
//! of p(u|E), less a penalty a word; the costs of the hypothesis lattice play no part, and sentence boundaries that
//! are arcs are words like others. The hypotheses are expanded to know the words before them (`ngrams`), so that
//! every arc has a gain of its own: the best path is exact, and the lattice of all gains is at hand. theta_0 = −1/T
//! and theta_n = 1/(4 T p r^(n − 1)) from the unigram precision p and the ratio r of the precisions of successive
//! orders. O(n-grams + arcs of the expansion) for each set of parameters.
//!
//! R. Tromble, S. Kumar, F. Och and W. Macherey, Lattice Minimum Bayes-Risk Decoding for Statistical Machine
//! Translation, EMNLP 2008, §4 and §5; posteriors of several systems: A. de Gispert, S. Virpioja, M. Kurimo and W.
//! Byrne, Minimum Bayes Risk Combination of Translation Hypotheses from Alternative Morphological Decompositions,
//! NAACL 2009.

use super::lattice::Lattice;
use super::ngrams::{EMPTY, Expansion, GramId, Grams};
use crate::error::{Error, Result};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, Label};
use crate::fst::minimize::{MinimizeConfig, minimize};
use crate::fst::prune::{PruneConfig, prune};
use crate::fst::rmepsilon::{RmEpsilonConfig, rmepsilon};
use crate::fst::semiring::Tropical;

pub const OP: &str = "rescore-lmbr";

/// theta_0, the gain of a word, and theta_1, theta_2, ..., those of n-grams.
#[derive(Clone, Debug, PartialEq)]
pub struct Thetas(pub Vec<f64>);

impl Thetas {
    /// From the unigram precision, the ratio of precisions, and the number T of words in the references.
    pub fn from_precision(p: f64, r: f64, t: f64, order: usize) -> Self {
        let theta = |n: usize| 1.0 / (4.0 * t * p * r.powi(n as i32 - 1));
        Thetas(std::iter::once(-1.0 / t).chain((1..=order).map(theta)).collect())
    }
    pub fn order(&self) -> usize {
        self.0.len().saturating_sub(1)
    }
}

/// The gain of a word after the words before it, by the n-gram that both are: that of the n-gram and of its suffixes.
pub fn gains(grams: &Grams, posteriors: &[f64], thetas: &Thetas) -> Vec<f64> {
    let mut gains = vec![0.0; grams.count()];
    gains[EMPTY as usize] = thetas.0.first().copied().unwrap_or(0.0);
    for g in 1..grams.count() {
        let theta = thetas.0.get(grams.len(g as GramId)).copied().unwrap_or(0.0);
        // n-grams that only hypotheses have may be newer than the posteriors.
        let p = posteriors.get(g).copied().unwrap_or(0.0);
        // The number of a suffix is lower: its gain is known.
        gains[g] = gains[grams.suffix(g as GramId) as usize] + theta * p;
    }
    // No word, no gain.
    gains[EMPTY as usize] = 0.0;
    gains
}

/// The words of the path with the highest gain, and its gain; of equal ones, the path that the order of the arcs
/// names first.
pub fn best_path(lattice: &Lattice, hypotheses: &Expansion, gains: &[f64], penalty: f64) -> (Vec<Label>, f64) {
    const NONE: u32 = u32::MAX;
    let n = hypotheses.num_states();
    let mut best = vec![f64::NEG_INFINITY; n];
    let mut choice = vec![NONE; n];
    for x in hypotheses.states().rev() {
        let mut here =
            if lattice.finals[hypotheses.state[x as usize] as usize] < f64::INFINITY { 0.0 } else { f64::NEG_INFINITY };
        for (i, a) in hypotheses.range(x).zip(hypotheses.arcs(x)) {
            let through = gain(gains, a.gram, penalty) + best[a.next as usize];
            if through > here {
                (here, choice[x as usize]) = (through, i as u32);
            }
        }
        best[x as usize] = here;
    }
    let mut words = vec![];
    let mut x = 0;
    while choice.get(x).is_some_and(|&c| c != NONE) {
        let a = &hypotheses.arcs[choice[x] as usize];
        let word = lattice.arcs[a.arc as usize].word;
        if word != EPSILON {
            words.push(word);
        }
        x = a.next as usize;
    }
    (words, best.first().copied().unwrap_or(f64::NEG_INFINITY))
}

#[inline(always)]
fn gain(gains: &[f64], gram: GramId, penalty: f64) -> f64 {
    if gram == EMPTY { 0.0 } else { gains[gram as usize] - penalty }
}

/// The hypotheses with their gains, negated, as costs: the best path is the shortest.
pub fn rescored(lattice: &Lattice, hypotheses: &Expansion, gains: &[f64], penalty: f64) -> FlatFst<Tropical> {
    let mut b = Builder::with_capacity(hypotheses.num_states(), hypotheses.arcs.len());
    for x in hypotheses.states() {
        let end = lattice.finals[hypotheses.state[x as usize] as usize];
        b.add_state(Tropical(if end < f64::INFINITY { 0.0 } else { f32::INFINITY }));
        for a in hypotheses.arcs(x) {
            let word = lattice.arcs[a.arc as usize].word;
            // 0 − x and not −x: no cost is −0.
            b.push_arc(Arc::new(word, word, Tropical((0.0 - gain(gains, a.gram, penalty)) as f32), a.next));
        }
    }
    if hypotheses.num_states() > 0 {
        b.set_start(0);
    }
    b.finish()
}

/// The lattice with one path a sentence, the best, as small as it can be; then without the paths that are worse than
/// the best by more than `beam`. What HiFST does before it computes posteriors. What a beam keeps depends on which
/// sentences share arcs, so the lattice is minimal when it is pruned. Determinization may take time and space
/// exponential in the lattice, and stops at `most` states.
pub fn canonical(lattice: &Lattice, beam: Option<f64>, most: usize) -> Result<Lattice> {
    let costs = lattice.to_fst(|_, a| a.cost, |s| lattice.finals[s as usize]);
    let mut small = smallest(costs, most)?;
    if let Some(beam) = beam {
        small = smallest(prune(small, &PruneConfig { weight: Tropical(beam as f32), ..Default::default() })?, most)?;
    }
    Lattice::new(OP, &small)
}

fn smallest(fst: FlatFst<Tropical>, most: usize) -> Result<FlatFst<Tropical>> {
    let fst = rmepsilon(fst, &RmEpsilonConfig::default())?;
    let config = DeterminizeConfig { max_states: most, ..DeterminizeConfig::default() };
    let fst = determinize(&fst, &config).map_err(|e| Error::op(OP, format!("{e}")))?;
    minimize(fst, &MinimizeConfig::default())
}
