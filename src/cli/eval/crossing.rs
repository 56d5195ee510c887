//! `weft eval crossing`: crossing links of orders.

use clap::Args;
use serde_json::json;

use super::orders::Orders;
use crate::cli::env::Status;
use crate::error::Result;
use crate::eval::order::crossing;

/// Crossing links of source orders, and the percentage they are of those in the original order (Jehl et al. 2014)
#[derive(Args, Debug)]
#[command(
    after_help = "Two links cross if the source word of the one stands before that of the other, and their target words the other way round.\n\n\
                  With --json: an object with `name`, `score` (the mean over sentences, full precision), `percent` (of the links that\n\
                  cross in the original order), `sentences`, `total` and `original`; with --sentence-level one a line.\n\n\
                  Examples:\n  weft eval crossing --align train.align orders.txt\n  \
                  weft eval crossing --align train.align --identity train.en"
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
            |order, links| {
                let original: Vec<u32> = (0..order.len() as u32).collect();
                (crossing(order, links), crossing(&original, links))
            },
            |all: &[(u64, u64)]| {
                if sentence_level {
                    let line = |(i, (new, old)): (usize, &(u64, u64))| match json {
                        true => json!({"sentence": i + 1, "score": new, "original": old}).to_string(),
                        false => new.to_string(),
                    };
                    return all.iter().enumerate().map(|c| line(c) + "\n").collect();
                }
                let (new, old) = all.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
                let mean = |links: u64| links as f64 / all.len() as f64;
                let percent = (old > 0).then(|| 100.0 * new as f64 / old as f64);
                if json {
                    let object = json!({
                        "name": "crossing links", "score": mean(new), "percent": percent,
                        "sentences": all.len(), "total": new, "original": old,
                    });
                    return format!("{object:#}\n");
                }
                let share = percent.map_or("-".to_string(), |p| format!("{p:.1} %"));
                let (score, before) = (mean(new), mean(old));
                format!(
                    "crossing links = {score:.width$} a sentence ({} sentences; {share} of {before:.width$} in the original order)\n",
                    all.len()
                )
            },
        )
    }
}
