//! What the metrics of translations share: how a score is printed.

use std::io::Write;

use clap::Args;
use serde_json::{Map, Value, json};

use super::input::Texts;
use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::eval::corpus::{References, Sentences};
use crate::eval::metric::{Metric, Statistics};
use crate::eval::signature::{Setting, Signature};
use crate::eval::significance::{self, Interval};
use crate::format::io;

#[derive(Args, Debug)]
pub struct Report {
    /// A JSON object, scores in full precision
    #[arg(long)]
    json: bool,
    /// A score for every sentence
    #[arg(long, aliases = ["sl"])]
    sentence_level: bool,
    /// Nothing but the score
    #[arg(short = 'b', long)]
    score_only: bool,
    /// Digits behind the point [default: 2; RIBES: 6]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    width: Option<u8>,
    /// Shorter signature
    #[arg(long, aliases = ["sh"])]
    short: bool,
    /// Mean and 95 % interval by bootstrap resampling
    #[arg(long, aliases = ["ci"], conflicts_with = "sentence_level")]
    confidence: bool,
    /// Resamples for --confidence
    #[arg(long, aliases = ["cin"], default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    confidence_n: u32,
    #[command(flatten)]
    common: Common,
}

/// What `compare` has, too.
#[derive(Args, Debug)]
pub struct Common {
    /// Seed of the resamples
    #[arg(long, default_value_t = significance::SEED, value_name = "N")]
    pub seed: u64,
    /// Output file (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: String,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
}

impl Common {
    /// Runs `work` on the threads asked for, and writes the text it makes.
    pub fn write(&self, work: impl FnOnce() -> Result<String> + Send) -> Result<Status> {
        let text = with_threads(self.threads, work)?;
        let mut out = io::create(&self.output)?;
        out.write_all(text.as_bytes()).map_err(|e| Error::io(out.name(), e))?;
        out.commit()?;
        Ok(Status::Done)
    }
}

impl Report {
    pub fn sentence_level(&self) -> bool {
        self.sentence_level
    }

    /// Reads the texts, scores them and prints what is asked for. `look` sees the hypotheses first.
    pub fn run(
        &self,
        metric: &(dyn Metric + Sync),
        texts: &Texts,
        look: impl FnOnce(&Sentences) + Send,
    ) -> Result<Status> {
        self.common.write(|| {
            let (refs, hyp) = texts.read()?;
            metric.check(&refs)?;
            look(&hyp);
            let stats = Statistics::of(metric, &refs, &hyp);
            Ok(if self.sentence_level {
                self.sentences(metric, &refs, &stats)
            } else {
                self.corpus(metric, &refs, &stats)
            })
        })
    }

    fn sentences(&self, metric: &dyn Metric, refs: &References, stats: &Statistics) -> String {
        let mut lines = vec![];
        let mut out = String::new();
        for i in 0..stats.len() {
            refs.get(i, &mut lines);
            let setting = Setting { refs: Some(lines.len()), ..Setting::default() };
            let signature = metric.signature(&setting);
            let row = stats.row(i);
            if self.json {
                let mut object = self.object(metric, row, &signature, None);
                object.insert("sentence".into(), json!(i + 1));
                out.push_str(&Value::Object(object).to_string());
            } else if self.score_only {
                out.push_str(&self.number(metric, metric.score(row)));
            } else {
                // sacreBLEU's line.
                out.push_str(&format!("{}|{} = ", metric.name(), signature.text(self.short)));
                out.push_str(&self.scored(metric, row, None));
            }
            out.push('\n');
        }
        out
    }

    fn corpus(&self, metric: &dyn Metric, refs: &References, stats: &Statistics) -> String {
        let sum = stats.sum();
        let mut setting = Setting { refs: refs.count(), ..Setting::default() };
        let mut interval = None;
        if self.confidence {
            let n = self.confidence_n as usize;
            setting.bootstrap = Some(n);
            setting.seed = Some(self.common.seed);
            interval = Some(significance::bootstrap(metric, stats, n, self.common.seed).interval());
        }
        let signature = metric.signature(&setting);
        if self.json {
            let object = Value::Object(self.object(metric, &sum, &signature, interval));
            return format!("{object:#}\n");
        }
        if self.score_only {
            return self.number(metric, metric.score(&sum)) + "\n";
        }
        format!("{} = {}\n{}\n", metric.name(), self.scored(metric, &sum, interval), signature.text(self.short))
    }

    fn number(&self, metric: &dyn Metric, score: f64) -> String {
        format!("{score:.*}", self.width.map_or(metric.digits(), usize::from))
    }

    /// The score and what is behind it.
    fn scored(&self, metric: &dyn Metric, stats: &[f64], interval: Option<Interval>) -> String {
        let mut text = self.number(metric, metric.score(stats));
        if let Some(Interval { mean, ci }) = interval {
            text.push_str(&format!(" (μ = {} ± {})", self.number(metric, mean), self.number(metric, ci)));
        }
        let verbose = metric.verbose(stats);
        if !verbose.is_empty() {
            text.push(' ');
            text.push_str(&verbose);
        }
        text
    }

    fn object(
        &self,
        metric: &dyn Metric,
        stats: &[f64],
        signature: &Signature,
        interval: Option<Interval>,
    ) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_string(), value);
        put("name", json!(metric.name()));
        put("score", json!(metric.score(stats)));
        put("signature", json!(signature.text(false)));
        if let Some(Interval { mean, ci }) = interval {
            put("confidence_mean", json!(mean));
            put("confidence_var", json!(ci));
        }
        let verbose = metric.verbose(stats);
        if !verbose.is_empty() {
            put("verbose_score", json!(verbose));
        }
        for (key, value) in metric.fields(stats) {
            put(key, value);
        }
        for (key, value) in &signature.0 {
            put(key, json!(value));
        }
        object
    }
}
