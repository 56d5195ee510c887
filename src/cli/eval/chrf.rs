//! `weft eval chrf`: chrF and chrF++.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::eval::chrf::Chrf;

/// chrF, or chrF++ with --word-order 2, as sacreBLEU computes them
#[derive(Args, Debug)]
#[command(
    after_help = "With --json: an object with `name`, `score` (full precision), `signature`, and for every order `hyp_ngrams`, `ref_ngrams`\n\
                  and `matches`.\n\n\
                  Examples:\n  weft eval chrf ref.txt hyp1.txt\n  weft eval chrf --word-order 2 --json ref.txt hyp1.txt"
)]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    options: ChrfOptions,
    /// Capital letters are small ones
    #[arg(long, aliases = ["chrf-lowercase"])]
    lowercase: bool,
    #[command(flatten)]
    report: Report,
}

/// How chrF is computed.
#[derive(Args, Debug)]
pub struct ChrfOptions {
    /// Longest n-grams of characters
    #[arg(long, aliases = ["cc", "chrf-char-order"], default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    char_order: u8,
    /// Longest n-grams of words; 2 is chrF++
    #[arg(long, aliases = ["cw", "chrf-word-order"], default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    word_order: u8,
    /// How many times as important recall is as precision
    #[arg(long, aliases = ["chrf-beta"], default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    beta: u32,
    /// White space counts as characters
    #[arg(long, aliases = ["chrf-whitespace"])]
    whitespace: bool,
    /// The mean of the orders' F-scores, as chrF++.py, NLTK and Moses have it
    #[arg(long, aliases = ["chrf-eps-smoothing"])]
    eps_smoothing: bool,
}

impl ChrfOptions {
    pub fn metric(&self, lowercase: bool) -> Result<Chrf> {
        if self.char_order == 0 && self.word_order == 0 {
            return Err(Error::usage("--char-order 0 and --word-order 0: there is nothing to compare"));
        }
        Ok(Chrf {
            char_order: self.char_order as usize,
            word_order: self.word_order as usize,
            beta: self.beta,
            lowercase,
            whitespace: self.whitespace,
            eps_smoothing: self.eps_smoothing,
        })
    }
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        self.report.run(&self.options.metric(self.lowercase)?, &self.texts, |_| {})
    }
}
