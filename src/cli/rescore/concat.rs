//! `weft rescore concat`: joins the lattices of the parts of sentences. Several inputs make one result, so this is no stage
//! of a cascade.

use std::collections::HashMap;
use std::io::IsTerminal;

use clap::Args;
use rayon::prelude::*;

use crate::cli::args::thread_pool;
use crate::cli::cascade::inputs::{Inputs, Job, Loaded, plain_key};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::binary::{self, Container};
use crate::format::far::{FarType, FarWriter};
use crate::format::{io, template};
use crate::fst::any::AnyFst;
use crate::rescore::concat::{ConcatConfig, Joints, OP, concat};

/// Join the lattices of the parts of sentences
#[derive(Args, Debug)]
#[command(
    after_help = "Long sentences are split, their parts translated or ordered one by one, and the joined lattice rescored, so that the \
    language model sees across the joints. Sentence boundaries at the joints become epsilons (--boundaries keep: they stay); \
    those at the beginning and the end of the whole stay. Tables that differ are merged by name.\n\n\
    What belongs together:\n  \
    nothing said   all inputs, in order: one sentence\n  \
    --by-name      12.1.fst, 12.2.fst, ... are the parts of sentence 12\n  \
    --groups FILE  line N has the keys of the parts of sentence N: numbers of the template, keys of\n                 \
    the archive, names without folder and suffix\n  \
    --counts FILE  line N has the number of parts of sentence N; parts are in order\n\n\
    `?` in -o is the number of the sentence. A sentence that fails is named, the others go on. This is no stage of a cascade: \
    there, one input makes one result.\n\n\
    Examples:\n  weft rescore concat lats/1.fst lats/2.fst lats/3.fst -o whole.fst\n  \
    printf '1 2\\n3\\n' > groups.txt\n  \
    weft rescore concat 'lats/?.fst' --range 1:3 --groups groups.txt -o 'whole/?.fst'\n  \
    weft lm apply --lm lm.arpa 'whole/?.fst' --range 1:2 -o 'out/?.fst'\n  \
    weft rescore kbest --unique 'out/?.fst' --range 1:2\n\n\
    The last prints, each lattice having \"a c\" and \"b c\":\n\
    \u{20}   0 ||| a c a c ||| ||| -5.75646287\n    1 ||| a c ||| ||| -2.01476198"
)]
pub struct Concat {
    /// Automata, templates with `?`, or archives (`-` or nothing: standard input)
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Numbers of a template: 1:10,15 or first:step:last
    #[arg(long, value_name = "RANGE")]
    range: Option<String>,
    /// What is made: a name with `?`, an archive (.far), or a file if there is one sentence
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Keys of the parts, a line a sentence
    #[arg(long, value_name = "FILE", conflicts_with_all = ["counts", "by_name"])]
    groups: Option<String>,
    /// Number of parts, a line a sentence
    #[arg(long, value_name = "FILE", conflicts_with = "by_name")]
    counts: Option<String>,
    /// Inputs are called SENTENCE.PART
    #[arg(long)]
    by_name: bool,
    /// What becomes of sentence boundaries at the joints
    #[arg(long, value_enum, default_value_t)]
    boundaries: Joints,
    /// The words, or the labels where there is no symbol table, that begin and end a sentence
    #[arg(long, value_name = "BEGIN,END", default_value = "<s>,</s>")]
    boundary_words: String,
    /// Sentences at a time; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

/// The parts of a sentence, or why they are not known.
struct Sentence {
    key: String,
    parts: std::result::Result<Vec<Job>, String>,
}

enum Target {
    Template(String),
    Archive(Box<FarWriter>),
    One(String),
}

impl Concat {
    pub fn run(&self) -> Result<Status> {
        let Some((begin, end)) = self.boundary_words.split_once(',') else {
            let words = &self.boundary_words;
            return Err(Error::usage(format!("--boundary-words {words}: expected two words with a comma between")));
        };
        let config = ConcatConfig { joints: self.boundaries, begin: begin.into(), end: end.into() };
        let sentences = self.sentences()?;
        let mut target = self.target(&sentences)?;
        let width = sentences.iter().map(|s| s.key.len()).max().unwrap_or(0);
        let numbers = sentences.iter().all(|s| s.key.bytes().all(|b| b.is_ascii_digit()));
        let pool = thread_pool(self.threads)?;
        let (total, mut failed) = (sentences.len(), 0);
        let mut open = sentences.into_iter();
        // A few at a time, so that only these are in memory.
        loop {
            let batch: Vec<Sentence> = open.by_ref().take(4 * pool.current_num_threads()).collect();
            if batch.is_empty() {
                break;
            }
            let done: Vec<(String, Result<AnyFst>)> =
                pool.install(|| batch.into_par_iter().map(|s| (s.key.clone(), whole(s, &config))).collect());
            for (key, fst) in done {
                let written = fst.and_then(|fst| match &mut target {
                    Target::Template(name) => {
                        binary::write(&template::fill_output(name, &key)?, &fst, Container::Vector)
                    }
                    Target::One(name) => binary::write(name, &fst, Container::Vector),
                    Target::Archive(far) if numbers => far.add(&format!("{key:0>width$}"), &fst),
                    Target::Archive(far) => far.add(&key, &fst),
                });
                if let (Err(Error::Io { .. }), Target::Archive(_)) = (&written, &target) {
                    return written.map(|()| Status::No);
                }
                if let Err(e) = written {
                    failed += 1;
                    crate::cli::say!("weft: sentence {key}: {e}");
                }
            }
        }
        if let Target::Archive(far) = target {
            far.finish()?;
        }
        if failed > 0 {
            crate::cli::say!("weft: {failed} of {total} sentences failed");
        }
        Ok(Status::from_answer(failed == 0))
    }

    fn target(&self, sentences: &[Sentence]) -> Result<Target> {
        let one = sentences.len() == 1;
        match self.output.as_deref().filter(|n| !io::is_stdio(n)) {
            Some(name) if template::is_template(name) => Ok(Target::Template(name.into())),
            Some(name) if name.ends_with(".far") => {
                Ok(Target::Archive(Box::new(FarWriter::create(name, FarType::Table)?)))
            }
            Some(name) if one => Ok(Target::One(name.into())),
            None if one && !std::io::stdout().is_terminal() => Ok(Target::One("-".into())),
            Some(name) => Err(Error::usage(format!(
                "{name}: one file cannot hold {} sentences; put `?` in its name or end it in .far",
                sentences.len()
            ))),
            None => Err(Error::usage(
                "nothing says where the result goes: add -o whole.fst, -o 'whole/?.fst' or -o whole.far",
            )),
        }
    }

    fn sentences(&self) -> Result<Vec<Sentence>> {
        let jobs: Vec<Job> = Inputs::new(&self.inputs, self.range.as_deref())?.jobs().collect();
        if let Some(file) = &self.groups {
            let (shown, text) = io::read_text(file)?;
            grouped(&shown, &text, jobs)
        } else if let Some(file) = &self.counts {
            let (shown, text) = io::read_text(file)?;
            counted(&shown, &text, jobs)
        } else if self.by_name {
            named(jobs)
        } else {
            Ok(vec![Sentence { key: "1".into(), parts: Ok(jobs) }])
        }
    }
}

/// Reads the parts of a sentence and joins them.
fn whole(sentence: Sentence, config: &ConcatConfig) -> Result<AnyFst> {
    let (mut parts, mut names) = (vec![], vec![]);
    for job in sentence.parts.map_err(Error::usage)? {
        names.push(job.name.clone());
        match job.load(false)? {
            Loaded::Fst(fst) => parts.push(fst),
            Loaded::Text(name, _) => return Err(Error::op(OP, format!("{name} is text, not an automaton"))),
        }
    }
    concat(parts, &names, config)
}

/// Sentences by the keys of their parts.
fn grouped(file: &str, text: &str, jobs: Vec<Job>) -> Result<Vec<Sentence>> {
    let mut by_key: HashMap<String, Option<Job>> = HashMap::new();
    for job in jobs {
        let key = plain_key(&job.key).to_string();
        if let Some(Some(other)) = by_key.insert(key.clone(), Some(job)) {
            return Err(Error::usage(format!("two inputs are called {key:?} (one is {}); rename one", other.name)));
        }
    }
    let mut sentences = vec![];
    for (n, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", n + 1);
        let take = |key: &str| match by_key.get_mut(plain_key(key)).map(Option::take) {
            Some(Some(job)) => Ok(job),
            Some(None) => Err(format!("{place}: the input {key:?} was a part before")),
            None => Err(format!("{place}: there is no input {key:?}")),
        };
        let parts: std::result::Result<Vec<Job>, String> = line.split_whitespace().map(take).collect();
        let parts = match parts {
            Ok(parts) if parts.is_empty() => Err(format!("{place}: the line is empty, expected keys of inputs")),
            other => other,
        };
        sentences.push(Sentence { key: (n + 1).to_string(), parts });
    }
    let mut left: Vec<&str> = by_key.values().flatten().map(|job| &*job.name).collect();
    left.sort_unstable();
    if let Some(first) = left.first() {
        crate::cli::say!("weft: {file}: {} inputs are parts of no sentence, {first} the first", left.len());
    }
    if sentences.is_empty() {
        return Err(Error::usage(format!("{file}: the file is empty, expected a line of keys a sentence")));
    }
    Ok(sentences)
}

/// Sentences by the numbers of their parts.
fn counted(file: &str, text: &str, jobs: Vec<Job>) -> Result<Vec<Sentence>> {
    let all = jobs.len();
    let mut jobs = jobs.into_iter();
    let mut sentences = vec![];
    let mut sum = 0;
    for (n, line) in text.lines().enumerate() {
        let count: usize = match line.trim().parse() {
            Ok(count) if count > 0 => count,
            _ => return Err(Error::text(file, n + 1, 1, format!("{line:?}: expected a number of parts, from 1 on"))),
        };
        sum += count;
        if sum > all {
            return Err(Error::text(file, n + 1, 1, format!("{sum} parts up to here, but there are {all} inputs")));
        }
        sentences.push(Sentence { key: (n + 1).to_string(), parts: Ok(jobs.by_ref().take(count).collect()) });
    }
    if sum < all {
        return Err(Error::usage(format!("{file}: {sum} parts in all, but there are {all} inputs")));
    }
    Ok(sentences)
}

/// Sentences by the names of their parts, SENTENCE.PART; numbers in the order of numbers.
fn named(jobs: Vec<Job>) -> Result<Vec<Sentence>> {
    let mut parts = vec![];
    for job in jobs {
        let split = job.key.rsplit_once('.').and_then(|(s, p)| Some((s.to_string(), p.parse::<u64>().ok()?)));
        match split {
            Some((sentence, part)) if !sentence.is_empty() => parts.push((sentence, part, job)),
            _ => {
                let message = format!("{}: --by-name expects names such as 12.1.fst: sentence, dot, part", job.name);
                return Err(Error::usage(message));
            }
        }
    }
    let number = |s: &str| s.parse::<u64>().unwrap_or(u64::MAX);
    parts.sort_by(|a, b| (number(&a.0), &a.0, a.1).cmp(&(number(&b.0), &b.0, b.1)));
    let mut sentences: Vec<Sentence> = vec![];
    for (key, _, job) in parts {
        match sentences.last_mut() {
            Some(Sentence { key: last, parts: Ok(parts) }) if *last == key => parts.push(job),
            _ => sentences.push(Sentence { key, parts: Ok(vec![job]) }),
        }
    }
    Ok(sentences)
}
