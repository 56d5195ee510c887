use std::io::Write;
use std::sync::Arc as Shared;

use clap::Args;

use super::{EntryType, FileNames, KeyRange, Namer, TokenType};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::far_merged::MergedReader;
use crate::format::number::write_g;
use crate::format::{io, separator, symtab};
use crate::fst::flat::{FlatFst, Label, NO_STATE};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::with_fst;

/// Print the strings in an archive of strings
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far printstrings --print-key --print-weight s.far")]
pub struct Cmd {
    /// Lines on standard output, or a file for each entry
    #[arg(long, value_enum, default_value_t)]
    entry_type: EntryType,
    /// What labels are
    #[arg(long, value_enum, default_value_t)]
    token_type: TokenType,
    /// Symbol table of the labels
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Use the symbol table inside the first entry for all
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    initial_symbols: bool,
    /// The key in front of each string
    #[arg(long)]
    print_key: bool,
    /// The weight behind each string
    #[arg(long)]
    print_weight: bool,
    /// The first of these characters stands between key, string and weight
    #[arg(long, default_value = "\t", value_name = "CHARS", hide_default_value = true)]
    far_field_separator: String,
    #[command(flatten)]
    range: KeyRange,
    #[command(flatten)]
    names: FileNames,
    /// Archives (`-` or nothing: standard input)
    #[arg(value_name = "FAR")]
    files: Vec<String>,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut table = self.symbols.as_deref().map(|n| symtab::read(n).map(Shared::new)).transpose()?;
        let separator = self
            .far_field_separator
            .chars()
            .next()
            .ok_or_else(|| Error::usage("--far-field-separator needs a character"))?;
        let mut far = MergedReader::open_from(&self.files, self.range.begin())?;
        let name = if self.files.is_empty() { "standard input".to_string() } else { self.files.join(", ") };
        let mut out = io::create("-")?;
        let mut namer = Namer::default();
        let mut number = 0;
        let mut failed = 0;
        while let Some(entry) = far.next_entry()? {
            if self.range.before(&entry.key) {
                continue;
            }
            if self.range.after(&entry.key) {
                break;
            }
            number += 1;
            if number == 1 && self.initial_symbols && table.is_none() {
                table = entry.fst.isyms().cloned();
            }
            let symbols = table.as_ref().or(entry.fst.isyms());
            let read = with_fst!(&entry.fst, f => labels(f).and_then(|(labels, weight)| {
                Ok((spell(&labels, self.token_type, symbols.map(|t| &**t))?, Some(weight)))
            }));
            // An entry that is no string keeps its place in the output, and the others go on.
            let (text, weight) = read.unwrap_or_else(|message| {
                crate::cli::say!("weft: {name}: far printstrings: entry {:?}: {message}", entry.key);
                failed += 1;
                (vec![], None)
            });
            if self.entry_type == EntryType::Line {
                let mut line = Vec::with_capacity(text.len() + 32);
                let mut buffer = [0; 4];
                let separator = separator.encode_utf8(&mut buffer).as_bytes();
                if self.print_key {
                    line.extend_from_slice(entry.key.as_bytes());
                    line.extend_from_slice(separator);
                }
                line.extend_from_slice(&text);
                if self.print_weight {
                    line.extend_from_slice(separator);
                    let mut shown = String::new();
                    if let Some(weight) = weight {
                        write_g(&mut shown, weight, 6);
                    }
                    line.extend_from_slice(shown.as_bytes());
                }
                line.push(b'\n');
                out.write_all(&line).map_err(|e| Error::io("standard output", e))?;
            } else {
                let mut text = text;
                if self.token_type == TokenType::Symbol {
                    text.push(b'\n');
                }
                io::create(&namer.name(&self.names, &entry.key, number)?)?.write_and_commit(&text)?;
            }
        }
        out.commit()?;
        Ok(Status::from_answer(failed == 0))
    }
}

/// The output labels of a string and its weight; what it is instead, if it is none.
fn labels<W: Weight>(fst: &FlatFst<W>) -> std::result::Result<(Vec<Label>, f64), String> {
    let mut labels = vec![];
    let mut weight = W::ONE;
    let mut s = fst.start();
    if s == NO_STATE {
        return Err("not a string: it has no states".into());
    }
    while !fst.is_final(s) {
        match fst.arcs(s) {
            [] => return Err(format!("not a string: state {s} is a dead end")),
            [a] => {
                labels.push(a.olabel);
                weight = weight.otimes(a.weight);
                s = a.nextstate;
            }
            _ => return Err(format!("not a string: state {s} has several arcs")),
        }
        if labels.len() > fst.num_states() {
            return Err("not a string: it has a cycle".into());
        }
    }
    if !fst.arcs(s).is_empty() {
        return Err(format!("not a string: the final state {s} has arcs"));
    }
    Ok((labels, weight.otimes(fst.final_weight(s)).to_f64()))
}

fn spell(labels: &[Label], tokens: TokenType, table: Option<&SymbolTable>) -> std::result::Result<Vec<u8>, String> {
    let mut text = Vec::with_capacity(labels.len() * 4);
    // OpenFst writes the last of the characters between symbols, and the first between fields.
    let between = separator::chosen().and_then(|c| c.last().copied()).unwrap_or(' ');
    for (i, &label) in labels.iter().enumerate() {
        match tokens {
            TokenType::Byte if label == 0 => {}
            TokenType::Byte => {
                text.push(u8::try_from(label).map_err(|_| format!("the label {label} is not a byte"))?);
            }
            TokenType::Utf8 if label == 0 => {}
            TokenType::Utf8 => {
                let c = u32::try_from(label).ok().and_then(char::from_u32);
                let c = c.ok_or_else(|| format!("the label {label} is not a Unicode character"))?;
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            TokenType::Symbol => {
                if i > 0 {
                    text.extend_from_slice(between.encode_utf8(&mut [0; 4]).as_bytes());
                }
                match table {
                    None => text.extend_from_slice(label.to_string().as_bytes()),
                    Some(table) => match table.symbol(label as i64).filter(|s| !s.is_empty()) {
                        Some(symbol) => text.extend_from_slice(symbol.as_bytes()),
                        None => return Err(format!("label {label} is not in the symbol table {:?}", table.name())),
                    },
                }
            }
        }
    }
    Ok(text)
}
