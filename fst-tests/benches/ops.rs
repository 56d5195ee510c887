//! The weft side of `tools/bench-openfst`: times an operation on automata that are already in memory.
//!
//! ```text
//! ops REPEATS OP [OPTION...] FILE...     as after `weft fst`; prints `STATES ARCS PEAK-KB SECONDS...`
//! ```
//!
//! The command runs with an environment that has every input loaded and keeps the result, so that what is timed is the
//! library call and not the files: CPU time, inputs copied before the clock starts, results freed after it stops.
//! Beside the commands there are `read FILE`, `visit FILE` (read it and look at every arc once), `write FILE` and, for
//! any of them, `@LIST`: a file of arguments, one a line.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc as Shared;

use clap::{CommandFactory, FromArgMatches, Parser};
use weft::cli::args::{openfst_booleans, openfst_spelling};
use weft::cli::env::Env;
use weft::cli::fst::FstArgs;
use weft::error::{Error, Result};
use weft::format::binary::{self, Container};
use weft::format::{io, symtab};
use weft::fst::any::AnyFst;
use weft::fst::flat::FlatFst;
use weft::fst::semiring::Weight;
use weft::fst::symbols::SymbolTable;
use weft::with_fst;

#[derive(Parser)]
#[command(name = "ops")]
struct Ops {
    #[command(flatten)]
    fst: FstArgs,
}

/// Inputs in memory; the result stays until the clock has stopped.
#[derive(Default)]
struct Memory {
    fsts: HashMap<String, Shared<AnyFst>>,
    /// What commands took to change: copied anew before each run.
    taken: HashMap<String, Option<AnyFst>>,
    texts: HashMap<String, Shared<String>>,
    tables: HashMap<String, Shared<SymbolTable>>,
    result: Option<AnyFst>,
}

impl Memory {
    fn load(&mut self, name: Option<&str>) -> Result<(String, Shared<AnyFst>)> {
        let name = name.ok_or_else(|| Error::usage("name the input file"))?.to_string();
        if !self.fsts.contains_key(&name) {
            self.fsts.insert(name.clone(), Shared::new(binary::read(&name)?));
        }
        let fst = self.fsts[&name].clone();
        Ok((name, fst))
    }
    /// Frees the last result and makes the copies of the next run.
    fn reset(&mut self) {
        self.result = None;
        for (name, copy) in &mut self.taken {
            *copy = Some((*self.fsts[name]).clone());
        }
    }
}

impl Env for Memory {
    fn get(&mut self, name: Option<&str>) -> Result<Shared<AnyFst>> {
        self.load(name).map(|(_, fst)| fst)
    }
    fn take(&mut self, name: Option<&str>) -> Result<AnyFst> {
        let (name, fst) = self.load(name)?;
        Ok(self.taken.entry(name).or_default().take().unwrap_or_else(|| (*fst).clone()))
    }
    fn put_as(&mut self, _: Option<&str>, fst: AnyFst, _: Container) -> Result<()> {
        self.result = Some(fst);
        Ok(())
    }
    fn text(&mut self, _: Option<&str>, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut out = io::create("/dev/null")?;
        write(&mut out)?;
        out.commit()
    }
    fn symbols(&mut self, name: &str) -> Result<Shared<SymbolTable>> {
        if !self.tables.contains_key(name) {
            let table = symtab::read(name)?;
            table.key(""); // the map from symbols, made at the first look-up
            self.tables.insert(name.into(), Shared::new(table));
        }
        Ok(self.tables[name].clone())
    }
    fn read_text(&mut self, name: &str) -> Result<(String, Shared<String>)> {
        if !self.texts.contains_key(name) {
            self.texts.insert(name.into(), Shared::new(io::read_text(name)?.1));
        }
        Ok((name.into(), self.texts[name].clone()))
    }
    fn note(&mut self, _: &str) {}
}

/// CPU seconds of the process so far.
fn cpu() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists and `t` is a valid place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The most memory since the program started, in KB. (getrusage counts what was there before exec, too.)
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse().ok()).unwrap_or(0)
}

struct Outcome {
    states: usize,
    arcs: usize,
    seconds: Vec<f64>,
}

impl Outcome {
    fn of(fst: Option<&AnyFst>, seconds: Vec<f64>) -> Self {
        Outcome { states: fst.map_or(0, AnyFst::num_states), arcs: fst.map_or(0, AnyFst::num_arcs), seconds }
    }
}

fn timed(repeats: usize, mut once: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    (0..repeats).map(|_| once()).collect()
}

/// Every arc once, state by state: what whoever reads an automaton does next.
fn visit<W: Weight>(fst: &FlatFst<W>) -> (i64, f64) {
    let (mut labels, mut weights) = (0, 0.0);
    for s in fst.states() {
        for a in fst.arcs(s) {
            labels += i64::from(a.ilabel) + i64::from(a.olabel) + i64::from(a.nextstate);
            weights += a.weight.to_f64();
        }
    }
    (labels, weights)
}

fn run(repeats: usize, args: &[String]) -> Result<Outcome> {
    match args {
        [op, name] if op == "read" => {
            let mut last = None;
            let seconds = timed(repeats, || {
                last = None;
                let begin = cpu();
                last = Some(binary::read(name)?);
                Ok(cpu() - begin)
            })?;
            Ok(Outcome::of(last.as_ref(), seconds))
        }
        [op, name] if op == "visit" => {
            let mut last = None;
            let seconds = timed(repeats, || {
                last = None;
                let begin = cpu();
                let read = binary::read(name)?;
                std::hint::black_box(with_fst!(&read, f => visit(f)));
                let seconds = cpu() - begin;
                last = Some(read);
                Ok(seconds)
            })?;
            Ok(Outcome::of(last.as_ref(), seconds))
        }
        [op, options @ .., name] if op == "write" => {
            let fst = binary::read(name)?;
            let is_const = options.iter().any(|o| o == "--fst-type=const");
            let out = options.iter().find_map(|o| o.strip_prefix("--out=")).unwrap_or("/dev/null");
            let container = if is_const { Container::Const } else { Container::Vector };
            let seconds = timed(repeats, || {
                let begin = cpu();
                binary::write(out, &fst, container)?;
                Ok(cpu() - begin)
            })?;
            Ok(Outcome::of(Some(&fst), seconds))
        }
        _ => command(repeats, args),
    }
}

fn command(repeats: usize, args: &[String]) -> Result<Outcome> {
    let command = openfst_booleans(Ops::command());
    let argv = std::iter::once("ops".into()).chain(args.iter().map(Into::into)).collect();
    let argv = openfst_spelling(&command, argv);
    let ops = command
        .try_get_matches_from(argv)
        .and_then(|m| Ops::from_arg_matches(&m))
        .map_err(|e| Error::usage(e.to_string()))?;
    let mut memory = Memory::default();
    ops.fst.command.run(&mut memory)?; // loads what the command names
    let seconds = timed(repeats, || {
        memory.reset();
        let begin = cpu();
        ops.fst.command.run(&mut memory)?;
        Ok(cpu() - begin)
    })?;
    Ok(Outcome::of(memory.result.as_ref(), seconds))
}

fn main() -> ExitCode {
    let mut args = vec![];
    for arg in std::env::args().skip(1) {
        match arg.strip_prefix('@').map(std::fs::read_to_string) {
            Some(Ok(list)) => args.extend(list.lines().map(str::to_string)),
            _ => args.push(arg),
        }
    }
    let Some((Ok(repeats), rest)) = args.split_first().map(|(n, rest)| (n.parse::<usize>(), rest)) else {
        // `cargo bench` comes here: the table needs the inputs and OpenFst beside it.
        println!("ops REPEATS OP [OPTION...] FILE...   times one operation; tools/bench-openfst makes the whole table");
        return ExitCode::SUCCESS;
    };
    match run(repeats, rest) {
        Ok(o) => {
            let seconds: Vec<String> = o.seconds.iter().map(|s| format!("{s:.6}")).collect();
            println!("{} {} {} {}", o.states, o.arcs, peak(), seconds.join(" "));
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("ops: {e}");
            ExitCode::from(2)
        }
    }
}
