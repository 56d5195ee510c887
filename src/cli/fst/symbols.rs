use std::sync::Arc as Shared;

use clap::Args;

use super::io::{SavedTables, Unary};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::pairs;
use crate::fst::symbols::SymbolTable;
use crate::with_fst;

/// Set, clear, save or renumber the symbol tables inside an automaton
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst symbols --isymbols w.syms --osymbols w.syms a.fst words.fst")]
pub struct Cmd {
    /// Store this input symbol table
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
    /// Store this output symbol table
    #[arg(long, value_name = "FILE")]
    osymbols: Option<String>,
    /// Take the input symbol table out
    #[arg(long)]
    clear_isymbols: bool,
    /// Take the output symbol table out
    #[arg(long)]
    clear_osymbols: bool,
    #[command(flatten)]
    saved: SavedTables,
    /// Renumber the input symbol table by `old new` lines, keeping only what they name
    #[arg(long, value_name = "FILE")]
    relabel_ipairs: Option<String>,
    /// Renumber the output symbol table by `old new` lines, keeping only what they name
    #[arg(long, value_name = "FILE")]
    relabel_opairs: Option<String>,
    /// Check the result before it is written
    #[arg(long)]
    verify: bool,
    /// Labels in pairs may be negative (but not -1)
    #[arg(long)]
    allow_negative_labels: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.saved.distinct(self.io.output())?;
        let mut fst = env.take(self.io.input())?;
        self.saved.save(env, &fst)?;
        let isyms = self.table(env, fst.isyms(), &self.isymbols, self.clear_isymbols, &self.relabel_ipairs, "input")?;
        let osyms =
            self.table(env, fst.osyms(), &self.osymbols, self.clear_osymbols, &self.relabel_opairs, "output")?;
        fst.set_isyms(isyms);
        fst.set_osyms(osyms);
        if self.verify {
            with_fst!(&fst, f => crate::fst::properties::verify(f, None))?;
        }
        env.put(self.io.output(), fst)?;
        Ok(Status::Done)
    }

    fn table(
        &self,
        env: &mut dyn Env,
        inside: Option<&Shared<SymbolTable>>,
        named: &Option<String>,
        clear: bool,
        pairs: &Option<String>,
        side: &str,
    ) -> Result<Option<Shared<SymbolTable>>> {
        let table = match named {
            Some(name) => Some(env.symbols(name)?),
            None if clear => None,
            None => inside.cloned(),
        };
        let Some(pairs) = pairs else { return Ok(table) };
        let Some(table) = table else {
            return Err(Error::usage(format!("the automaton has no {side} symbol table to renumber by {pairs}")));
        };
        let (shown, text) = env.read_text(pairs)?;
        let name = if table.name().is_empty() { String::new() } else { format!("relabeled_{}", table.name()) };
        let mut new = SymbolTable::new(name);
        for (from, to) in pairs::read(&shown, &text, self.allow_negative_labels)? {
            let symbol = table.symbol(from as i64).ok_or_else(|| {
                Error::usage(format!("{shown}: {from} is not in the {side} symbol table {:?}", table.name()))
            })?;
            new.add_with_key(symbol, to as i64);
        }
        Ok(Some(Shared::new(new)))
    }
}
