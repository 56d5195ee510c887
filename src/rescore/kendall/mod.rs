//! Consensus of permutations: the order of least expected Kendall loss (Stanojević and Sima'an 2015, section 3.3, eqs. 3 to 8).
//!
//! The loss of an order is the share of word pairs that it has the wrong way round; its expectation is linear in the
//! skip-bigrams (ordered pairs) of the order, so that all that is ever needed is how probable it is that word i comes
//! before word j: `Pairs`. The best order gathers the most of it (eq. 8). Over which orders, is the choice:
//! those of a sample (`samples`, the paper's rule), those of a lattice (`paths`), or all there are (`linear`).
//! Counting costs O(k n²) for k samples of n words and O(E n) for a lattice of E arcs; a table of n² numbers is kept.

mod branch;
pub mod linear;
pub mod paths;
pub mod samples;

pub const OP: &str = "rescore-consensus";

/// Words of a permutation at most: the table of pairs has the square of it, 128 MB.
pub const MOST_WORDS: usize = 4096;

/// How much of the probability has word i before word j, for all words 0 to n − 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    n: usize,
    /// `mass[j * n + i]`: i is before j. Not normalised, so that counts stay whole numbers and equal orders stay equal.
    mass: Vec<f64>,
    total: f64,
}

impl Pairs {
    pub fn new(n: usize) -> Self {
        Pairs { n, mass: vec![0.0; n * n], total: 0.0 }
    }
    pub fn len(&self) -> usize {
        self.n
    }
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
    /// Mass of the orders with i before j.
    #[inline(always)]
    pub fn before(&self, i: usize, j: usize) -> f64 {
        self.mass[j * self.n + i]
    }
    /// What comes before word j: one number a word.
    fn row(&self, j: usize) -> &[f64] {
        &self.mass[j * self.n..][..self.n]
    }

    /// An order of some mass.
    pub fn add(&mut self, order: &[u32], mass: f64) {
        for (place, &j) in order.iter().enumerate() {
            let row = &mut self.mass[j as usize * self.n..][..self.n];
            for &i in &order[..place] {
                row[i as usize] += mass;
            }
        }
        self.total += mass;
    }

    /// The mass of the pairs that an order has the right way round.
    pub fn gain(&self, order: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (place, &j) in order.iter().enumerate() {
            let row = self.row(j as usize);
            sum += order[..place].iter().map(|&i| row[i as usize]).sum::<f64>();
        }
        sum
    }

    fn answer(&self, order: Vec<u32>, bound: Option<f64>) -> Answer {
        // Nothing comes out but by this sum, whatever found the order.
        let gain = self.gain(&order) / self.total;
        let bound = bound.map_or(gain, |b| (b / self.total).max(gain));
        Answer { order, gain, bound, proven: bound <= gain }
    }
}

/// An order, and how good it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub order: Vec<u32>,
    /// Expected number of pairs in the right order (eq. 8).
    pub gain: f64,
    /// No order that was asked for has a higher gain than this.
    pub bound: f64,
    /// No order that was asked for has a higher gain than this one.
    pub proven: bool,
}

impl Answer {
    /// Expected share of pairs in the wrong order (eq. 3 with the loss of eq. 4).
    pub fn loss(&self) -> f64 {
        let n = self.order.len() as f64;
        if n < 2.0 { 0.0 } else { (1.0 - self.gain / (n * (n - 1.0) / 2.0)).max(0.0) }
    }
}
