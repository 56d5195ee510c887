//! The bytes of small files, whole in memory: thousands of them are opened by one command, and what each takes beside the
//! system's own work counts. So there are three calls of the system, to open, to read and to close, and the memory goes
//! from one file to the next.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::mem::MaybeUninit;

use super::io::{Source, copied};

/// Files of fewer bytes are small.
const SMALL: usize = 1 << 13;

thread_local! {
    /// Memory of the file before.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(vec![]) };
}

/// Bytes in memory, of which some are taken.
pub struct Bytes {
    bytes: Vec<u8>,
    at: usize,
    /// Bytes of the file in front of these.
    before: u64,
    /// Where they come from, to be asked once more at their end.
    file: Option<File>,
}

impl Bytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        Bytes { bytes, at: 0, before: 0, file: None }
    }

    /// The whole of a small file. What is no such file, or cannot be read like one, comes back as it was.
    #[cfg(unix)]
    pub fn of(file: File) -> Result<Self, File> {
        use std::os::fd::AsRawFd;
        let mut bytes = SPARE.take();
        bytes.clear();
        bytes.reserve(SMALL);
        // Pipes and terminals refuse to be read at a place. Few bytes are all there are, but for files of unusual kinds.
        // SAFETY: the system writes at most so many bytes there, and as many as it says.
        let n = unsafe { libc::pread(file.as_raw_fd(), bytes.as_mut_ptr().cast(), SMALL, 0) };
        // A file that seems empty may have bytes all the same, as some of /proc have.
        match usize::try_from(n) {
            Ok(n) if (1..SMALL).contains(&n) => {
                // SAFETY: so many bytes were read.
                unsafe { bytes.set_len(n) };
                Ok(Bytes { bytes, at: 0, before: 0, file: Some(file) })
            }
            _ => {
                SPARE.set(bytes);
                Err(file)
            }
        }
    }
    #[cfg(not(unix))]
    pub fn of(file: File) -> Result<Self, File> {
        Err(file)
    }

    /// As many as the file has, if it gave them all at once.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Asks the file for more, all that it gave being taken. It has none unless it is growing or of an unusual kind.
    #[cold]
    fn more(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(file) = &self.file {
            use std::os::unix::fs::FileExt;
            self.before += self.bytes.len() as u64;
            self.at = 0;
            self.bytes.clear();
            self.bytes.resize(SMALL, 0);
            let more = file.read_at(&mut self.bytes, self.before);
            self.bytes.truncate(*more.as_ref().unwrap_or(&0));
            more?;
        }
        Ok(())
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if (SMALL..=2 * SMALL).contains(&self.bytes.capacity()) {
            SPARE.set(std::mem::take(&mut self.bytes));
        }
    }
}

impl Read for Bytes {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(place)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Bytes {
    #[inline(always)]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.bytes.len() {
            self.more()?;
        }
        Ok(&self.bytes[self.at..])
    }
    #[inline(always)]
    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.bytes.len());
    }
}

impl Source for Bytes {
    fn read_into<'a>(&mut self, place: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        let read = copied(place, self.fill_buf()?);
        self.consume(read.len());
        Ok(read)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;

    /// Bytes of the file before are not seen, and those that come to a file later are.
    #[test]
    fn every_file_has_its_own_bytes() {
        for size in [5000usize, 3, 1, SMALL - 1, 100] {
            let mut temp = tempfile::tempfile().unwrap();
            let text: Vec<u8> = (0..size).map(|i| ((i * i) >> 3) as u8).collect();
            temp.write_all(&text).unwrap();
            let Ok(mut bytes) = Bytes::of(temp.try_clone().unwrap()) else { panic!("{size} bytes are few") };
            let mut got = bytes.fill_buf().unwrap()[..1].to_vec();
            bytes.consume(1);
            bytes.read_to_end(&mut got).unwrap();
            assert!(got == text, "{size}");
            assert!(bytes.fill_buf().unwrap().is_empty());
            temp.write_all(b"more").unwrap();
            let mut place = [MaybeUninit::uninit(); 10];
            assert_eq!(bytes.read_into(&mut place).unwrap(), b"more");
        }
    }

    #[test]
    fn others_come_back() {
        let mut temp = tempfile::tempfile().unwrap();
        assert!(Bytes::of(temp.try_clone().unwrap()).is_err(), "empty");
        temp.write_all(&vec![1; SMALL]).unwrap();
        assert!(Bytes::of(temp).is_err(), "large");
        assert!(Bytes::of(File::open("/").unwrap()).is_err(), "a folder");
        let (reader, _writer) = io::pipe().unwrap();
        assert!(Bytes::of(File::from(std::os::fd::OwnedFd::from(reader))).is_err(), "a pipe");
    }
}
