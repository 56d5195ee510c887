//! Files for what does not fit in memory. They have no name while they live, so that nothing is left behind however the
//! program ends; where a file in use cannot lose its name it is removed at the end.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// Numbers written or read with one call of the system.
const BLOCK: usize = 1 << 16;

static UNIQUE: AtomicU64 = AtomicU64::new(0);

/// A file of u32 numbers, written at its end and read anywhere. Clones are the same file.
#[derive(Clone)]
pub struct TempFile {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    file: File,
    path: PathBuf,
    /// The name is gone already.
    nameless: bool,
    /// Numbers in the file, or bytes.
    len: u64,
    bytes: Vec<u8>,
}

impl TempFile {
    pub fn create(folder: &Path) -> Result<Self> {
        let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("weft.{}.{unique}.tmp", std::process::id()));
        let fail = |e| Error::io(&path, e);
        let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(fail)?;
        let nameless = cfg!(unix) && fs::remove_file(&path).is_ok();
        let inner = Inner { file, path, nameless, len: 0, bytes: vec![] };
        Ok(TempFile { inner: Arc::new(Mutex::new(inner)) })
    }

    /// Appends; says where the numbers begin.
    pub fn append(&self, data: &[u32]) -> Result<u64> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let at = inner.len;
        inner.append(data).map_err(|e| Error::io(&inner.path, e))?;
        Ok(at)
    }

    /// Reads `count` numbers from `at` on behind what `out` has.
    pub fn read(&self, at: u64, count: usize, out: &mut Vec<u32>) -> Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.read(at, count, out).map_err(|e| Error::io(&inner.path, e))
    }

    /// Appends bytes, in a file that is used for bytes only; says where they begin.
    pub fn append_bytes(&self, data: &[u8]) -> Result<u64> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let at = inner.len;
        let inner = &mut *inner;
        let written = inner.file.seek(SeekFrom::Start(at)).and_then(|_| inner.file.write_all(data));
        written.map_err(|e| Error::io(&inner.path, e))?;
        inner.len += data.len() as u64;
        Ok(at)
    }

    /// Reads `count` bytes from `at` on behind what `out` has.
    pub fn read_bytes(&self, at: u64, count: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let had = out.len();
        out.resize(had + count, 0);
        let inner = &mut *inner;
        let read = inner.file.seek(SeekFrom::Start(at)).and_then(|_| inner.file.read_exact(&mut out[had..]));
        read.map_err(|e| Error::io(&inner.path, e))
    }
}

impl Inner {
    fn append(&mut self, data: &[u32]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.len * 4))?;
        for part in data.chunks(BLOCK) {
            self.bytes.clear();
            self.bytes.extend(part.iter().flat_map(|n| n.to_le_bytes()));
            self.file.write_all(&self.bytes)?;
        }
        self.len += data.len() as u64;
        Ok(())
    }

    fn read(&mut self, at: u64, count: usize, out: &mut Vec<u32>) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at * 4))?;
        let mut left = count;
        while left > 0 {
            let part = left.min(BLOCK);
            self.bytes.resize(part * 4, 0);
            self.file.read_exact(&mut self.bytes)?;
            out.extend(self.bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)));
            left -= part;
        }
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.nameless {
            let _ = fs::remove_file(&self.path);
        }
    }
}
