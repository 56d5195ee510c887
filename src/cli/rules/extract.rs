//! `weft rules extract`: rules from an aligned corpus, and the map and reduce steps of it.

use clap::Args;

use super::{RoomArgs, tell};
use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::rules::extract::{Config, Counts};
use crate::rules::{combine, pipeline, stage};
use crate::text::parallel::Corpus;

/// Extract hierarchical rules from word-aligned sentence pairs, and score them
#[derive(Args, Debug)]
#[command(
    long_about = "Extract hierarchical rules from word-aligned sentence pairs, and score them.\n\n\
                  SOURCE and TARGET have a sentence a line, ALIGN has links such as `0-0 1-2`, source first, from 0. The \
                  result is sorted by source side, the most probable translation first, with the features of `weft rules \
                  score`. The same file comes out for any --memory and any --threads.",
    after_help = "The steps can be run one by one, in any system that sorts between a map and a reduce command (Hadoop \
                  Streaming, Spark's pipe). --map reads lines `source<TAB>target<TAB>links` from standard input. With \
                  LC_ALL=C sort in between the last file is that of the first example, to the byte.\n\n\
                  Examples:\n  weft rules extract --hiero train.en train.ja train.align -o rules.gz\n  \
                  weft rules extract --hiero --counts-only --max-phrase 7 train.en train.ja train.align -o counts.gz\n  \
                  paste train.en train.ja train.align | weft rules extract --map | LC_ALL=C sort | weft rules extract --reduce -o counts\n  \
                  weft rules lexicon train.en train.ja train.align -o lex.gz\n  \
                  weft rules score --map counts | LC_ALL=C sort | weft rules score --reduce target | LC_ALL=C sort | weft rules score --reduce source --lexicon lex.gz -o rules.gz"
)]
pub struct Cmd {
    /// SOURCE TARGET ALIGN: plain, gz or zstd; with --map or --reduce one stream (nothing: standard input)
    #[arg(value_name = "FILE", num_args = 0..=3)]
    files: Vec<String>,
    /// The rules to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Hierarchical rules of one nonterminal, X (the only kind so far, and the default)
    #[arg(long)]
    hiero: bool,
    /// Source words of an initial phrase at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_phrase: usize,
    /// Target words of an initial phrase at most [default: as --max-phrase]
    #[arg(long, value_name = "N")]
    max_target_phrase: Option<usize>,
    /// Nonterminals of a rule at most
    #[arg(long, value_name = "N", default_value_t = 2)]
    rank: usize,
    /// Allow nonterminals that are adjacent in the source
    #[arg(long)]
    adjacent: bool,
    /// Symbols of the source side at most, words and nonterminals
    #[arg(long, value_name = "N", default_value_t = 5)]
    max_symbols: usize,
    /// Let unaligned words at their edges belong to phrases
    #[arg(long)]
    loose: bool,
    /// Source words under a nonterminal at least
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_hole: usize,
    /// What an instance of a rule counts
    #[arg(long, value_enum, default_value_t)]
    counts: Counts,
    /// Write the rules with their counts, without scores
    #[arg(long, conflicts_with_all = ["map", "reduce"])]
    counts_only: bool,
    /// Only the first step: write a line for every instance of a rule, as it is found
    #[arg(long, conflicts_with = "reduce")]
    map: bool,
    /// Only the second step: read sorted instances, write rules with counts
    #[arg(long)]
    reduce: bool,
    #[command(flatten)]
    room: RoomArgs,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if self.reduce {
            let input = self.stream()?;
            with_threads(self.threads, || pipeline::reduce(input, stage::rule_key, combine::block, &self.output))?;
            return Ok(Status::Done);
        }
        let config = self.config()?;
        let corpus = match &self.files[..] {
            [source, target, align] => Corpus::open(source, target, align)?,
            _ if self.map => Corpus::stream(self.stream()?)?,
            _ => return Err(Error::usage("expected three files: SOURCE TARGET ALIGN")),
        };
        let summary = if self.map {
            with_threads(self.threads, || pipeline::map(corpus, &config, &self.output))?
        } else {
            let room = self.room.room()?;
            let bar = Bar::new();
            let done = with_threads(self.threads, || {
                pipeline::extract(corpus, &config, &room, !self.counts_only, &self.output, &bar)
            });
            bar.clear();
            done?
        };
        tell(&summary);
        Ok(Status::Done)
    }

    fn stream(&self) -> Result<&str> {
        match &self.files[..] {
            [] => Ok("-"),
            [one] => Ok(one),
            _ => Err(Error::usage("this step reads one stream; give one file or none")),
        }
    }

    fn config(&self) -> Result<Config> {
        if self.rank > 9 {
            return Err(Error::usage("--rank: at most 9 nonterminals"));
        }
        Ok(Config {
            max_phrase: self.max_phrase,
            max_target: self.max_target_phrase.unwrap_or(self.max_phrase),
            rank: self.rank,
            adjacent: self.adjacent,
            max_symbols: self.max_symbols,
            loose: self.loose,
            min_hole: self.min_hole,
            counts: self.counts,
        })
    }
}
