//! The posteriors of n-grams that a path may have more than once.
//!
//! p(u|E) = Σ over the arcs that complete u of (mass at the arc's state that does not have u yet) · p(arc). The mass
//! that has u spreads from the first arc of u on, and matters only where another arc of u can still be reached. Most
//! n-grams have no two arcs on one path: their arcs leave the same level, or (512 n-grams at a time, a bit each) a
//! pass backwards over the arcs between the first and the last of them shows that none of their arcs leads to
//! another. For the rest the mass is spread for eight n-grams at a time, over the states that have mass and from
//! which one of the eight can be reached.
//!
//! O(arcs · c / 512 + a · r / 8) for c n-grams whose first and last arcs are at different levels, r of which repeat,
//! and a arcs between the first and the last of these; 128 bytes a state and thread. Batches of 512 are independent:
//! they run in parallel, and every n-gram's sum is made in the order of the states, so the results do not depend on
//! how.

use rayon::prelude::*;

use super::ngrams::{EMPTY, Expansion, GramId, Grams};
use crate::fst::flat::StateId;

/// The probabilities at one scale.
pub struct Masses<'a> {
    /// By arc of the lattice.
    pub arc: &'a [f64],
    /// By state of the expansion.
    pub state: &'a [f64],
}

const WORDS: usize = 8;
/// n-grams whose reach is found in one pass.
const BATCH: usize = 64 * WORDS;
/// n-grams whose mass is spread in one pass.
const LANES: usize = 8;

/// An arc that completes an n-gram.
#[derive(Clone, Copy)]
struct Place {
    state: StateId,
    /// In the expansion.
    arc: u32,
}

/// An n-gram with arcs of which one may lead to another, by the order of the states.
struct Candidate {
    gram: GramId,
    first_end: StateId,
    last_start: StateId,
    /// Where its arcs are in the list of places.
    places: std::ops::Range<usize>,
}

/// The n-grams that a path may have twice, with their posteriors at every scale.
pub fn posteriors(expansion: &Expansion, grams: &Grams, scales: &[Masses]) -> Vec<(GramId, Vec<f64>)> {
    let (candidates, places) = candidates(expansion, grams);
    candidates
        .par_chunks(BATCH)
        .map_init(Workspace::default, |w, batch| w.run(expansion, batch, &places, scales))
        .flatten_iter()
        .collect()
}

/// Those whose first arc ends no later than the last one begins, by the end of the first; and their arcs.
fn candidates(expansion: &Expansion, grams: &Grams) -> (Vec<Candidate>, Vec<Place>) {
    let mut first_end = vec![StateId::MAX; grams.count()];
    let mut last_start = vec![0 as StateId; grams.count()];
    let completes = |gram: GramId| gram != EMPTY && grams.len(gram) == expansion.order;
    for x in expansion.states() {
        for a in expansion.arcs(x).iter().filter(|a| completes(a.gram)) {
            let end = &mut first_end[a.gram as usize];
            *end = a.next.min(*end);
            last_start[a.gram as usize] = x;
        }
    }
    let mut found: Vec<GramId> =
        (1..grams.count() as GramId).filter(|&g| first_end[g as usize] <= last_start[g as usize]).collect();
    found.sort_by_key(|&g| (first_end[g as usize], g));
    // The arcs of each, one after the other.
    let mut slot = vec![u32::MAX; grams.count()];
    for (i, &g) in found.iter().enumerate() {
        slot[g as usize] = i as u32;
    }
    let mut ends = vec![0usize; found.len() + 1];
    let of = |gram: GramId| slot[gram as usize] as usize;
    for a in expansion.arcs.iter().filter(|a| completes(a.gram) && of(a.gram) < found.len()) {
        ends[of(a.gram) + 1] += 1;
    }
    for i in 0..found.len() {
        ends[i + 1] += ends[i];
    }
    let mut next = ends.clone();
    let mut places = vec![Place { state: 0, arc: 0 }; ends[found.len()]];
    for x in expansion.states() {
        for (i, a) in expansion.range(x).zip(expansion.arcs(x)) {
            if completes(a.gram) && of(a.gram) < found.len() {
                let at = &mut next[of(a.gram)];
                places[*at] = Place { state: x, arc: i as u32 };
                *at += 1;
            }
        }
    }
    let candidate = |(i, &gram): (usize, &GramId)| Candidate {
        gram,
        first_end: first_end[gram as usize],
        last_start: last_start[gram as usize],
        places: ends[i]..ends[i + 1],
    };
    (found.iter().enumerate().map(candidate).collect(), places)
}

/// What a thread keeps from one batch to the next.
#[derive(Default)]
struct Workspace {
    /// By state from the batch's first: the n-grams that an arc from here on completes.
    reach: Vec<[u64; WORDS]>,
    /// By state from the batch's first: the mass that has the n-gram already.
    seen: Vec<[f64; LANES]>,
    /// A bit a state from the batch's first: some mass is there.
    active: Vec<u64>,
    /// State, lane and arc of the expansion.
    events: Vec<(StateId, u8, u32)>,
}

impl Workspace {
    fn run(
        &mut self,
        expansion: &Expansion,
        batch: &[Candidate],
        places: &[Place],
        scales: &[Masses],
    ) -> Vec<(GramId, Vec<f64>)> {
        let first = batch.iter().map(|c| c.first_end).min().unwrap_or(0);
        let last = batch.iter().map(|c| c.last_start).max().unwrap_or(0);
        self.find_reach(expansion, batch, places, first, last);
        let repeats = |slot: usize| {
            places[batch[slot].places.clone()].iter().any(|p| {
                let end = expansion.arcs[p.arc as usize].next;
                end <= last && self.reach[(end - first) as usize][slot / 64] >> (slot % 64) & 1 == 1
            })
        };
        let repeated: Vec<usize> = (0..batch.len()).filter(|&slot| repeats(slot)).collect();
        let mut results = Vec::with_capacity(repeated.len());
        for group in repeated.chunks(LANES) {
            let mut sums = vec![vec![]; group.len()];
            for scale in scales {
                let found = self.spread(expansion, batch, group, places, scale, first);
                sums.iter_mut().zip(found).for_each(|(s, p)| s.push(p));
            }
            results.extend(group.iter().zip(sums).map(|(&slot, s)| (batch[slot].gram, s)));
        }
        results
    }

    fn find_reach(
        &mut self,
        expansion: &Expansion,
        batch: &[Candidate],
        places: &[Place],
        first: StateId,
        last: StateId,
    ) {
        self.reach.clear();
        self.reach.resize((last - first) as usize + 1, [0; WORDS]);
        for (slot, c) in batch.iter().enumerate() {
            for p in places[c.places.clone()].iter().filter(|p| p.state >= first) {
                self.reach[(p.state - first) as usize][slot / 64] |= 1 << (slot % 64);
            }
        }
        for x in (first..=last).rev() {
            let mut here = self.reach[(x - first) as usize];
            for a in expansion.arcs(x).iter().filter(|a| a.next <= last) {
                let there = &self.reach[(a.next - first) as usize];
                here.iter_mut().zip(there).for_each(|(h, t)| *h |= t);
            }
            self.reach[(x - first) as usize] = here;
        }
    }

    /// The posteriors of up to `LANES` n-grams of the batch at one scale.
    fn spread(
        &mut self,
        expansion: &Expansion,
        batch: &[Candidate],
        group: &[usize],
        places: &[Place],
        p: &Masses,
        first: StateId,
    ) -> [f64; LANES] {
        let last = group.iter().map(|&slot| batch[slot].last_start).max().unwrap_or(first);
        let mut mask = [0u64; WORDS];
        self.events.clear();
        for (lane, &slot) in group.iter().enumerate() {
            mask[slot / 64] |= 1 << (slot % 64);
            self.events.extend(places[batch[slot].places.clone()].iter().map(|p| (p.state, lane as u8, p.arc)));
        }
        self.events.sort_unstable();
        // The slots of a group follow each other, so that few words have any of them.
        let from = mask.iter().position(|&m| m != 0).unwrap_or(0);
        let to = mask.iter().rposition(|&m| m != 0).map_or(0, |w| w + 1);
        let size = (last - first) as usize + 1;
        if self.seen.len() < size {
            self.seen.resize(size, [0.0; LANES]);
            self.active.resize(size.div_ceil(64), 0);
        }
        let mut sums = [0.0; LANES];
        let mut event = 0;
        let mut word = 0;
        loop {
            // The next state with mass, and the next with an arc of the group: whichever comes first.
            while word < size.div_ceil(64) && self.active[word] == 0 {
                word += 1;
            }
            let moved = if word < size.div_ceil(64) {
                first as u64 + word as u64 * 64 + self.active[word].trailing_zeros() as u64
            } else {
                u64::MAX
            };
            let completed = self.events.get(event).map_or(u64::MAX, |e| e.0 as u64);
            if moved.min(completed) == u64::MAX {
                break;
            }
            let x = moved.min(completed) as StateId;
            let mut seen = [0.0; LANES];
            if moved <= completed {
                let at = (x - first) as usize;
                seen = std::mem::replace(&mut self.seen[at], [0.0; LANES]);
                self.active[at / 64] &= !(1 << (at % 64));
                for a in expansion.arcs(x).iter().filter(|a| a.next <= last) {
                    let to_state = (a.next - first) as usize;
                    if (from..to).any(|w| self.reach[to_state][w] & mask[w] != 0) {
                        let q = p.arc[a.arc as usize];
                        self.seen[to_state].iter_mut().zip(seen).for_each(|(t, m)| *t += m * q);
                        self.active[to_state / 64] |= 1 << (to_state % 64);
                    }
                }
            }
            while let Some(&(_, lane, arc)) = self.events.get(event).filter(|e| e.0 == x) {
                event += 1;
                let a = &expansion.arcs[arc as usize];
                let new = (p.state[x as usize] - seen[lane as usize]).max(0.0) * p.arc[a.arc as usize];
                sums[lane as usize] += new;
                if a.next <= last {
                    let to_state = (a.next - first) as usize;
                    if (from..to).any(|w| self.reach[to_state][w] & mask[w] != 0) {
                        self.seen[to_state][lane as usize] += new;
                        self.active[to_state / 64] |= 1 << (to_state % 64);
                        // It may lie before the state with mass that was to be next.
                        word = word.min(to_state / 64);
                    }
                }
            }
        }
        sums
    }
}
