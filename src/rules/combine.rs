//! The reduce step of extraction: equal rules become one, its `Count` the sum, its alignment the most frequent one.
//!
//! Needs lines sorted by `LC_ALL=C sort`. Of alignments that are equally frequent the first in that order is taken.

use super::extract::{UNIT, write_count};
use super::format::{self, RuleFormat};
use super::stage;
use crate::error::{Error, Result};
use crate::text::lines::Block;

/// Combines the groups of a block.
pub fn block(block: &Block) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(block.text.len());
    let mut last = "";
    let mut tally: Vec<(&str, u64)> = vec![];
    let mut lines = block.lines().peekable();
    while let Some((number, line)) = lines.next() {
        let key = stage::rule_key(line);
        if key < last && format::parse(RuleFormat::Cdec, &block.file, number, line)?.is_some() {
            return Err(stage::unsorted(block, number));
        }
        last = key;
        tally.clear();
        let (mut count, links) = instance(block, number, line, key)?;
        tally.push((links, count));
        while let Some((number, same)) = lines.next_if(|(_, l)| stage::has_key(l, key)) {
            let (more, links) = instance(block, number, same, key)?;
            count += more;
            match tally.iter_mut().find(|(l, _)| *l == links) {
                Some(t) => t.1 += more,
                None => tally.push((links, more)),
            }
        }
        let best = tally.iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0))).map_or("", |t| t.0);
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b" Count=");
        write_count(count, &mut out);
        if !best.is_empty() {
            out.extend_from_slice(b" ||| ");
            out.extend_from_slice(best.as_bytes());
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// The count and the alignment of a line: quickly for lines of `extract`, else by the reader of rules.
fn instance<'a>(block: &'a Block, number: usize, line: &'a str, key: &str) -> Result<(u64, &'a str)> {
    if let Some(links) = line[key.len()..].strip_prefix(" Count=1 ||| ") {
        return Ok((UNIT, links));
    }
    let count = count(block, number, line)?;
    Ok((count, stage::separators(line).get(3).map_or("", |f| line[f + 3..].trim())))
}

/// The `Count` of a rule, in millionths.
pub fn count(block: &Block, number: usize, line: &str) -> Result<u64> {
    let Some(rule) = format::parse(RuleFormat::Cdec, &block.file, number, line)? else {
        return Err(Error::text(&block.file, number, 1, "expected a rule"));
    };
    count_of(rule.feature("Count"), block, number, line)
}

pub fn count_of(value: Option<f64>, block: &Block, number: usize, line: &str) -> Result<u64> {
    let count = value.map(|value| (value * UNIT as f64).round());
    match count {
        Some(count) if (1.0..1e18).contains(&count) => Ok(count as u64),
        _ => {
            let at = line.find("Count=").map_or(line.trim_end().len(), |i| i + "Count=".len());
            let message = if count.is_some() { "expected a positive count" } else { "the rule has no Count" };
            Err(Error::text(&block.file, number, line[..at].chars().count() + 1, message))
        }
    }
}
