//! Where a cascade's results go, in input order.

use std::collections::BTreeMap;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::inputs::Inputs;
use super::runner::Done;
use super::stats::Table;
use crate::error::{Error, Result};
use crate::format::binary;
use crate::format::far::{FarType, FarWriter};
use crate::format::text::{self, PrintConfig};
use crate::format::{io, template};
use crate::fst::any::AnyFst;
use crate::with_fst;

/// What becomes of an input's last automaton or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Final {
    /// Stages wrote what was wanted; printed text goes to standard output.
    Nothing,
    /// The automaton, on standard output: one input.
    Stdout,
    /// The automaton, in a file of its own.
    AutomatonFile(String),
    /// The automata, in one archive.
    Archive(String),
    /// The printed text, in one file or (with `?`) one a input.
    TextFile(String),
}

/// The common outputs: text, archive, messages, statistics, progress.
pub struct Output<'a> {
    text: io::Output,
    archive: Option<FarWriter>,
    /// The files that all inputs write to, with what they have so far.
    gathered: BTreeMap<String, Vec<u8>>,
    inputs: &'a Inputs,
    /// A line with the input's name before its text.
    keys: bool,
    pub table: Option<Table>,
    bar: ProgressBar,
    pub total: usize,
    pub failed: usize,
}

impl<'a> Output<'a> {
    pub fn new(target: &Final, inputs: &'a Inputs, keys: bool, table: Option<Table>, progress: bool) -> Result<Self> {
        let text = match target {
            Final::TextFile(name) if !template::is_template(name) => io::create(name)?,
            _ => io::create("-")?,
        };
        let archive = match target {
            Final::Archive(name) => Some(FarWriter::create(name, FarType::Table)?),
            _ => None,
        };
        // indicatif draws on standard error and only if that is a terminal.
        let bar = match (progress, inputs.count()) {
            (false, _) => ProgressBar::hidden(),
            (true, Some(n)) => ProgressBar::new(n as u64).with_style(style("{wide_bar} {pos}/{len} {eta} {msg}")),
            (true, None) => ProgressBar::new_spinner().with_style(style("{spinner} {pos} done {elapsed} {msg}")),
        };
        Ok(Output { text, archive, gathered: BTreeMap::new(), inputs, keys, table, bar, total: 0, failed: 0 })
    }

    /// Takes the next result; an error means that nothing more can be written.
    pub fn accept(&mut self, done: Done) -> Result<()> {
        self.total += 1;
        if let Some(table) = &mut self.table {
            table.add(&done.rows);
        }
        for note in &done.notes {
            self.say(&format!("{}: {note}", done.name));
        }
        if let Some(why) = &done.failure {
            self.failed += 1;
            self.say(&format!("{}: {why}", done.name));
            self.bar.set_message(format!("{} failed", self.failed));
        }
        if !done.text.is_empty() || (self.keys && done.failure.is_none()) {
            let (text, keys) = (&mut self.text, self.keys);
            let written = self.bar.suspend(|| {
                if keys {
                    writeln!(text, "# {}", done.name)?;
                }
                text.write_all(&done.text)?;
                text.flush()
            });
            written.map_err(|e| Error::io(self.text.name(), e))?;
        }
        for (name, text) in done.gathered {
            self.gathered.entry(name).or_default().extend(text);
        }
        if let Some(c) = done.result {
            match &mut self.archive {
                Some(archive) => {
                    let key = self.inputs.archive_key(&done.key);
                    // A key out of order or another semiring spoils this entry, not the archive.
                    match archive.add_as(&key, &c.fst, c.container) {
                        Err(e @ Error::Io { .. }) => return Err(e),
                        Err(e) => {
                            self.failed += 1;
                            self.say(&format!("{}: {e}", done.name));
                        }
                        Ok(()) => {}
                    }
                }
                None => match binary::writable(&c.fst, c.container) {
                    Ok(()) => binary::write_any(&mut self.text, &c.fst, c.container)
                        .map_err(|e| Error::io(self.text.name(), e))?,
                    Err(e) => {
                        self.failed += 1;
                        self.say(&format!("{}: {e}", done.name));
                    }
                },
            }
        }
        self.bar.inc(1);
        Ok(())
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| crate::cli::say!("weft: {line}"));
    }

    /// Puts the common outputs in place.
    pub fn finish(self) -> Result<()> {
        self.bar.finish_and_clear();
        if self.total > 0 && self.failed == self.total {
            // Nothing was made that could take the place of an earlier result.
            return Ok(());
        }
        self.text.commit()?;
        for (name, text) in self.gathered {
            io::create(&name)?.write_and_commit(&text)?;
        }
        self.archive.map_or(Ok(()), FarWriter::finish)
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// An automaton to look at: words where it has symbol tables, one label an arc if it is an acceptor.
pub fn write_automaton_text(out: &mut impl Write, name: &str, fst: &AnyFst) -> Result<()> {
    let config = PrintConfig {
        acceptor: true,
        isymbols: fst.isyms().cloned(),
        osymbols: fst.osyms().cloned(),
        missing_symbol: Some("<unknown>".into()),
        ..PrintConfig::default()
    };
    with_fst!(fst, f => text::print(out, name, f, &config))
}
