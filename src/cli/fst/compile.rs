use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::format::binary::Container;
use crate::format::json;
use crate::format::text::{self, ReadConfig};
use crate::fst::any::AnyFst;

/// Make an automaton from AT&T text
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst compile --isymbols w.syms --osymbols w.syms a.txt -o a.fst")]
pub struct Cmd {
    /// One label an arc: `source target label [weight]`
    #[arg(long)]
    acceptor: bool,
    /// Semiring: standard, log or log64
    #[arg(long, default_value = "standard", conflicts_with = "json")]
    arc_type: String,
    /// Container to write
    #[arg(long, value_enum, default_value_t)]
    fst_type: Container,
    /// Symbol table of the input labels
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
    /// Symbol table of the output labels
    #[arg(long, value_name = "FILE")]
    osymbols: Option<String>,
    /// Symbol table of the states
    #[arg(long, value_name = "FILE")]
    ssymbols: Option<String>,
    /// Store the input symbol table in the automaton
    #[arg(long)]
    keep_isymbols: bool,
    /// Store the output symbol table in the automaton
    #[arg(long)]
    keep_osymbols: bool,
    /// States keep the numbers of the text
    #[arg(long)]
    keep_state_numbering: bool,
    /// Labels may be negative (but not -1)
    #[arg(long)]
    allow_negative_labels: bool,
    /// The text is JSON, as `print --json` writes it
    #[arg(long, conflicts_with_all = ["acceptor", "isymbols", "osymbols", "ssymbols", "keep_isymbols", "keep_osymbols"])]
    json: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let table = |env: &mut dyn Env, name: &Option<String>| name.as_deref().map(|n| env.symbols(n)).transpose();
        let config = ReadConfig {
            acceptor: self.acceptor,
            isymbols: table(env, &self.isymbols)?,
            osymbols: table(env, &self.osymbols)?,
            ssymbols: table(env, &self.ssymbols)?,
            keep_state_numbering: self.keep_state_numbering,
            allow_negative_labels: self.allow_negative_labels,
        };
        for (keep, table, name) in
            [(self.keep_isymbols, &config.isymbols, "isymbols"), (self.keep_osymbols, &config.osymbols, "osymbols")]
        {
            if keep && table.is_none() {
                env.note(&format!("--keep-{name} without --{name}: there is no table to keep"));
            }
        }
        let (name, source) = env.read_text(self.io.input().unwrap_or("-"))?;
        if self.json {
            return env.put_as(self.io.output(), json::read(&name, &source)?, self.fst_type).map(|()| Status::Done);
        }
        let mut fst = match AnyFst::empty(&self.arc_type)? {
            AnyFst::Standard(_) => AnyFst::Standard(text::read(&name, &source, &config)?),
            AnyFst::Log(_) => AnyFst::Log(text::read(&name, &source, &config)?),
            AnyFst::Log64(_) => AnyFst::Log64(text::read(&name, &source, &config)?),
        };
        fst.set_isyms(config.isymbols.filter(|_| self.keep_isymbols));
        fst.set_osyms(config.osymbols.filter(|_| self.keep_osymbols));
        env.put_as(self.io.output(), fst, self.fst_type)?;
        Ok(Status::Done)
    }
}
