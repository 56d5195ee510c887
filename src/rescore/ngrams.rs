//! The n-grams of lattices: numbers for them, and the lattice expanded so that a state knows the words before it.
//!
//! `Grams` numbers word sequences up to the highest order in use, with a link from each to itself without its first
//! word. `Expansion::new` makes of a lattice one whose states are pairs of a state and its last n − 1 words (fewer at
//! the beginning of a sentence), so that an arc completes one n-gram whatever the path; epsilons leave the words as
//! they are. O(arcs of the result): one look-up for the n-gram and one for the target each. The result is as large as
//! the lattice where states know their words already (after a language model of that order), and up to k^(n − 1)
//! times as large where k words are alternatives at every place; `most` stops it.

use super::lattice::Lattice;
use crate::error::{Error, Result};
use crate::fst::flat::{EPSILON, Label, StateId};
use crate::fst::statetable::StateTable;

pub type GramId = u32;
/// The n-gram without words.
pub const EMPTY: GramId = 0;

/// Numbers for n-grams. The number of an n-gram is higher than that of every suffix of it.
pub struct Grams {
    /// Keys are an n-gram and the word after it.
    table: StateTable,
    suffix: Vec<GramId>,
    len: Vec<u8>,
}

impl Default for Grams {
    fn default() -> Self {
        Grams { table: StateTable::default(), suffix: vec![EMPTY], len: vec![0] }
    }
}

impl Grams {
    /// How many there are, the empty one included.
    pub fn count(&self) -> usize {
        self.suffix.len()
    }
    /// Its number of words.
    #[inline(always)]
    pub fn len(&self, g: GramId) -> usize {
        self.len[g as usize] as usize
    }
    pub fn is_empty(&self) -> bool {
        self.count() == 1
    }
    /// The n-gram without its first word.
    #[inline(always)]
    pub fn suffix(&self, g: GramId) -> GramId {
        self.suffix[g as usize]
    }
    /// The n-gram with one more word.
    #[inline]
    pub fn child(&mut self, g: GramId, word: Label) -> GramId {
        let key = (g as u64) << 32 | word as u32 as u64;
        match self.table.find(key) {
            Some(n) => n + 1,
            None => self.add(g, word, key),
        }
    }
    fn add(&mut self, g: GramId, word: Label, key: u64) -> GramId {
        let suffix = if g == EMPTY { EMPTY } else { self.child(self.suffix(g), word) };
        self.suffix.push(suffix);
        self.len.push(self.len[g as usize] + 1);
        self.table.number(key) + 1
    }
    /// Its words, first to last.
    pub fn words(&self, g: GramId) -> Vec<Label> {
        let mut words = vec![];
        let mut at = g;
        while at != EMPTY {
            let key = self.table.key(at - 1);
            words.push(key as u32 as Label);
            at = (key >> 32) as GramId;
        }
        words.reverse();
        words
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ExpandedArc {
    pub next: StateId,
    /// Position of the arc of the lattice.
    pub arc: u32,
    /// The words before the arc, up to n − 1 of them, and its own; `EMPTY` for an epsilon.
    pub gram: GramId,
}

/// A lattice whose states know their last `order` − 1 words. State 0 is the start; arcs go to higher states.
pub struct Expansion {
    pub order: usize,
    /// `arcs[offsets[x]..offsets[x + 1]]` leave state x.
    pub offsets: Vec<u32>,
    pub arcs: Vec<ExpandedArc>,
    /// The state of the lattice.
    pub state: Vec<StateId>,
}

impl Expansion {
    /// `order` is from 1 to 255; an error that names `op` at more than `most` arcs.
    pub fn new(op: &'static str, lattice: &Lattice, grams: &mut Grams, order: usize, most: usize) -> Result<Self> {
        // By the longest way from the start: states that no path has both of are close together, so that few arcs lie
        // between the first and the last place of an n-gram.
        let by_level = states_by_level(lattice);
        let mut known = StateTable::default();
        let (mut history, mut sibling, mut place) = (vec![EMPTY], vec![StateId::MAX], vec![0]);
        let mut first = vec![StateId::MAX; lattice.num_states()];
        if !first.is_empty() {
            known.number(EMPTY as u64);
            first[0] = 0;
        }
        let mut made = Expansion { order, offsets: vec![0], arcs: vec![], state: vec![] };
        for s in by_level {
            let mut x = first[s as usize];
            while x != StateId::MAX {
                place[x as usize] = made.state.len() as StateId;
                made.state.push(s);
                for (i, a) in lattice.range(s).zip(lattice.arcs(s)) {
                    let before = history[x as usize];
                    let (gram, after) = if a.word == EPSILON {
                        (EMPTY, before)
                    } else {
                        let gram = grams.child(before, a.word);
                        (gram, if grams.len(gram) == order { grams.suffix(gram) } else { gram })
                    };
                    let y = known.number((a.next as u64) << 32 | after as u64);
                    if y as usize == history.len() {
                        history.push(after);
                        place.push(0);
                        sibling.push(first[a.next as usize]);
                        first[a.next as usize] = y;
                    }
                    made.arcs.push(ExpandedArc { next: y, arc: i as u32, gram });
                }
                if made.arcs.len() > most {
                    let why =
                        "too many n-grams; prune the lattice (weft rescore prune), lower --order or raise --max-arcs";
                    return Err(Error::limit(op, format!("{most} arcs for order {order}"), why));
                }
                made.offsets.push(made.arcs.len() as u32);
                x = sibling[x as usize];
            }
        }
        for a in &mut made.arcs {
            a.next = place[a.next as usize];
        }
        Ok(made)
    }

    pub fn num_states(&self) -> usize {
        self.state.len()
    }
    #[inline(always)]
    pub fn range(&self, x: StateId) -> std::ops::Range<usize> {
        self.offsets[x as usize] as usize..self.offsets[x as usize + 1] as usize
    }
    #[inline(always)]
    pub fn arcs(&self, x: StateId) -> &[ExpandedArc] {
        &self.arcs[self.range(x)]
    }
    pub fn states(&self) -> std::ops::Range<StateId> {
        0..self.state.len() as StateId
    }
}

/// The states in order of the longest way from the start, which is a topological order.
fn states_by_level(lattice: &Lattice) -> Vec<StateId> {
    let mut level = vec![0u32; lattice.num_states()];
    for s in lattice.states() {
        for a in lattice.arcs(s) {
            level[a.next as usize] = level[a.next as usize].max(level[s as usize] + 1);
        }
    }
    let mut states: Vec<StateId> = lattice.states().collect();
    states.sort_by_key(|&s| level[s as usize]);
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::{Arc, FlatFst};
    use crate::fst::semiring::{Tropical, Weight};

    #[test]
    fn suffixes_come_first_and_words_come_back() {
        let mut g = Grams::default();
        let abc = [7, 8, 9].iter().fold(EMPTY, |g0, &w| g.child(g0, w));
        assert_eq!(g.words(abc), [7, 8, 9]);
        assert_eq!(g.words(g.suffix(abc)), [8, 9]);
        assert_eq!(g.len(abc), 3);
        assert!((1..g.count() as GramId).all(|i| g.suffix(i) < i));
        let before = g.count();
        let bc = g.child(EMPTY, 8);
        assert_eq!(g.child(bc, 9), g.suffix(abc));
        assert_eq!(g.count(), before);
    }

    #[test]
    fn states_know_their_words_and_epsilons_pass_them_on() {
        let arc = |l, to| Arc::new(l, l, Tropical(0.0), to);
        let rows = vec![
            (Tropical::ZERO, vec![arc(1, 1), arc(2, 1)]),
            (Tropical::ZERO, vec![arc(0, 2)]),
            (Tropical::ZERO, vec![arc(3, 3), arc(4, 3)]),
            (Tropical(0.0), vec![]),
        ];
        let lattice = Lattice::new("op", &FlatFst::from_rows(0, rows)).unwrap();
        let sizes = |order| {
            let e = Expansion::new("op", &lattice, &mut Grams::default(), order, 100).unwrap();
            assert!(e.states().all(|x| e.arcs(x).iter().all(|a| a.next > x)));
            (e.num_states(), e.arcs.len())
        };
        assert_eq!(sizes(1), (4, 5));
        assert_eq!(sizes(2), (1 + 2 + 2 + 2, 2 + 2 + 4));
        assert_eq!(sizes(3), (1 + 2 + 2 + 4, 2 + 2 + 4));
        let e = Expansion::new("op", &lattice, &mut Grams::default(), 3, 6).err().unwrap();
        assert!(e.to_string().contains("--max-arcs"), "{e}");
    }
}
