//! Epsilons taken away where that makes an automaton no larger.
//!
//! Full removal copies what follows an epsilon to where it begins: a state where many phrases end and many begin gets as
//! many arcs as there are pairs of these. Here a state whose only way on is an epsilon falls together with what that leads to,
//! and a state that only one epsilon leads to falls together with where that begins; other epsilons stay. Strings and
//! their costs are the same, and so is the number of paths. Acyclic automata of the tropical semiring; linear time.

use crate::fst::flat::{Arc, Builder, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Tropical;
use crate::fst::visit;

/// The automaton with fewer epsilons, its states in topological order.
pub fn contract(fst: &FlatFst<Tropical>) -> FlatFst<Tropical> {
    let Some(order) = visit::topological_order(fst).filter(|_| fst.start() != NO_STATE) else { return fst.clone() };
    // Where a state that is only passed through leads, and at what cost.
    let mut on: Vec<(StateId, f64)> = fst.states().map(|s| (s, 0.0)).collect();
    for &s in order.iter().rev() {
        if let [a] = fst.arcs(s)
            && a.ilabel == 0
            && !fst.is_final(s)
            && s != fst.start()
        {
            let (to, more) = on[a.nextstate as usize];
            on[s as usize] = (to, a.weight.0 as f64 + more);
        }
    }
    let stays = |s: StateId| on[s as usize].0 == s;
    let mut ways = vec![0u32; fst.num_states()];
    // The start is never taken in.
    ways[fst.start() as usize] = 2;
    for s in fst.states().filter(|&s| stays(s)) {
        for a in fst.arcs(s) {
            let to = on[a.nextstate as usize].0 as usize;
            // A word that leads there must not lose its end.
            ways[to] = ways[to].saturating_add(if a.ilabel == 0 { 1 } else { 2 });
        }
    }
    let taken_in = |s: StateId| ways[s as usize] == 1;
    let mut place = vec![NO_STATE; fst.num_states()];
    let rooted: Vec<StateId> = order.iter().copied().filter(|&s| stays(s) && ways[s as usize] > 1).collect();
    for (kept, &s) in rooted.iter().enumerate() {
        place[s as usize] = kept as StateId;
    }
    let mut out = Builder::with_capacity(rooted.len(), fst.num_arcs());
    let mut open: Vec<(StateId, f64)> = vec![];
    for &s in &rooted {
        let state = out.add_state(Tropical(f32::INFINITY));
        let mut end = f64::INFINITY;
        open.push((s, 0.0));
        while let Some((q, before)) = open.pop() {
            end = end.min(before + fst.final_weight(q).0 as f64);
            for a in fst.arcs(q) {
                let (to, more) = on[a.nextstate as usize];
                let cost = before + a.weight.0 as f64 + more;
                if a.ilabel == 0 && taken_in(to) {
                    open.push((to, cost));
                } else {
                    out.push_arc(Arc::new(a.ilabel, a.olabel, Tropical(cost as f32), place[to as usize]));
                }
            }
        }
        out.set_final(state, Tropical(end as f32));
    }
    out.set_start(place[fst.start() as usize]);
    out.finish()
}
