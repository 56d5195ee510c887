//! `weft order phrases`: the phrases of many bags, found in one pass over a text.

use clap::Args;

use super::threads;
use crate::chart::bag::Bag;
use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::format::io;
use crate::order::Orders;
use crate::order::scan::Scanner;
use crate::order::table::{self, Phrases};
use crate::rules::pipeline;

/// Find the phrases of bags in a text: n-grams made of words of a bag
#[derive(Args, Debug)]
#[command(
    long_about = "Find the phrases of bags in a text: every n-gram that is made of words of a bag, each word at most as often as \
                  the bag has it, with its count.\n\n\
                  One pass over the text serves all bags. The result has lines `words<TAB>count`, sorted as LC_ALL=C sort \
                  does; it is the same for any number of threads. `weft order --phrases` gives each bag those it can use.",
    after_help = "On a cluster: --map over parts of the text, sort, --reduce over the sorted lines. The file is that of one call.\n\n\
                  Examples:\n  weft order phrases --text train.en --orders 1-5 test.bag -o phrases.gz\n  \
                  cat train.en | weft order phrases --map test.bag | LC_ALL=C sort | weft order phrases --reduce -o phrases2.gz\n  \
                  weft order phrases --text train.en --by-bag test.bag | head -n 3"
)]
pub struct Cmd {
    /// Bags of words, one a line; with --reduce, sorted lines (nothing: standard input)
    #[arg(value_name = "BAGS", default_value = "-", hide_default_value = true)]
    bags: String,
    /// Text to look in: plain, gz or zstd; may be given several times
    #[arg(long, value_name = "FILE")]
    text: Vec<String>,
    /// Lengths of phrases
    #[arg(long, value_name = "N-M", default_value = "1-5")]
    orders: String,
    /// The phrases to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// Do not count how often two words of a bag came in which order (lines `first <...> second<TAB>count`)
    #[arg(long)]
    no_pairs: bool,
    /// Write `bag<TAB>words<TAB>count`, the bag's number first
    #[arg(long)]
    by_bag: bool,
    /// Only the first step: the text comes from standard input, or from --text
    #[arg(long, conflicts_with_all = ["reduce", "by_bag"])]
    map: bool,
    /// Only the second step: counts of equal phrases are added up
    #[arg(long, conflicts_with = "by_bag")]
    reduce: bool,
    /// Print how many phrases bags of each size have
    #[arg(long)]
    stats: bool,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let orders = Orders::parse(&self.orders)?;
        if self.reduce {
            if !self.text.is_empty() {
                return Err(Error::usage("--reduce reads sorted lines, not --text"));
            }
            let work = || pipeline::reduce(&self.bags, table::words_of, table::combine, &self.output);
            with_threads(self.threads, work)?;
            return Ok(Status::Done);
        }
        let texts = match &self.text[..] {
            [] if self.map && !io::is_stdio(&self.bags) => vec!["-".to_string()],
            [] => {
                return Err(Error::usage("no text: name it with --text (with --map it may come from standard input)"));
            }
            texts => texts.to_vec(),
        };
        let (_, lines) = io::read_text(&self.bags)?;
        let bags = io::without_mark(&lines)
            .lines()
            .map(|l| Bag::new(l.split_ascii_whitespace()))
            .collect::<Result<Vec<_>>>()?;
        let bar = Bar::new();
        let begun = std::time::Instant::now();
        let scanned = Scanner::new(&bags, !self.no_pairs)?.scan(&texts, orders, threads(self.threads), &bar);
        bar.clear();
        let (table, seen) = scanned?;
        let seconds = begun.elapsed().as_secs_f64();
        let written = if self.by_bag {
            self.write_by_bag(&bags, &table, orders)?
        } else {
            with_threads(self.threads, || table.write(&self.output, orders))?
        };
        crate::cli::say!(
            "weft: {written} phrases of {} bags in {} words of {} sentences, {seconds:.1} s, {:.0} words a second",
            bags.len(),
            seen.words,
            seen.sentences,
            seen.words as f64 / seconds.max(1e-6)
        );
        if self.stats {
            print_stats(&bags, &table, orders);
        }
        Ok(Status::Done)
    }

    fn write_by_bag(&self, bags: &[Bag], table: &impl Phrases, orders: Orders) -> Result<usize> {
        use std::io::Write;
        let mut out = io::create(&self.output)?;
        let name = out.name().to_string();
        let mut written = 0;
        for (i, bag) in bags.iter().enumerate() {
            for (words, count) in table.phrases(bag, orders) {
                let words: Vec<&str> = words.iter().map(|&t| bag.words[t as usize].as_str()).collect();
                writeln!(out, "{}\t{}\t{count}", i + 1, words.join(" ")).map_err(|e| Error::io(&name, e))?;
                written += 1;
            }
        }
        out.commit()?;
        Ok(written)
    }
}

/// Phrases of a bag on average, by the bag's size (the data of the paper's Figure 5).
fn print_stats(bags: &[Bag], table: &impl Phrases, orders: Orders) {
    let mut sizes: std::collections::BTreeMap<usize, (usize, usize)> = Default::default();
    for bag in bags {
        let of = sizes.entry(bag.len()).or_default();
        of.0 += 1;
        of.1 += table.phrases(bag, orders).len();
    }
    crate::cli::say!("words\tbags\tphrases a bag");
    for (size, (bags, phrases)) in sizes {
        crate::cli::say!("{size}\t{bags}\t{:.1}", phrases as f64 / bags as f64);
    }
}
