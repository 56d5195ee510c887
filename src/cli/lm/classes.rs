//! `weft lm classes`: classes of words, for models of classes.

use std::io::Write;

use clap::Args;

use super::estimate::Bar;
use super::with_threads;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::classes::{ClassConfig, OTHERS, classify};
use crate::text::lines::Blocks;

/// Divide the words of a text into classes, and write the text in classes
#[derive(Args, Debug)]
#[command(
    long_about = "Divide the words of a text into classes, so that words of a class stand beside the same words (the exchange \
                  algorithm). Rare words get classes by their look.\n\n\
                  The result has lines `word<TAB>class`; the class of `<unk>` is for all others. With --classed the text is \
                  written with classes for words: a language model of it is what `weft order --class-lm` takes.",
    after_help = "Examples:\n  weft lm classes --count 3 --least 2 --classed train.classes train.en -o classes.tsv\n  \
                  weft lm estimate --order 3 --discount-fallback train.classes -o classes.arpa"
)]
pub struct Cmd {
    /// Texts: plain, gz or zstd
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<String>,
    /// How many classes of frequent words there are
    #[arg(long, value_name = "N", default_value_t = 500)]
    count: usize,
    /// Words that are there less often get classes by their look
    #[arg(long, value_name = "N", default_value_t = 20)]
    least: u64,
    /// Passes over all words at most
    #[arg(long, value_name = "N", default_value_t = 5)]
    passes: usize,
    /// The classes to write (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Write the text with classes for words
    #[arg(long, value_name = "FILE")]
    classed: Option<String>,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if self.count == 0 || self.least == 0 {
            return Err(Error::usage("--count and --least are at least 1"));
        }
        let config = ClassConfig { classes: self.count, least: self.least, passes: self.passes };
        let bar = Bar::new();
        let done = with_threads(self.threads, || classify(&self.texts, &config, &bar));
        bar.clear();
        let done = done?;
        let mut text: String = done.words.iter().map(|(w, c)| format!("{w}\t{c}\n")).collect();
        text.push_str(&format!("<unk>\t{OTHERS}\n"));
        io::create(&self.output)?.write_and_commit(text.as_bytes())?;
        if let Some(name) = &self.classed {
            let class: std::collections::HashMap<&str, &str> =
                done.words.iter().map(|(w, c)| (w.as_str(), c.as_str())).collect();
            let mut out = io::create(name)?;
            for file in &self.texts {
                let mut blocks = Blocks::open(file)?;
                while let Some(block) = blocks.next_block()? {
                    for (_, line) in block.lines() {
                        let classes: Vec<&str> =
                            line.split_ascii_whitespace().map(|w| class.get(w).copied().unwrap_or(OTHERS)).collect();
                        writeln!(out, "{}", classes.join(" ")).map_err(|e| Error::io(name, e))?;
                    }
                }
            }
            out.commit()?;
        }
        crate::cli::say!("weft: {} words; ln-likelihood of class pairs {:.4} a word", done.words.len(), done.gain);
        Ok(Status::Done)
    }
}
