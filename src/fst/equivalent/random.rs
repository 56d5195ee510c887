//! A random test of equivalence: the strings of random paths of either automaton have the same weight in both.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::check;
use crate::error::Result;
use crate::fst::arcsort::{SortType, arcsort};
use crate::fst::compose::{ComposeConfig, compose};
use crate::fst::connect::connect;
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, StateId};
use crate::fst::randgen::Select;
use crate::fst::semiring::{DELTA, Weight};
use crate::fst::shortestdistance::{DistanceConfig, shortest_distance};
use crate::fst::visit;

#[derive(Clone, Copy, Debug)]
pub struct RandomConfig {
    pub delta: f32,
    pub npath: usize,
    /// Longer paths are cut off and not compared.
    pub max_length: usize,
    pub seed: u64,
    pub select: Select,
}

impl Default for RandomConfig {
    fn default() -> Self {
        RandomConfig { delta: DELTA, npath: 1, max_length: i32::MAX as usize, seed: 0, select: Select::Uniform }
    }
}

/// False if one of `npath` random paths has another weight, or none, in the other automaton.
pub fn random_equivalent<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &RandomConfig) -> Result<bool> {
    check(a, b, config.delta)?;
    let ready = |f: &FlatFst<W>| arcsort(connect(f.clone().with_symbols(None, None)), SortType::Ilabel);
    let both = [ready(a), ready(b)];
    let mut rng = SmallRng::seed_from_u64(config.seed);
    for _ in 0..config.npath {
        let fst = &both[usize::from(!rng.random_bool(0.5))];
        let Some((input, output)) = path(fst, config, &mut rng) else { continue };
        let (input, output) = (string::<W>(&input), string::<W>(&output));
        let mut sums = [W::ZERO; 2];
        let mut infinite = false;
        for (sum, fst) in sums.iter_mut().zip(&both) {
            let left = arcsort(compose(&input, fst, &ComposeConfig::default())?, SortType::Olabel);
            let whole = compose(&left, &output, &ComposeConfig::default())?;
            if whole.start() == NO_STATE {
                continue;
            }
            infinite |= !W::PATH && visit::topological_order(&whole).is_none();
            if !infinite {
                let d = shortest_distance(&whole, &DistanceConfig { reverse: true, ..Default::default() })?;
                *sum = d[whole.start() as usize];
            }
        }
        if !infinite && !sums[0].approx_eq(sums[1], config.delta) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An acceptor of one string.
fn string<W: Weight>(labels: &[Label]) -> FlatFst<W> {
    let arc = |(i, &l): (usize, &Label)| (W::ZERO, vec![Arc::new(l, l, W::ONE, i as StateId + 1)]);
    let rows = labels.iter().enumerate().map(arc).chain([(W::ONE, vec![])]).collect();
    FlatFst::from_rows(0, rows)
}

/// The labels, without epsilons, of a random path to a final state; `None` if it got too long or there is none.
fn path<W: Weight>(fst: &FlatFst<W>, config: &RandomConfig, rng: &mut SmallRng) -> Option<(Vec<Label>, Vec<Label>)> {
    let (mut input, mut output) = (vec![], vec![]);
    let mut s = (fst.start() != NO_STATE).then_some(fst.start())?;
    for _ in 0..config.max_length {
        let arcs = fst.arcs(s);
        let choice = if config.select == Select::Uniform {
            rng.random_range(0..arcs.len() + usize::from(fst.is_final(s)))
        } else {
            let p = |w: W| (-w.to_f64()).exp();
            let total: f64 = arcs.iter().map(|a| p(a.weight)).sum::<f64>() + p(fst.final_weight(s));
            let mut left = rng.random::<f64>() * total;
            arcs.iter()
                .position(|a| {
                    left -= p(a.weight);
                    left < 0.0
                })
                .unwrap_or(if fst.is_final(s) { arcs.len() } else { arcs.len().saturating_sub(1) })
        };
        let Some(a) = arcs.get(choice) else { return Some((input, output)) };
        if a.ilabel != 0 {
            input.push(a.ilabel);
        }
        if a.olabel != 0 {
            output.push(a.olabel);
        }
        s = a.nextstate;
    }
    None
}
