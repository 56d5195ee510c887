//! `weft lm query`: scores of sentences.

use clap::{Args, ValueEnum};

use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::binary;
use crate::lm::query::{self, QueryConfig};

/// Scores sentences: log10 probabilities of words and sentences, unknown words, perplexity
#[derive(Args, Debug)]
#[command(after_help = "Each word is printed as\n  word=number length log10(p(word|context))\n\
                  where length is that of the longest n-gram that matched and number 0 is an unknown word; then the\n\
                  sentence's log10 probability and its number of unknown words. The same numbers as KenLM's query.\n\n\
                  With --json: an object a sentence with `log10`, `oov` and `tokens` (and `words` with -v word), then\n\
                  one with `perplexity`, `perplexity_without_oov`, `oovs` and `tokens`.\n\n\
                  Example:\n  weft lm query --json lm.arpa test.txt")]
pub struct Cmd {
    /// Model: ARPA, or made by `weft lm compile`
    model: String,
    /// Sentences, one a line (`-` or nothing: standard input)
    text: Option<String>,
    /// JSON lines instead of text
    #[arg(long)]
    json: bool,
    /// What to print; may be given several times [default: all; with --json sentence and summary]
    #[arg(short = 'v', long = "verbosity", value_name = "LEVEL")]
    levels: Vec<Level>,
    /// Do not put the sentences between <s> and </s>
    #[arg(short = 'n', long)]
    no_boundaries: bool,
    /// Output file (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    Word,
    Sentence,
    Summary,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let text = self.text.as_deref().unwrap_or("-");
        if io::is_stdio(text) && io::is_stdio(&self.model) {
            return Err(Error::usage("the model and the sentences cannot both come from standard input"));
        }
        let model = binary::load(&self.model)?;
        let all = self.levels.is_empty();
        let asked = |level| self.levels.contains(&level);
        let config = QueryConfig {
            words: asked(Level::Word) || all && !self.json,
            sentences: asked(Level::Sentence) || all,
            summary: asked(Level::Summary) || all,
            json: self.json,
            boundaries: !self.no_boundaries,
        };
        let input = io::open(text)?;
        let mut out = io::create(self.output.as_deref().unwrap_or("-"))?;
        super::with_threads(self.threads, || query::query(&model, input, &mut out, &config))?;
        out.commit()?;
        Ok(Status::Done)
    }
}
