//! n-gram posteriors of a lattice, exactly: p(u|E), the probability that a path has the n-gram u at least once, and the
//! expected number of times.
//!
//! The probability of a path is e^(−alpha · cost) over the sum for all paths. For every order the lattice is expanded
//! so that an arc completes one n-gram (`ngrams`); there the expected count of u is the sum of the probabilities of
//! its arcs. Where no path has two arcs of u, that is p(u|E), too. For the others, `repeats` follows the paths that
//! have u already. Arcs carry the probability to be taken at their state, so every number is a probability: nothing
//! is too small, and the sums are f64.
//!
//! Linear in the arcs of the expansions, plus the repeated n-grams' work (see there); for several alphas the expansions
//! and what repeats are found once. G. Blackwood, A. de Gispert and W. Byrne, Efficient Path Counting Transducers for
//! Minimum Bayes-Risk Decoding of Statistical Machine Translation Lattices, ACL 2010; A. de Gispert et al., N-gram
//! Posterior Probability Confidence Measures for Statistical Machine Translation, Machine Translation 27, 2013.

use super::lattice::Lattice;
use super::ngrams::{EMPTY, Expansion, GramId, Grams};
use super::repeats;
use crate::error::{Error, Result};

/// What a lattice says about n-grams, by their numbers; n-grams that are not there have 0.
#[derive(Clone, Debug, Default)]
pub struct Posteriors {
    /// The probability that a path has it.
    pub path: Vec<f64>,
    /// How many times a path has it, on average.
    pub count: Vec<f64>,
}

/// The probabilities of the lattice's arcs at one scale.
pub struct Probabilities {
    /// Of an arc, at its state: those of a state and that of ending there sum to 1.
    pub arc: Vec<f64>,
    /// Of reaching a state.
    pub state: Vec<f64>,
}

impl Probabilities {
    pub fn new(op: &'static str, lattice: &Lattice, alpha: f64) -> Result<Self> {
        let to_end = lattice.backward(alpha);
        if to_end.first().is_some_and(|c| !c.is_finite()) {
            return Err(Error::op(op, format!("the costs times {alpha} are too large for numbers")));
        }
        let mut arc = Vec::with_capacity(lattice.arcs.len());
        let mut state = vec![0.0; lattice.num_states()];
        if let Some(start) = state.first_mut() {
            *start = 1.0;
        }
        for s in lattice.states() {
            for a in lattice.arcs(s) {
                let p = (to_end[s as usize] - alpha * a.cost - to_end[a.next as usize]).exp();
                state[a.next as usize] += state[s as usize] * p;
                arc.push(p);
            }
        }
        Ok(Probabilities { arc, state })
    }

    /// Of the paths through an arc of state `s`.
    pub fn through(&self, s: u32, arc: usize) -> f64 {
        self.state[s as usize] * self.arc[arc]
    }
}

/// A lattice with its expansions for the orders from 1 up.
pub struct Evidence {
    pub lattice: Lattice,
    pub expansions: Vec<Expansion>,
}

impl Evidence {
    /// `most`: arcs of an expansion.
    pub fn new(op: &'static str, lattice: Lattice, grams: &mut Grams, order: usize, most: usize) -> Result<Self> {
        let expansions = (1..=order).map(|n| Expansion::new(op, &lattice, grams, n, most)).collect::<Result<_>>()?;
        Ok(Evidence { lattice, expansions })
    }

    /// The posteriors at every scale, of all n-grams that are numbered now.
    pub fn posteriors(&self, op: &'static str, grams: &Grams, alphas: &[f64]) -> Result<Vec<Posteriors>> {
        let scales: Vec<Probabilities> =
            alphas.iter().map(|&a| Probabilities::new(op, &self.lattice, a)).collect::<Result<_>>()?;
        let mut all: Vec<Posteriors> = alphas
            .iter()
            .map(|_| Posteriors { path: vec![0.0; grams.count()], count: vec![0.0; grams.count()] })
            .collect();
        for expansion in &self.expansions {
            let reached: Vec<Vec<f64>> =
                scales.iter().zip(&mut all).map(|(p, found)| count(expansion, grams, p, &mut found.count)).collect();
            for found in &mut all {
                for g in 1..grams.count() {
                    if grams.len(g as GramId) == expansion.order {
                        found.path[g] = found.count[g];
                    }
                }
            }
            let masses: Vec<repeats::Masses> =
                scales.iter().zip(&reached).map(|(p, state)| repeats::Masses { arc: &p.arc, state }).collect();
            for (gram, posteriors) in repeats::posteriors(expansion, grams, &masses) {
                for (found, p) in all.iter_mut().zip(posteriors) {
                    found.path[gram as usize] = p;
                }
            }
        }
        // A sum of products that are 1 in all may be a bit more.
        for found in &mut all {
            found.path.iter_mut().for_each(|p| *p = p.clamp(0.0, 1.0));
        }
        Ok(all)
    }
}

/// Adds the expected counts of one order; gives the probability of reaching each state of the expansion.
fn count(expansion: &Expansion, grams: &Grams, p: &Probabilities, counts: &mut [f64]) -> Vec<f64> {
    let mut reached = vec![0.0; expansion.num_states()];
    if let Some(start) = reached.first_mut() {
        *start = 1.0;
    }
    for x in expansion.states() {
        let here = reached[x as usize];
        for a in expansion.arcs(x) {
            let mass = here * p.arc[a.arc as usize];
            reached[a.next as usize] += mass;
            if a.gram != EMPTY && grams.len(a.gram) == expansion.order {
                counts[a.gram as usize] += mass;
            }
        }
    }
    reached
}
