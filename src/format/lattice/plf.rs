//! PLF, the Python-like lattices of Moses: a line a lattice, `((('word',0.5,1),('other',0.5,2),),(...),)`.
//!
//! The outer tuple has a column for every state but the last; an arc is a word, one or more probabilities, and how many
//! states it goes forward. The cost is the sum of −ln of the probabilities. `*EPS*` is no word.

use super::{Imported, Reader, Scales, finite, is_nothing, weight};
use crate::error::{Error, Result};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::{Tropical, Weight};

/// Every line of a file; keys are numbers of lines, all of one width.
pub fn read(file: &str, text: &str, scales: &Scales) -> impl Iterator<Item = Imported> {
    let width = text.lines().count().to_string().len();
    text.lines()
        .enumerate()
        .map(move |(n, line)| Imported { key: format!("{:0width$}", n + 1), fst: lattice(file, n + 1, line, scales) })
}

fn lattice(file: &str, number: usize, line: &str, scales: &Scales) -> Result<FlatFst<Tropical>> {
    let mut p = Parser { file, number, line, at: 0 };
    let mut out = Reader::new();
    out.state(0);
    let mut last = 0;
    let mut farthest = (0, 0);
    p.tuple(|p| {
        p.tuple(|p| {
            p.expect('(')?;
            let word = p.quoted()?;
            let mut numbers = vec![];
            while p.comma() {
                let at = p.at;
                let text = p.number();
                // Python's tuples may end in a comma.
                if text.is_empty() {
                    break;
                }
                numbers.push((at, text));
            }
            p.expect(')')?;
            let Some((&(at, jump), scores)) = numbers.split_last() else {
                return Err(p.error(p.at, "expected a probability and a number of states to go forward"));
            };
            let jump = jump.parse::<u64>().ok().filter(|&j| (1..1 << 31).contains(&j));
            let jump = jump.ok_or_else(|| p.error(at, "expected how many states to go forward, from 1 on"))?;
            let mut cost = Some(if is_nothing(&word) { 0.0 } else { scales.word_penalty.unwrap_or(0.0) });
            for (at, score) in scores {
                let value = finite(score).filter(|v| *v >= 0.0);
                let value = value.ok_or_else(|| p.error(*at, format!("{score:?}: expected a probability")))?;
                cost = cost.filter(|_| value > 0.0).map(|c| c - scales.lm.unwrap_or(1.0) * value.ln());
            }
            let weight = weight(cost).map_err(|why| p.error(at, why))?;
            if last + jump > farthest.0 {
                farthest = (last + jump, at);
            }
            out.arc(last, last + jump, &word, weight);
            Ok(())
        })?;
        last += 1;
        Ok(())
    })?;
    p.space();
    if p.at < line.len() {
        return Err(p.error(p.at, "expected the end of the line"));
    }
    if last == 0 {
        return Err(p.error(0, "the lattice is empty"));
    }
    if farthest.0 > last {
        let message = format!("an arc goes to state {}, but the last one is {last}", farthest.0);
        return Err(p.error(farthest.1, message));
    }
    Ok(out.finish(0, &[(last, Tropical::ONE)]))
}

struct Parser<'a> {
    file: &'a str,
    number: usize,
    line: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, at: usize, message: impl Into<String>) -> Error {
        let column = self.line[..at].chars().count() + 1;
        Error::text(self.file, self.number, column, message)
    }
    fn space(&mut self) {
        self.at = self.line.len() - self.line[self.at..].trim_start().len();
    }
    fn comma(&mut self) -> bool {
        self.take(',')
    }
    fn take(&mut self, c: char) -> bool {
        self.space();
        let there = self.line[self.at..].starts_with(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }
    fn expect(&mut self, c: char) -> Result<()> {
        if self.take(c) { Ok(()) } else { Err(self.error(self.at, format!("expected `{c}`"))) }
    }
    /// Items between parentheses, with commas between and perhaps after them.
    fn tuple(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect('(')?;
        while !self.take(')') {
            item(self)?;
            if !self.comma() {
                return self.expect(')');
            }
        }
        Ok(())
    }
    fn number(&mut self) -> &'a str {
        self.space();
        let rest = &self.line[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    /// A string between single or double quotes; a backslash takes the next character as it is.
    fn quoted(&mut self) -> Result<String> {
        self.space();
        let begin = self.at;
        let mut chars = self.line[begin..].char_indices();
        let quote = match chars.next() {
            Some((_, c @ ('\'' | '"'))) => c,
            _ => return Err(self.error(begin, "expected a word between quotes")),
        };
        let mut word = String::new();
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => word.extend(chars.next().map(|(_, c)| c)),
                c if c == quote => {
                    self.at = begin + i + c.len_utf8();
                    return Ok(word);
                }
                c => word.push(c),
            }
        }
        Err(self.error(begin, "the quote is not closed"))
    }
}
