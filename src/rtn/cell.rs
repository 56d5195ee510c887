//! A set of weighted strings as the smallest deterministic automaton that is pushed to the front.
//!
//! The strings are the target sides of a cell's rules, over words and pointers. They are sorted and added one by one; the
//! states that the next string no longer shares are closed from the end, their least cost moved to the arc before, and
//! merged with a state that has the same future (Daciuk et al. 2000, with the weight pushing of Mohri 2000). Equal strings
//! keep the least cost. Sums are f64 and rounded once an arc; nothing is quantised, but costs that differ by no more than
//! sums of floats do count as the same. O(symbols log strings).

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::fst::flat::{Arc, FlatFst, Label, StateId};
use crate::fst::semiring::Tropical;

/// Strings of one cell; used again for the next.
#[derive(Default)]
pub struct Strings {
    symbols: Vec<Label>,
    /// Beginning, end, cost.
    strings: Vec<(u32, u32, f64)>,
    order: Vec<u32>,
}

/// A state that may still get arcs.
#[derive(Clone)]
pub(super) struct Open {
    /// Cost to end here; infinite: not final.
    pub end: f64,
    pub arcs: Vec<(Label, f64, StateId)>,
}

impl Default for Open {
    fn default() -> Self {
        Open { end: f64::INFINITY, arcs: vec![] }
    }
}

impl Strings {
    pub fn clear(&mut self) {
        self.symbols.clear();
        self.strings.clear();
    }
    pub fn add(&mut self, symbols: impl IntoIterator<Item = Label>, cost: f64) {
        let from = self.symbols.len() as u32;
        self.symbols.extend(symbols);
        self.strings.push((from, self.symbols.len() as u32, cost));
    }
    pub fn len(&self) -> usize {
        self.strings.len()
    }
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }
    /// Symbols and cost of each, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&[Label], f64)> {
        self.strings.iter().map(|&(from, to, cost)| (&self.symbols[from as usize..to as usize], cost))
    }

    /// The automaton; its states are in topological order, the first is the start.
    pub fn automaton(&mut self) -> FlatFst<Tropical> {
        let Strings { symbols, strings, order } = self;
        let word = |i: u32| {
            let (from, to, _) = strings[i as usize];
            &symbols[from as usize..to as usize]
        };
        let cost = |i: u32| strings[i as usize].2;
        order.clear();
        order.extend(0..strings.len() as u32);
        order.sort_unstable_by(|&a, &b| word(a).cmp(word(b)).then(cost(a).total_cmp(&cost(b))).then(a.cmp(&b)));
        order.dedup_by(|b, a| word(*a) == word(*b));

        let mut out = Register::default();
        let fresh = Open::default();
        // States along the last string, and how many of them are in use.
        let mut path = vec![fresh.clone()];
        let mut used = 1;
        let mut last: &[Label] = &[];
        for &i in order.iter() {
            let now = word(i);
            let shared = last.iter().zip(now).take_while(|(a, b)| a == b).count();
            while used > shared + 1 {
                let (cost, state) = out.close(&mut path[used - 1], true);
                used -= 1;
                path[used - 1].arcs.push((last[used - 1], cost, state));
            }
            while used < now.len() + 1 {
                if path.len() == used {
                    path.push(fresh.clone());
                }
                used += 1;
            }
            path[used - 1].end = cost(i);
            last = now;
        }
        while used > 1 {
            let (cost, state) = out.close(&mut path[used - 1], true);
            used -= 1;
            path[used - 1].arcs.push((last[used - 1], cost, state));
        }
        out.close(&mut path[0], false);
        out.finish()
    }
}

/// Costs that are no further apart are the same sum in another order.
pub(super) const SAME: f32 = 1.0 / 65536.0;

/// Closed states, each after those its arcs lead to.
#[derive(Default)]
pub(super) struct Register {
    offsets: Vec<u32>,
    finals: Vec<Tropical>,
    arcs: Vec<Arc<Tropical>>,
    table: HashTable<StateId>,
}

impl Register {
    /// Closes a state and empties it: what it costs at least from here, and the state with the same future.
    pub fn close(&mut self, open: &mut Open, push: bool) -> (f64, StateId) {
        let least = open.arcs.iter().fold(open.end, |m, a| m.min(a.1));
        let least = if push && least.is_finite() { least } else { 0.0 };
        let end = Tropical((open.end - least) as f32);
        let from = self.arcs.len();
        self.arcs.extend(open.arcs.iter().map(|&(l, cost, to)| Arc::new(l, l, Tropical((cost - least) as f32), to)));
        open.arcs.clear();
        open.end = f64::INFINITY;
        let hash = hash(end, &self.arcs[from..]);
        let (offsets, finals, arcs) = (&self.offsets, &self.finals, &self.arcs);
        let of = |s: StateId| {
            let to = offsets.get(s as usize + 1).map_or(from, |&o| o as usize);
            &arcs[offsets[s as usize] as usize..to]
        };
        let same = |&s: &StateId| {
            let (of, now) = (of(s), &arcs[from..]);
            near(finals[s as usize], end)
                && of.len() == now.len()
                && of
                    .iter()
                    .zip(now)
                    .all(|(a, b)| a.ilabel == b.ilabel && a.nextstate == b.nextstate && near(a.weight, b.weight))
        };
        if let Some(&state) = self.table.find(hash, same) {
            self.arcs.truncate(from);
            return (least, state);
        }
        let state = self.finals.len() as StateId;
        self.offsets.push(from as u32);
        self.finals.push(end);
        let (offsets, finals, arcs) = (&self.offsets, &self.finals, &self.arcs);
        self.table.insert_unique(hash, state, |&s| {
            let to = offsets.get(s as usize + 1).map_or(arcs.len(), |&o| o as usize);
            self::hash(finals[s as usize], &arcs[offsets[s as usize] as usize..to])
        });
        (least, state)
    }

    /// The automaton with the states turned round, so that arcs lead forward; the start is the state that was closed last.
    pub fn finish(self) -> FlatFst<Tropical> {
        let n = self.finals.len();
        let mut offsets = Vec::with_capacity(n + 1);
        let mut finals = Vec::with_capacity(n);
        let mut arcs = Vec::with_capacity(self.arcs.len());
        for s in (0..n).rev() {
            offsets.push(arcs.len() as u32);
            finals.push(self.finals[s]);
            let to = self.offsets.get(s + 1).map_or(self.arcs.len(), |&o| o as usize);
            let turned = |a: &Arc<Tropical>| Arc { nextstate: n as StateId - 1 - a.nextstate, ..*a };
            arcs.extend(self.arcs[self.offsets[s] as usize..to].iter().map(turned));
        }
        offsets.push(arcs.len() as u32);
        FlatFst::from_parts(0, offsets, finals, arcs)
    }
}

fn near(a: Tropical, b: Tropical) -> bool {
    a.0 == b.0 || (a.0 - b.0).abs() <= SAME
}

/// Costs are left out: nearly the same must have the same hash.
fn hash(end: Tropical, arcs: &[Arc<Tropical>]) -> u64 {
    let numbers = arcs.iter().map(|a| (a.ilabel, a.nextstate));
    FxBuildHasher.hash_one((end.0.is_finite(), numbers.fold(0u64, |h, n| FxBuildHasher.hash_one((h, n)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every string with its cost, sorted.
    fn strings(fst: &FlatFst<Tropical>) -> Vec<(Vec<Label>, f32)> {
        let mut found = vec![];
        let mut open = vec![(fst.start(), vec![], 0.0)];
        while let Some((s, string, cost)) = open.pop() {
            if fst.is_final(s) {
                found.push((string.clone(), cost + fst.final_weight(s).0));
            }
            for a in fst.arcs(s) {
                assert!(a.nextstate > s);
                let mut longer = string.clone();
                longer.push(a.ilabel);
                open.push((a.nextstate, longer, cost + a.weight.0));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    #[test]
    fn shares_beginnings_and_ends_and_keeps_the_least_cost() {
        let mut s = Strings::default();
        for (word, cost) in
            [(&[1, 2, 3][..], 1.5), (&[1, 2, 3], 0.5), (&[1, 4, 3], 2.5), (&[5, 2, 3], 4.0), (&[], 7.0), (&[1], 0.25)]
        {
            s.add(word.iter().copied(), cost);
        }
        let fst = s.automaton();
        assert_eq!(
            strings(&fst),
            [(vec![], 7.0), (vec![1], 0.25), (vec![1, 2, 3], 0.5), (vec![1, 4, 3], 2.5), (vec![5, 2, 3], 4.0)]
        );
        // Start, after 1, after 5, before 3, end.
        assert_eq!(fst.num_states(), 5);
        s.clear();
        s.add([9], -1.0);
        assert_eq!(strings(&s.automaton()), [(vec![9], -1.0)]);
        s.clear();
        assert_eq!(s.automaton().num_states(), 1);
    }
}
