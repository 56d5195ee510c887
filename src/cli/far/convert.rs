use clap::Args;

use super::FarKind;
use crate::cli::env::Status;
use crate::error::Result;
use crate::format::binary::Container;
use crate::format::far::{FarReader, FarWriter};

/// Write an archive as another kind of archive, or its automata in another container
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far convert --far-type stlist --fst-type const s.far list.far")]
pub struct Cmd {
    /// Kind of archive: sttable, stlist, fst (one automaton without any), or default, that of IN
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    far_type: FarKind,
    /// Container of the automata (default: those of IN)
    #[arg(long, value_enum)]
    fst_type: Option<Container>,
    /// The archive (`-` or nothing: standard input)
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true)]
    input: String,
    /// The archive to write (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut from = FarReader::open(&self.input)?;
        let name = self.output.as_deref().or(self.out.as_deref()).unwrap_or("-");
        let mut to = FarWriter::create(name, self.far_type.or(from.far_type(), name))?;
        while let Some(entry) = from.next_entry()? {
            to.add_as(&entry.key, &entry.fst, self.fst_type.unwrap_or(entry.header.container))?;
        }
        to.finish()?;
        Ok(Status::Done)
    }
}
