//! Sorting more rows than fit in memory: full buffers are sorted and written as runs, runs are merged on reading.
//!
//! What comes out depends only on what went in, never on where the runs end. Rows with the same words can be merged
//! into one whose count is the sum.

use std::path::Path;

use super::records;
use super::temp::TempFile;
use crate::error::Result;

/// Numbers a cursor reads at a time at least.
const MIN_READ: usize = 1 << 10;
const MAX_READ: usize = 1 << 18;

/// Rows that are changed at a time at most.
const MAX_ROWS: usize = 1 << 16;
/// Bytes for every number of a row that is changed: itself and two blocks of text, about.
const ROW: usize = 24;

/// Takes rows in any order.
pub struct Sorter {
    width: usize,
    /// Rows come in suffix order and are wanted in context order.
    turned: bool,
    buffer: Vec<u32>,
    file: Option<TempFile>,
    /// Where runs begin and end in the file.
    runs: Vec<(u64, u64)>,
}

/// Rows in order.
pub enum Sorted {
    Memory(Vec<u32>),
    Disk { file: TempFile, runs: Vec<(u64, u64)> },
}

impl Sorter {
    pub fn new(width: usize) -> Self {
        Sorter { width, turned: false, buffer: vec![], file: None, runs: vec![] }
    }

    /// For rows in suffix order, to be sorted by context.
    pub fn by_context(width: usize) -> Self {
        Sorter { turned: true, ..Self::new(width) }
    }

    pub fn bytes(&self) -> usize {
        self.buffer.len() * 4
    }

    /// Rows in memory.
    pub fn rows(&self) -> usize {
        self.buffer.len() / self.width
    }

    /// Nothing was written yet.
    pub fn in_memory(&self) -> bool {
        self.file.is_none()
    }

    /// The rows in memory as they came.
    pub fn unsorted(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.buffer)
    }

    #[inline]
    pub fn push(&mut self, words: &[u32], tail: &[u32]) {
        self.buffer.extend_from_slice(words);
        self.buffer.extend_from_slice(tail);
    }

    fn sort(&mut self) {
        if self.turned {
            records::turn(&mut self.buffer, self.width);
        }
        records::sort(&mut self.buffer, self.width);
    }

    /// Writes what is in memory as a run.
    pub fn spill(&mut self, folder: &Path) -> Result<()> {
        self.sort();
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(TempFile::create(folder)?),
        };
        let at = file.append(&self.buffer)?;
        self.runs.push((at, at + self.buffer.len() as u64));
        // Not `clear`: the memory may be another order's next.
        self.buffer = vec![];
        Ok(())
    }

    pub fn finish(mut self, folder: &Path) -> Result<Sorted> {
        if self.file.is_some() && !self.buffer.is_empty() {
            self.spill(folder)?;
        }
        match self.file {
            Some(file) => Ok(Sorted::Disk { file, runs: self.runs }),
            None => {
                self.sort();
                Ok(Sorted::Memory(self.buffer))
            }
        }
    }
}

/// Takes rows that are in order already.
#[derive(Default)]
pub struct Spool {
    buffer: Vec<u32>,
    file: Option<TempFile>,
    end: u64,
}

impl Spool {
    /// Appends; what is in memory goes to disk when it has more than `limit` bytes.
    #[inline]
    pub fn push(&mut self, words: &[u32], tail: u32, (folder, limit): (&Path, usize)) -> Result<()> {
        self.buffer.extend_from_slice(words);
        self.buffer.push(tail);
        if self.buffer.len() * 4 > limit { self.flush(folder) } else { Ok(()) }
    }

    fn flush(&mut self, folder: &Path) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(TempFile::create(folder)?),
        };
        file.append(&self.buffer)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub fn finish(mut self, folder: &Path) -> Result<Sorted> {
        if self.file.is_some() {
            self.flush(folder)?;
        }
        match self.file {
            Some(file) => Ok(Sorted::Disk { file, runs: vec![(0, self.end)] }),
            None => Ok(Sorted::Memory(self.buffer)),
        }
    }
}

impl Sorted {
    /// What it holds in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Sorted::Memory(data) => data.len() * 4,
            Sorted::Disk { .. } => 0,
        }
    }

    /// Reads the rows in order; `memory` bytes are for buffers.
    pub fn read(self, width: usize, words: usize, memory: usize) -> Result<Merge> {
        match self {
            Sorted::Memory(data) => Merge::new(vec![Source::Memory(data)], width, words, memory),
            Sorted::Disk { file, runs } => {
                let sources = runs.into_iter().map(|(at, end)| Source::Disk { file: file.clone(), at, end }).collect();
                Merge::new(sources, width, words, memory)
            }
        }
    }

    /// Gives all rows in order to `change`, many at a time; keeps what it makes of them if that is wanted. `memory` is
    /// also for the text that is made of the rows.
    pub fn map(
        self,
        width: usize,
        words: usize,
        (folder, memory): (&Path, usize),
        keep: bool,
        mut change: impl FnMut(&mut [u32]) -> Result<()>,
    ) -> Result<Sorted> {
        match self {
            Sorted::Memory(mut data) => {
                for block in data.chunks_mut(width * MAX_ROWS) {
                    change(block)?;
                }
                Ok(Sorted::Memory(data))
            }
            Sorted::Disk { .. } => {
                let mut merge = self.read(width, words, memory / 2)?;
                let rows = (memory / 2 / (ROW * width)).clamp(64, MAX_ROWS);
                let file = TempFile::create(folder)?;
                let mut block = Vec::with_capacity(rows * width);
                let mut end = 0;
                loop {
                    block.clear();
                    while block.len() < rows * width
                        && let Some(row) = merge.peek()
                    {
                        block.extend_from_slice(row);
                        merge.advance()?;
                    }
                    if block.is_empty() {
                        return Ok(Sorted::Disk { file, runs: vec![(0, end)] });
                    }
                    change(&mut block)?;
                    if keep {
                        file.append(&block)?;
                        end += block.len() as u64;
                    }
                }
            }
        }
    }
}

/// A run that is merged.
pub enum Source {
    /// Freed by halves while it is read, at the price of a copy.
    Freed(Vec<u32>),
    Memory(Vec<u32>),
    Disk {
        file: TempFile,
        at: u64,
        end: u64,
    },
}

struct Cursor {
    buffer: Vec<u32>,
    at: usize,
    /// Where `refill` has something to do: the end of the buffer or, for a long one in memory, its middle.
    stop: usize,
    rest: Rest,
}

enum Rest {
    /// The buffer is all there is.
    None,
    /// The same, and what was read of it is to be freed.
    Freed,
    /// What is still in the file.
    Disk(TempFile, u64, u64),
}

/// Several sorted runs as one.
pub struct Merge {
    width: usize,
    words: usize,
    /// Numbers to read at a time; a whole number of rows.
    read: usize,
    cursors: Vec<Cursor>,
    /// A heap of cursors, the one with the least row first. Exhausted ones are not in it.
    heap: Vec<u32>,
}

impl Merge {
    pub fn new(sources: Vec<Source>, width: usize, words: usize, memory: usize) -> Result<Self> {
        let on_disk = sources.iter().filter(|s| matches!(s, Source::Disk { .. })).count().max(1);
        let read = (memory / 4 / on_disk).clamp(MIN_READ, MAX_READ) / width * width;
        let mut merge = Merge { width, words, read, cursors: vec![], heap: vec![] };
        for source in sources {
            let mut cursor = match source {
                Source::Freed(buffer) => Cursor { buffer, at: 0, stop: 0, rest: Rest::Freed },
                Source::Memory(buffer) => Cursor { buffer, at: 0, stop: 0, rest: Rest::None },
                Source::Disk { file, at, end } => {
                    Cursor { buffer: vec![], at: 0, stop: 0, rest: Rest::Disk(file, at, end) }
                }
            };
            cursor.refill(read, width)?;
            if !cursor.buffer.is_empty() {
                merge.heap.push(merge.cursors.len() as u32);
                merge.cursors.push(cursor);
            }
        }
        for i in (0..merge.heap.len() / 2).rev() {
            merge.sift(i);
        }
        Ok(merge)
    }

    fn head(&self, i: usize) -> &[u32] {
        let c = &self.cursors[self.heap[i] as usize];
        &c.buffer[c.at..c.at + self.width]
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

    fn less(&self, a: usize, b: usize) -> bool {
        self.head(a)[..self.words] < self.head(b)[..self.words]
    }

    /// The least row.
    #[inline]
    pub fn peek(&self) -> Option<&[u32]> {
        (!self.heap.is_empty()).then(|| self.head(0))
    }

    /// Goes past it.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        let Some(&first) = self.heap.first() else { return Ok(()) };
        let cursor = &mut self.cursors[first as usize];
        cursor.at += self.width;
        if cursor.at >= cursor.stop {
            cursor.refill(self.read, self.width)?;
            if cursor.buffer.is_empty() {
                self.heap.swap_remove(0);
            }
        }
        if self.heap.len() > 1 {
            self.sift(0);
        }
        Ok(())
    }

    /// The next words with the sum of their counts, in `row`; false at the end.
    #[inline]
    pub fn next_summed(&mut self, row: &mut [u32]) -> Result<bool> {
        let Some(first) = self.peek() else { return Ok(false) };
        row.copy_from_slice(first);
        self.advance()?;
        let words = self.words;
        while let Some(same) = self.peek()
            && same[..words] == row[..words]
        {
            let sum = records::count(&row[words..]) + records::count(&same[words..]);
            records::set_count(&mut row[words..], sum);
            self.advance()?;
        }
        Ok(true)
    }
}

impl Cursor {
    /// Reads on, or frees what was read of a run in memory: half of it at a time, so that all copies together are no
    /// longer than the run. An empty buffer is the end.
    #[cold]
    fn refill(&mut self, read: usize, width: usize) -> Result<()> {
        match &mut self.rest {
            Rest::Disk(file, at, end) => {
                let n = (*end - *at).min(read as u64);
                self.buffer.clear();
                file.read(*at, n as usize, &mut self.buffer)?;
                *at += n;
                self.stop = self.buffer.len();
            }
            Rest::None => {
                if self.at > 0 {
                    self.buffer = vec![];
                }
                self.stop = self.buffer.len();
            }
            Rest::Freed => {
                if self.at > 0 {
                    self.buffer = self.buffer[self.at..].to_vec();
                }
                let half = self.buffer.len() / 2 / width * width;
                self.stop = if half > MAX_READ { half } else { self.buffer.len() };
            }
        }
        self.at = 0;
        Ok(())
    }
}
