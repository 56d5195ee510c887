//! Which pairs of states have a common future: a string that leads both to a final state. For disambiguation.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Weight;

/// Pairs (p, q), p ≤ q, that the start pair reaches and that reach a pair of final states.
pub struct Relation {
    related: HashSet<u64, FxBuildHasher>,
}

#[inline]
fn pack(p: StateId, q: StateId) -> u64 {
    if p <= q { (p as u64) << 32 | q as u64 } else { (q as u64) << 32 | p as u64 }
}

impl Relation {
    /// `fst` has its arcs sorted by input label. Input labels are compared, epsilon like any other. O(pairs × arcs).
    pub fn common_future<W: Weight>(fst: &FlatFst<W>, max_pairs: usize) -> Result<Self> {
        let mut pairs: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        let mut list: Vec<u64> = vec![];
        let mut back: Vec<(u32, u32)> = vec![];
        if fst.start() != NO_STATE {
            list.push(pack(fst.start(), fst.start()));
            pairs.insert(list[0], 0);
        }
        let mut next = 0;
        while next < list.len() {
            let (p, q) = ((list[next] >> 32) as u32, list[next] as u32);
            let (a, b) = (fst.arcs(p), fst.arcs(q));
            let mut j = 0;
            for x in a {
                while j < b.len() && b[j].ilabel < x.ilabel {
                    j += 1;
                }
                for y in b[j..].iter().take_while(|y| y.ilabel == x.ilabel) {
                    let to = pack(x.nextstate, y.nextstate);
                    let id = *pairs.entry(to).or_insert_with(|| {
                        list.push(to);
                        list.len() as u32 - 1
                    });
                    if id as usize != next {
                        back.push((id, next as u32));
                    }
                }
            }
            if list.len() > max_pairs {
                return Err(Error::limit(
                    "disambiguate",
                    format!("{max_pairs} pairs of states"),
                    "the input is too ambiguous; prune it first, or determinize it instead",
                ));
            }
            next += 1;
        }
        // Sources of each pair, one after the other.
        let mut ends = vec![0usize; list.len() + 1];
        for &(to, _) in &back {
            ends[to as usize + 1] += 1;
        }
        for i in 0..list.len() {
            ends[i + 1] += ends[i];
        }
        let mut sources = vec![0u32; back.len()];
        for &(to, source) in &back {
            sources[ends[to as usize]] = source;
            ends[to as usize] += 1;
        }
        drop(back);
        let mut good: Vec<bool> =
            list.iter().map(|&pq| fst.is_final((pq >> 32) as u32) && fst.is_final(pq as u32)).collect();
        let mut stack: Vec<u32> = (0..list.len() as u32).filter(|&i| good[i as usize]).collect();
        while let Some(i) = stack.pop() {
            let from = if i == 0 { 0 } else { ends[i as usize - 1] };
            for &source in &sources[from..ends[i as usize]] {
                if !std::mem::replace(&mut good[source as usize], true) {
                    stack.push(source);
                }
            }
        }
        let related = list.iter().zip(&good).filter_map(|(&pq, &good)| good.then_some(pq)).collect();
        Ok(Relation { related })
    }

    #[inline]
    pub fn holds(&self, p: StateId, q: StateId) -> bool {
        self.related.contains(&pack(p, q))
    }
}
