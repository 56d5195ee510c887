//! Posteriors of arcs, and how sure a lattice is of the words of its best path.
//!
//! The posterior of an arc is the probability of the paths through it, p(path) ∝ e^(−alpha · cost). A word of the
//! best path has three: that of its arc; that of its place, the probability that a path has this word as its i-th;
//! and that of the word itself, anywhere on a path (N. Ueffing and H. Ney, Word-Level Confidence Estimation for
//! Machine Translation, Computational Linguistics 33(1), 2007, §4). Arcs: O(V + E). Places: O(E · l) for paths whose
//! numbers of words to a state differ by up to l.

use super::lattice::Lattice;
use super::ngrams::{EMPTY, Grams};
use super::posteriors::{Evidence, Probabilities};
use crate::error::Result;
use crate::fst::flat::{Builder, EPSILON, FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// The automaton with −ln posterior as the cost of every arc, and of ending in every final state. What is on no path
/// is gone.
pub fn arc_posteriors<W: Weight>(
    op: &'static str,
    fst: &FlatFst<W>,
    lattice: &Lattice,
    alpha: f64,
) -> Result<FlatFst<W>> {
    let p = Probabilities::new(op, lattice, alpha)?;
    let to_end = lattice.backward(alpha);
    let mut b = Builder::with_capacity(lattice.num_states(), lattice.arcs.len());
    // 0 − x and not −x: no cost is −0.
    let cost = |p: f64| W::from_f64(0.0 - p.min(1.0).ln());
    for s in lattice.states() {
        let end = (to_end[s as usize] - alpha * lattice.finals[s as usize]).exp();
        b.add_state(cost(p.state[s as usize] * if lattice.finals[s as usize] < f64::INFINITY { end } else { 0.0 }));
        for (i, a) in lattice.range(s).zip(lattice.arcs(s)) {
            let mut arc = fst.all_arcs()[a.origin as usize];
            (arc.weight, arc.nextstate) = (cost(p.through(s, i)), a.next);
            b.push_arc(arc);
        }
    }
    b.set_start(if lattice.num_states() > 0 { 0 } else { NO_STATE });
    Ok(b.finish().with_symbols_of(fst))
}

/// A word of the best path.
#[derive(Clone, Debug, PartialEq)]
pub struct Confidence {
    pub word: Label,
    /// Of the paths through its arc.
    pub arc: f64,
    /// Of the paths that have the word at this place.
    pub place: f64,
    /// Of the paths that have the word.
    pub anywhere: f64,
}

/// The words of the path with the lowest cost, first to last.
pub fn confidences(op: &'static str, lattice: Lattice, alpha: f64, most: usize) -> Result<Vec<Confidence>> {
    let p = Probabilities::new(op, &lattice, alpha)?;
    let path: Vec<(StateId, usize)> =
        lattice.best_path().0.into_iter().filter(|&(_, i)| lattice.arcs[i].word != EPSILON).collect();
    let words: Vec<Label> = path.iter().map(|&(_, i)| lattice.arcs[i].word).collect();
    let places = places(&lattice, &p, &words);
    let mut grams = Grams::default();
    let evidence = Evidence::new(op, lattice, &mut grams, 1, most)?;
    let anywhere = evidence.posteriors(op, &grams, &[alpha])?.swap_remove(0).path;
    let confidence = |(n, (&(s, i), &word)): (usize, (&(StateId, usize), &Label))| Confidence {
        word,
        arc: p.through(s, i).min(1.0),
        place: places[n].min(1.0),
        anywhere: anywhere[grams.child(EMPTY, word) as usize],
    };
    Ok(path.iter().zip(&words).enumerate().map(confidence).collect())
}

/// For every place of a sentence, the probability that a path has its word there.
fn places(lattice: &Lattice, p: &Probabilities, words: &[Label]) -> Vec<f64> {
    // The fewest words to a state, and the probabilities of having so many and more there.
    let mut fewest = vec![u32::MAX; lattice.num_states()];
    let mut most = vec![0u32; lattice.num_states()];
    if let Some(start) = fewest.first_mut() {
        *start = 0;
    }
    for s in lattice.states() {
        for a in lattice.arcs(s) {
            let step = u32::from(a.word != EPSILON);
            fewest[a.next as usize] = fewest[a.next as usize].min(fewest[s as usize] + step);
            most[a.next as usize] = most[a.next as usize].max(most[s as usize] + step);
        }
    }
    let mut masses: Vec<Vec<f64>> = vec![vec![]; lattice.num_states()];
    let mut sums = vec![0.0; words.len()];
    for s in lattice.states() {
        // Made when it is reached, gone when it is left: only the states between are in memory.
        let here = if s == 0 { vec![1.0] } else { std::mem::take(&mut masses[s as usize]) };
        for (i, a) in lattice.range(s).zip(lattice.arcs(s)) {
            let next = a.next as usize;
            if masses[next].is_empty() {
                masses[next] = vec![0.0; (most[next] - fewest[next]) as usize + 1];
            }
            let step = u32::from(a.word != EPSILON);
            let shift = (fewest[s as usize] + step - fewest[next]) as usize;
            for (k, &mass) in here.iter().enumerate() {
                let mass = mass * p.arc[i];
                masses[next][k + shift] += mass;
                let place = fewest[s as usize] as usize + k;
                if step == 1 && words.get(place) == Some(&a.word) {
                    sums[place] += mass;
                }
            }
        }
    }
    sums
}
