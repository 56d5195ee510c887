//! What rules cost: features of phrases and their weights, a log-linear model beside the language models.

use super::Orders;
use crate::decode::weights::Weights;
use crate::error::Result;

/// A rule was used.
pub const PHRASE: &str = "Phrase";
/// The logarithm of how often the text collection has the phrase.
pub const LOG_COUNT: &str = "LogCount";
/// A word that the text collection does not have.
pub const UNSEEN: &str = "Unseen";
/// For every two words, how much more often the text has them the other way round, as a logarithm; 0 if it has not.
pub const BEFORE: &str = "Before";
/// `Order1`, `Order2`, ...: a phrase of so many words.
pub const ORDER: &str = "Order";

/// The weight of `Before` where none is given: the best of 0, 0.1, 0.2, 0.3 on held-out sentences of novels, with a 4-gram.
const DEFAULT_BEFORE: f64 = 0.2;

/// Added to counts of pairs.
const SMOOTH: f64 = 2.0;

/// The weights of rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleWeights {
    pub phrase: f64,
    pub log_count: f64,
    pub unseen: f64,
    pub before: f64,
    /// By length, from 1.
    pub orders: Vec<f64>,
}

impl RuleWeights {
    /// The weights of a file; a name that means nothing is an error.
    pub fn from(weights: &Weights, models: &[String]) -> Result<Self> {
        let orders: Vec<String> = (1..=Orders::MOST).map(|n| format!("{ORDER}{n}")).collect();
        let mut known = vec![PHRASE, LOG_COUNT, UNSEEN, BEFORE];
        known.extend(orders.iter().chain(models).map(String::as_str));
        if let Some(name) = weights.unused(&known).next() {
            let message = format!(
                "a weight for {name}, but there is no such feature; there are {PHRASE}, {LOG_COUNT}, {UNSEEN}, {BEFORE}, \
                 {ORDER}1 to {ORDER}{}, {}",
                Orders::MOST,
                models.join(", ")
            );
            return Err(weights.wrong(name, message));
        }
        let get = |name: &str| weights.get(name).unwrap_or(0.0);
        Ok(RuleWeights {
            phrase: get(PHRASE),
            log_count: get(LOG_COUNT),
            unseen: get(UNSEEN),
            before: weights.get(BEFORE).unwrap_or(DEFAULT_BEFORE),
            orders: orders.iter().map(|n| get(n)).collect(),
        })
    }

    /// What it costs that a word comes before another, `[first * words + second]`; empty if nothing does.
    pub fn before(&self, pairs: Option<Vec<u64>>, words: usize) -> Vec<f64> {
        let Some(pairs) = pairs.filter(|_| self.before != 0.0) else { return vec![] };
        let smooth = |a: usize, b: usize| pairs[a * words + b] as f64 + SMOOTH;
        let cost = |i: usize| (smooth(i % words, i / words) / smooth(i / words, i % words)).ln().max(0.0);
        (0..words * words).map(|i| self.before * cost(i)).collect()
    }

    /// What a phrase of `words` words costs that was seen `count` times.
    pub fn cost(&self, words: usize, count: u64) -> f64 {
        let order = self.orders.get(words - 1).copied().unwrap_or(0.0);
        match count {
            0 => self.phrase + order + self.unseen,
            _ => self.phrase + order + self.log_count * (count as f64).ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_add_up() {
        let w = RuleWeights { phrase: 1.0, log_count: -0.5, unseen: 7.0, before: 0.0, orders: vec![0.25, 0.5] };
        assert_eq!(w.cost(1, 0), 8.25);
        assert_eq!(w.cost(2, 1), 1.5);
        assert_eq!(w.cost(5, 1), 1.0);
        assert!((w.cost(1, 10) - (1.25 - 0.5 * 10f64.ln())).abs() < 1e-12);
    }
}
