//! Going straight to a key of an archive: the entries of an sttable are sorted, and an index at the end of the file says
//! where they are. A binary search reads O(log n) keys and the index.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Where the entries before the first that is wanted are, and the file, standing at that one.
pub(super) struct Place {
    pub file: File,
    pub size: u64,
    pub at: u64,
    pub before: Vec<u64>,
}

/// The place of the first entry whose key is not below `begin`; nothing if the file has no index that makes sense, or
/// nothing from there on: whoever reads it from its beginning sees what is wrong.
pub(super) fn find(name: &str, head: &[u8], begin: &str) -> Option<Place> {
    let mut file = File::open(name).ok()?;
    let meta = file.metadata().ok().filter(|m| m.is_file())?;
    let size = meta.len();
    let mut first = vec![0; head.len()];
    file.read_exact(&mut first).ok().filter(|()| first == head)?;
    let mut number = [0; 8];
    file.seek(SeekFrom::Start(size.checked_sub(8)?)).ok()?;
    file.read_exact(&mut number).ok()?;
    let count = u64::from_le_bytes(number);
    let index = count.checked_add(1).and_then(|n| n.checked_mul(8)).and_then(|bytes| size.checked_sub(bytes))?;
    file.seek(SeekFrom::Start(index)).ok()?;
    // No more than the file has, so that a count that lies reserves nothing.
    let mut bytes = vec![];
    (&mut file).take(8 * count).read_to_end(&mut bytes).ok()?;
    let (places, _) = bytes.as_chunks::<8>();
    let mut places: Vec<u64> = places.iter().map(|b| u64::from_le_bytes(*b)).collect();
    let sound = places.first() == Some(&(head.len() as u64))
        && places.is_sorted_by(|a, b| a < b)
        && places.last().is_some_and(|&last| last < index);
    if !sound {
        return None;
    }
    let (mut low, mut high) = (0, places.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let end = places.get(middle + 1).copied().unwrap_or(index);
        if key(&mut file, places[middle], end)?.as_slice() < begin.as_bytes() {
            low = middle + 1
        } else {
            high = middle
        }
    }
    let at = *places.get(low)?;
    places.truncate(low);
    file.seek(SeekFrom::Start(at)).ok()?;
    Some(Place { file, size, at, before: places })
}

/// The key of the entry between two places.
fn key(file: &mut File, at: u64, end: u64) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut length).ok()?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > (end - at).checked_sub(4)? {
        return None;
    }
    let mut key = vec![0; length as usize];
    file.read_exact(&mut key).ok()?;
    Some(key)
}
