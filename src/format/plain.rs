//! Files that are read as they are: a look at the beginning, which tells what a file is, then large pieces, and whatever
//! goes into an array of its own straight into it.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::mem::MaybeUninit;

use super::io::{BUFFER, Source};

/// Bytes of the first look: a header. More would be copied twice where the rest goes into arrays.
const LOOK: usize = 1 << 12;
/// A place of this many bytes is filled past the buffer.
const DIRECT: usize = 1 << 12;

pub(super) struct PlainFile {
    file: File,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are taken.
    at: usize,
}

impl PlainFile {
    pub fn new(file: File) -> Self {
        PlainFile { file, buffer: vec![], at: 0 }
    }
    /// What is in the buffer, into `place`.
    fn take<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> &'a mut [u8] {
        let n = place.len().min(self.buffer.len() - self.at);
        let place = &mut place[..n];
        let from = &self.buffer[self.at..self.at + n];
        self.at += n;
        // SAFETY: `n` bytes, all of them written here; the buffer is memory of its own.
        unsafe {
            place.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from.as_ptr(), n);
            std::slice::from_raw_parts_mut(place.as_mut_ptr().cast(), n)
        }
    }
}

impl Source for PlainFile {
    fn read_into<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        if self.at < self.buffer.len() {
            return Ok(self.take(place));
        }
        if place.len() >= DIRECT {
            return read_some(&mut self.file, place);
        }
        self.fill_buf()?;
        Ok(self.take(place))
    }
}

impl Read for PlainFile {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() {
            if place.len() >= DIRECT {
                return self.file.read(place);
            }
            self.fill_buf()?;
        }
        let n = place.len().min(self.buffer.len() - self.at);
        place[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl BufRead for PlainFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            let size = if self.buffer.capacity() == 0 { LOOK } else { BUFFER };
            self.buffer.clear();
            self.at = 0;
            self.buffer.reserve_exact(size);
            let n = read_some(&mut self.file, &mut self.buffer.spare_capacity_mut()[..size])?.len();
            // SAFETY: so many bytes were read into the beginning.
            unsafe { self.buffer.set_len(n) };
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
