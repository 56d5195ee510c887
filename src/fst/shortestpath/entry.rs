//! What a search backwards has found: ways to read suffixes that share their ends, and the automaton of the complete ones.

use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, StateId};
use crate::fst::semiring::Weight;

/// Where an entry of the search comes from: an arc of the automaton, or one of these.
pub(super) const FINAL: u32 = u32::MAX;
pub(super) const COMPLETE: u32 = u32::MAX - 1;

/// A way to read a suffix from `state`: first `arc`, then what `parent` reads.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub cost: f64,
    pub state: StateId,
    pub arc: u32,
    pub parent: u32,
}

/// The paths found, with what they share kept once.
pub(super) fn automaton<W: Weight>(fst: &FlatFst<W>, entries: &[Entry], heads: &[u32]) -> FlatFst<W> {
    if heads.is_empty() {
        return FlatFst::empty();
    }
    let mut used: Vec<u32> = vec![0];
    let mut seen = hashbrown::HashSet::<u32, rustc_hash::FxBuildHasher>::default();
    seen.insert(0);
    for &head in heads {
        let mut i = head;
        while seen.insert(i) {
            used.push(i);
            i = entries[i as usize].parent;
        }
    }
    // In the order they were made: OpenFst's numbers.
    used.sort_unstable();
    let id: hashbrown::HashMap<u32, StateId, rustc_hash::FxBuildHasher> =
        used.iter().enumerate().map(|(k, &i)| (i, k as StateId + 1)).collect();
    let mut b = Builder::with_capacity(used.len() + 1, used.len() + heads.len());
    b.add_state(W::ZERO);
    b.set_start(0);
    for head in heads {
        b.push_arc(Arc::new(EPSILON, EPSILON, W::ONE, id[head]));
    }
    for &i in &used {
        b.add_state(if i == 0 { W::ONE } else { W::ZERO });
        let e = entries[i as usize];
        match e.arc {
            FINAL if i == 0 => {}
            FINAL => b.push_arc(Arc::new(EPSILON, EPSILON, fst.final_weight(e.state), id[&e.parent])),
            COMPLETE => b.push_arc(Arc::new(EPSILON, EPSILON, W::ONE, id[&e.parent])),
            arc => b.push_arc(Arc { nextstate: id[&e.parent], ..fst.all_arcs()[arc as usize] }),
        }
    }
    b.finish()
}
