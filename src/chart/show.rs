//! The chart as text and as JSON, with words and spans.

use serde_json::{Value, json};

use super::{Applied, Chart};
use crate::rules::grammar::Grammar;

fn name(grammar: &Grammar, chart: &Chart, cell: u32) -> String {
    let c = &chart.cells[cell as usize];
    format!("{}[{}:{}]", grammar.nonterminals()[c.nt as usize], c.start, c.end)
}

/// One line a rule of a cell: the cell, the rule, its cost, the cells of its nonterminals.
pub fn text(grammar: &Grammar, chart: &Chart, pass_through: f64) -> String {
    let mut out = String::new();
    for cell in 0..chart.cells.len() as u32 {
        let shown = name(grammar, chart, cell);
        for a in chart.applications(cell) {
            let children: Vec<String> = chart.children(a).iter().map(|&c| name(grammar, chart, c)).collect();
            let children = children.join(" ");
            match &a.applied {
                Applied::PassThrough(w) => {
                    let word = grammar.vocab.word(*w);
                    out.push_str(&format!("{shown}\t{word} ||| {word}\t{pass_through}\t{children}\n"));
                }
                Applied::Rules(rules) => {
                    for rule in rules.clone() {
                        let cost = grammar.cost(rule);
                        out.push_str(&format!("{shown}\t{}\t{cost}\t{children}\n", grammar.show(rule)));
                    }
                }
            }
        }
    }
    out
}

pub fn to_json(grammar: &Grammar, chart: &Chart, pass_through: f64) -> Value {
    let cells = (0..chart.cells.len() as u32).map(|cell| {
        let c = &chart.cells[cell as usize];
        let mut rules = vec![];
        for a in chart.applications(cell) {
            let children: Vec<String> = chart.children(a).iter().map(|&c| name(grammar, chart, c)).collect();
            match &a.applied {
                Applied::PassThrough(w) => {
                    let word = grammar.vocab.word(*w);
                    rules.push(json!({"rule": format!("{word} ||| {word}"), "cost": pass_through, "cells": children}));
                }
                Applied::Rules(range) => rules.extend(
                    range
                        .clone()
                        .map(|r| json!({"rule": grammar.show(r), "cost": grammar.cost(r), "cells": children.clone()})),
                ),
            }
        }
        json!({
            "cell": name(grammar, chart, cell),
            "nonterminal": grammar.nonterminals()[c.nt as usize],
            "start": c.start,
            "end": c.end,
            "rules": rules,
        })
    });
    let goal = chart.goal.map(|g| name(grammar, chart, g));
    json!({"words": chart.words, "goal": goal, "cells": cells.collect::<Vec<_>>()})
}
