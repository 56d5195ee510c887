//! The best derivation of a given translation: which rules, over which spans, gave these words.
//!
//! The chart is walked top-down along the words: for a cell and a place in the translation, all places where it can end,
//! each with its least cost; every (cell, place) is done once. What the automata merged, several derivations of one
//! string, is found again here, so that the search need not carry rules along. O(words · rules of the chart) at most for
//! rank 1, times the ends of a nonterminal for higher ranks.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::chart::{Applied, Chart};
use crate::rules::grammar::{Grammar, NONTERMINAL, RuleId};
use crate::text::vocab::WordId;

/// A rule of a derivation and what its nonterminals became.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The cell of the chart.
    pub cell: u32,
    /// `None`: a word that was passed through.
    pub rule: Option<RuleId>,
    /// In the order of the source's nonterminals.
    pub children: Vec<Derivation>,
}

impl Derivation {
    /// Every rule, a parent before its children.
    pub fn rules(&self) -> Vec<Option<RuleId>> {
        let mut all = vec![];
        let mut open = vec![self];
        while let Some(d) = open.pop() {
            all.push(d.rule);
            open.extend(d.children.iter().rev());
        }
        all
    }
}

/// A way to read words with a cell.
struct Way {
    end: u32,
    cost: f64,
    application: u32,
    rule: RuleId,
    /// For each child in the order of the target: place in the source, way.
    children: Vec<(u8, u32)>,
}

/// A target side that was read up to a place: the cost so far, and the ways of its children.
type Partial = (u32, f64, Vec<(u8, u32)>);

struct Walker<'a> {
    grammar: &'a Grammar,
    chart: &'a Chart,
    words: &'a [WordId],
    pass_through: f64,
    /// Ways kept for each end.
    most: usize,
    ways: Vec<Way>,
    /// By (cell, place): the ways, from and to.
    known: HashMap<u64, (u32, u32), FxBuildHasher>,
}

/// The `most` best derivations of exactly these words, best first, each with the sum of its rules' costs.
pub fn derive(
    grammar: &Grammar,
    chart: &Chart,
    words: &[WordId],
    pass_through: f64,
    most: usize,
) -> Vec<(Derivation, f64)> {
    let Some(goal) = chart.goal else { return vec![] };
    let mut w = Walker { grammar, chart, words, pass_through, most, ways: vec![], known: HashMap::default() };
    let (from, to) = w.walk(goal, 0);
    let whole = (from..to).filter(|&i| w.ways[i as usize].end as usize == words.len());
    let mut whole: Vec<u32> = whole.collect();
    whole.sort_by(|&a, &b| w.ways[a as usize].cost.total_cmp(&w.ways[b as usize].cost));
    whole.into_iter().map(|i| (w.tree(goal, i), w.ways[i as usize].cost)).collect()
}

impl Walker<'_> {
    fn walk(&mut self, cell: u32, place: u32) -> (u32, u32) {
        let key = (cell as u64) << 32 | place as u64;
        if let Some(&range) = self.known.get(&key) {
            return range;
        }
        // End → way, in the order they are found; the least cost wins, of equals the first.
        let mut found: Vec<Way> = vec![];
        let chart = self.chart;
        for (i, a) in chart.applications(cell).iter().enumerate() {
            match &a.applied {
                Applied::PassThrough(word) => {
                    if self.words.get(place as usize) == Some(word) {
                        let children = vec![];
                        let cost = self.pass_through;
                        let way = Way { end: place + 1, cost, application: i as u32, rule: 0, children };
                        keep(&mut found, way, self.most);
                    }
                }
                Applied::Rules(rules) => {
                    for rule in rules.clone() {
                        let cost = self.grammar.cost(rule) as f64;
                        let mut partial = vec![(place, cost, vec![])];
                        for &symbol in self.grammar.target(rule) {
                            self.advance(symbol, chart.children(a), &mut partial);
                            if partial.is_empty() {
                                break;
                            }
                        }
                        for (end, cost, children) in partial {
                            keep(&mut found, Way { end, cost, application: i as u32, rule, children }, self.most);
                        }
                    }
                }
            }
        }
        let from = self.ways.len() as u32;
        self.ways.append(&mut found);
        let range = (from, self.ways.len() as u32);
        self.known.insert(key, range);
        range
    }

    /// Reads one more symbol of a target side in every way there is.
    fn advance(&mut self, symbol: u32, children: &[u32], partial: &mut Vec<Partial>) {
        let Some(place) = symbol.checked_sub(NONTERMINAL) else {
            partial.retain_mut(|(at, _, _)| {
                let fits = self.words.get(*at as usize) == Some(&symbol);
                *at += 1;
                fits
            });
            return;
        };
        let mut next = vec![];
        for (at, cost, ways) in partial.drain(..) {
            let (from, to) = self.walk(children[place as usize], at);
            for way in from..to {
                let mut longer = ways.clone();
                longer.push((place as u8, way));
                let w = &self.ways[way as usize];
                next.push((w.end, cost + w.cost, longer));
            }
        }
        *partial = next;
    }

    fn tree(&self, cell: u32, way: u32) -> Derivation {
        let w = &self.ways[way as usize];
        let a = &self.chart.applications(cell)[w.application as usize];
        let cells = self.chart.children(a);
        let mut ways = w.children.clone();
        ways.sort_unstable();
        let children = ways.iter().map(|&(place, way)| self.tree(cells[place as usize], way)).collect();
        let rule = matches!(a.applied, Applied::Rules(_)).then_some(w.rule);
        Derivation { cell, rule, children }
    }
}

/// Adds a way, unless there are enough better ones with its end; of equals the first stays.
fn keep(found: &mut Vec<Way>, way: Way, most: usize) {
    let same = found.iter().enumerate().filter(|(_, w)| w.end == way.end);
    let (count, worst) = same.fold((0, None::<(usize, f64)>), |(n, worst), (i, w)| match worst {
        Some((_, cost)) if cost > w.cost => (n + 1, worst),
        _ => (n + 1, Some((i, w.cost))),
    });
    match worst {
        Some((i, cost)) if count >= most => {
            if way.cost < cost {
                found[i] = way;
            }
        }
        _ => found.push(way),
    }
}
