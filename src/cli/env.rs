//! Where a command's automata come from and go to.
//!
//! The same command runs alone, over files and standard streams (`ProcessEnv`), or as a stage of a cascade, where `-` or
//! no name is the automaton the stage before made.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc as Shared;

use crate::error::{Error, Result};
use crate::format::binary::{self, Container, Header};
use crate::format::far::{FarType, FarWriter};
use crate::format::folder::Folder;
use crate::format::{io, symtab};
use crate::fst::any::AnyFst;
use crate::fst::symbols::SymbolTable;
use crate::lm::{self, NgramModel};

/// How a command ended: a test that says no is not a failure, but has its own exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Done,
    No,
}

impl Status {
    pub fn from_answer(yes: bool) -> Self {
        if yes { Status::Done } else { Status::No }
    }
}

pub trait Env {
    /// The named automaton, shared; `None` or `-` is standard input or the current automaton.
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>>;
    /// The named automaton with the header of its file, if it comes from one.
    fn get_with_header(&mut self, name: Option<&str>) -> Result<(Shared<AnyFst>, Option<Header>)> {
        self.get(name).map(|fst| (fst, None))
    }
    /// As `get`; of an archive, the entry of this input.
    fn get_entry(&mut self, name: &str) -> Result<Shared<AnyFst>> {
        self.get(Some(name))
    }
    /// The named automaton, to change: for commands with one input.
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst>;
    /// The resulting automaton; `None` or `-` is standard output or the current automaton.
    fn put_as(&mut self, name: Option<&str>, fst: AnyFst, container: Container) -> Result<()>;
    /// Resulting text; `None` or `-` is standard output or the cascade's output for this input.
    fn text(&mut self, name: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()>;
    /// Text for a file that all inputs write to, in their order.
    fn gather(&mut self, name: &str, text: &str) -> Result<()> {
        let mut out = io::create(name)?;
        out.write_all(text.as_bytes()).map_err(|e| Error::io(name, e))?;
        out.commit()
    }
    /// Says, before any work, that a file will be written.
    fn will_write(&mut self, _name: &str) {}
    /// A symbol table, read once.
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>>;
    /// The whole of a text file (potentials, label pairs), read once.
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)>;
    /// A language model, loaded once.
    fn model(&mut self, name: &str) -> Result<Shared<NgramModel>> {
        lm::binary::load(name).map(Shared::new)
    }
    /// Several automata that belong together, as an archive.
    fn put_archive(&mut self, name: &str, entries: &[(String, AnyFst)]) -> Result<()> {
        write_archive(name, entries)
    }
    /// The name of a file that the command reads by itself.
    fn path(&mut self, name: &str) -> Result<String> {
        Ok(name.to_string())
    }
    /// The number of the sentence, from 1, for files with one line a sentence: the number of a template, a numeric key or
    /// name, or else the place among the inputs.
    fn number(&self) -> usize {
        1
    }
    /// A line for the user that is not output.
    fn note(&mut self, line: &str);

    fn put(&mut self, name: Option<&str>, fst: AnyFst) -> Result<()> {
        self.put_as(name, fst, Container::Vector)
    }
    /// The table a user named, or else the one inside the automaton, unless numbers are asked for.
    fn symbols_or(
        &mut self,
        named: Option<&str>,
        inside: Option<&Shared<SymbolTable>>,
        numeric: bool,
    ) -> Result<Option<Shared<SymbolTable>>> {
        match named {
            _ if numeric => Ok(None),
            Some(name) => self.symbols(name).map(Some),
            None => Ok(inside.cloned()),
        }
    }
}

/// Writes an archive; the keys must be in order.
pub fn write_archive(name: &str, entries: &[(String, AnyFst)]) -> Result<()> {
    let mut far = FarWriter::create(name, FarType::Table)?;
    for (key, fst) in entries {
        far.add_as(key, fst, Container::Vector)?;
    }
    far.finish()
}

/// An error names the inputs of its operation, if there are no more than this.
const NAMED: usize = 3;

/// Files and the standard streams of the process.
#[derive(Default)]
pub struct ProcessEnv {
    stdin_taken: bool,
    /// The first automata that were read, as errors name them: one more than they may name.
    inputs: Vec<String>,
    /// Where the automata are.
    folder: Folder,
    /// The symbol tables that were read: one file is often the table of both sides.
    tables: HashMap<String, Shared<SymbolTable>>,
}

impl ProcessEnv {
    fn input<'a>(&mut self, name: Option<&'a str>) -> Result<&'a str> {
        let name = name.unwrap_or("-");
        if io::is_stdio(name) {
            if self.stdin_taken {
                return Err(Error::usage("standard input can be read only once; name a file for the other operand"));
            }
            if std::io::stdin().is_terminal() {
                return Err(Error::usage("no input: name a file or pipe an automaton in (see --help for an example)"));
            }
            self.stdin_taken = true;
        }
        Ok(name)
    }
    /// A name to read an automaton from.
    fn automaton<'a>(&mut self, name: Option<&'a str>) -> Result<&'a str> {
        let name = self.input(name)?;
        if self.inputs.len() <= NAMED {
            self.inputs.push(if io::is_stdio(name) { "standard input".into() } else { name.into() });
        }
        Ok(name)
    }
    /// The error as the user sees it: what an operation says of its input comes with the input's name.
    pub fn told(&self, error: &Error) -> String {
        match error {
            Error::Op { .. } | Error::Limit { .. } if (1..=NAMED).contains(&self.inputs.len()) => {
                format!("{}: {error}", self.inputs.join(", "))
            }
            _ => error.to_string(),
        }
    }
}

impl Env for ProcessEnv {
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>> {
        self.take(name).map(Shared::new)
    }
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst> {
        let name = self.automaton(name)?;
        binary::read_input(io::open_in(&mut self.folder, name)?).map(|(fst, _)| fst)
    }
    fn get_with_header(&mut self, name: Option<&str>) -> Result<(Shared<AnyFst>, Option<Header>)> {
        let name = self.automaton(name)?;
        binary::read_with_header(name).map(|(fst, header)| (Shared::new(fst), Some(header)))
    }
    fn put_as(&mut self, name: Option<&str>, fst: AnyFst, container: Container) -> Result<()> {
        let name = name.unwrap_or("-");
        if io::is_stdio(name) && std::io::stdout().is_terminal() {
            return Err(Error::usage(
                "the result is a binary automaton: write it to a file (-o FILE) or look at it (| weft fst print)",
            ));
        }
        binary::write(name, &fst, container)
    }
    fn text(&mut self, name: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut out = io::create(name.unwrap_or("-"))?;
        write(&mut out)?;
        out.commit()
    }
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>> {
        if let Some(table) = self.tables.get(name) {
            return Ok(table.clone());
        }
        let table = Shared::new(symtab::read(name)?);
        if !io::is_stdio(name) {
            self.tables.insert(name.to_string(), table.clone());
        }
        Ok(table)
    }
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)> {
        let name = self.input(Some(name))?;
        let (shown, text) = io::read_text(name)?;
        Ok((shown, Shared::new(text)))
    }
    fn note(&mut self, line: &str) {
        crate::cli::say!("weft: {line}");
    }
}
