//! Rules from one format to another, words to numbers and back.
//!
//! In formats without names features stand in columns. Which ones, and in what order, is said or taken from the first
//! rules; a rule that has another feature then is an error, and one that lacks a feature has 0 there.

use rustc_hash::FxHashMap;

use super::format::{self, RuleFormat};
use super::rule::{Rule, Symbol};
use super::score;
use crate::error::{Error, Result};
use crate::format::symtab;
use crate::text::lines::Block;

/// Words of HiFST that need not be in a word map.
const SPECIAL: [&str; 3] = ["<dr>", "<oov>", "<sep>"];

/// What words become.
pub struct WordMap {
    file: String,
    words: FxHashMap<String, String>,
}

impl WordMap {
    /// Reads `word<TAB>id` lines; `to_ids` says which way.
    pub fn read(name: &str, to_ids: bool) -> Result<Self> {
        let table = symtab::read(name)?;
        let pairs = table.iter().map(|(word, id)| (word.to_string(), id.to_string()));
        let words = pairs.map(|(word, id)| if to_ids { (word, id) } else { (id, word) }).collect();
        Ok(WordMap { file: name.to_string(), words })
    }
}

/// From what to what.
pub struct Conversion {
    pub from: RuleFormat,
    pub to: RuleFormat,
    pub source_map: Option<WordMap>,
    pub target_map: Option<WordMap>,
    /// The columns of a format without names.
    pub columns: Option<Vec<String>>,
    /// Features that are not in `columns` are left away, not an error.
    pub drop: bool,
    /// As a phrase table of Moses: rules with nonterminals are left out.
    pub phrases: bool,
}

impl Conversion {
    /// Takes the columns from the first rules, if they are needed and were not said.
    pub fn find_columns(&mut self, block: &Block) -> Result<()> {
        if self.columns.is_some() || !self.to.has_columns() {
            return Ok(());
        }
        let mut columns: Vec<String> = vec![];
        for (number, line) in block.lines() {
            let Some(rule) = format::parse(self.from, &block.file, number, line)? else { continue };
            for (name, _) in &rule.features {
                if !columns.iter().any(|c| c == name) {
                    columns.push(name.to_string());
                }
            }
        }
        // Which indicators come first is chance: the order of `weft rules score` is not.
        let place = |name: &String| score::FEATURES.iter().position(|f| f == name).unwrap_or(score::FEATURES.len());
        if columns.iter().any(|c| c == "RuleCount") {
            for name in score::FEATURES {
                let lexical = name.starts_with("Lex");
                if !lexical && !columns.iter().any(|c| c == name) {
                    columns.push(name.to_string());
                }
            }
            columns.sort_by_key(place);
        }
        if self.to == RuleFormat::Moses && format::MOSES_COLUMNS.iter().all(|m| columns.iter().any(|c| c == m)) {
            columns.retain(|c| !format::MOSES_COLUMNS.contains(&c.as_str()));
            columns.splice(0..0, format::MOSES_COLUMNS.map(String::from));
        }
        self.columns = Some(columns);
        Ok(())
    }

    /// The rules of a block in the other format.
    pub fn block(&self, block: &Block) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(block.text.len());
        for (number, line) in block.lines() {
            let Some(mut rule) = format::parse(self.from, &block.file, number, line)? else { continue };
            let place = Place { file: &block.file, number, line };
            if self.phrases && rule.rank() > 0 {
                continue;
            }
            self.map(&mut rule, &place)?;
            self.check(&rule, &place)?;
            if let Some(columns) = &self.columns {
                arrange(&mut rule, columns, self.drop, &place)?;
            }
            if self.phrases { format::write_phrase(&rule, &mut out) } else { format::write(self.to, &rule, &mut out) }
        }
        Ok(out)
    }

    fn map<'a>(&'a self, rule: &mut Rule<'a>, place: &Place) -> Result<()> {
        for (side, map) in [(&mut rule.source, &self.source_map), (&mut rule.target, &self.target_map)] {
            let Some(map) = map else { continue };
            for symbol in side.iter_mut() {
                let Symbol::Word(word) = symbol else { continue };
                match map.words.get(*word) {
                    Some(other) => *word = other,
                    None if SPECIAL.contains(word) => {}
                    None => return Err(place.error(word, format!("{word:?} is not in the word map {}", map.file))),
                }
            }
        }
        Ok(())
    }

    fn check(&self, rule: &Rule, place: &Place) -> Result<()> {
        if self.from == self.to && self.source_map.is_none() && self.target_map.is_none() {
            return Ok(());
        }
        for symbol in rule.source.iter().chain(&rule.target) {
            let (text, why) = match symbol {
                Symbol::Word(word) => (word, format::unwritable(self.to, word)),
                Symbol::Nonterminal { name, .. } => (name, format::unwritable_name(self.to, name)),
            };
            if let Some(why) = why {
                return Err(place.error(text, format!("{text:?} cannot be written in this format: {why}")));
            }
        }
        match format::unwritable_name(self.to, rule.lhs) {
            Some(why) => Err(place.error(rule.lhs, format!("the left side {} cannot be written: {why}", rule.lhs))),
            None => Ok(()),
        }
    }
}

/// A line, for errors.
struct Place<'a> {
    file: &'a str,
    number: usize,
    line: &'a str,
}

impl Place<'_> {
    /// What is wrong with a part of the line; what is not of the line has column 1.
    fn error(&self, part: &str, message: String) -> Error {
        let at = (part.as_ptr() as usize).wrapping_sub(self.line.as_ptr() as usize);
        let column = self.line.get(..at).map_or(0, |t| t.chars().count()) + 1;
        Error::text(self.file, self.number, column, message)
    }
}

/// Puts the features in the order of the columns.
fn arrange(rule: &mut Rule, columns: &[String], drop: bool, place: &Place) -> Result<()> {
    if let Some((name, _)) = rule.features.iter().find(|(name, _)| !columns.iter().any(|c| c == name))
        && !drop
    {
        let message =
            format!("the feature {name} is in none of the columns {}; name them with --features", columns.join(","));
        return Err(place.error(name, message));
    }
    let values = columns.iter().map(|name| (name.clone().into(), rule.feature(name).unwrap_or(0.0)));
    rule.features = values.collect();
    Ok(())
}
