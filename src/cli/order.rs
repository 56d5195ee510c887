//! `weft order`: bags of words to sentences.

mod dependency;
mod eval;
mod index;
mod output;
mod phrases;
mod plot;
mod run;

use std::sync::Arc as Shared;

use clap::{Args, Subcommand};

use super::env::Status;
use super::memory::memory_size;
use crate::decode::weights::Weights;
use crate::error::{Error, Result};
use crate::order::features::RuleWeights;
use crate::order::models::{ClassModel, Classes, OrderModel};
use crate::order::sentences::Join;
use crate::order::{Algorithm, Future, OrderConfig, Orders};

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    about = "Bags of words to sentences, with phrases of a text collection and language models",
    long_about = "Turn bags of words into sentences: one bag a line, its words in any order.\n\n\
                  Phrases are n-grams of a text collection that are made of words of the bag. Sentences are all words of the \
                  bag, as phrases one after the other; the language model says which is best. Phrases come from a text \
                  (--text), from a file of `weft order phrases` (--phrases), or from an index of `weft order index` (--index).\n\n\
                  Where phrases of the chosen orders cannot make up a bag, bigrams are added, then all words alone: every bag \
                  has an answer, and what was needed is said at the end.",
    after_help = "Weights (--weights: lines `Phrase = 0.2`; a sentence costs weights times features, -ln p):\n  \
                  Phrase               phrases of the sentence\n  \
                  Order1, Order2, ...  those of one, two, ... words\n  \
                  LogCount             ln of how often the text has each phrase\n  \
                  Unseen               words that the text does not have\n  \
                  Before               for every two words, ln of how much more often the text has them the other\n                       \
                  way round [default: 0.2]\n  \
                  LM, LM2, ...         models of words [default: 1]\n  \
                  ClassLM, ClassLM2    models of classes [default: 0.6 together]\n\n\
                  Examples:\n  \
                  weft order --text train.en --lm en.arpa test.bag\n  \
                  weft order phrases --text train.en --orders 1-5 test.bag -o phrases.gz && weft order --phrases phrases.gz --lm en.arpa test.bag\n  \
                  weft order --text train.en --lm en.arpa --orders 3-5 --algorithm expand --row 6 --beam 10 test.bag\n  \
                  weft order --text train.en --lm en.arpa --nbest 3 --lattices 'lats/?.fst.gz' test.bag\n  \
                  echo 'Before = 0' > w.toml && weft order --text train.en --lm en.arpa --weights w.toml test.bag\n  \
                  weft order --text train.en --lm en.arpa --rescore en.arpa --sentences test.en --split 3"
)]
pub struct OrderArgs {
    #[command(subcommand)]
    command: Option<OrderCommand>,
    /// Bags of words, one a line (`-` or nothing: standard input)
    #[arg(value_name = "BAGS")]
    bags: Option<String>,
    /// Take sentences instead of bags: long ones are cut, the parts ordered and put together
    #[arg(long, value_name = "FILE", conflicts_with = "bags")]
    sentences: Option<String>,
    /// With --sentences: tokens of a part at most [default: 20]
    #[arg(long, value_name = "N")]
    split: Option<usize>,
    /// With --sentences: what is made of the parts [default: lattices]
    #[arg(long, value_enum)]
    join: Option<Join>,
    /// Phrases, from `weft order phrases`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "index"])]
    phrases: Option<String>,
    /// Find the phrases in this text; may be given several times
    #[arg(long, value_name = "FILE", conflicts_with = "index")]
    text: Vec<String>,
    /// Find the phrases in this index, from `weft order index`
    #[arg(long, value_name = "FILE")]
    index: Option<String>,
    /// Language model, ARPA or binary; may be given several times
    #[arg(long = "lm", value_name = "MODEL", required = true)]
    models: Vec<String>,
    /// Model of a second pass over the lattice, instead of those of the first; may be given several times
    #[arg(long, value_name = "MODEL")]
    rescore: Vec<String>,
    /// Model of classes of words, in both passes; may be given several times
    #[arg(long, value_name = "MODEL", requires = "classes")]
    class_lm: Vec<String>,
    /// The class of each word: lines `word<TAB>class`; that of `<unk>` is for all others; one for each --class-lm
    #[arg(long, value_name = "FILE", requires = "class_lm")]
    classes: Vec<String>,
    /// Weights of features: a TOML file of `name = number`
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
    /// -ln p of a word that a model does not know, instead of the model's <unk>
    #[arg(long, value_name = "COST")]
    oov_cost: Option<f64>,
    /// How the search is done
    #[arg(long, value_enum, default_value_t)]
    algorithm: Algorithm,
    /// Prune rows from this many words on
    #[arg(long, value_name = "N", default_value_t = 6)]
    row: usize,
    /// Keep what is at most this much worse than the best of its row (`inf`: everything)
    #[arg(long, value_name = "BEAM", default_value_t = 10.0)]
    beam: f64,
    /// Hypotheses that a row keeps at most; 0 is as many as --max-memory allows [default: 1000, fewer for bags of many
    /// hundreds of words]
    #[arg(long, value_name = "N")]
    hypotheses: Option<usize>,
    /// Lengths of the phrases to use
    #[arg(long, value_name = "N-M", default_value = "1-5")]
    orders: String,
    /// Words that a phrase may share with the end of what is there before it; without a number: 4
    #[arg(long, value_name = "N", default_value_t = 0, num_args = 0..=1, default_missing_value = "4", require_equals = true)]
    overlap: usize,
    /// How hypotheses with different words behind them are compared
    #[arg(long, value_enum, default_value_t)]
    future: Future,
    /// Memory that one bag may take, about; what takes more is pruned
    #[arg(long, value_name = "SIZE", default_value = "512M")]
    max_memory: String,
    /// Print the best sentences in the format of Moses
    #[arg(long, value_name = "N")]
    nbest: Option<usize>,
    /// Write lattices: a name with `?` for the bag's number, or an archive (.far)
    #[arg(long, value_name = "FILE")]
    lattices: Option<String>,
    /// Write the grid, the cells and the network to DIR/N, cells named by their bits
    #[arg(long, value_name = "DIR")]
    dump: Option<String>,
    /// Bags to order: 1:10,15
    #[arg(long, value_name = "RANGE")]
    range: Option<String>,
    /// Sentences [default: standard output]
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Bags at a time; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Print sizes and seconds of every bag to standard error
    #[arg(long)]
    stats: bool,
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant)] // one value a process
enum OrderCommand {
    Phrases(phrases::Cmd),
    Index(index::Cmd),
    Eval(eval::Cmd),
    RescoreDep(dependency::Cmd),
}

impl OrderArgs {
    /// Tokens of a part of a sentence at most.
    fn part(&self) -> usize {
        self.split.unwrap_or(20)
    }

    pub fn run(&self) -> Result<Status> {
        match &self.command {
            Some(OrderCommand::Phrases(c)) => c.run(),
            Some(OrderCommand::Index(c)) => c.run(),
            Some(OrderCommand::Eval(c)) => c.run(),
            Some(OrderCommand::RescoreDep(c)) => c.run(),
            None => {
                let config = self.config()?;
                run::run(self, config)
            }
        }
    }

    fn config(&self) -> Result<OrderConfig> {
        if self.phrases.is_none() && self.text.is_empty() && self.index.is_none() {
            return Err(Error::usage(
                "where do phrases come from? name a text (--text), a file of `weft order phrases` (--phrases) or an index \
                 (--index)",
            ));
        }
        if self.beam.is_nan() || self.beam < 0.0 {
            return Err(Error::usage(format!("--beam is {}, expected a number of at least 0, or inf", self.beam)));
        }
        if self.nbest == Some(0) {
            return Err(Error::usage("--nbest is 0: there would be nothing to print"));
        }
        if self.sentences.is_none() && (self.split.is_some() || self.join.is_some()) {
            return Err(Error::usage("--split and --join are for sentences: name them with --sentences"));
        }
        if self.split == Some(0) {
            return Err(Error::usage("--split is 0: a part has at least one token"));
        }
        if self.class_lm.len() != self.classes.len() {
            let (models, classes) = (self.class_lm.len(), self.classes.len());
            return Err(Error::usage(format!(
                "--class-lm is there {models} times and --classes {classes} times: each model has classes of its own"
            )));
        }
        if self.oov_cost.is_some_and(|x| !x.is_finite()) {
            return Err(Error::usage("--oov-cost: expected a finite number"));
        }
        if let Some(name) = &self.lattices
            && !name.ends_with(".far")
            && !crate::format::template::is_template(name)
        {
            return Err(Error::usage(format!(
                "{name}: one file cannot hold the lattices of several bags; put `?` in its name or end it in .far"
            )));
        }
        Ok(OrderConfig {
            algorithm: self.algorithm,
            row: self.row,
            beam: self.beam,
            hypotheses: self.hypotheses,
            orders: Orders::parse(&self.orders)?,
            overlap: self.overlap,
            future: self.future,
            max_memory: memory_size("--max-memory", &self.max_memory)?,
            nbest: self.nbest.unwrap_or(1),
            lattice: self.lattices.is_some()
                || self.dump.is_some()
                || (self.sentences.is_some() && self.join.unwrap_or_default() == Join::Lattices),
            oov_cost: self.oov_cost,
        })
    }

    /// The models of both passes, and the weights of rules.
    fn load_models(&self) -> Result<(Vec<OrderModel>, Vec<OrderModel>, RuleWeights)> {
        let weights = self.weights.as_deref().map(Weights::read).transpose()?.unwrap_or_default();
        let numbered = |name: &str, i: usize| if i == 0 { name.to_string() } else { format!("{name}{}", i + 1) };
        let name = |i: usize| numbered("LM", i);
        let mut names: Vec<String> = (0..self.models.len().max(self.rescore.len())).map(name).collect();
        names.extend((0..self.class_lm.len()).map(|i| numbered(CLASS_LM, i)));
        let rules = RuleWeights::from(&weights, &names)?;
        let load = |files: &[String]| -> Result<Vec<OrderModel>> {
            let one = |(i, file): (usize, &String)| {
                let feature = name(i);
                let scale = weights.get(&feature).unwrap_or(1.0);
                let model = Shared::new(crate::lm::binary::load(file)?);
                Ok(OrderModel { model, scale, name: file.clone(), feature })
            };
            files.iter().enumerate().map(one).collect()
        };
        let (mut first, mut second) = (load(&self.models)?, load(&self.rescore)?);
        for (i, (file, classes)) in self.class_lm.iter().zip(&self.classes).enumerate() {
            let name = classes;
            let classes = Shared::new(Classes::read(name)?);
            let model = ClassModel { model: crate::lm::binary::load(file)?, classes };
            if !model.classes.fit(&model.model) {
                return Err(Error::usage(format!(
                    "none of the classes of {name} is in the model {file}: it is to be a model of these classes \
                     (`weft lm classes` makes the text to estimate it from)"
                )));
            }
            let feature = numbered(CLASS_LM, i);
            let scale = weights.get(&feature).unwrap_or(DEFAULT_CLASS_LM / self.class_lm.len() as f64);
            let model = OrderModel { model: Shared::new(model), scale, name: file.clone(), feature };
            if !second.is_empty() {
                second.push(model.clone());
            }
            first.push(model);
        }
        Ok((first, second, rules))
    }
}

/// What models of classes weigh together where no weight is given: the best of 0.3, 0.6, 1 on held-out sentences of novels,
/// with a 4-gram of words and 500 classes.
const DEFAULT_CLASS_LM: f64 = 0.6;

/// The feature of the model of classes.
const CLASS_LM: &str = "ClassLM";

/// How many threads `-j N` means.
fn threads(n: usize) -> usize {
    match n {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    }
}
