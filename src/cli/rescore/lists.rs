//! Lists of paths as text: words, features and costs, as Moses writes n-best lists or as plain lines.

use std::sync::{Arc as Shared, OnceLock};

use clap::{Args, ValueEnum};

use crate::cli::env::Env;
use crate::error::{Error, Result};
use crate::format::moses;
use crate::format::number::write_g;
use crate::format::template;
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::Path;
use crate::fst::symbols::SymbolTable;
use crate::rescore::features::{Parts, RuleFeatures};
use crate::rescore::words::spell;
use crate::with_fst;

/// How words are read and shown.
#[derive(Args, Clone, Debug)]
pub struct WordArgs {
    /// Symbol table of the words, instead of the lattice's own
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Numbers even where there are symbols
    #[arg(long)]
    numeric: bool,
}

impl WordArgs {
    pub fn symbols(&self) -> Option<&str> {
        self.symbols.as_deref()
    }
    pub fn numeric(&self) -> bool {
        self.numeric
    }
    pub fn table(&self, env: &mut dyn Env, fst: &AnyFst) -> Result<Option<Shared<SymbolTable>>> {
        env.symbols_or(self.symbols.as_deref(), fst.osyms(), self.numeric)
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListFormat {
    /// number ||| words ||| features ||| score, as Moses: numbers from 0, logarithms, more is better
    #[default]
    Moses,
    /// words, a tab, cost
    Strings,
}

/// What is written of a path.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub words: WordArgs,
    /// Features: the parts of the costs that `lm apply --keep-separate` wrote beside the lattice
    #[arg(long, value_name = "FAR")]
    parts: Option<String>,
    /// Features: those of the rules of a rule lattice, in the file of `decode --rule-features`
    #[arg(long, value_name = "FILE")]
    rule_features: Option<String>,
    /// The rules, parsed once.
    #[arg(skip)]
    rules: Shared<OnceLock<RuleFeatures>>,
}

/// What a list needs beside the lattice.
pub struct ListFiles {
    table: Option<Shared<SymbolTable>>,
    parts: Option<String>,
    rules: Option<RuleFile>,
}

/// A file of rules, perhaps parsed before.
enum RuleFile {
    Text(String, Shared<String>),
    Parsed(Shared<OnceLock<RuleFeatures>>),
}

impl ListArgs {
    /// True if features are asked for.
    pub fn features(&self) -> bool {
        self.parts.is_some() || self.rule_features.is_some()
    }

    pub fn files(&self, env: &mut dyn Env, fst: &AnyFst) -> Result<ListFiles> {
        let table = self.words.table(env, fst)?;
        let parts = self.parts.as_deref().map(|name| env.path(name)).transpose()?;
        let rules = match &self.rule_features {
            None => None,
            Some(_) if self.rules.get().is_some() => Some(RuleFile::Parsed(self.rules.clone())),
            Some(name) => {
                let (shown, text) = env.read_text(name)?;
                if template::is_template(name) || text.is_empty() {
                    Some(RuleFile::Text(shown, text))
                } else {
                    let parsed = RuleFeatures::parse(&shown, &text)?;
                    let _ = self.rules.set(parsed);
                    Some(RuleFile::Parsed(self.rules.clone()))
                }
            }
        };
        Ok(ListFiles { table, parts, rules })
    }
}

/// What stands in a line beside the words.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub format: ListFormat,
    /// The cost after plain strings.
    pub cost: bool,
    /// The number of the sentence, from 1.
    pub number: usize,
}

impl ListFiles {
    /// The paths of an automaton, one a line.
    pub fn text<W: Weight>(&self, op: &'static str, fst: &FlatFst<W>, paths: &[Path], line: Line) -> Result<String> {
        let parts = self.parts.as_deref().map(|file| Parts::read(op, file, fst)).transpose()?;
        let own;
        let rules = match &self.rules {
            None => None,
            Some(RuleFile::Parsed(rules)) => rules.get(),
            Some(RuleFile::Text(shown, text)) => {
                own = RuleFeatures::parse(shown, text)?;
                Some(&own)
            }
        };
        let mut out = String::new();
        let mut features = vec![];
        for path in paths {
            let words = spell(op, &path.labels(fst, |a| a.olabel), self.table.as_deref())?;
            if line.format == ListFormat::Strings {
                out.push_str(&words);
                if line.cost {
                    out.push('\t');
                    write_g(&mut out, path.cost + 0.0, 9);
                }
                out.push('\n');
                continue;
            }
            features.clear();
            if let Some(parts) = &parts {
                parts.features(path, &mut features);
            }
            if let Some(rules) = rules {
                rules.features(op, &path.labels(fst, |a| a.ilabel), &mut features)?;
            }
            moses::write_hypothesis(&mut out, line.number.saturating_sub(1), &words, &features, path.cost);
        }
        Ok(out)
    }
}

/// Writes what `make` gives as the text of this input. The work is done inside, so that a cascade knows that text comes,
/// whatever becomes of it.
pub fn put_text(env: &mut dyn Env, mut make: impl FnMut() -> Result<String>) -> Result<()> {
    env.text(None, &mut |out| out.write_all(make()?.as_bytes()).map_err(|e| Error::io("the list", e)))
}

/// The paths that `find` gives for whichever automaton is inside, as text.
pub fn put_list(
    env: &mut dyn Env,
    op: &'static str,
    fst: &AnyFst,
    files: &ListFiles,
    line: Line,
    find: impl Fn(&AnyFst) -> Result<Vec<Path>>,
) -> Result<()> {
    put_text(env, || {
        let paths = find(fst)?;
        with_fst!(fst, f => files.text(op, f, &paths, line))
    })
}
