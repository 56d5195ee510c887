use clap::Args;

use super::{FarKind, Gather, Keys, base_name, digits};
use crate::cli::env::Status;
use crate::error::Result;
use crate::format::far::FarWriter;
use crate::format::folder::Folder;
use crate::format::{binary, io};

/// Put automata into an archive
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far create --generate-keys 4 a.fst b.fst both.far")]
pub struct Cmd {
    /// Kind of archive
    #[arg(long, value_enum, default_value_t)]
    far_type: FarKind,
    #[command(flatten)]
    keys: Keys,
    #[command(flatten)]
    files: Gather,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let (inputs, output) = self.files.files()?;
        let mut far = FarWriter::create(&output, self.far_type.for_output(&output))?;
        let mut folder = Folder::default();
        for (i, name) in inputs.iter().enumerate() {
            let (fst, header) = binary::read_input(io::open_in(&mut folder, name)?)?;
            let key = match self.keys.generate_keys {
                0 => base_name(name).to_string(),
                width => digits(i + 1, width),
            };
            far.add_as(&self.keys.wrap(&key), &fst, header.container)?;
        }
        far.finish()?;
        Ok(Status::Done)
    }
}
