//! `weft decode`: sentences to translations.

mod output;
pub(crate) mod run;

use clap::Args;

use super::env::Status;
use crate::chart::parse::{ParseConfig, PassThrough};
use crate::decode::weights::Weights;
use crate::decode::{DecodeConfig, Decoder, Expansion, Model};
use crate::error::{Error, Result};
use crate::lm::apply::Boundaries;
use crate::rtn::local::Condition;
use crate::rules::format::RuleFormat;
use crate::rules::grammar::{Grammar, PASS_THROUGH};
use crate::rules::load::{LoadConfig, Loaded, load};

#[derive(Args, Debug)]
#[command(
    about = "Translate sentences with synchronous rules and language models",
    long_about = "Translate sentences, one a line, with synchronous rules and language models.\n\n\
                  The rules that match a sentence make a chart, its cells a network of small automata, the network a \
                  lattice; the language models are applied to that. Nothing but the final beam (--prune) cuts anything \
                  away, and a sentence is reported if that took more memory than it may (--max-memory), so that its cells \
                  had to be pruned; --prune-cell prunes them from the beginning, and is much faster on long sentences.\n\n\
                  Where no rule has the left-hand side S, glue rules are added: S → X and S → S X. Words that stand in no \
                  rule are passed through.",
    after_help = "Weights are a file of lines `EgivenF = 0.4`; rules' features have the names that `weft rules` gives them,\n\
                  columns of other formats F1, F2, ...; the models are LM, LM2, ..., the number of words is WordPenalty, glue\n\
                  rules have Glue, words that are passed through PassThrough. Costs are weights times features, −ln p.\n\n\
                  Rule lattices have a path for each derivation. Input labels are numbers of rules, from 1, which hold for the\n\
                  rules of one call; one more than the rules is PassThrough. Symbols are rules with `_` for blanks, and #LABEL\n\
                  after all but the first of equal ones. A rule comes before those of its nonterminals, but glue after what\n\
                  it adds to.\n\n\
                  Examples:\n  \
                  weft decode --rules h.rules --lm words.arpa src.txt\n  \
                  weft decode --rules h.rules --lm words.arpa --nbest 3 --unique src.txt\n  \
                  weft decode --rules h.rules --lm words.arpa --prune 5 --lattices 'lats/?.fst.gz' --dump dump src.txt\n  \
                  weft decode --rules g.hifst --format hifst --feature-weights 1 --prune 9 --nbest 10 --unique src.idx\n  \
                  weft decode --rules h.rules --lm words.arpa --prune-cell X,3,100,4 --derivation src.txt\n  \
                  weft decode --rules h.rules --prune 3 --rule-lattices 'rl/?.fst.gz' --rule-features rl.txt src.txt"
)]
pub struct DecodeArgs {
    /// Sentences, one a line (`-` or nothing: standard input)
    #[arg(value_name = "SENTENCES")]
    input: Option<String>,
    /// Rules; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    rules: Vec<String>,
    /// Format of the rules [default: what the first line looks like]
    #[arg(long, value_enum)]
    format: Option<RuleFormat>,
    /// Language model, ARPA or binary; may be given several times
    #[arg(long = "lm", value_name = "MODEL")]
    models: Vec<String>,
    /// Weight of a model: one for each --lm [default: 1]
    #[arg(long = "lm-scale", value_name = "X", allow_negative_numbers = true)]
    scales: Vec<f64>,
    /// Model of a second pass over the lattice, instead of those of the first; may be given several times
    #[arg(long, value_name = "MODEL")]
    rescore_lm: Vec<String>,
    /// Weight of a model of the second pass: one for each [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    rescore_scale: Vec<f64>,
    /// Weights of features: a TOML file of `name = number`
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
    /// Weights of the columns of rules without names
    #[arg(long, value_name = "W1,W2,...", value_delimiter = ',', allow_negative_numbers = true)]
    feature_weights: Vec<f64>,
    /// Cost of every word of a translation [default: the weight WordPenalty, or 0]
    #[arg(long, value_name = "COST", allow_negative_numbers = true)]
    word_penalty: Option<f64>,
    /// -ln p of a word that a model does not know, instead of the model's <unk>
    #[arg(long, value_name = "COST")]
    oov_cost: Option<f64>,
    /// Where the sentence boundaries are [default: add; with HiFST's numbers, 1 and 2 are present]
    #[arg(long, value_enum)]
    boundaries: Option<Boundaries>,
    /// Words that a rule spans at most; those of S may span more
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_span: usize,
    /// Which words may stay as they are [default: needed; with HiFST's numbers, never]
    #[arg(long, value_enum)]
    pass_through: Option<PassThrough>,
    /// Add no glue rules
    #[arg(long)]
    no_glue: bool,
    /// How the network becomes a lattice
    #[arg(long, value_enum, default_value_t)]
    expand: Expansion,
    /// Keep what is at most this much worse than the best translation
    #[arg(long, value_name = "BEAM")]
    prune: Option<f64>,
    /// Prune cells: nonterminal, span from, states from, beam; may be given several times
    #[arg(long, value_name = "NT,SPAN,STATES,BEAM")]
    prune_cell: Vec<String>,
    /// Memory that one sentence may take, about; what takes more is pruned, and said
    #[arg(long, value_name = "SIZE", default_value = "256M")]
    max_memory: String,
    /// Print the best derivations (with --unique: strings) in the format of Moses
    #[arg(long, value_name = "N")]
    nbest: Option<usize>,
    /// In n-best lists, no string twice
    #[arg(long)]
    unique: bool,
    /// Write lattices: a name with `?` for the sentence's number, or an archive (.far)
    #[arg(long, value_name = "FILE")]
    lattices: Option<String>,
    /// Write the derivations of the lattices' strings, from rules to words, with the rules' costs: a name with `?`, or an
    /// archive (.far)
    #[arg(long, value_name = "FILE")]
    rule_lattices: Option<String>,
    /// Write the rules of the rule lattices: label, rule and features
    #[arg(long, value_name = "FILE")]
    rule_features: Option<String>,
    /// Print the rules of the best translation with their spans, after it or to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    derivation: Option<String>,
    /// Write the chart, the cells, the network and the lattices to DIR/N
    #[arg(long, value_name = "DIR")]
    dump: Option<String>,
    /// Sentences to translate: 1:10,15
    #[arg(long, value_name = "RANGE")]
    range: Option<String>,
    /// Translations [default: standard output]
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Sentences at a time; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Print sizes and seconds of every sentence to standard error
    #[arg(long)]
    stats: bool,
}

impl DecodeArgs {
    pub fn run(&self) -> Result<Status> {
        self.check()?;
        let input = self.input.as_deref().unwrap_or("-");
        let sentences = run::read_sentences(input, self.range.as_deref())?;
        let Loaded { mut grammar, format, integers } =
            load(&self.rules, &LoadConfig { format: self.format, no_glue: self.no_glue })?;
        let words = run::number_words(input, &sentences, &mut grammar.vocab, integers)?;
        let weights = self.weights()?;
        self.weigh(&mut grammar, &weights)?;
        let models = self.load_models(&self.models, &self.scales, "--lm-scale", &weights)?;
        let second = self.load_models(&self.rescore_lm, &self.rescore_scale, "--rescore-scale", &weights)?;
        let config = self.config(&grammar, &weights, format, integers)?;
        let decoder = Decoder::new(grammar, models, second, config, integers)?;
        run::run(self, &decoder, &sentences, &words)
    }

    fn check(&self) -> Result<()> {
        let finite = |name: &str, x: Option<f64>| match x {
            Some(x) if !x.is_finite() => Err(Error::usage(format!("{name} is {x}, expected a finite number"))),
            _ => Ok(()),
        };
        finite("--word-penalty", self.word_penalty)?;
        finite("--oov-cost", self.oov_cost)?;
        for &x in self.scales.iter().chain(&self.rescore_scale).chain(&self.feature_weights) {
            finite("a weight", Some(x))?;
        }
        if let Some(beam) = self.prune.filter(|b| b.is_nan() || *b < 0.0) {
            return Err(Error::usage(format!("--prune is {beam}, expected a number of at least 0")));
        }
        if self.max_span == 0 {
            return Err(Error::usage("--max-span is 0: no rule could ever apply"));
        }
        if self.nbest == Some(0) {
            return Err(Error::usage("--nbest is 0: there would be nothing to print"));
        }
        if self.unique && self.nbest.is_none() {
            return Err(Error::usage("--unique is about n-best lists: add --nbest N"));
        }
        for name in self.lattices.iter().chain(&self.rule_lattices) {
            if !name.ends_with(".far") && !crate::format::template::is_template(name) {
                return Err(Error::usage(format!(
                    "{name}: one file cannot hold the lattices of several sentences; put `?` in its name or end it in .far"
                )));
            }
        }
        if self.lattices.is_some() && self.lattices == self.rule_lattices {
            return Err(Error::usage("--lattices and --rule-lattices have the same name: they are different lattices"));
        }
        if self.rule_features.is_some() && self.rule_lattices.is_none() {
            return Err(Error::usage("--rule-features is about rule lattices: add --rule-lattices FILE"));
        }
        Ok(())
    }

    fn weights(&self) -> Result<Weights> {
        let mut weights = self.weights.as_deref().map(Weights::read).transpose()?.unwrap_or_default();
        weights.set_columns(&self.feature_weights);
        Ok(weights)
    }

    /// Makes the costs of the rules; says which features count for nothing, and which weights.
    fn weigh(&self, grammar: &mut Grammar, weights: &Weights) -> Result<()> {
        let names: Vec<String> = grammar.features().to_vec();
        let missing: Vec<&str> =
            names.iter().map(String::as_str).filter(|n| weights.of(n).is_none() && !QUIET.contains(n)).collect();
        if !missing.is_empty() {
            crate::cli::say!("weft: note: no weight for {}: taken as 0 (--weights)", missing.join(", "));
        }
        let lms: Vec<String> = (0..self.models.len().max(self.rescore_lm.len())).map(model_feature).collect();
        let mut known: Vec<&str> = names.iter().chain(&lms).map(String::as_str).collect();
        known.extend(crate::decode::weights::DEFAULTS.iter().map(|d| d.0));
        known.push(crate::decode::hypotheses::WORD_PENALTY);
        if let Some(name) = weights.unused(&known).next() {
            let message =
                format!("a weight for {name}, but the rules have no such feature; they have: {}", names.join(", "));
            return Err(weights.wrong(name, message));
        }
        let by_number: Vec<f64> = names.iter().map(|n| weights.of(n).unwrap_or(0.0)).collect();
        grammar.weigh(&by_number);
        Ok(())
    }

    fn load_models(&self, files: &[String], scales: &[f64], option: &str, weights: &Weights) -> Result<Vec<Model>> {
        if !scales.is_empty() && scales.len() != files.len() {
            return Err(Error::usage(format!("{option} is given {} times for {} models", scales.len(), files.len())));
        }
        files
            .iter()
            .enumerate()
            .map(|(i, file)| {
                let feature = model_feature(i);
                let scale = scales.get(i).copied().or(weights.get(&feature)).unwrap_or(1.0);
                let model = crate::lm::binary::load(file)?;
                Ok(Model { model: model.into(), scale, name: file.clone(), feature })
            })
            .collect()
    }

    fn config(&self, grammar: &Grammar, weights: &Weights, format: RuleFormat, integers: bool) -> Result<DecodeConfig> {
        let penalty = weights.get(crate::decode::hypotheses::WORD_PENALTY);
        Ok(DecodeConfig {
            parse: ParseConfig {
                max_span: self.max_span,
                // HiFST passes through what the grammar says, and nothing else.
                pass_through: self.pass_through.unwrap_or(if integers {
                    PassThrough::Never
                } else {
                    PassThrough::Needed
                }),
            },
            expansion: self.expand,
            conditions: self.prune_cell.iter().map(|c| condition(c, grammar)).collect::<Result<_>>()?,
            prune: self.prune,
            nbest: self.nbest.unwrap_or(1),
            unique: self.unique,
            lattice: self.lattices.is_some() || self.rule_lattices.is_some() || self.dump.is_some(),
            derivations: self.derivation.is_some() || self.nbest.is_some(),
            boundaries: self.boundaries.unwrap_or(if integers { Boundaries::Present } else { Boundaries::Add }),
            silent: format == RuleFormat::Hifst,
            word_penalty: self.word_penalty.or(penalty).unwrap_or(0.0),
            oov_cost: self.oov_cost,
            pass_through: weights.of(PASS_THROUGH).unwrap_or(0.0),
            max_memory: crate::cli::memory::memory_size("--max-memory", &self.max_memory)?,
        })
    }
}

/// Features that everybody has and that are not meant to cost anything.
const QUIET: [&str; 3] = ["Count", "Count2", "CountMore"];

/// What the n-th model's score is called.
fn model_feature(n: usize) -> String {
    if n == 0 { "LM".into() } else { format!("LM{}", n + 1) }
}

/// Reads `X,3,1000,5`.
fn condition(text: &str, grammar: &Grammar) -> Result<Condition> {
    let bad = |what: &str| {
        Error::usage(format!(
            "--prune-cell {text}: {what}; expected NT,SPAN,STATES,BEAM, such as X,3,1000,5 (`*` for every NT but S)"
        ))
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let &[name, span, states, beam] = parts.as_slice() else {
        return Err(bad(&format!("{} parts", parts.len())));
    };
    let nt = match name {
        "*" => None,
        _ => Some(grammar.nonterminal(name).ok_or_else(|| {
            bad(&format!("no rule has the nonterminal {name:?}; there are {}", grammar.nonterminals().join(", ")))
        })?),
    };
    let number = |what: &str, s: &str| s.parse::<usize>().map_err(|_| bad(&format!("{what} is {s:?}, not a number")));
    let beam =
        beam.parse::<f64>().ok().filter(|b| *b >= 0.0).ok_or_else(|| bad("the beam is not a number from 0 up"))?;
    Ok(Condition { nt, min_span: number("the span", span)?, max_states: number("the states", states)?, beam })
}
