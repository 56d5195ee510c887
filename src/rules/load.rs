//! Rule files into a grammar.

use std::io::BufRead;

use rayon::prelude::*;

use super::format::{self, RuleFormat};
use super::grammar::{Builder, Grammar};
use super::rule::{Rule, Symbol};
use crate::error::{Error, Result};
use crate::format::io;

#[derive(Clone, Copy, Debug, Default)]
pub struct LoadConfig {
    /// `None`: found out from the first rule.
    pub format: Option<RuleFormat>,
    /// No glue rules, though no rule has the start symbol.
    pub no_glue: bool,
}

/// What HiFST writes for words that stand for something else.
pub const SPECIAL: [(&str, &str); 5] =
    [("<s>", "1"), ("</s>", "2"), ("<dr>", "999999999"), ("<oov>", "999999998"), ("<sep>", "999999992")];

/// Lines that are parsed at a time.
const BATCH: usize = 1 << 15;

/// What was read.
pub struct Loaded {
    pub grammar: Grammar,
    /// Of the first file.
    pub format: RuleFormat,
    /// Words are HiFST's numbers: then special words have become the numbers that HiFST gives them.
    pub integers: bool,
}

/// Reads files of rules, one after the other.
pub fn load(files: &[String], config: &LoadConfig) -> Result<Loaded> {
    let mut builder = Builder::default();
    let mut integers = None;
    let mut first = config.format;
    for file in files {
        let format = load_file(file, config, &mut builder, &mut integers)?;
        first = first.or(Some(format));
    }
    if builder.is_empty() {
        return Err(Error::usage(format!("{}: no rules", files.join(", "))));
    }
    if !config.no_glue {
        builder.add_glue().map_err(|e| Error::op("grammar", e))?;
    }
    let grammar = builder.finish()?;
    Ok(Loaded { grammar, format: first.unwrap_or_default(), integers: integers.unwrap_or(false) })
}

fn load_file(
    file: &str,
    config: &LoadConfig,
    builder: &mut Builder,
    integers: &mut Option<bool>,
) -> Result<RuleFormat> {
    let mut input = io::open(file)?;
    let mut format = config.format;
    let mut number = 1;
    let mut bytes = 0;
    let mut text = String::new();
    loop {
        text.clear();
        let mut lines = 0;
        while lines < BATCH {
            match input.reader.read_line(&mut text) {
                Ok(0) => break,
                Ok(n) => {
                    lines += 1;
                    bytes += n as u64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                    let line = number + lines;
                    return Err(Error::text(&input.name, line, 1, format!("not UTF-8 text, or damaged: {e}")));
                }
                Err(e) => return Err(io::read_error(&input.name, bytes, e)),
            }
        }
        if lines == 0 {
            break;
        }
        let rows: Vec<&str> = text.lines().collect();
        let format = *match &mut format {
            Some(f) => f,
            none => none.insert(rows.iter().find_map(|r| format::detect(r)).unwrap_or_default()),
        };
        let name = &input.name;
        let rules: Vec<Result<Option<Rule>>> =
            rows.par_iter().enumerate().map(|(i, row)| format::parse(format, name, number + i, row)).collect();
        // What the first rules are, all are.
        let integers = *integers.get_or_insert_with(|| {
            format == RuleFormat::Hifst && rules.iter().flatten().flatten().all(has_only_numbers)
        });
        for (i, rule) in rules.into_iter().enumerate() {
            let Some(mut rule) = rule? else { continue };
            if integers {
                numbers_for_special_words(&mut rule);
            }
            builder.add(&rule).map_err(|e| Error::text(name, number + i, 1, e))?;
        }
        number += lines;
    }
    Ok(format.unwrap_or_default())
}

fn has_only_numbers(rule: &Rule) -> bool {
    rule.source.iter().chain(&rule.target).all(|s| match s {
        Symbol::Word(w) => w.bytes().all(|b| b.is_ascii_digit()) || SPECIAL.iter().any(|(name, _)| name == w),
        Symbol::Nonterminal { .. } => true,
    })
}

fn numbers_for_special_words(rule: &mut Rule) {
    for symbol in rule.target.iter_mut().chain(rule.source.iter_mut()) {
        if let Symbol::Word(w) = symbol
            && let Some((_, n)) = SPECIAL.iter().find(|(name, _)| name == w)
        {
            *symbol = Symbol::Word(n);
        }
    }
}
