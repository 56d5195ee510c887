//! Pruning: keeps the arcs and final states that lie on a path of cost at most best ⊗ `weight`, and at most `nstate`
//! states, the best first.
//!
//! Needs the tropical semiring (paths must be comparable). A best-first search, O(V log V + E), over what is kept.
//!
//! The result is that of OpenFst's Prune, state by state: the same distances to the end (see `shortestdistance` for what
//! `delta` drops), the same sums in f32, the same heap. Where a whole path costs so much that its f32 is coarse (6e-5 at
//! 1,000, 1/64 at 250,000), or delta is larger than what tells paths apart, a state may come out of the heap before the best
//! way to it is known, as there; its arcs are judged by the way that is known then.

use super::connect::keep_states;
use super::flat::{Arc, FlatFst, NO_STATE, StateId};
use super::heap::Heap;
use super::semiring::Weight;
use super::shortestdistance::{DistanceConfig, shortest_distance};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug)]
pub struct PruneConfig<W> {
    /// How much worse than the best path a path may be; `W::ZERO`: as much as it likes.
    pub weight: W,
    /// At most this many states.
    pub nstate: Option<usize>,
    /// What OpenFst takes for no difference between the ways to the end; none: the best way is found exactly.
    pub delta: Option<f32>,
}

impl<W: Weight> Default for PruneConfig<W> {
    fn default() -> Self {
        PruneConfig { weight: W::ZERO, nstate: None, delta: None }
    }
}

const OP: &str = "prune";

pub fn prune<W: Weight>(fst: FlatFst<W>, config: &PruneConfig<W>) -> Result<FlatFst<W>> {
    require_path::<W>(OP)?;
    if config.weight.less(W::ONE) {
        return Err(Error::op(OP, format!("the weight threshold is negative ({})", config.weight)));
    }
    Ok(prune_in_place(fst, config)?.0)
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

/// As `prune`; also which states were kept. They keep their order.
pub(crate) fn prune_in_place<W: Weight>(fst: FlatFst<W>, config: &PruneConfig<W>) -> Result<(FlatFst<W>, Vec<bool>)> {
    let start = fst.start();
    let nothing = |fst: FlatFst<W>| {
        let kept = vec![false; fst.num_states()];
        Ok((keep_states(fst, &kept), kept))
    };
    if start == NO_STATE || config.nstate == Some(0) {
        return nothing(fst);
    }
    let distances = DistanceConfig { reverse: true, delta: config.delta, lenient: true, source: None };
    let ahead = shortest_distance(&fst, &distances)?;
    let best = ahead[start as usize];
    let limit = best.otimes(config.weight);
    if best.is_zero_w() || limit.less(best) {
        return nothing(fst);
    }
    let nodes = best_first(&fst, &ahead, limit, config.nstate);
    let visited = nodes.iter().map(|node| node.visited).collect();
    Ok((filtered(fst, &nodes, limit), visited))
}

/// What the search knows of a state, in one place: it jumps through the automaton.
#[derive(Clone, Copy)]
struct Node<W> {
    /// Distance to the end, and from the start: as it was when the state was visited.
    ahead: W,
    behind: W,
    /// Of the best path known through the state, behind ⊗ ahead.
    cost: W,
    visited: bool,
}

/// Visits the states within the limit, the best first.
fn best_first<W: Weight>(fst: &FlatFst<W>, ahead: &[W], limit: W, nstate: Option<usize>) -> Vec<Node<W>> {
    let node = |&ahead: &W| Node { ahead, behind: W::ZERO, cost: W::ZERO, visited: false };
    let mut nodes: Vec<Node<W>> = ahead.iter().map(node).collect();
    let mut heap = Heap::tracking();
    let mut seen = 1;
    let start = &mut nodes[fst.start() as usize];
    (start.behind, start.cost) = (W::ONE, start.ahead);
    heap.insert(fst.start(), &|_, _| false);
    while let Some(s) = heap.pop(&|x, y| nodes[x as usize].cost.less(nodes[y as usize].cost)) {
        nodes[s as usize].visited = true;
        let here = nodes[s as usize].behind;
        for a in fst.arcs(s) {
            let next = &mut nodes[a.nextstate as usize];
            let way = here.otimes(a.weight);
            let cost = way.otimes(next.ahead);
            if next.visited || limit.less(cost) {
                continue;
            }
            if way.less(next.behind) {
                (next.behind, next.cost) = (way, cost);
            }
            if nstate.is_some_and(|most| seen >= most) {
                continue;
            }
            let less = |x: StateId, y: StateId| nodes[x as usize].cost.less(nodes[y as usize].cost);
            if heap.contains(a.nextstate) {
                heap.update(a.nextstate, &less);
            } else {
                heap.insert(a.nextstate, &less);
                seen += 1;
            }
        }
    }
    nodes
}

/// The visited states with the arcs and final weights within the limit.
fn filtered<W: Weight>(fst: FlatFst<W>, nodes: &[Node<W>], limit: W) -> FlatFst<W> {
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let (start, mut offsets, mut finals, mut arcs) = fst.into_parts();
    let mut new_id = vec![NO_STATE; nodes.len()];
    let mut states = 0;
    for (s, _) in nodes.iter().enumerate().filter(|(_, node)| node.visited) {
        new_id[s] = states;
        states += 1;
    }
    let (mut from, mut to) = (0usize, 0usize);
    for (s, node) in nodes.iter().enumerate() {
        let end = offsets[s + 1] as usize;
        if node.visited {
            let id = new_id[s] as usize;
            let weight = finals[s];
            finals[id] = if limit.less(node.behind.otimes(weight)) { W::ZERO } else { weight };
            offsets[id] = to as u32;
            for i in from..end {
                let a = arcs[i];
                let next = new_id[a.nextstate as usize];
                let ahead = nodes[a.nextstate as usize].ahead;
                if next != NO_STATE && !limit.less(node.behind.otimes(a.weight).otimes(ahead)) {
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
            let config = PruneConfig { weight: Tropical(weight), ..Default::default() };
            prune(f.clone(), &config).unwrap().all_arcs().iter().map(|a| a.ilabel).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0), [1]);
        assert_eq!(labels(1.0), [1, 2], "the edge of the beam is inside");
        assert_eq!(labels(2.0), [1, 2, 3]);
        let two = prune(f.clone(), &PruneConfig { nstate: Some(2), ..Default::default() }).unwrap();
        assert_eq!((two.num_states(), two.num_arcs()), (2, 2));
    }
}
