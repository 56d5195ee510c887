//! Aligned corpora: a source text, a target text and word alignments, line by line; or one stream of
//! `source<TAB>target<TAB>links` lines, as `paste source target links` makes it.
//!
//! Files must have the same number of lines. Pairs come in blocks that are worked on in parallel.

use std::io::BufRead;
use std::sync::Arc;

use super::align::{self, Link};
use super::lines;
use crate::error::{Error, Result};
use crate::format::io;

/// Pairs of a block.
const BLOCK: usize = 256;

/// Where pairs come from.
pub enum Corpus {
    /// Source, target, links.
    Files(Box<[Lines; 3]>),
    /// Three columns.
    Stream(Lines),
}

/// Some pairs: lines of text, three a pair.
pub struct Pairs {
    /// The files of the three parts; the same thrice for a stream.
    files: [Arc<str>; 3],
    /// The line number of the first pair.
    line: usize,
    text: String,
    /// Where the parts of all pairs end in `text`.
    ends: Vec<usize>,
    stream: bool,
}

/// A pair of sentences with its links.
pub struct Pair<'a> {
    pub source: &'a [&'a str],
    pub target: &'a [&'a str],
    pub links: &'a [Link],
}

/// A file line by line.
pub struct Lines {
    input: io::Input,
    file: Arc<str>,
    line: usize,
    bytes: Vec<u8>,
    at: u64,
}

impl Lines {
    pub fn open(name: &str) -> Result<Self> {
        let input = io::open(name)?;
        let file = Arc::from(input.name.as_str());
        Ok(Lines { input, file, line: 0, bytes: vec![], at: 0 })
    }

    /// Appends the next line without its end; false: there is none.
    fn next(&mut self, out: &mut String) -> Result<bool> {
        self.bytes.clear();
        let got = self.input.reader.read_until(b'\n', &mut self.bytes);
        let got = got.map_err(|e| io::read_error(&self.file, self.at, e))?;
        self.at += got as u64;
        if got == 0 {
            return Ok(false);
        }
        self.line += 1;
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => out.push_str(text),
            Err(e) => return Err(lines::not_utf8(&self.file, self.line, &self.bytes, e.valid_up_to())),
        }
        Ok(true)
    }
}

impl Corpus {
    pub fn open(source: &str, target: &str, links: &str) -> Result<Self> {
        Ok(Corpus::Files(Box::new([Lines::open(source)?, Lines::open(target)?, Lines::open(links)?])))
    }

    pub fn stream(name: &str) -> Result<Self> {
        Ok(Corpus::Stream(Lines::open(name)?))
    }

    /// The next pairs; none at the end.
    fn next(&mut self) -> Result<Option<Pairs>> {
        let (files, line, stream) = match self {
            Corpus::Files(f) => ([f[0].file.clone(), f[1].file.clone(), f[2].file.clone()], f[0].line, false),
            Corpus::Stream(f) => ([f.file.clone(), f.file.clone(), f.file.clone()], f.line, true),
        };
        let mut pairs = Pairs { files, line: line + 1, text: String::new(), ends: vec![], stream };
        while pairs.ends.len() < BLOCK * 3 && self.pair(&mut pairs)? {}
        Ok((!pairs.ends.is_empty()).then_some(pairs))
    }

    fn pair(&mut self, pairs: &mut Pairs) -> Result<bool> {
        match self {
            Corpus::Files(files) => {
                let mut there = [false; 3];
                for (file, there) in files.iter_mut().zip(&mut there) {
                    *there = file.next(&mut pairs.text)?;
                    pairs.ends.push(pairs.text.len());
                }
                if there == [true; 3] {
                    return Ok(true);
                }
                pairs.ends.truncate(pairs.ends.len() - 3);
                let (Some(short), Some(long)) = (there.iter().position(|t| !t), there.iter().position(|&t| t)) else {
                    return Ok(false);
                };
                let (short, long) = (&files[short], &files[long]);
                let message = format!("the file ends after {} lines, but {} goes on", short.line, long.file);
                Err(Error::text(&short.file, short.line + 1, 1, message))
            }
            Corpus::Stream(file) => {
                let start = pairs.text.len();
                if !file.next(&mut pairs.text)? {
                    return Ok(false);
                }
                let line = &pairs.text[start..];
                let tabs: Vec<usize> = memchr::memchr_iter(b'\t', line.as_bytes()).take(3).collect();
                if tabs.len() != 2 {
                    let at = tabs.get(2).copied().unwrap_or(line.len());
                    let column = line[..at].chars().count() + 1;
                    let message = "expected three columns, source<TAB>target<TAB>links";
                    return Err(Error::text(&file.file, file.line, column, message));
                }
                pairs.ends.extend([start + tabs[0], start + tabs[1] + 1, pairs.text.len()]);
                Ok(true)
            }
        }
    }

    /// Gives blocks of pairs to `work`, many at a time, and what it made to `sink`, in order.
    pub fn work<T: Send>(
        mut self,
        work: impl Fn(&Pairs) -> Result<T> + Sync,
        sink: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        lines::in_batches(|| self.next(), work, sink)
    }
}

impl Pairs {
    pub fn len(&self) -> usize {
        self.ends.len() / 3
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Calls `each` for every pair. Pairs with an empty side, and those with more words than links can name, are passed
    /// over; says how many.
    pub fn each<'a>(&'a self, mut each: impl FnMut(&Pair) -> Result<()>) -> Result<usize> {
        let (mut source, mut target): (Vec<&'a str>, Vec<&'a str>) = (vec![], vec![]);
        let mut links = vec![];
        let mut skipped = 0;
        for i in 0..self.len() {
            let part = |k: usize| {
                let at = 3 * i + k;
                &self.text[if at == 0 { 0 } else { self.ends[at - 1] }..self.ends[at]]
            };
            source.clear();
            source.extend(align::words(part(0)));
            target.clear();
            target.extend(align::words(part(1)));
            let size = (source.len(), target.len());
            if let Err(e) = align::parse((&self.files[2], self.line + i), part(2), size, &mut links) {
                return Err(self.shift(e, &[part(0), part(1)]));
            }
            if size.0.min(size.1) == 0 || size.0.max(size.1) > align::MAX_WORDS {
                skipped += 1;
                continue;
            }
            each(&Pair { source: &source, target: &target, links: &links })?;
        }
        Ok(skipped)
    }

    /// The links of a stream stand behind the other columns.
    fn shift(&self, error: Error, before: &[&str]) -> Error {
        match error {
            Error::Text { file, line, column, message } if self.stream => {
                let column = column + before.iter().map(|t| t.chars().count()).sum::<usize>();
                Error::Text { file, line, column, message }
            }
            other => other,
        }
    }
}
