//! What a stage of a cascade reads and writes.
//!
//! `-` or no name is the automaton the stage before made. Files that a stage names are loaded once and shared by all
//! inputs; a name with `?` is one file an input.

use std::io::Write;
use std::sync::{Arc as Shared, Mutex, OnceLock, PoisonError};

use std::collections::HashMap;

use super::inputs::{is_archive, plain_key};
use crate::cli::env::{Env, write_archive};
use crate::error::{Error, Result};
use crate::format::binary::{self, Container};
use crate::format::far::FarReader;
use crate::format::{io, symtab, template};
use crate::fst::any::AnyFst;
use crate::fst::symbols::SymbolTable;
use crate::lm::{self, NgramModel};

/// Values read once under their name. A failed read is kept, too, as what it said.
struct Cache<T>(Mutex<HashMap<String, Slot<T>>>);

type Slot<T> = Shared<OnceLock<std::result::Result<T, String>>>;

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<T: Clone> Cache<T> {
    fn get(&self, name: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let slot = {
            let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            map.entry(name.to_string()).or_default().clone()
        };
        // Only those who want this file wait while it is read.
        slot.get_or_init(|| read().map_err(|e| e.to_string())).clone().map_err(Error::usage)
    }
}

/// The entries of an archive by key; numbers count as numbers, so that 7 is 007.
struct Archive(HashMap<String, Shared<AnyFst>>);

impl Archive {
    fn read(name: &str) -> Result<Self> {
        let mut entries = HashMap::new();
        for entry in FarReader::open(name)? {
            let (key, fst) = entry?;
            entries.insert(plain_key(&key).to_string(), Shared::new(fst));
        }
        Ok(Archive(entries))
    }
}

/// The files the stages name, shared by all threads.
#[derive(Default)]
pub struct Operands {
    fsts: Cache<Shared<AnyFst>>,
    tables: Cache<Shared<SymbolTable>>,
    texts: Cache<(String, Shared<String>)>,
    archives: Cache<Shared<Archive>>,
    models: Cache<Shared<NgramModel>>,
}

impl Operands {
    fn fst(&self, name: &str) -> Result<Shared<AnyFst>> {
        self.fsts.get(name, || binary::read(name).map(Shared::new))
    }
    fn symbols(&self, name: &str) -> Result<Shared<SymbolTable>> {
        self.tables.get(name, || symtab::read(name).map(Shared::new))
    }
    fn text(&self, name: &str) -> Result<(String, Shared<String>)> {
        self.texts.get(name, || io::read_text(name).map(|(shown, text)| (shown, Shared::new(text))))
    }
    fn archive(&self, name: &str) -> Result<Shared<Archive>> {
        self.archives.get(name, || Archive::read(name).map(Shared::new))
    }
    fn model(&self, name: &str) -> Result<Shared<NgramModel>> {
        self.models.get(name, || lm::binary::load(name).map(Shared::new))
    }
}

/// The name of a file, or none for the current automaton.
fn named(name: Option<&str>) -> Option<&str> {
    name.filter(|n| !io::is_stdio(n))
}

/// What a stage did, or, asked before any work, does.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// Made an automaton.
    pub put: bool,
    /// Refused to work on nothing: what it does with an input is not known, so it may make an automaton.
    pub unsure: bool,
    /// Wrote text to the output of the input.
    pub printed: bool,
    /// Looked at what the stage before made.
    pub used: bool,
    /// Read the input as text (`compile` as the first stage).
    pub reads_text: bool,
    /// Files it writes.
    pub outputs: Vec<String>,
    /// Files with `?` that it reads.
    pub templates: Vec<String>,
}

/// The automaton between two stages.
pub struct Current {
    pub fst: Shared<AnyFst>,
    pub container: Container,
}

/// One input on its way through the stages.
pub struct CascadeEnv<'a> {
    operands: &'a Operands,
    /// What `?` stands for.
    key: &'a str,
    /// Place among the inputs, from 0.
    index: usize,
    pub current: Option<Current>,
    /// The input as text, for a script that begins with `compile`.
    pub source: Option<(String, Shared<String>)>,
    /// The stage now running leaves no automaton behind, so the current one must survive it.
    pub keep: bool,
    /// What the stage now running did.
    pub effect: Effect,
    pub text: Vec<u8>,
    /// Text for files that all inputs write to.
    pub gathered: Vec<(String, Vec<u8>)>,
    pub notes: Vec<String>,
}

impl<'a> CascadeEnv<'a> {
    pub fn new(operands: &'a Operands, key: &'a str, index: usize) -> Self {
        CascadeEnv {
            operands,
            key,
            index,
            current: None,
            source: None,
            keep: false,
            effect: Effect::default(),
            text: vec![],
            gathered: vec![],
            notes: vec![],
        }
    }
    fn current(&self) -> Result<&Current> {
        self.current.as_ref().ok_or_else(|| Error::usage("there is no automaton here: `-` was used up, or never made"))
    }
}

impl Env for CascadeEnv<'_> {
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>> {
        match named(name) {
            None => Ok(self.current()?.fst.clone()),
            Some(n) if template::is_template(n) => binary::read(&template::fill(n, self.key)).map(Shared::new),
            Some(n) => self.operands.fst(n),
        }
    }
    fn get_entry(&mut self, name: &str) -> Result<Shared<AnyFst>> {
        if template::is_template(name) || !is_archive(name) {
            return self.get(Some(name));
        }
        let archive = self.operands.archive(name)?;
        let found = archive.0.get(plain_key(self.key)).cloned();
        found.ok_or_else(|| Error::usage(format!("{name}: there is no entry {:?}", self.key)))
    }
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst> {
        let fst = match named(name) {
            None if !self.keep => {
                self.current()?;
                match self.current.take() {
                    Some(c) => c.fst,
                    None => return Err(Error::usage("there is no automaton here")),
                }
            }
            _ => self.get(name)?,
        };
        Ok(Shared::try_unwrap(fst).unwrap_or_else(|shared| (*shared).clone()))
    }
    fn put_as(&mut self, name: Option<&str>, fst: AnyFst, container: Container) -> Result<()> {
        self.effect.put = true;
        if let Some(n) = named(name) {
            binary::write(&template::fill_output(n, self.key)?, &fst, container)?;
        }
        self.current = Some(Current { fst: Shared::new(fst), container });
        Ok(())
    }
    fn text(&mut self, name: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        match named(name) {
            None => {
                self.effect.printed = true;
                write(&mut self.text)
            }
            Some(n) => {
                let mut out = io::create(&template::fill_output(n, self.key)?)?;
                write(&mut out)?;
                out.commit()
            }
        }
    }
    fn gather(&mut self, name: &str, text: &str) -> Result<()> {
        self.effect.printed = true;
        self.gathered.push((name.to_string(), text.into()));
        Ok(())
    }
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>> {
        match named(Some(name)) {
            None => Err(no_text("a symbol table")),
            Some(n) if template::is_template(n) => symtab::read(&template::fill(n, self.key)).map(Shared::new),
            Some(n) => self.operands.symbols(n),
        }
    }
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)> {
        match named(Some(name)) {
            None => self.source.clone().ok_or_else(|| no_text("text")),
            Some(n) if template::is_template(n) => {
                let (shown, text) = io::read_text(&template::fill(n, self.key))?;
                Ok((shown, Shared::new(text)))
            }
            Some(n) => self.operands.text(n),
        }
    }
    fn path(&mut self, name: &str) -> Result<String> {
        Ok(template::fill(name, self.key))
    }
    fn model(&mut self, name: &str) -> Result<Shared<NgramModel>> {
        match named(Some(name)) {
            None => Err(no_text("a language model")),
            Some(n) if template::is_template(n) => lm::binary::load(&template::fill(n, self.key)).map(Shared::new),
            Some(n) => self.operands.model(n),
        }
    }
    fn put_archive(&mut self, name: &str, entries: &[(String, AnyFst)]) -> Result<()> {
        write_archive(&template::fill_output(name, self.key)?, entries)
    }
    fn number(&self) -> usize {
        self.key.parse().unwrap_or(self.index + 1)
    }
    fn note(&mut self, line: &str) {
        self.notes.push(line.to_string());
    }
}

fn no_text(what: &str) -> Error {
    Error::usage(format!("expected the name of a file with {what}; `-` is the automaton of the stage before"))
}

/// Runs a stage on an automaton without states to learn what it reads and writes: every operand is loaded here, before
/// any work, and nothing is written.
pub struct ProbeEnv<'a> {
    operands: &'a Operands,
    /// What the stages before write: not there yet.
    made: &'a [String],
    fst: AnyFst,
    pub effect: Effect,
    /// What could not be read.
    pub missing: Vec<String>,
}

impl<'a> ProbeEnv<'a> {
    pub fn new(operands: &'a Operands, made: &'a [String], fst: AnyFst) -> Self {
        ProbeEnv { operands, made, fst, effect: Effect::default(), missing: vec![] }
    }
    /// A file that is not to be read now: one an input, or one that a stage before makes.
    fn later(&mut self, name: &str) -> bool {
        let template = template::is_template(name);
        if template {
            self.effect.templates.push(name.to_string());
        }
        template || self.made.iter().any(|m| m == name)
    }
    fn seen<T>(&mut self, found: Result<T>) -> Result<T> {
        if let Err(e) = &found {
            self.missing.push(e.to_string());
        }
        found
    }
}

impl Env for ProbeEnv<'_> {
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>> {
        match named(name) {
            None => {
                self.effect.used = true;
                Ok(Shared::new(self.fst.clone()))
            }
            Some(n) if self.later(n) => Ok(Shared::new(self.fst.clone())),
            Some(n) => {
                let found = self.operands.fst(n);
                self.seen(found)
            }
        }
    }
    fn get_entry(&mut self, name: &str) -> Result<Shared<AnyFst>> {
        if template::is_template(name) || !is_archive(name) {
            return self.get(Some(name));
        }
        let found = self.operands.archive(name);
        self.seen(found).map(|_| Shared::new(self.fst.clone()))
    }
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst> {
        // A stage that would change a big operand is not given a copy of it only to look at its options.
        self.get(name).map(|_| self.fst.clone())
    }
    fn put_as(&mut self, name: Option<&str>, _: AnyFst, _: Container) -> Result<()> {
        self.effect.put = true;
        self.effect.outputs.extend(named(name).map(str::to_string));
        Ok(())
    }
    fn text(&mut self, name: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        match named(name) {
            None => self.effect.printed = true,
            Some(n) => self.effect.outputs.push(n.to_string()),
        }
        write(&mut std::io::sink())
    }
    fn gather(&mut self, _: &str, _: &str) -> Result<()> {
        self.effect.printed = true;
        Ok(())
    }
    fn will_write(&mut self, name: &str) {
        if !self.effect.outputs.iter().any(|n| n == name) {
            self.effect.outputs.push(name.to_string());
        }
    }
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>> {
        match named(Some(name)) {
            None => self.seen(Err(no_text("a symbol table"))),
            Some(n) if self.later(n) => Ok(Shared::default()),
            Some(n) => {
                let found = self.operands.symbols(n);
                self.seen(found)
            }
        }
    }
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)> {
        match named(Some(name)) {
            None => {
                (self.effect.reads_text, self.effect.used) = (true, true);
                Ok((String::new(), Shared::default()))
            }
            Some(n) if self.later(n) => Ok((String::new(), Shared::default())),
            Some(n) => {
                let found = self.operands.text(n);
                self.seen(found)
            }
        }
    }
    fn path(&mut self, name: &str) -> Result<String> {
        if !self.later(name) {
            let there = std::fs::metadata(name).map(|_| ()).map_err(|e| Error::io(name, e));
            self.seen(there)?;
        }
        Ok(name.to_string())
    }
    fn model(&mut self, name: &str) -> Result<Shared<NgramModel>> {
        let found = match named(Some(name)) {
            None => Err(no_text("a language model")),
            // What it is shows only when there is an input.
            Some(n) if self.later(n) => return Err(Error::usage("not yet there")),
            Some(n) => self.operands.model(n),
        };
        self.seen(found)
    }
    fn put_archive(&mut self, name: &str, _: &[(String, AnyFst)]) -> Result<()> {
        self.effect.outputs.push(name.to_string());
        Ok(())
    }
    fn note(&mut self, _: &str) {}
}
