//! All sentences: in parallel, results in order, a failing one named and the others done.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::DecodeArgs;
use super::output::{self, Outputs};
use crate::cli::env::Status;
use crate::decode::{Decoder, Exactness, dump};
use crate::error::{Error, Result};
use crate::format::template::NumberRange;
use crate::format::{binary, io, template};
use crate::fst::any::AnyFst;
use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Tropical;
use crate::rtn::expand;
use crate::text::vocab::Vocab;

/// A line of the input.
pub struct Sentence {
    /// From 1.
    pub number: usize,
    pub text: String,
}

/// The sentences of a file, or those of a range.
pub fn read_sentences(file: &str, range: Option<&str>) -> Result<Vec<Sentence>> {
    if io::is_stdio(file) && std::io::stdin().is_terminal() {
        return Err(Error::usage("no sentences: name a file or pipe them in (see --help for an example)"));
    }
    let (shown, text) = io::read_text(file)?;
    let lines: Vec<&str> = io::without_mark(&text).lines().collect();
    let numbers: Vec<usize> = match range {
        None => (1..=lines.len()).collect(),
        Some(range) => {
            let wrong = |n: &str| Error::usage(format!("--range {range}: {n} is not the number of a line"));
            let numbers = NumberRange::parse(range)?;
            numbers.iter().map(|n| n.parse().map_err(|_| wrong(&n))).collect::<Result<_>>()?
        }
    };
    let sentence = |number: usize| match number.checked_sub(1).and_then(|i| lines.get(i)) {
        Some(line) => Ok(Sentence { number, text: line.to_string() }),
        None => Err(Error::usage(format!("--range: {shown} has {} lines, and no line {number}", lines.len()))),
    };
    numbers.into_iter().map(sentence).collect()
}

/// The words of the sentences as numbers. With HiFST's numbers for words, other words are an error.
pub fn number_words(file: &str, sentences: &[Sentence], vocab: &mut Vocab, integers: bool) -> Result<Vec<Vec<u32>>> {
    let mut number = |s: &Sentence| {
        let words = s.text.split_whitespace().map(|w| {
            if integers && w.parse::<i32>().is_err() {
                let column = s.text[..w.as_ptr() as usize - s.text.as_ptr() as usize].chars().count() + 1;
                let message =
                    format!("{w:?}: the rules have numbers for words, expected a number from 0 to 2147483647");
                return Err(Error::text(file, s.number, column, message));
            }
            Ok(vocab.add(w))
        });
        words.collect()
    };
    sentences.iter().map(&mut number).collect()
}

/// What a thread made of a sentence.
pub struct Done {
    pub number: usize,
    pub text: String,
    pub derivation: String,
    pub lattice: Option<AnyFst>,
    pub rule_lattice: Option<AnyFst>,
    /// Input labels of the rule lattice.
    pub rules: BTreeSet<Label>,
    pub notes: Vec<String>,
    pub failure: Option<String>,
    pub exactness: Exactness,
    pub stats: Option<String>,
}

pub fn run(args: &DecodeArgs, decoder: &Decoder, sentences: &[Sentence], words: &[Vec<u32>]) -> Result<Status> {
    let mut outputs = Outputs::new(args, sentences)?;
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    let bar = progress(sentences.len());
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<(usize, Done)>();
    let mut counts = Counts::default();
    std::thread::scope(|scope| -> Result<()> {
        for _ in 0..threads.min(sentences.len()) {
            let (send, next) = (send.clone(), &next);
            // Charts of long sentences with unary chains are walked recursively.
            let builder = std::thread::Builder::new().stack_size(64 << 20);
            let work = move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(sentence) = sentences.get(i) else { return };
                    if send.send((i, one(args, decoder, sentence, &words[i]))).is_err() {
                        return;
                    }
                }
            };
            builder.spawn_scoped(scope, work).map_err(|e| Error::usage(format!("cannot start a thread: {e}")))?;
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        for (i, done) in receive {
            waiting.insert(i, done);
            while let Some(done) = waiting.remove(&turn) {
                counts.add(&done, &bar);
                if let Err(e) = outputs.accept(done) {
                    // Nobody reads any more: the other threads need not go on.
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    return Err(e);
                }
                turn += 1;
                bar.inc(1);
            }
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    outputs.finish(&decoder.grammar)?;
    Ok(counts.report(sentences.len(), args.prune))
}

fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} sentences {per_sec} {eta} {msg}");
    ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What the user is told at the end.
#[derive(Default)]
struct Counts {
    failed: usize,
    pruned: usize,
    /// Sentences whose cells had to be pruned, with the beam.
    forced: Vec<(usize, f64)>,
}

impl Counts {
    fn add(&mut self, done: &Done, bar: &ProgressBar) {
        let say = |line: String| bar.suspend(|| crate::cli::say!("weft: sentence {}: {line}", done.number));
        for note in &done.notes {
            say(note.clone());
        }
        if let Some(stats) = &done.stats {
            bar.suspend(|| crate::cli::say!("{stats}"));
        }
        match (&done.failure, &done.exactness) {
            (Some(why), _) => {
                self.failed += 1;
                say(why.clone());
                bar.set_message(format!("{} failed", self.failed));
            }
            (None, Exactness::Exact) => {}
            (None, Exactness::Pruned) => self.pruned += 1,
            (None, Exactness::Forced(beam)) => self.forced.push((done.number, *beam)),
        }
    }

    fn report(&self, total: usize, prune: Option<f64>) -> Status {
        let exact = total - self.failed - self.pruned - self.forced.len();
        let within = prune.map_or(String::new(), |b| format!(" within the beam of {b}"));
        let mut parts = vec![format!("{exact} of {total} sentences exact{within}")];
        if self.pruned > 0 {
            parts.push(format!("{} with pruned cells (--prune-cell)", self.pruned));
        }
        let mut beams: Vec<f64> = self.forced.iter().map(|f| f.1).collect();
        beams.sort_by(|a, b| b.total_cmp(a));
        beams.dedup();
        for beam in beams {
            let numbers: Vec<usize> = self.forced.iter().filter(|f| f.1 == beam).map(|f| f.0).collect();
            parts.push(format!(
                "{} not exact, for the search takes more than --max-memory: cells pruned with a beam of {beam} (sentences {})",
                numbers.len(),
                ranges(&numbers)
            ));
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", self.failed));
        }
        crate::cli::say!("weft: {}", parts.join("; "));
        if self.failed > 0 { Status::No } else { Status::Done }
    }
}

/// Numbers in order, as `--range` takes them; the first few.
pub fn ranges(numbers: &[usize]) -> String {
    const MOST: usize = 12;
    let mut ranges: Vec<(usize, usize)> = vec![];
    for &n in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    let more = if ranges.len() > MOST { ",..." } else { "" };
    let show = |&(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}:{b}") };
    ranges.iter().take(MOST).map(show).collect::<Vec<_>>().join(",") + more
}

/// One sentence; never an error: what goes wrong is in the result.
fn one(args: &DecodeArgs, decoder: &Decoder, sentence: &Sentence, words: &[u32]) -> Done {
    let mut done = Done {
        number: sentence.number,
        text: String::new(),
        derivation: String::new(),
        lattice: None,
        rule_lattice: None,
        rules: BTreeSet::new(),
        notes: vec![],
        failure: None,
        exactness: Exactness::Exact,
        stats: None,
    };
    if let Err(e) = translate(args, decoder, sentence, words, &mut done) {
        done.failure = Some(e.to_string());
    }
    if done.text.is_empty() && args.nbest.is_none() {
        done.text.push('\n');
    }
    done
}

fn translate(args: &DecodeArgs, decoder: &Decoder, sentence: &Sentence, words: &[u32], done: &mut Done) -> Result<()> {
    let begun = Instant::now();
    let mut t = decoder.decode(words, args.dump.is_some() || args.stats)?;
    let seconds = begun.elapsed().as_secs_f64();
    done.notes.append(&mut t.notes);
    done.exactness = t.exactness.clone();
    if args.stats {
        let rtn = t.network.as_ref();
        let size = rtn.map_or(0.0, |r| expand::sizes(r)[r.root]);
        let lattice = &t.lattice().whole;
        done.stats = Some(format!(
            "sentence {}: {} words, {} items, {} cells, {} rules, network {} arcs, its expansion {size:.0}, lattice {} \
             states {} arcs, {:?}, {seconds:.3} s",
            sentence.number,
            words.len(),
            t.chart.items,
            t.chart.cells.len(),
            t.chart.num_rules(),
            rtn.map_or(0, |r| r.num_arcs()),
            lattice.num_states(),
            lattice.num_arcs(),
            t.exactness,
        ));
    }
    match args.nbest {
        None => done.text = output::best(decoder, &t),
        Some(_) => done.text = output::nbest(decoder, &t, sentence.number - 1),
    }
    if args.derivation.is_some() {
        done.derivation = output::derivation(decoder, &t);
    }
    let key = sentence.number.to_string();
    if let Some(dir) = &args.dump {
        dump::dump(decoder, &t, &Path::new(dir).join(&key))?;
    }
    if let Some(name) = &args.lattices {
        done.lattice = written(name, &key, output::lattice(decoder, &t))?;
    }
    if let Some(name) = &args.rule_lattices {
        match output::rule_lattice(decoder, &t) {
            Ok((fst, rules)) => {
                done.rules = rules;
                done.rule_lattice = written(name, &key, fst)?;
            }
            Err(Error::Limit { .. }) => done.notes.push(
                "no rule lattice: it takes more than --max-memory; a smaller beam (--prune) leaves fewer derivations"
                    .into(),
            ),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Writes a lattice to a file of its own; given back if it goes into an archive.
fn written(name: &str, key: &str, fst: FlatFst<Tropical>) -> Result<Option<AnyFst>> {
    let fst = AnyFst::Standard(fst);
    if !template::is_template(name) {
        return Ok(Some(fst));
    }
    binary::write(&template::fill(name, key), &fst, binary::Container::Vector)?;
    Ok(None)
}
