//! Colours of states by what lies around them: states of different colours are never paired.
//!
//! Every state begins with the class of its final weight; then, round by round, it takes in the labels, weights and colours
//! of its arcs and of those that lead to it (Weisfeiler and Leman), as a sum of hashes, so that their order plays no part.
//! What is the same up to numbers gets the same colours; where hashes meet by chance only time is lost. A round costs
//! O(E + V log V); there are as many as tell more states apart, and no more than the limit.

use crate::fst::flat::{FlatFst, StateId};
use crate::fst::semiring::Weight;
use crate::fst::visit::accessible;

/// Arcs that rounds look at, all together, but for the first eight rounds.
const LIMIT: usize = 200_000_000;

/// The colours of the states of both, 0 for states that the start does not reach; `None` if the two are different because
/// their colours are.
pub(super) fn colours<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Option<[Vec<u64>; 2]> {
    let classes = Classes::of(a, b, delta);
    let mut sides = [Side::new(a, &classes), Side::new(b, &classes)];
    let mut before = 0;
    for round in 0.. {
        let sorted = sides.each_ref().map(Side::sorted);
        if sorted[0] != sorted[1] {
            return None;
        }
        let apart = sorted[0].chunk_by(|x, y| x == y).count();
        if apart == before || (round > 8 && round * a.num_arcs() > LIMIT) {
            break;
        }
        before = apart;
        sides.iter_mut().for_each(Side::round);
    }
    Some(sides.map(|side| side.colours))
}

/// Weights that may be equal are of one class: those that are connected by steps within `delta`.
struct Classes<W> {
    sorted: Vec<W>,
    class: Vec<u32>,
}

impl<W: Weight> Classes<W> {
    fn of(a: &FlatFst<W>, b: &FlatFst<W>, delta: f32) -> Self {
        let weights = |f: &FlatFst<W>| -> Vec<W> {
            f.states().map(|s| f.final_weight(s)).chain(f.all_arcs().iter().map(|x| x.weight)).collect()
        };
        let mut sorted = weights(a);
        sorted.append(&mut weights(b));
        sorted.sort_by(|x, y| x.to_f64().total_cmp(&y.to_f64()));
        let mut class = vec![0; sorted.len()];
        for i in 1..sorted.len() {
            class[i] = class[i - 1] + !sorted[i - 1].approx_eq(sorted[i], delta) as u32;
        }
        Classes { sorted, class }
    }
    fn get(&self, w: W) -> u64 {
        let at = self.sorted.partition_point(|x| x.to_f64().total_cmp(&w.to_f64()).is_lt());
        u64::from(self.class[at])
    }
}

/// The arcs that the start reaches, as source, target and what they are.
struct Side {
    reached: Vec<bool>,
    colours: Vec<u64>,
    arcs: Vec<(StateId, StateId, u64)>,
    /// What a round gathers.
    sums: Vec<u64>,
}

impl Side {
    fn new<W: Weight>(f: &FlatFst<W>, classes: &Classes<W>) -> Self {
        let reached = accessible(f);
        let colour = |s: StateId| match reached[s as usize] {
            false => 0,
            true if s == f.start() => mix(1, classes.get(f.final_weight(s))),
            true => mix(2, classes.get(f.final_weight(s))),
        };
        let mut arcs = vec![];
        for s in f.states().filter(|&s| reached[s as usize]) {
            for x in f.arcs(s) {
                let labels = (x.ilabel as u32 as u64) << 32 | u64::from(x.olabel as u32);
                arcs.push((s, x.nextstate, mix(labels, classes.get(x.weight))));
            }
        }
        let colours = f.states().map(colour).collect();
        Side { colours, arcs, sums: vec![0; f.num_states()], reached }
    }
    fn round(&mut self) {
        self.sums.fill(0);
        for &(s, t, what) in &self.arcs {
            let (s, t) = (s as usize, t as usize);
            self.sums[s] = self.sums[s].wrapping_add(mix(what, self.colours[t]));
            self.sums[t] = self.sums[t].wrapping_add(mix(!what, self.colours[s]));
        }
        for (colour, sum) in self.colours.iter_mut().zip(&self.sums) {
            if *colour != 0 {
                *colour = mix(*colour, *sum);
            }
        }
    }
    fn sorted(&self) -> Vec<u64> {
        let reached = self.colours.iter().zip(&self.reached).filter(|(_, r)| **r);
        let mut sorted: Vec<u64> = reached.map(|(c, _)| *c).collect();
        sorted.sort_unstable();
        sorted
    }
}

/// A hash of two words, in their order; never 0, which is the colour of states out of reach.
fn mix(x: u64, y: u64) -> u64 {
    let wide = u128::from(x ^ 0x9e37_79b9_7f4a_7c15) * u128::from(y.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    let folded = (wide as u64 ^ (wide >> 64) as u64).wrapping_add(x.rotate_left(23) ^ y);
    let stirred = (folded ^ folded >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (stirred ^ stirred >> 32) | 1
}
