//! Full expansion: every pointer replaced by the automaton it points to, and the result made small.
//!
//! The size of an expansion is known before it is made. Small ones are expanded in one go; larger ones cell by cell from
//! the bottom, each made small before others take it in, which merges what several derivations say in the same words.

use super::{Rtn, pointed};
use crate::error::{Error, Result};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::{FlatFst, Label};
use crate::fst::minimize::{MinimizeConfig, minimize};
use crate::fst::replace::{Labeling, ReplaceConfig, replace};
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::Tropical;

/// Residual costs closer than this are one: the last bits of a float, not a rounding anybody sees.
pub const EXACT: f32 = 1e-6;

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

/// No epsilons, one path a string, as few states as there can be.
pub fn make_small(fst: FlatFst<Tropical>, max_states: usize) -> Result<FlatFst<Tropical>> {
    let fst = rmepsilon(fst, &Default::default())?;
    let config = DeterminizeConfig { delta: EXACT, max_states, ..DeterminizeConfig::default() };
    let fst = determinize(&fst, &config)?;
    minimize(fst, &MinimizeConfig { delta: EXACT, allow_nondet: false })
}

/// The lattice of the network, small; a limit error if it takes more states than `max_states` on the way.
pub fn expand(rtn: &Rtn, max_states: usize) -> Result<FlatFst<Tropical>> {
    let sizes = sizes(rtn);
    if sizes[rtn.root] <= IN_ONE_GO {
        return make_small(expand_root(rtn, rtn.root, max_states)?, max_states);
    }
    let mut small = rtn.clone();
    let used = reachable(rtn, rtn.root);
    for c in (0..=rtn.root).filter(|&c| used[c]) {
        if !small.cells[c].all_arcs().iter().any(|a| pointed(a.olabel).is_some()) {
            continue;
        }
        let size: f64 = small.cells[c]
            .all_arcs()
            .iter()
            .map(|a| 1.0 + pointed(a.olabel).map_or(0.0, |d| small.cells[d].num_arcs() as f64))
            .sum();
        if size > max_states as f64 {
            return Err(Error::limit(
                "expansion",
                format!("{max_states} states"),
                format!("a cell of {} words has about {size:.0} arcs", rtn.spans[c].width()),
            ));
        }
        small.cells[c] = make_small(expand_root(&small, c, max_states)?, max_states)?;
    }
    Ok(small.cells.swap_remove(rtn.root))
}
