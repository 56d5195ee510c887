//! `Grammar`: the rules in memory, a trie of source sides with the rules that end in each node.
//!
//! Everything lies in flat arrays: symbols, features and links of all rules one after the other, rules sorted by the node
//! of their source side and by their left-hand side, nodes found by one hash look-up (node, symbol). About 60 bytes a rule
//! besides its features (6 bytes each) and links (2 bytes each). A rule is known by its number; `cost` is the dot product
//! of its features with the weights, made once.

use hashbrown::HashMap;
use petgraph::algo::{tarjan_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxBuildHasher;

use super::rule::{Rule, Symbol};
use crate::error::{Error, Result};
use crate::text::vocab::{Vocab, WordId};

/// A nonterminal symbol of a grammar.
pub type Nt = u16;
pub type RuleId = u32;
/// A node of the trie; 0 is the root.
pub type Node = u32;

/// In source sides, symbols from here up are nonterminals by number; in target sides, the source's nonterminals by place.
pub const NONTERMINAL: u32 = 1 << 30;

/// The name of the start symbol.
pub const START: &str = "S";

/// What rules that no file holds are charged for, and what files call them.
pub const GLUE: &str = "Glue";
pub const PASS_THROUGH: &str = "PassThrough";

pub struct Grammar {
    pub vocab: Vocab,
    names: Vec<String>,
    features: Vec<String>,
    start: Nt,
    children: HashMap<u64, Node, FxBuildHasher>,
    /// Of each node: it has a child by a nonterminal.
    takes_nonterminal: Vec<bool>,
    /// Of each node: a rule of the start symbol ends in it or below it.
    reaches_start: Vec<bool>,
    /// Rules of each node: `by_node[n]..by_node[n + 1]`.
    by_node: Vec<u32>,
    lhs: Vec<Nt>,
    node_of: Vec<Node>,
    parents: Vec<(Node, u32)>,
    costs: Vec<f32>,
    target_ends: Vec<u32>,
    targets: Vec<u32>,
    feature_ends: Vec<u32>,
    feature_ids: Vec<u16>,
    feature_values: Vec<f32>,
    link_ends: Vec<u32>,
    links: Vec<(u8, u8)>,
    /// Nonterminals, those that others are made of by unary rules first.
    unary_order: Vec<Nt>,
    /// Of each word: it stands in some source side.
    in_source: Vec<bool>,
    oov: Nt,
}

/// Takes rules in any order.
#[derive(Default)]
pub struct Builder {
    vocab: Vocab,
    names: Vec<String>,
    features: Vec<String>,
    children: HashMap<u64, Node, FxBuildHasher>,
    /// Of each node but the root: the node before and the symbol between.
    parents: Vec<(Node, u32)>,
    rules: Vec<Pending>,
    targets: Vec<u32>,
    feature_ids: Vec<u16>,
    feature_values: Vec<f32>,
    links: Vec<(u8, u8)>,
}

/// A rule that is not in its place yet; ends of what it has in the arrays.
#[derive(Clone, Copy)]
struct Pending {
    node: Node,
    lhs: Nt,
    target: u32,
    features: u32,
    links: u32,
}

fn key(node: Node, symbol: u32) -> u64 {
    (node as u64) << 32 | symbol as u64
}

/// The place of a name, added if it is new.
fn intern(names: &mut Vec<String>, name: &str) -> Option<u16> {
    if let Some(i) = names.iter().position(|n| n == name) {
        return Some(i as u16);
    }
    names.push(name.to_string());
    u16::try_from(names.len() - 1).ok()
}

impl Builder {
    /// Adds a rule; the message says what is wrong with it.
    pub fn add(&mut self, rule: &Rule) -> std::result::Result<(), String> {
        let too_many = || "the grammar has more than 65536 nonterminals or features".to_string();
        if rule.source.is_empty() {
            return Err("the source side is empty".into());
        }
        let lhs = intern(&mut self.names, rule.lhs).ok_or_else(too_many)?;
        let mut node = 0;
        let mut places = [0u8; 256];
        let mut rank = 0u8;
        for symbol in &rule.source {
            let symbol = match *symbol {
                Symbol::Word(w) => self.vocab.add(w),
                Symbol::Nonterminal { name, link } => {
                    rank = rank.checked_add(1).ok_or("more than 255 nonterminals")?;
                    places[link as usize] = rank;
                    NONTERMINAL + intern(&mut self.names, name).ok_or_else(too_many)? as u32
                }
            };
            node = self.child(node, symbol);
        }
        for symbol in &rule.target {
            self.targets.push(match *symbol {
                Symbol::Word(w) => self.vocab.add(w),
                Symbol::Nonterminal { name, link } => match places[link as usize] {
                    0 => return Err(format!("the target has [{name},{link}], which the source has not")),
                    place => NONTERMINAL + place as u32 - 1,
                },
            });
        }
        for (name, value) in &rule.features {
            if *value == 0.0 {
                continue;
            }
            self.feature_ids.push(intern(&mut self.features, name).ok_or_else(too_many)?);
            self.feature_values.push(*value as f32);
        }
        for &(s, t) in &rule.alignment {
            match (u8::try_from(s), u8::try_from(t)) {
                (Ok(s), Ok(t)) => self.links.push((s, t)),
                _ => return Err(format!("the link {s}-{t} is beyond 255 symbols")),
            }
        }
        let end = |n: usize| u32::try_from(n).map_err(|_| "the grammar is too large: 2^32 symbols".to_string());
        self.rules.push(Pending {
            node,
            lhs,
            target: end(self.targets.len())?,
            features: end(self.feature_values.len())?,
            links: end(self.links.len())?,
        });
        Ok(())
    }

    fn child(&mut self, node: Node, symbol: u32) -> Node {
        let next = self.parents.len() as Node + 1;
        let found = *self.children.entry(key(node, symbol)).or_insert(next);
        if found == next {
            self.parents.push((node, symbol));
        }
        found
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
    fn has_lhs(&self, name: &str) -> bool {
        self.names.iter().position(|n| n == name).is_some_and(|i| self.rules.iter().any(|r| r.lhs as usize == i))
    }

    /// Where no rule has the start symbol: `S → X` and `S → S X` for every other left-hand side.
    pub fn add_glue(&mut self) -> std::result::Result<bool, String> {
        if self.has_lhs(START) {
            return Ok(false);
        }
        let others: Vec<String> = self.names.iter().filter(|n| *n != START && self.has_lhs(n)).cloned().collect();
        for name in &others {
            let x = |link| Symbol::Nonterminal { name, link };
            let s = Symbol::Nonterminal { name: START, link: 1 };
            let mut rule = Rule { lhs: START, ..Rule::default() };
            rule.source.push(x(1));
            rule.target.push(x(1));
            self.add(&rule)?;
            let mut rule = Rule { lhs: START, ..Rule::default() };
            rule.source.extend([s, x(2)]);
            rule.target.extend([s, x(2)]);
            rule.features.push((GLUE.into(), 1.0));
            self.add(&rule)?;
        }
        Ok(true)
    }

    /// The grammar. An error if unary rules go in a circle.
    pub fn finish(mut self) -> Result<Grammar> {
        let start = intern(&mut self.names, START).unwrap_or(0);
        let nodes = self.parents.len() + 1;
        let mut order: Vec<u32> = (0..self.rules.len() as u32).collect();
        order.sort_by_key(|&r| (self.rules[r as usize].node, self.rules[r as usize].lhs));
        let mut by_node = vec![0u32; nodes + 1];
        for r in &self.rules {
            by_node[r.node as usize + 1] += 1;
        }
        for n in 0..nodes {
            by_node[n + 1] += by_node[n];
        }
        let mut takes_nonterminal = vec![false; nodes];
        let mut in_source = vec![false; self.vocab.len()];
        for &(node, symbol) in &self.parents {
            match symbol.checked_sub(NONTERMINAL) {
                Some(_) => takes_nonterminal[node as usize] = true,
                None => in_source[symbol as usize] = true,
            }
        }
        let mut reaches_start = vec![false; nodes];
        for r in self.rules.iter().filter(|r| r.lhs == start) {
            let mut node = r.node;
            while !std::mem::replace(&mut reaches_start[node as usize], true) && node != 0 {
                node = self.parents[node as usize - 1].0;
            }
        }
        let mut g = Grammar {
            unary_order: vec![],
            oov: 0,
            start,
            takes_nonterminal,
            reaches_start,
            by_node,
            in_source,
            lhs: Vec::with_capacity(order.len()),
            node_of: Vec::with_capacity(order.len()),
            costs: vec![0.0; order.len()],
            target_ends: Vec::with_capacity(order.len()),
            targets: Vec::with_capacity(self.targets.len()),
            feature_ends: Vec::with_capacity(order.len()),
            feature_ids: Vec::with_capacity(self.feature_ids.len()),
            feature_values: Vec::with_capacity(self.feature_values.len()),
            link_ends: Vec::with_capacity(order.len()),
            links: Vec::with_capacity(self.links.len()),
            parents: std::mem::take(&mut self.parents),
            vocab: self.vocab,
            names: self.names,
            features: self.features,
            children: self.children,
        };
        for &r in &order {
            let rule = self.rules[r as usize];
            let none = Pending { node: 0, lhs: 0, target: 0, features: 0, links: 0 };
            let before = if r == 0 { none } else { self.rules[r as usize - 1] };
            g.lhs.push(rule.lhs);
            g.node_of.push(rule.node);
            g.targets.extend_from_slice(&self.targets[before.target as usize..rule.target as usize]);
            g.target_ends.push(g.targets.len() as u32);
            let features = before.features as usize..rule.features as usize;
            g.feature_ids.extend_from_slice(&self.feature_ids[features.clone()]);
            g.feature_values.extend_from_slice(&self.feature_values[features]);
            g.feature_ends.push(g.feature_values.len() as u32);
            g.links.extend_from_slice(&self.links[before.links as usize..rule.links as usize]);
            g.link_ends.push(g.links.len() as u32);
        }
        g.unary_order = g.order_by_unary_rules()?;
        g.oov = g.most_lexical();
        Ok(g)
    }
}

impl Grammar {
    pub fn num_rules(&self) -> usize {
        self.lhs.len()
    }
    pub fn start(&self) -> Nt {
        self.start
    }
    pub fn nonterminals(&self) -> &[String] {
        &self.names
    }
    pub fn nonterminal(&self, name: &str) -> Option<Nt> {
        self.names.iter().position(|n| n == name).map(|i| i as Nt)
    }
    /// Names of features, in the order they were seen.
    pub fn features(&self) -> &[String] {
        &self.features
    }
    /// What words without a rule become: the left-hand side of most rules without nonterminals.
    pub fn oov_nonterminal(&self) -> Nt {
        self.oov
    }
    /// Every nonterminal, after all that unary rules make it of.
    pub fn unary_order(&self) -> &[Nt] {
        &self.unary_order
    }
    /// True if the word stands in the source side of some rule.
    pub fn knows(&self, word: WordId) -> bool {
        self.in_source.get(word as usize).copied().unwrap_or(false)
    }

    #[inline]
    pub fn word_child(&self, node: Node, word: WordId) -> Option<Node> {
        self.children.get(&key(node, word)).copied()
    }
    #[inline]
    pub fn nonterminal_child(&self, node: Node, nt: Nt) -> Option<Node> {
        if !self.takes_nonterminal[node as usize] {
            return None;
        }
        self.children.get(&key(node, NONTERMINAL + nt as u32)).copied()
    }
    #[inline]
    pub fn takes_nonterminal(&self, node: Node) -> bool {
        self.takes_nonterminal[node as usize]
    }
    #[inline]
    pub fn reaches_start(&self, node: Node) -> bool {
        self.reaches_start[node as usize]
    }
    /// Rules whose source side ends in the node, those of one left-hand side together.
    #[inline]
    pub fn rules_at(&self, node: Node) -> std::ops::Range<RuleId> {
        self.by_node[node as usize]..self.by_node[node as usize + 1]
    }
    #[inline]
    pub fn lhs(&self, rule: RuleId) -> Nt {
        self.lhs[rule as usize]
    }
    #[inline]
    pub fn cost(&self, rule: RuleId) -> f32 {
        self.costs[rule as usize]
    }
    /// Words, and `NONTERMINAL` + place of the nonterminal in the source.
    #[inline]
    pub fn target(&self, rule: RuleId) -> &[u32] {
        slice(&self.targets, &self.target_ends, rule)
    }
    /// Words, and `NONTERMINAL` + number of the nonterminal.
    pub fn source(&self, rule: RuleId) -> Vec<u32> {
        let mut symbols = vec![];
        let mut node = self.node_of[rule as usize];
        while node != 0 {
            let (before, symbol) = self.parents[node as usize - 1];
            symbols.push(symbol);
            node = before;
        }
        symbols.reverse();
        symbols
    }
    pub fn links(&self, rule: RuleId) -> &[(u8, u8)] {
        slice(&self.links, &self.link_ends, rule)
    }
    /// The features of a rule: number of the name, cost.
    pub fn rule_features(&self, rule: RuleId) -> impl Iterator<Item = (u16, f32)> {
        let ids = slice(&self.feature_ids, &self.feature_ends, rule);
        ids.iter().copied().zip(slice(&self.feature_values, &self.feature_ends, rule).iter().copied())
    }

    /// Makes the cost of every rule: the sum of its features times the weights, by number of the name.
    pub fn weigh(&mut self, weights: &[f64]) {
        for rule in 0..self.num_rules() as RuleId {
            let sum: f64 = self.rule_features(rule).map(|(id, v)| weights[id as usize] * v as f64).sum();
            // The sum of nothing is −0.
            self.costs[rule as usize] = (sum + 0.0) as f32;
        }
    }

    /// The rule in words, as cdec writes it, without features.
    pub fn show(&self, rule: RuleId) -> String {
        let source = self.source(rule);
        let nts: Vec<u32> = source.iter().filter_map(|s| s.checked_sub(NONTERMINAL)).collect();
        let nt = |place: usize| format!("[{},{}]", self.names[nts[place] as usize], place + 1);
        let mut place = 0;
        let mut words = |symbols: &[u32], of_source: bool| -> String {
            let show = |&s: &u32| match s.checked_sub(NONTERMINAL) {
                None => self.vocab.word(s).to_string(),
                Some(_) if of_source => {
                    place += 1;
                    nt(place - 1)
                }
                Some(p) => nt(p as usize),
            };
            symbols.iter().map(show).collect::<Vec<_>>().join(" ")
        };
        let (s, t) = (words(&source, true), words(self.target(rule), false));
        format!("[{}] ||| {s} ||| {t}", self.names[self.lhs(rule) as usize])
    }

    /// Rules whose source is one nonterminal.
    fn unary_rules(&self) -> impl Iterator<Item = (Nt, Nt, RuleId)> {
        (0..self.names.len() as Nt)
            .filter_map(|nt| Some((nt, self.nonterminal_child(0, nt)?)))
            .flat_map(move |(nt, node)| self.rules_at(node).map(move |rule| (nt, self.lhs(rule), rule)))
    }

    fn order_by_unary_rules(&self) -> Result<Vec<Nt>> {
        let mut graph = DiGraph::<Nt, RuleId, u32>::default();
        let nodes: Vec<NodeIndex<u32>> = (0..self.names.len() as Nt).map(|nt| graph.add_node(nt)).collect();
        for (from, to, rule) in self.unary_rules() {
            graph.add_edge(nodes[from as usize], nodes[to as usize], rule);
        }
        if let Ok(order) = toposort(&graph, None) {
            return Ok(order.into_iter().map(|n| graph[n]).collect());
        }
        let circle = tarjan_scc(&graph).into_iter().find(|c| c.len() > 1 || graph.contains_edge(c[0], c[0]));
        let circle = circle.unwrap_or_default();
        let inside = |nt: Nt| circle.iter().any(|&n| graph[n] == nt);
        let rules: Vec<String> = self
            .unary_rules()
            .filter(|&(from, to, _)| inside(from) && inside(to))
            .take(4)
            .map(|(_, _, rule)| format!("`{}`", self.show(rule)))
            .collect();
        Err(Error::op(
            "grammar",
            format!(
                "unary rules go in a circle, so that a sentence has derivations without end: {}; remove one of them",
                rules.join(", ")
            ),
        ))
    }

    fn most_lexical(&self) -> Nt {
        let mut counts = vec![0usize; self.names.len()];
        for rule in 0..self.num_rules() as RuleId {
            if self.target(rule).iter().all(|&s| s < NONTERMINAL) && self.lhs[rule as usize] != self.start {
                counts[self.lhs[rule as usize] as usize] += 1;
            }
        }
        let best = (0..counts.len()).max_by_key(|&i| (counts[i], std::cmp::Reverse(i)));
        best.filter(|&i| counts[i] > 0).map_or(self.start, |i| i as Nt)
    }
}

fn slice<'a, T>(all: &'a [T], ends: &[u32], rule: RuleId) -> &'a [T] {
    let from = if rule == 0 { 0 } else { ends[rule as usize - 1] };
    &all[from as usize..ends[rule as usize] as usize]
}
