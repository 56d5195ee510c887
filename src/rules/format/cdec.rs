//! cdec's rules: `[X] ||| a [X,1] b ||| c [X,1] d ||| EgivenF=1.2 CountEF=0.3 ||| 0-0 2-2`.
//!
//! Features and alignment may be missing. A number without a name is a column, `F1`, `F2`, ...; the target may name
//! nonterminals by their number alone, `[1]`. Links of the alignment count all symbols; those between nonterminals say
//! nothing new and are dropped.

use std::borrow::Cow;

use super::{Line, Links, is_name, lhs, number, tokens, word_link, write_links, write_number};
use crate::error::Result;
use crate::rules::rule::{Rule, Symbol, column_name};

pub fn parse<'a>(line: &Line<'_, 'a>) -> Result<Option<Rule<'a>>> {
    if line.is_blank() || line.text.trim_start().starts_with('#') {
        return Ok(None);
    }
    let mut tokens = tokens(line.text);
    let mut rule = Rule::default();
    let first = tokens.next().unwrap_or_default();
    rule.lhs =
        lhs(first).ok_or_else(|| line.error(first, format!("expected a left side such as [X], found {first:?}")))?;
    match tokens.next() {
        Some("|||") => {}
        Some(other) => return Err(line.error(other, format!("expected ||| after the left side, found {other:?}"))),
        None => return Err(line.error_at_end("expected ||| and the source side")),
    }
    let mut links = Links::new();
    let mut field = 0;
    let mut columns = 0;
    let mut source_end = "";
    for token in tokens {
        if token == "|||" {
            if field == 0 {
                source_end = token;
            }
            field += 1;
            if field > 3 {
                return Err(line.error(token, "expected the end of the rule after the alignment"));
            }
            continue;
        }
        match field {
            0 => {
                let symbol = match nonterminal(token) {
                    Some((Some(name), key)) => links.source(line, key, name, token)?,
                    _ => Symbol::Word(token),
                };
                rule.source.push(symbol);
            }
            1 => {
                let symbol = match nonterminal(token) {
                    Some((name, key)) => links.target(line, key, name, token)?,
                    None => Symbol::Word(token),
                };
                rule.target.push(symbol);
            }
            2 => {
                let feature = match token.rsplit_once('=') {
                    Some(("", _)) => return Err(line.error(token, "expected a name before =")),
                    Some((name, value)) => (Cow::Borrowed(name), number(line, value)?),
                    None => {
                        columns += 1;
                        (Cow::Owned(column_name(columns - 1)), number(line, token)?)
                    }
                };
                rule.features.push(feature);
            }
            _ => rule.alignment.extend(word_link(line, &rule, token)?),
        }
    }
    if field == 0 {
        return Err(line.error_at_end("expected ||| and the target side"));
    }
    if rule.source.is_empty() {
        return Err(line.error(source_end, "the source side is empty"));
    }
    links.check(line)?;
    Ok(Some(rule))
}

/// `[X,1]` or `[1]`: the name if there is one, and the number.
fn nonterminal(token: &str) -> Option<(Option<&str>, u32)> {
    let inner = token.strip_prefix('[')?.strip_suffix(']')?;
    let (name, digits) = match inner.rsplit_once(',') {
        Some((name, digits)) if is_name(name) => (Some(name), digits),
        Some(_) => return None,
        None => (None, inner),
    };
    let digits = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)?;
    Some((name, digits.parse().ok()?))
}

pub fn unwritable(word: &str) -> Option<&'static str> {
    match word {
        "|||" => Some("||| separates fields"),
        _ if nonterminal(word).is_some() => Some("it reads as a nonterminal"),
        _ => None,
    }
}

pub fn write(rule: &Rule, out: &mut Vec<u8>) {
    write_with(rule, out, |name, value, out| {
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        write_number(value, out);
    });
}

/// The rule, each feature by `feature`.
pub fn write_with(rule: &Rule, out: &mut Vec<u8>, feature: impl Fn(&str, f64, &mut Vec<u8>)) {
    out.push(b'[');
    out.extend_from_slice(rule.lhs.as_bytes());
    out.extend_from_slice(b"] |||");
    write_side(&rule.source, out);
    out.extend_from_slice(b" |||");
    write_side(&rule.target, out);
    if rule.features.is_empty() && rule.alignment.is_empty() {
        return;
    }
    out.extend_from_slice(b" |||");
    for (name, value) in &rule.features {
        out.push(b' ');
        feature(name, *value, out);
    }
    if !rule.alignment.is_empty() {
        out.extend_from_slice(b" ||| ");
        write_links(&rule.alignment, out);
    }
}

/// The symbols of a side, a blank before each.
pub fn write_side(side: &[Symbol], out: &mut Vec<u8>) {
    for symbol in side {
        out.push(b' ');
        match symbol {
            Symbol::Word(word) => out.extend_from_slice(word.as_bytes()),
            Symbol::Nonterminal { name, link } => out.extend_from_slice(format!("[{name},{link}]").as_bytes()),
        }
    }
}
