//! `weft eval compare`: whether systems differ by more than chance.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::input::MoreRefs;
use super::report::Common;
use super::{bleu, chrf, ter};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::eval::corpus::References;
use crate::eval::metric::{Metric, Statistics};
use crate::eval::ribes::Ribes;
use crate::eval::signature::Setting;
use crate::eval::significance::{self, Interval};
use crate::format::io;

/// Compare systems with a baseline: paired bootstrap resampling and approximate randomisation
#[derive(Args, Debug)]
#[command(
    after_help = "Every system is compared with the first. A system that was tuned several times is given as its outputs with commas\n\
                  between them; its score is their mean, and randomisation deals the runs of both systems anew (Clark et al. 2011).\n\
                  p is roughly the probability that systems that are alike differ as much by chance; * marks p of 0.05 and less.\n\
                  With one run each, scores, intervals and p are sacreBLEU's (--paired-bs, --paired-ar, seed 12345).\n\n\
                  With --json: an object with `baseline`, `sentences`, and `metrics`: each with `name`, `signature` and `systems`, and these with\n\
                  `system`, `score` (full precision), `runs`, `sd`, `mean`, `ci`, `difference`, `p_bootstrap`, `p_randomisation`.\n\n\
                  Examples:\n  weft eval compare ref.txt hyp1.txt hyp2.txt\n  \
                  weft eval compare -m bleu -m chrf -m ter --json ref.txt hyp1.txt hyp2.txt\n  \
                  weft eval compare --paired-ar ref.txt hyp1.txt,ref2.txt hyp2.txt,ref.txt"
)]
pub struct Cmd {
    /// Reference translations, a sentence a line
    #[arg(value_name = "REF")]
    reference: String,
    /// The baseline's translations, then those of other systems; runs of one system with commas between them
    #[arg(value_name = "SYSTEM", num_args = 2.., required = true)]
    systems: Vec<String>,
    #[command(flatten)]
    refs: MoreRefs,
    /// What to compare by; may be given several times [default: bleu]
    #[arg(short, long = "metric", aliases = ["metrics"], value_name = "NAME")]
    metrics: Vec<Name>,
    /// Paired bootstrap resampling alone
    #[arg(long, aliases = ["pbs"], conflicts_with = "paired_ar")]
    paired_bs: bool,
    /// Approximate randomisation alone
    #[arg(long, aliases = ["par"])]
    paired_ar: bool,
    /// Resamples
    #[arg(long, aliases = ["pbsn"], default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paired_bs_n: u32,
    /// Trials
    #[arg(long, aliases = ["parn"], default_value_t = 10000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paired_ar_n: u32,
    #[command(flatten)]
    bleu: bleu::BleuOptions,
    #[command(flatten)]
    chrf: chrf::ChrfOptions,
    /// chrF: capital letters are small ones
    #[arg(long)]
    chrf_lowercase: bool,
    #[command(flatten)]
    ter: ter::TerOptions,
    /// A JSON object, scores in full precision
    #[arg(long)]
    json: bool,
    /// Digits behind the point [default: 2; RIBES: 6]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    width: Option<u8>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    Bleu,
    Chrf,
    Ter,
    Ribes,
}

/// A system by a metric.
struct Row {
    system: String,
    /// The scores of its runs.
    runs: Vec<f64>,
    interval: Option<Interval>,
    /// By how much it is above the baseline, and the two p-values.
    difference: Option<f64>,
    p_bootstrap: Option<f64>,
    p_randomisation: Option<f64>,
}

impl Row {
    fn score(&self) -> f64 {
        self.runs.iter().sum::<f64>() / self.runs.len() as f64
    }

    /// The standard deviation over runs.
    fn sd(&self) -> Option<f64> {
        let mean = self.score();
        let squares: f64 = self.runs.iter().map(|r| (r - mean) * (r - mean)).sum();
        (self.runs.len() > 1).then(|| (squares / (self.runs.len() - 1) as f64).sqrt())
    }
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        self.common.write(|| {
            let systems: Vec<Vec<&str>> = self.systems.iter().map(|s| runs(s)).collect();
            let files: Vec<&str> = systems.iter().flatten().copied().collect();
            if files.contains(&"") {
                return Err(Error::usage("a system is files with commas between them; one of them has no name"));
            }
            let refs = self.refs.read(&self.reference, &files)?;
            let mut hypotheses = vec![];
            for system in &systems {
                hypotheses.push(system.iter().map(|file| refs.read_hypotheses(file)).collect::<Result<Vec<_>>>()?);
            }
            let mut tables = vec![];
            let default = [Name::Bleu];
            let names = if self.metrics.is_empty() { &default[..] } else { &self.metrics };
            for &name in names {
                let metric = self.metric(name)?;
                metric.check(&refs)?;
                let stats: Vec<Vec<Statistics>> = hypotheses
                    .iter()
                    .map(|runs| runs.iter().map(|hyp| Statistics::of(&*metric, &refs, hyp)).collect())
                    .collect();
                tables.push(self.table(&*metric, &refs, &stats));
            }
            Ok(if self.json {
                self.object(&refs, tables)
            } else {
                tables.into_iter().map(|t| t.0).collect::<Vec<_>>().join("\n")
            })
        })
    }

    fn metric(&self, name: Name) -> Result<Box<dyn Metric>> {
        Ok(match name {
            Name::Bleu => Box::new(self.bleu.metric(false)?),
            Name::Chrf => Box::new(self.chrf.metric(self.chrf_lowercase)?),
            Name::Ter => Box::new(self.ter.metric()),
            Name::Ribes => Box::new(Ribes::default()),
        })
    }

    /// The table of a metric as text and as JSON.
    fn table(&self, metric: &dyn Metric, refs: &References, systems: &[Vec<Statistics>]) -> (String, Value) {
        let (bootstrap, randomise) = (!self.paired_ar, !self.paired_bs);
        let (samples, trials) = (self.paired_bs_n as usize, self.paired_ar_n as usize);
        let seed = self.common.seed;
        let pooled: Vec<Statistics> = systems.iter().map(|runs| pool(runs)).collect();
        let mut rows: Vec<Row> = vec![];
        for (i, runs) in systems.iter().enumerate() {
            let mut row = Row {
                system: self.systems[i].clone(),
                runs: runs.iter().map(|run| metric.score(&run.sum())).collect(),
                interval: None,
                difference: None,
                p_bootstrap: None,
                p_randomisation: None,
            };
            match rows.first() {
                None if bootstrap => {
                    row.interval = Some(significance::bootstrap(metric, &pooled[i], samples, seed).interval());
                }
                None => {}
                Some(base) => {
                    row.difference = Some(row.score() - base.score());
                    if bootstrap {
                        let (interval, p) =
                            significance::paired_bootstrap(metric, &pooled[0], &pooled[i], samples, seed);
                        row.interval = Some(interval);
                        row.p_bootstrap = Some(p);
                    }
                    if randomise {
                        row.p_randomisation =
                            Some(significance::randomisation(metric, &systems[0], runs, trials, seed));
                    }
                }
            }
            rows.push(row);
        }
        let setting = Setting {
            refs: refs.count(),
            bootstrap: bootstrap.then_some(samples),
            trials: randomise.then_some(trials),
            seed: Some(seed),
        };
        let signature = metric.signature(&setting).text(false);
        let digits = self.width.map_or(metric.digits(), usize::from);
        let text = format!("{}{signature}\n", text_table(&metric.name(), &rows, digits, bootstrap, randomise));
        let systems: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "system": row.system, "score": row.score(), "runs": row.runs, "sd": row.sd(),
                    "mean": row.interval.map(|i| i.mean), "ci": row.interval.map(|i| i.ci),
                    "difference": row.difference, "p_bootstrap": row.p_bootstrap, "p_randomisation": row.p_randomisation,
                })
            })
            .collect();
        (text, json!({"name": metric.name(), "signature": signature, "systems": systems}))
    }

    fn object(&self, refs: &References, tables: Vec<(String, Value)>) -> String {
        let metrics: Vec<Value> = tables.into_iter().map(|t| t.1).collect();
        let object = json!({"baseline": self.systems[0], "sentences": refs.len(), "metrics": metrics});
        format!("{object:#}\n")
    }
}

/// The files of a system. A file whose name has a comma is one.
fn runs(system: &str) -> Vec<&str> {
    if io::is_stdio(system) || Path::new(system).exists() { vec![system] } else { system.split(',').collect() }
}

/// The statistics of all runs, added up sentence by sentence.
fn pool(runs: &[Statistics]) -> Statistics {
    let mut all = runs[0].clone();
    runs[1..].iter().for_each(|run| all.add_run(run));
    all
}

fn text_table(name: &str, rows: &[Row], digits: usize, bootstrap: bool, randomise: bool) -> String {
    let several = rows.iter().any(|r| r.runs.len() > 1);
    let mut head = vec![name.to_string(), "score".into()];
    if several {
        head.extend(["runs".to_string(), "sd".into()]);
    }
    if bootstrap {
        head.push("mean ± 95 % CI".into());
    }
    head.push("difference".into());
    if bootstrap {
        head.push("p bootstrap".into());
    }
    if randomise {
        head.push("p randomisation".into());
    }
    let number = |x: f64| format!("{x:.digits$}");
    let p = |p: Option<f64>| p.map_or(String::new(), |p| format!("{p:.4}{}", if p > 0.05 { "  " } else { " *" }));
    let mut lines = vec![head];
    for (i, row) in rows.iter().enumerate() {
        let mut line = vec![row.system.clone() + if i == 0 { " (baseline)" } else { "" }, number(row.score())];
        if several {
            line.extend([row.runs.len().to_string(), row.sd().map_or(String::new(), number)]);
        }
        if bootstrap {
            line.push(row.interval.map_or(String::new(), |i| format!("{} ± {}", number(i.mean), number(i.ci))));
        }
        line.push(row.difference.map_or(String::new(), |d| format!("{d:+.digits$}")));
        if bootstrap {
            line.push(p(row.p_bootstrap));
        }
        if randomise {
            line.push(p(row.p_randomisation));
        }
        lines.push(line);
    }
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, &w))| if i == 0 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}
