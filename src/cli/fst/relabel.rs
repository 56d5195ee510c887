use std::sync::Arc as Shared;

use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::pairs;
use crate::fst::flat::Label;
use crate::fst::relabel::{RelabelConfig, pairs_between, relabel};
use crate::fst::symbols::SymbolTable;
use crate::map_fst;

/// Change labels, by pairs of numbers or from one symbol table to another
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst relabel --relabel-ipairs pairs.txt a.fst relabelled.fst")]
pub struct Cmd {
    /// Symbol table of the input labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
    /// Symbol table of the output labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    osymbols: Option<String>,
    /// Symbol table that the input labels shall follow
    #[arg(long, value_name = "FILE", conflicts_with = "relabel_ipairs")]
    relabel_isymbols: Option<String>,
    /// Symbol table that the output labels shall follow
    #[arg(long, value_name = "FILE", conflicts_with = "relabel_opairs")]
    relabel_osymbols: Option<String>,
    /// Input symbol for words that the new table lacks (otherwise they are an error)
    #[arg(long, value_name = "SYMBOL")]
    unknown_isymbol: Option<String>,
    /// Output symbol for words that the new table lacks (otherwise they are an error)
    #[arg(long, value_name = "SYMBOL")]
    unknown_osymbol: Option<String>,
    /// Input labels, `old new` a line
    #[arg(long, value_name = "FILE")]
    relabel_ipairs: Option<String>,
    /// Output labels, `old new` a line
    #[arg(long, value_name = "FILE")]
    relabel_opairs: Option<String>,
    /// Labels in pairs may be negative (but not -1)
    #[arg(long)]
    allow_negative_labels: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let mut fst = env.take(self.io.input())?;
        let (ipairs, isyms) =
            by_words(env, &self.isymbols, fst.isyms(), &self.relabel_isymbols, &self.unknown_isymbol, "input")?;
        let (opairs, osyms) =
            by_words(env, &self.osymbols, fst.osyms(), &self.relabel_osymbols, &self.unknown_osymbol, "output")?;
        let read = |env: &mut dyn Env, name: &Option<String>, pairs: Vec<(Label, Label)>| match name {
            None => Ok(pairs),
            Some(name) => {
                let (shown, text) = env.read_text(name)?;
                pairs::read(&shown, &text, self.allow_negative_labels)
            }
        };
        let config = RelabelConfig {
            ipairs: read(env, &self.relabel_ipairs, ipairs)?,
            opairs: read(env, &self.relabel_opairs, opairs)?,
        };
        fst = map_fst!(fst, f => relabel(f, &config))?;
        if isyms.is_some() {
            fst.set_isyms(isyms);
        }
        if osyms.is_some() {
            fst.set_osyms(osyms);
        }
        env.put(self.io.output(), fst)?;
        Ok(Status::Done)
    }
}

/// The pairs from the old table of one side to the new one, and the table to store instead of the one inside.
#[allow(clippy::type_complexity)]
fn by_words(
    env: &mut dyn Env,
    named: &Option<String>,
    inside: Option<&Shared<SymbolTable>>,
    new: &Option<String>,
    unknown: &Option<String>,
    side: &str,
) -> Result<(Vec<(Label, Label)>, Option<Shared<SymbolTable>>)> {
    let Some(new) = new else { return Ok((vec![], None)) };
    let new = env.symbols(new)?;
    let Some(old) = env.symbols_or(named.as_deref(), inside, false)? else {
        return Err(Error::usage(format!(
            "the automaton has no {side} symbol table to relabel from; name it with --{}symbols",
            &side[..1]
        )));
    };
    let unknown = unknown.as_deref().filter(|word| !word.is_empty());
    if let Some(word) = unknown.filter(|word| new.key(word).is_none()) {
        env.note(&format!("relabel: the unknown symbol {word:?} is not in {:?} and stands for no word", new.name()));
    }
    let (pairs, missing) = pairs_between(&old, &new, unknown)?;
    if missing > 0 {
        env.note(&format!("relabel: {missing} {side} symbols are not in {:?}", new.name()));
    }
    // The new table comes in where there was one before.
    Ok((pairs, inside.is_some().then_some(new)))
}
