//! Lattices of several systems made one: union, intersection, interpolation of the probabilities of strings, or a mesh.
//!
//! Each lattice is a distribution first, p(path) = e^(−alpha · cost) over the sum for all its paths, unless it is taken as
//! it is. Union: the lattices side by side, p times the weight of its lattice. Interpolation: the same with the paths of
//! one string summed, in f64, by epsilon removal and determinization in the log semiring: exact, one path a string; the
//! result may be exponentially larger, and a limit on its states stops that. Intersection: the strings that are in all
//! lattices, at the sum of alpha · weight · cost, which is a log-linear combination (no distributions here: they would add
//! the same cost to every string). In the tropical semiring the cost of a string is that of its best path, in the log
//! semirings that of all its paths. Mesh: see `mesh`. All need acyclic lattices whose words have the same labels. The
//! results are acceptors of the words, of the first lattice's semiring.

use super::lattice::{Lattice, LatticeArc};
use super::mesh::{Mesh, mesh};
use crate::error::{Error, Result};
use crate::fst::compose::{ComposeConfig, compose};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::{EPSILON, FlatFst};
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::{Log64, Weight};

pub const OP: &str = "rescore-combine";

/// Costs that are the same but for rounding: sums of the same parts in another order.
const SAME: f32 = 1e-10;

#[derive(Clone, Debug)]
pub struct CombineConfig {
    /// One a lattice, not negative.
    pub weights: Vec<f64>,
    /// What costs are multiplied by.
    pub alpha: f64,
    /// Make each lattice a distribution and the weights sum to 1.
    pub normalize: bool,
    /// Stop with an error at this many states.
    pub max_states: usize,
}

impl CombineConfig {
    pub fn check(&self) -> Result<()> {
        if let Some(w) = self.weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
            return Err(Error::usage(format!("--weight {w}: expected a number from 0 on")));
        }
        if self.weights.iter().sum::<f64>() <= 0.0 {
            return Err(Error::usage("every --weight is 0: nothing would be left"));
        }
        if !self.alpha.is_finite() {
            return Err(Error::usage(format!("--alpha {}: expected a number", self.alpha)));
        }
        Ok(())
    }
}

/// The lattices side by side.
pub fn union<W: Weight>(lattices: &[Lattice], config: &CombineConfig) -> FlatFst<W> {
    let all = joined(lattices, config);
    all.to_fst(|_, a| a.cost, |s| all.finals[s as usize])
}

/// The probabilities of the strings, mixed.
pub fn interpolate<W: Weight>(lattices: &[Lattice], config: &CombineConfig) -> Result<FlatFst<W>> {
    let all = joined(lattices, config);
    let strings = summed(all.to_fst(|_, a| a.cost, |s| all.finals[s as usize]), config)?;
    Ok(strings.map_weights(|w| W::from_f64(w.to_f64())))
}

/// The strings that all lattices have, their costs added.
pub fn intersect<W: Weight>(lattices: &[Lattice], config: &CombineConfig) -> Result<FlatFst<W>> {
    let mut result: Option<FlatFst<Log64>> = None;
    for (i, (lattice, &weight)) in lattices.iter().zip(&config.weights).enumerate() {
        let scaled =
            |scale: f64| lattice.to_fst::<Log64>(|_, a| scale * a.cost, |s| times(scale, lattice.finals[s as usize]));
        // A power of a sum is not the sum of the powers.
        let next = if W::PATH || weight == 1.0 {
            scaled(config.alpha * weight)
        } else {
            summed(scaled(config.alpha), config)?.map_weights(|w| Log64(times(weight, w.0)))
        };
        let both = match result.take() {
            None => next,
            Some(before) => {
                // Of the product only ⊗ is used: the costs are added in f64 and rounded once.
                let limit = ComposeConfig { max_states: Some(config.max_states), ..ComposeConfig::default() };
                compose(&before, &next, &limit).map_err(|e| grown(e, "the product", config))?
            }
        };
        if both.num_states() == 0 {
            let which = if lattices.len() == 2 { "both".to_string() } else { format!("all of the first {}", i + 1) };
            return Err(Error::op(OP, format!("no string is in {which} lattices")));
        }
        result = Some(both);
    }
    Ok(result.unwrap_or_default().map_weights(|w| W::from_f64(w.to_f64())))
}

/// The mesh of all lattices together.
pub fn mesh_of(lattices: &[Lattice], config: &CombineConfig) -> Result<Mesh> {
    mesh(OP, &joined(lattices, config), 1.0)
}

/// scale · cost, also where the cost is infinite and the scale 0.
fn times(scale: f64, cost: f64) -> f64 {
    if cost == f64::INFINITY { cost } else { scale * cost }
}

/// All lattices behind one start, with scaled costs and their weights.
fn joined(lattices: &[Lattice], config: &CombineConfig) -> Lattice {
    let all: f64 = if config.normalize { config.weights.iter().sum() } else { 1.0 };
    let parts = lattices.iter().zip(&config.weights).filter(|(_, w)| **w > 0.0);
    let parts: Vec<(&Lattice, f64)> = parts
        .map(|(lattice, weight)| {
            let total = if config.normalize { lattice.backward(config.alpha)[0] } else { 0.0 };
            (lattice, -(weight / all).ln() - total)
        })
        .collect();
    let mut out = Lattice { offsets: vec![0], ..Lattice::default() };
    let mut next = 1;
    for (lattice, cost) in &parts {
        out.arcs.push(LatticeArc { word: EPSILON, next, cost: *cost, origin: 0 });
        next += lattice.num_states() as u32;
    }
    out.offsets.push(out.arcs.len() as u32);
    out.finals.push(f64::INFINITY);
    for (lattice, _) in &parts {
        let shift = out.num_states() as u32;
        for s in lattice.states() {
            let moved = |a: &LatticeArc| LatticeArc { next: a.next + shift, cost: config.alpha * a.cost, ..*a };
            out.arcs.extend(lattice.arcs(s).iter().map(moved));
            out.offsets.push(out.arcs.len() as u32);
            out.finals.push(times(config.alpha, lattice.finals[s as usize]));
        }
    }
    out
}

/// One path a string, with the sum of its paths.
fn summed(fst: FlatFst<Log64>, config: &CombineConfig) -> Result<FlatFst<Log64>> {
    let plain = rmepsilon(fst, &Default::default())?;
    let one = DeterminizeConfig { delta: SAME, max_states: config.max_states, ..DeterminizeConfig::default() };
    determinize(&plain, &one).map_err(|e| grown(e, "the sum over the paths of every string", config))
}

fn grown(e: Error, what: &str, config: &CombineConfig) -> Error {
    match e {
        Error::Limit { .. } => Error::limit(
            OP,
            format!("{} states", config.max_states),
            format!("{what} grows larger; prune the lattices first (weft rescore prune), or raise --max-states"),
        ),
        other => other,
    }
}
