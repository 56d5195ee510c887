//! `weft eval bleu`: BLEU.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::eval::bleu::{Bleu, SmoothMethod, Smoothing};
use crate::eval::corpus::Sentences;
use crate::eval::tokenize::Tokenizer;

/// BLEU of a corpus or of sentences, with sacreBLEU's tokenisers, smoothing and signature
#[derive(Args, Debug)]
#[command(
    after_help = "Text should be plain, as readers see it, not split into tokens: --tokenize does that. For text that is meant to be\n\
                  scored token by token, --tokenize none.\n\n\
                  With --json: an object with `name`, `score` (full precision), `signature`, `verbose_score`, `counts`, `totals`,\n\
                  `precisions`, `bp`, `ratio`, `sys_len`, `ref_len`, and the parts of the signature; with --sentence-level one a line.\n\n\
                  Examples:\n  weft eval bleu ref.txt hyp1.txt\n  weft eval bleu --tokenize char --json ref.txt hyp1.txt\n  \
                  weft eval bleu --ref ref2.txt --sentence-level ref.txt hyp1.txt\n  weft eval bleu -tok none --confidence ref.txt hyp1.txt"
)]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    #[command(flatten)]
    options: BleuOptions,
    /// Do not warn about text that looks tokenised
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report: Report,
}

/// How BLEU is computed.
#[derive(Args, Debug)]
pub struct BleuOptions {
    /// How text is split into words (sacreBLEU: -tok)
    #[arg(long, aliases = ["tok"], default_value = "13a", value_name = "NAME")]
    tokenize: Tokenizer,
    /// What is done about orders without matches (sacreBLEU: -s)
    #[arg(short = 's', long, default_value = "exp", value_name = "METHOD")]
    smooth_method: SmoothMethod,
    /// The value of floor [default: 0.1] or add-k [default: 1] (sacreBLEU: -sv)
    #[arg(long, aliases = ["sv"], value_name = "X")]
    smooth_value: Option<f64>,
    /// Capital letters are small ones (sacreBLEU: -lc)
    #[arg(long, aliases = ["lc"])]
    lowercase: bool,
}

impl BleuOptions {
    pub fn metric(&self, sentences: bool) -> Result<Bleu> {
        match (self.smooth_method, self.smooth_value) {
            (SmoothMethod::None | SmoothMethod::Exp, Some(_)) => {
                return Err(Error::usage("--smooth-value belongs to --smooth-method floor or add-k"));
            }
            (_, Some(v)) if !(v.is_finite() && v >= 0.0) => {
                return Err(Error::usage(format!("--smooth-value {v}: expected a number that is not negative")));
            }
            _ => {}
        }
        Ok(Bleu {
            tokenizer: self.tokenize,
            smoothing: Smoothing::new(self.smooth_method, self.smooth_value),
            lowercase: self.lowercase,
            effective_order: sentences,
        })
    }
}

/// As many lines with a full stop apart are no accident.
const TOKENISED: usize = 100;

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let metric = self.options.metric(self.report.sentence_level())?;
        let warn = !self.force && !self.report.sentence_level() && self.options.tokenize != Tokenizer::None;
        self.report.run(&metric, &self.texts, |hyp: &Sentences| {
            let apart = if warn { hyp.iter().filter(|line| line.ends_with(" .")).count() } else { 0 };
            if apart >= TOKENISED {
                crate::cli::say!(
                    "weft: {}: {apart} sentences end in a full stop with a space before it: text that is tokenised already? \
                     --tokenize none takes it as it is, --force is for text that is meant so",
                    hyp.file
                );
            }
        })
    }
}
