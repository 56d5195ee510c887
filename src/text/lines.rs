//! Text files in blocks of whole lines, for work that is done in parallel and written in order.
//!
//! A block costs its bytes; what is not UTF-8 is an error with its line and column. gz and zstd are taken off.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::format::blocks::ByteBlocks;
use crate::format::io;

/// Some whole lines of a file.
pub struct Block {
    pub file: Arc<str>,
    /// The number of the first line, from 1.
    pub line: usize,
    pub text: String,
}

impl Block {
    /// The lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, text)| (self.line + i, text))
    }
}

/// Reads a file block by block.
pub struct Blocks {
    bytes: ByteBlocks,
    file: Arc<str>,
}

impl Blocks {
    pub fn open(name: &str) -> Result<Self> {
        Ok(Self::new(io::open(name)?))
    }

    pub fn new(input: io::Input) -> Self {
        let file = Arc::from(input.name.as_str());
        Blocks { bytes: ByteBlocks::new(input), file }
    }

    /// The next lines, none at the end.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        let Some((line, text)) = self.bytes.next_block()? else { return Ok(None) };
        match String::from_utf8(text) {
            Ok(text) => Ok(Some(Block { file: self.file.clone(), line, text })),
            Err(e) => Err(not_utf8(&self.file, line, e.as_bytes(), e.utf8_error().valid_up_to())),
        }
    }

    /// Gives every block to `work`, many at a time, and what it made to `sink`, in order.
    pub fn work<T: Send>(
        mut self,
        work: impl Fn(&Block) -> Result<T> + Sync,
        sink: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        in_batches(|| self.next_block(), work, sink)
    }
}

/// Gives what `next` reads to `work`, many at a time and while more is read, and what it made to `sink`, in order.
pub fn in_batches<B: Send + Sync, T: Send>(
    mut next: impl FnMut() -> Result<Option<B>> + Send,
    work: impl Fn(&B) -> Result<T> + Sync,
    mut sink: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let most = 2 * rayon::current_num_threads();
    let mut take = || -> Result<Vec<B>> {
        let mut blocks = vec![];
        while blocks.len() < most
            && let Some(block) = next()?
        {
            blocks.push(block);
        }
        Ok(blocks)
    };
    let mut batch = take()?;
    while !batch.is_empty() {
        let (done, more) = rayon::join(|| batch.par_iter().map(&work).collect::<Vec<Result<T>>>(), &mut take);
        for made in done {
            sink(made?)?;
        }
        batch = more?;
    }
    Ok(())
}

/// The error of text that is good up to `good`; `line` is the number of its first line.
pub fn not_utf8(file: &str, line: usize, text: &[u8], good: usize) -> Error {
    let good = &text[..good];
    let start = memchr::memrchr(b'\n', good).map_or(0, |i| i + 1);
    let column = String::from_utf8_lossy(&good[start..]).chars().count() + 1;
    Error::text(file, line + memchr::memchr_iter(b'\n', good).count(), column, "not UTF-8 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_through_all_blocks() {
        let text: String = (1..200_000).map(|i| format!("line {i}\n")).collect();
        let blocks = Blocks::new(io::from_bytes("t", text.clone().into_bytes()).unwrap());
        let mut all = String::new();
        blocks
            .work(
                |block| {
                    assert!(block.lines().all(|(n, text)| text == format!("line {n}")));
                    Ok(block.text.clone())
                },
                |t| {
                    all.push_str(&t);
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(all, text);
    }

    #[test]
    fn bad_bytes_have_a_place() {
        let mut blocks = Blocks::new(io::from_bytes("t", b"a\n\xc3\xa9\xff\n".to_vec()).unwrap());
        assert_eq!(blocks.next_block().err().unwrap().to_string(), "t:2:2: not UTF-8 text");
    }
}
