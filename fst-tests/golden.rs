//! Replays what the real OpenFst tools made (`golden/`, written by `tools/make-golden`, which describes the format) through
//! weft's own command line: in this process over automata in memory, and as a process where a command names other files.

mod support;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::mpsc;
use std::sync::{Arc as Shared, LazyLock};
use std::time::Duration;

use support::compare;
use support::memory::MemoryEnv;
use weft::cli::env::Status;
use weft::error::{Error, Result};
use weft::format::binary::{self, Container};
use weft::format::symtab;
use weft::format::text::{self, PrintConfig, ReadConfig};
use weft::fst::any::AnyFst;
use weft::fst::symbols::SymbolTable;
use weft::with_fst;

/// Every file of `golden/` that must be there, with at least one case.
const OPS: &[&str] = &[
    "arcsort",
    "closure",
    "compile",
    "compose",
    "concat",
    "connect",
    "convert",
    "determinize",
    "difference",
    "disambiguate",
    "draw",
    "encode",
    "epsnormalize",
    "equal",
    "equivalent",
    "far",
    "info",
    "intersect",
    "invert",
    "isomorphic",
    "map",
    "minimize",
    "print",
    "project",
    "prune",
    "push",
    "randgen",
    "relabel",
    "replace",
    "reverse",
    "reweight",
    "rmepsilon",
    "shortestdistance",
    "shortestpath",
    "symbols",
    "synchronize",
    "topsort",
    "union",
];

/// A case that takes longer than this is a hang: all of them are small.
const PATIENCE: Duration = Duration::from_secs(20);

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fst-tests/golden")
}

// ------------------------------------------------------------------------------------------------------------- cases

#[derive(Clone, Debug)]
struct Expect {
    mode: String,
    tolerance: f64,
    /// The exit status for `exit`, else the file to look at; `-` is standard output.
    file: String,
    body: String,
}

#[derive(Clone, Debug)]
struct Case {
    name: String,
    commands: Vec<String>,
    expect: Vec<Expect>,
}

fn parse_cases(source: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for line in source.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            cases.push(Case { name: name.to_string(), commands: vec![], expect: vec![] });
            continue;
        }
        let case = cases.last_mut().expect("a case begins with `== NAME`");
        if let Some(command) = line.strip_prefix("$ ") {
            case.commands.push(command.to_string());
        } else if let Some(section) = line.strip_prefix("> ") {
            let mut words = section.split(' ');
            let mode = words.next().unwrap_or_default().to_string();
            let mut e = Expect { mode, tolerance: 0.0, file: "out.fst".to_string(), body: String::new() };
            for w in words {
                match w.parse::<f64>() {
                    Ok(t) if e.mode != "exit" => e.tolerance = t,
                    _ => e.file = w.to_string(),
                }
            }
            case.expect.push(e);
        } else if let Some(e) = case.expect.last_mut() {
            e.body.push_str(line);
            e.body.push('\n');
        }
    }
    let first: HashMap<String, String> =
        cases.iter().filter_map(|c| Some((c.name.clone(), c.expect.first()?.body.clone()))).collect();
    for e in cases.iter_mut().flat_map(|c| &mut c.expect) {
        if let Some(other) = e.body.trim_end().strip_prefix("= ") {
            e.body = first.get(other).unwrap_or_else(|| panic!("no case {other}")).clone();
        }
    }
    cases
}

/// `inputs.txt`: every input, and every other file, by name.
struct Inputs(HashMap<String, String>);

impl Inputs {
    fn load() -> Self {
        let source = std::fs::read_to_string(golden().join("inputs.txt")).expect("golden/inputs.txt");
        let mut files: HashMap<String, String> = HashMap::new();
        let mut name = String::new();
        for line in source.lines() {
            match line.strip_prefix("== ") {
                Some(n) => {
                    name = n.to_string();
                    files.insert(name.clone(), String::new());
                }
                None => {
                    let body = files.get_mut(&name).expect("a section begins with `== NAME`");
                    body.push_str(line);
                    body.push('\n');
                }
            }
        }
        Inputs(files)
    }

    fn text(&self, name: &str) -> Option<&String> {
        self.0.get(name)
    }

    fn table(&self, name: &str) -> Result<SymbolTable> {
        let text = self.text(name).ok_or_else(|| Error::usage(format!("no file {name}")))?;
        symtab::read_text(name, text)
    }

    /// NAME.ARC.fst or NAME.ARC.w.fst.
    fn automaton(&self, file: &str) -> Option<AnyFst> {
        let parts: Vec<&str> = file.strip_suffix(".fst")?.split('.').collect();
        let (&[name, arc] | &[name, arc, _]) = parts.as_slice() else { return None };
        let source = self.text(name)?;
        let config = ReadConfig::default();
        let mut fst = match arc {
            "standard" => AnyFst::Standard(text::read(name, source, &config).expect("golden input")),
            "log" => AnyFst::Log(text::read(name, source, &config).expect("golden input")),
            "log64" => AnyFst::Log64(text::read(name, source, &config).expect("golden input")),
            _ => return None,
        };
        if let Some(tables) = parts.get(2) {
            let (i, o) = match *tables {
                "w" => ("in.syms", "out.syms"),
                "v" => ("in.syms", "in.syms"),
                _ => ("out.syms", "out.syms"),
            };
            fst.set_isyms(Some(Shared::new(self.table(i).expect("golden table"))));
            fst.set_osyms(Some(Shared::new(self.table(o).expect("golden table"))));
        }
        Some(fst)
    }
}

static INPUTS: LazyLock<Inputs> = LazyLock::new(Inputs::load);

// ----------------------------------------------------------------------------------------------------- in this process

fn run_here(commands: &[String]) -> Outcome {
    let mut env = MemoryEnv::default();
    let (mut status, mut message) = (0, String::new());
    for command in commands {
        for word in command.split(' ') {
            let name = word.rsplit('=').next().unwrap_or(word);
            if let Some(fst) = INPUTS.automaton(name).filter(|_| !env.automata.contains_key(name)) {
                env.automata.insert(name.to_string(), fst);
            } else if let Some(body) = INPUTS.text(name) {
                env.texts.insert(name.to_string(), body.clone().into_bytes());
            }
        }
        (status, message) = match env.run(command.strip_prefix("fst ").unwrap_or(command)) {
            Ok(Status::Done) => (0, String::new()),
            Ok(Status::No) => (1, String::new()),
            Err(e) => (2, format!("weft: {e}")),
        };
        if status != 0 {
            break;
        }
    }
    Outcome { status, message, automata: env.automata, texts: env.texts }
}

/// What came out: the exit status with its message, automata and texts.
#[derive(Default)]
struct Outcome {
    status: i32,
    message: String,
    automata: HashMap<String, AnyFst>,
    texts: HashMap<String, Vec<u8>>,
}

// -------------------------------------------------------------------------------------------------------- as a process

fn run_there(commands: &[String], wanted: &[Expect]) -> Outcome {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut outcome = Outcome::default();
    for command in commands {
        for word in command.split(' ') {
            let name = word.rsplit('=').next().unwrap_or(word);
            let path = dir.path().join(name);
            if path.exists() {
                continue;
            }
            if let Some(fst) = INPUTS.automaton(name) {
                binary::write(path.to_str().expect("UTF-8"), &fst, Container::Vector).expect("writing an input");
            } else if let Some(body) = INPUTS.text(name).filter(|_| name.contains('.')) {
                std::fs::write(&path, body).expect("writing an input");
            }
        }
        let run = Process::new(env!("CARGO_BIN_EXE_weft"))
            .args(command.split(' '))
            .current_dir(dir.path())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("running weft");
        outcome.status = run.status.code().unwrap_or(-1);
        outcome.message = String::from_utf8_lossy(&run.stderr).into_owned();
        outcome.texts.insert("-".to_string(), run.stdout);
        if outcome.status != 0 {
            return outcome;
        }
    }
    for e in wanted {
        let path = dir.path().join(&e.file);
        let name = path.to_str().expect("UTF-8");
        if e.file.ends_with(".fst") {
            match binary::read(name) {
                Ok(fst) => _ = outcome.automata.insert(e.file.clone(), fst),
                Err(e) => outcome.message = e.to_string(),
            }
        } else if e.file != "-"
            && let Ok(bytes) = std::fs::read(&path)
        {
            outcome.texts.insert(e.file.clone(), bytes);
        }
    }
    outcome
}

// -------------------------------------------------------------------------------------------------------- verdicts

fn printed(fst: &AnyFst, numeric: bool) -> std::result::Result<String, String> {
    let (i, o) = if numeric { (None, None) } else { (fst.isyms().cloned(), fst.osyms().cloned()) };
    let config = PrintConfig { isymbols: i, osymbols: o, ..Default::default() };
    with_fst!(fst, f => text::to_string(f, &config)).map_err(|e| e.to_string())
}

fn judge(case: &Case, got: &Outcome) -> std::result::Result<(), String> {
    for e in &case.expect {
        match e.mode.as_str() {
            "exit" => {
                if e.file.parse() != Ok(got.status) {
                    return Err(format!("exit status {} wanted, {} found {}", e.file, got.status, got.message));
                }
                continue;
            }
            "fail" => {
                match got.status {
                    0 => return Err("OpenFst refuses this, weft did not".to_string()),
                    1 | 2 if ["weft: ", "error: "].iter().any(|begin| got.message.starts_with(begin)) => {}
                    other => return Err(format!("a clean error wanted, exit status {other} found: {}", got.message)),
                }
                continue;
            }
            _ if got.status != 0 => return Err(format!("exit status {}: {}", got.status, got.message.trim())),
            _ => {}
        }
        if e.mode == "text" || e.mode == "lines" {
            let bytes = got.texts.get(&e.file).ok_or_else(|| format!("no text {}", e.file))?;
            let found = String::from_utf8_lossy(bytes);
            match e.mode.as_str() {
                "text" if found.trim_end() == e.body.trim_end() => {}
                "text" => return Err(compare::diff(&e.body, &found)),
                _ => compare::lines(&e.body, &found, e.tolerance)?,
            }
            continue;
        }
        let fst = got.automata.get(&e.file).ok_or_else(|| format!("no automaton {} {}", e.file, got.message))?;
        let found = printed(fst, e.mode != "same")?;
        let path_semiring = matches!(fst, AnyFst::Standard(_));
        match e.mode.as_str() {
            "same" => compare::lines(&e.body, &found, e.tolerance)?,
            "isomorphic" => compare::isomorphic(&e.body, &found, e.tolerance)?,
            "equivalent" => compare::equivalent(&e.body, &found, e.tolerance, path_semiring)?,
            "paths" => compare::path_weights(&e.body, &found, e.tolerance)?,
            other => return Err(format!("no mode {other}")),
        }
    }
    Ok(())
}

/// Commands that name files which do not come through `Env`, or have flags for a whole process, run as a process.
fn needs_process(case: &Case) -> bool {
    let library_flag = |w: &str| w.starts_with("--fst_") && !w.starts_with("--fst_type");
    case.commands.iter().any(|c| {
        c.starts_with("far ")
            || c.starts_with("fst encode")
            || c.contains("--save_")
            || c.contains("fst info")
            || c.split(' ').any(library_flag)
    })
}

fn run_case(case: &Case, process: bool) -> std::result::Result<(), String> {
    let (send, receive) = mpsc::channel();
    let shared = case.clone();
    // A hang costs a thread, not the test.
    std::thread::spawn(move || {
        let verdict = catch_unwind(AssertUnwindSafe(|| {
            let got = if process { run_there(&shared.commands, &shared.expect) } else { run_here(&shared.commands) };
            judge(&shared, &got)
        }));
        let _ = send.send(verdict.unwrap_or_else(|p| {
            let message = p.downcast_ref::<String>().cloned();
            let message = message.or_else(|| p.downcast_ref::<&str>().map(|s| s.to_string()));
            Err(format!("panic: {}", message.unwrap_or_default()))
        }));
    });
    receive.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(format!("no answer in {} s", PATIENCE.as_secs())))
}

/// Set `GOLDEN=op` or `GOLDEN=op-12` to replay a part, `GOLDEN_DIFFS=n` to see n differences an operation.
#[test]
fn openfst_and_weft_agree() {
    let only = std::env::var("GOLDEN").ok();
    let diffs: usize = std::env::var("GOLDEN_DIFFS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut table: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for &op in OPS {
        if only.as_deref().is_some_and(|o| o.split('-').next() != Some(op)) {
            continue;
        }
        let path = golden().join(format!("{op}.txt"));
        let cases = parse_cases(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        assert!(!cases.is_empty(), "{op} has no golden case");
        let (count, failed) = table.entry(op).or_default();
        for (k, case) in cases.iter().enumerate() {
            if only.as_deref().is_some_and(|o| o.contains('-') && o != case.name) {
                continue;
            }
            *count += 1;
            let process = needs_process(case);
            // One case in fifty goes through the real command as well, whatever it is.
            let both = !process && k % 50 == 0;
            let verdict = run_case(case, process).and_then(|()| if both { run_case(case, true) } else { Ok(()) });
            if let Err(why) = verdict {
                if failed.len() < diffs {
                    eprintln!("== {}\n   weft {}\n{why}\n", case.name, case.commands.join("\n   weft "));
                }
                failed.push(case.name.clone());
            }
        }
    }
    let mut bad = 0;
    for (op, (count, failed)) in &table {
        bad += failed.len();
        eprintln!(
            "{op:<18} {count:>5} cases {:>5} differ {}",
            failed.len(),
            failed.iter().take(12).cloned().collect::<Vec<_>>().join(" ")
        );
    }
    let total: usize = table.values().map(|t| t.0).sum();
    eprintln!("{total} cases, {bad} differ");
    assert_eq!(bad, 0, "weft and OpenFst differ");
}
