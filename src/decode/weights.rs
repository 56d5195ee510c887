//! The weights of features: a TOML file of `name = number`, weights by column, or what is good enough to begin with.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::format::io;
use crate::rules::grammar::{GLUE, PASS_THROUGH};

/// Features of `weft rules extract` and of the decoder, with weights that give sensible translations before any tuning:
/// rounded from a random search over n-best lists of the English-Japanese development set.
pub const DEFAULTS: [(&str, f64); 9] = [
    ("EgivenF", 0.7),
    ("FgivenE", 0.7),
    ("LexEgivenF", 0.1),
    ("LexFgivenE", 0.1),
    ("Count1", 0.4),
    ("RuleCount", -0.6),
    ("WordCount", -1.3),
    (GLUE, 0.4),
    (PASS_THROUGH, 10.0),
];

#[derive(Clone, Debug, Default)]
pub struct Weights {
    named: BTreeMap<String, f64>,
    /// The file they come from and its text, for messages.
    file: String,
    text: String,
}

impl Weights {
    /// Reads `name = number` lines; tables group names and count for nothing.
    pub fn read(file: &str) -> Result<Self> {
        let (shown, text) = io::read_text(file)?;
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            let (line, column) = e.span().map_or((1, 1), |s| place(&text, s.start));
            let message = format!("{}; expected lines `name = number`", e.message());
            Error::text(&shown, line, column, message)
        })?;
        let mut weights = Weights { file: shown, text, ..Weights::default() };
        weights.add_table(&table)?;
        Ok(weights)
    }

    fn add_table(&mut self, table: &toml::Table) -> Result<()> {
        for (name, value) in table {
            let number = match value {
                toml::Value::Float(x) if x.is_finite() => *x,
                toml::Value::Integer(n) => *n as f64,
                toml::Value::Table(inner) => {
                    self.add_table(inner)?;
                    continue;
                }
                other => {
                    let message = format!("the weight of {name} is {other}, expected a finite number");
                    return Err(self.wrong(name, message));
                }
            };
            self.named.insert(name.clone(), number);
        }
        Ok(())
    }

    /// An error at the place where a weight was given: the last line that gives it one, if it can be told.
    pub fn wrong(&self, name: &str, message: impl Into<String>) -> Error {
        let quotes = ['"', '\''];
        let gives = |l: &str| {
            let rest = l.trim_start().trim_start_matches(quotes).strip_prefix(name);
            rest.is_some_and(|r| r.trim_start_matches(quotes).trim_start().starts_with('='))
        };
        match self.text.lines().enumerate().filter(|(_, l)| gives(l)).last() {
            Some((i, _)) => Error::text(&self.file, i + 1, 1, message.into()),
            None if self.file.is_empty() => Error::usage(message.into()),
            None => Error::usage(format!("{}: {}", self.file, message.into())),
        }
    }

    /// Weights of the columns of a format without names.
    pub fn set_columns(&mut self, weights: &[f64]) {
        for (i, &w) in weights.iter().enumerate() {
            self.named.insert(crate::rules::rule::column_name(i), w);
        }
    }

    /// The weight of a feature, if it was given.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.named.get(name).copied()
    }

    /// The weight to use: the one given, or the default; columns weigh 1. `None`: a name that nobody gave a weight.
    pub fn of(&self, name: &str) -> Option<f64> {
        let column = || name.strip_prefix('F').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        let known = || DEFAULTS.iter().find(|(n, _)| *n == name).map(|&(_, w)| w);
        self.get(name).or_else(known).or_else(|| column().then_some(1.0))
    }

    /// Names that were given a weight and are none of these.
    pub fn unused<'a>(&'a self, known: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        self.named.keys().map(String::as_str).filter(|n| !known.contains(n))
    }
}

/// Line and column, from 1, of a byte.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Weights> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("w.toml");
        std::fs::write(&file, text).unwrap();
        Weights::read(file.to_str().unwrap())
    }

    #[test]
    fn names_tables_and_defaults() {
        let mut w = read("EgivenF = 2\n[lm]\nLM = 0.5\n").unwrap();
        assert_eq!((w.of("EgivenF"), w.of("LM"), w.of(GLUE), w.of("Other")), (Some(2.0), Some(0.5), Some(0.4), None));
        w.set_columns(&[1.0, 0.3]);
        assert_eq!((w.of("F2"), w.of("F3")), (Some(0.3), Some(1.0)));
        assert_eq!(w.unused(&["EgivenF", "LM", "F1", "F2"]).count(), 0);
    }

    #[test]
    fn errors_have_a_place() {
        let e = read("A = 1\nB = \"x\"\n").unwrap_err().to_string();
        assert!(e.contains(":2:1: the weight of B"), "{e}");
        let e = read("A = 1\nB = = 2\n").unwrap_err().to_string();
        assert!(e.contains(":2:5:"), "{e}");
    }
}
