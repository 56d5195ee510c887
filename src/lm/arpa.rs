//! The ARPA format, read: any order, blanks and tabs as they come, back-off weights where they are.
//!
//! Text before `\data\` is skipped, as the format allows. The counts must be true, every context of an n-gram must be
//! an n-gram itself, a probability must not be above one, and `\end\` must be there: a file that was cut off is noticed.
//! Sections of two words and more are parsed in parallel; nothing but the model itself is kept in memory.

use std::io::BufRead;

use rayon::prelude::*;

use super::build::{Builder, Entry};
use super::{NgramModel, WordId};
use crate::error::{Error, Result};
use crate::format::io::{self, Input};

/// N-gram lines that are parsed at a time.
const BLOCK_LINES: usize = 1 << 16;
/// N-gram lines that one thread parses in a row.
const PIECE_LINES: usize = 1 << 11;

pub fn read(name: &str) -> Result<NgramModel> {
    read_from(io::open(name)?)
}

pub fn read_from(input: Input) -> Result<NgramModel> {
    let mut lines = Lines { input, buffer: vec![], line: 0, bytes: 0 };
    let counts = header(&mut lines)?;
    let order = counts.len();
    let mut builder = Builder::new(order);
    for (i, &count) in counts.iter().enumerate() {
        let n = i + 1;
        expect_section(&mut lines, n)?;
        if n == 1 {
            unigrams(&mut lines, &mut builder, count, order)?;
        } else {
            ngrams(&mut lines, &mut builder, n, count, order)?;
        }
        builder.end_order();
    }
    match lines.next_filled()? {
        Some(l) if l == b"\\end\\" => {}
        Some(l) if l.starts_with(b"\\") => {
            let l = shown(l);
            return Err(lines.error(1, format!("expected \\end\\ after the {order}-grams, found {l}")));
        }
        Some(_) => {
            let count = counts[order - 1];
            return Err(lines.error(1, format!("more {order}-grams than the {count} that the header promises")));
        }
        None => return Err(lines.error(1, "the file ends without \\end\\: it is cut off")),
    }
    builder.finish(&lines.input.name)
}

/// The lines of a file, with their numbers.
struct Lines {
    input: Input,
    buffer: Vec<u8>,
    line: usize,
    bytes: u64,
}

impl Lines {
    /// Appends the next line to `buffer` and counts it; the number of its bytes, 0 at the end of the file.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<usize> {
        let n = self.input.reader.read_until(b'\n', buffer);
        let n = n.map_err(|e| io::read_error(&self.input.name, self.bytes, e))?;
        self.line += 1;
        self.bytes += n as u64;
        Ok(n)
    }
    /// The next line without its end, trimmed; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let read = self.read(&mut buffer);
        self.buffer = buffer;
        Ok((read? > 0).then(|| self.buffer.trim_ascii()))
    }
    /// The next line that is not blank.
    fn next_filled(&mut self) -> Result<Option<&[u8]>> {
        while let Some(blank) = self.next()?.map(<[u8]>::is_empty) {
            if !blank {
                return Ok(Some(self.buffer.trim_ascii()));
            }
        }
        Ok(None)
    }
    fn error(&self, column: usize, message: impl Into<String>) -> Error {
        Error::text(&self.input.name, self.line, column, message)
    }
}

/// A line as messages quote it.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let short: String = text.chars().take(60).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    // Headers begin with a backslash; doubled they would look wrong.
    format!("{short:?}{more}").replace("\\\\", "\\")
}

/// The counts of each order.
fn header(lines: &mut Lines) -> Result<Vec<u64>> {
    loop {
        match lines.next()? {
            None => {
                return Err(
                    lines.error(1, "not an ARPA file and not made by `weft lm compile`: there is no \\data\\ line")
                );
            }
            Some(line) if line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) == b"\\data\\" => break,
            Some(_) => {}
        }
    }
    let mut counts: Vec<u64> = vec![];
    loop {
        let line = lines.next()?;
        let Some(line) = line else { return Err(lines.error(1, "the file ends in its header")) };
        if line.is_empty() {
            if counts.is_empty() {
                continue;
            }
            return Ok(counts);
        }
        let parsed = line.strip_prefix(b"ngram").and_then(|rest| {
            let text = std::str::from_utf8(rest).ok()?;
            let (order, count) = text.split_once('=')?;
            Some((order.trim().parse::<usize>().ok()?, count.trim().parse::<u64>().ok()?))
        });
        match parsed {
            Some((order, count)) if order == counts.len() + 1 => counts.push(count),
            Some((order, _)) => {
                let want = counts.len() + 1;
                return Err(lines.error(1, format!("expected the count of {want}-grams, found that of {order}-grams")));
            }
            None => {
                let found = shown(line);
                return Err(
                    lines.error(1, format!("expected a count such as `ngram 1=5000` or a blank line, found {found}"))
                );
            }
        }
    }
}

fn expect_section(lines: &mut Lines, n: usize) -> Result<()> {
    let want = format!("\\{n}-grams:");
    match lines.next_filled()? {
        Some(l) if l == want.as_bytes() => Ok(()),
        Some(l) => {
            let found = shown(l);
            let more = if n > 1 && !l.starts_with(b"\\") {
                format!("; there are more {}-grams than the header promises", n - 1)
            } else {
                String::new()
            };
            Err(lines.error(1, format!("expected {want}, found {found}{more}")))
        }
        None => Err(lines.error(1, format!("expected {want}, found the end of the file: it is cut off"))),
    }
}

/// The error for a section that ends too soon.
fn too_few(lines: &Lines, n: usize, count: u64, found: u64, at_end: bool) -> Error {
    let what = if at_end { "the file ends: it is cut off" } else { "the section ends" };
    lines.error(1, format!("expected {count} {n}-grams as the header promises, but after {found} {what}"))
}

fn unigrams(lines: &mut Lines, builder: &mut Builder, count: u64, order: usize) -> Result<()> {
    for found in 0..count {
        let at_end = lines.next_filled()?.is_none();
        let line = lines.buffer.trim_ascii_end();
        if at_end || line.trim_ascii_start().starts_with(b"\\") && !line.contains(&b'\t') {
            return Err(too_few(lines, 1, count, found, at_end));
        }
        let fail = |(at, message): Bad| lines.error(column(&lines.buffer, at), message);
        let (log10, rest) = probability(line).map_err(fail)?;
        let (at, word) = token(line, rest).ok_or((line.len(), "expected a word".to_string())).map_err(fail)?;
        if std::str::from_utf8(word).is_err() {
            return Err(fail((at, "the word is not UTF-8 text".into())));
        }
        let backoff = backoff(line, at + word.len(), order == 1).map_err(fail)?;
        if !builder.add_unigram(word, log10, backoff) {
            return Err(fail((at, format!("the word {} is there twice", shown(word)))));
        }
    }
    Ok(())
}

fn ngrams(lines: &mut Lines, builder: &mut Builder, n: usize, count: u64, order: usize) -> Result<()> {
    let mut block = vec![];
    let mut ends: Vec<usize> = vec![];
    let mut found = 0;
    while found < count {
        block.clear();
        ends.clear();
        let first_line = lines.line + 1;
        let before = found;
        while found < count && found - before < BLOCK_LINES as u64 {
            let from = block.len();
            let length = lines.read(&mut block)?;
            let text = block[from..].trim_ascii();
            if length == 0 || text.starts_with(b"\\") {
                // What stands in the block may be what is wrong: it is looked at first.
                parse_block(&lines.input.name, builder, n, order, first_line, &block[..from], &ends)?;
                return Err(too_few(lines, n, count, found, length == 0));
            }
            found += u64::from(!text.is_empty());
            ends.push(block.len());
        }
        let entries = parse_block(&lines.input.name, builder, n, order, first_line, &block, &ends)?;
        if let Err(twice) = builder.add(n, &entries) {
            let words = builder.words(twice.context, twice.word);
            return Err(lines.error(1, format!("the {n}-gram {words:?} is there twice")));
        }
    }
    Ok(())
}

/// What is wrong and at which byte of the line.
type Bad = (usize, String);

fn parse_block(
    name: &str,
    builder: &Builder,
    n: usize,
    order: usize,
    first_line: usize,
    block: &[u8],
    ends: &[usize],
) -> Result<Vec<Entry>> {
    let starts = |i: usize| if i == 0 { 0 } else { ends[i - 1] };
    let pieces: Vec<std::result::Result<Vec<Entry>, (usize, Bad)>> = (0..ends.len().div_ceil(PIECE_LINES))
        .into_par_iter()
        .map(|piece| {
            let range = piece * PIECE_LINES..ends.len().min((piece + 1) * PIECE_LINES);
            let mut entries = Vec::with_capacity(range.len());
            let mut words = vec![];
            for i in range {
                let line = &block[starts(i)..ends[i]];
                if line.trim_ascii().is_empty() {
                    continue;
                }
                entries.push(parse_ngram(builder, n, order, line, &mut words).map_err(|bad| (i, bad))?);
            }
            Ok(entries)
        })
        .collect();
    let mut all = Vec::with_capacity(ends.len());
    for piece in pieces {
        match piece {
            Ok(mut entries) => all.append(&mut entries),
            Err((i, (at, message))) => {
                let line = &block[starts(i)..ends[i]];
                return Err(Error::text(name, first_line + i, column(line, at), message));
            }
        }
    }
    Ok(all)
}

fn parse_ngram(
    builder: &Builder,
    n: usize,
    order: usize,
    line: &[u8],
    words: &mut Vec<WordId>,
) -> std::result::Result<Entry, Bad> {
    let line = line.trim_ascii_end();
    let (log10, mut from) = probability(line)?;
    words.clear();
    for i in 0..n {
        let Some((at, word)) = token(line, from) else {
            return Err((line.len(), format!("expected {n} words, found {i}")));
        };
        match builder.vocab.find(word) {
            Some(id) => words.push(id),
            None => return Err((at, format!("{} is not among the 1-grams", shown(word)))),
        }
        from = at + word.len();
    }
    let backoff = backoff(line, from, n == order)?;
    let word = words[n - 1];
    match builder.node(&words[..n - 1]) {
        Ok(context) => Ok(Entry { context, word, log10, backoff }),
        Err(known) => {
            let missing: Vec<_> =
                words[..known + 1].iter().map(|&w| String::from_utf8_lossy(builder.vocab.word(w))).collect();
            let (at, _) = token(line, 0).and_then(|(at, first)| token(line, at + first.len())).unwrap_or((0, b""));
            Err((at, format!("its context {:?} is not among the {}-grams", missing.join(" "), known + 1)))
        }
    }
}

/// The next word from byte `from` on, and where it begins.
fn token(line: &[u8], from: usize) -> Option<(usize, &[u8])> {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let at = from + line.get(from..)?.iter().position(|b| !blank(b))?;
    let len = line[at..].iter().position(blank).unwrap_or(line.len() - at);
    Some((at, &line[at..at + len]))
}

fn number(word: &[u8]) -> Option<f32> {
    std::str::from_utf8(word).ok()?.parse::<f32>().ok().filter(|x| !x.is_nan())
}

/// log10 p at the beginning of a line, and where it ends.
fn probability(line: &[u8]) -> std::result::Result<(f32, usize), Bad> {
    let (at, word) = token(line, 0).unwrap_or((0, b""));
    match number(word) {
        // Certainty is −0, as in KenLM, which prints it so.
        Some(p) if p <= 0.0 => Ok((-p.abs(), at + word.len())),
        Some(p) => Err((at, format!("a log10 probability of {p} is above 0: a probability above 1"))),
        None => Err((at, format!("expected a log10 probability, found {}", shown(word)))),
    }
}

/// The back-off weight at the end of a line; none is 0. N-grams of the highest order have none.
fn backoff(line: &[u8], from: usize, highest: bool) -> std::result::Result<f32, Bad> {
    let Some((at, word)) = token(line, from) else { return Ok(0.0) };
    let Some(weight) = number(word).filter(|w| w.is_finite()) else {
        return Err((at, format!("expected a back-off weight or the end of the line, found {}", shown(word))));
    };
    if let Some((at, more)) = token(line, at + word.len()) {
        return Err((at, format!("expected the end of the line, found {}", shown(more))));
    }
    if highest && weight != 0.0 {
        return Err((at, format!("an n-gram of the highest order has no back-off weight, found {weight}")));
    }
    // −0 is 0: a context with no weight of its own.
    Ok(weight + 0.0)
}

/// Column of a byte of a line, counted in characters from 1.
fn column(line: &[u8], at: usize) -> usize {
    String::from_utf8_lossy(&line[..at.min(line.len())]).chars().count() + 1
}
