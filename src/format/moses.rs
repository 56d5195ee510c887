//! N-best lists as Moses writes them: `number ||| words ||| name= value ... ||| score`.
//!
//! Numbers of sentences count from 0. Values and scores are logarithms, so that more is better: costs with the other sign,
//! with nine significant digits. Bars that are words (`|||`) are written as Moses escapes them, `&#124;`.

use std::borrow::Cow;
use std::fmt::Write;

use super::number::write_g;
use crate::error::{Error, Result};

const BARS: &str = "|||";
const ESCAPED: &str = "&#124;&#124;&#124;";

/// Words that cannot be taken for the end of a field.
pub fn escaped(words: &str) -> Cow<'_, str> {
    if words.contains(BARS) { words.replace(BARS, ESCAPED).into() } else { words.into() }
}

/// One line; features are costs by name.
pub fn write_hypothesis(out: &mut String, number: usize, words: &str, features: &[(String, f64)], cost: f64) {
    let _ = write!(out, "{number} ||| {} |||", escaped(words));
    for (name, value) in features {
        let _ = write!(out, " {name}= ");
        write_score(out, *value);
    }
    out.push_str(" ||| ");
    write_score(out, cost);
    out.push('\n');
}

/// A line of a list, as it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub number: usize,
    pub words: String,
    pub features: String,
    pub score: f64,
    /// Fields after the score (alignments, for example), with the bars before them.
    pub more: String,
}

/// Reads a line; `file` and `at` are where it stands.
pub fn read_line(line: &str, file: &str, at: usize) -> Result<Line> {
    let fields: Vec<&str> = line.split(BARS).collect();
    let wrong = |field: usize, message: String| {
        let before: usize = fields[..field].iter().map(|f| f.chars().count() + 3).sum();
        let blanks = fields[field].chars().take_while(|c| c.is_whitespace()).count();
        Error::text(file, at, before + blanks + 1, message)
    };
    if fields.len() < 4 {
        let message = format!("{} fields, expected `number ||| words ||| features ||| score`", fields.len());
        return Err(wrong(0, message));
    }
    let text = |i: usize| fields[i].trim();
    let number = text(0).parse();
    let number = number.map_err(|_| wrong(0, format!("{:?} is no number of a sentence (from 0)", text(0))))?;
    let score: Option<f64> = text(3).parse().ok().filter(|s: &f64| s.is_finite());
    let score = score.ok_or_else(|| wrong(3, format!("the score is {:?}, expected a finite number", text(3))))?;
    let more = fields[4..].iter().map(|f| format!(" ||| {}", f.trim())).collect();
    Ok(Line { number, words: text(1).replace(ESCAPED, BARS), features: text(2).into(), score, more })
}

/// A cost as a score; no minus before a zero.
fn write_score(out: &mut String, cost: f64) {
    write_g(out, -cost + 0.0, 9);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_become_scores() {
        let mut out = String::new();
        write_hypothesis(&mut out, 3, "a b", &[("lm".into(), 2.5), ("words".into(), 0.0)], -0.125);
        write_hypothesis(&mut out, 4, "", &[], 1.0);
        assert_eq!(out, "3 ||| a b ||| lm= -2.5 words= 0 ||| 0.125\n4 |||  ||| ||| -1\n");
        let lines: Vec<Line> = out.lines().map(|l| read_line(l, "f", 1).unwrap()).collect();
        assert_eq!((lines[0].number, lines[0].words.as_str(), lines[0].score), (3, "a b", 0.125));
        assert_eq!((lines[1].words.as_str(), lines[1].features.as_str(), lines[1].score), ("", "", -1.0));
        let mut bars = String::new();
        write_hypothesis(&mut bars, 0, "a ||| b", &[], 1.0);
        assert_eq!(bars, "0 ||| a &#124;&#124;&#124; b ||| ||| -1\n");
        assert_eq!(read_line(&bars, "f", 1).unwrap().words, "a ||| b");
        assert_eq!(read_line("0 ||| a ||| ||| -1 ||| 0-0", "f", 1).unwrap().more, " ||| 0-0");
    }

    #[test]
    fn bad_lines_have_a_place() {
        let said = |line: &str| read_line(line, "f", 7).unwrap_err().to_string();
        assert_eq!(said("x ||| a ||| ||| 1"), "f:7:1: \"x\" is no number of a sentence (from 0)");
        assert_eq!(said("0 ||| ä ||| l= 1 ||| NaN"), "f:7:22: the score is \"NaN\", expected a finite number");
        assert!(said("0 ||| a").starts_with("f:7:1: 2 fields, expected"));
    }
}
