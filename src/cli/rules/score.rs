//! `weft rules score`: features from counts, and the map and reduce steps of it.

use clap::{Args, ValueEnum};

use super::RoomArgs;
use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::rules::lexicon::Lexicon;
use crate::rules::{pipeline, score, stage};

/// Give counted rules their features: relative frequencies, lexical weights, indicators
#[derive(Args, Debug)]
#[command(
    long_about = "Give counted rules their features, all of them costs (-ln p):\n\n\
                  EgivenF, FgivenE        relative frequencies p(target|source), p(source|target)\n\
                  LexEgivenF, LexFgivenE  lexical weights by the linked words, with --lexicon\n\
                  Count1 Count2 CountMore 1 for a rule that was seen once, twice, more often\n\
                  WordCount               words of the target\n\
                  RuleCount               1\n\
                  Count                   the count\n\n\
                  Rules are read in weft's form (cdec's) with a Count, each once. The result is sorted by source side in \
                  the order of LC_ALL=C, the most probable target first; it is the same for any --memory and --threads.",
    after_help = "The steps can be run one by one with LC_ALL=C sort in between (Hadoop Streaming, Spark's pipe); the third \
                  example gives the file of the second.\n\n\
                  Examples:\n  weft rules extract --counts-only train.en train.ja train.align -o counts && weft rules lexicon train.en train.ja train.align -o lex.gz\n  \
                  weft rules score --lexicon lex.gz counts -o rules.gz\n  \
                  weft rules score --map counts | LC_ALL=C sort | weft rules score --reduce target | LC_ALL=C sort | weft rules score --reduce source --lexicon lex.gz -o rules2.gz"
)]
pub struct Cmd {
    /// Rules with counts: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "RULES", default_value = "-", hide_default_value = true)]
    input: String,
    /// The rules to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Linked words, from `weft rules lexicon`
    #[arg(long, value_name = "FILE")]
    lexicon: Option<String>,
    /// Only the first step: rules turned round, to be sorted by target
    #[arg(long, conflicts_with = "reduce")]
    map: bool,
    /// Only a later step, over sorted lines
    #[arg(long, value_enum, value_name = "BY")]
    reduce: Option<Reduce>,
    #[command(flatten)]
    room: RoomArgs,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Reduce {
    /// The second step: p(source|target)
    Target,
    /// The third step: all other features
    Source,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let (input, output) = (&self.input, &self.output);
        if self.lexicon.is_some() && (self.map || self.reduce == Some(Reduce::Target)) {
            return Err(Error::usage("--lexicon belongs to the last step, --reduce source"));
        }
        let lexicon = self.lexicon.as_deref().map(Lexicon::read).transpose()?;
        let lexicon = lexicon.as_ref();
        let bar = Bar::new();
        let done = with_threads(self.threads, || match self.reduce {
            _ if self.map => pipeline::invert(input, output),
            Some(Reduce::Target) => pipeline::reduce(input, stage::first_key, score::by_target, output),
            Some(Reduce::Source) => {
                pipeline::reduce(input, stage::source_key, |block| score::by_source(block, lexicon), output)
            }
            None => pipeline::score(input, lexicon, &self.room.room()?, output, &bar),
        });
        bar.clear();
        done.map(|()| Status::Done)
    }
}
