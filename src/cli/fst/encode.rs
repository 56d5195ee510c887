use clap::Args;

use super::io::distinct;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::fst::encode::{EncodeTable, decode, encode};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Weight;
use crate::map_fst;

/// Encode labels and weights into single labels, or decode them
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst encode --encode-labels --encode-weights a.fst codex coded.fst\n  \
                  weft fst encode --decode coded.fst codex decoded.fst")]
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
    /// Input automaton (`-`: standard input)
    #[arg(value_name = "IN")]
    input: String,
    /// File of the codes: written, or read to decode
    #[arg(value_name = "CODEX")]
    codex: String,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Cmd {
    fn go<W: Weight>(&self, env: &mut dyn Env, fst: FlatFst<W>) -> Result<FlatFst<W>> {
        if self.decode {
            return decode(fst, &EncodeTable::read(&env.path(&self.codex)?)?);
        }
        let mut table = if self.encode_reuse {
            EncodeTable::read(&env.path(&self.codex)?)?
        } else {
            EncodeTable::new(self.encode_labels, self.encode_weights)
        };
        let coded = encode(&fst, &mut table);
        env.text(Some(&self.codex), &mut |mut out| table.write_to(&mut out).map_err(|e| Error::io(&self.codex, e)))?;
        Ok(coded)
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        if !self.decode {
            distinct(&[Some(&self.codex), self.output.as_deref().or(self.out.as_deref())])?;
        }
        let fst = env.take(Some(&self.input))?;
        let result = map_fst!(fst, f => self.go(env, f))?;
        env.put(self.output.as_deref().or(self.out.as_deref()), result)?;
        Ok(Status::Done)
    }
}
