//! Rule lattices: a transducer from rules to words that holds every derivation of every string of a lattice.
//!
//! The chart is intersected with the lattice, as a grammar with an automaton (Bar-Hillel, Perles and Shamir 1961): for a
//! cell and a state, all states where the cell's strings can lead from there, found by reading target sides along the
//! lattice, every (cell, state) once. Each (cell, from, to) is a part of a network, one path for each way to read it, which
//! is then expanded. A path begins with its rule, whose cost it has, before the rules of its nonterminals in the order of
//! the target; on the spine (see `build`), the rules of a cell of the start symbol come after those of the cell that it
//! begins with. That order tells derivations apart, so that no two of them are one path.
//!
//! The strings alone matter, so that the lattice is made as small as they allow first. O(states · rules of the chart) ways
//! for rank 1, times the ends of a nonterminal for higher ranks; the expansion repeats a part wherever it is called from.
//! Both stop with a limit error.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::POINTER;
use super::build::spine_cells;
use super::rule_parts::{Found, Read};
use super::small::smallest;
use crate::chart::{Applied, Chart};
use crate::error::{Error, Result};
use crate::fst::arcsort::{SortType, arcsort};
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::replace::{Labeling, ReplaceConfig, replace};
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::topsort::topsort;
use crate::rules::grammar::{Grammar, NONTERMINAL, RuleId};

#[derive(Clone, Copy, Debug)]
pub struct RuleLatticeConfig {
    /// What a word that is passed through costs.
    pub pass_through: f64,
    /// Ways to read the lattice, and states of the result before epsilons are removed, at most.
    pub max_states: usize,
}

/// The input label of a rule.
pub fn rule_label(rule: RuleId) -> Label {
    rule as Label + 1
}

/// The input label of words that are passed through.
pub fn passed_label(grammar: &Grammar) -> Label {
    grammar.num_rules() as Label + 1
}

/// The rule that an input label stands for; `None`: no rule, or a word that is passed through.
pub fn labelled(grammar: &Grammar, label: Label) -> Option<RuleId> {
    let rule = RuleId::try_from(label.checked_sub(1)?).ok()?;
    ((rule as usize) < grammar.num_rules()).then_some(rule)
}

/// Rules to words, with the rules' costs: all derivations of the chart whose strings the lattice accepts, each once.
pub fn rule_lattice(
    grammar: &Grammar,
    chart: &Chart,
    lattice: &FlatFst<Tropical>,
    config: &RuleLatticeConfig,
) -> Result<FlatFst<Tropical>> {
    let strings = strings(lattice, config.max_states)?;
    if chart.words == 0 {
        // No rule derives nothing from nothing.
        return Ok(strings);
    }
    let (Some(goal), false) = (chart.goal, strings.start() == NO_STATE) else { return Ok(FlatFst::empty()) };
    let (found, known) = (Found::default(), HashMap::default());
    let mut walker = Walker { grammar, chart, strings: &strings, config, found, known };
    let (from, to) = walker.walk(goal, strings.start())?;
    let goals: Vec<u32> = (from..to).filter(|&p| strings.is_final(walker.found.parts[p as usize].end)).collect();
    let found = walker.found;
    let mut spine = vec![false; chart.cells.len()];
    spine_cells(grammar, chart, goal).into_iter().for_each(|c| spine[c as usize] = true);
    let network = found.network(&goals, &spine);
    let parts: Vec<(Label, &FlatFst<Tropical>)> = network.iter().map(|(label, fst)| (*label, fst)).collect();
    let limit = Some(config.max_states);
    let replaced = ReplaceConfig { call: Labeling::Neither, max_states: limit, ..ReplaceConfig::default() };
    let fst = rmepsilon(replace(&parts, found.root(), &replaced)?, &Default::default())?;
    Ok(topsort(fst).unwrap_or_else(|fst| fst))
}

/// The smallest automaton of the strings, arcs in order.
fn strings(lattice: &FlatFst<Tropical>, max_states: usize) -> Result<FlatFst<Tropical>> {
    let all_the_same = |w: Tropical| if w.is_zero_w() { w } else { Tropical::ONE };
    let small = smallest(&lattice.map_weights(all_the_same), max_states)?;
    Ok(arcsort(small, SortType::Ilabel))
}

struct Walker<'a> {
    grammar: &'a Grammar,
    chart: &'a Chart,
    strings: &'a FlatFst<Tropical>,
    config: &'a RuleLatticeConfig,
    found: Found,
    /// By (cell, state): the parts, from and to.
    known: HashMap<u64, (u32, u32), FxBuildHasher>,
}

impl Walker<'_> {
    fn walk(&mut self, cell: u32, at: StateId) -> Result<(u32, u32)> {
        let key = (cell as u64) << 32 | at as u64;
        if let Some(&range) = self.known.get(&key) {
            return Ok(range);
        }
        let mut ways: Vec<(Read, Label, f32)> = vec![];
        let (chart, grammar) = (self.chart, self.grammar);
        for a in chart.applications(cell) {
            match &a.applied {
                Applied::PassThrough(word) => {
                    let read = self.step(at, *word as Label).map(|end| (end, vec![*word as Label]));
                    let cost = self.config.pass_through as f32;
                    ways.extend(read.map(|r| (r, passed_label(grammar), cost)));
                }
                Applied::Rules(rules) => {
                    for rule in rules.clone() {
                        let mut read = vec![(at, vec![])];
                        for &symbol in grammar.target(rule) {
                            self.advance(symbol, chart.children(a), &mut read)?;
                            if read.is_empty() {
                                break;
                            }
                        }
                        ways.extend(read.into_iter().map(|r| (r, rule_label(rule), grammar.cost(rule))));
                        self.check(ways.len())?;
                    }
                }
            }
        }
        let range = self.found.add(cell, ways);
        self.known.insert(key, range);
        Ok(range)
    }

    /// Reads one more symbol of a target side in every way there is.
    fn advance(&mut self, symbol: u32, children: &[u32], read: &mut Vec<Read>) -> Result<()> {
        let Some(place) = symbol.checked_sub(NONTERMINAL) else {
            read.retain_mut(|(at, symbols)| {
                symbols.push(symbol as Label);
                self.step(*at, symbol as Label).map(|next| *at = next).is_some()
            });
            return Ok(());
        };
        let mut next = vec![];
        for (at, symbols) in read.drain(..) {
            let (from, to) = self.walk(children[place as usize], at)?;
            for part in from..to {
                let mut longer = symbols.clone();
                longer.push(POINTER + part as Label);
                next.push((self.found.parts[part as usize].end, longer));
            }
            self.check(next.len())?;
        }
        *read = next;
        Ok(())
    }

    fn step(&self, at: StateId, word: Label) -> Option<StateId> {
        let arcs = self.strings.arcs(at);
        arcs.binary_search_by_key(&word, |a| a.ilabel).ok().map(|i| arcs[i].nextstate)
    }

    fn check(&self, more: usize) -> Result<()> {
        let limit = self.config.max_states;
        if self.found.ways.len() + more > limit {
            let message = "there are more ways to read the lattice with the rules; prune it with a smaller beam";
            return Err(Error::limit("rule lattice", format!("{limit} ways"), message));
        }
        Ok(())
    }
}
