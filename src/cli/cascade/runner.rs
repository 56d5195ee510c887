//! Runs the stages over the inputs: many at a time, results in input order, a bounded number in memory.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::env::{CascadeEnv, Current, Effect, Operands};
use super::inputs::{Inputs, Job, Loaded};
use super::output::{Final, Output, write_automaton_text};
use super::script::Stage;
use super::stats::{Row, Size};
use crate::cli::args::thread_pool;
use crate::cli::claims::{Claims, dump_folder};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::{binary, io, template};

/// Everything the threads share.
pub struct Cascade<'a> {
    pub stages: &'a [Stage],
    /// What each stage does, as far as that is known before.
    pub effects: &'a [Effect],
    pub operands: &'a Operands,
    /// Where the result of an input goes.
    pub target: &'a Final,
    pub dump: Option<&'a str>,
    pub stats: bool,
}

/// One input, done.
pub struct Done {
    pub key: String,
    pub name: String,
    /// Text for the common output.
    pub text: Vec<u8>,
    /// Text for files that all inputs write to.
    pub gathered: Vec<(String, Vec<u8>)>,
    /// The automaton, if it goes to an archive or to standard output.
    pub result: Option<Current>,
    pub notes: Vec<String>,
    /// Why it failed.
    pub failure: Option<String>,
    pub rows: Vec<Row>,
}

impl Cascade<'_> {
    /// As `run_one`; a panic is a failure of this input, so that those who wait for its turn do not wait for ever.
    fn run_safely(&self, job: Job, index: usize) -> Done {
        let (key, name) = (job.key.clone(), job.name.clone());
        catch_unwind(AssertUnwindSafe(|| self.run_one(job, index))).unwrap_or_else(|_| Done {
            key,
            name,
            text: vec![],
            gathered: vec![],
            result: None,
            notes: vec![],
            failure: Some("a bug in weft: please report it with this input and the script".into()),
            rows: vec![],
        })
    }

    /// One input through all stages. Never an error: what goes wrong is in the result.
    fn run_one(&self, job: Job, index: usize) -> Done {
        let (key, name) = (job.key.clone(), job.name.clone());
        let mut env = CascadeEnv::new(self.operands, &key, index);
        let mut rows = vec![];
        let outcome = self.stages_of(job, &mut env, &mut rows);
        let (mut text, mut gathered, notes, mut result) = (env.text, env.gathered, env.notes, env.current);
        let failure = outcome.and_then(|()| self.deliver(&key, &mut text, &mut result)).err();
        if failure.is_some() {
            // Half an output would look like a whole one.
            text.clear();
            gathered.clear();
            result = None;
        }
        Done { key, name, text, gathered, result, notes, failure, rows }
    }

    fn stages_of(&self, job: Job, env: &mut CascadeEnv, rows: &mut Vec<Row>) -> std::result::Result<(), String> {
        let name = job.name.clone();
        let key = job.key.clone();
        let as_text = self.effects.first().is_some_and(|e| e.reads_text);
        let begun = Instant::now();
        // Errors of reading name the file; so does the line about the input.
        let loaded = job.load(as_text).map_err(|e| {
            let text = e.to_string();
            text.strip_prefix(&format!("{name}: ")).map(str::to_string).unwrap_or(text)
        })?;
        match loaded {
            Loaded::Fst(fst) => env.current = Some(Current { fst: fst.into(), container: Default::default() }),
            Loaded::Text(shown, text) => env.source = Some((shown, text)),
        }
        self.record(env, rows, begun, true);
        let folder = self.dump.map(|d| dump_folder(d, &key)).transpose().map_err(|e| e.to_string())?;
        if let (Some(folder), Some(current)) = (&folder, &env.current) {
            dump(&format!("{folder}/00-input"), current).map_err(|e| e.to_string())?;
        }
        for (i, stage) in self.stages.iter().enumerate() {
            env.effect = Effect::default();
            env.keep = !self.effects[i].put;
            let text_before = env.text.len();
            let begun = Instant::now();
            let status = stage.run(env).map_err(|e| stage.error(&e))?;
            env.source = None;
            self.record(env, rows, begun, env.effect.put);
            if let Some(folder) = &folder {
                let base = format!("{folder}/{:02}-{}", i + 1, stage.name);
                self.dump_stage(&base, env, text_before).map_err(|e| stage.error(&e))?;
            }
            if status == Status::No {
                return Err(format!("{}{}: no", stage.place, stage.words));
            }
        }
        Ok(())
    }

    fn record(&self, env: &CascadeEnv, rows: &mut Vec<Row>, begun: Instant, made: bool) {
        if self.stats {
            let seconds = begun.elapsed().as_secs_f64();
            let size = env.current.as_ref().filter(|_| made).map(|c| Size::of(&c.fst));
            rows.push(Row { inputs: 1, size, seconds });
        }
    }

    fn dump_stage(&self, base: &str, env: &CascadeEnv, text_before: usize) -> Result<()> {
        if env.effect.printed {
            return io::create(&format!("{base}.txt"))?.write_and_commit(&env.text[text_before..]);
        }
        match &env.current {
            Some(current) if env.effect.put => dump(base, current),
            _ => Ok(()),
        }
    }

    /// Writes what goes to a file of this input, and leaves what goes to the common output.
    fn deliver(&self, key: &str, text: &mut Vec<u8>, result: &mut Option<Current>) -> std::result::Result<(), String> {
        let said = |e: Error| e.to_string();
        match self.target {
            Final::AutomatonFile(name) => {
                let Some(c) = result.take() else { return Err("no automaton is left to write".into()) };
                template::fill_output(name, key)
                    .and_then(|file| binary::write(&file, &c.fst, c.container))
                    .map_err(said)
            }
            Final::TextFile(name) if template::is_template(name) => {
                let bytes = std::mem::take(text);
                *result = None;
                template::fill_output(name, key)
                    .and_then(|file| io::create(&file))
                    .and_then(|o| o.write_and_commit(&bytes))
                    .map_err(said)
            }
            Final::Archive(_) | Final::Stdout if result.is_none() => Err("no automaton is left to write".into()),
            Final::Archive(_) | Final::Stdout => Ok(()),
            Final::TextFile(_) | Final::Nothing => {
                *result = None;
                Ok(())
            }
        }
    }
}

/// `BASE.fst` and, to look at, `BASE.txt`.
fn dump(base: &str, current: &Current) -> Result<()> {
    binary::write(&format!("{base}.fst"), &current.fst, current.container)?;
    let name = format!("{base}.txt");
    let mut out = io::create(&name)?;
    write_automaton_text(&mut out, &name, &current.fst)?;
    out.commit()
}

/// Results that came before their turn, and the common output.
struct Collector<'o, 'i> {
    next: usize,
    early: BTreeMap<usize, Done>,
    output: &'o mut Output<'i>,
    /// The common output cannot be written any more.
    fatal: Option<Error>,
}

/// Runs every input on `threads` threads.
pub fn run(cascade: &Cascade, inputs: &Inputs, mut claims: Claims, threads: usize, output: &mut Output) -> Result<()> {
    let pool = thread_pool(threads)?;
    // A thread may be this many inputs ahead of the one that is to be written next.
    let window = 4 * pool.current_num_threads().max(1);
    // Files are claimed in the order of the inputs, so that it is the same input that fails for any number of threads.
    let jobs = inputs.jobs().map(|mut job| {
        job.claim(&mut claims);
        job
    });
    let jobs = Mutex::new(jobs.enumerate());
    let collector = Mutex::new(Collector { next: 0, early: BTreeMap::new(), output, fatal: None });
    let room = Condvar::new();
    pool.broadcast(|_| {
        loop {
            // The lock is held only to get the job; an archive is read under it, entry by entry.
            let Some((index, job)) = lock(&jobs).next() else { return };
            let mut c = lock(&collector);
            while index >= c.next + window && c.fatal.is_none() {
                c = room.wait(c).unwrap_or_else(PoisonError::into_inner);
            }
            if c.fatal.is_some() {
                return;
            }
            drop(c);
            let done = cascade.run_safely(job, index);
            let mut c = lock(&collector);
            c.early.insert(index, done);
            c.drain();
            room.notify_all();
        }
    });
    match collector.into_inner().unwrap_or_else(PoisonError::into_inner).fatal {
        Some(e) => Err(e),
        None => Ok(()),
    }
}

impl Collector<'_, '_> {
    fn drain(&mut self) {
        while self.fatal.is_none()
            && let Some(done) = self.early.remove(&self.next)
        {
            self.next += 1;
            self.fatal = self.output.accept(done).err();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
