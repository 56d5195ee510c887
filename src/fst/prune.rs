//! Pruning: keeps the arcs and final states that lie on a path of cost at most best ⊗ `weight`, and at most `nstate`
//! states, the best first.
//!
//! Needs the tropical semiring (paths must be comparable). Acyclic input without a state limit: two passes, O(V + E).
//! Otherwise a best-first search, O((V + E) log V). The same float operations as OpenFst's Prune decide.
//!
//! Costs are summed in f32, as there, so the beam is only as sharp as f32 is at the cost of a whole path: 6e-5 at 1,000,
//! but 1/64 at 250,000, and the error adds up along the path. There the two differ, and both from the truth. On a lattice
//! with a best path of cost 250,984.7 and --weight=8, sums in f64 and in 128 bits keep 1,216,419 arcs; this pass keeps
//! 945,225, OpenFst 913,828 (with a delta of 1e-9, 1e-6 and 1/1024 alike: it is not the reason). OpenFst expands states by
//! forward plus backward cost, which rounding makes inconsistent: a state may be expanded before the best way to it is
//! known, and is not expanded again, so that more falls out of the beam. The pass in topological order knows the best way
//! to every state first. To do as OpenFst does would cost its heap, the larger part of the time, and keep less.

use super::connect::keep_states;
use super::flat::{Arc, FlatFst, NO_STATE, ScatterBuilder, StateId};
use super::heap::Heap;
use super::semiring::Weight;
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::visit;
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug)]
pub struct PruneConfig<W> {
    /// How much worse than the best path a path may be; `W::ZERO`: as much as it likes.
    pub weight: W,
    /// At most this many states.
    pub nstate: Option<usize>,
}

impl<W: Weight> Default for PruneConfig<W> {
    fn default() -> Self {
        PruneConfig { weight: W::ZERO, nstate: None }
    }
}

const OP: &str = "prune";

pub fn prune<W: Weight>(fst: FlatFst<W>, config: &PruneConfig<W>) -> Result<FlatFst<W>> {
    require_path::<W>(OP)?;
    if config.weight.less(W::ONE) {
        return Err(Error::op(OP, format!("the weight threshold is negative ({})", config.weight)));
    }
    let symbols = (fst.isyms.clone(), fst.osyms.clone());
    let nothing = || Ok(FlatFst::empty().with_symbols(symbols.0.clone(), symbols.1.clone()));
    if fst.start() == NO_STATE || config.nstate == Some(0) {
        return nothing();
    }
    let Some(order) = visit::topological_order(&fst).filter(|_| config.nstate.is_none()) else {
        return Ok(prune_in_place(fst, config.weight, config.nstate)?.0);
    };
    let to_final = shortest_distance(&fst, &DistanceConfig { reverse: true, ..Default::default() })?;
    let best = to_final[fst.start() as usize];
    if best.is_zero_w() {
        return nothing();
    }
    let limit = best.otimes(config.weight);
    let (from_start, visited) = in_order(&fst, &order, &to_final, limit);
    Ok(filtered(fst, &from_start, &to_final, limit, &visited))
}

/// The error for a semiring whose weights do not order paths.
pub fn require_path<W: Weight>(op: &'static str) -> Result<()> {
    if W::PATH {
        return Ok(());
    }
    Err(Error::op(
        op,
        format!(
            "needs the tropical semiring, in which one path is the best; this automaton is {}; convert it first \
             (weft fst map --map-type to_standard)",
            W::ARC_TYPE
        ),
    ))
}

/// True if a path of this cost goes.
#[inline(always)]
fn beyond<W: Weight>(limit: W, d: W, arc: &Arc<W>, to_final: &[W]) -> bool {
    limit.less(d.otimes(arc.weight).otimes(to_final[arc.nextstate as usize]))
}

fn in_order<W: Weight>(fst: &FlatFst<W>, order: &[StateId], to_final: &[W], limit: W) -> (Vec<W>, Vec<bool>) {
    let mut d = vec![W::ZERO; fst.num_states()];
    let mut visited = vec![false; fst.num_states()];
    d[fst.start() as usize] = W::ONE;
    visited[fst.start() as usize] = true;
    for &s in order {
        if !visited[s as usize] {
            continue;
        }
        let ds = d[s as usize];
        for a in fst.arcs(s) {
            if beyond(limit, ds, a, to_final) {
                continue;
            }
            let t = a.nextstate as usize;
            d[t] = d[t].oplus(ds.otimes(a.weight));
            visited[t] = true;
        }
    }
    (d, visited)
}

/// A best-first search, state by state as in OpenFst: takes away the paths that are worse than the best by more than
/// `weight`, then all but the `nstate` best states. States keep their order; also which were kept.
pub(crate) fn prune_in_place<W: Weight>(
    fst: FlatFst<W>,
    weight: W,
    nstate: Option<usize>,
) -> Result<(FlatFst<W>, Vec<bool>)> {
    let n = fst.num_states();
    if n == 0 {
        return Ok((fst, vec![]));
    }
    let ahead = shortest_distance(&fst, &DistanceConfig { reverse: true, lenient: true, ..Default::default() })?;
    let start = fst.start();
    let mut visited = vec![false; n];
    if start == NO_STATE || nstate == Some(0) || ahead[start as usize].is_zero_w() {
        return Ok((keep_states(fst, &visited), visited));
    }
    let limit = ahead[start as usize].otimes(weight);
    let mut behind = vec![W::ZERO; n];
    let mut fst = fst;
    let mut heap = Heap::tracking();
    let mut seen = 0;
    if !limit.less(ahead[start as usize]) {
        behind[start as usize] = W::ONE;
        heap.insert(start, &|_, _| false);
        seen += 1;
    }
    // Arcs beyond the beam.
    let mut cut = vec![false; fst.num_arcs()];
    loop {
        let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
        let Some(s) = heap.pop(&|x, y| cost(x).less(cost(y))) else { break };
        visited[s as usize] = true;
        let here = behind[s as usize];
        if limit.less(here.otimes(fst.final_weight(s))) {
            fst.finals_mut()[s as usize] = W::ZERO;
        }
        for i in fst.range(s) {
            let a = fst.all_arcs()[i];
            let (t, w) = (a.nextstate as usize, here.otimes(a.weight));
            if limit.less(w.otimes(ahead[t])) {
                cut[i] = true;
                continue;
            }
            if w.less(behind[t]) {
                behind[t] = w;
            }
            if visited[t] || nstate.is_some_and(|n| seen >= n) {
                continue;
            }
            let cost = |s: StateId| behind[s as usize].otimes(ahead[s as usize]);
            let less = |x, y| cost(x).less(cost(y));
            if heap.contains(a.nextstate) {
                heap.update(a.nextstate, &less);
            } else {
                heap.insert(a.nextstate, &less);
                seen += 1;
            }
        }
    }
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let mut b = ScatterBuilder::default();
    for s in fst.states() {
        b.add_state();
        b.set_final(s, fst.final_weight(s));
        for i in fst.range(s).filter(|&i| !cut[i]) {
            b.add_arc(s, fst.all_arcs()[i]);
        }
    }
    b.set_start(start);
    Ok((keep_states(b.finish(), &visited).with_symbols(isyms, osyms), visited))
}

/// The visited states with the arcs and final weights within the limit.
fn filtered<W: Weight>(fst: FlatFst<W>, d: &[W], to_final: &[W], limit: W, visited: &[bool]) -> FlatFst<W> {
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let (start, mut offsets, mut finals, mut arcs) = fst.into_parts();
    let mut new_id = vec![NO_STATE; visited.len()];
    let mut states = 0;
    for (s, _) in visited.iter().enumerate().filter(|(_, v)| **v) {
        new_id[s] = states;
        states += 1;
    }
    let (mut from, mut to) = (0usize, 0usize);
    for s in 0..visited.len() {
        let end = offsets[s + 1] as usize;
        if visited[s] {
            let id = new_id[s] as usize;
            let weight = finals[s];
            finals[id] = if limit.less(d[s].otimes(weight)) { W::ZERO } else { weight };
            offsets[id] = to as u32;
            for i in from..end {
                let a = arcs[i];
                let next = new_id[a.nextstate as usize];
                if next != NO_STATE && !beyond(limit, d[s], &a, to_final) {
                    arcs[to] = Arc { nextstate: next, ..a };
                    to += 1;
                }
            }
        }
        from = end;
    }
    offsets[states as usize] = to as u32;
    offsets.truncate(states as usize + 1);
    finals.truncate(states as usize);
    arcs.truncate(to);
    FlatFst::from_parts(new_id[start as usize], offsets, finals, arcs).with_symbols(isyms, osyms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn keeps_exactly_what_is_within_the_beam() {
        let arc = |label, weight, next| Arc::new(label, label, Tropical(weight), next);
        let f = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(1, 1.0, 1), arc(2, 2.0, 1), arc(3, 2.5, 2)]),
                (Tropical(1.0), vec![]),
                (Tropical(1.0), vec![]),
            ],
        );
        let labels = |weight| {
            let config = PruneConfig { weight: Tropical(weight), nstate: None };
            prune(f.clone(), &config).unwrap().all_arcs().iter().map(|a| a.ilabel).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0), [1]);
        assert_eq!(labels(1.0), [1, 2], "the edge of the beam is inside");
        assert_eq!(labels(2.0), [1, 2, 3]);
        let two = prune(f.clone(), &PruneConfig { weight: Tropical::ZERO, nstate: Some(2) }).unwrap();
        assert_eq!((two.num_states(), two.num_arcs()), (2, 2));
    }
}
