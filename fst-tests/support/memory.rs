//! `weft fst` command lines, run in this process over automata and texts in memory.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc as Shared, LazyLock};

use clap::{Command, CommandFactory, FromArgMatches, Parser};
use weft::cli::args;
use weft::cli::env::{Env, Status};
use weft::cli::fst::FstCommand;
use weft::error::{Error, Result};
use weft::format::binary::Container;
use weft::format::symtab;
use weft::fst::any::AnyFst;
use weft::fst::symbols::SymbolTable;

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: FstCommand,
}

static TREE: LazyLock<Command> = LazyLock::new(|| args::openfst_booleans(Line::command().no_binary_name(true)));

/// Automata and texts by name; `-` is standard output.
#[derive(Default)]
pub struct MemoryEnv {
    pub automata: HashMap<String, AnyFst>,
    pub texts: HashMap<String, Vec<u8>>,
}

impl MemoryEnv {
    /// Runs the words of a `weft fst` command; usage errors and failures are messages.
    pub fn run(&mut self, line: &str) -> std::result::Result<Status, String> {
        let words = line.split_whitespace().map(Into::into).collect();
        let words = args::openfst_spelling(&TREE, words);
        let matches = TREE.clone().try_get_matches_from(words).map_err(|e| e.to_string())?;
        let line = Line::from_arg_matches(&matches).map_err(|e| e.to_string())?;
        line.command.run(self).map_err(|e| e.to_string())
    }
}

impl Env for MemoryEnv {
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>> {
        self.take(name).map(Shared::new)
    }
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst> {
        let name = name.unwrap_or("-");
        self.automata.get(name).cloned().ok_or_else(|| Error::usage(format!("no automaton {name}")))
    }
    fn put_as(&mut self, name: Option<&str>, fst: AnyFst, _: Container) -> Result<()> {
        self.automata.insert(name.unwrap_or("-").to_string(), fst);
        Ok(())
    }
    fn text(&mut self, name: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut bytes = vec![];
        write(&mut bytes)?;
        // A codex is read back as a real file, under its path.
        if let Some(path) = name.filter(|n| n.starts_with('/')) {
            std::fs::write(path, &bytes).map_err(|e| Error::io(path, e))?;
        }
        self.texts.insert(name.unwrap_or("-").to_string(), bytes);
        Ok(())
    }
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>> {
        let (_, text) = self.read_text(name)?;
        symtab::read_text(name, &text).map(Shared::new)
    }
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)> {
        let bytes = self.texts.get(name).ok_or_else(|| Error::usage(format!("no file {name}")))?;
        Ok((name.to_string(), Shared::new(String::from_utf8_lossy(bytes).into_owned())))
    }
    fn note(&mut self, _: &str) {}
}
