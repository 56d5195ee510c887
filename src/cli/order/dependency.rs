//! `weft order rescore-dep`: n-best lists with a dependency language model.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::Args;

use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::eval::metric::Workspace;
use crate::format::{io, moses};
use crate::lm::LanguageModel;
use crate::lm::estimate::{Discount, Options, Smoothing, estimate};
use crate::order::dependency;
use crate::order::score::Stats;
use crate::text::dependencies;

/// Rescore n-best lists with a dependency language model, or estimate one
#[derive(Args, Debug)]
#[command(
    long_about = "Rescore n-best lists with a dependency language model: the score of a sentence becomes its score in the list \
                  plus lambda times ln p of its dependency tree.\n\n\
                  With --estimate, trees (CoNLL-U) become a model: an ARPA file whose n-grams are a head and its dependents \
                  from the nearest on (Shen et al. 2010). Without, --parses has a tree for every line of the n-best lists that \
                  has words, in their order and with their words, made by any parser. Lists are numbered from 0; a number that \
                  is missing gets an empty line. With --tune the lambda from 0 to 2, in steps of 0.01, that gives the best \
                  BLEU is found and told: tune on one set, and rescore others with what was found.",
    after_help = "Examples:\n  weft order rescore-dep --estimate trees.conllu -o dep.arpa\n  \
                  weft order rescore-dep --model dep.arpa --parses dev.conllu --tune dev.en dev.nbest -o dev.txt\n  \
                  weft order rescore-dep --model dep.arpa --parses hyps.conllu --lambda 0.16 nbest.txt -o best.txt"
)]
pub struct Cmd {
    /// N-best lists in the format of Moses (`-` or nothing: standard input)
    #[arg(value_name = "NBEST", default_value = "-", hide_default_value = true)]
    nbest: String,
    /// Estimate a model of these trees, one file or several
    #[arg(long, value_name = "TREES", num_args = 1.., conflicts_with_all = ["model", "parses", "tune", "lambda", "lists", "nbest"])]
    estimate: Vec<String>,
    /// Words of the longest n-grams of the model
    #[arg(long, value_name = "N", default_value_t = 3)]
    order: usize,
    /// The model, from --estimate, as it is or compiled (weft lm compile)
    #[arg(long, value_name = "MODEL", required_unless_present = "estimate")]
    model: Option<String>,
    /// Trees of the sentences of the lists, in their order
    #[arg(long, value_name = "TREES", required_unless_present = "estimate")]
    parses: Option<String>,
    /// What ln p of the tree is multiplied by; what is best depends on the lists (--tune)
    #[arg(long, value_name = "X", default_value_t = 0.15, allow_negative_numbers = true)]
    lambda: f64,
    /// Find the lambda that gives the best BLEU with these references, a line for every list
    #[arg(long, value_name = "REFERENCE", conflicts_with = "lambda")]
    tune: Option<String>,
    /// Print whole lists with the feature `Dependency=`, ln p of the tree, and the new score, in its order
    #[arg(long)]
    lists: bool,
    /// The sentences, or the model [default: standard output]
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
}

/// A line of a list.
struct Hypothesis {
    line: moses::Line,
    /// ln p of its tree.
    tree: f64,
}

impl Hypothesis {
    fn score(&self, lambda: f64) -> f64 {
        self.line.score + lambda * self.tree
    }
}

fn lists(hypotheses: &[Hypothesis]) -> impl Iterator<Item = &[Hypothesis]> {
    hypotheses.chunk_by(|a, b| a.line.number == b.line.number)
}

/// More lists in a row are not missing: the numbers mean something else.
const FAR: usize = 100_000;

/// Lambdas that are tried.
const STEPS: usize = 200;
const STEP: f64 = 0.01;

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if !self.estimate.is_empty() {
            return self.make_model();
        }
        if !self.lambda.is_finite() {
            return Err(Error::usage("--lambda: expected a finite number"));
        }
        let hypotheses = self.read()?;
        let lambda = match &self.tune {
            None => self.lambda,
            Some(name) => self.tuned(name, &hypotheses)?,
        };
        let mut out = String::new();
        let (mut sentences, mut missing) = (0, 0);
        for list in lists(&hypotheses) {
            let mut order: Vec<&Hypothesis> = list.iter().collect();
            order.sort_by(|a, b| b.score(lambda).total_cmp(&a.score(lambda)));
            if self.lists {
                for h in &order {
                    let moses::Line { number, words, features, more, .. } = &h.line;
                    let (words, tree, sum) = (moses::escaped(words), h.tree, h.score(lambda));
                    let _ =
                        writeln!(out, "{number} ||| {words} ||| {features} Dependency= {tree:.6} ||| {sum:.6}{more}");
                }
                continue;
            }
            let number = list[0].line.number;
            if number - sentences > FAR {
                return Err(Error::usage(format!(
                    "{}: list {number} follows list {}; if lists are missing on purpose, --lists prints those there are",
                    self.nbest,
                    sentences as i64 - 1
                )));
            }
            missing += number - sentences;
            (sentences..number).for_each(|_| out.push('\n'));
            sentences = number + 1;
            out.push_str(&order[0].line.words);
            out.push('\n');
        }
        if missing > 0 {
            crate::cli::say!("weft: {missing} lists are missing; there is an empty line for each");
        }
        io::create(&self.output)?.write_and_commit(out.as_bytes())?;
        Ok(Status::Done)
    }

    fn make_model(&self) -> Result<Status> {
        let fail = |e| Error::io("temporary file", e);
        let lines = std::env::temp_dir().join(format!("weft-dependencies-{}.txt", std::process::id()));
        let name = lines.to_string_lossy().into_owned();
        let made = (|| {
            let mut out = std::io::BufWriter::new(std::fs::File::create(&lines).map_err(fail)?);
            let mut trees = 0;
            for file in &self.estimate {
                dependencies::read(file, |tree, _| {
                    trees += 1;
                    tree.sides().iter().try_for_each(|s| writeln!(out, "{}", s.join(" ")).map_err(fail))
                })?;
            }
            if trees == 0 {
                return Err(Error::usage(format!("{}: no trees", self.estimate.join(", "))));
            }
            out.flush().map_err(fail)?;
            drop(out);
            let mut options = Options::new(self.order, vec![name.clone()]);
            options.smoothing = Smoothing::KneserNey { fallback: Some(Discount::from_values(&[0.5, 1.0, 1.5])?) };
            options.skip_symbols = true;
            let bar = Bar::new();
            let done = with_threads(0, || estimate(&options, &self.output, &bar));
            bar.clear();
            done.map(|_| Status::Done)
        })();
        let _ = std::fs::remove_file(&lines);
        made
    }

    /// The lists with ln p of their trees.
    fn read(&self) -> Result<Vec<Hypothesis>> {
        let (shown, text) = io::read_text(&self.nbest)?;
        let mut hypotheses: Vec<Hypothesis> = vec![];
        for (i, line) in text.lines().enumerate() {
            let line = moses::read_line(line, &shown, i + 1)?;
            if let Some(last) = hypotheses.last().filter(|last| last.line.number > line.number) {
                let message = format!("list {} after list {}: lists go up", line.number, last.line.number);
                return Err(Error::text(&shown, i + 1, 1, message));
            }
            hypotheses.push(Hypothesis { line, tree: 0.0 });
        }
        if hypotheses.is_empty() {
            return Err(Error::usage(format!("{shown}: no lists")));
        }
        let name = self.model.as_deref().unwrap_or("-");
        let model = crate::lm::binary::load(name)?;
        if model.word(dependency::ROOT).is_none() {
            let message = "no dependency language model: rescore-dep --estimate makes one of trees";
            return Err(Error::usage(format!("{name}: {message}")));
        }
        let parses = self.parses.as_deref().unwrap_or("-");
        // What has no words has no tree.
        let with_words = |h: &Hypothesis| !h.line.words.is_empty();
        let all = hypotheses.iter().filter(|h| with_words(h)).count();
        let mut rest = hypotheses.iter_mut().enumerate().filter(|(_, h)| with_words(h));
        let mut trees = 0;
        dependencies::read(parses, |tree, begins| {
            trees += 1;
            let Some((i, h)) = rest.next() else {
                let message = format!("tree {trees}, but {shown} has {all} lines with words");
                return Err(Error::text(parses, begins, 1, message));
            };
            let words: Vec<String> = h.line.words.split_ascii_whitespace().map(str::to_string).collect();
            let differs = words.iter().zip(&tree.words).position(|(a, b)| a != b);
            if differs.is_some() || words.len() != tree.words.len() {
                let what = match differs {
                    Some(w) => format!("word {} is {:?} in the tree and {:?} there", w + 1, tree.words[w], words[w]),
                    None => format!("the tree has {} words, the line {}", tree.words.len(), words.len()),
                };
                let message = format!("tree {trees} is not of line {} of {shown}: {what}", i + 1);
                return Err(Error::text(parses, begins, 1, message));
            }
            h.tree = -tree.cost(&model);
            Ok(())
        })?;
        if trees < all {
            return Err(Error::usage(format!("{parses} has {trees} trees, but {shown} has {all} lines with words")));
        }
        Ok(hypotheses)
    }

    fn tuned(&self, name: &str, hypotheses: &[Hypothesis]) -> Result<f64> {
        let (shown, text) = io::read_text(name)?;
        let reference: Vec<&str> = text.lines().collect();
        let mut stats = vec![];
        let mut work = Workspace::default();
        for h in hypotheses {
            let r = reference.get(h.line.number).ok_or_else(|| {
                Error::usage(format!(
                    "{shown} has {} lines, but there is a list number {}",
                    reference.len(),
                    h.line.number
                ))
            })?;
            stats.push(Stats::of(r, &h.line.words, &mut work));
        }
        let bleu = |lambda: f64| {
            let mut sum = Stats::default();
            let mut from = 0;
            for list in lists(hypotheses) {
                let score = |i: usize| list[i].score(lambda);
                let mut best = 0;
                (1..list.len()).for_each(|i| best = if score(i) > score(best) { i } else { best });
                sum.add(&stats[from + best]);
                from += list.len();
            }
            sum.bleu()
        };
        let mut best = (0.0, bleu(0.0));
        let without = best.1;
        for step in 1..=STEPS {
            let lambda = step as f64 * STEP;
            let now = bleu(lambda);
            if now > best.1 {
                best = (lambda, now);
            }
        }
        crate::cli::say!("weft: lambda {:.2}: BLEU {:.2}; without the trees {without:.2}", best.0, best.1);
        Ok(best.0)
    }
}
