//! `weft rules patterns`: which patterns the rules have.

use clap::Args;
use rustc_hash::FxHashMap;

use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::Result;
use crate::format::io;
use crate::rules::filter;
use crate::rules::format::RuleFormat;
use crate::text::lines::Blocks;

/// Count the patterns of rules: their symbols, with every run of words written w
#[derive(Args, Debug)]
#[command(
    after_help = "A line is `SOURCE TARGET<TAB>rules`, the most frequent pattern first; edited, it is a file for `weft rules filter \
                  --allow-patterns` or `--deny-patterns`.\n\n\
                  Example:\n  weft rules patterns rules.gz -o patterns.txt"
)]
pub struct Cmd {
    /// Rules: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "RULES", default_value = "-", hide_default_value = true)]
    rules: String,
    /// The table to write (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// The format of the rules
    #[arg(long, value_enum, default_value_t)]
    format: RuleFormat,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut counts: FxHashMap<String, u64> = FxHashMap::default();
        with_threads(self.threads, || {
            Blocks::open(&self.rules)?.work(
                |block| filter::patterns(self.format, block),
                |some| {
                    some.into_iter().for_each(|(pattern, n)| *counts.entry(pattern).or_default() += n);
                    Ok(())
                },
            )
        })?;
        let mut table: Vec<(String, u64)> = counts.into_iter().collect();
        table.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let text: String = table.iter().map(|(pattern, n)| format!("{pattern}\t{n}\n")).collect();
        io::create(&self.output)?.write_and_commit(text.as_bytes())?;
        Ok(Status::Done)
    }
}
