//! Which pairs of states have a common future: a string that leads both to a final state. For disambiguation.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
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
    /// `fst` has its arcs sorted by input label, then target. Input labels are compared, epsilon like any other.
    /// O(pairs × arcs). No more than `max_pairs`, with 64 times as many steps between them, are kept.
    pub fn common_future<W: Weight>(fst: &FlatFst<W>, max_pairs: usize) -> Result<Self> {
        let mut pairs: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        let mut list: Vec<u64> = vec![];
        let mut back: Vec<(u32, u32)> = vec![];
        if fst.start() != NO_STATE {
            list.push(pack(fst.start(), fst.start()));
            pairs.insert(list[0], 0);
        }
        // Where the states lead, every label and target once, however many arcs there are.
        let [mut a, mut b]: [Vec<(Label, StateId)>; 2] = Default::default();
        let mut reached: Vec<u32> = vec![];
        let mut next = 0;
        while next < list.len() {
            let (p, q) = ((list[next] >> 32) as u32, list[next] as u32);
            for (to, s) in [(&mut a, p), (&mut b, q)] {
                to.clear();
                to.extend(fst.arcs(s).iter().map(|x| (x.ilabel, x.nextstate)));
                to.dedup();
            }
            reached.clear();
            let mut j = 0;
            for x in &a {
                while j < b.len() && b[j].0 < x.0 {
                    j += 1;
                }
                for y in b[j..].iter().take_while(|y| y.0 == x.0) {
                    let to = pack(x.1, y.1);
                    let id = *pairs.entry(to).or_insert_with(|| {
                        list.push(to);
                        list.len() as u32 - 1
                    });
                    if id as usize != next {
                        reached.push(id);
                    }
                }
            }
            // Several labels may lead to one pair.
            reached.sort_unstable();
            reached.dedup();
            back.extend(reached.iter().map(|&id| (id, next as u32)));
            if list.len() > max_pairs || back.len() > max_pairs.saturating_mul(64) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::testing::{ONE, Z, arc};

    #[test]
    fn parallel_arcs_count_once() {
        let f = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 0.0, 1); 8000]), (ONE, vec![])]);
        let relation = Relation::common_future(&f, 2).unwrap();
        assert!(relation.holds(0, 0) && relation.holds(1, 1) && !relation.holds(0, 1));
    }

    #[test]
    fn steps_between_pairs_are_limited() {
        let rows = vec![(ONE, (0..20).map(|s| arc(1, 1, 0.0, s)).collect()); 20];
        let f = FlatFst::from_rows(0, rows);
        // 210 pairs, each of which leads to all.
        assert!(Relation::common_future(&f, 210).is_err());
        assert!(Relation::common_future(&f, 210 * 210 / 64 + 1).is_ok_and(|r| r.holds(3, 17)));
    }
}
