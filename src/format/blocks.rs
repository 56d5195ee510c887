//! A file in blocks of whole lines, as bytes: what readers of large text that work in parallel begin with.
//!
//! gz and zstd are taken off. A line that is longer than a block makes its block longer; nothing is ever cut.

use std::io::Read;

use super::io;
use crate::error::Result;

/// Bytes of a block, about.
pub const BLOCK: usize = 1 << 20;

pub struct ByteBlocks {
    input: io::Input,
    line: usize,
    /// Bytes read.
    at: u64,
    /// The beginning of a line whose end was not read.
    rest: Vec<u8>,
}

impl ByteBlocks {
    pub fn new(input: io::Input) -> Self {
        ByteBlocks { input, line: 1, at: 0, rest: vec![] }
    }

    /// The file, for messages.
    pub fn name(&self) -> &str {
        &self.input.name
    }

    /// The next lines and the number of the first of them, from 1; none at the end.
    pub fn next_block(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        let mut text = std::mem::take(&mut self.rest);
        loop {
            let had = text.len();
            let got = self.input.reader.by_ref().take(BLOCK as u64).read_to_end(&mut text);
            let got = got.map_err(|e| io::read_error(&self.input.name, self.at + (text.len() - had) as u64, e))?;
            self.at += got as u64;
            if got == 0 {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[had..]) {
                self.rest = text.split_off(had + end + 1);
                break;
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &text).count();
        Ok(Some((line, text)))
    }
}
