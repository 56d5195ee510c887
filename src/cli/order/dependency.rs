//! `weft order rescore-dep`: n-best lists with a dependency language model.

use std::fmt::Write as _;
use std::io::Write as _;

use clap::Args;

use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::eval::metric::Workspace;
use crate::format::io;
use crate::lm::estimate::{Discount, Options, Smoothing, estimate};
use crate::order::dependency;
use crate::order::score::Stats;

/// Rescore n-best lists with a dependency language model, or estimate one
#[derive(Args, Debug)]
#[command(
    long_about = "Rescore n-best lists with a dependency language model: the score of a sentence becomes its score in the list \
                  plus lambda times ln p of its dependency tree.\n\n\
                  With --estimate, trees (CoNLL-U) become a model: an ARPA file whose n-grams are a head and its dependents \
                  from the nearest on (Shen et al. 2010). Without, --parses has a tree for every line of the n-best lists, in \
                  their order, made by any parser. With --tune the lambda that gives the best BLEU is found and told.",
    after_help = "Examples:\n  weft order rescore-dep --estimate trees.conllu -o dep.arpa\n  \
                  weft order rescore-dep --model dep.arpa --parses hyps.conllu --tune test.en nbest.txt\n  \
                  weft order rescore-dep --model dep.arpa --parses hyps.conllu --lambda 0.4 nbest.txt"
)]
pub struct Cmd {
    /// N-best lists in the format of Moses (`-` or nothing: standard input)
    #[arg(value_name = "NBEST", default_value = "-", hide_default_value = true)]
    nbest: String,
    /// Estimate a model of these trees; may be given several times
    #[arg(long, value_name = "TREES", conflicts_with_all = ["model", "parses", "tune"])]
    estimate: Vec<String>,
    /// Words of the longest n-grams of the model
    #[arg(long, value_name = "N", default_value_t = 3)]
    order: usize,
    /// The model, from --estimate
    #[arg(long, value_name = "MODEL", required_unless_present = "estimate")]
    model: Option<String>,
    /// Trees of the sentences of the lists, in their order
    #[arg(long, value_name = "TREES", required_unless_present = "estimate")]
    parses: Option<String>,
    /// What ln p of the tree is multiplied by
    #[arg(long, value_name = "X", default_value_t = 0.4, allow_negative_numbers = true)]
    lambda: f64,
    /// Find the lambda that gives the best BLEU with these references
    #[arg(long, value_name = "REFERENCE")]
    tune: Option<String>,
    /// Print whole lists with the new score, in its order, instead of the best sentences
    #[arg(long)]
    lists: bool,
    /// The sentences, or the model [default: standard output]
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
}

/// A line of a list.
struct Hypothesis {
    number: usize,
    words: String,
    features: String,
    score: f64,
    /// ln p of its tree.
    tree: f64,
}

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
        for list in hypotheses.chunk_by(|a, b| a.number == b.number) {
            let mut order: Vec<&Hypothesis> = list.iter().collect();
            order.sort_by(|a, b| (b.score + lambda * b.tree).total_cmp(&(a.score + lambda * a.tree)));
            for h in &order {
                if !self.lists {
                    out.push_str(&h.words);
                    out.push('\n');
                    break;
                }
                let (tree, sum) = (h.tree, h.score + lambda * h.tree);
                let _ =
                    writeln!(out, "{} ||| {} ||| {} Dependency= {tree:.6} ||| {sum:.6}", h.number, h.words, h.features);
            }
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
                dependency::read(file, |tree| {
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
        let mut hypotheses = vec![];
        for (i, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
            let parsed = match fields[..] {
                [number, words, features, score] => {
                    number.parse().ok().zip(score.parse::<f64>().ok()).map(|(number, score)| Hypothesis {
                        number,
                        words: words.to_string(),
                        features: features.to_string(),
                        score,
                        tree: 0.0,
                    })
                }
                _ => None,
            };
            let message = "expected `number ||| words ||| features ||| score`";
            hypotheses.push(parsed.ok_or_else(|| Error::text(&shown, i + 1, 1, message))?);
        }
        let model = crate::lm::binary::load(self.model.as_deref().unwrap_or("-"))?;
        let parses = self.parses.as_deref().unwrap_or("-");
        let mut at = 0;
        dependency::read(parses, |tree| {
            let words = tree.words.len();
            let Some(h) = hypotheses.get_mut(at) else {
                return Err(Error::usage(format!("{parses} has more trees than {shown} has lines")));
            };
            at += 1;
            if h.words.split_ascii_whitespace().count() != words {
                return Err(Error::usage(format!(
                    "{parses}: tree {at} has {words} words, but line {at} of {shown} has other words: {}",
                    h.words
                )));
            }
            h.tree = -tree.cost(&model);
            Ok(())
        })?;
        if at < hypotheses.len() {
            return Err(Error::usage(format!("{parses} has {at} trees, but {shown} has {} lines", hypotheses.len())));
        }
        Ok(hypotheses)
    }

    fn tuned(&self, name: &str, hypotheses: &[Hypothesis]) -> Result<f64> {
        let (shown, text) = io::read_text(name)?;
        let reference: Vec<&str> = text.lines().collect();
        let mut stats = vec![];
        let mut work = Workspace::default();
        for h in hypotheses {
            let r = reference.get(h.number).ok_or_else(|| {
                Error::usage(format!("{shown} has {} lines, but there is a list number {}", reference.len(), h.number))
            })?;
            stats.push(Stats::of(r, &h.words, &mut work));
        }
        let bleu = |lambda: f64| {
            let mut sum = Stats::default();
            let mut from = 0;
            for list in hypotheses.chunk_by(|a, b| a.number == b.number) {
                let score = |i: usize| list[i].score + lambda * list[i].tree;
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
        eprintln!("weft: lambda {:.2}: BLEU {:.2}; without the trees {without:.2}", best.0, best.1);
        Ok(best.0)
    }
}
