//! `weft rules lexicon`: which words are linked, for lexical weights.

use clap::Args;

use super::tell;
use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::format::io;
use crate::rules::pipeline;
use crate::text::parallel::Corpus;

/// Count the linked words of an aligned corpus, for the lexical weights of `weft rules score`
#[derive(Args, Debug)]
#[command(
    after_help = "Writes `source<TAB>target<TAB>count`; a word without a link is linked to `<eps>`. Files of parts of a corpus can \
                  be put together with cat: equal lines add up.\n\n\
                  Examples:\n  weft rules lexicon train.en train.ja train.align -o lex.gz\n  \
                  paste train.en train.ja train.align | weft rules lexicon | head -n 3"
)]
pub struct Cmd {
    /// SOURCE TARGET ALIGN; or one stream of `source<TAB>target<TAB>links` (nothing: standard input)
    #[arg(value_name = "FILE", num_args = 0..=3)]
    files: Vec<String>,
    /// The counts to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let corpus = match &self.files[..] {
            [source, target, align] => Corpus::open(source, target, align)?,
            [stream] => Corpus::stream(stream)?,
            [] => Corpus::stream("-")?,
            _ => return Err(Error::usage("expected SOURCE TARGET ALIGN, or one stream")),
        };
        let (lexicon, summary) = with_threads(self.threads, || pipeline::lexicon(corpus))?;
        io::create(&self.output)?.write_and_commit(&lexicon.write())?;
        tell(&summary);
        Ok(Status::Done)
    }
}
