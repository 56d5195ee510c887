//! Pruning by posterior: keeps the arcs and final states that at least a share of the probability passes through.
//!
//! The posterior of an arc is the probability of the paths through it, p(path) ∝ e^(−alpha · cost) (Sixtus and Ortmanns
//! 1999). What is kept keeps its cost. Arcs of the best path may fall below the threshold where many paths share the
//! probability; they are kept all the same, so that something is left. Needs an acyclic lattice; O(V + E).

use super::lattice::Lattice;
use crate::error::{Error, Result};
use crate::fst::connect::connect;
use crate::fst::flat::{Builder, FlatFst};
use crate::fst::semiring::Weight;

pub const OP: &str = "rescore-prune";

#[derive(Clone, Copy, Debug)]
pub struct PruneConfig {
    /// What costs are multiplied by before they become probabilities.
    pub alpha: f64,
    /// Least posterior of an arc that stays.
    pub posterior: f64,
}

pub fn prune<W: Weight>(fst: &FlatFst<W>, config: &PruneConfig) -> Result<FlatFst<W>> {
    if !(0.0..=1.0).contains(&config.posterior) {
        return Err(Error::op(OP, format!("the threshold {} is no probability", config.posterior)));
    }
    if !config.alpha.is_finite() {
        return Err(Error::op(OP, format!("the scale {} is no number", config.alpha)));
    }
    let lattice = Lattice::or_empty(OP, fst)?;
    let (forward, backward) = (lattice.forward(config.alpha), lattice.backward(config.alpha));
    let total = backward.first().copied().unwrap_or(f64::INFINITY);
    let (path, best_end) = lattice.best_path();
    let mut best = vec![false; lattice.arcs.len()];
    path.iter().for_each(|&(_, i)| best[i] = true);
    let mut keep_arc = vec![false; fst.num_arcs()];
    let mut keep_final = vec![false; fst.num_states()];
    // States of the lattice are in another order: their finals are found by the arcs that lead there.
    let mut old = vec![fst.start(); lattice.num_states()];
    let mut stays = vec![false; lattice.num_states()];
    for s in lattice.states() {
        let end = forward[s as usize] + config.alpha * lattice.finals[s as usize];
        stays[s as usize] = (total - end).exp() >= config.posterior;
        for (i, a) in lattice.range(s).zip(lattice.arcs(s)) {
            old[a.next as usize] = fst.all_arcs()[a.origin as usize].nextstate;
            let through = forward[s as usize] + config.alpha * a.cost + backward[a.next as usize];
            keep_arc[a.origin as usize] = best[i] || (total - through).exp() >= config.posterior;
        }
    }
    for s in lattice.states() {
        keep_final[old[s as usize] as usize] = stays[s as usize] || Some(s) == best_end;
    }
    let mut b = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    for s in fst.states() {
        b.add_state(if keep_final[s as usize] { fst.final_weight(s) } else { W::ZERO });
        for (i, arc) in fst.range(s).zip(fst.arcs(s)) {
            if keep_arc[i] {
                b.push_arc(*arc);
            }
        }
    }
    b.set_start(fst.start());
    Ok(connect(b.finish()).with_symbols_of(fst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    #[test]
    fn arcs_below_the_threshold_go_and_the_best_path_stays() {
        let p = |p: f32| Tropical(-p.ln());
        let a = |label, prob, to| Arc::new(label, label, p(prob), to);
        let rows = vec![
            (Tropical::ZERO, vec![a(1, 0.6, 1), a(2, 0.4, 1)]),
            (p(0.3), vec![a(3, 0.25, 2), a(4, 0.45, 2)]),
            (Tropical::ONE, vec![]),
        ];
        let fst = FlatFst::from_rows(0, rows);
        let at = |posterior| prune(&fst, &PruneConfig { alpha: 1.0, posterior }).unwrap();
        let labels = |f: &FlatFst<Tropical>| f.all_arcs().iter().map(|a| a.ilabel).collect::<Vec<_>>();
        assert_eq!(at(0.0), fst);
        assert_eq!(labels(&at(0.27)), [1, 2, 4]);
        assert!(at(0.27).is_final(1));
        assert_eq!(labels(&at(0.41)), [1, 4]);
        assert!(!at(0.41).is_final(1));
        assert_eq!(labels(&at(1.0)), [1, 4]);
        assert!(prune(&fst, &PruneConfig { alpha: 1.0, posterior: 1.5 }).is_err());
        assert_eq!(
            prune(&FlatFst::<Tropical>::empty(), &PruneConfig { alpha: 1.0, posterior: 0.5 }).unwrap().num_states(),
            0
        );
    }
}
