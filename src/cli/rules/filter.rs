//! `weft rules filter`: rules for a test set, the best, and those of some patterns.

use clap::Args;
use rustc_hash::FxHashSet;

use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::decode::weights::Weights;
use crate::error::{Error, Result};
use crate::format::io;
use crate::format::packed::PackedOutput;
use crate::rules::filter::{self, Filter, Kept, Sentences};
use crate::rules::format::RuleFormat;
use crate::rules::pattern;
use crate::rules::rule::Rule;
use crate::rules::stage::{self, Source};

/// Keep the rules that a test set can use, the best of every source, those of some patterns
#[derive(Args, Debug)]
#[command(
    long_about = "Keep the rules that a test set can use, the best of every source, those of some patterns.\n\n\
                  A rule matches a sentence if its source words are there in order, with at least one word for every \
                  nonterminal, all within --max-span words. Rules of one source must stand together, as `weft rules score` \
                  writes them. A pattern is a rule with every run of words written w: `weft rules patterns` lists them. \
                  Kept lines stay as they are and in order.",
    after_help = "Examples:\n  weft rules filter --input test.en --top 20 rules.gz -o test.rules.gz\n  \
                  weft rules filter --min-count 2 --deny 'X1wX2 wX1wX2' --deny 'wX1wX2 wX1wX2' rules.gz -o small.gz\n  \
                  weft rules patterns rules.gz -o patterns.txt && weft rules filter --allow-patterns patterns.txt rules.gz -o same.gz"
)]
pub struct Cmd {
    /// Rules: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "RULES", default_value = "-", hide_default_value = true)]
    rules: String,
    /// The rules to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Sentences to be translated, one a line; may be given several times
    #[arg(long, value_name = "FILE")]
    input: Vec<String>,
    /// Words that the source side of a rule with nonterminals covers at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_span: usize,
    /// Rules of one left side and source to keep: the cheapest
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// The feature by which rules are cheap, for --top
    #[arg(long, value_name = "FEATURE", default_value = "EgivenF")]
    by: String,
    /// For --top: cheap by the sum of all features with these weights, a file of lines `EgivenF = 0.4` as `weft decode` takes it
    #[arg(long, value_name = "FILE", conflicts_with = "by", requires = "top")]
    weights: Option<String>,
    /// Keep rules with at least this Count
    #[arg(long, value_name = "N")]
    min_count: Option<f64>,
    /// Keep only rules with a pattern in this file: `SOURCE TARGET` a line, more columns are not read
    #[arg(long, value_name = "FILE")]
    allow_patterns: Option<String>,
    /// Leave out rules with a pattern in this file
    #[arg(long, value_name = "FILE")]
    deny_patterns: Option<String>,
    /// Leave out rules of this pattern; may be given several times
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<String>,
    /// The format of the rules
    #[arg(long, value_enum, default_value_t)]
    format: RuleFormat,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let filter = self.filter()?;
        let kept = with_threads(self.threads, || self.filter_rules(&filter))?;
        if kept.read > 0 && kept.kept == 0 {
            crate::cli::say!("weft: note: none of {} rules was kept", kept.read);
        }
        Ok(Status::Done)
    }

    fn filter_rules(&self, filter: &Filter) -> Result<Kept> {
        let source = Source::open(&self.rules)?;
        let name = if io::is_stdio(&self.rules) { "standard input" } else { &self.rules };
        let mut out = PackedOutput::create(&self.output)?;
        let packing = out.packing();
        let mut all = Kept::default();
        stage::reduce(
            source,
            name,
            filter::key(self.format),
            |block| filter.block(self.format, block).and_then(|(lines, kept)| Ok((packing.pack(lines)?, kept))),
            |(lines, kept)| {
                all.read += kept.read;
                all.kept += kept.kept;
                out.write(&lines)
            },
        )?;
        out.commit()?;
        Ok(all)
    }

    fn filter(&self) -> Result<Filter> {
        let mut sentences = None;
        for name in &self.input {
            sentences.get_or_insert_with(Sentences::default).read(name)?;
        }
        let mut deny = FxHashSet::default();
        for text in &self.deny {
            let message = || Error::usage(format!("--deny {text:?}: expected two sides, such as 'X1wX2 wX1wX2'"));
            deny.insert(pattern::normal(text).ok_or_else(message)?);
        }
        if let Some(name) = &self.deny_patterns {
            deny.extend(read_patterns(name)?);
        }
        let weights = self.weights.as_deref().map(Weights::read).transpose()?;
        Ok(Filter {
            sentences,
            cost: weights.map(|w| -> Box<dyn Fn(&Rule) -> f64 + Sync> {
                Box::new(move |rule| rule.features.iter().map(|(name, x)| w.of(name).unwrap_or(0.0) * x).sum())
            }),
            max_span: self.max_span,
            top: self.top,
            by: self.by.clone(),
            min_count: self.min_count,
            allow: self.allow_patterns.as_deref().map(read_patterns).transpose()?,
            deny,
        })
    }
}

fn read_patterns(name: &str) -> Result<FxHashSet<String>> {
    let (shown, text) = io::read_text(name)?;
    let mut patterns = FxHashSet::default();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#')) {
        let message = "expected a pattern of two sides, such as wX1 X1w";
        let pattern = pattern::normal(line);
        patterns
            .insert(pattern.ok_or_else(|| Error::text(&shown, i + 1, line.trim_end().chars().count() + 1, message))?);
    }
    Ok(patterns)
}
