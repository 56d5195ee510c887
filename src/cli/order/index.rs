//! `weft order index`: the n-grams of a text, for bags that come one by one.

use clap::Args;

use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::order::{Orders, index};

/// Index a text, so that the phrases of a bag are found at once
#[derive(Args, Debug)]
#[command(
    after_help = "The index is mapped into memory when it is used, not read. It takes 9 bytes a word of text on disk, and 24 in memory\n\
                  while it is made. Phrases, their counts, and in which order words come are those of the text: sentences are the\n\
                  same as with --text.\n\n\
                  Examples:\n  weft order index train.en -o train.idx && weft order --index train.idx --lm en.arpa test.bag"
)]
pub struct Cmd {
    /// Texts: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
    /// The index to write
    #[arg(short, long, value_name = "FILE")]
    output: String,
    /// Words of the longest phrases
    #[arg(long, value_name = "N", default_value_t = 5)]
    order: usize,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if !(1..=Orders::MOST).contains(&self.order) {
            return Err(Error::usage(format!("--order {}: expected 1 to {}", self.order, Orders::MOST)));
        }
        let texts = if self.texts.is_empty() { vec!["-".to_string()] } else { self.texts.clone() };
        let bar = Bar::new();
        let built = with_threads(self.threads, || index::build(&texts, self.order, &self.output, &bar));
        bar.clear();
        let seen = built?;
        crate::cli::say!(
            "weft: {} words, {} of them different, in {} sentences",
            seen.words,
            seen.vocabulary,
            seen.sentences
        );
        Ok(Status::Done)
    }
}
