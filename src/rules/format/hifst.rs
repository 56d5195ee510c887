//! HiFST's rules: `LHS SRC TGT f1 [f2 ...]`, then optionally a tab and affiliations.
//!
//! ```text
//! X 3_X1_4_X2 X2_5_X1 1.2 0.3
//! S S_X S_X 0
//! V 3_4 5_6_7 0.5<TAB>0_0_1
//! ```
//!
//! The symbols of a side are joined by `_`. A nonterminal is upper-case letters and an optional number; the target names
//! it in the same way as the source. Everything else is a word: usually a number of a word map. Words of upper-case
//! letters cannot be told from nonterminals; convert them with a word map.
//!
//! Affiliations give for every word of the target (nonterminals are passed over) the position in the source, from 0 and
//! counting all symbols, that it comes from. They are read as links; on writing, a target word takes its first link, and
//! rules with a word that has none are written without affiliations.

use std::borrow::Cow;

use super::{Line, Links, number, tokens, write_number};
use crate::error::Result;
use crate::rules::rule::{Link, Rule, Symbol, column_name};

/// The target of a rule that deletes.
const DELETION: &str = "<dr>";

pub fn parse<'a>(line: &Line<'_, 'a>) -> Result<Option<Rule<'a>>> {
    if line.is_blank() || line.text.trim_start().starts_with('#') {
        return Ok(None);
    }
    let (main, affiliations) = affiliations(line.text);
    let mut fields = tokens(main);
    let left = fields.next().unwrap_or_default();
    let mut rule = Rule::default();
    if !is_name(left) {
        let message = format!("expected a left side in upper-case letters, found {left:?}");
        return Err(line.error(left, message));
    }
    rule.lhs = left;
    let source = fields.next().ok_or_else(|| line.error_at_end("expected the source side"))?;
    let target = fields.next().ok_or_else(|| line.error_at_end("expected the target side"))?;
    let mut links = Links::new();
    for token in side(line, source) {
        let token = token?;
        rule.source.push(match nonterminal(token) {
            Some(name) => links.source(line, token, name, token)?,
            None => Symbol::Word(token),
        });
    }
    for token in side(line, target) {
        let token = token?;
        rule.target.push(match nonterminal(token) {
            Some(name) => links.target(line, token, Some(name), token)?,
            None => Symbol::Word(token),
        });
    }
    links.check(line)?;
    for (i, token) in fields.enumerate() {
        rule.features.push((Cow::Owned(column_name(i)), number(line, token)?));
    }
    if let Some(text) = affiliations {
        affiliate(line, &mut rule, text)?;
    }
    Ok(Some(rule))
}

/// The fields, and what stands behind a tab after the third of them: tabs may also separate fields.
fn affiliations(text: &str) -> (&str, Option<&str>) {
    let Some((main, last)) = text.trim_end().rsplit_once('\t') else { return (text, None) };
    // A feature after a tab is one number; affiliations of one word are, too, but the tab is the only one then.
    let separated = main.contains('\t') && !last.contains('_');
    if separated || last.contains(' ') || tokens(main).count() < 4 { (text, None) } else { (main, Some(last)) }
}

fn side<'a>(line: &Line<'_, 'a>, text: &'a str) -> impl Iterator<Item = Result<&'a str>> {
    // Underscores alone: a word.
    let whole = text.bytes().all(|b| b == b'_');
    let parts = text.split(move |c| c == '_' && !whole);
    parts.map(move |part| {
        if part.is_empty() {
            return Err(line.error(part, "expected a symbol between underscores"));
        }
        Ok(part)
    })
}

/// `X` or `X1`: the name without the number.
fn nonterminal(token: &str) -> Option<&str> {
    let name = token.trim_end_matches(|c: char| c.is_ascii_digit());
    is_name(name).then_some(name)
}

pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase())
}

fn affiliate<'a>(line: &Line<'_, 'a>, rule: &mut Rule<'a>, text: &'a str) -> Result<()> {
    let mut words = (0..rule.target.len()).filter(|&j| rule.target[j].is_word());
    let mut links: Vec<Link> = vec![];
    for part in text.split('_') {
        let Some(j) = words.next() else {
            return Err(line.error(part, "more affiliations than words of the target"));
        };
        let position = match part.parse::<usize>() {
            Ok(p) if p < rule.source.len() && rule.source[p].is_word() => p,
            _ => return Err(line.error(part, format!("expected the position of a source word, found {part:?}"))),
        };
        let (Ok(s), Ok(t)) = (u16::try_from(position), u16::try_from(j)) else {
            return Err(line.error(part, "a link further than 65535 symbols"));
        };
        links.push((s, t));
    }
    if words.next().is_some() {
        return Err(line.error_at_end("fewer affiliations than words of the target"));
    }
    links.sort_unstable();
    rule.alignment.extend(links);
    Ok(())
}

pub fn unwritable(word: &str) -> Option<&'static str> {
    if nonterminal(word).is_some() {
        return Some("upper-case letters read as a nonterminal");
    }
    (word.contains('_') && !word.bytes().all(|b| b == b'_')).then_some("_ joins symbols")
}

pub fn write(rule: &Rule, out: &mut Vec<u8>) {
    out.extend_from_slice(rule.lhs.as_bytes());
    for side in [&rule.source, &rule.target] {
        out.push(b' ');
        if side.is_empty() {
            out.extend_from_slice(DELETION.as_bytes());
        }
        for (i, symbol) in side.iter().enumerate() {
            if i > 0 {
                out.push(b'_');
            }
            write_symbol(rule, symbol, out);
        }
    }
    for (_, value) in &rule.features {
        out.push(b' ');
        write_number(*value, out);
    }
    write_affiliations(rule, out);
}

fn write_symbol(rule: &Rule, symbol: &Symbol, out: &mut Vec<u8>) {
    match symbol {
        Symbol::Word(word) => out.extend_from_slice(word.as_bytes()),
        Symbol::Nonterminal { name, link } => {
            out.extend_from_slice(name.as_bytes());
            // A name that is there once needs no number.
            let same = |s: &&Symbol| matches!(s, Symbol::Nonterminal { name: n, .. } if n == name);
            if rule.source.iter().filter(same).count() > 1 {
                out.extend_from_slice(link.to_string().as_bytes());
            }
        }
    }
}

fn write_affiliations(rule: &Rule, out: &mut Vec<u8>) {
    let words = (0..rule.target.len()).filter(|&j| rule.target[j].is_word());
    let first = words.map(|j| rule.alignment.iter().find(|l| l.1 as usize == j).map(|l| l.0.to_string()));
    if let Some(all) = first.collect::<Option<Vec<_>>>()
        && !all.is_empty()
        && !rule.features.is_empty()
    {
        out.push(b'\t');
        out.extend_from_slice(all.join("_").as_bytes());
    }
}
