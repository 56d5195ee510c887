//! `weft lm info`: what is in a model.

use std::io::Write;

use clap::Args;

use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::io;
use crate::lm::binary;

/// Shows the order, the number of n-grams and states, and the size of a model
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft lm info lm.arpa")]
pub struct Cmd {
    /// Model: ARPA, or made by `weft lm compile`
    model: String,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// Compare the checksum of a binary model's data (done at every use for files below 32 MB)
    #[arg(long)]
    check: bool,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let model = binary::load(&self.model)?;
        if self.check {
            model.block().check(&self.model)?;
        }
        let (bytes, states) = (model.block().bytes().len(), model.num_states());
        let (words, counts) = (model.vocab().len(), model.counts());
        let unknown = model.header().has_unknown == 1;
        let mut out = io::create("-")?;
        let written = if self.json {
            let object = serde_json::json!({
                "order": model.order(), "ngrams": counts, "words": words, "states": states, "bytes": bytes,
                "unk": unknown, "mapped": model.block().is_mapped(),
            });
            writeln!(out, "{object}")
        } else {
            let mut text = format!("order\t{}\n", model.order());
            for (i, n) in counts.iter().enumerate() {
                text += &format!("{}-grams\t{n}\n", i + 1);
            }
            let unk = if unknown { "in the model" } else { "not in the model; scored as 1e-100" };
            let how = if model.block().is_mapped() { "mapped" } else { "in memory" };
            text += &format!("states\t{states}\n<unk>\t{unk}\nbytes\t{bytes} ({how})\n");
            if self.check {
                text += "checksum\tright\n";
            }
            out.write_all(text.as_bytes())
        };
        written.map_err(|e| Error::io("standard output", e))?;
        out.commit()?;
        Ok(Status::Done)
    }
}
