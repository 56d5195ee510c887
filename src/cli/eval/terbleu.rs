//! `weft eval terbleu`: (TER − BLEU) / 2.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use super::{bleu, ter};
use crate::cli::env::Status;
use crate::error::Result;
use crate::eval::terbleu::TerBleu;

/// (TER - BLEU) / 2, lower is better (Cmejrek 2014)
#[derive(Args, Debug)]
#[command(
    after_help = "With --json: an object with `name`, `score` (full precision), `signature`, `ter` and `bleu`.\n\n\
                  Example:\n  weft eval terbleu ref.txt hyp1.txt"
)]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    bleu: bleu::BleuOptions,
    #[command(flatten)]
    ter: ter::TerOptions,
    #[command(flatten)]
    report: Report,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let bleu = self.bleu.metric(self.report.sentence_level())?;
        self.report.run(&TerBleu { ter: self.ter.metric(), bleu }, &self.texts, |_| {})
    }
}
