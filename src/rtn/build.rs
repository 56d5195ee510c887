//! From a chart to a network: rules as paths, cells that others are made of as pointers.
//!
//! The cells of the start symbol that begin the strings of another such cell, as glue rules have it (`S → S X`), are not
//! automata of their own: they are states of the root's, the beginning of the sentence up to their end. A pointer to
//! them would be expanded once for every way to cut the rest of the sentence into pieces, which are exponentially many.

use super::cell::Strings;
use super::{Rtn, Span};
use crate::chart::{Applied, Chart};
use crate::fst::flat::{Arc, FlatFst, Label, ScatterBuilder};
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::topsort::topsort;
use crate::rules::grammar::{Grammar, NONTERMINAL};

#[derive(Clone, Copy, Debug)]
pub struct BuildConfig {
    /// What a word that is passed through costs.
    pub pass_through: f64,
    /// Cells of the start symbol are pointers like others (for pruning them by themselves).
    pub keep_start_cells: bool,
}

/// The network of a chart that has a goal; `None` if it has none.
pub fn build(grammar: &Grammar, chart: &Chart, config: &BuildConfig) -> Option<Rtn> {
    let goal = chart.goal?;
    let spine = match config.keep_start_cells {
        true => vec![],
        false => spine_cells(grammar, chart, goal),
    };
    let on_spine = |c: u32| spine.contains(&c);
    // Cells that some pointer still leads to; children come before parents, so one pass from the end is enough.
    let mut pointed_to = vec![false; chart.cells.len()];
    let mut builder = CellStrings { grammar, chart, config, strings: Strings::default(), place: vec![] };
    pointed_to[goal as usize] = true;
    for c in (0..chart.cells.len() as u32).rev() {
        if !pointed_to[c as usize] && !on_spine(c) {
            continue;
        }
        let only_on_spine = on_spine(c) && (c == goal || !pointed_to[c as usize]);
        for a in chart.applications(c) {
            let children = chart.children(a);
            let first = first_nonterminals(grammar, &a.applied);
            for (place, &child) in children.iter().enumerate() {
                // A child on the spine is a state, unless some rule has it elsewhere than in front.
                let in_front = only_on_spine && on_spine(child) && first.iter().all(|&f| f == Some(place as u32));
                pointed_to[child as usize] |= !in_front;
            }
        }
    }
    let mut rtn = Rtn { cells: vec![], spans: vec![], root: 0 };
    builder.place = vec![usize::MAX; chart.cells.len()];
    for c in 0..chart.cells.len() as u32 {
        let is_root = c == goal;
        if !is_root && !pointed_to[c as usize] {
            continue;
        }
        let fst = if is_root && spine.len() > 1 { builder.spine(&spine, goal) } else { builder.cell(c).automaton() };
        builder.place[c as usize] = rtn.cells.len();
        let cell = &chart.cells[c as usize];
        rtn.cells.push(fst);
        rtn.spans.push(Span { nt: cell.nt, start: cell.start, end: cell.end });
        if is_root {
            rtn.root = rtn.cells.len() - 1;
            break;
        }
    }
    Some(rtn)
}

/// Of each rule: the place of the nonterminal that its target begins with.
fn first_nonterminals(grammar: &Grammar, applied: &Applied) -> Vec<Option<u32>> {
    match applied {
        Applied::Rules(rules) => {
            rules.clone().map(|r| grammar.target(r).first().and_then(|s| s.checked_sub(NONTERMINAL))).collect()
        }
        Applied::PassThrough(_) => vec![],
    }
}

/// The goal and all cells of the start symbol that a string of one of these begins with.
pub(super) fn spine_cells(grammar: &Grammar, chart: &Chart, goal: u32) -> Vec<u32> {
    let mut spine = vec![goal];
    let mut next = 0;
    while let Some(&c) = spine.get(next) {
        next += 1;
        for a in chart.applications(c) {
            for place in first_nonterminals(grammar, &a.applied).into_iter().flatten() {
                let child = chart.children(a)[place as usize];
                if chart.cells[child as usize].nt == grammar.start() && !spine.contains(&child) {
                    spine.push(child);
                }
            }
        }
    }
    spine
}

struct CellStrings<'a> {
    grammar: &'a Grammar,
    chart: &'a Chart,
    config: &'a BuildConfig,
    strings: Strings,
    /// Of each cell of the chart, its place in the network.
    place: Vec<usize>,
}

/// A cell on the spine that begins a string, while the root is built: no pointer has these labels.
const ON_SPINE: Label = Label::MIN;

impl CellStrings<'_> {
    fn cell(&mut self, c: u32) -> &mut Strings {
        self.fill(c, &[]);
        &mut self.strings
    }

    /// The strings of a cell; in front, cells of `spine` are `ON_SPINE` + their place there.
    fn fill(&mut self, c: u32, spine: &[u32]) {
        self.strings.clear();
        for a in self.chart.applications(c) {
            match &a.applied {
                Applied::PassThrough(word) => self.strings.add([*word as Label], self.config.pass_through),
                Applied::Rules(rules) => {
                    let children = self.chart.children(a);
                    for rule in rules.clone() {
                        let symbols = self.grammar.target(rule).iter().enumerate().map(|(i, &s)| {
                            let Some(place) = s.checked_sub(NONTERMINAL) else { return s as Label };
                            let child = children[place as usize];
                            match spine.iter().position(|&c| c == child).filter(|_| i == 0) {
                                Some(on) => ON_SPINE + on as Label,
                                None => Rtn::pointer(self.place[child as usize]),
                            }
                        });
                        self.strings.add(symbols, self.grammar.cost(rule) as f64);
                    }
                }
            }
        }
    }

    /// The root: a state for each cell of the spine, and the strings of these between them.
    fn spine(&mut self, spine: &[u32], goal: u32) -> FlatFst<Tropical> {
        let mut out = ScatterBuilder::<Tropical>::default();
        let start = out.add_state();
        out.set_start(start);
        let ends: Vec<u32> = spine.iter().map(|_| out.add_state()).collect();
        for (&cell, &end) in spine.iter().zip(&ends) {
            self.fill(cell, spine);
            // As one automaton, so that strings of a cell share what they can; its first arcs say where they begin.
            let part = self.strings.automaton();
            let states: Vec<u32> = part.states().map(|_| out.add_state()).collect();
            for s in part.states() {
                if part.is_final(s) {
                    out.add_arc(states[s as usize], Arc::new(0, 0, part.final_weight(s), end));
                }
                for a in part.arcs(s) {
                    let to = states[a.nextstate as usize];
                    match a.ilabel.checked_sub(ON_SPINE) {
                        // Only labels below zero are that near to the least of all.
                        Some(on) => out.add_arc(ends[on as usize], Arc::new(0, 0, a.weight, to)),
                        None => out.add_arc(states[s as usize], Arc { nextstate: to, ..*a }),
                    }
                }
            }
            out.add_arc(start, Arc::new(0, 0, Tropical::ONE, states[part.start() as usize]));
        }
        if let Some(i) = spine.iter().position(|&c| c == goal) {
            out.set_final(ends[i], Tropical::ONE);
        }
        let fst = crate::fst::connect::connect(out.finish());
        let fst = crate::fst::rmepsilon::rmepsilon(fst, &Default::default()).unwrap_or_default();
        topsort(fst).unwrap_or_else(|fst| fst)
    }
}
