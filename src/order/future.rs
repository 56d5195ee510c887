//! What the words that a hypothesis lacks are expected to cost, for comparing hypotheses with different words behind them.
//!
//! A word costs at least, nearly, what it costs after the word before it that suits it best: any word of the bag (`least`),
//! or, closer, a word that is still to come or the last one there is (`Left`). The second sees that a hypothesis has used up
//! what others need: with no "of" left, "course" is dear. Both look at one word of context and are not bounds: longer
//! contexts may make a word cheaper. They are for pruning only, no cost of a sentence has them.
//!
//! words² model steps a bag. What the words that a set lacks cost after each other is found once for a set and kept a while
//! (`LeftCells`). A set that is longer by a phrase differs from it where a word of the phrase was the best before another, so
//! that a longer hypothesis costs a nanosecond or so a word.

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
    /// `[word * words ..]`: the words before it with what it costs then, the best first.
    order: Vec<(f64, Type)>,
    /// The words before the end with what it costs then, the best first.
    end_order: Vec<(f64, Type)>,
    /// Of the end after each word.
    ends: Vec<f64>,
}

impl Left {
    /// `costs[word * words + before]`, and what the end costs after each word.
    pub fn new(costs: Vec<f64>, ends: Vec<f64>) -> Self {
        let n = ends.len();
        let sorted = |costs: &[f64]| {
            let mut order: Vec<(f64, Type)> = costs.iter().copied().zip(0..).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            order
        };
        let order = (0..n).flat_map(|w| sorted(&costs[w * n..(w + 1) * n])).collect();
        let after = (0..n * n).map(|i| costs[i % n * n + i / n]).collect();
        Left { after, order, end_order: sorted(&ends), ends }
    }
}

/// Numbers that are kept at most, of all sets together.
const KEPT: usize = 1 << 21;

/// No word, or the end of a list.
const NONE: u32 = u32::MAX;

/// What the words that sets lack cost after each other, kept a while, and what those of a longer set cost.
pub struct LeftCells<'a, const W: usize> {
    bag: &'a Bag,
    left: &'a Left,
    table: HashMap<Cover<W>, usize, FxBuildHasher>,
    cells: Vec<Cell>,
    /// Of every set: for each word how many of it are lacking, then what it costs, if it is, after the best of the others
    /// that are lacking, infinity if there are none.
    numbers: Vec<f64>,
    /// Of every set: for each word, the best of the others.
    before: Vec<u32>,
    /// The set whose longer ones are asked about.
    at: usize,
    /// The words that have a word for their best, as lists: the first of each, and the next one.
    first: Vec<u32>,
    next: Vec<u32>,
    /// Tokens of a phrase.
    said: Vec<f64>,
}

/// The end after the best word that a set lacks, and the tokens that it lacks.
#[derive(Clone, Copy)]
struct Cell {
    end: f64,
    last: u32,
    tokens: usize,
}

/// The first of these words that is there, with its cost.
fn find(order: &[(f64, Type)], there: impl Fn(Type) -> bool) -> (f64, u32) {
    order.iter().find(|(_, v)| there(*v)).map_or((f64::INFINITY, NONE), |&(cost, v)| (cost, v))
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// What so many of each word cost together, each after the better of two. Four sums, so that none waits for the one before.
#[inline]
fn total(lacking: &[f64], best: &[f64], after: &[f64]) -> f64 {
    let (fours, rest) = lacking.as_chunks::<4>();
    let (best_fours, best_rest) = best.as_chunks::<4>();
    let (after_fours, after_rest) = after.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for ((l, b), a) in fours.iter().zip(best_fours).zip(after_fours) {
        for i in 0..4 {
            sums[i] += l[i] * least(b[i], a[i]);
        }
    }
    let last = rest.iter().zip(best_rest).zip(after_rest).map(|((l, &b), &a)| l * least(b, a));
    sums[0] + sums[1] + (sums[2] + sums[3]) + last.sum::<f64>()
}

impl<'a, const W: usize> LeftCells<'a, W> {
    pub fn new(bag: &'a Bag, left: &'a Left) -> Self {
        let n = bag.words.len();
        LeftCells {
            bag,
            left,
            table: HashMap::default(),
            cells: vec![],
            numbers: vec![],
            before: vec![],
            at: usize::MAX,
            first: vec![NONE; n],
            next: vec![NONE; n],
            said: vec![0.0; n],
        }
    }

    /// From now on a set is asked about, and what is longer by a phrase.
    pub fn enter(&mut self, cover: &Cover<W>) {
        let at = match self.table.get(cover) {
            Some(&at) => at,
            None => self.add(cover),
        };
        if self.at == at {
            return;
        }
        self.at = at;
        let n = self.bag.words.len();
        self.first.fill(NONE);
        for w in 0..n {
            let v = self.before[at * n + w];
            if v != NONE {
                self.next[w] = std::mem::replace(&mut self.first[v as usize], w as u32);
            }
        }
    }

    /// Word by word, what one of each costs that the set lacks, if its last word is `last`. A longer set's words cost no less.
    pub fn each(&self, last: Type, costs: &mut Vec<f64>) {
        let n = self.bag.words.len();
        let best = &self.numbers[(2 * self.at + 1) * n..][..n];
        let after = &self.left.after[last as usize * n..][..n];
        costs.clear();
        costs.extend(best.iter().zip(after).map(|(&best, &after)| least(best, after)));
    }

    /// What the words cost, and the end, that are lacking when these words are said, too.
    pub fn after(&mut self, words: &[Type]) -> f64 {
        let (n, left, cell) = (self.bag.words.len(), self.left, self.cells[self.at]);
        let Some(&last) = words.last() else { return f64::INFINITY };
        // The last word is not the last of the sentence if something is left.
        if words.len() >= cell.tokens {
            return left.ends[last as usize];
        }
        words.iter().for_each(|&w| self.said[w as usize] += 1.0);
        let (lacking, best) = self.numbers[2 * self.at * n..][..2 * n].split_at(n);
        let after = &left.after[last as usize * n..][..n];
        let mut sum = total(lacking, best, after);
        for (i, &v) in words.iter().enumerate() {
            sum -= least(best[v as usize], after[v as usize]);
            if words[..i].contains(&v) {
                continue;
            }
            // Words whose best one before them may be gone.
            let mut w = self.first[v as usize];
            while w != NONE {
                let t = w as usize;
                let there = |u: Type| {
                    let itself = f64::from(u8::from(u == w));
                    lacking[u as usize] - self.said[u as usize] > itself
                };
                let left_over = lacking[t] - self.said[t];
                if left_over > 0.0 && !there(v) {
                    let (cost, _) = find(&left.order[t * n..(t + 1) * n], there);
                    sum += left_over * (least(cost, after[t]) - least(best[t], after[t]));
                }
                w = self.next[t];
            }
        }
        let there = |v: Type| lacking[v as usize] > self.said[v as usize];
        sum += if there(cell.last) { cell.end } else { find(&left.end_order, there).0 };
        words.iter().for_each(|&w| self.said[w as usize] = 0.0);
        sum
    }

    fn add(&mut self, cover: &Cover<W>) -> usize {
        if self.numbers.len() >= KEPT {
            self.table.clear();
            self.cells.clear();
            self.numbers.clear();
            self.before.clear();
            self.at = usize::MAX;
        }
        let (bag, left) = (self.bag, self.left);
        let n = bag.words.len();
        let (at, from) = (self.cells.len(), self.numbers.len());
        self.numbers.extend((0..n).map(|t| f64::from(bag.counts[t]) - bag.count(cover, t as Type) as f64));
        for w in 0..n {
            if self.numbers[from + w] == 0.0 {
                // Nobody asks for what it costs.
                self.numbers.push(0.0);
                self.before.push(NONE);
                continue;
            }
            // A word is before itself if it is there twice.
            let there = |v: Type| self.numbers[from + v as usize] > f64::from(u8::from(v as usize == w));
            let (cost, v) = find(&left.order[w * n..(w + 1) * n], there);
            self.numbers.push(cost);
            self.before.push(v);
        }
        let (end, last) = find(&left.end_order, |v| self.numbers[from + v as usize] > 0.0);
        let tokens = self.numbers[from..from + n].iter().sum::<f64>() as usize;
        self.cells.push(Cell { end, last, tokens });
        self.table.insert(*cover, at);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn words_cost_what_they_cost_after_the_best_that_is_left() {
        // Words a a b c; the cost of a word after another is 10 · word + before, from 1.
        let bag = Bag::new("a a b c".split(' ')).unwrap();
        let costs = (0..9).map(|i| (10 * (i / 3 + 1) + i % 3 + 1) as f64).collect();
        let left = Left::new(costs, vec![5.0, 3.0, 4.0]);
        let mut cells = LeftCells::<1>::new(&bag, &left);
        cells.enter(&Cover::EMPTY);
        // After c: two of a after a, b after a, the end after b.
        assert_eq!(cells.after(&[2]), 11.0 + 11.0 + 21.0 + 3.0);
        // After b: one a is left, which is not before itself; c after a.
        assert_eq!(cells.after(&[0, 1]), 12.0 + 31.0 + 4.0);
        // One word is left.
        assert_eq!(cells.after(&[0, 0, 2]), 23.0 + 3.0);
        assert_eq!(cells.after(&[0, 0, 2, 1]), 3.0);
        let mut each = vec![];
        cells.enter(&bag.cover(&[0, 1]).unwrap());
        cells.each(1, &mut each);
        assert_eq!((each[0], each[2]), (12.0, 31.0));
    }

    /// However a set is reached, its words cost what they cost by looking at all words before all words.
    #[test]
    fn longer_sets_cost_what_they_cost_by_themselves() {
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..300 {
            let tokens: Vec<String> =
                (0..rng.random_range(2..12)).map(|_| rng.random_range(0..7).to_string()).collect();
            let bag = Bag::new(tokens.iter().map(String::as_str)).unwrap();
            let n = bag.words.len();
            // Whole numbers, so that sums are the same in any order.
            let costs: Vec<f64> = (0..n * n).map(|_| f64::from(rng.random_range(0..20))).collect();
            let ends: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..20))).collect();
            let left = Left::new(costs.clone(), ends.clone());
            let mut cells = LeftCells::<1>::new(&bag, &left);
            let tokens: Vec<Type> = (0..n).flat_map(|t| vec![t as Type; bag.counts[t] as usize]).collect();
            for _ in 0..5 {
                let mut said = tokens.clone();
                for i in (1..said.len()).rev() {
                    said.swap(i, rng.random_range(0..=i));
                }
                let end = rng.random_range(1..=said.len());
                let begin = rng.random_range(0..end);
                let mut rest = bag.counts.clone();
                said[..end].iter().for_each(|&t| rest[t as usize] -= 1);
                let last = said[end - 1] as usize;
                let there = |v: usize, w: usize| rest[v] > u32::from(v == w) || v == last;
                let best =
                    |w: usize| (0..n).filter(|&v| there(v, w)).map(|v| costs[w * n + v]).fold(f64::INFINITY, f64::min);
                let words: f64 = (0..n).filter(|&w| rest[w] > 0).map(|w| f64::from(rest[w]) * best(w)).sum();
                let at_end = match end == said.len() {
                    true => ends[last],
                    false => (0..n).filter(|&v| rest[v] > 0).map(|v| ends[v]).fold(f64::INFINITY, f64::min),
                };
                cells.enter(&bag.cover(&said[..begin]).unwrap());
                assert_eq!(cells.after(&said[begin..end]), words + at_end);
                // What one phrase leaves behind does not change the next.
                assert_eq!(cells.after(&said[begin..end]), words + at_end);
            }
        }
    }
}
