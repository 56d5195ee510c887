//! `weft rules shallow`: rules that nest only so deep.

use clap::Args;

use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::format::packed::PackedOutput;
use crate::rules::format::RuleFormat;
use crate::rules::shallow;
use crate::text::lines::Blocks;

/// Make a shallow-n grammar: hierarchical rules nest at most n deep
#[derive(Args, Debug)]
#[command(
    long_about = "Make a shallow-n grammar of hierarchical rules over X: they nest at most n deep.\n\n\
                  For n = 1 the nonterminals inside hierarchical rules become V, rules without nonterminals have V on the \
                  left, and X -> V is added, without features. For greater n there are levels XB, XC, ... between X and V. \
                  The glue rules S -> X and S -> S X (feature Glue=1) come first. The grammar is complete and in weft's \
                  form; for another use `weft rules convert`.",
    after_help = "Examples:\n  weft rules shallow --n 1 rules.gz -o shallow.gz\n  weft rules shallow --n 2 rules.gz | head -n 4"
)]
pub struct Cmd {
    /// Rules: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "RULES", default_value = "-", hide_default_value = true)]
    rules: String,
    /// The rules to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// How deep rules nest
    #[arg(long, value_name = "N", default_value_t = 1)]
    n: usize,
    /// The format of the rules to read
    #[arg(long, value_enum, default_value_t)]
    from: RuleFormat,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if self.n > shallow::MAX {
            return Err(Error::usage(format!("--n {}: at most {}", self.n, shallow::MAX)));
        }
        with_threads(self.threads, || self.make())?;
        Ok(Status::Done)
    }

    fn make(&self) -> Result<()> {
        let levels = shallow::levels(self.n);
        let blocks = Blocks::open(&self.rules)?;
        let mut out = PackedOutput::create(&self.output)?;
        let packing = out.packing();
        let mut frame = vec![];
        shallow::frame(&levels, &mut frame);
        out.write(&packing.pack(frame)?)?;
        blocks.work(|block| packing.pack(shallow::block(self.from, &levels, block)?), |lines| out.write(&lines))?;
        out.commit()
    }
}
