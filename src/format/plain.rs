//! Files that are read as they are: a look at the beginning, which tells what a file is, then large pieces, and whatever
//! goes into an array of its own straight into it.
//!
//! Straight, unless that is slow: the system copies whole pages of the file, and some processors copy up to ten times slower
//! where the place lies a few bytes behind the bytes it comes from, counted within a page (AMD's Zen, `rep movsb`). Large
//! arrays begin 16 bytes into a page, so that happens to every file that is read into one from its beginning on.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::mem::MaybeUninit;

use super::io::{BUFFER, Source, copied};

/// Bytes of the first look: a header. More would be copied twice where the rest goes into arrays; and a whole page would
/// bring the rest to the slow places of arrays that begin 16 bytes into one.
const LOOK: usize = 1 << 9;
/// A place of this many bytes is filled past the buffer.
const DIRECT: usize = 1 << 12;
const PAGE: u64 = 1 << 12;
/// Copying is slow to less than this many bytes behind, within a page. The buffer keeps twice as far from either side of
/// the bytes in the file: what is copied out of it goes to the very places that are slow for the file.
const BEHIND: u64 = 32;
const ROOM: usize = 4 * BEHIND as usize;

pub(super) struct PlainFile {
    file: File,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are taken.
    at: usize,
    /// Bytes of the file that are read.
    position: u64,
}

impl PlainFile {
    pub fn new(file: File) -> Self {
        Self::from(file, 0)
    }
    /// A file that stands at this place.
    pub fn from(file: File, position: u64) -> Self {
        PlainFile { file, buffer: vec![], at: 0, position }
    }
    /// How far behind the next bytes of the file this place lies, within a page.
    fn behind(&self, place: *const MaybeUninit<u8>) -> u64 {
        (place.addr() as u64).wrapping_sub(self.position) % PAGE
    }
    /// True if these bytes should come straight from the file, with nothing left in the buffer.
    fn direct(&self, place: &[MaybeUninit<u8>]) -> bool {
        place.len() >= DIRECT && !(1..BEHIND).contains(&self.behind(place.as_ptr()))
    }
    /// One read of the system.
    fn read_some<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        let read = read_some(&mut self.file, place)?;
        self.position += read.len() as u64;
        Ok(read)
    }
    /// What is in the buffer, into `place`.
    fn take<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> &'a mut [u8] {
        let taken = copied(place, &self.buffer[self.at..]);
        self.at += taken.len();
        taken
    }
}

impl Source for PlainFile {
    fn read_into<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        if self.at < self.buffer.len() {
            return Ok(self.take(place));
        }
        if self.direct(place) {
            return self.read_some(place);
        }
        self.fill_buf()?;
        Ok(self.take(place))
    }
}

impl Read for PlainFile {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        // SAFETY: only bytes that were read are written there.
        let place = unsafe { std::slice::from_raw_parts_mut(place.as_mut_ptr().cast(), place.len()) };
        self.read_into(place).map(|read| read.len())
    }
}

impl BufRead for PlainFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            let size = if self.buffer.capacity() == 0 { LOOK } else { BUFFER };
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            buffer.reserve_exact(size + ROOM);
            let behind = self.behind(buffer.spare_capacity_mut().as_ptr());
            if !(2 * BEHIND..=PAGE - 2 * BEHIND).contains(&behind) {
                buffer.resize(ROOM, 0);
            }
            let from = buffer.len();
            let n = self.read_some(&mut buffer.spare_capacity_mut()[..size]).map(|read| read.len());
            // SAFETY: so many bytes were read behind those that are there.
            unsafe { buffer.set_len(from + *n.as_ref().unwrap_or(&0)) };
            (self.buffer, self.at) = (buffer, from);
            n?;
        }
        Ok(&self.buffer[self.at..])
    }
    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.buffer.len());
    }
}

/// One read of the system.
#[cfg(unix)]
fn read_some<'a>(file: &mut File, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
    use std::os::fd::AsRawFd;
    // SAFETY: the system writes at most so many bytes there, and as many as it says.
    unsafe {
        let n = libc::read(file.as_raw_fd(), place.as_mut_ptr().cast(), place.len().min(isize::MAX as usize));
        match usize::try_from(n) {
            Ok(n) => Ok(std::slice::from_raw_parts_mut(place.as_mut_ptr().cast(), n)),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}
#[cfg(not(unix))]
fn read_some<'a>(file: &mut File, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
    let place = super::io::zeroed(place);
    let n = file.read(place)?;
    Ok(&mut place[..n])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Wherever the place lies within its page, before and behind the bytes of the file, the bytes are the same, and slow
    /// places are filled from the buffer.
    #[test]
    fn every_place_within_a_page_gets_the_bytes() {
        let bytes: Vec<u8> = (0..150_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        let mut temp = tempfile::tempfile().unwrap();
        temp.write_all(&bytes).unwrap();
        let page = PAGE as usize;
        let mut memory: Vec<u8> = Vec::with_capacity(bytes.len() + 2 * page);
        let memory = memory.spare_capacity_mut();
        let skip = memory.as_ptr().align_offset(page);
        for taken in [0, 5, LOOK] {
            for behind in [0, 1, 4, 16, 31, 32, 33, 64, 2048, page - 32, page - 16, page - 1] {
                io::Seek::rewind(&mut temp).unwrap();
                let mut plain = PlainFile::new(temp.try_clone().unwrap());
                plain.buffer.reserve_exact(1); // no first look
                plain.read_exact(&mut vec![0; taken]).unwrap();
                let place = &mut memory[skip + behind + taken % page..][..bytes.len() - taken];
                let mut got = 0;
                while got < place.len() {
                    let (buffered, wanted) = (plain.at < plain.buffer.len(), place.len() - got);
                    let read = plain.read_into(&mut place[got..]).unwrap();
                    assert_eq!(read, &bytes[taken + got..][..read.len()], "{taken} {behind}");
                    if !buffered && wanted > BUFFER {
                        let slow = (1..BEHIND as usize).contains(&behind);
                        assert_eq!(read.len(), if slow { BUFFER } else { wanted }, "{taken} {behind}");
                    }
                    got += read.len();
                }
                assert_eq!(plain.read_into(&mut place[..9]).unwrap().len(), 0);
            }
        }
    }

    /// However a file is read, its bytes come in order and none is lost.
    #[test]
    fn every_way_of_reading_gives_the_bytes() {
        let bytes: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        for size in [0, 1, LOOK - 1, LOOK, LOOK + 1, BUFFER + LOOK, bytes.len()] {
            let mut temp = tempfile::tempfile().unwrap();
            temp.write_all(&bytes[..size]).unwrap();
            for seed in 0..20usize {
                io::Seek::rewind(&mut temp).unwrap();
                let mut plain = PlainFile::new(temp.try_clone().unwrap());
                let mut got = vec![];
                for turn in seed.. {
                    let want = [3, 50, 5000, 70_000][turn * 7 % 13 % 4];
                    let before = got.len();
                    match turn % 3 {
                        0 => {
                            got.resize(before + want, 0);
                            let n = plain.read(&mut got[before..]).unwrap();
                            got.truncate(before + n);
                        }
                        1 => {
                            got.reserve(want);
                            let n = plain.read_into(&mut got.spare_capacity_mut()[..want]).unwrap().len();
                            // SAFETY: read just now.
                            unsafe { got.set_len(before + n) };
                        }
                        _ => {
                            let some = plain.fill_buf().unwrap();
                            let n = some.len().min(want);
                            got.extend_from_slice(&some[..n]);
                            plain.consume(n);
                        }
                    }
                    if got.len() == before {
                        break;
                    }
                }
                assert!(got == bytes[..size], "{size} {seed}");
            }
        }
    }
}
