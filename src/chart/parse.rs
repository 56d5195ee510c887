//! CYK+ over a sentence with the trie of rule sources.
//!
//! Spans are done by width. For every beginning there are dotted items, nodes of the trie with the cells their
//! nonterminals stand for; an item over [i,k) grows by the word at k or by a finished cell over [k,j). Where it ends in a
//! node with rules, these are an application of the cell. Unary rules are applied last in a span, in the order of the
//! grammar's unary graph, so that chains of any length are found and every cell comes after those it is made of. Only the
//! start symbol may be wider than the span limit, and items that no rule of it can end are dropped there.
//!
//! O(n³ · nodes that match) time for rules of rank 2. Chappelier and Rajman, A generalized CYK algorithm for parsing
//! stochastic CFG, 1998.

use super::{Application, Applied, Cell, Chart};
use crate::rules::grammar::{Grammar, Node, Nt};
use crate::text::vocab::WordId;

#[derive(Clone, Copy, Debug)]
pub struct ParseConfig {
    /// The widest span of a rule; the start symbol's rules may be wider.
    pub max_span: usize,
    pub pass_through: PassThrough,
}

/// Which words of a sentence may stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PassThrough {
    /// None
    Never,
    /// Words that stand in no rule
    Unknown,
    /// These; and if there is no derivation, all words that have no rule of their own
    #[default]
    Needed,
}

impl Default for ParseConfig {
    fn default() -> Self {
        ParseConfig { max_span: 10, pass_through: PassThrough::default() }
    }
}

const NONE: u32 = u32::MAX;

/// A node of the trie, reached from the beginning of its span.
#[derive(Clone, Copy)]
struct Item {
    node: Node,
    /// The item before its last nonterminal, and the cell of that; `NONE`: it has none.
    before: u32,
    cell: u32,
}

/// Parses a sentence.
pub fn parse(grammar: &Grammar, sentence: &[WordId], config: &ParseConfig) -> Chart {
    let passes = config.pass_through != PassThrough::Never;
    let unknown: Vec<bool> = sentence.iter().map(|&w| passes && !grammar.knows(w)).collect();
    let chart = Parser::new(grammar, sentence, config, &unknown).run();
    if chart.goal.is_some() || sentence.is_empty() || config.pass_through != PassThrough::Needed {
        return chart;
    }
    let alone = |w: WordId| grammar.word_child(0, w).is_some_and(|n| !grammar.rules_at(n).is_empty());
    let passed: Vec<bool> = sentence.iter().map(|&w| !alone(w)).collect();
    if passed == unknown {
        return chart;
    }
    let mut chart = Parser::new(grammar, sentence, config, &passed).run();
    chart.forced = (0..sentence.len() as u32).filter(|&i| passed[i as usize] && !unknown[i as usize]).collect();
    chart
}

struct Parser<'a> {
    grammar: &'a Grammar,
    sentence: &'a [WordId],
    config: &'a ParseConfig,
    passed: &'a [bool],
    items: Vec<Item>,
    /// Items of the span [i, j), at `i * (n + 1) + j`, as a range: a span's items are made in one go.
    spans: Vec<(u32, u32)>,
    /// Cells of a span.
    cells_of: Vec<(u32, u32)>,
    cells: Vec<Cell>,
    applications: Vec<Application>,
    children: Vec<u32>,
    /// Applications of the span being done, by nonterminal.
    found: Vec<Vec<Application>>,
    /// Nonterminals of the span that have some.
    touched: Vec<Nt>,
}

impl<'a> Parser<'a> {
    fn new(grammar: &'a Grammar, sentence: &'a [WordId], config: &'a ParseConfig, passed: &'a [bool]) -> Self {
        let n = sentence.len();
        Parser {
            grammar,
            sentence,
            config,
            passed,
            items: vec![Item { node: 0, before: NONE, cell: NONE }],
            spans: vec![(0, 0); (n + 1) * (n + 1)],
            cells_of: vec![(0, 0); (n + 1) * (n + 1)],
            cells: vec![],
            applications: vec![],
            children: vec![],
            found: vec![vec![]; grammar.nonterminals().len()],
            touched: vec![],
        }
    }

    fn at(&self, i: usize, j: usize) -> usize {
        i * (self.sentence.len() + 1) + j
    }

    fn run(mut self) -> Chart {
        let n = self.sentence.len();
        for width in 1..=n {
            for i in 0..=n - width {
                self.span(i, i + width);
            }
        }
        let goal = match n {
            0 => None,
            _ => self.cell(self.grammar.start(), 0, n),
        };
        self.reachable(goal)
    }

    fn cell(&self, nt: Nt, i: usize, j: usize) -> Option<u32> {
        let (from, to) = self.cells_of[self.at(i, j)];
        (from..to).find(|&c| self.cells[c as usize].nt == nt)
    }

    fn span(&mut self, i: usize, j: usize) {
        let wide = j - i > self.config.max_span;
        let first = self.items.len();
        if j == i + 1
            && let Some(node) = self.grammar.word_child(0, self.sentence[i])
        {
            self.push(Item { node, before: 0, cell: NONE }, wide);
        }
        for k in i + 1..j {
            let (from, to) = self.spans[self.at(i, k)];
            let cells = self.cells_of[self.at(k, j)];
            for item in from..to {
                let Item { node, .. } = self.items[item as usize];
                if k + 1 == j
                    && let Some(next) = self.grammar.word_child(node, self.sentence[k])
                {
                    // A word adds no cell: the chain of cells is that of the item before.
                    let Item { before, cell, .. } = self.items[item as usize];
                    self.push(Item { node: next, before, cell }, wide);
                }
                if self.grammar.takes_nonterminal(node) {
                    for cell in cells.0..cells.1 {
                        if let Some(next) = self.grammar.nonterminal_child(node, self.cells[cell as usize].nt) {
                            self.push(Item { node: next, before: item, cell }, wide);
                        }
                    }
                }
            }
        }
        for item in first..self.items.len() {
            self.apply(item as u32, wide);
        }
        if j == i + 1 && self.passed[i] {
            let application = Application { applied: Applied::PassThrough(self.sentence[i]), children: 0..0 };
            self.add(self.grammar.oov_nonterminal(), application);
        }
        // Cells of the span, each after those that unary rules make it of.
        let first_cell = self.cells.len() as u32;
        if !self.touched.is_empty() {
            for &nt in self.grammar.unary_order() {
                if self.found[nt as usize].is_empty() {
                    continue;
                }
                let from = self.applications.len() as u32;
                self.applications.append(&mut self.found[nt as usize]);
                let cell = self.cells.len() as u32;
                let applications = from..self.applications.len() as u32;
                self.cells.push(Cell { nt, start: i as u32, end: j as u32, applications });
                if let Some(node) = self.grammar.nonterminal_child(0, nt) {
                    let item = self.items.len();
                    self.push(Item { node, before: 0, cell }, wide);
                    if self.items.len() > item {
                        self.apply(item as u32, wide);
                    }
                }
            }
            self.touched.clear();
        }
        let at = self.at(i, j);
        self.cells_of[at] = (first_cell, self.cells.len() as u32);
        self.spans[at] = (first as u32, self.items.len() as u32);
    }

    /// Keeps an item, unless it is too wide for every rule it could end in.
    fn push(&mut self, item: Item, wide: bool) {
        if !wide || self.grammar.reaches_start(item.node) {
            self.items.push(item);
        }
    }

    /// The rules that end in an item's node.
    fn apply(&mut self, item: u32, wide: bool) {
        let rules = self.grammar.rules_at(self.items[item as usize].node);
        if rules.is_empty() {
            return;
        }
        let from = self.children.len();
        let mut at = self.items[item as usize];
        while at.cell != NONE {
            self.children.push(at.cell);
            at = self.items[at.before as usize];
        }
        self.children[from..].reverse();
        let children = from as u32..self.children.len() as u32;
        let mut rule = rules.start;
        while rule < rules.end {
            let lhs = self.grammar.lhs(rule);
            let mut end = rule + 1;
            while end < rules.end && self.grammar.lhs(end) == lhs {
                end += 1;
            }
            if !wide || lhs == self.grammar.start() {
                self.add(lhs, Application { applied: Applied::Rules(rule..end), children: children.clone() });
            }
            rule = end;
        }
    }

    fn add(&mut self, lhs: Nt, application: Application) {
        self.found[lhs as usize].push(application);
        self.touched.push(lhs);
    }

    /// Only the cells that the goal is made of, in the same order.
    fn reachable(self, goal: Option<u32>) -> Chart {
        let words = self.sentence.len();
        let items = self.items.len();
        let Some(goal) = goal else { return Chart { words, items, ..Chart::default() } };
        let mut needed = vec![false; self.cells.len()];
        needed[goal as usize] = true;
        let mut chart = Chart { words, items, ..Chart::default() };
        for c in (0..=goal).rev() {
            if !needed[c as usize] {
                continue;
            }
            let r = &self.cells[c as usize].applications;
            for a in &self.applications[r.start as usize..r.end as usize] {
                for &child in &self.children[a.children.start as usize..a.children.end as usize] {
                    needed[child as usize] = true;
                }
            }
        }
        let mut place = vec![NONE; self.cells.len()];
        for (c, cell) in self.cells.into_iter().enumerate().filter(|(c, _)| needed[*c]) {
            place[c] = chart.cells.len() as u32;
            let from = chart.applications.len() as u32;
            for a in &self.applications[cell.applications.start as usize..cell.applications.end as usize] {
                let begin = chart.children.len() as u32;
                let old = &self.children[a.children.start as usize..a.children.end as usize];
                chart.children.extend(old.iter().map(|&child| place[child as usize]));
                let children = begin..chart.children.len() as u32;
                chart.applications.push(Application { applied: a.applied.clone(), children });
            }
            let applications = from..chart.applications.len() as u32;
            chart.cells.push(Cell { applications, ..cell });
        }
        chart.goal = Some(place[goal as usize]);
        chart
    }
}
