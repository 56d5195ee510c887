//! Several archives read as if they were one. Plain automata count as archives of one entry, and there may be thousands:
//! more than the system lets a process have open. Small ones are read whole with the look at what they are, so that the
//! system is asked no more often than for one; of the others some stay open, the rest are opened again in their turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::binary::Header;
use super::far::{Entry, FarReader, FarType};
use super::io;
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;

/// Automata that stay open until their turn; systems allow from 256 files on.
const OPEN: usize = 64;

/// Entries of several archives as if they were one: by key, then in the order the archives are given.
pub struct MergedReader {
    parts: Vec<Part>,
    /// The next key of each that has one, the least on top.
    keys: BinaryHeap<Reverse<(String, usize)>>,
    far_type: FarType,
}

/// An archive or an automaton on its way.
enum Part {
    Open(Box<FarReader>),
    /// An automaton that is read, or what is wrong with it, to be said in its turn.
    Read(Box<Result<(AnyFst, Header)>>),
    /// An automaton to be opened again, by its name.
    Closed(String),
    Done,
}

impl MergedReader {
    pub fn open(names: &[String]) -> Result<Self> {
        Self::open_from(names, None)
    }

    /// As `open`; entries whose keys come before `begin` may be left out.
    pub fn open_from(names: &[String], begin: Option<&str>) -> Result<Self> {
        let stdin = ["-".to_string()];
        let names = if names.is_empty() { &stdin[..] } else { names };
        if names.iter().filter(|n| io::is_stdio(n)).count() > 1 {
            return Err(Error::usage("standard input can be read only once"));
        }
        let mut parts = Vec::with_capacity(names.len());
        let mut keys = Vec::with_capacity(names.len());
        let mut far_type = None;
        let mut open = 0;
        for name in names {
            let mut reader = FarReader::open_from(name, begin)?;
            far_type.get_or_insert(reader.far_type());
            keys.push(reader.key());
            let plain = reader.far_type() == FarType::Fst;
            // A pipe cannot be opened twice.
            let again = || !io::is_stdio(name) && std::fs::metadata(name).is_ok_and(|m| m.is_file());
            parts.push(if plain && reader.is_here() {
                Part::Read(Box::new(whole(&mut reader)))
            } else if plain && open >= OPEN && again() {
                Part::Closed(name.clone())
            } else {
                open += 1;
                Part::Open(Box::new(reader))
            });
        }
        let mut heap = BinaryHeap::with_capacity(keys.len());
        for (i, key) in keys.into_iter().enumerate() {
            heap.extend(key?.map(|key| Reverse((key, i))));
        }
        Ok(MergedReader { parts, keys: heap, far_type: far_type.unwrap_or(FarType::Fst) })
    }

    /// The kind of the first archive.
    pub fn far_type(&self) -> FarType {
        self.far_type
    }

    pub fn next_entry(&mut self) -> Result<Option<Entry>> {
        let Some(Reverse((key, i))) = self.keys.pop() else { return Ok(None) };
        let (fst, header) = match std::mem::replace(&mut self.parts[i], Part::Done) {
            Part::Open(mut reader) => {
                let read = reader.fst()?;
                if let Some(next) = reader.key()? {
                    self.keys.push(Reverse((next, i)));
                    self.parts[i] = Part::Open(reader);
                }
                read
            }
            Part::Read(read) => (*read)?,
            Part::Closed(name) => {
                let mut reader = FarReader::open(&name)?;
                reader.key()?;
                whole(&mut reader)?
            }
            Part::Done => return Ok(None),
        };
        Ok(Some(Entry { key, fst, header }))
    }
}

/// The automaton of a file that has one, behind its key.
fn whole(reader: &mut FarReader) -> Result<(AnyFst, Header)> {
    let read = reader.fst()?;
    match reader.key()? {
        None => Ok(read),
        Some(_) => Err(Error::usage(format!("{}: the file was replaced while it was to be read", reader.name()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::binary::{self, Container};
    use crate::format::far::FarWriter;
    use crate::fst::flat::{Arc, FlatFst};
    use crate::fst::semiring::{Tropical, Weight};

    fn chain(n: u32) -> AnyFst {
        let mut rows: Vec<_> =
            (0..n).map(|s| (Tropical::ZERO, vec![Arc::new(s as i32 + 1, 7, Tropical(0.5), s + 1)])).collect();
        rows.push((Tropical::ONE, vec![]));
        AnyFst::Standard(FlatFst::from_rows(0, rows))
    }

    fn write(far_type: FarType, name: &str, entries: &[(&str, AnyFst)]) {
        let mut w = FarWriter::create(name, far_type).unwrap();
        for (key, fst) in entries {
            w.add(key, fst).unwrap();
        }
        w.finish().unwrap();
    }

    fn all(mut m: MergedReader) -> Vec<(String, usize)> {
        let mut got = vec![];
        while let Some(e) = m.next_entry().unwrap() {
            got.push((e.key, e.fst.num_arcs()));
        }
        got
    }

    #[test]
    fn several_archives_are_merged_by_key() {
        let dir = tempfile::tempdir().unwrap();
        let name = |i: usize| dir.path().join(i.to_string()).to_str().unwrap().to_string();
        write(FarType::Table, &name(0), &[("b", chain(0)), ("d", chain(1))]);
        write(FarType::List, &name(1), &[("a", chain(2)), ("b", chain(3))]);
        let m = MergedReader::open(&[name(0), name(1)]).unwrap();
        assert_eq!(all(m), [("a".into(), 2), ("b".into(), 0), ("b".into(), 3), ("d".into(), 1)]);
    }

    /// Small and large automata, compressed ones, archives, more than stay open: every one in its turn.
    #[test]
    fn many_automata_are_archives_of_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = |file: String| dir.path().join(file).to_str().unwrap().to_string();
        let mut names = vec![];
        for i in 0..2 * OPEN {
            let suffix = ["fst", "fst.gz"][i % 2];
            let name = path(format!("{i:03}.{suffix}"));
            binary::write(&name, &chain(if i % 3 == 0 { 3 } else { 600 }), Container::Vector).unwrap();
            names.push(name);
        }
        let mut want: Vec<(String, usize)> =
            names.iter().enumerate().map(|(i, n)| (n.clone(), if i % 3 == 0 { 3 } else { 600 })).collect();
        names.push(path("x.far".into()));
        write(FarType::Table, &names[2 * OPEN], &[("!", chain(1)), ("~", chain(2))]);
        want.insert(0, ("!".into(), 1));
        want.push(("~".into(), 2));
        names.reverse();
        let m = MergedReader::open(&names).unwrap();
        assert_eq!(m.far_type(), FarType::Table);
        assert!(m.parts.iter().filter(|p| matches!(p, Part::Open(_))).count() <= OPEN);
        assert_eq!(all(m), want);
        // What is wrong with one is said in its turn.
        std::fs::write(&want[1].0, &std::fs::read(&want[1].0).unwrap()[..90]).unwrap();
        std::fs::remove_file(&want[3].0).unwrap();
        assert!(MergedReader::open(&names).err().unwrap().to_string().contains("002.fst: No such file"));
        let mut m = MergedReader::open(&names[names.len() - 2..]).unwrap();
        let e = m.next_entry().unwrap_err().to_string();
        assert!(e.contains("000.fst: byte 78: the file ends inside"), "{e}");
        assert_eq!(m.next_entry().unwrap().unwrap().key, want[2].0);
    }
}
