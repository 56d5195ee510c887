//! The path of the highest linear BLEU (Sokolov, Wisniewski and Yvon 2012, section 3: LB-4g).
//!
//! The corpus' BLEU is approximated by a sum over the words of a path: −1 for every word and 1/(4 p r^(n−1)) for every
//! n-gram of orders 1 to 4 that a reference has, as often as it comes (no clipping). p is about the precision of single
//! words and r how much less that of each higher order is. The lattice is combined with the automaton of the references' n-grams once,
//! so that the gain of an arc is known from the longest match that it ends; best paths for any p and r are then O(V + E) of
//! the product. Its states are those of the lattice, times the suffixes of at most three words that some reference has and
//! that reach them. Sums are added from left to right, so the maximum is that over all paths to the last bit; of equal
//! paths the one of less cost is taken.

use super::bleu::ORDER;
use super::grams::Grams;
use super::{NO_WORD, OP};
use crate::error::{Error, Result};
use crate::fst::flat::StateId;
use crate::fst::statetable::StateTable;
use crate::rescore::lattice::Lattice;

/// What a word gains that ends a longest match of 0 to 4 words.
pub type Gains = [f64; ORDER + 1];

pub fn gains(p: f64, r: f64) -> Gains {
    let mut gains = [-1.0; ORDER + 1];
    for n in 1..=ORDER {
        gains[n] = gains[n - 1] + 1.0 / (ORDER as f64 * p * r.powi(n as i32 - 1));
    }
    gains
}

/// The longest match of an arc that is no word.
const NOTHING: u8 = ORDER as u8 + 1;

/// The lattice combined with the n-grams of the references.
pub struct Product {
    /// The nodes in topological order: their states of the lattice, and where their arcs begin.
    nodes: Vec<Node>,
    arcs: Vec<ProductArc>,
    /// Numbers go up to here.
    len: usize,
}

struct Node {
    state: StateId,
    number: u32,
    arcs: u32,
}

struct ProductArc {
    /// The arc of the lattice.
    arc: u32,
    /// Number of the node it leads to.
    to: u32,
    matched: u8,
}

impl Product {
    /// `words` are the numbers of the words on the arcs of the lattice.
    pub fn new(lattice: &Lattice, words: &[u32], references: &[Vec<u32>], max_states: usize) -> Result<Self> {
        let grams = Grams::new(references);
        let mut table = StateTable::default();
        let mut at: Vec<Vec<u32>> = vec![vec![]; lattice.num_states()];
        let key = |state: StateId, gram: u32| (state as u64) << 32 | gram as u64;
        at[0].push(table.number(key(0, 0)));
        let mut product = Product { nodes: vec![], arcs: vec![], len: 0 };
        for s in lattice.states() {
            for number in std::mem::take(&mut at[s as usize]) {
                product.nodes.push(Node { state: s, number, arcs: product.arcs.len() as u32 });
                let gram = table.key(number) as u32;
                for (i, arc) in lattice.range(s).zip(lattice.arcs(s)) {
                    let (next, matched) =
                        if words[i] == NO_WORD { (gram, NOTHING) } else { grams.step(gram, words[i]) };
                    let known = table.len();
                    let to = table.number(key(arc.next, next));
                    if table.len() > known {
                        at[arc.next as usize].push(to);
                    }
                    product.arcs.push(ProductArc { arc: i as u32, to, matched });
                }
                if table.len() > max_states || product.arcs.len() > u32::MAX as usize / 2 {
                    let message =
                        "the lattice has too many ways to match the references; prune it, or raise --max-states";
                    return Err(Error::limit(OP, format!("{max_states} states"), message));
                }
            }
        }
        product.len = table.len();
        Ok(product)
    }

    /// The arcs of the lattice's best path, and the cost of its end.
    pub fn best(&self, lattice: &Lattice, gains: &Gains) -> (Vec<usize>, f64) {
        const NONE: u32 = u32::MAX;
        #[derive(Clone, Copy)]
        struct Best {
            gain: f64,
            cost: f64,
            from: u32,
            arc: u32,
        }
        let better = |a: (f64, f64), b: (f64, f64)| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1);
        let nothing = Best { gain: f64::NEG_INFINITY, cost: f64::INFINITY, from: NONE, arc: NONE };
        let mut best = vec![nothing; self.len];
        best[0] = Best { gain: 0.0, cost: 0.0, ..nothing };
        let (mut end, mut end_at, mut end_cost) = ((f64::NEG_INFINITY, f64::INFINITY), NONE, 0.0);
        for (i, node) in self.nodes.iter().enumerate() {
            let here = best[node.number as usize];
            let last = lattice.finals[node.state as usize];
            if last < f64::INFINITY && (end_at == NONE || better((here.gain, here.cost + last), end)) {
                (end, end_at, end_cost) = ((here.gain, here.cost + last), node.number, last);
            }
            let to = self.nodes.get(i + 1).map_or(self.arcs.len(), |n| n.arcs as usize);
            for arc in &self.arcs[node.arcs as usize..to] {
                let gain = if arc.matched == NOTHING { here.gain } else { here.gain + gains[arc.matched as usize] };
                let cost = here.cost + lattice.arcs[arc.arc as usize].cost;
                let old = &mut best[arc.to as usize];
                if old.from == NONE || better((gain, cost), (old.gain, old.cost)) {
                    *old = Best { gain, cost, from: node.number, arc: arc.arc };
                }
            }
        }
        let mut path = vec![];
        let mut at = end_at;
        while let Some(b) = best.get(at as usize).filter(|b| b.from != NONE) {
            path.push(b.arc as usize);
            at = b.from;
        }
        path.reverse();
        (path, end_cost)
    }
}
