//! What the words that a hypothesis lacks are expected to cost, for comparing hypotheses with different words behind them.
//!
//! A word costs at least, nearly, what it costs after the word before it that suits it best: any word of the bag (`least`),
//! or, closer, a word that is still to come or the last one there is (`Left`). The second sees that a hypothesis has used up
//! what others need: with no "of" left, "course" is dear. Both look at one word of context and are not bounds: longer
//! contexts may make a word cheaper. They are for pruning only, no cost of a sentence has them.
//!
//! words² model steps a bag; `Left` costs some ten nanoseconds a word that is left, for each new hypothesis.

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
    /// `[word * words + before]`.
    costs: Vec<f64>,
    /// Of every word, the words before it, the best first.
    order: Vec<Vec<Type>>,
    /// Of the end after each word.
    ends: Vec<f64>,
    end_order: Vec<Type>,
    /// No word costs less than nothing, so that sums only grow.
    grows: bool,
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
        let grows = costs.iter().chain(&ends).all(|&c| c >= 0.0);
        Left { order, end_order: sorted(&ends), costs, ends, grows }
    }

    /// What the words that a set lacks cost, and the end; of what is more than `limit`, only that it is more. `counts` is
    /// room to work in.
    pub fn cost<const W: usize>(
        &self,
        bag: &Bag,
        cover: &Cover<W>,
        last: Type,
        limit: f64,
        counts: &mut Vec<u32>,
    ) -> f64 {
        let n = bag.words.len();
        counts.clear();
        counts.extend((0..n).map(|t| bag.counts[t] - bag.count(cover, t as Type) as u32));
        let best = |costs: &[f64], order: &[Type], word: Option<Type>| {
            let least = costs[last as usize];
            for &v in order {
                let cost = costs[v as usize];
                if cost >= least {
                    break;
                }
                // A word is before itself if it is there twice.
                if counts[v as usize] > u32::from(word == Some(v)) {
                    return cost;
                }
            }
            least
        };
        let mut sum = 0.0;
        let mut any = false;
        let limit = if self.grows { limit } else { f64::INFINITY };
        for w in (0..n).filter(|&w| counts[w] > 0) {
            if sum > limit {
                return sum;
            }
            any = true;
            sum += counts[w] as f64 * best(&self.costs[w * n..(w + 1) * n], &self.order[w], Some(w as Type));
        }
        // The last word is not the last of the sentence if something is left.
        match any {
            true => {
                let end = self.end_order.iter().find(|&&v| counts[v as usize] > 0);
                sum + end.map_or(0.0, |&v| self.ends[v as usize])
            }
            false => self.ends[last as usize],
        }
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
        let cost = |words: &[Type]| {
            let cover: Cover<1> = bag.cover(words).unwrap();
            let cost = |limit| left.cost(&bag, &cover, words[words.len() - 1], limit, &mut vec![]);
            assert!(cost(12.5) == cost(f64::INFINITY) || cost(12.5) > 12.5);
            cost(f64::INFINITY)
        };
        // After c: two of a after a, b after a, the end after b.
        assert_eq!(cost(&[2]), 11.0 + 11.0 + 21.0 + 3.0);
        // After b: one a is left, which is not before itself; c after a.
        assert_eq!(cost(&[0, 1]), 12.0 + 31.0 + 4.0);
        // One word is left.
        assert_eq!(cost(&[0, 0, 2]), 23.0 + 3.0);
        assert_eq!(cost(&[0, 0, 2, 1]), 3.0);
    }
}
