//! `weft eval kendall`: Kendall tau of orders.

use clap::Args;
use serde_json::json;

use super::orders::Orders;
use crate::cli::env::Status;
use crate::error::Result;
use crate::eval::order::{Kendall, gold};

/// Kendall tau of source orders against those that word alignments ask for (Stanojevic and Sima'an 2015)
#[derive(Args, Debug)]
#[command(
    after_help = "The right order is that of the average target positions; an unaligned word goes with its right neighbour. The score\n\
                  of a sentence is the share of pairs of words that stand in the right order; the corpus has the mean over sentences.\n\n\
                  With --json: an object with `name`, `score` (full precision), `sentences`, `wrong` and `pairs` (of all sentences), and\n\
                  `pair_score`, the share over the pairs of all sentences; with --sentence-level one a line.\n\n\
                  Examples:\n  weft eval kendall --align train.align orders.txt\n  \
                  weft eval kendall --align train.align --identity train.en"
)]
pub struct Cmd {
    #[command(flatten)]
    orders: Orders,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let Orders { json, sentence_level, width, .. } = self.orders;
        let width = width as usize;
        self.orders.run(
            |order, links| Kendall::of(order, &gold(links, order.len())),
            |all: &[Kendall]| {
                if sentence_level {
                    let line = |(i, k): (usize, &Kendall)| match json {
                        true => json!({"sentence": i + 1, "score": k.score(), "wrong": k.wrong, "pairs": k.pairs})
                            .to_string(),
                        false => format!("{:.width$}", k.score()),
                    };
                    return all.iter().enumerate().map(|k| line(k) + "\n").collect();
                }
                let mean = all.iter().map(Kendall::score).sum::<f64>() / all.len() as f64;
                let sum = |f: fn(&Kendall) -> u64| all.iter().map(f).sum::<u64>();
                let pairs = Kendall { wrong: sum(|k| k.wrong), pairs: sum(|k| k.pairs) };
                if json {
                    let object = json!({
                        "name": "Kendall tau", "score": mean, "sentences": all.len(),
                        "wrong": pairs.wrong, "pairs": pairs.pairs, "pair_score": pairs.score(),
                    });
                    return format!("{object:#}\n");
                }
                let share = format!("{:.width$}", pairs.score());
                format!("Kendall tau = {mean:.width$} ({} sentences; {share} of all pairs)\n", all.len())
            },
        )
    }
}
