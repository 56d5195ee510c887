use clap::Args;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{FileNames, Namer};
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::binary;
use crate::format::far::Entry;
use crate::format::far_merged::MergedReader;

/// Take automata out of an archive, each to a file named after its key
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far extract --filename-prefix out/ --filename-suffix .fst.gz s.far")]
pub struct Cmd {
    /// Take only these keys and ranges of keys: `a,c-f`
    #[arg(long, default_value = "", value_name = "KEYS")]
    keys: String,
    /// Characters that separate keys
    #[arg(long, default_value = ",", value_name = "CHARS")]
    key_separator: String,
    /// Characters between the two ends of a range
    #[arg(long, default_value = "-", value_name = "CHARS", allow_hyphen_values = true)]
    range_delimiter: String,
    #[command(flatten)]
    names: FileNames,
    /// Archives (`-` or nothing: standard input)
    #[arg(value_name = "FAR")]
    files: Vec<String>,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let wanted: Vec<&str> = self.keys.split(|c| self.key_separator.contains(c)).filter(|k| !k.is_empty()).collect();
        // The ends of ranges are keys, too. A key with a dash in it comes behind its beginning.
        let ends = wanted.iter().flat_map(|k| k.split(|c| self.range_delimiter.contains(c)).chain([*k]));
        let least = ends.clone().filter(|k| !k.is_empty()).min();
        let mut far = MergedReader::open_from(&self.files, least)?;
        let mut namer = Namer::default();
        if self.keys.is_empty() {
            let mut number = 0;
            while let Some(entry) = far.next_entry()? {
                number += 1;
                self.write(&entry, &mut namer, number)?;
            }
            return Ok(Status::Done);
        }
        let selection = self.select(&wanted, ends.max().unwrap_or_default(), &mut far)?;
        // OpenFst counts keys and entries of ranges from 0, with one number left out after a range.
        let mut number = 0;
        for (range, entries) in &selection.found {
            for &i in entries {
                self.write(&selection.entries[i], &mut namer, number)?;
                number += 1;
            }
            number += usize::from(*range);
        }
        Ok(Status::Done)
    }

    fn write(&self, entry: &Entry, namer: &mut Namer, number: usize) -> Result<()> {
        let name = namer.name(&self.names, &entry.key, number)?;
        binary::write(&name, &entry.fst, entry.header.container)
    }

    /// The entries that were asked for, in one pass: a range may name keys in any order of the list.
    fn select(&self, wanted: &[&str], last: &str, far: &mut MergedReader) -> Result<Selection> {
        let ranges: Vec<Option<(&str, &str)>> = wanted
            .iter()
            .map(|k| {
                let mut parts = k.split(|c| self.range_delimiter.contains(c));
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(a), Some(b), None) if !a.is_empty() && !b.is_empty() => Some((a, b)),
                    _ => None,
                }
            })
            .collect();
        let mut exact: HashMap<&str, Vec<usize>, FxBuildHasher> = HashMap::default();
        for (i, key) in wanted.iter().enumerate() {
            exact.entry(key).or_default().push(i);
        }
        let some_range = ranges.iter().any(Option::is_some);
        let mut single: Vec<Option<usize>> = vec![None; wanted.len()];
        let mut spans: Vec<Vec<usize>> = vec![vec![]; wanted.len()];
        let mut began = vec![false; wanted.len()];
        let mut entries = vec![];
        while let Some(entry) = far.next_entry()? {
            if entry.key.as_str() > last {
                break;
            }
            let mut taken = false;
            // A key that is there as it stands is no range, even if it has a dash in it.
            for &i in exact.get(entry.key.as_str()).map_or(&[][..], |v| v) {
                taken |= single[i].is_none();
                single[i].get_or_insert(entries.len());
            }
            if some_range {
                for (i, range) in ranges.iter().enumerate() {
                    let Some((first, last)) = range else { continue };
                    began[i] |= entry.key == *first;
                    if (*first..=*last).contains(&entry.key.as_str()) {
                        spans[i].push(entries.len());
                        taken = true;
                    }
                }
            }
            if taken {
                entries.push(entry);
            }
        }
        let mut found = Vec::with_capacity(wanted.len());
        for (i, key) in wanted.iter().enumerate() {
            match (single[i], ranges[i]) {
                (Some(entry), _) => found.push((false, vec![entry])),
                (None, Some((first, _))) => {
                    if !began[i] {
                        return Err(Error::op("far extract", format!("cannot find key {first:?}")));
                    }
                    found.push((true, std::mem::take(&mut spans[i])));
                }
                (None, None) if key.contains(|c| self.range_delimiter.contains(c)) => {
                    return Err(Error::op(
                        "far extract",
                        format!("{key:?} is neither a key nor a range; with dashes in keys set --range-delimiter"),
                    ));
                }
                (None, None) => return Err(Error::op("far extract", format!("cannot find key {key:?}"))),
            }
        }
        Ok(Selection { entries, found })
    }
}

struct Selection {
    entries: Vec<Entry>,
    /// For each key or range that was asked for: whether it is a range, and its entries.
    found: Vec<(bool, Vec<usize>)>,
}
