//! A small expansion composed with language models as a whole, in topological order, and cut to any beam.
//!
//! Where the whole composition fits, this takes a fraction of the time of a search that looks ahead: there is no queue, a pair
//! of lattice state and models' state is numbered once, and nothing but the pair an arc leads to and what the models charge is
//! kept of an arc. Costs to the end, in f64, then say what a path in the beam uses; the beam may change afterwards.
//!
//! One model step and one look-up an arc, 12 bytes an arc and 28 a pair.

use crate::fst::flat::{Arc, Builder, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Tropical;
use crate::fst::statetable::StateTable;
use crate::lm::apply::scorer::Scorer;

/// The composition. Pairs are rows, in topological order; the arcs of a row are those of its lattice state.
pub struct Whole<'a> {
    lattice: &'a FlatFst<Tropical>,
    /// Of each row the lattice state.
    states: Vec<StateId>,
    offsets: Vec<u32>,
    /// Of each arc the row that it leads to.
    next: Vec<u32>,
    /// Of each arc what the models charge.
    charged: Vec<f64>,
    /// Of each row the least cost to an end.
    backward: Vec<f64>,
    /// Of each row what the models charge for an end.
    ends: Vec<f64>,
}

const NONE: u32 = u32::MAX;

/// Composes a lattice without cycles, its states in topological order; `None`: it takes more than so many bytes.
pub fn compose<'a, S: Scorer>(lattice: &'a FlatFst<Tropical>, scorer: &mut S, max_bytes: usize) -> Option<Whole<'a>> {
    let n = lattice.num_states();
    let mut pairs = StateTable::default();
    // Pairs of a lattice state as a chain, newest first.
    let mut newest = vec![NONE; n];
    let mut older: Vec<u32> = vec![];
    let mut row_of: Vec<u32> = vec![];
    let mut whole = Whole {
        lattice,
        states: vec![],
        offsets: vec![0],
        next: vec![],
        charged: vec![],
        backward: vec![],
        ends: vec![],
    };
    if lattice.start() == NO_STATE {
        return Some(whole);
    }
    let first = scorer.start();
    pairs.number((lattice.start() as u64) << 32 | first as u64);
    newest[lattice.start() as usize] = 0;
    older.push(NONE);
    row_of.push(NONE);
    for s in lattice.states() {
        let arcs = lattice.arcs(s);
        let mut pair = newest[s as usize];
        while pair != NONE {
            let models = pairs.key(pair) as u32;
            row_of[pair as usize] = whole.states.len() as u32;
            whole.states.push(s);
            for a in arcs {
                let (to, cost) = if a.ilabel == 0 { (models, 0.0) } else { scorer.step(models, a.ilabel as u32) };
                let number = pairs.number((a.nextstate as u64) << 32 | to as u64);
                if number as usize == older.len() {
                    older.push(std::mem::replace(&mut newest[a.nextstate as usize], number));
                    row_of.push(NONE);
                }
                whole.next.push(number);
                whole.charged.push(cost);
            }
            whole.offsets.push(whole.next.len() as u32);
            whole.ends.push(if lattice.is_final(s) { scorer.end(models) } else { f64::INFINITY });
            pair = older[pair as usize];
        }
        if 12 * whole.next.len() + 12 * older.len() + 16 * whole.states.len() + pairs.bytes() > max_bytes {
            return None;
        }
    }
    whole.next.iter_mut().for_each(|to| *to = row_of[*to as usize]);
    whole.look_back();
    Some(whole)
}

impl Whole<'_> {
    fn look_back(&mut self) {
        self.backward = vec![f64::INFINITY; self.states.len()];
        for row in (0..self.states.len()).rev() {
            let state = self.states[row];
            let mut least = self.lattice.final_weight(state).0 as f64 + self.ends[row];
            let from = self.offsets[row] as usize;
            for (a, i) in self.lattice.arcs(state).iter().zip(from..) {
                least = least.min(a.weight.0 as f64 + self.charged[i] + self.backward[self.next[i] as usize]);
            }
            self.backward[row] = least;
        }
    }

    /// What a path uses that is at most `beam` worse than the best: the lattice's own costs.
    pub fn within(&self, beam: f64) -> FlatFst<Tropical> {
        let Some(&best) = self.backward.first().filter(|b| b.is_finite()) else { return FlatFst::empty() };
        // Two ways to the same sum may differ in its last bits.
        let limit = best + beam + 1e-9 * (1.0 + best.abs() + beam.min(1e9));
        let mut forward = vec![f64::INFINITY; self.states.len()];
        let mut place = vec![NO_STATE; self.states.len()];
        forward[0] = 0.0;
        let mut kept = 0;
        for row in 0..self.states.len() {
            let before = forward[row];
            if before + self.backward[row] > limit || !self.backward[row].is_finite() {
                continue;
            }
            place[row] = kept;
            kept += 1;
            let from = self.offsets[row] as usize;
            for (a, i) in self.lattice.arcs(self.states[row]).iter().zip(from..) {
                let to = self.next[i] as usize;
                let via = before + a.weight.0 as f64 + self.charged[i];
                if via + self.backward[to] <= limit {
                    forward[to] = forward[to].min(via);
                }
            }
        }
        let mut out = Builder::with_capacity(kept as usize, kept as usize);
        for row in (0..self.states.len()).filter(|&row| place[row] != NO_STATE) {
            let (state, before) = (self.states[row], forward[row]);
            let end = self.lattice.final_weight(state);
            let ends = before + end.0 as f64 + self.ends[row] <= limit && self.ends[row].is_finite();
            out.add_state(if ends { end } else { Tropical(f32::INFINITY) });
            let from = self.offsets[row] as usize;
            for (a, i) in self.lattice.arcs(state).iter().zip(from..) {
                let to = self.next[i] as usize;
                let via = before + a.weight.0 as f64 + self.charged[i] + self.backward[to];
                if via <= limit && via.is_finite() {
                    out.push_arc(Arc { nextstate: place[to], ..*a });
                }
            }
        }
        out.set_start(0);
        out.finish()
    }
}
