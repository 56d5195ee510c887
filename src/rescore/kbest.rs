//! The n best paths of a lattice, or the best path of each of its n best distinct strings, exact and in order.
//!
//! The words are the output labels. The search is `fst::shortestpath`'s, backwards from the ends with the exact cost from
//! the start as its guide: about n · length steps; costs are summed in f64, and of equal paths the one found first comes
//! first, every time. Weights of any semiring are costs of single paths here. Cyclic lattices have n best paths, too, as
//! long as no cycle has a negative cost.

use super::lattice::{check_weights, no_path};
use crate::error::Result;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::{Path, ShortestPathConfig, best_paths};

pub const OP: &str = "rescore-kbest";

#[derive(Clone, Copy, Debug)]
pub struct KbestConfig {
    pub n: usize,
    /// Distinct strings of words instead of paths.
    pub unique: bool,
}

/// A lattice without paths is an error.
pub fn kbest<W: Weight>(fst: &FlatFst<W>, config: &KbestConfig) -> Result<Vec<Path>> {
    check_weights(OP, fst)?;
    let search = ShortestPathConfig { nshortest: config.n.max(1), unique: config.unique, ..Default::default() };
    let mut paths = if config.unique && !fst.is_acceptor() {
        // The search tells strings apart by input labels.
        let mut words = fst.clone();
        words.all_arcs_mut().iter_mut().for_each(|a| a.ilabel = a.olabel);
        best_paths(&words, &search)?
    } else {
        best_paths(fst, &search)?
    };
    if paths.is_empty() {
        return Err(no_path(OP));
    }
    paths.truncate(config.n);
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};
    use crate::fst::testing::{ONE, Z, arc};

    #[test]
    fn strings_are_told_apart_by_their_words() {
        let rows = vec![(Z, vec![arc(1, 7, 0.5, 1), arc(2, 7, 0.25, 1), arc(1, 8, 0.375, 1)]), (ONE, vec![])];
        let fst = FlatFst::from_rows(0, rows);
        let arcs = |unique| {
            let paths = kbest(&fst, &KbestConfig { n: 5, unique }).unwrap();
            paths.iter().map(|p| (p.arcs[0], p.cost)).collect::<Vec<_>>()
        };
        assert_eq!(arcs(true), [(1, 0.25), (2, 0.375)]);
        assert_eq!(arcs(false), [(1, 0.25), (2, 0.375), (0, 0.5)]);
    }

    #[test]
    fn costs_of_f64_are_not_rounded() {
        let a = |l, w, t| crate::fst::flat::Arc::new(l, l, Log64(w), t);
        let fst =
            FlatFst::from_rows(0, vec![(Log64::ZERO, vec![a(1, 0.1 + 1e-12, 1), a(2, 0.1, 1)]), (Log64::ONE, vec![])]);
        let paths = kbest(&fst, &KbestConfig { n: 2, unique: true }).unwrap();
        assert_eq!((paths[0].arcs[0], paths[1].arcs[0]), (1, 0));
    }

    #[test]
    fn cycles_bad_weights_and_emptiness() {
        let looped = |w| FlatFst::from_rows(0, vec![(ONE, vec![arc(1, 1, w, 0)])]);
        let config = KbestConfig { n: 3, unique: true };
        let costs: Vec<f64> = kbest(&looped(0.5), &config).unwrap().iter().map(|p| p.cost).collect();
        assert_eq!(costs, [0.0, 0.5, 1.0]);
        assert!(kbest(&looped(-0.5), &config).unwrap_err().to_string().contains("negative"));
        assert!(kbest(&looped(f32::NAN), &config).unwrap_err().to_string().contains("state 0"));
        assert!(kbest(&FlatFst::<Tropical>::empty(), &config).unwrap_err().to_string().contains("no path"));
    }
}
