//! Moses' rule tables and phrase tables.
//!
//! ```text
//! a [X][X] b [X] ||| c [X][X] d [X] ||| 0.1 0.2 0.3 0.4 ||| 0-0 1-1 2-2 ||| 4 5 3
//! a b ||| c d ||| 0.1 0.2 0.3 0.4 ||| 0-0 1-1 ||| 4 5 3
//! ```
//!
//! A line whose sides both end in `[X]` is a rule with that left side; another is a phrase, whose left side is `X`. A
//! nonterminal has two labels, the source's and the target's; weft has one, so they must be the same, or one of them `X`.
//! The alignment links nonterminals, too, and is where their order comes from.
//!
//! Numbers are probabilities and become costs, −ln p; 0 becomes 100, Moses' own floor. With four columns or more the first
//! four are p(f|e), lex(f|e), p(e|f), lex(e|f), called `FgivenE`, `LexFgivenE`, `EgivenF`, `LexEgivenF`; all others are
//! `F1`, `F2`, ... by their column. Counts and what follows them are not read.
//!
//! Written: the four first if all are there, then the others in the rule's order. A rule without nonterminals keeps its
//! left side, as Moses' chart decoder wants it; `write_phrase` leaves it away for the phrase decoder.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Line, Links, is_name, lhs, link, number, tokens, word_link, write_number};
use crate::error::Result;
use crate::rules::rule::{Rule, Symbol, column_name};

/// The cost of probability 0.
const FLOOR: f64 = 100.0;

/// The first four columns.
pub const COLUMNS: [&str; 4] = ["FgivenE", "LexFgivenE", "EgivenF", "LexEgivenF"];

pub fn parse<'a>(line: &Line<'_, 'a>) -> Result<Option<Rule<'a>>> {
    if line.is_blank() {
        return Ok(None);
    }
    let mut sides: [SmallVec<[&'a str; 12]>; 2] = Default::default();
    let mut numbers: SmallVec<[&'a str; 8]> = SmallVec::new();
    let mut alignment: SmallVec<[&'a str; 12]> = SmallVec::new();
    let mut field = 0;
    let mut separators = [""; 2];
    for token in tokens(line.text) {
        match (token, field) {
            ("|||", _) => {
                if let Some(s) = separators.get_mut(field) {
                    *s = token;
                }
                field += 1;
            }
            (_, 0 | 1) => sides[field].push(token),
            (_, 2) => numbers.push(token),
            (_, 3) => alignment.push(token),
            _ => break,
        }
    }
    if field == 0 {
        return Err(line.error_at_end("expected ||| and the target side"));
    }
    let mut rule = Rule { lhs: "X", ..Rule::default() };
    let ends = sides.each_ref().map(|side| side.last().and_then(|t| lhs(t).map(|name| (*t, name))));
    if let [Some((_, source)), Some((token, target))] = ends {
        rule.lhs = one_label(line, token, source, target)?;
        for side in &mut sides {
            side.pop();
        }
    }
    let [source, target] = sides;
    if source.is_empty() {
        return Err(line.error(separators[0], "the source side is empty"));
    }
    let mut links = Links::new();
    for (i, token) in source.into_iter().enumerate() {
        let symbol = match nonterminal(token) {
            Some((s, t)) => links.source(line, i, one_label(line, token, s, t)?, token)?,
            None => Symbol::Word(token),
        };
        rule.source.push(symbol);
    }
    for (j, token) in target.into_iter().enumerate() {
        let symbol = match nonterminal(token) {
            Some((s, t)) => {
                let name = one_label(line, token, s, t)?;
                let mut linked = None;
                for pair in &alignment {
                    if let (i, t) = link(line, pair)?
                        && t == j
                    {
                        linked = Some(i);
                    }
                }
                let i = linked.ok_or_else(|| line.error(token, format!("{token} has no link in the alignment")))?;
                links.target(line, i, Some(name), token)?
            }
            None => Symbol::Word(token),
        };
        rule.target.push(symbol);
    }
    links.check(line)?;
    let named = numbers.len() >= COLUMNS.len();
    for (i, token) in numbers.into_iter().enumerate() {
        let p = number(line, token)?;
        if p < 0.0 {
            return Err(line.error(token, format!("expected a probability, found {token}")));
        }
        let name = match COLUMNS.get(i) {
            Some(name) if named => Cow::Borrowed(*name),
            _ => Cow::Owned(column_name(i)),
        };
        // Not `-0` for 1.
        rule.features.push((name, if p == 0.0 { FLOOR } else { 0.0 - p.ln() }));
    }
    for token in alignment {
        rule.alignment.extend(word_link(line, &rule, token)?);
    }
    Ok(Some(rule))
}

/// `[X][X]`: the two labels.
fn nonterminal(token: &str) -> Option<(&str, &str)> {
    let (source, target) = token.strip_prefix('[')?.strip_suffix(']')?.split_once("][")?;
    (is_name(source) && is_name(target)).then_some((source, target))
}

fn one_label<'a>(line: &Line, token: &str, source: &'a str, target: &'a str) -> Result<&'a str> {
    match (source, target) {
        (s, t) if s == t || t == "X" => Ok(s),
        ("X", t) => Ok(t),
        (s, t) => Err(line.error(token, format!("the labels {s} and {t} differ; a nonterminal has one name here"))),
    }
}

pub fn unwritable(word: &str) -> Option<&'static str> {
    match word {
        "|||" => Some("||| separates fields"),
        _ if nonterminal(word).is_some() || lhs(word).is_some() => Some("it reads as a nonterminal"),
        _ => None,
    }
}

pub fn write(rule: &Rule, out: &mut Vec<u8>) {
    write_as(rule, false, out);
}

/// As a line of a phrase table.
pub fn write_phrase(rule: &Rule, out: &mut Vec<u8>) {
    write_as(rule, true, out);
}

fn write_as(rule: &Rule, phrase: bool, out: &mut Vec<u8>) {
    for (side, end) in [(&rule.source, "||| "), (&rule.target, "|||")] {
        for symbol in side {
            match symbol {
                Symbol::Word(word) => out.extend_from_slice(word.as_bytes()),
                Symbol::Nonterminal { name, .. } => out.extend_from_slice(format!("[{name}][{name}]").as_bytes()),
            }
            out.push(b' ');
        }
        if !phrase {
            out.extend_from_slice(format!("[{}] ", rule.lhs).as_bytes());
        }
        out.extend_from_slice(end.as_bytes());
    }
    let first = COLUMNS.map(|name| rule.feature(name));
    let all = first.iter().all(Option::is_some);
    let costs = first.into_iter().flatten().filter(|_| all);
    let others = rule.features.iter().filter(|(name, _)| !all || !COLUMNS.contains(&name.as_ref())).map(|f| f.1);
    for cost in costs.chain(others) {
        out.push(b' ');
        write_probability(cost, out);
    }
    out.extend_from_slice(b" |||");
    let mut links: SmallVec<[(usize, usize); 12]> =
        rule.alignment.iter().map(|&(s, t)| (s as usize, t as usize)).collect();
    for (i, symbol) in rule.source.iter().enumerate().filter(|(_, s)| !s.is_word()) {
        links.extend(rule.target.iter().position(|t| t == symbol).map(|j| (i, j)));
    }
    links.sort_unstable();
    for (s, t) in links {
        out.extend_from_slice(format!(" {s}-{t}").as_bytes());
    }
}

/// e^−cost; fifteen digits are enough if they read back as the cost, as those of a table of probabilities do.
fn write_probability(cost: f64, out: &mut Vec<u8>) {
    let p = (-cost).exp();
    if p == 1.0 {
        return write_number(p, out);
    }
    match format!("{p:.14e}").parse::<f64>() {
        Ok(rounded) if 0.0 - rounded.ln() == cost => write_number(rounded, out),
        _ => write_number(p, out),
    }
}
