//! `weft rules convert`: rules from one format to another.

use clap::Args;

use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::format::packed::PackedOutput;
use crate::rules::convert::{Conversion, WordMap};
use crate::rules::format::{self, RuleFormat};
use crate::text::lines::Blocks;

/// Convert rules between the formats of cdec (weft's own), Joshua, Moses and HiFST
#[derive(Args, Debug)]
#[command(
    long_about = "Convert rules between the formats of cdec (weft's own), Joshua, Moses and HiFST.\n\n\
                  Costs are kept; Moses' probabilities become costs, -ln p, and back. Formats other than cdec's have columns \
                  without names: they are read as F1, F2, ... (Moses' first four as FgivenE, LexFgivenE, EgivenF, LexEgivenF), \
                  and written in the order of --features or of the first rules, 0 where a rule lacks one.",
    after_help = "With word maps (`word<TAB>id`) words become numbers if the new format is HiFST's, numbers become words otherwise.\n\n\
                  Examples:\n  weft rules convert --to joshua --features EgivenF,FgivenE,RuleCount --drop rules.gz -o joshua.gz\n  \
                  weft rules convert --to moses counts.txt -o moses.txt\n  \
                  weft rules convert --to hifst --source-map en.map --target-map ja.map counts.txt | weft rules convert --from hifst --to cdec --source-map en.map --target-map ja.map"
)]
pub struct Cmd {
    /// Rules: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "RULES", default_value = "-", hide_default_value = true)]
    rules: String,
    /// The rules to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// The format to read [default: by the first rules]
    #[arg(long, value_enum)]
    from: Option<RuleFormat>,
    /// The format to write
    #[arg(long, value_enum, default_value_t)]
    to: RuleFormat,
    /// The features of the columns, in order, for formats without names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    features: Option<Vec<String>>,
    /// Leave away features that --features does not name, instead of an error
    #[arg(long, requires = "features")]
    drop: bool,
    /// Word map of the source side
    #[arg(long, value_name = "FILE")]
    source_map: Option<String>,
    /// Word map of the target side
    #[arg(long, value_name = "FILE")]
    target_map: Option<String>,
    /// Write a Moses phrase table: without left sides, and without rules that have nonterminals
    #[arg(long)]
    phrases: bool,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if self.phrases && self.to != RuleFormat::Moses {
            return Err(Error::usage("--phrases is for --to moses"));
        }
        with_threads(self.threads, || self.convert())?;
        Ok(Status::Done)
    }

    fn convert(&self) -> Result<()> {
        let mut blocks = Blocks::open(&self.rules)?;
        let first = blocks.next_block()?;
        let seems = first.as_ref().and_then(|block| block.lines().find_map(|(_, line)| format::detect(line)));
        let map = |name: &String| WordMap::read(name, self.to == RuleFormat::Hifst);
        let mut conversion = Conversion {
            from: self.from.or(seems).unwrap_or_default(),
            to: self.to,
            source_map: self.source_map.as_ref().map(map).transpose()?,
            target_map: self.target_map.as_ref().map(map).transpose()?,
            columns: self.features.clone(),
            drop: self.drop,
            phrases: self.phrases,
        };
        let mut out = PackedOutput::create(&self.output)?;
        let packing = out.packing();
        if let Some(block) = first {
            conversion.find_columns(&block)?;
            out.write(&packing.pack(conversion.block(&block)?)?)?;
        }
        blocks.work(|block| packing.pack(conversion.block(block)?), |lines| out.write(&lines))?;
        out.commit()
    }
}
