//! The memory of a model: one block of sections, the same in memory and in a file, so that a file is mapped and used as
//! it is.
//!
//! A block begins with a `Header` (magic, version, sizes, checksums) and a table of sections; every section begins at a
//! multiple of 64 bytes. Little-endian. Whoever reads a section finds either all of its bytes or, for a file that lies
//! about its sizes, an error at opening; the values inside are the concern of the reader.

use std::fs::File;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::{Pod, Zeroable};
use memmap2::Mmap;

use crate::error::{Error, Result};

/// First bytes of every model file.
pub const MAGIC: [u8; 8] = *b"weft-lm\n";
/// Changes with every change of the layout, and of what is put into it.
pub const VERSION: u32 = 2;
/// Sections begin at multiples of this: a line of the cache.
const ALIGN: usize = 64;
/// Most sections a version can have.
const SECTIONS: usize = 12;
/// A file smaller than this is checked whole when it is opened; that takes a few milliseconds.
const CHECK_BELOW: usize = 32 << 20;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; ALIGN]);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    magic: [u8; 8],
    version: u32,
    /// Longest n-gram.
    pub order: u32,
    /// Words, `<unk>` among them.
    pub words: u64,
    /// Contexts that matter, the empty one among them.
    pub states: u64,
    /// Number of `<s>`; `u32::MAX`: there is none.
    pub begin_word: u32,
    /// Number of `</s>`; `u32::MAX`: there is none.
    pub end_word: u32,
    /// 1 if `<unk>` was in the ARPA file, 0 if it was put in.
    pub has_unknown: u32,
    _reserved: u32,
    sections: [[u64; 2]; SECTIONS],
    data_checksum: u64,
    /// Of all the bytes before it.
    header_checksum: u64,
}

/// What the first fields of a new header are.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub order: u32,
    pub words: u64,
    pub states: u64,
    pub begin_word: u32,
    pub end_word: u32,
    pub has_unknown: bool,
}

enum Memory {
    Owned(Vec<Line>),
    Mapped(Mmap),
}

/// The bytes of a model. They never move or change while it lives.
pub struct Block {
    memory: Memory,
    header: Header,
}

/// A typed part of a `Block`; valid as long as the block lives, which its owner sees to.
pub struct Section<T> {
    start: *const T,
    len: usize,
    _type: PhantomData<T>,
}

// SAFETY: a section is a shared slice of plain values.
unsafe impl<T: Pod + Sync> Sync for Section<T> {}
unsafe impl<T: Pod + Send> Send for Section<T> {}

impl<T: Pod> Deref for Section<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: made by `Block::section` from a slice of the block, which outlives it.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// Builds a block section by section.
pub struct BlockBuilder {
    lines: Vec<Line>,
    sections: [[u64; 2]; SECTIONS],
    count: usize,
}

const HEADER_LINES: usize = size_of::<Header>().div_ceil(ALIGN);

impl Default for BlockBuilder {
    fn default() -> Self {
        BlockBuilder { lines: vec![Line::zeroed(); HEADER_LINES], sections: [[0; 2]; SECTIONS], count: 0 }
    }
}

impl BlockBuilder {
    /// Appends a section with these values.
    pub fn push<T: Pod>(&mut self, values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.push_with(bytes.len(), |to: &mut [u8]| to.copy_from_slice(bytes));
    }
    /// Appends a section of `len` values that `fill` writes in place.
    pub fn push_with<T: Pod>(&mut self, len: usize, fill: impl FnOnce(&mut [T])) {
        let bytes = len * size_of::<T>();
        let from = self.lines.len();
        self.lines.resize(from + bytes.div_ceil(ALIGN), Line::zeroed());
        let place: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines[from..]);
        fill(bytemuck::cast_slice_mut(&mut place[..bytes]));
        self.sections[self.count] = [(from * ALIGN) as u64, bytes as u64];
        self.count += 1;
    }
    pub fn finish(mut self, facts: &Facts) -> Block {
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            order: facts.order,
            words: facts.words,
            states: facts.states,
            begin_word: facts.begin_word,
            end_word: facts.end_word,
            has_unknown: facts.has_unknown as u32,
            _reserved: 0,
            sections: self.sections,
            data_checksum: checksum(bytemuck::cast_slice(&self.lines[HEADER_LINES..])),
            header_checksum: 0,
        };
        header.header_checksum = header.checksum();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        bytes[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        Block { memory: Memory::Owned(self.lines), header }
    }
}

impl Header {
    fn checksum(&self) -> u64 {
        let bytes = bytemuck::bytes_of(self);
        checksum(&bytes[..bytes.len() - size_of::<u64>()])
    }
}

impl Block {
    /// Maps a file. Its header is checked here; its data only if it is small, else by `check`.
    pub fn map(name: &str) -> Result<Block> {
        let file = File::open(name).map_err(|e| Error::io(name, e))?;
        // SAFETY: the mapping is read-only. A file that is cut off while it is in use ends the process, as it does for
        // every program that maps its models; files that weft writes are put in place whole and never changed.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(name, e))?;
        Block::open(name, Memory::Mapped(map))
    }

    /// From bytes that came through a pipe or a decompressor.
    pub fn read(name: &str, reader: &mut dyn Read) -> Result<Block> {
        let mut lines: Vec<Line> = vec![];
        let mut used = 0;
        loop {
            if used == lines.len() * ALIGN {
                let more = lines.len().clamp(1 << 10, 1 << 22);
                lines.resize(lines.len() + more, Line::zeroed());
            }
            let place: &mut [u8] = bytemuck::cast_slice_mut(&mut lines);
            match reader.read(&mut place[used..]) {
                Ok(0) => break,
                Ok(n) => used += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io(name, e)),
            }
        }
        lines.truncate(used.div_ceil(ALIGN));
        Block::open(name, Memory::Owned(lines))
    }

    fn open(name: &str, memory: Memory) -> Result<Block> {
        let bytes = memory.bytes();
        let size = size_of::<Header>();
        let bad = |offset: usize, message: String| Err(Error::binary(name, offset as u64, message));
        if bytes.len() < size || bytes[..MAGIC.len()] != MAGIC {
            return bad(0, "not a model made by `weft lm compile`".into());
        }
        let header: Header = bytemuck::pod_read_unaligned(&bytes[..size]);
        if header.version != VERSION {
            let (found, want) = (header.version, VERSION);
            return bad(
                8,
                format!("model file of version {found}, expected {want}; make it again with `weft lm compile`"),
            );
        }
        if header.header_checksum != header.checksum() {
            return bad(size - size_of::<u64>(), "the checksum of the header is wrong: the file is damaged".into());
        }
        for [from, len] in header.sections {
            let end = from.checked_add(len);
            if from % ALIGN as u64 != 0 || end.is_none_or(|e| e > bytes.len() as u64) {
                let (have, want) = (bytes.len(), end.unwrap_or(u64::MAX));
                return bad(have, format!("the file is cut off: it has {have} bytes, expected {want} or more"));
            }
        }
        let block = Block { memory, header };
        if block.bytes().len() < CHECK_BELOW { block.check(name).map(|()| block) } else { Ok(block) }
    }

    /// Compares the checksum of all the data: a second for a few gigabytes.
    pub fn check(&self, name: &str) -> Result<()> {
        let from = HEADER_LINES * ALIGN;
        let end = self.header.sections.iter().map(|[from, len]| from + len).max().unwrap_or(0) as usize;
        let end = end.next_multiple_of(ALIGN).min(self.bytes().len());
        if end < from || checksum(&self.bytes()[from..end]) != self.header.data_checksum {
            return Err(Error::binary(name, from as u64, "the checksum of the data is wrong: the file is damaged"));
        }
        Ok(())
    }

    pub fn header(&self) -> &Header {
        &self.header
    }
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }
    /// True if the bytes are those of a file, shared with every process that maps it.
    pub fn is_mapped(&self) -> bool {
        matches!(self.memory, Memory::Mapped(_))
    }
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(self.bytes())
    }

    /// The values of a section. The caller keeps the block as long as the section.
    pub fn section<T: Pod>(&self, name: &str, index: usize) -> Result<Section<T>> {
        let [from, len] = self.header.sections[index];
        let bytes = &self.bytes()[from as usize..(from + len) as usize];
        match bytemuck::try_cast_slice::<u8, T>(bytes) {
            Ok(values) => Ok(Section { start: values.as_ptr(), len: values.len(), _type: PhantomData }),
            Err(e) => Err(Error::binary(name, from, format!("section {index} has a wrong size: {e}"))),
        }
    }
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Owned(lines) => bytemuck::cast_slice(lines),
            Memory::Mapped(map) => map,
        }
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

const K0: u64 = 0x9E37_79B9_7F4A_7C15;
const K1: u64 = 0xD6E8_FEB8_6659_FD93;
const K2: u64 = 0xA076_1D64_78BD_642F;

/// A hash that is part of the file format: it must not change with a library.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut h = K0 ^ (bytes.len() as u64).wrapping_mul(K1);
    let mut chunks = bytes.chunks_exact(8);
    for c in &mut chunks {
        h = fold(h ^ u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]), K1);
    }
    let rest = chunks.remainder();
    let mut tail = 0;
    for (i, &b) in rest.iter().enumerate() {
        tail |= (b as u64) << (8 * i);
    }
    fold(h ^ tail, K2)
}

/// As `hash_bytes`, for one 64-bit key.
#[inline(always)]
pub fn hash_key(key: u64) -> u64 {
    fold(key ^ K2, K0)
}

/// Asks for a value to be brought into the cache, without waiting for it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing that the program sees.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// The place of a hash in a table of `n` places.
#[inline(always)]
pub fn place(hash: u64, n: usize) -> usize {
    ((hash as u128 * n as u128) >> 64) as usize
}

/// Four lanes, so that it runs at the speed of memory.
fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes = [K0, K1, K2, K0 ^ K1];
    let mut chunks = bytes.chunks_exact(32);
    for chunk in &mut chunks {
        for (lane, c) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            *lane = fold(*lane ^ u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]), K1);
        }
    }
    let rest = hash_bytes(chunks.remainder());
    lanes.iter().fold(rest, |sum, &lane| fold(sum ^ lane, K2))
}
