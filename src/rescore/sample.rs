//! Paths drawn from the posterior of a lattice: p(path) ∝ e^(−alpha · cost), exactly and independently of each other.
//!
//! The sums over all ways from a state to the end make every step a choice with known probabilities: from a state, an arc
//! with e^(−alpha · cost) times the sum behind it, or the end. Drawing is O(log d) a step for out-degree d after O(V + E) of
//! preparation. The generator is the 64-bit Mersenne twister; each sentence has its own, seeded by the seed and the number
//! of the sentence, so that what is drawn depends on neither threads nor other sentences. Needs an acyclic lattice.

use super::lattice::Lattice;
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, ScatterBuilder, StateId};
use crate::fst::randgen::Mt19937;
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::Path;

pub const OP: &str = "rescore-sample";

#[derive(Clone, Copy, Debug)]
pub struct SampleConfig {
    pub n: usize,
    pub seed: u64,
    /// What costs are multiplied by before they become probabilities.
    pub alpha: f64,
}

/// The seed of a sentence's own generator (the finalizer of splitmix64: Steele, Lea and Flood 2014).
pub fn seed_of(seed: u64, sentence: usize) -> u64 {
    let mut x = seed ^ (sentence as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

pub fn sample<W: Weight>(fst: &FlatFst<W>, config: &SampleConfig) -> Result<Vec<Path>> {
    if !config.alpha.is_finite() {
        return Err(Error::op(OP, format!("the scale {} is no number", config.alpha)));
    }
    let lattice = Lattice::new(OP, fst)?;
    let choices = Choices::new(&lattice, config.alpha);
    let mut random = Mt19937::new(config.seed);
    let mut paths = Vec::with_capacity(config.n.min(1 << 20));
    for _ in 0..config.n {
        let mut path = Path { end: fst.start(), ..Path::default() };
        let mut at = 0;
        while let Some(i) = choices.draw(&lattice, at, random.canonical()) {
            let arc = &lattice.arcs[i];
            path.arcs.push(arc.origin);
            path.cost += arc.cost;
            path.end = fst.all_arcs()[arc.origin as usize].nextstate;
            at = arc.next;
        }
        path.cost += lattice.finals[at as usize];
        paths.push(path);
    }
    Ok(paths)
}

/// What can be done in each state, as sums of probabilities: ends, then arcs.
struct Choices {
    /// Probability to end in a state.
    end: Vec<f64>,
    /// That plus the probabilities of an arc and those before it.
    upto: Vec<f64>,
}

impl Choices {
    fn new(lattice: &Lattice, alpha: f64) -> Self {
        let backward = lattice.backward(alpha);
        let mut choices = Choices { end: vec![], upto: Vec::with_capacity(lattice.arcs.len()) };
        for s in lattice.states() {
            let all = backward[s as usize];
            let end = lattice.finals[s as usize];
            // With a negative alpha an end that is not there must not become a certain one.
            let mut sum = if end < f64::INFINITY { (all - alpha * end).exp() } else { 0.0 };
            choices.end.push(sum);
            for a in lattice.arcs(s) {
                sum += (all - alpha * a.cost - backward[a.next as usize]).exp();
                choices.upto.push(sum);
            }
        }
        choices
    }

    /// The arc that `x` in [0, 1) falls on; none: the end.
    fn draw(&self, lattice: &Lattice, s: StateId, x: f64) -> Option<usize> {
        let range = lattice.range(s);
        // The sum is 1 up to rounding; all of it belongs to somebody.
        let total = range.clone().last().map_or(self.end[s as usize], |last| self.upto[last]);
        let x = x * total;
        if x < self.end[s as usize] || range.is_empty() {
            return None;
        }
        let upto = &self.upto[range.clone()];
        let i = upto.partition_point(|&u| u <= x).min(upto.len() - 1);
        Some(range.start + i)
    }
}

/// The paths as an automaton, each once, with −ln of its share of them as its cost.
pub fn automaton<W: Weight>(fst: &FlatFst<W>, paths: &[Path]) -> FlatFst<W> {
    let mut b = ScatterBuilder::default();
    if paths.is_empty() {
        return FlatFst::empty().with_symbols_of(fst);
    }
    let start = b.add_state();
    b.set_start(start);
    let mut sorted: Vec<&[u32]> = paths.iter().map(|p| &*p.arcs).collect();
    sorted.sort_unstable();
    for same in sorted.chunk_by(|a, b| a == b) {
        let mut cost = W::from_f64((paths.len() as f64 / same.len() as f64).ln());
        let mut at = start;
        for &i in same[0] {
            let a = fst.all_arcs()[i as usize];
            let next = b.add_state();
            b.add_arc(at, Arc::new(a.ilabel, a.olabel, std::mem::replace(&mut cost, W::ONE), next));
            at = next;
        }
        b.set_final(at, cost);
    }
    b.finish().with_symbols_of(fst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::{Z, arc};

    #[test]
    fn shares_are_probabilities() {
        let p = |x: f32| -x.ln();
        let rows = vec![
            (Tropical(p(0.125)), vec![arc(1, 1, p(0.5), 1), arc(2, 2, p(0.375), 1)]),
            (Tropical(p(0.25)), vec![arc(3, 3, p(0.75), 2)]),
            (Tropical::ONE, vec![]),
            (Z, vec![]),
        ];
        let fst = FlatFst::from_rows(0, rows);
        let config = SampleConfig { n: 40_000, seed: 5, alpha: 1.0 };
        let paths = sample(&fst, &config).unwrap();
        for (arcs, share) in [(&[][..], 0.125), (&[0][..], 0.125), (&[1, 2][..], 0.28125)] {
            let count = paths.iter().filter(|p| p.arcs == arcs).count() as f64 / 40_000.0;
            assert!((count - share).abs() < 0.01, "{arcs:?}: {count} instead of {share}");
        }
        assert_eq!(sample(&fst, &config).unwrap(), paths);
        assert_ne!(sample(&fst, &SampleConfig { seed: 6, ..config }).unwrap(), paths);
        assert!(paths.iter().all(|p| (p.cost - p.cost_in(&fst)).abs() < 1e-12));
        let all = automaton(&fst, &paths);
        let start = all.final_weight(all.start());
        let empty = paths.iter().filter(|p| p.arcs.is_empty()).count() as f64 / 40_000.0;
        assert!((start.to_f64() + empty.ln()).abs() < 1e-6);
    }

    #[test]
    fn seeds_of_sentences_differ() {
        let mut seeds: Vec<u64> = (0..100).flat_map(|s| (1..100).map(move |n| seed_of(s, n))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 9900);
    }
}
