//! Counts the n-grams of the highest order: tables in memory, one a thread, sorted runs on disk when they are full.
//!
//! Every sentence has `order - 1` times `<s>` before it. A table has its n-grams as rows behind each other and an index of
//! open addressing with a part of the hash, so that nothing is allocated for an n-gram. Which piece of text goes to which
//! table, and when a table is full, changes only where the runs end.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::corpus::{self, FRESH, Piece, Pieces};
use super::records;
use super::sorter::Source;
use super::temp::TempFile;
use super::vocabulary::{BOS, EOS, Words};
use super::{Options, Progress};
use crate::error::{Error, Result};

/// The n-grams of the highest order.
pub struct Counts {
    pub words: Words,
    /// Words of the text, without ends of sentences.
    pub tokens: u64,
    /// Runs in suffix order, to be merged.
    pub runs: Vec<Source>,
    /// Bytes of them in memory.
    pub held: usize,
    /// A special word was left out of the text.
    pub skipped: bool,
}

/// Counts everything in `memory` bytes: half of it for the tables, the rest for text and words.
pub fn count(options: &Options, memory: usize, progress: &dyn Progress) -> Result<Counts> {
    let threads = rayon::current_num_threads();
    let limit = Table::rows_in(memory / 2 / threads, options.order);
    let counter = Counter {
        options,
        tables: (0..threads).map(|_| Mutex::new(Table::new(options.order, limit))).collect(),
        spilled: Mutex::new(Spilled::default()),
    };
    let mut words = Words::new();
    let (mut tokens, mut skipped) = (0, false);
    let mut pieces = Pieces::new(&options.corpora);
    let most = (memory / 8 / corpus::IN_FLIGHT).clamp(1, 2 * threads);
    let mut batch = pieces.next(most)?;
    progress.stage("counting", None);
    while !batch.is_empty() {
        let bytes = batch.iter().map(Piece::len).sum::<usize>();
        let (next, done) = rayon::join(|| pieces.next(most), || counter.batch(batch, &mut words));
        let (more, skip) = done?;
        tokens += more;
        skipped |= skip;
        progress.advance(bytes as u64);
        batch = next?;
    }
    let spilled = counter.spilled.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut runs = vec![];
    let mut held = 0;
    for table in counter.tables {
        let rows = table.into_inner().unwrap_or_else(PoisonError::into_inner).into_rows();
        held += rows.len() * 4;
        if !rows.is_empty() {
            runs.push(rows);
        }
    }
    runs.par_iter_mut().for_each(|rows| records::sort(rows, options.order + 2));
    let mut runs: Vec<Source> = runs.into_iter().map(Source::Freed).collect();
    if let Some(file) = spilled.file {
        runs.extend(spilled.runs.iter().map(|&(at, end)| Source::Disk { file: file.clone(), at, end }));
    }
    Ok(Counts { words, tokens, runs, held, skipped })
}

struct Counter<'a> {
    options: &'a Options,
    tables: Vec<Mutex<Table>>,
    spilled: Mutex<Spilled>,
}

#[derive(Default)]
struct Spilled {
    file: Option<TempFile>,
    runs: Vec<(u64, u64)>,
}

impl Spilled {
    fn add(&mut self, rows: &[u32], folder: &Path) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(TempFile::create(folder)?),
        };
        let at = file.append(rows)?;
        self.runs.push((at, at + rows.len() as u64));
        Ok(())
    }
}

impl Counter<'_> {
    /// Counts some pieces; says how many words they had and whether one was left out.
    fn batch(&self, pieces: Vec<Piece>, words: &mut Words) -> Result<(u64, bool)> {
        let known = &*words;
        let cut: Vec<_> = pieces.par_iter().map(|p| p.tokens(known, self.options.skip_symbols)).collect();
        let mut numbered = vec![];
        let mut skipped = false;
        for tokens in cut {
            let tokens = tokens?;
            if words.len() + tokens.fresh.len() > FRESH as usize {
                return Err(Error::op("lm estimate", "the text has more than 2^31 different words"));
            }
            // In the order of the text, so that a word's number never depends on how the text was cut.
            let map: Vec<u32> = (0..tokens.fresh.len() as u32).map(|i| words.add(tokens.fresh.get(i))).collect();
            skipped |= tokens.skipped;
            numbered.push((tokens.ids, map));
        }
        let total =
            numbered.into_par_iter().map(|(ids, map)| self.add(ids, &map)).try_reduce(|| 0, |a, b| Ok(a + b))?;
        Ok((total, skipped))
    }

    /// Counts the n-grams of one piece.
    fn add(&self, ids: Vec<u32>, fresh: &[u32]) -> Result<u64> {
        // There are as many tables as threads, and nothing that is done with one waits for another task.
        let mut table = loop {
            if let Some(free) = self.tables.iter().find_map(|t| t.try_lock().ok()) {
                break free;
            }
            std::thread::yield_now();
        };
        let order = self.options.order;
        let mut window = vec![BOS; order];
        let mut tokens = 0;
        for id in ids {
            let id = if id >= FRESH { fresh[(id - FRESH) as usize] } else { id };
            window.copy_within(..order - 1, 1);
            window[0] = id;
            if table.add(&window) {
                let rows = table.drain();
                let mut spilled = self.spilled.lock().unwrap_or_else(PoisonError::into_inner);
                spilled.add(rows, &self.options.temp)?;
                drop(spilled);
                table.clear();
            }
            if id == EOS {
                window.fill(BOS);
            } else {
                tokens += 1;
            }
        }
        Ok(tokens)
    }
}

/// N-grams in memory with their counts.
struct Table {
    order: usize,
    rows: Vec<u32>,
    used: usize,
    /// The most rows it may have.
    limit: usize,
    /// A part of the hash above, the number of the row from 1 below; 0 is free.
    slots: Vec<u64>,
}

/// Slots a row, in halves: three for two.
const SLOTS: usize = 3;

impl Table {
    /// How many rows fit in so many bytes.
    fn rows_in(bytes: usize, order: usize) -> usize {
        (bytes / (4 * (order + 2) + 4 * SLOTS)).clamp(1 << 8, (1 << 32) - 2)
    }

    fn new(order: usize, limit: usize) -> Self {
        let first = limit.min(1 << 10);
        Table { order, rows: vec![], used: 0, limit, slots: vec![0; first * SLOTS / 2] }
    }

    fn hash(words: &[u32]) -> u64 {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut h = 0u64;
        for &w in words {
            let m = (h ^ w as u64 ^ K) as u128 * (K ^ 0x5555_0000_aaaa) as u128;
            h = (m >> 64) as u64 ^ m as u64;
        }
        h.wrapping_mul(K) ^ h >> 29
    }

    fn start(hash: u64, slots: usize) -> usize {
        (((hash >> 32) * slots as u64) >> 32) as usize
    }

    /// Counts one; true if there is no room for another.
    #[inline]
    fn add(&mut self, words: &[u32]) -> bool {
        let width = self.order + 2;
        let hash = Self::hash(words);
        let mut at = Self::start(hash, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if slot >> 32 == hash & 0xffff_ffff {
                let row = ((slot & 0xffff_ffff) as usize - 1) * width;
                let row = &mut self.rows[row..row + width];
                if row[..self.order] == *words {
                    let count = records::count(&row[self.order..]) + 1;
                    records::set_count(&mut row[self.order..], count);
                    return false;
                }
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
        self.used += 1;
        self.slots[at] = hash << 32 | self.used as u64;
        self.rows.extend_from_slice(words);
        self.rows.extend_from_slice(&[1, 0]);
        if self.used * SLOTS / 2 >= self.slots.len() && self.used < self.limit {
            self.grow();
        }
        self.used >= self.limit
    }

    fn grow(&mut self) {
        let rows = (self.used * 2).min(self.limit);
        let size = rows * SLOTS / 2 + 1;
        self.slots.clear();
        self.slots.shrink_to_fit();
        self.slots.resize(size, 0);
        for (i, row) in self.rows.chunks_exact(self.order + 2).enumerate() {
            let hash = Self::hash(&row[..self.order]);
            let mut at = Self::start(hash, size);
            while self.slots[at] != 0 {
                at = if at + 1 == size { 0 } else { at + 1 };
            }
            self.slots[at] = hash << 32 | (i as u64 + 1);
        }
    }

    /// The rows in order, to be written; then `clear`.
    fn drain(&mut self) -> &[u32] {
        records::sort_alone(&mut self.rows, self.order + 2);
        &self.rows
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.used = 0;
        self.slots.fill(0);
    }

    fn into_rows(self) -> Vec<u32> {
        let mut rows = self.rows;
        rows.shrink_to_fit();
        rows
    }
}
