//! `weft rules`: translation rules, one file a command.

mod convert;
mod extract;
mod filter;
mod lexicon;
mod patterns;
mod score;
mod shallow;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::env::Status;
use super::memory::memory_size;
use crate::error::Result;
use crate::rules::pipeline::{Room, Summary};

#[derive(Args, Debug)]
#[command(
    after_help = "Rules are lines of text; weft's own form is cdec's, `[X] ||| a [X,1] b ||| c [X,1] d ||| EgivenF=1.2 ||| 0-0 2-2`, \
                  with costs: lower is better. `convert` reads and writes the forms of Joshua, Moses and HiFST.\n\n\
                  Examples:\n  weft rules extract --hiero train.en train.ja train.align -o rules.gz\n  \
                  weft rules filter --input test.en --top 20 rules.gz -o test.rules.gz\n  \
                  weft rules shallow --n 1 test.rules.gz -o shallow.gz"
)]
pub struct RulesArgs {
    #[command(subcommand)]
    command: RulesCommand,
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant)] // one value a process
enum RulesCommand {
    Extract(extract::Cmd),
    Lexicon(lexicon::Cmd),
    Score(score::Cmd),
    Filter(filter::Cmd),
    Patterns(patterns::Cmd),
    Convert(convert::Cmd),
    Shallow(shallow::Cmd),
}

impl RulesArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            RulesCommand::Extract(c) => c.run(),
            RulesCommand::Lexicon(c) => c.run(),
            RulesCommand::Score(c) => c.run(),
            RulesCommand::Filter(c) => c.run(),
            RulesCommand::Patterns(c) => c.run(),
            RulesCommand::Convert(c) => c.run(),
            RulesCommand::Shallow(c) => c.run(),
        }
    }
}

/// Options of commands that sort.
#[derive(Args, Debug)]
struct RoomArgs {
    /// Memory to sort in: 500M, 4G, 50%; what does not fit goes through temporary files
    #[arg(long, value_name = "SIZE", default_value = "50%")]
    memory: String,
    /// Folder of temporary files
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
}

impl RoomArgs {
    fn room(&self) -> Result<Room> {
        let temp = self.temp.clone().unwrap_or_else(std::env::temp_dir);
        Ok(Room { memory: memory_size("--memory", &self.memory)?, temp })
    }
}

/// Says what was passed over.
fn tell(summary: &Summary) {
    if summary.empty > 0 {
        crate::cli::say!(
            "weft: note: {} of {} pairs have an empty side and were passed over",
            summary.empty,
            summary.pairs
        );
    }
    if summary.unwritable > 0 {
        crate::cli::say!(
            "weft: note: {} of {} pairs have a word that reads as a part of a rule (such as ||| or [X,1]) and were passed over",
            summary.unwritable,
            summary.pairs
        );
    }
}
