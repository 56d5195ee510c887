//! Random small grammars, and every derivation of a sentence by plain recursion: no trie, no chart, no automata.

use std::collections::BTreeMap;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// A symbol of one side; nonterminals are linked by their number.
#[derive(Clone, Debug, PartialEq)]
pub enum Sym {
    Word(String),
    Nt(&'static str, usize),
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub lhs: &'static str,
    pub source: Vec<Sym>,
    pub target: Vec<Sym>,
    pub costs: [f64; 2],
}

pub struct Case {
    pub rules: Vec<Rule>,
    pub sentence: Vec<String>,
    pub max_span: usize,
}

/// What a grammar is like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub rank: usize,
    pub words: usize,
    /// Nonterminals in an order in which unary rules lead to later ones only.
    pub nonterminals: &'static [&'static str],
}

pub const PLAIN: Shape = Shape { rank: 2, words: 5, nonterminals: &["X"] };
pub const SHALLOW: Shape = Shape { rank: 2, words: 5, nonterminals: &["X", "V"] };
pub const WIDE: Shape = Shape { rank: 3, words: 6, nonterminals: &["X", "V", "M"] };

pub fn case(seed: u64, shape: Shape) -> Case {
    let mut rng = SmallRng::seed_from_u64(seed);
    let n = rng.random_range(1..=shape.words);
    let source = |rng: &mut SmallRng| format!("s{}", rng.random_range(0..3));
    let sentence: Vec<String> = (0..n).map(|_| source(&mut rng)).collect();
    let mut rules = vec![];
    for _ in 0..rng.random_range(6..18) {
        let at = rng.random_range(0..shape.nonterminals.len());
        let lhs = shape.nonterminals[at];
        let rank = rng.random_range(0..=shape.rank);
        let terminals = rng.random_range(usize::from(rank == 0)..=2);
        let mut side: Vec<Sym> = (0..terminals).map(|_| Sym::Word(source(&mut rng))).collect();
        let nts: Vec<&'static str> =
            (0..rank).map(|_| shape.nonterminals[rng.random_range(0..shape.nonterminals.len())]).collect();
        for (i, nt) in nts.iter().enumerate() {
            let place = rng.random_range(0..=side.len());
            side.insert(place, Sym::Nt(nt, i + 1));
        }
        // Unary rules only downwards, so that none goes in a circle.
        if side.len() == 1 && rank == 1 {
            if at + 1 == shape.nonterminals.len() {
                continue;
            }
            side = vec![Sym::Nt(shape.nonterminals[rng.random_range(at + 1..shape.nonterminals.len())], 1)];
        }
        let mut target: Vec<Sym> = side.iter().filter(|s| matches!(s, Sym::Nt(..))).cloned().collect();
        for i in (1..target.len()).rev() {
            target.swap(i, rng.random_range(0..=i));
        }
        // A few rules delete.
        let least = usize::from(target.is_empty() && rng.random_bool(0.8));
        let extra = rng.random_range(least..=2);
        for _ in 0..extra {
            let place = rng.random_range(0..=target.len());
            target.insert(place, Sym::Word(format!("w{}", rng.random_range(0..4))));
        }
        let costs = [rng.random_range(-8..16) as f64 / 4.0, rng.random_range(0..1000) as f64 / 997.0];
        rules.push(Rule { lhs, source: side, target, costs });
    }
    // Every word has a rule, so that most sentences have derivations.
    for w in 0..3 {
        let lhs = shape.nonterminals[shape.nonterminals.len() - 1];
        let target = vec![Sym::Word(format!("w{w}"))];
        rules.push(Rule { lhs, source: vec![Sym::Word(format!("s{w}"))], target, costs: [1.0, 0.5] });
    }
    let max_span = rng.random_range(2..=7);
    Case { rules, sentence, max_span }
}

impl Case {
    /// The rules as a file of cdec's format.
    pub fn file(&self) -> String {
        let side = |side: &[Sym]| {
            let show = |s: &Sym| match s {
                Sym::Word(w) => w.clone(),
                Sym::Nt(name, link) => format!("[{name},{link}]"),
            };
            side.iter().map(show).collect::<Vec<_>>().join(" ")
        };
        let line = |r: &Rule| {
            let (s, t, [a, b]) = (side(&r.source), side(&r.target), r.costs);
            format!("[{}] ||| {s} ||| {t} ||| A={a} B={b}\n", r.lhs)
        };
        self.rules.iter().map(line).collect()
    }

    /// Every translation with the cost of its best derivation; `weights` of A, B and of glue.
    pub fn translations(&self, weights: [f64; 3]) -> BTreeMap<Vec<String>, f64> {
        let mut best = BTreeMap::new();
        for (words, cost) in self.derivations(weights) {
            let entry = best.entry(words).or_insert(f64::INFINITY);
            *entry = f64::min(*entry, cost);
        }
        best
    }

    /// Every derivation: its words and its cost.
    pub fn derivations(&self, weights: [f64; 3]) -> Vec<(Vec<String>, f64)> {
        // Sequences of pieces, each derived from some nonterminal: S → X and S → S X.
        let mut prefixes: Vec<Vec<(Vec<String>, f64)>> = vec![vec![(vec![], 0.0)]];
        let mut names: Vec<&'static str> = self.rules.iter().map(|r| r.lhs).collect();
        names.sort_unstable();
        names.dedup();
        for end in 1..=self.sentence.len() {
            let mut here = vec![];
            for (begin, prefix) in prefixes.iter().enumerate() {
                for name in &names {
                    for (words, cost) in self.cell(name, begin, end, &weights) {
                        for (before, spent) in prefix {
                            let glue = if begin > 0 { weights[2] } else { 0.0 };
                            let whole = before.iter().chain(&words).cloned().collect();
                            here.push((whole, spent + cost + glue));
                        }
                    }
                }
            }
            prefixes.push(here);
        }
        prefixes.pop().unwrap()
    }

    /// Every derivation of a nonterminal over a span.
    fn cell(&self, nt: &str, begin: usize, end: usize, weights: &[f64; 3]) -> Vec<(Vec<String>, f64)> {
        let mut found = vec![];
        if end - begin > self.max_span {
            return found;
        }
        for rule in self.rules.iter().filter(|r| r.lhs == nt) {
            let own: f64 = rule.costs.iter().zip(weights).map(|(c, w)| c * w).sum();
            let mut spans = vec![];
            self.matches(&rule.source, begin, end, &mut vec![], &mut spans);
            for spans in spans {
                let mut strings = vec![(vec![], own)];
                for symbol in &rule.target {
                    let parts = match symbol {
                        Sym::Word(w) => vec![(vec![w.clone()], 0.0)],
                        Sym::Nt(name, link) => {
                            let &(_, b, e) = spans.iter().find(|s| s.0 == *link).unwrap();
                            self.cell(name, b, e, weights)
                        }
                    };
                    let mut longer = vec![];
                    for (words, cost) in &strings {
                        for (more, extra) in &parts {
                            let whole: Vec<String> = words.iter().chain(more).cloned().collect();
                            longer.push((whole, cost + extra));
                        }
                    }
                    strings = longer;
                }
                found.extend(strings);
            }
        }
        found
    }

    /// Ways to lay the source over the span: for each, the spans of its nonterminals.
    fn matches(
        &self,
        source: &[Sym],
        begin: usize,
        end: usize,
        spans: &mut Vec<(usize, usize, usize)>,
        found: &mut Vec<Vec<(usize, usize, usize)>>,
    ) {
        match source.split_first() {
            None if begin == end => found.push(spans.clone()),
            None => {}
            Some((Sym::Word(w), rest)) if begin < end && self.sentence[begin] == *w => {
                self.matches(rest, begin + 1, end, spans, found);
            }
            Some((Sym::Word(_), _)) => {}
            Some((Sym::Nt(_, link), rest)) => {
                for middle in begin + 1..=end {
                    spans.push((*link, begin, middle));
                    self.matches(rest, middle, end, spans, found);
                    spans.pop();
                }
            }
        }
    }
}
