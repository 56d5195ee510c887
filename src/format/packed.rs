//! Large text outputs that are compressed on all cores: pieces are packed where they are made and written in order.
//!
//! A piece becomes a gzip member or a zstd frame; files of several of them are ordinary ones for every reader. The bytes
//! depend on where pieces are cut, not on who packed them.

use std::io::Write;

use super::io::{self, Output};
use crate::error::{Error, Result};

/// How pieces are packed: by the suffix of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Gz,
    Zstd,
}

impl Packing {
    /// The piece as it goes to the file.
    pub fn pack(self, text: Vec<u8>) -> Result<Vec<u8>> {
        if text.is_empty() {
            return Ok(text);
        }
        let packed = match self {
            Packing::Plain => return Ok(text),
            Packing::Gz => {
                let out = Vec::with_capacity(text.len() / 4);
                let mut gz = flate2::write::GzEncoder::new(out, flate2::Compression::new(4));
                gz.write_all(&text).and_then(|()| gz.finish())
            }
            Packing::Zstd => io::zstd_encoder(vec![]).and_then(|mut z| z.write_all(&text).and_then(|()| z.finish())),
        };
        packed.map_err(|e| Error::op("compress", e.to_string()))
    }
}

/// An output of packed pieces.
pub struct PackedOutput {
    output: Output,
    packing: Packing,
    empty: bool,
}

impl PackedOutput {
    /// Creates a file, or opens standard output for `-`.
    pub fn create(name: &str) -> Result<Self> {
        let packing = match name {
            _ if name.ends_with(".gz") => Packing::Gz,
            _ if name.ends_with(".zst") || name.ends_with(".zstd") => Packing::Zstd,
            _ => Packing::Plain,
        };
        Ok(PackedOutput { output: io::create_as_is(name)?, packing, empty: true })
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Writes a piece that `Packing::pack` made.
    pub fn write(&mut self, packed: &[u8]) -> Result<()> {
        self.empty &= packed.is_empty();
        self.output.write_all(packed).map_err(|e| Error::io(self.output.name(), e))
    }

    /// Puts the file in place.
    pub fn commit(mut self) -> Result<()> {
        if self.empty && self.packing == Packing::Gz {
            // Nothing at all is not a gzip file.
            let gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
            let bytes = gz.finish().map_err(|e| Error::op("compress", e.to_string()))?;
            self.write(&bytes)?;
        }
        self.output.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_file() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst"] {
            let path = dir.path().join(name);
            let path = path.to_str().unwrap();
            for pieces in [&["one\n", "", "two\n"][..], &[]] {
                let mut out = PackedOutput::create(path).unwrap();
                for piece in pieces {
                    let packed = out.packing().pack(piece.as_bytes().to_vec()).unwrap();
                    out.write(&packed).unwrap();
                }
                out.commit().unwrap();
                assert_eq!(io::read_all(path).unwrap().1, pieces.concat().as_bytes(), "{name}");
            }
        }
    }
}
