//! Permutation lattices: how often word i is before word j on their paths, and the best of all their paths.
//!
//! Every path must be an order of the same words, each once. Then the words consumed before a state are a function of the
//! state: whatever follows it, follows all that lead to it. So the automaton whose states are sets of consumed words is the
//! lattice itself with a set at each state (`FixedBitSet`); an arc's gain, the sum over the set of P(i before word), is
//! known when P is, and the best path is exact in O(E n). A lattice where two sets meet has a path that is no
//! permutation; one is shown. P itself is the sum of arc posteriors over the words before the arc, O(E n), too. Of equal
//! orders the one with the smaller labels first is taken.

use fixedbitset::FixedBitSet;

use super::{Answer, MOST_WORDS, OP, Pairs};
use crate::error::{Error, Result};
use crate::fst::flat::{EPSILON, FlatFst, Label, StateId};
use crate::fst::semiring::Weight;
use crate::rescore::lattice::Lattice;

/// An acyclic lattice whose paths are the orders of a set of words.
#[derive(Debug)]
pub struct Permutations {
    lattice: Lattice,
    /// The words, in the order of their labels. A word's number below is its place here.
    words: Vec<Label>,
    /// The words on every path to a state.
    sets: Vec<FixedBitSet>,
}

impl Permutations {
    /// `name` shows a label to the user.
    pub fn new<W: Weight>(fst: &FlatFst<W>, name: &dyn Fn(Label) -> String) -> Result<Self> {
        let lattice = Lattice::new(OP, fst)?;
        let mut words: Vec<Label> = lattice.arcs.iter().map(|a| a.word).filter(|&w| w != EPSILON).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > MOST_WORDS {
            let message = format!("{} words; a permutation has at most {MOST_WORDS}", words.len());
            return Err(Error::op(OP, message));
        }
        let mut sets: Vec<Option<FixedBitSet>> = vec![None; lattice.num_states()];
        let mut from: Vec<(StateId, usize)> = vec![(0, usize::MAX); lattice.num_states()];
        sets[0] = Some(FixedBitSet::with_capacity(words.len()));
        let mut new = FixedBitSet::with_capacity(words.len());
        for s in lattice.states() {
            // Every state is reached, and by arcs from lower states only.
            let set = sets[s as usize].take().unwrap_or_default();
            if lattice.finals[s as usize] < f64::INFINITY && set.count_ones(..) < words.len() {
                return Err(refuse(&words, &to_state(&lattice, &from, s), name));
            }
            for (i, arc) in lattice.range(s).zip(lattice.arcs(s)) {
                new.clone_from(&set);
                let twice = arc.word != EPSILON && new.put(number(&words, arc.word));
                let other = sets[arc.next as usize].as_ref().is_some_and(|old| *old != new);
                if twice || other {
                    // Two ways meet with different words behind them: whatever follows, one of them is wrong.
                    let rest = onwards(&lattice, arc.next);
                    let mut this = to_state(&lattice, &from, s);
                    this.extend([arc.word].iter().chain(&rest).filter(|&&w| w != EPSILON));
                    if is_order(&words, &this) {
                        this = to_state(&lattice, &from, arc.next);
                        this.extend(rest.iter().filter(|&&w| w != EPSILON));
                    }
                    return Err(refuse(&words, &this, name));
                }
                if sets[arc.next as usize].is_none() {
                    sets[arc.next as usize] = Some(new.clone());
                    from[arc.next as usize] = (s, i);
                }
            }
            sets[s as usize] = Some(set);
        }
        Ok(Permutations { lattice, words, sets: sets.into_iter().flatten().collect() })
    }

    /// The label of a word.
    pub fn label(&self, word: u32) -> Label {
        self.words[word as usize]
    }

    /// P(i before j) where p(path) ∝ e^(−alpha · cost).
    pub fn pairs(&self, alpha: f64) -> Result<Pairs> {
        let lattice = &self.lattice;
        let (forward, backward) = (lattice.forward(alpha), lattice.backward(alpha));
        if !backward[0].is_finite() {
            return Err(Error::op(OP, format!("with the scale {alpha} the costs are too large for a sum over paths")));
        }
        let n = self.words.len();
        let mut pairs = Pairs::new(n);
        pairs.total = 1.0;
        for s in lattice.states() {
            for arc in lattice.arcs(s).iter().filter(|a| a.word != EPSILON) {
                let through = forward[s as usize] + alpha * arc.cost + backward[arc.next as usize];
                let p = (backward[0] - through).exp();
                let row = &mut pairs.mass[number(&self.words, arc.word) * n..][..n];
                self.sets[s as usize].ones().for_each(|i| row[i] += p);
            }
        }
        Ok(pairs)
    }

    /// The path of the highest gain.
    pub fn best(&self, pairs: &Pairs) -> Answer {
        let lattice = &self.lattice;
        let mut gains = vec![0.0; lattice.arcs.len()];
        let mut best = vec![f64::NEG_INFINITY; lattice.num_states()];
        for s in lattice.states().rev() {
            if lattice.finals[s as usize] < f64::INFINITY {
                best[s as usize] = 0.0;
            }
            for (i, arc) in lattice.range(s).zip(lattice.arcs(s)) {
                if arc.word != EPSILON {
                    let row = pairs.row(number(&self.words, arc.word));
                    gains[i] = self.sets[s as usize].ones().map(|w| row[w]).sum();
                }
                best[s as usize] = best[s as usize].max(gains[i] + best[arc.next as usize]);
            }
        }
        let mut order = Vec::with_capacity(self.words.len());
        let mut s = 0;
        while order.len() < self.words.len() {
            let good = lattice.range(s).filter(|&i| gains[i] + best[lattice.arcs[i].next as usize] == best[s as usize]);
            let Some(i) = good.min_by_key(|&i| lattice.arcs[i].word) else { break };
            let arc = &lattice.arcs[i];
            if arc.word != EPSILON {
                order.push(number(&self.words, arc.word) as u32);
            }
            s = arc.next;
        }
        pairs.answer(order, None)
    }
}

fn number(words: &[Label], label: Label) -> usize {
    words.partition_point(|&w| w < label)
}

/// The words on the first way that was found to a state.
fn to_state(lattice: &Lattice, from: &[(StateId, usize)], state: StateId) -> Vec<Label> {
    let mut path = vec![];
    let mut s = state;
    while s != 0 {
        let (before, arc) = from[s as usize];
        path.push(lattice.arcs[arc].word);
        s = before;
    }
    path.retain(|&w| w != EPSILON);
    path.reverse();
    path
}

/// The labels on one way from a state to an end.
fn onwards(lattice: &Lattice, state: StateId) -> Vec<Label> {
    let mut path = vec![];
    let mut s = state;
    while let Some(arc) = lattice.arcs(s).first() {
        path.push(arc.word);
        s = arc.next;
    }
    path
}

fn is_order(words: &[Label], path: &[Label]) -> bool {
    path.len() == words.len() && words.iter().all(|w| path.contains(w))
}

/// What is wrong with a path that is no order of the words.
fn refuse(words: &[Label], path: &[Label], name: &dyn Fn(Label) -> String) -> Error {
    const SHOWN: usize = 12;
    let mut shown: Vec<String> = path.iter().take(SHOWN).map(|&w| name(w)).collect();
    if path.len() > SHOWN {
        shown.push("...".into());
    }
    let twice = path.iter().enumerate().find(|(i, w)| path[..*i].contains(w));
    let missing = words.iter().find(|w| !path.contains(w));
    let what = match (twice, missing) {
        (Some((_, &w)), _) => format!("{:?} comes twice", name(w)),
        (None, Some(&w)) => format!("{:?}, which is on other paths, is missing", name(w)),
        (None, None) => "it differs from the others".into(),
    };
    let message = format!(
        "not a lattice of permutations: on the path \"{}\", {what}; every path must have every label once",
        shown.join(" ")
    );
    Error::op(OP, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    /// Final cost, and arcs: label, cost, state.
    type Row<'a> = (f32, &'a [(Label, f32, StateId)]);

    fn fst(rows: &[Row]) -> FlatFst<Tropical> {
        let row = |(end, arcs): &Row| {
            (Tropical(*end), arcs.iter().map(|&(w, c, to)| Arc::new(w, w, Tropical(c), to)).collect())
        };
        FlatFst::from_rows(0, rows.iter().map(row).collect())
    }
    const NO: f32 = f32::INFINITY;

    fn read(f: &FlatFst<Tropical>) -> Result<Permutations> {
        Permutations::new(f, &|l| l.to_string())
    }

    #[test]
    fn pairs_and_the_best_path() {
        // 5 7 9 | 7 5 9 | 5 9 7, with probabilities 1/4, 1/4, 1/2.
        let (half, quarter) = (2f32.ln(), 4f32.ln());
        let f = fst(&[
            (NO, &[(5, 0.0, 1), (7, quarter, 2)]),
            (NO, &[(7, quarter, 3), (0, half, 5)]),
            (NO, &[(5, 0.0, 3)]),
            (NO, &[(9, 0.0, 4)]),
            (0.0, &[]),
            (NO, &[(9, 0.0, 6)]),
            (NO, &[(7, 0.0, 4)]),
        ]);
        let p = read(&f).unwrap();
        let pairs = p.pairs(1.0).unwrap();
        for (i, j, want) in [(0, 1, 0.75), (1, 0, 0.25), (0, 2, 1.0), (2, 0, 0.0), (1, 2, 0.5), (2, 1, 0.5)] {
            assert!((pairs.before(i, j) - want).abs() < 1e-6, "{i} {j}: {}", pairs.before(i, j));
        }
        let best = p.best(&pairs);
        assert_eq!(best.order.iter().map(|&w| p.label(w)).collect::<Vec<_>>()[0], 5);
        assert!((best.gain - 2.25).abs() < 1e-6);
    }

    #[test]
    fn the_path_that_is_no_permutation_is_shown() {
        let twice = fst(&[(NO, &[(1, 0.0, 1)]), (NO, &[(2, 0.0, 2), (1, 0.0, 2)]), (0.0, &[])]);
        assert!(read(&twice).unwrap_err().to_string().contains("on the path \"1 1\", \"1\" comes twice"));
        let missing = fst(&[(NO, &[(1, 0.0, 1)]), (0.0, &[(2, 0.0, 2)]), (0.0, &[])]);
        assert!(read(&missing).unwrap_err().to_string().contains("on the path \"1\", \"2\", which is on other"));
        let meet = fst(&[(NO, &[(1, 0.0, 1), (2, 0.0, 1)]), (NO, &[(2, 0.0, 2)]), (0.0, &[])]);
        assert!(read(&meet).unwrap_err().to_string().contains("on the path \"2 2\", \"2\" comes twice"));
        let eps = fst(&[(NO, &[(1, 0.0, 1), (0, 0.0, 1)]), (0.0, &[])]);
        assert!(read(&eps).unwrap_err().to_string().contains("is missing"));
    }

    #[test]
    fn no_words_are_one_order() {
        let p = read(&fst(&[(0.0, &[])])).unwrap();
        let a = p.best(&p.pairs(1.0).unwrap());
        assert_eq!((a.order.len(), a.gain, a.loss()), (0, 0.0, 0.0));
    }
}
