use clap::Args;

use super::FarKind;
use crate::cli::env::Status;
use crate::cli::fst::io::distinct;
use crate::error::{Error, Result};
use crate::format::far::{Entry, FarReader, FarWriter};
use crate::format::io;
use crate::fst::any::{AnyFst, mixed};
use crate::fst::encode::{EncodeTable, decode, encode};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::{Tropical, Weight};

/// Encode the labels and weights of all the automata of an archive with one table of codes, or decode them
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far encode --encode-labels --encode-weights s.far codex coded.far\n  \
                  weft far encode --decode coded.far codex decoded.far")]
pub struct Cmd {
    /// Decode with the codes in CODEX
    #[arg(long)]
    decode: bool,
    /// Encode output labels together with input labels
    #[arg(long)]
    encode_labels: bool,
    /// Encode weights
    #[arg(long)]
    encode_weights: bool,
    /// Go on with the codes that are in CODEX, and with what it encodes
    #[arg(long)]
    encode_reuse: bool,
    /// Kind of archive to write
    #[arg(long, value_enum, default_value_t)]
    far_type: FarKind,
    /// The archive (`-`: standard input)
    #[arg(value_name = "IN")]
    input: String,
    /// File of the codes: written, or read to decode
    #[arg(value_name = "CODEX")]
    codex: String,
    /// The archive to write (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let name = self.output.as_deref().or(self.out.as_deref()).unwrap_or("-");
        if !self.decode {
            distinct(&[Some(&self.codex), Some(name)])?;
        }
        let mut from = FarReader::open(&self.input)?;
        let to = FarWriter::create(name, self.far_type.for_output(name))?;
        let first = from.next_entry()?;
        match first.as_ref().map(|entry| &entry.fst) {
            None => self.go::<Tropical>(first, from, to, |_| None),
            Some(AnyFst::Standard(_)) => {
                self.go(first, from, to, |fst| if let AnyFst::Standard(f) = fst { Some(f) } else { None })
            }
            Some(AnyFst::Log(_)) => {
                self.go(first, from, to, |fst| if let AnyFst::Log(f) = fst { Some(f) } else { None })
            }
            Some(AnyFst::Log64(_)) => {
                self.go(first, from, to, |fst| if let AnyFst::Log64(f) = fst { Some(f) } else { None })
            }
        }
    }

    fn go<W: Weight>(
        &self,
        mut next: Option<Entry>,
        mut from: FarReader,
        mut to: FarWriter,
        of_type: impl Fn(AnyFst) -> Option<FlatFst<W>>,
    ) -> Result<Status>
    where
        AnyFst: From<FlatFst<W>>,
    {
        let mut table = if self.decode || self.encode_reuse {
            EncodeTable::<W>::read(&self.codex)?
        } else {
            EncodeTable::new(self.encode_labels, self.encode_weights)
        };
        while let Some(Entry { key, fst, .. }) = next {
            let arc_type = fst.arc_type();
            let Some(fst) = of_type(fst) else { return Err(mixed("far encode", W::ARC_TYPE, arc_type)) };
            let result = if self.decode { decode(fst, &table)? } else { encode(&fst, &mut table) };
            to.add(&key, &result.into())?;
            next = from.next_entry()?;
        }
        if !self.decode {
            let mut out = io::create(&self.codex)?;
            table.write_to(&mut out).map_err(|e| Error::io(&self.codex, e))?;
            out.commit()?;
        }
        to.finish()?;
        Ok(Status::Done)
    }
}
