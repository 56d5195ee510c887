//! Full expansion: every pointer replaced by the automaton it points to, and the result made small.
//!
//! The size of an expansion is known before it is made. Small ones are expanded in one go; larger ones cell by cell from
//! the bottom, each made small before others take it in, which merges what several derivations say in the same words.

use super::small::smallest;
use super::{Rtn, pointed};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label};
use crate::fst::replace::{Labeling, ReplaceConfig, replace};
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::Tropical;

/// Arcs that are expanded in one go at most.
const IN_ONE_GO: f64 = 200_000.0;

/// Arcs of the expansion of every cell, if nothing is shared.
pub fn sizes(rtn: &Rtn) -> Vec<f64> {
    let mut sizes: Vec<f64> = Vec::with_capacity(rtn.cells.len());
    for cell in &rtn.cells {
        let arcs = cell.all_arcs().iter().map(|a| 1.0 + pointed(a.olabel).map_or(0.0, |c| 1.0 + sizes[c]));
        sizes.push(arcs.sum());
    }
    sizes
}

/// The lattice of a cell, with epsilons for calls and returns; a limit error beyond `max_states`.
pub fn expand_root(rtn: &Rtn, root: usize, max_states: usize) -> Result<FlatFst<Tropical>> {
    let used = reachable(rtn, root);
    let parts: Vec<(Label, &FlatFst<Tropical>)> =
        (0..=root).filter(|&c| used[c]).map(|c| (Rtn::pointer(c), &rtn.cells[c])).collect();
    let config = ReplaceConfig { call: Labeling::Neither, max_states: Some(max_states), ..ReplaceConfig::default() };
    replace(&parts, Rtn::pointer(root), &config)
}

fn reachable(rtn: &Rtn, root: usize) -> Vec<bool> {
    let mut used = vec![false; rtn.cells.len()];
    used[root] = true;
    for c in (0..=root).rev() {
        if used[c] {
            rtn.cells[c].all_arcs().iter().filter_map(|a| pointed(a.olabel)).for_each(|d| used[d] = true);
        }
    }
    used
}

/// The lattice of the network; a limit error if it takes more states than `max_states` on the way. One path a string and as
/// few states as there can be, unless that is much larger than the expansion: then only the epsilons are removed.
pub fn expand(rtn: &Rtn, max_states: usize) -> Result<FlatFst<Tropical>> {
    let mut sizes = sizes(rtn);
    let mut small = rtn.clone();
    if sizes[rtn.root] > IN_ONE_GO {
        let used = reachable(rtn, rtn.root);
        for c in (0..rtn.root).filter(|&c| used[c]) {
            let arcs = small.cells[c].all_arcs();
            sizes[c] = arcs.iter().map(|a| 1.0 + pointed(a.olabel).map_or(0.0, |d| 1.0 + sizes[d])).sum();
            let whole = arcs.iter().all(|a| pointed(a.olabel).is_none());
            if whole || sizes[c] > max_states as f64 {
                continue;
            }
            // A cell that does not become small stays as it is, with its pointers.
            let expanded = expand_root(&small, c, max_states)?;
            if let Some(fst) = much_smaller(&expanded)? {
                sizes[c] = fst.num_arcs() as f64;
                small.cells[c] = fst;
            }
        }
    }
    let expanded = expand_root(&small, rtn.root, max_states)?;
    match much_smaller(&expanded)? {
        Some(fst) => Ok(fst),
        None => rmepsilon(expanded, &Default::default()),
    }
}

/// The smallest deterministic automaton, if making it takes no more states than there are now, about.
fn much_smaller(fst: &FlatFst<Tropical>) -> Result<Option<FlatFst<Tropical>>> {
    match smallest(fst, 2 * fst.num_states() + 1000) {
        Ok(small) => Ok(Some(small)),
        Err(Error::Limit { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}
