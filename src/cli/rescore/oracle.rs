//! `weft rescore oracle`: the path of a lattice that is most like its references, by BLEU.

use std::fmt::Write;
use std::sync::{Arc as Shared, Mutex, OnceLock, PoisonError};

use clap::Args;

use super::{RescoreStage, alone, prints};
use crate::cli::cascade::RunArgs;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::eval::bleu::{BleuStats, Smoothing};
use crate::format::template;
use crate::fst::flat::Label;
use crate::fst::symbols::SymbolTable;
use crate::rescore::lattice::path_fst;
use crate::rescore::oracle::{self, Method, NO_WORD, OP, OracleConfig, Reference};
use crate::{map_fst, with_fst};

pub const HELP: &str = "A reference file has one line a sentence; the sentence is the number of a template or a key, or else the \
place among the inputs. Words are compared by name; <s> and </s> are none. The search is that of Sokolov et al. 2012: the path \
of highest linear BLEU, for several settings of p and r and each reference alone, too, of which the highest sentence BLEU is kept \
(or only the path for the --p and --r given); \
with --nbest, the exact highest sentence BLEU among the N best strings. The corpus' BLEU goes to standard error. BLEU is \
sacreBLEU's, without its tokenisation.\n\n\
The strings are printed; with `-o NAME.fst` (or .far), and as the stage `rescore-oracle` without --scores, the paths are automata.\n\n\
Examples:\n  weft rescore oracle --refs words.ref 'lats/?.fst' --range 1:3\n  \
weft rescore oracle --refs words.ref --refs words2.ref --nbest 100 --scores 'lats/?.fst' --range 1:3\n  \
weft rescore oracle --refs words.ref --p 0.6 --r 0.7 s.far -o oracles.far";

/// The path of highest BLEU against references
#[derive(Args, Debug)]
pub struct Cmd {
    #[command(flatten)]
    stage: Oracle,
    #[command(flatten)]
    run: RunArgs,
}

/// The path of highest BLEU against references
#[derive(Args, Clone, Debug)]
pub struct Oracle {
    /// References, one line a sentence; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    refs: Vec<String>,
    /// Look only at the N strings of least cost, exactly
    #[arg(long, value_name = "N", conflicts_with_all = ["p", "r"])]
    nbest: Option<usize>,
    /// Precision of single words that the linear approximation assumes [default: several]
    #[arg(long, value_name = "X", requires = "r")]
    p: Option<f64>,
    /// By how much the precision of each higher order is less [default: several]
    #[arg(long, value_name = "X", requires = "p")]
    r: Option<f64>,
    /// After the string, a tab and its BLEU, a tab and its matches of each order
    #[arg(long)]
    scores: bool,
    /// Symbol table that names the lattices' output labels, instead of their own
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Stop with an error at this many states of a lattice combined with its references
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_states: usize,
    #[arg(skip)]
    common: Shared<Common>,
    #[arg(skip)]
    print: bool,
}

/// What all sentences share.
#[derive(Debug, Default)]
struct Common {
    references: OnceLock<std::result::Result<Vec<Lines>, String>>,
    total: Mutex<(usize, BleuStats)>,
}

/// A file with its lines.
#[derive(Debug)]
struct Lines {
    file: String,
    text: Shared<String>,
    lines: Vec<std::ops::Range<usize>>,
}

impl Lines {
    fn new(file: String, text: Shared<String>) -> Self {
        let start = text.as_ptr() as usize;
        let range = |l: &str| l.as_ptr() as usize - start..l.as_ptr() as usize - start + l.len();
        let lines = text.lines().map(range).collect();
        Lines { file, text, lines }
    }
    fn get(&self, number: usize) -> Option<&str> {
        let range = self.lines.get(number.checked_sub(1)?)?.clone();
        Some(&self.text[range])
    }
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut stage = self.stage.clone();
        stage.method()?;
        stage.print = prints(self.run.output.as_deref(), stage.scores)?;
        let common = stage.common.clone();
        let status = self.run.run(&[alone(OP, RescoreStage::RescoreOracle(stage))])?;
        let (sentences, total) = *common.total.lock().unwrap_or_else(PoisonError::into_inner);
        if sentences > 0 {
            crate::cli::say!("weft: {}", show_corpus(sentences, &total));
        }
        Ok(status)
    }
}

/// As sacreBLEU prints it.
fn show_corpus(sentences: usize, stats: &BleuStats) -> String {
    let score = stats.score(Smoothing::Exp, false);
    let plural = if sentences == 1 { "" } else { "s" };
    format!("oracle BLEU = {:.2} {}, {sentences} sentence{plural}", score.score, stats.verbose(&score))
}

impl Oracle {
    fn method(&self) -> Result<Method> {
        if let Some(name) = self.refs.iter().find(|n| template::is_template(n)) {
            return Err(Error::usage(format!(
                "--refs {name}: references are one file with a line a sentence, no template"
            )));
        }
        Ok(match (self.nbest, self.p, self.r) {
            (Some(0), ..) => return Err(Error::usage("--nbest 0: there would be nothing to choose from")),
            (Some(n), ..) => Method::List(n),
            (None, Some(p), Some(r)) => {
                if let Some(x) = [p, r].into_iter().find(|x| !(*x > 0.0 && *x <= 1.0)) {
                    return Err(Error::usage(format!("--p and --r are above 0 and at most 1, not {x}")));
                }
                Method::Linear(p, r)
            }
            _ => Method::Grid,
        })
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let config = OracleConfig { method: self.method()?, max_states: self.max_states };
        let texts: Vec<_> = self.refs.iter().map(|name| env.read_text(name)).collect::<Result<_>>()?;
        let references = self.common.references.get_or_init(|| lines_of(texts)).as_ref().map_err(Error::usage)?;
        let fst = env.get(None)?;
        let table = env.symbols_or(self.symbols.as_deref(), fst.osyms(), false)?;
        let number = env.number();
        let find = || {
            with_fst!(&*fst, f => {
                let lines = sentence(references, number)?;
                let reference = Reference::new(&lines);
                let named = |label| number_of(label, table.as_deref(), &reference, number);
                oracle::oracle(f, &reference.words, named, &config)
            })
        };
        if self.print || self.scores {
            env.text(None, &mut |out| {
                let found = find()?;
                let line = self.show(&found, table.as_deref());
                out.write_all(line.as_bytes()).map_err(|e| Error::io("strings", e))?;
                self.count(&found.stats);
                Ok(())
            })?;
        } else {
            let found = find()?;
            let mut path = map_fst!(&*fst, f => Ok::<_, Error>(path_fst(f, &found.path, found.end)))?;
            // Words by which the labels were understood stay with them.
            path.set_isyms(table.clone());
            path.set_osyms(table);
            env.put(None, path)?;
            self.count(&found.stats);
        }
        Ok(Status::Done)
    }

    fn count(&self, stats: &BleuStats) {
        let mut total = self.common.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.0 += 1;
        total.1 += *stats;
    }

    fn show(&self, found: &oracle::Oracle, table: Option<&SymbolTable>) -> String {
        let mut line = String::new();
        for &(label, _) in found.path.iter().filter(|(label, _)| *label != 0) {
            // Every label was looked up when the lattice was read.
            let name = table.and_then(|t| t.symbol(label as i64));
            if name.is_some_and(oracle::is_boundary) {
                continue;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            match name {
                Some(name) => line.push_str(name),
                None => line.push_str(&label.to_string()),
            }
        }
        if self.scores {
            let s = &found.stats;
            let matches: Vec<String> = s.counts.iter().zip(s.totals).map(|(m, t)| format!("{m}/{t}")).collect();
            let _ = write!(line, "\t{:.2}\t{}", s.sentence_bleu(), matches.join(" "));
        }
        line.push('\n');
        line
    }
}

/// The lines of all reference files, which must have as many.
fn lines_of(texts: Vec<(String, Shared<String>)>) -> std::result::Result<Vec<Lines>, String> {
    let all: Vec<Lines> = texts.into_iter().map(|(file, text)| Lines::new(file, text)).collect();
    match all.iter().find(|l| l.lines.len() != all[0].lines.len()) {
        Some(other) => Err(format!(
            "{} has {} lines and {} has {}: references need one line a sentence each",
            all[0].file,
            all[0].lines.len(),
            other.file,
            other.lines.len()
        )),
        None => Ok(all),
    }
}

/// The references of a sentence.
fn sentence(references: &[Lines], number: usize) -> Result<Vec<&str>> {
    let line = |l: &'_ Lines| {
        let message = format!("{} has {} lines, and none for sentence {number}", l.file, l.lines.len());
        Error::op(OP, message)
    };
    references.iter().map(|l| l.get(number).ok_or_else(|| line(l))).collect()
}

/// The number of the word that a label is.
fn number_of(label: Label, table: Option<&SymbolTable>, reference: &Reference, sentence: usize) -> Result<u32> {
    match table {
        Some(table) => match table.symbol(label as i64) {
            Some(name) => Ok(reference.number(name)),
            None => Err(Error::op(OP, format!("label {label} is not in the symbol table {:?}", table.name()))),
        },
        None => match reference.numbers.keys().find(|w| w.parse::<Label>().is_err()) {
            Some(word) => {
                let message = format!(
                    "the lattice has no symbol table, and the reference of sentence {sentence} has words ({word:?}); \
                     name a table with --symbols, so that its labels are words"
                );
                Err(Error::op(OP, message))
            }
            None if label == 0 => Ok(NO_WORD),
            None => Ok(reference.number(&label.to_string())),
        },
    }
}
