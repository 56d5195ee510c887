//! The positional arguments that operations share: OpenFst's order, with `-o` as a second way to name the output.

use clap::Args;

use crate::cli::env::Env;
use crate::error::{Error, Result};
use crate::format::io::is_stdio;
use crate::format::number::parse_weight;
use crate::format::symtab;
use crate::fst::any::AnyFst;

/// Several results of one command go to different places; nothing or `-` is standard output.
pub fn distinct(outputs: &[Option<&str>]) -> Result<()> {
    let places: Vec<&str> =
        outputs.iter().map(|o| o.filter(|name| !is_stdio(name)).unwrap_or("standard output")).collect();
    for (i, place) in places.iter().enumerate() {
        if places[..i].contains(place) {
            return Err(Error::usage(format!(
                "two results would both go to {place}; name another file for one of them"
            )));
        }
    }
    Ok(())
}

/// How far apart equal weights may be.
pub fn nearness(delta: f32) -> Result<()> {
    if delta >= 0.0 && delta.is_finite() {
        return Ok(());
    }
    Err(Error::usage(format!("--delta {delta}: expected a number, 0 or more")))
}

/// A weight as the text of an option: whether it fits the semiring shows when there is an automaton.
pub fn weight_text(text: &str) -> std::result::Result<String, String> {
    // Numbers that are too large for any semiring get their message with the others.
    let number = text.is_empty() || parse_weight(text).is_some() || text.parse::<f64>().is_ok_and(|x| !x.is_nan());
    if number { Ok(text.to_string()) } else { Err("expected a number or Infinity".into()) }
}

/// `[IN] [OUT]`, or `[IN] -o OUT`.
#[derive(Args, Clone, Debug, Default)]
pub struct Unary {
    /// Input automaton (`-` or nothing: standard input)
    #[arg(value_name = "IN")]
    pub input: Option<String>,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Unary {
    pub fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref().or(self.out.as_deref())
    }
}

/// Files for the symbol tables inside an automaton.
#[derive(Args, Clone, Debug, Default)]
pub struct SavedTables {
    /// Save the input symbol table to a file first
    #[arg(long, value_name = "FILE")]
    save_isymbols: Option<String>,
    /// Save the output symbol table to a file first
    #[arg(long, value_name = "FILE")]
    save_osymbols: Option<String>,
}

impl SavedTables {
    /// The tables and what the command writes to `output` go to different places.
    pub fn distinct(&self, output: Option<&str>) -> Result<()> {
        let saved = [&self.save_isymbols, &self.save_osymbols].into_iter().flatten().map(|file| Some(file.as_str()));
        distinct(&saved.chain([output]).collect::<Vec<_>>())
    }
    pub fn save(&self, env: &mut dyn Env, fst: &AnyFst) -> Result<()> {
        let sides = [(&self.save_isymbols, fst.isyms(), "input"), (&self.save_osymbols, fst.osyms(), "output")];
        for (file, table, side) in sides {
            let Some(file) = file else { continue };
            let none = || Error::usage(format!("{file}: the automaton has no {side} symbol table to save"));
            let table = table.ok_or_else(none)?;
            env.text(Some(file), &mut |mut out| symtab::write_text(&mut out, table).map_err(|e| Error::io(file, e)))?;
        }
        Ok(())
    }
}

/// `A [B] [OUT]`, or `A [B] -o OUT`.
#[derive(Args, Clone, Debug)]
pub struct Binary {
    /// First automaton (`-`: standard input)
    #[arg(value_name = "A")]
    pub a: String,
    /// Second automaton (`-` or nothing: standard input)
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Binary {
    pub fn a(&self) -> Option<&str> {
        Some(&self.a)
    }
    pub fn b(&self) -> Option<&str> {
        self.b.as_deref()
    }
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref().or(self.out.as_deref())
    }
}
