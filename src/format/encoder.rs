//! OpenFst's encoder files: what the codes of `fst::encode` stand for.
//!
//! A magic number, the arc type, flags (labels, weights, symbol tables), the number of codes, the input label, output
//! label and weight of every code, and the symbol tables. O(codes).

use std::io::Write;
use std::sync::Arc as Shared;

use super::bytes::ByteSource;
use super::{io, symtab};
use crate::error::{Error, Result};
use crate::fst::encode::EncodeTable;
use crate::fst::flat::Label;
use crate::fst::semiring::Weight;

const MAGIC: i32 = 2128178506;
const LABELS: u8 = 1;
const WEIGHTS: u8 = 2;
const HAS_ISYMBOLS: u8 = 4;
const HAS_OSYMBOLS: u8 = 8;

impl<W: Weight> EncodeTable<W> {
    /// Reads OpenFst's encoder file.
    pub fn read(name: &str) -> Result<Self> {
        let mut source = ByteSource::new(io::open(name)?);
        let magic = source.i32("the encoder's magic number")?;
        if magic != MAGIC {
            return Err(source.error(format!("expected an encoder table (magic {MAGIC}), found {magic}")));
        }
        let arc_type = source.string("the encoder's arc type")?;
        if arc_type != W::ARC_TYPE {
            return Err(source.error(format!("the encoder is of arc type {arc_type}, the automaton {}", W::ARC_TYPE)));
        }
        let [flags] = source.take::<1>("the encoder's flags")?;
        let size = source.i64("the encoder's size")?;
        let count = u64::try_from(size).ok().filter(|&n| n < i32::MAX as u64);
        let Some(count) = count else { return Err(source.error(format!("an impossible number of codes, {size}"))) };
        let mut new = Self::new(flags & LABELS != 0, flags & WEIGHTS != 0);
        new.reserve(source.reservable(count, 8 + W::BYTES as u64));
        let mut twice = false;
        source.records(count, 8 + W::BYTES, "the encoder's codes", |r| {
            let label = |i: usize| Label::from_le_bytes([r[i], r[i + 1], r[i + 2], r[i + 3]]);
            let before = new.len();
            let code = new.code(label(0), label(4), W::read_le(&r[8..]));
            twice |= code as usize <= before;
        })?;
        if twice {
            return Err(source.error("two codes of the encoder stand for the same labels and weight"));
        }
        if new.triples().iter().any(|t| !t.2.is_member()) {
            return Err(source.error("a weight of the encoder is not a number"));
        }
        if flags & HAS_ISYMBOLS != 0 {
            new.isyms = Some(Shared::new(symtab::read_binary(&mut source)?));
        }
        if flags & HAS_OSYMBOLS != 0 {
            new.osyms = Some(Shared::new(symtab::read_binary(&mut source)?));
        }
        Ok(new)
    }

    /// Writes OpenFst's encoder file.
    pub fn write(&self, name: &str) -> Result<()> {
        let mut out = io::create(name)?;
        self.write_to(&mut out).map_err(|e| Error::io(name, e))?;
        out.commit()
    }
    pub fn write_to(&self, out: &mut impl Write) -> std::io::Result<()> {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        out.write_all(&MAGIC.to_le_bytes())?;
        out.write_all(&(W::ARC_TYPE.len() as i32).to_le_bytes())?;
        out.write_all(W::ARC_TYPE.as_bytes())?;
        let symbols = flag(self.isyms.is_some(), HAS_ISYMBOLS) | flag(self.osyms.is_some(), HAS_OSYMBOLS);
        out.write_all(&[flag(self.labels, LABELS) | flag(self.weights, WEIGHTS) | symbols])?;
        out.write_all(&(self.len() as i64).to_le_bytes())?;
        for t in self.triples() {
            let mut raw = [0u8; 16];
            raw[..4].copy_from_slice(&t.0.to_le_bytes());
            raw[4..8].copy_from_slice(&t.1.to_le_bytes());
            t.2.write_le(&mut raw[8..]);
            out.write_all(&raw[..8 + W::BYTES])?;
        }
        for table in [&self.isyms, &self.osyms].into_iter().flatten() {
            symtab::write_binary(out, table)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::encode::{decode, encode};
    use crate::fst::flat::{Arc, FlatFst};
    use crate::fst::semiring::{Log64, Tropical};

    #[test]
    fn there_and_back_and_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("codex");
        let name = name.to_str().unwrap();
        let sample = FlatFst::from_rows(
            0,
            vec![
                (Tropical(0.5), vec![Arc::new(1, 2, Tropical(1.0), 1), Arc::new(1, 2, Tropical(1.0), 0)]),
                (Tropical(3.0), vec![Arc::new(1, 3, Tropical(1.0), 1)]),
            ],
        );
        let mut table = EncodeTable::new(true, true);
        let coded = encode(&sample, &mut table);
        table.write(name).unwrap();
        let read = EncodeTable::read(name).unwrap();
        assert_eq!(decode(coded, &read).unwrap(), sample);
        assert!(EncodeTable::<Log64>::read(name).is_err());
        let bytes = std::fs::read(name).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(name, &bytes[..cut]).unwrap();
            assert!(EncodeTable::<Tropical>::read(name).is_err());
        }
    }
}
