//! Rule files: one rule a line, in the formats of cdec (weft's own), Joshua, Moses and HiFST.
//!
//! ```text
//! cdec    [X] ||| a [X,1] b ||| c [X,1] d ||| EgivenF=1.2 CountEF=0.3 ||| 0-0 2-2
//! Joshua  [X] ||| a [X,1] b ||| c [X,1] d ||| 1.2 0.3 ||| 0-0 2-2
//! Moses   a [X][X] b [X] ||| c [X][X] d [X] ||| 0.1 0.2 0.3 0.4 ||| 0-0 1-1 2-2 ||| 4 5 3
//! HiFST   X 3_X_4 5_X_6 1.2 0.3
//! ```
//!
//! All of them are read into `Rule`, whose features are costs, and written from it. What a line cannot be is an error with
//! its column, counted in characters from 1. Fields are separated by blanks and tabs only: other blanks of Unicode are
//! words. Numbers are finite; they are written with the fewest digits that read back as the same number.
//!
//! A side of a rule may be empty where it is the target and the format has fields (cdec, Joshua, Moses): the rule deletes.
//! In HiFST such a target is written `<dr>`, and `<dr>` is read as a word like `<oov>`, `<sep>`, `<s>` and `</s>`.

mod cdec;
mod hifst;
mod joshua;
mod moses;

pub use moses::COLUMNS as MOSES_COLUMNS;
use smallvec::SmallVec;

use super::rule::{Link, Rule, Symbol};
use crate::error::{Error, Result};

/// Whose form the lines have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum RuleFormat {
    /// Named costs: weft's own
    #[default]
    Cdec,
    /// As cdec, costs in columns
    Joshua,
    /// Probabilities in columns: hierarchical tables and phrase tables
    Moses,
    /// Sides joined by `_`, costs in columns
    Hifst,
}

impl RuleFormat {
    /// Features are told apart by their column, not by a name.
    pub fn has_columns(self) -> bool {
        self != RuleFormat::Cdec
    }
}

/// Reads a line. `None`: a blank line or, in formats where no rule can begin with `#`, a comment.
pub fn parse<'a>(format: RuleFormat, file: &str, number: usize, line: &'a str) -> Result<Option<Rule<'a>>> {
    let line = Line { file, number, text: line };
    match format {
        RuleFormat::Cdec => cdec::parse(&line),
        RuleFormat::Joshua => joshua::parse(&line),
        RuleFormat::Moses => moses::parse(&line),
        RuleFormat::Hifst => hifst::parse(&line),
    }
}

/// Appends the rule and a newline. In formats with columns the features are written in the order the rule has them.
pub fn write(format: RuleFormat, rule: &Rule, out: &mut Vec<u8>) {
    match format {
        RuleFormat::Cdec => cdec::write(rule, out),
        RuleFormat::Joshua => joshua::write(rule, out),
        RuleFormat::Moses => moses::write(rule, out),
        RuleFormat::Hifst => hifst::write(rule, out),
    }
    out.push(b'\n');
}

/// Appends a rule without nonterminals and a newline, as a line of a Moses phrase table: without its left side.
pub fn write_phrase(rule: &Rule, out: &mut Vec<u8>) {
    moses::write_phrase(rule, out);
    out.push(b'\n');
}

/// The format that a line seems to have; blank lines and comments tell nothing.
pub fn detect(line: &str) -> Option<RuleFormat> {
    let mut tokens = tokens(line);
    let first = tokens.next()?;
    if first.starts_with('#') && line.split("|||").count() < 3 {
        return None;
    }
    if !line.contains("|||") {
        return Some(RuleFormat::Hifst);
    }
    if lhs(first).is_none() || tokens.next() != Some("|||") {
        return Some(RuleFormat::Moses);
    }
    let features = tokens.skip_while(|&t| t != "|||").skip(1).skip_while(|&t| t != "|||").skip(1);
    let mut features = features.take_while(|&t| t != "|||").peekable();
    let plain = features.peek().is_some() && features.all(|t| t.parse::<f64>().is_ok());
    Some(if plain { RuleFormat::Joshua } else { RuleFormat::Cdec })
}

/// Why the format could not tell this word from something else; `None`: it can.
pub fn unwritable(format: RuleFormat, word: &str) -> Option<&'static str> {
    if word.is_empty() || word.bytes().any(is_blank) {
        return Some("a word has no blanks");
    }
    match format {
        RuleFormat::Cdec | RuleFormat::Joshua => cdec::unwritable(word),
        RuleFormat::Moses => moses::unwritable(word),
        RuleFormat::Hifst => hifst::unwritable(word),
    }
}

/// Why the format could not write this name of a nonterminal; `None`: it can.
pub fn unwritable_name(format: RuleFormat, name: &str) -> Option<&'static str> {
    match format {
        RuleFormat::Hifst if !hifst::is_name(name) => Some("nonterminals of HiFST are upper-case letters"),
        _ if !is_name(name) => Some("a nonterminal has no blanks, commas or brackets"),
        _ => None,
    }
}

/// The line that is read, for errors.
struct Line<'l, 'a> {
    file: &'l str,
    number: usize,
    text: &'a str,
}

impl Line<'_, '_> {
    /// What is wrong with `part`, a slice of the line.
    fn error(&self, part: &str, message: impl Into<String>) -> Error {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        self.error_at(at, message)
    }
    fn error_at(&self, at: usize, message: impl Into<String>) -> Error {
        let column = self.text.get(..at).map_or(at, |t| t.chars().count()) + 1;
        Error::text(self.file, self.number, column, message)
    }
    /// Something is missing at the end of the line.
    fn error_at_end(&self, message: impl Into<String>) -> Error {
        self.error_at(self.text.trim_end().len(), message)
    }
    fn is_blank(&self) -> bool {
        self.text.bytes().all(is_blank)
    }
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

/// What stands between blanks.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && is_blank(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && !is_blank(bytes[at]) {
            at += 1;
        }
        (at > start).then(|| &text[start..at])
    })
}

/// `[X]`: the name in it.
fn lhs(token: &str) -> Option<&str> {
    let name = token.strip_prefix('[')?.strip_suffix(']')?;
    is_name(name).then_some(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.bytes().any(|b| matches!(b, b'[' | b']' | b',') || is_blank(b))
}

/// A feature's number.
fn number(line: &Line, token: &str) -> Result<f64> {
    match token.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(line.error(token, format!("expected a finite number, found {token:?}"))),
    }
}

/// Appends a number with the fewest digits that read back as it.
pub(crate) fn write_number(value: f64, out: &mut Vec<u8>) {
    // Whole numbers without `.0`.
    if value.trunc() == value && value.abs() < 1e15 {
        let mut text = String::with_capacity(20);
        crate::format::number::write_int(&mut text, value as i64);
        return out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
}

/// `3-4`: the two numbers.
fn link(line: &Line, token: &str) -> Result<(usize, usize)> {
    let numbers = token.split_once('-').and_then(|(s, t)| Some((s.parse().ok()?, t.parse().ok()?)));
    numbers.ok_or_else(|| line.error(token, format!("expected a link such as 0-1, found {token:?}")))
}

/// A link of words in the rule; `None`: it links nonterminals.
fn word_link(line: &Line, rule: &Rule, token: &str) -> Result<Option<Link>> {
    let (s, t) = link(line, token)?;
    let (Some(source), Some(target)) = (rule.source.get(s), rule.target.get(t)) else {
        let (m, n) = (rule.source.len(), rule.target.len());
        return Err(line.error(token, format!("the link {token} is outside a rule of {m} and {n} symbols")));
    };
    let (Ok(s), Ok(t)) = (u16::try_from(s), u16::try_from(t)) else {
        return Err(line.error(token, "a link further than 65535 symbols"));
    };
    match (source.is_word(), target.is_word()) {
        (true, true) => Ok(Some((s, t))),
        (false, false) => Ok(None),
        _ => Err(line.error(token, format!("the link {token} is between a word and a nonterminal"))),
    }
}

fn write_links(links: &[Link], out: &mut Vec<u8>) {
    for (i, (s, t)) in links.iter().enumerate() {
        let gap = if i > 0 { " " } else { "" };
        out.extend_from_slice(format!("{gap}{s}-{t}").as_bytes());
    }
}

/// Nonterminals of the source as the file has them: what they are found by, and where they stand in the line.
struct Links<'a, K> {
    found: SmallVec<[(K, &'a str, bool, &'a str); 4]>,
}

impl<'a, K: PartialEq> Links<'a, K> {
    fn new() -> Self {
        Links { found: SmallVec::new() }
    }

    /// A nonterminal of the source: `key` is by what the target will name it.
    fn source(&mut self, line: &Line, key: K, name: &'a str, token: &'a str) -> Result<Symbol<'a>> {
        if self.found.iter().any(|f| f.0 == key) {
            return Err(line.error(token, format!("{token} is in the source twice; number nonterminals apart")));
        }
        self.found.push((key, name, false, token));
        let link = u8::try_from(self.found.len()).map_err(|_| line.error(token, "more than 255 nonterminals"))?;
        Ok(Symbol::Nonterminal { name, link })
    }

    /// A nonterminal of the target; without a name it is the source's.
    fn target(&mut self, line: &Line, key: K, name: Option<&str>, token: &str) -> Result<Symbol<'a>> {
        let Some(i) = self.found.iter().position(|f| f.0 == key) else {
            return Err(line.error(token, format!("{token} of the target is not in the source")));
        };
        let found = &mut self.found[i];
        if name.is_some_and(|n| n != found.1) {
            return Err(line.error(token, format!("{token} is linked to {} of the source: another name", found.3)));
        }
        if std::mem::replace(&mut found.2, true) {
            return Err(line.error(token, format!("{token} is in the target twice")));
        }
        Ok(Symbol::Nonterminal { name: found.1, link: i as u8 + 1 })
    }

    /// Every nonterminal of the source must be in the target.
    fn check(&self, line: &Line) -> Result<()> {
        match self.found.iter().find(|f| !f.2) {
            Some(f) => Err(line.error(f.3, format!("{} of the source is not in the target", f.3))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
