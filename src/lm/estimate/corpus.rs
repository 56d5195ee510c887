//! Text as numbered words, in pieces that are read one after the other and cut into words in parallel.
//!
//! Words are what stands between blanks, tabs, carriage returns and zero bytes; a sentence is a line. The last line of a
//! file that has no newline is a sentence without an end, as for lmplz.

use super::vocabulary::{EOS, Words, hash};
use crate::error::{Error, Result};
use crate::format::blocks::{BLOCK, ByteBlocks};
use crate::format::io;

/// Memory for a piece that is counted while the next one is read, about: two texts, numbers and new words.
pub const IN_FLIGHT: usize = 4 * BLOCK;

/// Marks a number of `Tokens::fresh` in `Tokens::ids`.
pub const FRESH: u32 = 1 << 31;

/// Some whole lines of a file.
pub struct Piece {
    file: String,
    /// The number of the first line, from 1.
    line: usize,
    text: Vec<u8>,
}

impl Piece {
    pub fn len(&self) -> usize {
        self.text.len()
    }
}

/// Reads files one after the other.
pub struct Pieces<'a> {
    names: std::slice::Iter<'a, String>,
    input: Option<ByteBlocks>,
}

impl<'a> Pieces<'a> {
    pub fn new(names: &'a [String]) -> Self {
        Pieces { names: names.iter(), input: None }
    }

    /// The next pieces, `most` at most; none at the end.
    pub fn next(&mut self, most: usize) -> Result<Vec<Piece>> {
        let mut pieces = vec![];
        while pieces.len() < most {
            let Some(input) = &mut self.input else {
                let Some(name) = self.names.next() else { break };
                self.input = Some(ByteBlocks::new(io::open(name)?));
                continue;
            };
            match input.next_block()? {
                Some((line, text)) => pieces.push(Piece { file: input.name().to_string(), line, text }),
                None => self.input = None,
            }
        }
        Ok(pieces)
    }
}

/// A piece as numbers.
pub struct Tokens {
    /// Words, and `EOS` for the end of a line. Words that were not in the vocabulary are `FRESH + i`.
    pub ids: Vec<u32>,
    pub fresh: Words,
    /// A special word was left out.
    pub skipped: bool,
}

const fn blanks() -> [bool; 256] {
    let mut table = [false; 256];
    table[0] = true;
    table[b'\t' as usize] = true;
    table[b'\n' as usize] = true;
    table[b'\r' as usize] = true;
    table[b' ' as usize] = true;
    table
}
static BLANK: [bool; 256] = blanks();

/// Calls `each` with the start and the end of every word, and with an empty word for every newline.
#[inline]
pub fn split(text: &[u8], mut each: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
    let mut at = 0;
    while at < text.len() {
        let start = at;
        while at < text.len() && !BLANK[text[at] as usize] {
            at += 1;
        }
        if at > start {
            each(start, at)?;
        }
        if at < text.len() && text[at] == b'\n' {
            each(at, at)?;
        }
        at += 1;
    }
    Ok(())
}

impl Piece {
    /// Cuts it into words. A special word is an error or, with `skip`, nothing; a byte that is not UTF-8 is an error.
    pub fn tokens(&self, known: &Words, skip: bool) -> Result<Tokens> {
        let good = match std::str::from_utf8(&self.text) {
            Ok(_) => self.text.len(),
            Err(e) => e.valid_up_to(),
        };
        let mut tokens = Tokens { ids: Vec::with_capacity(good / 4), fresh: Words::empty(), skipped: false };
        split(&self.text[..good], |start, end| {
            let word = &self.text[start..end];
            if word.is_empty() {
                tokens.ids.push(EOS);
                return Ok(());
            }
            let code = hash(word);
            let id = match known.find(word, code) {
                Some(id) if id <= EOS => {
                    if !skip {
                        let word = String::from_utf8_lossy(word);
                        let why = format!("the special word {word} is in the text; --skip-symbols takes it as a blank");
                        return Err(self.error(start, why));
                    }
                    tokens.skipped = true;
                    return Ok(());
                }
                Some(id) => id,
                None => FRESH + tokens.fresh.add_hashed(word, code),
            };
            tokens.ids.push(id);
            Ok(())
        })?;
        if good < self.text.len() {
            return Err(self.error(good, "not UTF-8 text".into()));
        }
        Ok(tokens)
    }

    fn error(&self, at: usize, why: String) -> Error {
        let before = &self.text[..at];
        let line = self.line + memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        Error::text(&self.file, line, column, why)
    }
}
