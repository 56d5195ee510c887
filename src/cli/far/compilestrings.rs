use std::sync::Arc as Shared;

use clap::Args;

use super::{EntryType, FarKind, Gather, Keys, TokenType, base_name, digits};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::binary::Container;
use crate::format::far::FarWriter;
use crate::format::{io, pairs, separator, symtab};
use crate::fst::any::AnyFst;
use crate::fst::flat::{Arc, Builder, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;

/// Make an archive of strings, one automaton a line or a file
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far compilestrings --token-type byte --generate-keys 3 a.txt lines.far")]
pub struct Cmd {
    /// Labels may be negative (but not -1)
    #[arg(long)]
    allow_negative_labels: bool,
    /// Semiring: standard, log or log64
    #[arg(long, default_value = "standard")]
    arc_type: String,
    /// A string is a line, or a whole file
    #[arg(long, value_enum, default_value_t)]
    entry_type: EntryType,
    /// Kind of archive
    #[arg(long, value_enum, default_value_t)]
    far_type: FarKind,
    /// Container of the automata; `compact` means compact_string, as in OpenFst
    #[arg(long, value_enum, default_value_t)]
    fst_type: Container,
    /// Store the symbol table in the archive
    #[arg(long)]
    keep_symbols: bool,
    /// Store it only in the first entry of a file
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    initial_symbols: bool,
    /// Symbol table of the words
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// What labels are
    #[arg(long, value_enum, default_value_t)]
    token_type: TokenType,
    /// The symbol to take for words that are not in the table
    #[arg(long, value_name = "SYMBOL", default_value = "")]
    unknown_symbol: String,
    #[command(flatten)]
    keys: Keys,
    #[command(flatten)]
    files: Gather,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let table = self.symbols.as_deref().map(|n| symtab::read(n).map(Shared::new)).transpose()?;
        let unknown = match &table {
            Some(table) if !self.unknown_symbol.is_empty() => {
                Some(table.key(&self.unknown_symbol).ok_or_else(|| {
                    Error::usage(format!(
                        "the unknown symbol {:?} is not in the symbol table {:?}",
                        self.unknown_symbol,
                        table.name()
                    ))
                })?)
            }
            _ => None,
        };
        let empty = AnyFst::empty(&self.arc_type)?;
        let (inputs, output) = self.files.files()?;
        let mut far = FarWriter::create(&output, self.far_type.for_output(&output))?;
        let mut number = 0;
        for name in &inputs {
            if self.keys.generate_keys == 0 && io::is_stdio(name) {
                return Err(Error::usage(
                    "strings from standard input have no file name for keys: use --generate-keys",
                ));
            }
            let (shown, bytes) = io::read_all(name)?;
            let strings = split(&bytes, self.entry_type);
            // As many digits as the number of the last line has.
            let width = match self.keys.generate_keys {
                0 => strings.len().max(1).ilog10() as usize + 1,
                width => width,
            };
            if self.keys.generate_keys == 0 {
                number = 0;
            }
            for (i, string) in strings.iter().enumerate() {
                number += 1;
                let place = Place { file: &shown, line: if self.entry_type == EntryType::Line { i + 1 } else { 1 } };
                let labels = self.labels(string, table.as_deref(), unknown, &place)?;
                let mut fst = match &empty {
                    AnyFst::Standard(_) => AnyFst::Standard(chain(&labels)),
                    AnyFst::Log(_) => AnyFst::Log(chain(&labels)),
                    AnyFst::Log64(_) => AnyFst::Log64(chain(&labels)),
                };
                if self.keep_symbols && (i == 0 || !self.initial_symbols) {
                    fst.set_isyms(table.clone());
                    fst.set_osyms(table.clone());
                }
                let key = match (self.keys.generate_keys, self.entry_type) {
                    (0, EntryType::File) => base_name(name).to_string(),
                    (0, EntryType::Line) => format!("{}-{}", base_name(name), digits(number, width)),
                    _ => digits(number, width),
                };
                far.add_as(&self.keys.wrap(&key), &fst, self.fst_type)?;
            }
        }
        far.finish()?;
        Ok(Status::Done)
    }

    fn labels(
        &self,
        string: &[u8],
        table: Option<&SymbolTable>,
        unknown: Option<i64>,
        place: &Place,
    ) -> Result<Vec<Label>> {
        if self.token_type == TokenType::Byte {
            return Ok(string.iter().map(|&b| Label::from(b)).collect());
        }
        let text = std::str::from_utf8(string).map_err(|e| place.error(string, e.valid_up_to(), "not UTF-8 text"))?;
        if self.token_type == TokenType::Utf8 {
            return Ok(text.chars().map(|c| c as Label).collect());
        }
        let mut labels = vec![];
        let between = |c: char| c == '\n' || separator::chosen().unwrap_or(&[' ', '\t', '\r']).contains(&c);
        for token in text.split(between).filter(|t| !t.is_empty()) {
            let at = token.as_ptr() as usize - text.as_ptr() as usize;
            let label = match table {
                Some(table) => table.key(token).or(unknown).ok_or_else(|| {
                    let name = table.name();
                    place.error(
                        string,
                        at,
                        &format!("{token:?} is not in the symbol table {name:?}; see --unknown-symbol"),
                    )
                })?,
                None => token.parse::<i64>().map_err(|_| {
                    place.error(
                        string,
                        at,
                        &format!("expected an integer label, found {token:?}; for words give --symbols"),
                    )
                })?,
            };
            let label = pairs::label(label, self.allow_negative_labels, "label");
            labels.push(label.map_err(|message| place.error(string, at, &message))?);
        }
        Ok(labels)
    }
}

struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl Place<'_> {
    fn error(&self, string: &[u8], at: usize, message: &str) -> Error {
        let before = &string[..at];
        let line = before.iter().filter(|&&b| b == b'\n').count();
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Error::text(self.file, self.line + line, column, message)
    }
}

/// The strings of a file. A whole file always ends with a newline, as OpenFst reads it.
fn split(bytes: &[u8], entries: EntryType) -> Vec<Vec<u8>> {
    if bytes.is_empty() {
        return vec![];
    }
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    match entries {
        EntryType::Line => body.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect(),
        EntryType::File => vec![[body, b"\n"].concat()],
    }
}

/// The acceptor of one string.
fn chain<W: Weight>(labels: &[Label]) -> FlatFst<W> {
    let mut b = Builder::with_capacity(labels.len() + 1, labels.len());
    for (i, &label) in labels.iter().enumerate() {
        b.add_state(W::ZERO);
        b.push_arc(Arc::new(label, label, W::ONE, i as u32 + 1));
    }
    b.add_state(W::ONE);
    b.set_start(0);
    b.finish()
}
