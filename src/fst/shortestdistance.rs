//! Shortest distance: for every state the ⊕-sum of all paths from the start to it, or (`reverse`) from it to the final
//! states (Mohri 2002).
//!
//! Tropical distances are exact without a `delta`. With one they are OpenFst's, which drops a way that is better by no more
//! than delta: distances may be too long by delta for every arc of the path, and depend on the order of the visits, which is
//! OpenFst's too (see `rough`).
//! Acyclic input: one pass in topological order, O(V + E). Cyclic input: component by component, see `cyclic`; a cycle of
//! negative weight is an error, as it has no shortest path.
//! Log sums over cycles, or with a delta above the default of 1e-6, are those of OpenFst's algorithm (`generic`), which
//! leaves out what changes a sum by no more than delta. Other log sums over acyclic input are exact: carried in f64, one
//! exponential an arc, and rounded once; OpenFst's differ from them by about 1e-6.

mod cyclic;
mod generic;
mod rough;

use super::flat::{Arc, Builder, FlatFst, NO_STATE, StateId};
use super::semiring::{SHORTEST_DELTA, Weight};
use super::visit;
use crate::error::{Error, Result};
use cyclic::{Sum, Way};
pub(super) use generic::most_steps;

#[derive(Clone, Copy, Debug, Default)]
pub struct DistanceConfig {
    /// Distance to the final states instead of from the start.
    pub reverse: bool,
    /// What OpenFst takes for no difference, with OpenFst's results. None: as exact as can be; log sums over cycles, which
    /// have to stop somewhere, have the default of `SHORTEST_DELTA`.
    pub delta: Option<f32>,
    /// Where forward distances begin; none: the start state.
    pub source: Option<StateId>,
    /// Of reversed distances: where a cycle of negative weight leaves states without a distance that the start does not
    /// reach, these states get none, instead of an error. For callers that have no use for them.
    pub lenient: bool,
}

const OP: &str = "shortestdistance";

/// One distance a state; `W::ZERO` where there is no path.
pub fn shortest_distance<W: Weight>(fst: &FlatFst<W>, config: &DistanceConfig) -> Result<Vec<W>> {
    if fst.start() == NO_STATE {
        return Ok(vec![W::ZERO; fst.num_states()]);
    }
    let delta = config.delta.unwrap_or(if W::PATH { 0.0 } else { SHORTEST_DELTA });
    if config.reverse {
        if let Some(d) = if W::PATH { tropical_backward(fst, delta) } else { log_backward(fst, delta) } {
            return Ok(d);
        }
        let all = backward_by_steps(fst, delta, |_| true);
        if all.is_err() && config.lenient {
            let reached = visit::accessible(fst);
            return backward_by_steps(fst, delta, |s| reached[s as usize]);
        }
        return all;
    }
    let source = config.source.unwrap_or(fst.start());
    if source as usize >= fst.num_states() {
        return Err(Error::op(OP, format!("source state {source} is not one of the {} states", fst.num_states())));
    }
    match if drops_parts::<W>(delta) { None } else { visit::topological_order(fst) } {
        Some(order) if W::PATH => Ok(rough::in_order(fst, source, &order, delta)),
        Some(order) => Ok(log_forward(fst, source, &order)),
        None if W::PATH => rough::cyclic(fst, source, delta),
        None => generic::sums(fst, source, delta, visit::is_top_sorted(fst)),
    }
}

/// True for a sum so rough that it depends on the order of its parts what is left out.
fn drops_parts<W: Weight>(delta: f32) -> bool {
    !W::PATH && delta > SHORTEST_DELTA
}

/// Distances to the final states through some of the states, the others have none: those of the reversed automaton, in
/// the order of OpenFst's steps there.
fn backward_by_steps<W: Weight>(fst: &FlatFst<W>, delta: f32, keep: impl Fn(StateId) -> bool) -> Result<Vec<W>> {
    let reversed = reversed(fst, &keep);
    let start = reversed.start();
    let mut distance = if W::PATH {
        rough::cyclic(&reversed, start, delta)?
    } else {
        let falling = fst.states().all(|s| fst.arcs(s).iter().all(|a| a.nextstate < s));
        generic::sums(&reversed, start, delta, falling)?
    };
    distance.pop();
    Ok(distance)
}

/// Sum of all successful paths.
pub fn total_weight<W: Weight>(fst: &FlatFst<W>, delta: f32) -> Result<W> {
    if fst.start() == NO_STATE {
        return Ok(W::ZERO);
    }
    let backward =
        shortest_distance(fst, &DistanceConfig { reverse: true, delta: Some(delta), lenient: true, source: None })?;
    Ok(backward[fst.start() as usize])
}

/// Cost of the best path from the start to every state, summed in f64: exact for f32 weights on any path of sane length,
/// so that searches which order whole paths by cost are not misled by rounding. Errors are of the operation `op`.
pub fn best_costs<W: Weight>(fst: &FlatFst<W>, op: &'static str) -> Result<Vec<f64>> {
    let mut d = vec![f64::INFINITY; fst.num_states()];
    if fst.start() == NO_STATE {
        return Ok(d);
    }
    let Some(order) = visit::topological_order(fst) else {
        return Ok(cyclic::search(fst, fst.start(), Sum::Exact).map_err(|cycle| cycle.error(op))?.0);
    };
    d[fst.start() as usize] = 0.0;
    for &s in &order {
        let ds = d[s as usize];
        for a in fst.arcs(s) {
            let t = &mut d[a.nextstate as usize];
            *t = t.min(ds + a.weight.to_f64());
        }
    }
    Ok(d)
}

/// Distances to the final states of an acyclic automaton; None if it has cycles.
fn tropical_backward<W: Weight>(fst: &FlatFst<W>, delta: f32) -> Option<Vec<W>> {
    if delta == 0.0 || visit::is_top_sorted(fst) {
        let order = visit::topological_order(fst)?;
        if let Some(d) = in_any_order(fst, &order, delta) {
            return Some(d);
        }
    }
    rough::backward(fst, delta)
}

/// None if a state has two ways that differ by no more than delta: which of them counts depends on the order.
fn in_any_order<W: Weight>(fst: &FlatFst<W>, order: &[StateId], delta: f32) -> Option<Vec<W>> {
    let mut d = vec![W::ZERO; fst.num_states()];
    for &s in order.iter().rev() {
        // The best way, and the next that is not as good.
        let (mut best, mut second) = (fst.final_weight(s), W::ZERO);
        for a in fst.arcs(s) {
            // The distance comes first: the order of OpenFst's sums over the reversed automaton.
            let via = d[a.nextstate as usize].otimes(a.weight);
            if via.less(best) {
                (best, second) = (via, best);
            } else if best.less(via) {
                second = second.oplus(via);
            }
        }
        if best.approx_eq(second, delta) && !second.is_zero_w() {
            return None;
        }
        d[s as usize] = best;
    }
    Some(d)
}

/// A log sum in progress: Σ e^−x = mass · e^−least.
#[derive(Clone, Copy)]
pub struct LogSum {
    least: f64,
    mass: f64,
}

impl LogSum {
    pub const ZERO: LogSum = LogSum { least: f64::INFINITY, mass: 0.0 };

    #[inline(always)]
    pub fn add(&mut self, x: f64) {
        if x >= self.least {
            // Also x = least = ∞: ∞ − ∞ must not be computed.
            if x < f64::INFINITY {
                self.mass += (self.least - x).exp();
            }
        } else {
            self.mass = self.mass * (x - self.least).exp() + 1.0;
            self.least = x;
        }
    }
    /// −ln of the sum; infinite if nothing was added.
    #[inline(always)]
    pub fn cost(self) -> f64 {
        if self.mass == 1.0 || self.least == f64::INFINITY { self.least } else { self.least - self.mass.ln() }
    }
}

fn log_forward<W: Weight>(fst: &FlatFst<W>, source: StateId, order: &[StateId]) -> Vec<W> {
    let mut sums = vec![LogSum::ZERO; fst.num_states()];
    sums[source as usize].add(0.0);
    for &s in order {
        let d = sums[s as usize].cost();
        if d == f64::INFINITY {
            continue;
        }
        for a in fst.arcs(s) {
            sums[a.nextstate as usize].add(d + a.weight.to_f64());
        }
    }
    sums.into_iter().map(|s| W::from_f64(s.cost())).collect()
}

/// The same in the log semirings; None, too, where what is left out depends on the order.
fn log_backward<W: Weight>(fst: &FlatFst<W>, delta: f32) -> Option<Vec<W>> {
    let order = if drops_parts::<W>(delta) { None } else { visit::topological_order(fst) }?;
    let mut d = vec![f64::INFINITY; fst.num_states()];
    for &s in order.iter().rev() {
        let mut sum = LogSum::ZERO;
        sum.add(fst.final_weight(s).to_f64());
        for a in fst.arcs(s) {
            sum.add(a.weight.to_f64() + d[a.nextstate as usize]);
        }
        d[s as usize] = sum.cost();
    }
    Some(d.into_iter().map(W::from_f64).collect())
}

/// Arcs of some states turned round; a new last state is the start, with an arc of its final weight to every final state.
fn reversed<W: Weight>(fst: &FlatFst<W>, keep: &impl Fn(StateId) -> bool) -> FlatFst<W> {
    let incoming = visit::Incoming::new(fst);
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + 16);
    for s in fst.states() {
        b.add_state(if s == fst.start() { W::ONE } else { W::ZERO });
        for &i in incoming.of(s).iter().filter(|&&i| keep(s) && keep(incoming.sources[i as usize])) {
            let a = &fst.all_arcs()[i as usize];
            b.push_arc(Arc::new(a.ilabel, a.olabel, a.weight, incoming.sources[i as usize]));
        }
    }
    let start = b.add_state(W::ZERO);
    for s in fst.states().filter(|&s| fst.is_final(s) && keep(s)) {
        b.push_arc(Arc::new(0, 0, fst.final_weight(s), s));
    }
    b.set_start(start);
    b.finish()
}

/// The distances from the start and, for every state, the last step of a path that has it: none of these paths contains a
/// cycle. Errors are those of `op`.
pub(super) fn best_tree<W: Weight>(fst: &FlatFst<W>, op: &'static str) -> Result<(Vec<W>, Vec<Way>)> {
    let (costs, ways) = cyclic::search(fst, fst.start(), Sum::Best).map_err(|cycle| cycle.error(op))?;
    Ok((costs.into_iter().map(W::from_f64).collect(), ways))
}

/// A state on a cycle of negative weight, if the start reaches one.
pub(super) fn negative_cycle<W: Weight>(fst: &FlatFst<W>) -> Option<StateId> {
    if fst.start() == NO_STATE {
        return None;
    }
    cyclic::search(fst, fst.start(), Sum::Exact).err().map(|cycle| cycle.state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};

    fn arc<W: Weight>(w: f64, t: u32) -> Arc<W> {
        Arc::new(1, 1, W::from_f64(w), t)
    }

    #[test]
    fn loops_sum_to_their_closure() {
        // Self-loop of probability 1/2, leaves with 1/2: the total is 1.
        let h = std::f64::consts::LN_2;
        let f = FlatFst::<Log64>::from_rows(0, vec![(Log64::ZERO, vec![arc(h, 0), arc(h, 1)]), (Log64::ONE, vec![])]);
        let d = shortest_distance(&f, &DistanceConfig { delta: Some(1e-12), ..Default::default() }).unwrap();
        assert!((d[0].0 + h).abs() < 1e-9 && d[1].0.abs() < 1e-9, "{d:?}");
        let r =
            shortest_distance(&f, &DistanceConfig { delta: Some(1e-12), reverse: true, ..Default::default() }).unwrap();
        assert!(r[0].0.abs() < 1e-9 && r[1].0 == 0.0, "{r:?}");
    }

    #[test]
    fn a_sum_that_diverges_is_an_error() {
        let f = FlatFst::<Log64>::from_rows(0, vec![(Log64::ONE, vec![arc(-0.1, 0)])]);
        assert!(shortest_distance(&f, &Default::default()).unwrap_err().to_string().contains("converge"));
    }

    #[test]
    fn negative_cycles_are_an_error_and_negative_arcs_are_not() {
        let cycle = |w| {
            FlatFst::<Tropical>::from_rows(
                0,
                vec![
                    (Tropical::ZERO, vec![arc(5.0, 1), arc(9.0, 2)]),
                    (Tropical::ONE, vec![arc(1.0, 2)]),
                    (Tropical::ZERO, vec![arc(w, 1)]),
                ],
            )
        };
        assert!(shortest_distance(&cycle(-2.0), &Default::default()).unwrap_err().to_string().contains("negative"));
        let d = shortest_distance(&cycle(-0.5), &Default::default()).unwrap();
        assert_eq!(d, [Tropical(0.0), Tropical(5.0), Tropical(6.0)]);
    }
}
