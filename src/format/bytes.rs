//! Reading binary files piece by piece, with the byte offset in every error and no allocation that a lying size can blow up.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind, Read};
use std::mem::MaybeUninit;

use super::io::{Input, Reader, Source};
use crate::error::{Error, Result};
use crate::fst::flat::Arc;
use crate::fst::semiring::{Log, Log64, Tropical};

/// Never reserve more than this on the word of a header alone.
const CAUTIOUS: u64 = 1 << 20;

/// Bytes read at a time into their final place: they are still in the cache when they are looked at.
const STEP: usize = 1 << 18;
/// Records that become something else are read so many bytes at a time.
const PIECE: usize = 1 << 18;
/// Most of the time of a first read goes into page faults. Arrays of this many bytes ask for large pages, smaller ones for
/// all their pages at once, the smallest are as they are.
const LARGE: usize = 2 << 20;
const MEDIUM: usize = 1 << 17;

/// Types that may be read as bytes.
///
/// # Safety
/// Every pattern of bits is a value.
pub unsafe trait Plain: Copy {}
// SAFETY: floats, words, and `repr(C)` structs of them.
unsafe impl Plain for Arc<Tropical> {}
unsafe impl Plain for Arc<Log> {}
unsafe impl Plain for Arc<Log64> {}
unsafe impl Plain for Tropical {}
unsafe impl Plain for Log {}
unsafe impl Plain for Log64 {}
unsafe impl<const N: usize> Plain for [u32; N] {}

pub struct ByteSource {
    name: String,
    size: Option<u64>,
    /// It holds many automata, so that what is left says nothing about the next.
    shared: bool,
    offset: u64,
    reader: Reader,
}

impl ByteSource {
    pub fn new(input: Input) -> Self {
        ByteSource { name: input.name, size: input.size, shared: false, offset: 0, reader: input.reader }
    }
    /// A source of many automata, one after the other.
    pub fn of_many(input: Input) -> Self {
        Self::of_many_from(input, 0)
    }
    /// As `of_many`, for an input that stands at this place of its file.
    pub fn of_many_from(input: Input, offset: u64) -> Self {
        ByteSource { shared: true, offset, ..Self::new(input) }
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// True if the bytes are all in memory.
    pub fn is_here(&self) -> bool {
        matches!(self.reader, Reader::Here(_))
    }
    /// An error at the place read last.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::binary(&self.name, self.offset, message)
    }
    fn io_error(&self, e: std::io::Error, what: &str) -> Error {
        match e.kind() {
            ErrorKind::UnexpectedEof => self.error(format!("the file ends inside {what}; it is cut off")),
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                self.error(format!("the compressed stream is damaged inside {what}: {e}"))
            }
            _ => Error::io(&self.name, e),
        }
    }

    /// How many items of `bytes` each may be reserved when a header says there are `count`.
    pub fn reservable(&self, count: u64, bytes: u64) -> usize {
        let most = match self.size {
            Some(size) => size.saturating_sub(self.offset) / bytes.max(1) + 1,
            None => CAUTIOUS,
        };
        count.min(most) as usize
    }
    /// A guess, never too small, of how many items of `bytes` each the automaton has, or 0 if unknown.
    pub fn at_most(&self, bytes: u64) -> usize {
        self.size.filter(|_| !self.shared).map_or(0, |size| (size.saturating_sub(self.offset) / bytes.max(1)) as usize)
    }

    pub fn at_end(&mut self) -> Result<bool> {
        // The size of a file that has one saves asking for what is not there.
        if self.offset > 0 && self.size == Some(self.offset) { Ok(true) } else { self.really_at_end() }
    }

    /// The same, and the stream itself is asked, whatever is known of its size: where nothing else says what is to come.
    pub fn really_at_end(&mut self) -> Result<bool> {
        match self.reader.fill_buf() {
            Ok(b) => Ok(b.is_empty()),
            Err(e) => Err(self.io_error(e, "the stream")),
        }
    }

    /// The next bytes without taking them; fewer at the end of the file.
    pub fn peek(&mut self) -> Result<&[u8]> {
        match self.reader.fill_buf() {
            Ok(_) => Ok(self.reader.fill_buf().unwrap_or(&[])),
            Err(e) => Err(self.io_error(e, "the stream")),
        }
    }

    #[inline]
    pub fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut out = [0u8; N];
        match self.reader.fill_buf() {
            Ok(buf) if buf.len() >= N => {
                out.copy_from_slice(&buf[..N]);
                self.reader.consume(N);
            }
            // A damaged stream may say so once only.
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(self.io_error(e, what)),
            _ => self.reader.read_exact(&mut out).map_err(|e| self.io_error(e, what))?,
        }
        self.offset += N as u64;
        Ok(out)
    }
    pub fn i32(&mut self, what: &str) -> Result<i32> {
        Ok(i32::from_le_bytes(self.take(what)?))
    }
    pub fn i64(&mut self, what: &str) -> Result<i64> {
        Ok(i64::from_le_bytes(self.take(what)?))
    }
    pub fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(what)?))
    }

    /// `count` records of `size` bytes (at most 64), each handed to `f`, straight from the buffer where it can be.
    #[inline]
    pub fn records(&mut self, count: u64, size: usize, what: &str, mut f: impl FnMut(&[u8])) -> Result<()> {
        self.runs(count, size, what, |run| run.chunks_exact(size).for_each(&mut f))
    }

    /// The same in runs of whole records, as many at a time as the buffer has.
    #[inline]
    pub fn runs(&mut self, count: u64, size: usize, what: &str, mut f: impl FnMut(&[u8])) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let buf = match self.reader.fill_buf() {
                Ok(b) => b,
                Err(e) => return Err(self.io_error(e, what)),
            };
            let whole = ((buf.len() / size) as u64).min(left) as usize;
            if whole == 0 {
                let mut one = [0u8; 64];
                self.reader.read_exact(&mut one[..size]).map_err(|e| self.io_error(e, what))?;
                f(&one[..size]);
                self.offset += size as u64;
                left -= 1;
                continue;
            }
            f(&buf[..whole * size]);
            self.reader.consume(whole * size);
            self.offset += (whole * size) as u64;
            left -= whole as u64;
        }
        Ok(())
    }

    /// `count` items that lie in the file as they lie in memory, in pieces; no byte after them is touched, so that what
    /// follows can be read straight into its place. They are read into `room` where it is large enough: memory that is
    /// needed later anyhow saves the first touch of other pages. Needs a little-endian machine.
    pub fn pieces<T: Plain, R: Plain>(
        &mut self,
        count: u64,
        what: &str,
        room: &mut [MaybeUninit<R>],
        mut f: impl FnMut(&[T]),
    ) -> Result<()> {
        const { assert!(align_of::<T>() <= align_of::<R>()) };
        let size = size_of::<T>();
        let lent = size_of_val(room).min(PIECE) / size;
        let mut own: Vec<T> = vec![];
        let (place, at_a_time) = if lent as u64 >= count.min(64) {
            (room.as_mut_ptr().cast::<MaybeUninit<u8>>(), lent)
        } else {
            own.reserve_exact(count.min((PIECE / size) as u64) as usize);
            (own.spare_capacity_mut().as_mut_ptr().cast(), own.capacity())
        };
        let mut left = count;
        while left > 0 {
            let step = left.min(at_a_time as u64) as usize;
            // SAFETY: there is room for so many, aligned for them, and bytes may be anything.
            self.fill(unsafe { std::slice::from_raw_parts_mut(place, step * size) }, what)?;
            // SAFETY: they have just been written, and whatever their bits, they are values (`Plain`).
            f(unsafe { std::slice::from_raw_parts(place.cast(), step) });
            left -= step as u64;
        }
        Ok(())
    }

    fn append_items<T: Plain>(&mut self, count: usize, what: &str, items: &mut Vec<T>) -> Result<()> {
        items.reserve(count);
        let place = items.spare_capacity_mut()[..count].as_mut_ptr().cast::<MaybeUninit<u8>>();
        // SAFETY: the bytes of those items, which may be anything.
        self.fill(unsafe { std::slice::from_raw_parts_mut(place, count * size_of::<T>()) }, what)?;
        // SAFETY: so many items more are initialised, and whatever their bits, they are values (`Plain`).
        unsafe { items.set_len(items.len() + count) };
        Ok(())
    }

    /// Appends `count` items that lie in the file as they lie in memory, without a buffer between; `look` sees them in
    /// steps, while they are in the cache. Needs a little-endian machine.
    pub fn items<T: Plain>(
        &mut self,
        count: u64,
        what: &str,
        items: &mut Vec<T>,
        mut look: impl FnMut(&[T]),
    ) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let step = left.min((STEP / size_of::<T>()) as u64) as usize;
            let from = items.len();
            self.append_items(step, what, items)?;
            look(&items[from..]);
            left -= step as u64;
        }
        Ok(())
    }

    /// Fills `bytes`; an error has the offset of the end of the file.
    fn fill(&mut self, mut bytes: &mut [MaybeUninit<u8>], what: &str) -> Result<()> {
        while !bytes.is_empty() {
            let start = bytes.as_ptr();
            match self.reader.read_into(bytes) {
                Ok([]) => return Err(self.io_error(ErrorKind::UnexpectedEof.into(), what)),
                Ok(read) => {
                    // Callers rely on it that the bytes are written.
                    assert_eq!(read.as_ptr(), start.cast());
                    let n = read.len();
                    bytes = &mut bytes[n..];
                    self.offset += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.io_error(e, what)),
            }
        }
        Ok(())
    }

    /// As `string`, for what is nearly always one of these.
    pub fn string_of(&mut self, what: &str, known: &[&'static str]) -> Result<Cow<'static, str>> {
        let head = self.peek()?;
        let is = |name: &&&str| {
            head.starts_with(&(name.len() as i32).to_le_bytes()) && head[4..].starts_with(name.as_bytes())
        };
        let Some(name) = known.iter().find(is) else { return self.string(what).map(Cow::Owned) };
        self.reader.consume(4 + name.len());
        self.offset += 4 + name.len() as u64;
        Ok(Cow::Borrowed(name))
    }

    /// A string with its 32-bit length in front, as OpenFst writes them.
    pub fn string(&mut self, what: &str) -> Result<String> {
        let at = self.offset;
        let len = self.i32(what)?;
        let Ok(len) = u64::try_from(len) else {
            return Err(Error::binary(&self.name, at, format!("a negative length, {len}, for {what}")));
        };
        self.text_of(len, what, at)
    }

    /// The next `len` bytes as text; `at` is where the error is if they are not.
    pub fn text_of(&mut self, len: u64, what: &str, at: u64) -> Result<String> {
        let mut bytes = Vec::with_capacity(len.min(64) as usize);
        self.append(len, what, &mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Error::binary(&self.name, at, format!("{what} is not UTF-8 text")))
    }

    /// Appends the next `len` bytes.
    pub fn append(&mut self, len: u64, what: &str, bytes: &mut Vec<u8>) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        match self.reader.fill_buf() {
            Ok(buf) => {
                if let Some(here) = buf.get(..len as usize) {
                    bytes.extend_from_slice(here);
                    self.reader.consume(len as usize);
                    self.offset += len;
                    return Ok(());
                }
            }
            // A damaged stream may say so once only.
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(self.io_error(e, what)),
            Err(_) => {}
        }
        bytes.reserve(self.reservable(len, 1).min(CAUTIOUS as usize));
        let got = self.reader.by_ref().take(len).read_to_end(bytes).map_err(|e| self.io_error(e, what))? as u64;
        self.offset += got;
        if got < len {
            return Err(self.error(format!("the file ends inside {what}; it is cut off")));
        }
        Ok(())
    }

    /// Skips padding up to a multiple of `align`, as counted from the start of the file.
    pub fn align(&mut self, align: u64) -> Result<()> {
        while !self.offset.is_multiple_of(align) {
            self.take::<1>("alignment padding")?;
        }
        Ok(())
    }
}

/// A vector of this capacity, in large pages if it is large and the system has them.
pub fn roomy<T>(capacity: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(capacity);
    let bytes = items.capacity() * size_of::<T>();
    if bytes >= LARGE {
        advise(items.spare_capacity_mut().as_mut_ptr().cast(), bytes, Advice::LargePages);
    }
    items
}

/// As `roomy`, for a vector that will be filled to its end: a smaller one gets all its pages at once.
pub fn settled<T>(capacity: usize) -> Vec<T> {
    let mut items = roomy(capacity);
    let bytes = items.capacity() * size_of::<T>();
    if (MEDIUM..LARGE).contains(&bytes) && !warm(items.spare_capacity_mut(), bytes) {
        advise(items.spare_capacity_mut().as_mut_ptr().cast(), bytes, Advice::Populate);
    }
    items
}

/// True if the memory is there already: if its last page is. Memory that a program reads into again and again is.
fn warm<T>(memory: &[MaybeUninit<T>], bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let mut there = 0u8;
        let last = (memory.as_ptr() as usize + bytes - 1) / PAGE * PAGE;
        // SAFETY: asks about a page and writes one byte.
        unsafe { libc::mincore(last as *mut _, 1, (&raw mut there).cast()) == 0 && there & 1 == 1 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (memory, bytes);
        true
    }
}

pub(crate) enum Advice {
    LargePages,
    Populate,
}

/// Tells the system how the pages of this memory will be used, those at its ends included: a large block has its pages to
/// itself, and if only some of them were advised it could no longer grow without being copied. Refused advice is no loss.
pub(crate) fn advise(memory: *mut u8, bytes: usize, advice: Advice) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let skip = memory.addr() % PAGE;
        let pages = (skip + bytes).next_multiple_of(PAGE);
        let advice = match advice {
            Advice::LargePages => libc::MADV_HUGEPAGE,
            Advice::Populate => libc::MADV_POPULATE_WRITE,
        };
        // SAFETY: pages that the process has, and neither advice changes what is in them.
        unsafe { libc::madvise(memory.wrapping_sub(skip).cast(), pages, advice) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes, advice);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(bytes: Vec<u8>) -> ByteSource {
        let size = Some(bytes.len() as u64);
        ByteSource::new(Input { name: "t".into(), size, reader: Reader::Stream(Box::new(std::io::Cursor::new(bytes))) })
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn pieces_come_in_order_whatever_room_they_are_lent() {
        let words: Vec<u32> = (0..5 * 40_000).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        for count in [0, 1, 63, 64, 65, 3276, 3277, 40_000] {
            for room in [0, 7, 70, 400, 30_000] {
                let mut lent: Vec<Arc<Tropical>> = Vec::with_capacity(room);
                let mut got: Vec<u32> = vec![];
                let mut s = source(bytes.clone());
                s.pieces::<[u32; 5], _>(count as u64, "states", lent.spare_capacity_mut(), |p| {
                    got.extend(p.as_flattened());
                })
                .unwrap();
                assert!(got == words[..5 * count], "{count} {room}");
                assert_eq!(s.offset(), 20 * count as u64);
            }
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn items_of_every_size_class_arrive_whole() {
        for count in [0, 1, 5, MEDIUM / 16, STEP / 16 + 1, LARGE / 16 - 1, LARGE / 16 + 7] {
            let arcs: Vec<_> =
                (0..count as i32).map(|i| Arc::new(i, -7, Tropical(i as f32 / 2.0), i as u32 * 3)).collect();
            let mut bytes = vec![];
            for a in &arcs {
                bytes.extend(a.ilabel.to_le_bytes());
                bytes.extend(a.olabel.to_le_bytes());
                bytes.extend(a.weight.0.to_le_bytes());
                bytes.extend(a.nextstate.to_le_bytes());
            }
            let mut read = settled(count);
            let mut seen = 0;
            source(bytes.clone()).items(count as u64, "arcs", &mut read, |some| seen += some.len()).unwrap();
            assert_eq!((seen, &read), (count, &arcs));
            bytes.pop();
            if count > 0 {
                let mut read: Vec<Arc<Tropical>> = roomy(count);
                let e = source(bytes).items(count as u64, "arcs", &mut read, |_| ()).unwrap_err().to_string();
                assert_eq!(e, format!("t: byte {}: the file ends inside arcs; it is cut off", count * 16 - 1));
            }
        }
    }
}
