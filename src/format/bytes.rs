//! Reading binary files piece by piece, with the byte offset in every error and no allocation that a lying size can blow up.

use std::io::{BufRead, ErrorKind, Read};

use super::io::Input;
use crate::error::{Error, Result};

/// Never reserve more than this on the word of a header alone.
const CAUTIOUS: u64 = 1 << 20;

pub struct ByteSource {
    name: String,
    size: Option<u64>,
    offset: u64,
    reader: Box<dyn BufRead + Send>,
}

impl ByteSource {
    pub fn new(input: Input) -> Self {
        ByteSource { name: input.name, size: input.size, offset: 0, reader: input.reader }
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn offset(&self) -> u64 {
        self.offset
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
    /// An upper bound of how many items of `bytes` are still to come, or 0 if unknown.
    pub fn at_most(&self, bytes: u64) -> usize {
        self.size.map_or(0, |size| (size.saturating_sub(self.offset) / bytes.max(1)) as usize)
    }

    pub fn at_end(&mut self) -> Result<bool> {
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
        if let Ok(buf) = self.reader.fill_buf()
            && buf.len() >= N
        {
            out.copy_from_slice(&buf[..N]);
            self.reader.consume(N);
        } else {
            self.reader.read_exact(&mut out).map_err(|e| self.io_error(e, what))?;
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
        let mut bytes = vec![];
        self.append(len, what, &mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Error::binary(&self.name, at, format!("{what} is not UTF-8 text")))
    }

    /// Appends the next `len` bytes.
    pub fn append(&mut self, len: u64, what: &str, bytes: &mut Vec<u8>) -> Result<()> {
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
