//! `weft eval ribes`: RIBES.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::eval::ribes::Ribes;

/// RIBES: rank correlation of shared words, as RIBES.py 1.03.1 computes it
#[derive(Args, Debug)]
#[command(after_help = "Text must be tokenised: words stand between spaces. The score lies between 0 and 1.\n\n\
                  With --json: an object with `name`, `score` (full precision), `signature`, `sentences`, `alpha` and `beta`.\n\n\
                  Examples:\n  weft eval ribes ref.txt hyp1.txt\n  weft eval ribes --sentence-level --score-only ref.txt hyp1.txt")]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    /// The power of the share of aligned words
    #[arg(short, long, default_value_t = 0.25, value_name = "X")]
    alpha: f64,
    /// The power of the brevity penalty
    #[arg(long, default_value_t = 0.1, value_name = "X")]
    beta: f64,
    /// Capital letters differ from small ones
    #[arg(short = 'c', long = "case")]
    case: bool,
    /// Leave empty references out; a sentence without any other does not count
    #[arg(short = 'z', long)]
    emptyref: bool,
    #[command(flatten)]
    report: Report,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        for (name, value) in [("--alpha", self.alpha), ("--beta", self.beta)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::usage(format!("{name} {value}: expected a number that is not negative")));
            }
        }
        let metric = Ribes { alpha: self.alpha, beta: self.beta, case_sensitive: self.case, empty_refs: self.emptyref };
        self.report.run(&metric, &self.texts, |_| {})
    }
}
