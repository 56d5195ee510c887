//! What the words that a hypothesis lacks are expected to cost, for comparing hypotheses with different words behind them.
//!
//! A word costs at least, nearly, what it costs after the word before it that suits it best: any word of the bag (`least`),
//! or, closer, a word that is still to come or the last one there is (`Left`). The second sees that a hypothesis has used up
//! what others need: with no "of" left, "course" is dear. Both look at one word of context and are not bounds: longer
//! contexts may make a word cheaper. They are for pruning only, no cost of a sentence has them.
//!
//! words² model steps a bag. What the words that a set lacks cost after each other is found once for a set and kept a while
//! (`LeftCells`); then a hypothesis costs a nanosecond or so a word.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::chart::bag::{Bag, Cover, Type};

/// Expected costs of the words of a bag.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Of every word, whatever is before it.
    pub least: Vec<f64>,
    /// Of the end.
    pub end: f64,
    /// By what is left, if this is wanted.
    pub left: Option<Left>,
}

/// Costs of words after words.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// `[before * words + word]`.
    after: Vec<f64>,
    /// Of every word, the words before it, the best first.
    order: Vec<Vec<Type>>,
    /// Of the end after each word.
    ends: Vec<f64>,
    end_order: Vec<Type>,
}

impl Left {
    /// `costs[word * words + before]`, and what the end costs after each word.
    pub fn new(costs: Vec<f64>, ends: Vec<f64>) -> Self {
        let n = ends.len();
        let sorted = |costs: &[f64]| {
            let mut order: Vec<Type> = (0..n as Type).collect();
            order.sort_by(|&a, &b| costs[a as usize].total_cmp(&costs[b as usize]).then(a.cmp(&b)));
            order
        };
        let order = (0..n).map(|w| sorted(&costs[w * n..(w + 1) * n])).collect();
        let after = (0..n * n).map(|i| costs[i % n * n + i / n]).collect();
        Left { after, order, end_order: sorted(&ends), ends }
    }
}

/// Numbers that are kept at most, of all sets together.
const KEPT: usize = 1 << 21;

/// What the words that sets lack cost after each other, kept a while.
pub struct LeftCells<'a, const W: usize> {
    bag: &'a Bag,
    left: &'a Left,
    table: HashMap<Cover<W>, usize, FxBuildHasher>,
    /// Of every set: for each word how many of it are lacking, then what it costs after the best of the others that
    /// are lacking, infinity if there are none, then what the end costs after the best of them.
    numbers: Vec<f64>,
}

impl<'a, const W: usize> LeftCells<'a, W> {
    pub fn new(bag: &'a Bag, left: &'a Left) -> Self {
        LeftCells { bag, left, table: HashMap::default(), numbers: vec![] }
    }

    /// What the words that a set lacks cost, and the end, if the last word of the set is `last`.
    pub fn cost(&mut self, cover: &Cover<W>, last: Type) -> f64 {
        let (n, left) = (self.bag.words.len(), self.left);
        let numbers = self.numbers(cover);
        // The last word is not the last of the sentence if something is left.
        let end = numbers[2 * n];
        if end == f64::INFINITY {
            return left.ends[last as usize];
        }
        let (lacking, best) = (&numbers[..n], &numbers[n..2 * n]);
        let after = &left.after[last as usize * n..][..n];
        let mut sum = end;
        for w in 0..n {
            let cost = if best[w] < after[w] { best[w] } else { after[w] };
            sum += lacking[w] * cost;
        }
        sum
    }

    /// The same word by word: what one of each costs, of those that the set lacks. A longer set's words cost no less.
    pub fn each(&mut self, cover: &Cover<W>, last: Type, costs: &mut Vec<f64>) {
        let (n, left) = (self.bag.words.len(), self.left);
        let numbers = self.numbers(cover);
        let after = &left.after[last as usize * n..][..n];
        costs.clear();
        costs.extend(numbers[n..2 * n].iter().zip(after).map(|(best, after)| best.min(*after)));
    }

    fn numbers(&mut self, cover: &Cover<W>) -> &[f64] {
        let at = match self.table.get(cover) {
            Some(&at) => at,
            None => self.add(cover),
        };
        &self.numbers[at..=at + 2 * self.bag.words.len()]
    }

    fn add(&mut self, cover: &Cover<W>) -> usize {
        if self.numbers.len() >= KEPT {
            self.table.clear();
            self.numbers.clear();
        }
        let (bag, left) = (self.bag, self.left);
        let n = bag.words.len();
        let at = self.numbers.len();
        self.numbers.extend((0..n).map(|t| f64::from(bag.counts[t]) - bag.count(cover, t as Type) as f64));
        for w in 0..n {
            // A word is before itself if it is there twice.
            let there = |&&v: &&Type| self.numbers[at + v as usize] > f64::from(u8::from(v as usize == w));
            let before = left.order[w].iter().find(there);
            let cost = before.map_or(f64::INFINITY, |&v| left.after[v as usize * n + w]);
            self.numbers.push(cost);
        }
        let last = left.end_order.iter().find(|&&v| self.numbers[at + v as usize] > 0.0);
        self.numbers.push(last.map_or(f64::INFINITY, |&v| left.ends[v as usize]));
        self.table.insert(*cover, at);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cost_what_they_cost_after_the_best_that_is_left() {
        // Words a a b c; the cost of a word after another is 10 · word + before, from 1.
        let bag = Bag::new("a a b c".split(' ')).unwrap();
        let costs = (0..9).map(|i| (10 * (i / 3 + 1) + i % 3 + 1) as f64).collect();
        let left = Left::new(costs, vec![5.0, 3.0, 4.0]);
        let mut cells = LeftCells::<1>::new(&bag, &left);
        let mut cost = |words: &[Type]| cells.cost(&bag.cover(words).unwrap(), words[words.len() - 1]);
        // After c: two of a after a, b after a, the end after b.
        assert_eq!(cost(&[2]), 11.0 + 11.0 + 21.0 + 3.0);
        // After b: one a is left, which is not before itself; c after a.
        assert_eq!(cost(&[0, 1]), 12.0 + 31.0 + 4.0);
        // One word is left.
        assert_eq!(cost(&[0, 0, 2]), 23.0 + 3.0);
        assert_eq!(cost(&[0, 0, 2, 1]), 3.0);
        let mut each = vec![];
        cells.each(&bag.cover(&[0, 1]).unwrap(), 1, &mut each);
        assert_eq!((each[0], each[2]), (12.0, 31.0));
    }
}
