//! Loading a model, whatever it is stored as: ARPA text or the binary of `lm compile`, plain or compressed.

use std::fs::File;
use std::io::{BufRead, Read};

use super::layout::{Block, MAGIC};
use super::{NgramModel, arpa};
use crate::error::{Error, Result};
use crate::format::io;

/// Reads an ARPA file, or maps (if it can) a file made by `lm compile`; `-` is standard input.
pub fn load(name: &str) -> Result<NgramModel> {
    if is_plain_binary(name) {
        return NgramModel::open(name, Block::map(name)?);
    }
    let mut input = io::open(name)?;
    let head = input.reader.fill_buf().map_err(|e| Error::io(&input.name, e))?;
    if head.starts_with(&MAGIC) {
        let block = Block::read(&input.name, &mut input.reader)?;
        return NgramModel::open(&input.name, block);
    }
    if let Some((_, what)) = STRANGERS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(Error::binary(
            &input.name,
            0,
            format!("{what}; expected an ARPA file or one of `weft lm compile`"),
        ));
    }
    arpa::read_from(input)
}

/// First bytes of files that are taken for models by mistake.
const STRANGERS: [(&[u8], &str); 2] =
    [(b"mmap lm http", "a binary model of KenLM"), (&[0xd6, 0xfd, 0xb2, 0x7e], "an automaton")];

/// A file that can be mapped as it is. Whatever goes wrong here is said by `io::open`.
fn is_plain_binary(name: &str) -> bool {
    let mut magic = [0; MAGIC.len()];
    !io::is_stdio(name)
        && File::open(name).is_ok_and(|mut f| {
            f.metadata().is_ok_and(|m| m.is_file()) && f.read_exact(&mut magic).is_ok() && magic == MAGIC
        })
}

/// Writes the binary form of a model.
pub fn write(name: &str, model: &NgramModel) -> Result<()> {
    let mut out = io::create(name)?;
    model.block().write(&mut out).map_err(|e| Error::io(name, e))?;
    out.commit()
}
