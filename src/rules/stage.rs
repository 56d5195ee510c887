//! A reduce step: sorted lines in, groups of lines with the same beginning to a function, its lines out in order.
//!
//! Lines come from a `LineSorter` or from a stream that `LC_ALL=C sort` made. They are gathered to blocks of whole groups,
//! and blocks are worked on in parallel. A group is held in memory whole.

use std::sync::Arc;

use rayon::prelude::*;
use smallvec::SmallVec;

use super::sort::SortedLines;
use crate::error::{Error, Result};
use crate::text::lines::{self, Block, Blocks};

/// Bytes of a block, about: many groups.
const BLOCK: usize = 1 << 18;

/// Sorted lines.
pub enum Source {
    Sorted(SortedLines),
    /// Blocks of a stream, and what is left of the last one.
    Stream(Blocks, Option<(Block, usize)>),
}

impl Source {
    pub fn open(name: &str) -> Result<Self> {
        Ok(Source::Stream(Blocks::open(name)?, None))
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Source::Sorted(lines) => lines.next(out),
            Source::Stream(blocks, rest) => loop {
                if let Some((block, at)) = rest {
                    let text = &block.text.as_bytes()[*at..];
                    if !text.is_empty() {
                        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
                        out.extend_from_slice(&text[..end]);
                        out.push(b'\n');
                        *at += (end + 1).min(text.len());
                        return Ok(true);
                    }
                }
                let Some(block) = blocks.next_block()? else { return Ok(false) };
                *rest = Some((block, 0));
            },
        }
    }
}

/// Bytes of a line by which it belongs to a group.
pub type Key = fn(&str) -> &str;

/// Gives blocks of whole groups to `work`, in parallel, and what it made to `sink`, in order. `file` is the name for errors.
pub fn reduce<T: Send>(
    mut source: Source,
    file: &str,
    key: Key,
    work: impl Fn(&Block) -> Result<T> + Sync,
    mut sink: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut cutter = Cutter { file: Arc::from(file), key, next: vec![], line: 1 };
    let most = 4 * rayon::current_num_threads();
    let mut batch = cutter.blocks(&mut source, most)?;
    while !batch.is_empty() {
        let (done, next) = rayon::join(
            || batch.par_iter().map(&work).collect::<Vec<Result<T>>>(),
            || cutter.blocks(&mut source, most),
        );
        for made in done {
            sink(made?)?;
        }
        batch = next?;
    }
    Ok(())
}

struct Cutter {
    file: Arc<str>,
    key: Key,
    /// The first line of the next block.
    next: Vec<u8>,
    line: usize,
}

impl Cutter {
    fn blocks(&mut self, source: &mut Source, most: usize) -> Result<Vec<Block>> {
        let mut blocks = vec![];
        while blocks.len() < most {
            let bytes = self.block(source)?;
            if bytes.is_empty() {
                break;
            }
            let line = self.line;
            self.line += memchr::memchr_iter(b'\n', &bytes).count();
            let text = String::from_utf8(bytes)
                .map_err(|e| lines::not_utf8(&self.file, line, e.as_bytes(), e.utf8_error().valid_up_to()))?;
            blocks.push(Block { file: self.file.clone(), line, text });
        }
        Ok(blocks)
    }

    fn block(&mut self, source: &mut Source) -> Result<Vec<u8>> {
        let mut text = std::mem::take(&mut self.next);
        let mut last = 0;
        loop {
            let start = text.len();
            if !source.next(&mut text)? {
                return Ok(text);
            }
            if text.len() >= BLOCK && start > 0 {
                let same = match (line_text(&text[last..]), line_text(&text[start..])) {
                    (Some(a), Some(b)) => (self.key)(a) == (self.key)(b),
                    // What is not UTF-8 is told by who makes the block.
                    _ => false,
                };
                if !same {
                    self.next = text.split_off(start);
                    return Ok(text);
                }
            }
            last = start;
        }
    }
}

/// The first line of some bytes.
fn line_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(&bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())]).ok()
}

/// The groups of a block: the number of the first line, and all lines.
pub fn groups(block: &Block, key: Key) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let mut lines = block.lines().peekable();
    std::iter::from_fn(move || {
        let (number, first) = lines.next()?;
        let mut group = vec![first];
        let begin = key(first);
        while let Some((_, line)) = lines.next_if(|(_, line)| has_key(line, begin)) {
            group.push(line);
        }
        Some((number, group))
    })
}

/// True if the line has this key of another line.
pub fn has_key(line: &str, key: &str) -> bool {
    line.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Where the `|||` of a line stand.
pub fn separators(line: &str) -> SmallVec<[usize; 5]> {
    let bytes = line.as_bytes();
    let blank = |i: usize| bytes.get(i).is_none_or(|&b| b == b' ');
    let alone = |i: usize| bytes[i..].starts_with(b"|||") && (i == 0 || blank(i - 1)) && blank(i + 3);
    memchr::memchr_iter(b'|', bytes).filter(|&i| alone(i)).collect()
}

/// What stands up to the `count`-th `|||`, that included: such keys have the order of the lines, for `a |||` comes after
/// `a b |||`.
fn upto(line: &str, count: usize) -> &str {
    separators(line).get(count - 1).map_or(line, |&end| &line[..end + 3])
}

/// Left side and source.
pub fn source_key(line: &str) -> &str {
    upto(line, 2)
}

/// Left side, source and target.
pub fn rule_key(line: &str) -> &str {
    upto(line, 3)
}

/// The first field: the target of a rule turned round.
pub fn first_key(line: &str) -> &str {
    upto(line, 1)
}

/// The error of a stream that is not sorted.
pub fn unsorted(block: &Block, line: usize) -> Error {
    Error::text(&block.file, line, 1, "the lines are not sorted; sort them with LC_ALL=C sort")
}
