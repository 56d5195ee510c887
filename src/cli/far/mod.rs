//! `weft far`: OpenFst's tools for archives of automata, one file a command.

mod compare;
mod compilestrings;
mod convert;
mod create;
mod encode;
mod extract;
mod info;
mod printstrings;

use clap::{Args, Subcommand, ValueEnum};

use super::env::Status;
use super::operands::{self, Operands};
use crate::error::{Error, Result};
use crate::format::far::FarType;
use crate::format::{io, template};

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far info --list-fsts s.far")]
pub struct FarArgs {
    #[command(subcommand)]
    command: FarCommand,
}

#[derive(Subcommand, Debug)]
enum FarCommand {
    Create(create::Cmd),
    Convert(convert::Cmd),
    Encode(encode::Cmd),
    Extract(extract::Cmd),
    Info(info::Cmd),
    Printstrings(printstrings::Cmd),
    Compilestrings(compilestrings::Cmd),
    Equal(compare::Equal),
    Isomorphic(compare::Isomorphic),
}

impl FarArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            FarCommand::Create(c) => c.run(),
            FarCommand::Convert(c) => c.run(),
            FarCommand::Encode(c) => c.run(),
            FarCommand::Extract(c) => c.run(),
            FarCommand::Info(c) => c.run(),
            FarCommand::Printstrings(c) => c.run(),
            FarCommand::Compilestrings(c) => c.run(),
            FarCommand::Equal(c) => c.run(),
            FarCommand::Isomorphic(c) => c.run(),
        }
    }
}

/// The kind of archive to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FarKind {
    /// sttable in a file, stlist on standard output
    #[default]
    Default,
    Sttable,
    Stlist,
    /// One automaton, no archive around it
    Fst,
}

impl FarKind {
    /// The same, where the default is `kind`.
    fn or(self, kind: FarType, name: &str) -> FarType {
        if self == FarKind::Default { kind } else { self.for_output(name) }
    }
    fn for_output(self, name: &str) -> FarType {
        match self {
            FarKind::Default if io::is_stdio(name) => FarType::List,
            FarKind::Default | FarKind::Sttable => FarType::Table,
            FarKind::Stlist => FarType::List,
            FarKind::Fst => FarType::Fst,
        }
    }
}

/// What an archive is made of: one automaton a file or a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum EntryType {
    File,
    #[default]
    Line,
}

/// What the labels of a string stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TokenType {
    #[default]
    Symbol,
    Byte,
    Utf8,
}

/// `IN`, `IN... OUT`, or `[IN...] -o OUT`.
#[derive(Args, Debug)]
struct Gather {
    /// Input files, then the archive to write (`-`: standard input or output); one name is an input
    #[arg(value_name = "IN... OUT")]
    files: Vec<Operands>,
    /// The archive to write; then all the other names are inputs
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Each input file is a list of the files to take
    #[arg(long)]
    file_list_input: bool,
}

impl Gather {
    /// The inputs and the output.
    fn files(&self) -> Result<(Vec<String>, String)> {
        let mut inputs: Vec<String> = operands::all(&self.files).into_iter().map(String::from).collect();
        let output = match &self.output {
            Some(output) => output.clone(),
            // As in OpenFst, and never an input that is overwritten.
            None if inputs.len() > 1 => inputs.pop().unwrap_or_default(),
            None => "-".into(),
        };
        if inputs.is_empty() {
            inputs.push("-".into());
        }
        if inputs.iter().filter(|n| io::is_stdio(n)).count() > 1 {
            return Err(Error::usage("standard input can be read only once"));
        }
        if self.file_list_input {
            let mut listed = vec![];
            for list in &inputs {
                let (_, text) = io::read_text(list)?;
                listed.extend(text.lines().map(|l| l.trim_end_matches('\r').to_string()).filter(|l| !l.is_empty()));
            }
            inputs = listed;
        }
        Ok((inputs, output))
    }
}

/// How keys are made.
#[derive(Args, Debug)]
struct Keys {
    /// Number the entries with this many digits, instead of naming them after their files
    #[arg(long, value_name = "DIGITS", default_value_t = 0)]
    generate_keys: usize,
    /// Text before every key
    #[arg(long, value_name = "TEXT", default_value = "")]
    key_prefix: String,
    /// Text after every key
    #[arg(long, value_name = "TEXT", default_value = "")]
    key_suffix: String,
}

impl Keys {
    fn wrap(&self, key: &str) -> String {
        format!("{}{key}{}", self.key_prefix, self.key_suffix)
    }
}

/// A number with leading zeros; the width is kept within reason.
fn digits(n: usize, width: usize) -> String {
    format!("{n:0width$}", width = width.min(100))
}

/// The last part of a path, as the key of what is in it.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// How the files of extracted entries are named.
#[derive(Args, Debug)]
struct FileNames {
    /// Number the files with this many digits, instead of naming them after their keys
    #[arg(long, value_name = "DIGITS", default_value_t = 0)]
    generate_filenames: usize,
    /// Text before every file name; may be a folder
    #[arg(long, value_name = "TEXT", default_value = "")]
    filename_prefix: String,
    /// Text after every file name; `.gz` and `.zst` compress
    #[arg(long, value_name = "TEXT", default_value = "")]
    filename_suffix: String,
}

/// Makes file names; entries with equal keys get `.1`, `.2`, ... after the first.
#[derive(Default)]
struct Namer {
    last: Option<String>,
    repeats: usize,
}

impl Namer {
    fn name(&mut self, names: &FileNames, key: &str, number: usize) -> Result<String> {
        self.repeats = if self.last.as_deref() == Some(key) { self.repeats + 1 } else { 0 };
        self.last = Some(key.to_string());
        let base = if names.generate_filenames > 0 {
            digits(number, names.generate_filenames)
        } else {
            template::check_key(key).map_err(|e| Error::usage(format!("{e}; use --generate-filenames")))?;
            if self.repeats > 0 { format!("{key}.{}", self.repeats) } else { key.to_string() }
        };
        Ok(format!("{}{base}{}", names.filename_prefix, names.filename_suffix))
    }
}

/// The part of an archive between two keys.
#[derive(Args, Debug, Default)]
struct KeyRange {
    /// First key to take
    #[arg(long, value_name = "KEY")]
    begin_key: Option<String>,
    /// Last key to take
    #[arg(long, value_name = "KEY")]
    end_key: Option<String>,
}

impl KeyRange {
    fn begin(&self) -> Option<&str> {
        self.begin_key.as_deref().filter(|k| !k.is_empty())
    }
    fn before(&self, key: &str) -> bool {
        self.begin_key.as_deref().is_some_and(|b| key < b)
    }
    fn after(&self, key: &str) -> bool {
        self.end_key.as_deref().is_some_and(|e| !e.is_empty() && e < key)
    }
}
