//! OpenFst's archives (FAR) of many automata in one file, `sttable` and `stlist`.
//!
//! Both begin with a magic number and a version and hold entries of a key and a binary automaton. An stlist ends with an
//! empty key; an sttable ends with the positions of its entries, so that OpenFst can search it for a key. Entries are
//! in the order of their keys. Reading is one pass over a stream (in a plain sttable it may begin at a key), so that an archive may be compressed or piped, whatever
//! its kind; only one entry is held at a time. A plain automaton is read as an archive of one, with its file's name as
//! key, as OpenFst does.

use std::io::Write;

use super::binary::{self, Container, Header};
use super::bytes::ByteSource;
use super::far_index;
use super::io::{self, Output};
use super::plain::PlainFile;
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;

const TABLE_MAGIC: i32 = 2125656924;
const LIST_MAGIC: i32 = 5656924;
const VERSION: i32 = 1;

/// The kinds of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarType {
    /// With an index of positions at the end.
    Table,
    /// Entries one after the other: can be written to a pipe by OpenFst, too.
    List,
    /// One automaton without any wrapping.
    Fst,
}

impl FarType {
    pub fn name(self) -> &'static str {
        match self {
            FarType::Table => "sttable",
            FarType::List => "stlist",
            FarType::Fst => "fst",
        }
    }
}

/// True if the bytes begin like an archive (a plain automaton is not meant here).
pub fn looks_far(head: &[u8]) -> bool {
    head.starts_with(&TABLE_MAGIC.to_le_bytes()) || head.starts_with(&LIST_MAGIC.to_le_bytes())
}

/// One entry with the header its automaton had in the file.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub fst: AnyFst,
    pub header: Header,
}

/// Entries of one archive, in the order of the file.
pub struct FarReader {
    source: ByteSource,
    far_type: FarType,
    /// Where entries began: checked against the index of an sttable.
    positions: Vec<u64>,
    last_key: String,
    done: bool,
}

impl FarReader {
    /// Opens an archive, or standard input for `-`.
    pub fn open(name: &str) -> Result<Self> {
        Self::from_input(io::open(name)?)
    }

    /// As `open`; entries whose keys come before `begin` may be left out.
    pub fn open_from(name: &str, begin: Option<&str>) -> Result<Self> {
        let head = [TABLE_MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat();
        let place = begin.filter(|_| !io::is_stdio(name)).and_then(|begin| far_index::find(name, &head, begin));
        let Some(place) = place else { return Self::open(name) };
        let reader = io::Reader::Stream(Box::new(PlainFile::from(place.file, place.at)));
        let input = io::Input { name: name.into(), size: Some(place.size), reader };
        let source = ByteSource::of_many_from(input, place.at);
        let far_type = FarType::Table;
        Ok(FarReader { source, far_type, positions: place.before, last_key: String::new(), done: false })
    }

    pub fn from_input(input: io::Input) -> Result<Self> {
        let mut source = ByteSource::of_many(input);
        if source.at_end()? {
            return Err(source.error("the file is empty, expected an archive"));
        }
        let far_type = if binary::looks_binary(source.peek()?) {
            FarType::Fst
        } else {
            if !looks_far(source.peek()?) {
                return Err(source.error("not an OpenFst archive (bad magic number)"));
            }
            let kind = source.i32("the magic number")?;
            let version = source.i32("the archive's version")?;
            if version != VERSION {
                return Err(source.error(format!("version {version} of an archive is not known")));
            }
            if kind == TABLE_MAGIC { FarType::Table } else { FarType::List }
        };
        Ok(FarReader { source, far_type, positions: vec![], last_key: String::new(), done: false })
    }

    pub fn far_type(&self) -> FarType {
        self.far_type
    }
    /// The name to show in errors.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// True if the file is in memory as it is.
    pub(super) fn is_here(&self) -> bool {
        self.source.is_here()
    }

    /// The next key, or none at the end; its automaton must be read with `fst` before the next key.
    pub(super) fn key(&mut self) -> Result<Option<String>> {
        if self.done {
            return Ok(None);
        }
        let at = self.source.offset();
        let key = match self.far_type {
            FarType::Fst => {
                if self.positions.is_empty() {
                    Some(self.source.name().to_string())
                } else if self.source.at_end()? {
                    None
                } else {
                    return Err(self.source.error("bytes after the end of the automaton"));
                }
            }
            FarType::List => Some(self.source.string("the key of an entry")?).filter(|k| !k.is_empty()),
            FarType::Table => self.table_key()?,
        };
        match &key {
            Some(key) => {
                if self.far_type != FarType::Fst && *key < self.last_key {
                    let message = format!("key {key:?} after {:?}: the keys of an archive are sorted", self.last_key);
                    return Err(Error::binary(self.source.name(), at, message));
                }
                self.last_key.clone_from(key);
                self.positions.push(at);
            }
            None => {
                self.done = true;
                if self.far_type == FarType::List && !self.source.at_end()? {
                    return Err(self.source.error("bytes after the end of the archive"));
                }
            }
        }
        Ok(key)
    }

    /// An entry's key, or the index, which begins with the number of entries in 64 bits. The two cannot be mixed up: a
    /// key of that many bytes would have to begin with zeros.
    fn table_key(&mut self) -> Result<Option<String>> {
        const WHAT: &str = "the key of an entry";
        let at = self.source.offset();
        let entries = self.positions.len() as u64;
        let length = self.source.i32(WHAT)?;
        let Ok(length) = u64::try_from(length) else {
            return Err(Error::binary(self.source.name(), at, format!("a negative length, {length}, for {WHAT}")));
        };
        if length != entries {
            if length == 0 {
                return Err(Error::binary(self.source.name(), at, "an entry with an empty key"));
            }
            return self.source.text_of(length, WHAT, at).map(Some);
        }
        let mut head = [0u8; 4];
        let known = entries.min(4) as usize;
        for byte in &mut head[..known] {
            *byte = self.source.take::<1>(WHAT)?[0];
        }
        if head[..known].iter().any(|&b| b != 0) {
            let mut bytes = head[..known].to_vec();
            self.source.append(length - known as u64, WHAT, &mut bytes)?;
            return String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| Error::binary(self.source.name(), at, format!("{WHAT} is not UTF-8 text")));
        }
        for _ in known..4 {
            if self.source.take::<1>("the index of the archive")?[0] != 0 {
                return Err(Error::binary(self.source.name(), at, "a key that consists of zeros"));
            }
        }
        self.index()?;
        Ok(None)
    }

    /// The index after its first number.
    fn index(&mut self) -> Result<()> {
        const WHAT: &str = "the index of the archive";
        for i in 0..self.positions.len() {
            let at = self.source.i64(WHAT)?;
            if at as u64 != self.positions[i] {
                let message = format!("the index says entry {i} is at byte {at}, it is at {}", self.positions[i]);
                return Err(self.source.error(message));
            }
        }
        let count = self.source.i64(WHAT)?;
        if count != self.positions.len() as i64 {
            let message = format!("the index counts {count} entries, the archive has {}", self.positions.len());
            return Err(self.source.error(message));
        }
        if !self.source.at_end()? {
            return Err(self.source.error("bytes after the end of the archive"));
        }
        Ok(())
    }

    pub(super) fn fst(&mut self) -> Result<(AnyFst, Header)> {
        binary::read_from(&mut self.source)
    }

    /// The next entry, or none at the end.
    pub fn next_entry(&mut self) -> Result<Option<Entry>> {
        let Some(key) = self.key()? else { return Ok(None) };
        let (fst, header) = self.fst()?;
        Ok(Some(Entry { key, fst, header }))
    }
}

/// After an error there is nothing more.
impl Iterator for FarReader {
    type Item = Result<(String, AnyFst)>;
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.next_entry();
        if entry.is_err() {
            self.done = true;
        }
        entry.map(|e| e.map(|e| (e.key, e.fst))).transpose()
    }
}

/// Writes an archive entry by entry; it appears under its name at `finish`.
pub struct FarWriter {
    out: Output,
    far_type: FarType,
    offset: u64,
    positions: Vec<u64>,
    last_key: String,
    arc_type: Option<&'static str>,
}

impl FarWriter {
    /// Begins an archive in a file, or on standard output for `-`.
    pub fn create(name: &str, far_type: FarType) -> Result<Self> {
        let mut w = FarWriter {
            out: io::create(name)?,
            far_type,
            offset: 0,
            positions: vec![],
            last_key: String::new(),
            arc_type: None,
        };
        match far_type {
            FarType::Table => w.put(&[TABLE_MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat())?,
            FarType::List => w.put(&[LIST_MAGIC.to_le_bytes(), VERSION.to_le_bytes()].concat())?,
            FarType::Fst => {}
        }
        Ok(w)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| Error::io(self.out.name(), e))
    }

    /// Adds an automaton in a vector container. Keys come in their order, the order of bytes.
    pub fn add(&mut self, key: &str, fst: &AnyFst) -> Result<()> {
        self.add_as(key, fst, Container::Vector)
    }

    pub fn add_as(&mut self, key: &str, fst: &AnyFst, container: Container) -> Result<()> {
        if key.is_empty() || key.starts_with('\0') {
            return Err(Error::op("far", "an entry of an archive needs a key that is not empty"));
        }
        if *key < *self.last_key {
            return Err(Error::op(
                "far",
                format!(
                    "key {key:?} comes after {:?}: the keys of an archive must be sorted (as bytes); \
                     name the files in that order or let the keys be numbers (--generate-keys)",
                    self.last_key
                ),
            ));
        }
        binary::writable(fst, container)?;
        match self.arc_type {
            Some(arc_type) if arc_type != fst.arc_type() => {
                return Err(Error::op(
                    "far",
                    format!(
                        "the entry {key:?} has arc type {}, those before have {arc_type}; an archive has one",
                        fst.arc_type()
                    ),
                ));
            }
            _ => self.arc_type = Some(fst.arc_type()),
        }
        if self.far_type == FarType::Fst {
            if !self.positions.is_empty() {
                return Err(Error::op("far", "an archive of type fst holds one automaton; use sttable or stlist"));
            }
        } else {
            let at = self.offset;
            self.put(&(key.len() as i32).to_le_bytes())?;
            self.put(key.as_bytes())?;
            self.positions.push(at);
        }
        if self.far_type == FarType::Fst {
            self.positions.push(0);
        }
        self.last_key.clear();
        self.last_key.push_str(key);
        let mut counted = Counted { out: &mut self.out, written: 0 };
        let done = binary::write_any(&mut counted, fst, container);
        self.offset += counted.written;
        done.map_err(|e| Error::io(self.out.name(), e))
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.positions.len()
    }
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Ends the archive and puts the file in place.
    pub fn finish(mut self) -> Result<()> {
        match self.far_type {
            FarType::List => self.put(&0i32.to_le_bytes())?,
            FarType::Table => {
                let count = (self.positions.len() as i64).to_le_bytes();
                let mut index = count.to_vec();
                index.extend(self.positions.iter().flat_map(|p| p.to_le_bytes()));
                index.extend(count);
                self.put(&index)?;
            }
            FarType::Fst => {}
        }
        self.out.commit()
    }
}

/// Counts the bytes that go through.
struct Counted<'a> {
    out: &'a mut Output,
    written: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::{Arc, FlatFst};
    use crate::fst::semiring::{Log64, Tropical, Weight};

    fn chain(n: u32) -> AnyFst {
        let mut rows: Vec<_> =
            (0..n).map(|s| (Tropical::ZERO, vec![Arc::new(s as i32 + 1, 7, Tropical(0.5), s + 1)])).collect();
        rows.push((Tropical::ONE, vec![]));
        AnyFst::Standard(FlatFst::from_rows(0, rows))
    }

    fn write(far_type: FarType, name: &str, entries: &[(String, AnyFst)]) -> Result<()> {
        let mut w = FarWriter::create(name, far_type)?;
        for (key, fst) in entries {
            w.add(key, fst)?;
        }
        w.finish()
    }

    #[test]
    fn both_kinds_come_back_in_order_whatever_the_length_of_keys() {
        let dir = tempfile::tempdir().unwrap();
        // Keys whose length is the number of entries before them look most like an index.
        let keys = ["a", "b", "cc", "ddd", "eeee", "fffff", "gggggg"];
        for kind in [FarType::Table, FarType::List] {
            for suffix in ["far", "far.gz", "far.zst"] {
                for n in 0..=keys.len() {
                    let name = dir.path().join(format!("{}.{suffix}", kind.name()));
                    let name = name.to_str().unwrap();
                    let entries: Vec<_> = (0..n).map(|i| (keys[i].to_string(), chain(i as u32))).collect();
                    write(kind, name, &entries).unwrap();
                    let reader = FarReader::open(name).unwrap();
                    assert_eq!(reader.far_type(), kind);
                    assert_eq!(reader.collect::<Result<Vec<_>>>().unwrap(), entries);
                }
            }
        }
    }

    #[test]
    fn the_writer_refuses_what_openfst_could_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("x");
        let name = name.to_str().unwrap();
        let mut w = FarWriter::create(name, FarType::Table).unwrap();
        w.add("b", &chain(1)).unwrap();
        assert!(w.add("a", &chain(1)).unwrap_err().to_string().contains("must be sorted"));
        assert!(w.add("", &chain(1)).unwrap_err().to_string().contains("not empty"));
        assert!(w.add("c", &FlatFst::<Log64>::empty().into()).unwrap_err().to_string().contains("arc type"));
        drop(w);
        assert!(!std::path::Path::new(name).exists());
    }

    #[test]
    fn an_index_that_lies_is_found_out() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("x");
        let name = name.to_str().unwrap();
        write(FarType::Table, name, &[("a".into(), chain(1)), ("b".into(), chain(1))]).unwrap();
        let mut bytes = std::fs::read(name).unwrap();
        let at = bytes.len() - 16;
        bytes[at] ^= 1;
        let e = FarReader::from_input(io::from_bytes("x", bytes).unwrap()).unwrap().find_map(Result::err).unwrap();
        assert!(e.to_string().contains("the index says entry 1"), "{e}");
    }
}
