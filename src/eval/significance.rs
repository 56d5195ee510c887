//! Whether two systems differ by more than chance: paired bootstrap resampling (Koehn 2004) and approximate randomisation (Riezler and
//! Maxwell 2005), as sacreBLEU has them, and randomisation over several tuning runs of each system (Clark et al. 2011).
//!
//! Same seed, same samples, same numbers as sacreBLEU with NumPy 2: resamples are NumPy's (`random`), and what it adds up and compares
//! in single precision is so here. Both tests are two-sided; p = (c + 1) / (n + 1), c the samples that differ by more than the systems
//! themselves.
//!
//! A system with several runs has for each sentence the sum of its runs' statistics. Randomisation then deals the runs of both
//! systems anew, sentence by sentence: each pseudo-system gets as many of the pooled outputs as the system has runs, so that
//! neither the order of runs nor which of them are compared matters. With one run each this is exchanging by the toss of a coin.
//!
//! N samples of n sentences cost N · n rows, in parallel; random numbers are drawn in order before.

use rayon::prelude::*;

use super::metric::{Metric, Sampled, Statistics};
use super::random::NumpyRng;

/// sacreBLEU's seed.
pub const SEED: u64 = 12345;
/// Random numbers held at a time, about.
const CHUNK: usize = 1 << 22;

/// The scores of resamples, with what NumPy does with them: in single precision if all of them are.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    scores: Vec<f64>,
    single: bool,
}

/// Mean of resampled scores and half the width of their 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub mean: f64,
    pub ci: f64,
}

impl Scores {
    fn new(sampled: &[Sampled]) -> Self {
        Scores { scores: sampled.iter().map(|s| s.score).collect(), single: sampled.iter().all(|s| s.single) }
    }

    /// Rounds what was computed of these scores as NumPy would.
    fn round(&self, value: f64) -> f64 {
        if self.single { value as f32 as f64 } else { value }
    }

    fn mean(&self) -> f64 {
        if self.single {
            let scores: Vec<f32> = self.scores.iter().map(|&s| s as f32).collect();
            (pairwise_sum(&scores) / scores.len() as f32) as f64
        } else {
            pairwise_sum(&self.scores) / self.scores.len() as f64
        }
    }

    pub fn interval(&self) -> Interval {
        let mut sorted = self.clone();
        sorted.scores.sort_by(f64::total_cmp);
        let out = sorted.scores.len() / 40;
        let (low, high) = (sorted.scores[out], sorted.scores[sorted.scores.len() - 1 - out]);
        Interval { mean: sorted.mean(), ci: self.round(0.5 * self.round(high - low)) }
    }
}

/// `numpy.sum`: halves of halves, down to blocks of 128 with eight sums each.
fn pairwise_sum<T: Copy + Default + std::ops::Add<Output = T>>(values: &[T]) -> T {
    let add = |a: T, b: T| a + b;
    if values.len() < 8 {
        return values.iter().copied().fold(T::default(), add);
    }
    if values.len() <= 128 {
        let mut sums: [T; 8] = std::array::from_fn(|i| values[i]);
        let whole = values.len() / 8 * 8;
        for eight in values[8..whole].chunks(8) {
            sums.iter_mut().zip(eight).for_each(|(s, &v)| *s = *s + v);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        return values[whole..].iter().copied().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), add);
    }
    let half = values.len() / 2 / 8 * 8;
    pairwise_sum(&values[..half]) + pairwise_sum(&values[half..])
}

/// The scores of `samples` resamples of the sentences.
pub fn bootstrap(metric: &dyn Metric, stats: &Statistics, samples: usize, seed: u64) -> Scores {
    bootstrap_all(metric, &[stats], samples, seed).pop().unwrap_or(Scores { scores: vec![], single: false })
}

/// The same for several systems, with the same resamples.
fn bootstrap_all(metric: &dyn Metric, systems: &[&Statistics], samples: usize, seed: u64) -> Vec<Scores> {
    let Some(first) = systems.first() else { return vec![] };
    let (sentences, width) = (first.len(), first.width);
    let rows: Vec<Vec<f32>> = systems.iter().map(|s| s.rows.iter().map(|&x| x as f32).collect()).collect();
    let mut rng = NumpyRng::new(seed);
    let mut all: Vec<Vec<Sampled>> = vec![vec![]; systems.len()];
    let at_once = (CHUNK / sentences).clamp(1, samples.max(1));
    let mut drawn = vec![];
    let mut left = samples;
    while left > 0 {
        let now = left.min(at_once);
        left -= now;
        drawn.clear();
        drawn.extend((0..now * sentences).map(|_| rng.below(sentences as u32)));
        for (rows, scores) in rows.iter().zip(&mut all) {
            scores.par_extend(drawn.par_chunks(sentences).map_init(
                || vec![0.0f32; width],
                |sum, picked| {
                    // In order and in single precision, as NumPy adds them.
                    sum.fill(0.0);
                    for &i in picked {
                        let row = &rows[i as usize * width..(i as usize + 1) * width];
                        sum.iter_mut().zip(row).for_each(|(s, r)| *s += r);
                    }
                    metric.score_single(sum)
                },
            ));
        }
    }
    all.iter().map(|scores| Scores::new(scores)).collect()
}

/// Probability that chance alone makes a difference like the real one, from samples of differences.
fn p_value(above: usize, samples: usize) -> f64 {
    (above + 1) as f64 / (samples + 1) as f64
}

/// Paired bootstrap: the system's interval and the p-value against the baseline.
pub fn paired_bootstrap(
    metric: &dyn Metric,
    baseline: &Statistics,
    system: &Statistics,
    samples: usize,
    seed: u64,
) -> (Interval, f64) {
    let real = (metric.score(&baseline.sum()) - metric.score(&system.sum())).abs();
    let all = bootstrap_all(metric, &[baseline, system], samples, seed);
    let [base, ours] = &all[..] else { return (Interval { mean: 0.0, ci: 0.0 }, 1.0) };
    let single = base.single && ours.single;
    let round = |x: f64| if single { x as f32 as f64 } else { x };
    let differences = ours.scores.iter().zip(&base.scores).map(|(a, b)| round(a - b).abs()).collect();
    let differences = Scores { scores: differences, single };
    let mean = differences.mean();
    let above = differences.scores.iter().filter(|&&d| round(d - mean) > round(real)).count();
    (ours.interval(), p_value(above, samples))
}

/// Approximate randomisation: the p-value against the baseline. Both are lists of runs over the same sentences.
pub fn randomisation(
    metric: &dyn Metric,
    baseline: &[Statistics],
    system: &[Statistics],
    trials: usize,
    seed: u64,
) -> f64 {
    let total = |runs: &[Statistics]| {
        let mut sum = vec![0.0; metric.width()];
        runs.iter().for_each(|run| sum.iter_mut().zip(run.sum()).for_each(|(s, x)| *s += x));
        sum
    };
    let (ours, theirs) = (total(system), total(baseline));
    let both: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a + b).collect();
    let real = (metric.score(&theirs) - metric.score(&ours)).abs();
    let differs = |sum: &[f64]| {
        let rest: Vec<f64> = both.iter().zip(sum).map(|(b, s)| b - s).collect();
        (metric.score(sum) - metric.score(&rest)).abs() > real
    };
    let above = match (baseline, system) {
        ([base], [ours]) => coins(base, ours, trials, seed, differs),
        _ => deals(baseline, system, trials, seed, differs),
    };
    p_value(above, trials)
}

/// Counts the trials whose sums `differs` says yes to: a coin for every sentence, one pseudo-system's sum.
fn coins(
    base: &Statistics,
    ours: &Statistics,
    trials: usize,
    seed: u64,
    differs: impl Fn(&[f64]) -> bool + Sync,
) -> usize {
    let (sentences, width) = (base.len(), base.width);
    let start = ours.sum();
    let change: Vec<f64> = base.rows.iter().zip(&ours.rows).map(|(b, o)| b - o).collect();
    let mut rng = NumpyRng::new(seed);
    // Coins are the bits of 32-bit numbers, the lowest first, in one row over all trials.
    let (mut bits, mut offset) = (vec![], 0usize);
    let at_once = (CHUNK * 32 / sentences).clamp(1, trials.max(1));
    let (mut left, mut above) = (trials, 0);
    while left > 0 {
        let now = left.min(at_once);
        left -= now;
        let words = (offset + now * sentences).div_ceil(32);
        while bits.len() < words {
            bits.push(rng.next_u32());
        }
        above += (0..now)
            .into_par_iter()
            .map_init(
                || vec![0.0; width],
                |sum, trial| {
                    sum.copy_from_slice(&start);
                    for i in 0..sentences {
                        let bit = offset + trial * sentences + i;
                        if bits[bit / 32] >> (bit % 32) & 1 == 1 {
                            sum.iter_mut().zip(&change[i * width..]).for_each(|(s, c)| *s += c);
                        }
                    }
                    usize::from(differs(sum))
                },
            )
            .sum::<usize>();
        offset = (offset + now * sentences) % 32;
        let kept = if offset > 0 { bits.pop() } else { None };
        bits.clear();
        bits.extend(kept);
    }
    above
}

/// As `coins`, with the runs of both systems dealt anew for every sentence.
fn deals(
    base: &[Statistics],
    ours: &[Statistics],
    trials: usize,
    seed: u64,
    differs: impl Fn(&[f64]) -> bool + Sync,
) -> usize {
    let runs: Vec<&Statistics> = base.iter().chain(ours).collect();
    let (sentences, width) = (runs[0].len(), runs[0].width);
    let mut rng = NumpyRng::new(seed);
    let at_once = (CHUNK / (sentences * base.len())).clamp(1, trials.max(1));
    let mut hands: Vec<u32> = vec![];
    let mut deck: Vec<u32> = (0..runs.len() as u32).collect();
    let (mut left, mut above) = (trials, 0);
    while left > 0 {
        let now = left.min(at_once);
        left -= now;
        hands.clear();
        for _ in 0..now * sentences {
            for i in 0..base.len() {
                let pick = i + rng.below((runs.len() - i) as u32) as usize;
                deck.swap(i, pick);
            }
            hands.extend(&deck[..base.len()]);
        }
        above += hands
            .par_chunks(sentences * base.len())
            .map_init(
                || vec![0.0; width],
                |sum, trial| {
                    sum.fill(0.0);
                    for (i, hand) in trial.chunks(base.len()).enumerate() {
                        for &run in hand {
                            sum.iter_mut().zip(runs[run as usize].row(i)).for_each(|(s, x)| *s += x);
                        }
                    }
                    usize::from(differs(sum))
                },
            )
            .sum::<usize>();
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::exact::Exact;
    use std::slice::from_ref;

    fn stats(matches: &[u8]) -> Statistics {
        Statistics { width: 2, rows: matches.iter().flat_map(|&m| [m as f64, 1.0]).collect() }
    }

    #[test]
    fn sums_are_numpys() {
        // numpy.sum of 10000 / (i + 1) + 0.1 * i, i < n, in single precision.
        let cases: [(usize, f32); 8] = [
            (7, 25930.672),
            (9, 28293.281),
            (100, 52368.773),
            (128, 55144.273),
            (129, 55234.594),
            (300, 67311.64),
            (1000, 124804.7),
            (2001, 281888.7),
        ];
        for (n, want) in cases {
            let values: Vec<f32> = (0..n).map(|i| (1e4 / (i as f64 + 1.0) + 0.1 * i as f64) as f32).collect();
            assert_eq!(pairwise_sum(&values), want, "{n}");
        }
        for n in [0usize, 1, 7, 8, 9, 127, 128, 129, 1000] {
            let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert_eq!(pairwise_sum(&values), (n * n.saturating_sub(1) / 2) as f64);
        }
    }

    #[test]
    fn the_same_system_never_differs() {
        let a = stats(&[1, 0, 1, 1, 0, 0, 1]);
        let exact = Exact::default();
        assert_eq!(randomisation(&exact, from_ref(&a), from_ref(&a), 500, 1), 1.0 / 501.0);
        let (interval, p) = paired_bootstrap(&exact, &a, &a, 500, 1);
        assert_eq!(p, 1.0 / 501.0);
        assert!((interval.mean - 400.0 / 7.0).abs() < 5.0 && interval.ci > 10.0);
    }

    /// All ways of exchanging counted, against the share that random ones give.
    #[test]
    fn trials_come_near_the_exact_test() {
        let (a, b) = (stats(&[1, 1, 1, 0, 1, 1, 0, 1]), stats(&[0, 0, 1, 0, 0, 1, 1, 0]));
        let exact = Exact::default();
        let real = (exact.score(&a.sum()) - exact.score(&b.sum())).abs();
        let mut above = 0;
        for mask in 0..256 {
            let side = |flip: i32| -> f64 {
                (0..8).map(|i| if (mask >> i) & 1 == flip { a.row(i)[0] } else { b.row(i)[0] }).sum::<f64>() * 12.5
            };
            above += usize::from((side(0) - side(1)).abs() > real);
        }
        let p = randomisation(&exact, from_ref(&a), from_ref(&b), 20_000, 7);
        assert!((p - above as f64 / 256.0).abs() < 0.01, "{p} {above}");
        // Runs that are dealt: two equal runs of each system are less likely to differ by chance than one.
        let twice = randomisation(&exact, &[a.clone(), a.clone()], &[b.clone(), b.clone()], 20_000, 7);
        assert!(twice > 0.0 && twice <= p + 0.01, "{twice} {p}");
        // Which run is which does not matter.
        let (c, d) = (stats(&[1, 0, 1, 0, 1, 0, 0, 1]), stats(&[0, 1, 1, 0, 1, 1, 1, 0]));
        let one = randomisation(&exact, &[a.clone(), c.clone()], &[b.clone(), d.clone()], 20_000, 7);
        let other = randomisation(&exact, &[c, a], &[d, b], 20_000, 9);
        assert!((one - other).abs() < 0.02, "{one} {other}");
    }
}
