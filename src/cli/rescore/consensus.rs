//! `weft rescore consensus`: the permutation of least expected loss, from samples or from lattices of permutations.

use std::fmt::Write as _;
use std::io::Write;

use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde::Serialize;

use super::{RescoreStage, alone, prints};
use crate::cli::args::thread_pool;
use crate::cli::cascade::RunArgs;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::io;
use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::rescore::kendall::paths::Permutations;
use crate::rescore::kendall::samples::{Samples, Sentences};
use crate::rescore::kendall::{Answer, OP, linear};
use crate::rescore::lattice::path_fst;
use crate::{map_fst, with_fst};

pub const HELP: &str = "Of every pair of words, how probable each order is decides (Stanojević and Sima'an 2015, eq. 8): the answer \
has the fewest expected pairs in the wrong order.\n\n\
Samples: a line is a weight (probability or count), a TAB and the positions from 0, such as `0.25<TAB>0 2 1`; an empty line ends \
a sentence, and every sentence has one line of output. The paper's rule takes the best of the samples, in two passes over them.\n\n\
Lattices: the labels are the words, each once on every path. A symbol table names them; without one, label 1 is position 0, \
label 2 position 1 and so on, as 0 is epsilon. The answer is the best of all paths, exactly.\n\n\
--over all looks at every order there is. Words that go in circles (a before b before c before a) are searched in groups: up to 20 \
exactly, more within --limit; what is not proven to be best is said.\n\n\
The orders are printed; with `-o NAME.fst` (or .far), and as the stage `rescore-consensus`, they are automata whose cost is the \
expected loss.\n\n\
Examples:\n  weft rescore consensus --kendall --samples perms.txt\n  \
weft rescore consensus --kendall --samples perms.txt --over all --scores\n  \
weft rescore consensus --kendall perms.fst\n  \
weft rescore consensus --kendall --alpha 0.5 --json perms.fst";

/// The permutation of least expected loss, from samples or from lattices of permutations
#[derive(Args, Debug)]
pub struct Cmd {
    #[command(flatten)]
    stage: Consensus,
    /// Weighted samples instead of lattices: a line is a weight, a TAB, positions (`-`: standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "range", "dump", "stats", "progress", "keys", "alpha", "symbols", "numeric"])]
    samples: Option<String>,
    /// The weights of the samples are natural logarithms
    #[arg(long)]
    log_weights: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// The permutation of least expected loss
#[derive(Args, Clone, Debug)]
pub struct Consensus {
    /// The loss is Kendall's: the share of pairs in the wrong order
    #[arg(long, required = true)]
    kendall: bool,
    /// The orders to choose from [default: what is given, samples or lattice]
    #[arg(long, value_enum, value_name = "WHAT")]
    over: Option<Over>,
    /// What the costs of a lattice are multiplied by before they become probabilities
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// Most steps of the search over all orders, a sentence
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    limit: u64,
    /// After the order, a tab and the expected number of pairs in the right order, a tab and the expected loss
    #[arg(short = 'v', long, conflicts_with = "json")]
    scores: bool,
    /// A line of JSON a sentence: order, gain, loss, whether it is proven to be the best
    #[arg(long)]
    json: bool,
    /// Symbol table that names the lattices' output labels, instead of their own
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Print labels of lattices as they are, not as words or positions
    #[arg(long)]
    numeric: bool,
    #[arg(skip)]
    print: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// The orders that were sampled
    Samples,
    /// The orders that are paths
    Lattice,
    /// All orders
    All,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut stage = self.stage.clone();
        if !stage.kendall {
            return Err(Error::usage("--kendall is the one loss there is; say --kendall"));
        }
        if !stage.alpha.is_finite() {
            return Err(Error::usage(format!("--alpha {}: not a number", stage.alpha)));
        }
        match (&self.samples, stage.over) {
            (Some(_), Some(Over::Lattice)) => {
                Err(Error::usage("--over lattice: samples are given, not lattices; choose samples or all"))
            }
            (None, Some(Over::Samples)) => {
                Err(Error::usage("--over samples: name them with --samples FILE, or choose lattice or all"))
            }
            (None, _) if self.log_weights => Err(Error::usage("--log-weights is about samples; lattices have costs")),
            (Some(file), _) => self.sampled(file),
            (None, _) => {
                stage.print = prints(self.run.output.as_deref(), stage.scores || stage.json)?;
                self.run.run(&[alone(OP, RescoreStage::RescoreConsensus(stage))])
            }
        }
    }

    /// One answer a sentence; a sentence that fails keeps its line, empty.
    fn sampled(&self, file: &str) -> Result<Status> {
        let output = self.run.output.as_deref().unwrap_or("-");
        prints(Some(output), true)?;
        let pool = thread_pool(self.run.threads)?;
        let most = 2 * pool.current_num_threads();
        let mut sentences = Sentences::open(file)?;
        let mut out = io::create(output)?;
        let (mut number, mut failed) = (0, 0);
        loop {
            let mut batch = vec![];
            while batch.len() < most
                && let Some(next) = sentences.next_sentence()?
            {
                batch.push(next);
            }
            if batch.is_empty() {
                break;
            }
            let name = sentences.file();
            let one = |(line, text): &(usize, String)| {
                Samples::parse(name, *line, text, self.log_weights).map(|s| self.best(&s))
            };
            let answers: Vec<Result<Answer>> = pool.install(|| batch.par_iter().map(one).collect());
            for answer in answers {
                number += 1;
                let line = match answer {
                    Ok(answer) => {
                        if let Some(note) = self.stage.doubt(&answer) {
                            crate::cli::say!("weft: {name}: sentence {number}: {note}");
                        }
                        let order = answer.order.iter().map(|&p| Shown::Number(p as i64)).collect::<Vec<_>>();
                        self.stage.show(number, &order, &answer)
                    }
                    Err(e) => {
                        failed += 1;
                        crate::cli::say!("weft: sentence {number}: {e}");
                        if self.stage.json {
                            Line::Failure { sentence: number, error: e.to_string() }.text()
                        } else {
                            "\n".into()
                        }
                    }
                };
                out.write_all(line.as_bytes()).map_err(|e| Error::io(output, e))?;
            }
        }
        if number == 0 {
            return Err(Error::text(sentences.file(), 1, 1, "no samples; a line is a weight, a TAB and positions"));
        }
        out.commit()?;
        if failed > 0 {
            crate::cli::say!("weft: {failed} of {number} sentences failed");
        }
        Ok(Status::from_answer(failed == 0))
    }

    fn best(&self, samples: &Samples) -> Answer {
        let pairs = samples.pairs();
        match self.stage.over {
            Some(Over::All) => linear::best(&pairs, self.stage.limit),
            _ => samples.best(&pairs),
        }
    }
}

/// A word of an order.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Name(&'a str),
    Number(i64),
}

/// A line of JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Answer { sentence: usize, order: &'a [Shown<'a>], gain: f64, loss: f64, bound: f64, proven: bool },
    Failure { sentence: usize, error: String },
}

impl Line<'_> {
    fn text(&self) -> String {
        // Numbers and strings: nothing here can fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Shown::Name(name) => f.write_str(name),
            Shown::Number(n) => write!(f, "{n}"),
        }
    }
}

impl Consensus {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.get(None)?;
        let table = env.symbols_or(self.symbols.as_deref(), fst.osyms(), self.numeric)?;
        let number = env.number();
        let find = || with_fst!(&*fst, f => self.find(f, table.as_deref()));
        if self.print || self.json || self.scores {
            let mut note = None;
            env.text(None, &mut |out| {
                let (labels, answer) = find()?;
                let order = labels.iter().map(|&l| self.shown(l, table.as_deref())).collect::<Result<Vec<_>>>()?;
                note = self.doubt(&answer);
                out.write_all(self.show(number, &order, &answer).as_bytes()).map_err(|e| Error::io("orders", e))
            })?;
            note.iter().for_each(|n| env.note(n));
        } else {
            let (labels, answer) = find()?;
            self.doubt(&answer).iter().for_each(|n| env.note(n));
            let path: Vec<(Label, f64)> = labels.iter().map(|&l| (l, 0.0)).collect();
            let mut made = map_fst!(&*fst, f => Ok::<_, Error>(path_fst(f, &path, answer.loss())))?;
            // Words by which the labels were understood stay with them.
            if let Some(table) = table {
                made.set_isyms(Some(table.clone()));
                made.set_osyms(Some(table));
            }
            env.put(None, made)?;
        }
        Ok(Status::Done)
    }

    fn find<W: Weight>(&self, fst: &FlatFst<W>, table: Option<&SymbolTable>) -> Result<(Vec<Label>, Answer)> {
        if self.over == Some(Over::Samples) {
            return Err(Error::usage("--over samples: there are no samples here; choose lattice or all"));
        }
        let name = |label: Label| match self.shown(label, table) {
            Ok(shown) => shown.to_string(),
            Err(_) => label.to_string(),
        };
        let permutations = Permutations::new(fst, &name)?;
        let pairs = permutations.pairs(self.alpha)?;
        let answer = match self.over {
            Some(Over::All) => linear::best(&pairs, self.limit),
            _ => permutations.best(&pairs),
        };
        Ok((answer.order.iter().map(|&w| permutations.label(w)).collect(), answer))
    }

    /// The word of a label: its name, or its position, which is one less as 0 is epsilon.
    fn shown<'a>(&self, label: Label, table: Option<&'a SymbolTable>) -> Result<Shown<'a>> {
        match table {
            None if self.numeric => Ok(Shown::Number(label as i64)),
            None => Ok(Shown::Number(label as i64 - 1)),
            Some(table) => table.symbol(label as i64).map(Shown::Name).ok_or_else(|| {
                let message =
                    format!("label {label} is not in the symbol table {:?}; --numeric prints labels", table.name());
                Error::op(OP, message)
            }),
        }
    }

    /// What the user must know of an answer that may not be the best.
    fn doubt(&self, answer: &Answer) -> Option<String> {
        (!answer.proven).then(|| {
            format!(
                "not proven to be the best order: {:.6} expected pairs in the right order, of at most {:.6}; a higher --limit looks further",
                answer.gain, answer.bound
            )
        })
    }

    fn show(&self, sentence: usize, order: &[Shown], answer: &Answer) -> String {
        if self.json {
            let (gain, loss, bound) = (answer.gain, answer.loss(), answer.bound);
            return Line::Answer { sentence, order, gain, loss, bound, proven: answer.proven }.text();
        }
        let mut line = String::new();
        for (i, word) in order.iter().enumerate() {
            let _ = write!(line, "{}{word}", if i > 0 { " " } else { "" });
        }
        if self.scores {
            let _ = write!(line, "\t{:.6}\t{:.6}", answer.gain, answer.loss());
        }
        line.push('\n');
        line
    }
}
