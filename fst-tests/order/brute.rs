//! Random bags with repeated words, random phrases, a model whose costs are exact, and all sentences by plain recursion: no
//! cells, no trie, no automata.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc as Shared;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use weft::chart::bag::{Bag, Type};
use weft::lm::{LanguageModel, LmState, WordId};
use weft::order::features::RuleWeights;
use weft::order::models::OrderModel;
use weft::order::table::Phrases;
use weft::order::{Algorithm, Future, OrderConfig, Orderer, Orders, vocabulary};

/// A trigram model made up of a hash; costs are multiples of 1/8, so that sums are exact.
pub struct Toy(pub u64);

impl Toy {
    fn cost(&self, state: u64, word: u64) -> f64 {
        let h = (state * 31 + word + self.0 * 1_000_003).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (1 + h % 64) as f64 / 8.0
    }
}

impl LanguageModel for Toy {
    fn word(&self, word: &str) -> Option<WordId> {
        word.bytes().next().map(|b| (b - b'a') as WordId + 3)
    }
    fn null(&self) -> LmState {
        0
    }
    fn begin(&self) -> Option<LmState> {
        Some(1)
    }
    fn end_word(&self) -> Option<WordId> {
        Some(2)
    }
    fn step(&self, state: LmState, word: WordId) -> (LmState, f64) {
        (state % 64 * 64 + word, self.cost(state as u64, word as u64))
    }
}

/// A bag, its phrases and what the orders of pairs were.
pub struct Case {
    pub tokens: Vec<String>,
    pub phrases: Vec<(Vec<String>, u64)>,
    pub pairs: BTreeMap<(String, String), u64>,
    pub toy: u64,
}

impl Phrases for Case {
    fn phrases(&self, bag: &Bag, orders: Orders) -> Vec<(Vec<Type>, u64)> {
        let of = |(words, count): &(Vec<String>, u64)| {
            let types: Option<Vec<Type>> = words.iter().map(|w| bag.find(w)).collect();
            let types = types.filter(|t| orders.has(t.len()) && bag.cover::<1>(t).is_some())?;
            Some((types, *count))
        };
        self.phrases.iter().filter_map(of).collect()
    }
    fn pairs(&self, bag: &Bag) -> Option<Vec<u64>> {
        let count = |a: &String, b: &String| self.pairs.get(&(a.clone(), b.clone())).copied().unwrap_or(0);
        Some(bag.words.iter().flat_map(|a| bag.words.iter().map(move |b| count(a, b))).collect())
    }
}

pub fn case(seed: u64, most: usize, all_words: bool) -> Case {
    let mut rng = SmallRng::seed_from_u64(seed);
    let n = rng.random_range(1..=most);
    let letter = |rng: &mut SmallRng| ["a", "b", "c", "d", "e"][rng.random_range(0..5)].to_string();
    let tokens: Vec<String> = (0..n).map(|_| letter(&mut rng)).collect();
    let mut phrases: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for _ in 0..rng.random_range(2..14) {
        // Mostly of words of the bag, or few would fit.
        let length = rng.random_range(1..=4.min(n));
        let word = |rng: &mut SmallRng| match rng.random_bool(0.9) {
            true => tokens[rng.random_range(0..n)].clone(),
            false => letter(rng),
        };
        let words: Vec<String> = (0..length).map(|_| word(&mut rng)).collect();
        phrases.insert(words, rng.random_range(1..9));
    }
    if all_words {
        phrases.extend(tokens.iter().map(|t| (vec![t.clone()], 3)));
    }
    let mut pairs = BTreeMap::new();
    for _ in 0..12 {
        pairs.insert((letter(&mut rng), letter(&mut rng)), rng.random_range(0..20));
    }
    Case { tokens, phrases: phrases.into_iter().collect(), pairs, toy: seed }
}

impl Case {
    pub fn orderer(&self, config: OrderConfig, weights: RuleWeights) -> Orderer<'_> {
        let vocab = vocabulary(self.tokens.iter().map(String::as_str));
        let model =
            OrderModel { model: Shared::new(Toy(self.toy)), scale: 1.0, name: "toy".into(), feature: "LM".into() };
        Orderer { phrases: self, models: vec![model], second: vec![], weights, config, vocab }
    }
    pub fn tokens(&self) -> Vec<&str> {
        self.tokens.iter().map(String::as_str).collect()
    }

    /// Every sentence that phrases can make, with its least cost; words that are in no phrase of the bag are phrases, too.
    pub fn sentences(&self, weights: &RuleWeights, orders: Orders, overlap: usize) -> BTreeMap<String, f64> {
        let fits = |words: &Vec<String>| {
            let count = |w: &String, of: &[String]| of.iter().filter(|x| *x == w).count();
            orders.has(words.len()) && words.iter().all(|w| count(w, words) <= count(w, &self.tokens))
        };
        let mut rules: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for (words, count) in self.phrases.iter().filter(|(w, _)| fits(w)) {
            rules.insert(words.clone(), weights.cost(words.len(), *count));
        }
        let said: BTreeSet<String> = rules.keys().flatten().cloned().collect();
        for token in self.tokens.iter().filter(|t| !said.contains(*t)) {
            let seen = self.phrases.iter().find(|(w, _)| w[..] == [token.clone()]).map_or(0, |(_, c)| *c);
            rules.insert(vec![token.clone()], weights.cost(1, seen));
        }
        let mut found = BTreeMap::new();
        for sentence in permutations(&self.tokens) {
            if let Some(cost) = segmented(&sentence, &rules, overlap) {
                found
                    .insert(sentence.join(" "), cost + self.model_cost(&sentence) + self.pair_cost(&sentence, weights));
            }
        }
        found
    }

    fn model_cost(&self, sentence: &[String]) -> f64 {
        let toy = Toy(self.toy);
        let (mut state, mut sum) = (1, 0.0);
        for word in sentence {
            let (next, cost) = toy.step(state, toy.word(word).unwrap());
            state = next;
            sum += cost;
        }
        sum + toy.step(state, 2).1
    }

    fn pair_cost(&self, sentence: &[String], weights: &RuleWeights) -> f64 {
        let count = |a: &String, b: &String| self.pairs.get(&(a.clone(), b.clone())).copied().unwrap_or(0) as f64 + 2.0;
        let mut sum = 0.0;
        for (i, a) in sentence.iter().enumerate() {
            for b in sentence[i + 1..].iter().filter(|b| *b != a) {
                sum += weights.before * (count(b, a) / count(a, b)).ln().max(0.0);
            }
        }
        sum
    }
}

/// The least cost to cut a sentence into phrases, each sharing at most `overlap` words with what is before it.
fn segmented(sentence: &[String], rules: &BTreeMap<Vec<String>, f64>, overlap: usize) -> Option<f64> {
    let mut best = vec![f64::INFINITY; sentence.len() + 1];
    best[0] = 0.0;
    for at in 0..sentence.len() {
        for (words, cost) in rules {
            for shared in 0..words.len().min(overlap + 1).min(at + 1) {
                let from = at - shared;
                if sentence[from..].starts_with(words) {
                    let to = from + words.len();
                    best[to] = best[to].min(best[at] + cost);
                }
            }
        }
    }
    best.last().copied().filter(|c| c.is_finite())
}

fn permutations(tokens: &[String]) -> BTreeSet<Vec<String>> {
    if tokens.is_empty() {
        return BTreeSet::from([vec![]]);
    }
    let mut all = BTreeSet::new();
    for i in 0..tokens.len() {
        let mut rest = tokens.to_vec();
        let first = rest.remove(i);
        for mut p in permutations(&rest) {
            p.insert(0, first.clone());
            all.insert(p);
        }
    }
    all
}

pub const ALL: Orders = Orders { least: 1, most: 4 };

pub fn exact(algorithm: Algorithm) -> OrderConfig {
    OrderConfig {
        algorithm,
        row: 2,
        beam: f64::INFINITY,
        hypotheses: Some(0),
        orders: ALL,
        overlap: 0,
        future: Future::Left,
        max_memory: 256 << 20,
        nbest: 1_000_000,
        lattice: true,
        oov_cost: None,
    }
}

/// Weights whose sums are exact.
pub fn weights() -> RuleWeights {
    RuleWeights { phrase: 0.25, log_count: 0.0, unseen: 2.0, before: 0.0, orders: vec![0.5, 0.125, 0.0, -0.5] }
}
