use clap::Args;

use super::io::{SavedTables, Unary};
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::format::json;
use crate::format::text::{self, PrintConfig};
use crate::with_fst;

/// Print an automaton as AT&T text, with words where it has symbol tables
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst print --acceptor a.fst")]
pub struct Cmd {
    /// One label an arc, if the automaton is an acceptor
    #[arg(long)]
    acceptor: bool,
    /// Symbol table of the input labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
    /// Symbol table of the output labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    osymbols: Option<String>,
    /// Symbol table of the states
    #[arg(long, value_name = "FILE")]
    ssymbols: Option<String>,
    /// Numbers even where there are symbol tables
    #[arg(long)]
    numeric: bool,
    /// Print weights that are one, too
    #[arg(long)]
    show_weight_one: bool,
    /// What to print for a label that its table does not have
    #[arg(long, value_name = "TEXT")]
    missing_symbol: Option<String>,
    /// Significant digits of weights; 9 are exact for standard and log, 17 for log64
    #[arg(long, default_value_t = 9)]
    precision: usize,
    /// As JSON, which `compile --json` reads back exactly
    #[arg(long, conflicts_with_all = ["acceptor", "numeric", "isymbols", "osymbols", "ssymbols", "show_weight_one", "missing_symbol"])]
    json: bool,
    #[command(flatten)]
    saved: SavedTables,
    /// Accepted for OpenFst's sake; negative labels are always printed
    #[arg(long, hide = true)]
    allow_negative_labels: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.saved.distinct(self.io.output())?;
        let fst = env.get(self.io.input())?;
        let config = PrintConfig {
            acceptor: self.acceptor,
            isymbols: env.symbols_or(self.isymbols.as_deref(), fst.isyms(), self.numeric)?,
            osymbols: env.symbols_or(self.osymbols.as_deref(), fst.osyms(), self.numeric)?,
            ssymbols: env.symbols_or(self.ssymbols.as_deref(), None, self.numeric)?,
            show_weight_one: self.show_weight_one,
            missing_symbol: self.missing_symbol.clone().filter(|m| !m.is_empty()),
            precision: self.precision,
        };
        self.saved.save(env, &fst)?;
        let name = self.io.output().unwrap_or("standard output").to_string();
        if self.json {
            env.text(self.io.output(), &mut |mut out| json::write(&mut out, &name, &fst))?;
            return Ok(Status::Done);
        }
        env.text(self.io.output(), &mut |mut out| with_fst!(&*fst, f => text::print(&mut out, &name, f, &config)))?;
        Ok(Status::Done)
    }
}
