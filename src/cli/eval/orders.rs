//! What `kendall` and `crossing` share: orders of source words and word alignments, sentence by sentence.

use clap::Args;
use rayon::prelude::*;

use crate::cli::env::Status;
use crate::cli::lm::with_threads;
use crate::error::{Error, Result};
use crate::eval::corpus::Sentences;
use crate::eval::order;
use crate::format::io;
use crate::text::align::{self, Link};

#[derive(Args, Debug)]
pub struct Orders {
    /// A permutation a line: the source positions, from 0, in their new order (`-` or nothing: standard input)
    #[arg(value_name = "PERMUTATIONS", default_value = "-", hide_default_value = true)]
    file: String,
    /// Word alignments, Pharaoh links such as 0-1, source before target
    #[arg(long, value_name = "FILE")]
    align: String,
    /// PERMUTATIONS is source text, and the order it has is judged
    #[arg(long)]
    identity: bool,
    /// A JSON object, the score in full precision
    #[arg(long)]
    pub json: bool,
    /// A score for every sentence
    #[arg(long, aliases = ["sl"])]
    pub sentence_level: bool,
    /// Digits behind the point
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(0..=20))]
    pub width: u8,
    /// Output file (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: String,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

impl Orders {
    /// Gives `score` the order and the links of every sentence, and writes the text that `show` makes of what it said.
    pub fn run<T: Send>(
        &self,
        score: impl Fn(&[u32], &[Link]) -> T + Sync,
        show: impl FnOnce(&[T]) -> String + Send,
    ) -> Result<Status> {
        if io::is_stdio(&self.file) && io::is_stdio(&self.align) {
            return Err(Error::usage("the orders and the alignments cannot both come from standard input"));
        }
        let text = with_threads(self.threads, || {
            let orders = Sentences::read(&self.file)?;
            let links = Sentences::read(&self.align)?;
            orders.check_len(&links)?;
            let scores: Vec<Result<T>> = (0..orders.len())
                .into_par_iter()
                .map_init(
                    || (vec![], vec![]),
                    |(order, list), i| {
                        if self.identity {
                            order.clear();
                            order.extend(0..align::words(orders.get(i)).count() as u32);
                        } else {
                            order::parse_order((&orders.file, i + 1), orders.get(i), order)?;
                        }
                        order::parse_links((&links.file, i + 1), links.get(i), order.len(), list)?;
                        Ok(score(order, list))
                    },
                )
                .collect();
            Ok(show(&scores.into_iter().collect::<Result<Vec<T>>>()?))
        })?;
        io::create(&self.output)?.write_and_commit(text.as_bytes())?;
        Ok(Status::Done)
    }
}
