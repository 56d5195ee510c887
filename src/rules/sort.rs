//! Sorting lines as `LC_ALL=C sort` does, more of them than fit in memory: full buffers are sorted on all cores and
//! written as runs, runs are merged on reading.
//!
//! What comes out depends only on what went in. A line costs its bytes and 24 more. Lines mostly differ in the eight
//! bytes behind what all of them begin with, so these are compared first, as one number.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::error::Result;
use crate::lm::estimate::temp::TempFile;

/// Lines lie in pieces of this many bytes, which never move.
const PIECE: usize = 1 << 22;
/// Bytes a cursor reads at a time.
const MIN_READ: usize = 1 << 14;
const MAX_READ: usize = 1 << 20;

/// Takes lines in any order.
pub struct LineSorter {
    folder: PathBuf,
    /// Bytes to hold at most.
    limit: usize,
    pieces: Vec<Vec<u8>>,
    lines: Vec<Line>,
    /// What all lines begin with.
    common: Vec<u8>,
    file: Option<TempFile>,
    runs: Vec<(u64, u64)>,
}

/// Where a line is.
#[derive(Clone, Copy)]
pub struct Line {
    /// The eight bytes behind the common beginning.
    key: u64,
    piece: u32,
    at: u32,
    /// Bytes without the end.
    len: u32,
}

impl LineSorter {
    pub fn new(folder: &Path, limit: usize) -> Self {
        LineSorter {
            folder: folder.to_path_buf(),
            limit: limit.max(PIECE),
            pieces: vec![],
            lines: vec![],
            common: vec![],
            file: None,
            runs: vec![],
        }
    }

    /// Takes all lines of a text.
    pub fn push_all(&mut self, text: &[u8]) -> Result<()> {
        text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).try_for_each(|line| self.push(line))
    }

    /// Takes a line without its end.
    pub fn push(&mut self, line: &[u8]) -> Result<()> {
        let size = line.len() + 1;
        if self.pieces.last().is_none_or(|p| p.len() + size > p.capacity()) {
            let held = self.pieces.len() * PIECE + self.lines.len() * size_of::<Line>();
            if held + PIECE > self.limit && !self.lines.is_empty() {
                self.spill()?;
            }
            self.pieces.push(Vec::with_capacity(PIECE.max(size)));
        }
        if self.lines.is_empty() {
            self.common = line.to_vec();
        } else if !line.starts_with(&self.common) {
            let same = line.iter().zip(&self.common).take_while(|(a, b)| a == b).count();
            self.common.truncate(same);
        }
        let index = self.pieces.len() as u32 - 1;
        if let Some(piece) = self.pieces.last_mut() {
            self.lines.push(Line { key: 0, piece: index, at: piece.len() as u32, len: line.len() as u32 });
            piece.extend_from_slice(line);
            piece.push(b'\n');
        }
        Ok(())
    }

    fn sort(&mut self) {
        let (pieces, common) = (&self.pieces, self.common.len());
        self.lines.par_iter_mut().for_each(|line| {
            let rest = &text(pieces, line)[common..];
            let mut key = [0; 8];
            let n = rest.len().min(8);
            key[..n].copy_from_slice(&rest[..n]);
            line.key = u64::from_be_bytes(key);
        });
        // The common beginning need not be compared.
        let rest = |line: &Line| &text(pieces, line)[common..];
        self.lines.par_sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| rest(a).cmp(rest(b))));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(TempFile::create(&self.folder)?),
        };
        let mut bytes = Vec::with_capacity(MAX_READ + 1024);
        let (mut from, mut end) = (None, 0);
        for line in &self.lines {
            bytes.extend_from_slice(text(&self.pieces, line));
            bytes.push(b'\n');
            if bytes.len() >= MAX_READ {
                let at = file.append_bytes(&bytes)?;
                from.get_or_insert(at);
                end = at + bytes.len() as u64;
                bytes.clear();
            }
        }
        if !bytes.is_empty() {
            let at = file.append_bytes(&bytes)?;
            from.get_or_insert(at);
            end = at + bytes.len() as u64;
        }
        self.runs.extend(from.map(|from| (from, end)));
        self.lines.clear();
        self.pieces.clear();
        Ok(())
    }

    /// The lines in order.
    pub fn finish(mut self) -> Result<SortedLines> {
        if self.file.is_some() && !self.lines.is_empty() {
            self.spill()?;
        }
        match self.file {
            None => {
                self.sort();
                Ok(SortedLines::Memory { pieces: self.pieces, lines: self.lines.into_iter() })
            }
            Some(file) => {
                // Not needed any more, and the cursors need memory now.
                self.lines = vec![];
                Merge::new(file, &self.runs, self.limit).map(SortedLines::Disk)
            }
        }
    }
}

/// The line without its end.
fn text<'a>(pieces: &'a [Vec<u8>], line: &Line) -> &'a [u8] {
    &pieces[line.piece as usize][line.at as usize..][..line.len as usize]
}

/// Lines in order.
pub enum SortedLines {
    Memory { pieces: Vec<Vec<u8>>, lines: std::vec::IntoIter<Line> },
    Disk(Merge),
}

impl SortedLines {
    /// Appends the next line with its end; false: there is none.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            SortedLines::Memory { pieces, lines } => {
                let Some(line) = lines.next() else { return Ok(false) };
                out.extend_from_slice(text(pieces, &line));
                out.push(b'\n');
                Ok(true)
            }
            SortedLines::Disk(merge) => merge.next(out),
        }
    }
}

/// Several sorted runs as one.
pub struct Merge {
    file: TempFile,
    read: usize,
    cursors: Vec<Cursor>,
    /// A heap of cursors, the one with the least line first. Exhausted ones are not in it.
    heap: Vec<usize>,
}

struct Cursor {
    buffer: Vec<u8>,
    at: usize,
    /// Where the line ends, past its newline.
    line_end: usize,
    /// What is still in the file.
    from: u64,
    end: u64,
}

impl Cursor {
    fn line(&self) -> &[u8] {
        &self.buffer[self.at..self.line_end - 1]
    }

    /// Goes to the next line; false at the end.
    fn advance(&mut self, file: &TempFile, read: usize) -> Result<bool> {
        self.at = self.line_end;
        loop {
            if let Some(n) = memchr::memchr(b'\n', &self.buffer[self.at..]) {
                self.line_end = self.at + n + 1;
                return Ok(true);
            }
            if self.from == self.end {
                return Ok(false);
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            let n = (self.end - self.from).min(read as u64);
            file.read_bytes(self.from, n as usize, &mut self.buffer)?;
            self.from += n;
        }
    }
}

impl Merge {
    fn new(file: TempFile, runs: &[(u64, u64)], memory: usize) -> Result<Self> {
        let read = (memory / runs.len().max(1)).clamp(MIN_READ, MAX_READ);
        let mut merge = Merge { file, read, cursors: vec![], heap: vec![] };
        for &(from, end) in runs {
            let mut cursor = Cursor { buffer: vec![], at: 0, line_end: 0, from, end };
            if cursor.advance(&merge.file, read)? {
                merge.heap.push(merge.cursors.len());
                merge.cursors.push(cursor);
            }
        }
        for i in (0..merge.heap.len() / 2).rev() {
            merge.sift(i);
        }
        Ok(merge)
    }

    fn less(&self, a: usize, b: usize) -> bool {
        self.cursors[self.heap[a]].line() < self.cursors[self.heap[b]].line()
    }

    fn sift(&mut self, mut i: usize) {
        loop {
            let mut least = 2 * i + 1;
            if least >= self.heap.len() {
                return;
            }
            if least + 1 < self.heap.len() && self.less(least + 1, least) {
                least += 1;
            }
            if !self.less(least, i) {
                return;
            }
            self.heap.swap(i, least);
            i = least;
        }
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Some(&first) = self.heap.first() else { return Ok(false) };
        let cursor = &mut self.cursors[first];
        out.extend_from_slice(&cursor.buffer[cursor.at..cursor.line_end]);
        if !cursor.advance(&self.file, self.read)? {
            self.heap.swap_remove(0);
        }
        self.sift(0);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_in_memory_and_on_disk() {
        let mut seed = 1u64;
        let mut lines: Vec<Vec<u8>> = (0..60_000)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let n = (seed >> 33) % 5000;
                format!("[X] ||| {}{n}\u{1}{}", "é".repeat((n % 7) as usize), "x".repeat((seed >> 40) as usize % 300))
                    .into_bytes()
            })
            .collect();
        let mut outs = vec![];
        for limit in [1 << 30, 0] {
            let mut sorter = LineSorter::new(&std::env::temp_dir(), limit);
            lines.iter().try_for_each(|l| sorter.push(l)).unwrap();
            assert_eq!(sorter.runs.len() > 1, limit == 0);
            let mut sorted = sorter.finish().unwrap();
            let mut out = vec![];
            while sorted.next(&mut out).unwrap() {}
            outs.push(out);
        }
        lines.sort();
        let want: Vec<u8> = lines.iter().flat_map(|l| l.iter().copied().chain([b'\n'])).collect();
        assert!(outs[0] == want && outs[1] == want);
    }

    #[test]
    fn nothing_is_nothing() {
        let mut out = vec![];
        assert!(!LineSorter::new(Path::new("."), 0).finish().unwrap().next(&mut out).unwrap());
    }
}
