//! `weft eval ter`: TER.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use crate::cli::env::Status;
use crate::error::Result;
use crate::eval::ter::Ter;

/// TER: edits, shifts among them, for every hundred words of the reference; as sacreBLEU computes it
#[derive(Args, Debug)]
#[command(
    after_help = "With --json: an object with `name`, `score` (full precision), `signature`, `num_edits` and `ref_length`.\n\n\
                  Examples:\n  weft eval ter ref.txt hyp1.txt\n  weft eval ter --normalized --asian-support --json ref.txt hyp1.txt"
)]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    options: TerOptions,
    #[command(flatten)]
    report: Report,
}

/// How TER is computed.
#[derive(Args, Debug)]
pub struct TerOptions {
    /// Punctuation is set apart, entities are characters
    #[arg(long, aliases = ["ter-normalized"])]
    normalized: bool,
    /// Punctuation is left out
    #[arg(long, aliases = ["ter-no-punct"])]
    no_punct: bool,
    /// Chinese and Japanese: every ideograph a word (with --normalized), their punctuation left out (with --no-punct)
    #[arg(long, aliases = ["ter-asian-support"])]
    asian_support: bool,
    /// Capital letters differ from small ones
    #[arg(long, aliases = ["ter-case-sensitive"])]
    case_sensitive: bool,
}

impl TerOptions {
    pub fn metric(&self) -> Ter {
        Ter {
            normalized: self.normalized,
            no_punct: self.no_punct,
            asian_support: self.asian_support,
            case_sensitive: self.case_sensitive,
        }
    }
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        self.report.run(&self.options.metric(), &self.texts, |_| {})
    }
}
