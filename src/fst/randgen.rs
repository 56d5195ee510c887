//! Random paths: walks from the start, at each state an arc or the end, uniformly or by probability.
//!
//! Unweighted, the result has one path for each walk; weighted, it is the tree of the walks, an arc weighted with the share
//! of the walks that took it. Walks that end in a dead state or at `max_length` are left out. The generator and the way
//! numbers are drawn are those of OpenFst built with libstdc++ (a 64-bit Mersenne twister), so that `uniform` and
//! `log_prob` give the same paths for the same seed. O(log d) a step for out-degree d.

use super::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use super::semiring::{Log64, Weight};
use super::visit::{Incoming, accessible};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Select {
    /// Every arc, and the end if the state is final, is as likely as the others
    #[default]
    Uniform,
    /// Weights are negative log probabilities
    #[value(alias = "log-prob")]
    LogProb,
    /// The same distribution as log_prob
    #[value(alias = "fast-log-prob")]
    FastLogProb,
}

#[derive(Clone, Copy, Debug)]
pub struct RandGenConfig {
    pub npath: u32,
    pub seed: u64,
    pub select: Select,
    pub max_length: u32,
    /// A tree weighted by how many walks went where.
    pub weighted: bool,
    /// Weights of the tree sum to one, not to the number of walks.
    pub remove_total_weight: bool,
}

impl Default for RandGenConfig {
    fn default() -> Self {
        RandGenConfig {
            npath: 1,
            seed: 1,
            select: Select::Uniform,
            max_length: i32::MAX as u32,
            weighted: false,
            remove_total_weight: false,
        }
    }
}

const OP: &str = "randgen";

pub fn randgen<W: Weight>(fst: &FlatFst<W>, config: &RandGenConfig) -> Result<FlatFst<W>> {
    if fst.start() == NO_STATE || config.npath == 0 {
        return Ok(FlatFst::empty().with_symbols_of(fst));
    }
    if config.max_length >= i32::MAX as u32 {
        every_walk_ends(fst)?;
    }
    let mut sampler = Sampler::new(fst, config);
    let out = if config.weighted { tree(fst, config, &mut sampler)? } else { paths(fst, config, &mut sampler)? };
    Ok(out.with_symbols_of(fst))
}

/// A state from which neither a final state nor a dead end can be reached would be walked for ever.
fn every_walk_ends<W: Weight>(fst: &FlatFst<W>) -> Result<()> {
    let incoming = Incoming::new(fst);
    let mut ends: Vec<bool> = fst.states().map(|s| fst.is_final(s) || fst.arcs(s).is_empty()).collect();
    let mut stack: Vec<StateId> = fst.states().filter(|&s| ends[s as usize]).collect();
    while let Some(s) = stack.pop() {
        for &i in incoming.of(s) {
            let p = incoming.sources[i as usize];
            if !std::mem::replace(&mut ends[p as usize], true) {
                stack.push(p);
            }
        }
    }
    match accessible(fst).iter().zip(&ends).position(|(&reached, &ends)| reached && !ends) {
        None => Ok(()),
        Some(s) => Err(Error::op(
            OP,
            format!(
                "a walk that comes to state {s} never ends: no final state can be reached from there; \
                 trim the automaton (weft fst connect) or give --max-length"
            ),
        )),
    }
}

/// A walk of this many labels is not waited for to end, unless that is the length asked for.
const MOST_LABELS: u32 = 10_000_000;

fn too_long() -> Error {
    let message = "the walk goes on: ends are too unlikely; give --max-length, or --select uniform";
    Error::limit(OP, format!("{MOST_LABELS} labels on one path"), message)
}

/// Walks that are together so far.
struct Walk {
    state: StateId,
    count: u32,
    length: u32,
}

fn tree<W: Weight>(fst: &FlatFst<W>, config: &RandGenConfig, sampler: &mut Sampler<W>) -> Result<FlatFst<W>> {
    let mut b = ScatterBuilder::default();
    let mut walks = vec![Walk { state: fst.start(), count: config.npath, length: 0 }];
    b.add_state();
    b.set_start(0);
    let mut samples = vec![];
    let mut next = 0;
    while next < walks.len() {
        let Walk { state, count, length } = walks[next];
        if length >= MOST_LABELS && config.max_length == i32::MAX as u32 {
            return Err(too_long());
        }
        sampler.sample(state, count, length, &mut samples);
        for &(choice, n) in &samples {
            let share = n as f64 / count as f64;
            if let Some(a) = fst.arcs(state).get(choice as usize) {
                let to = b.add_state();
                b.add_arc(next as StateId, Arc::new(a.ilabel, a.olabel, W::from_f64(-share.ln()), to));
                walks.push(Walk { state: a.nextstate, count: n, length: length + 1 });
            } else {
                let share = if config.remove_total_weight { share } else { share * config.npath as f64 };
                b.set_final(next as StateId, W::from_f64(-share.ln()));
            }
        }
        next += 1;
    }
    Ok(b.finish())
}

fn paths<W: Weight>(fst: &FlatFst<W>, config: &RandGenConfig, sampler: &mut Sampler<W>) -> Result<FlatFst<W>> {
    let mut b = ScatterBuilder::default();
    let mut path: Vec<Arc<W>> = vec![];
    let mut samples = vec![];
    // Choices still to follow, the next one last; a walk's arcs are taken off the path when its choices are done.
    enum Step {
        Choice { state: StateId, choice: u32, count: u32, length: u32 },
        Back,
    }
    let mut steps: Vec<Step> = vec![];
    let mut expand = |sampler: &mut Sampler<W>, steps: &mut Vec<Step>, state, count, length| {
        sampler.sample(state, count, length, &mut samples);
        steps.extend(samples.iter().rev().map(|&(choice, count)| Step::Choice { state, choice, count, length }));
    };
    expand(sampler, &mut steps, fst.start(), config.npath, 0);
    while let Some(step) = steps.pop() {
        let Step::Choice { state, choice, count, length } = step else {
            path.pop();
            continue;
        };
        if let Some(a) = fst.arcs(state).get(choice as usize) {
            if length >= MOST_LABELS && config.max_length == i32::MAX as u32 {
                return Err(too_long());
            }
            path.push(*a);
            steps.push(Step::Back);
            expand(sampler, &mut steps, a.nextstate, count, length + 1);
            continue;
        }
        for _ in 0..count {
            if b.num_states() == 0 {
                b.add_state();
                b.set_start(0);
            }
            if b.num_states() + path.len() >= NO_STATE as usize {
                return Err(Error::limit(OP, "2^32 states", "ask for fewer or shorter paths"));
            }
            let end = path.iter().fold(0, |from, a| {
                let to = b.add_state();
                b.add_arc(from, Arc::new(a.ilabel, a.olabel, W::ONE, to));
                to
            });
            b.set_final(end, W::ONE);
        }
    }
    Ok(b.finish())
}

/// Draws what walks do at a state: arc numbers, and one more than the last for the end.
struct Sampler<'a, W> {
    fst: &'a FlatFst<W>,
    select: Select,
    max_length: u32,
    random: Mt19937,
    /// For `log_prob`: the running sum of probabilities at each state seen; a sum for every arc, and one with the end.
    sums: Vec<f64>,
    place: Vec<u32>,
    drawn: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl<'a, W: Weight> Sampler<'a, W> {
    fn new(fst: &'a FlatFst<W>, config: &RandGenConfig) -> Self {
        let by_weight = config.select != Select::Uniform;
        Sampler {
            fst,
            select: config.select,
            max_length: config.max_length,
            random: Mt19937::new(config.seed),
            sums: vec![],
            place: if by_weight { vec![UNSEEN; fst.num_states()] } else { vec![] },
            drawn: vec![],
        }
    }

    /// `(choice, how often)` in the order of the choices, for `count` walks; none at a dead end or the greatest length.
    fn sample(&mut self, state: StateId, count: u32, length: u32, out: &mut Vec<(u32, u32)>) {
        out.clear();
        let arcs = self.fst.arcs(state).len() as u32;
        let choices = arcs + self.fst.is_final(state) as u32;
        if choices == 0 || length >= self.max_length {
            return;
        }
        self.drawn.clear();
        for _ in 0..count {
            let choice = match self.select {
                Select::Uniform => Some(self.random.below(choices as u64) as u32),
                Select::LogProb | Select::FastLogProb => self.by_weight(state),
            };
            self.drawn.extend(choice);
        }
        self.drawn.sort_unstable();
        out.extend(self.drawn.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
    }

    fn by_weight(&mut self, state: StateId) -> Option<u32> {
        let arcs = self.fst.arcs(state);
        if self.place[state as usize] == UNSEEN {
            self.place[state as usize] = self.sums.len() as u32;
            let mut sum = Log64::ZERO;
            let ends = std::iter::once(self.fst.final_weight(state));
            for w in arcs.iter().map(|a| a.weight).chain(ends) {
                sum = sum.oplus(Log64(w.to_f64()));
                self.sums.push((-sum.0).exp());
            }
        }
        let sums = &self.sums[self.place[state as usize] as usize..][..arcs.len() + 1];
        let total = sums[arcs.len()];
        let threshold = self.random.canonical() * total;
        let choice = sums[..arcs.len()].partition_point(|&p| p <= threshold);
        if choice < arcs.len() || self.fst.is_final(state) {
            return Some(choice as u32);
        }
        // Rounding, or nothing here has a probability: the last arc that has one.
        arcs.iter().rposition(|a| !a.weight.is_zero_w()).map(|i| i as u32)
    }
}

/// The 64-bit Mersenne twister (Matsumoto and Nishimura 1998, 2000), and numbers drawn from it as libstdc++ does.
pub struct Mt19937 {
    state: [u64; 312],
    next: usize,
}

impl Mt19937 {
    pub fn new(seed: u64) -> Self {
        let mut state = [seed; 312];
        for i in 1..312 {
            let x = state[i - 1] ^ (state[i - 1] >> 62);
            state[i] = x.wrapping_mul(6364136223846793005).wrapping_add(i as u64);
        }
        Mt19937 { state, next: 312 }
    }

    fn draw(&mut self) -> u64 {
        if self.next == 312 {
            for i in 0..312 {
                let x = (self.state[i] & !0x7fff_ffff) | (self.state[(i + 1) % 312] & 0x7fff_ffff);
                let twist = if x & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                self.state[i] = self.state[(i + 156) % 312] ^ (x >> 1) ^ twist;
            }
            self.next = 0;
        }
        let mut x = self.state[self.next];
        self.next += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    }

    /// Uniform in 0..n (Lemire 2019).
    fn below(&mut self, n: u64) -> u64 {
        let mut product = self.draw() as u128 * n as u128;
        if (product as u64) < n {
            let least = n.wrapping_neg() % n;
            while (product as u64) < least {
                product = self.draw() as u128 * n as u128;
            }
        }
        (product >> 64) as u64
    }

    /// Uniform in [0, 1).
    pub fn canonical(&mut self) -> f64 {
        let x = self.draw() as f64 / 18446744073709551616.0;
        if x >= 1.0 { 1.0 - f64::EPSILON / 2.0 } else { x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log, Tropical};

    fn arc<W: Weight>(l: i32, w: f64, t: u32) -> Arc<W> {
        Arc::new(l, l, W::from_f64(w), t)
    }

    #[test]
    fn the_generator_is_the_reference_one() {
        // The ten-thousandth number of the default seed, from the C++ standard.
        let mut mt = Mt19937::new(5489);
        let last = (0..10_000).map(|_| mt.draw()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn shares_follow_the_probabilities() {
        let z = Log::ZERO;
        let f = FlatFst::from_rows(
            0,
            vec![(z, vec![arc(1, -(0.25f64.ln()), 1), arc(2, -(0.75f64.ln()), 1)]), (Log::ONE, vec![])],
        );
        let config = RandGenConfig {
            npath: 10_000,
            select: Select::LogProb,
            weighted: true,
            remove_total_weight: true,
            ..Default::default()
        };
        let g = randgen(&f, &config).unwrap();
        let share = (-g.arcs(0)[0].weight.to_f64()).exp();
        assert!((share - 0.25).abs() < 0.02, "{share}");
        assert_eq!(g, randgen(&f, &config).unwrap());
    }

    #[test]
    fn paths_are_paths_of_the_automaton() {
        let loops = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0.5, 0)])]);
        let g = randgen(&loops, &RandGenConfig { npath: 20, ..Default::default() }).unwrap();
        assert!(g.all_arcs().iter().all(|a| a.ilabel == 1 && a.weight.is_one_w()));
        let short = randgen(&loops, &RandGenConfig { npath: 200, max_length: 2, ..Default::default() }).unwrap();
        assert!(short.num_states() > 1 && short.num_states() <= 201);
    }

    #[test]
    fn a_walk_without_end_is_an_error() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(1, 0.5, 0)])]);
        assert!(randgen(&f, &RandGenConfig::default()).is_err());
        let config = RandGenConfig { max_length: 5, ..Default::default() };
        assert_eq!(randgen(&f, &config).unwrap().num_states(), 0);
    }
}
