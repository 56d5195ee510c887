//! What stands between the fields of text automata and symbol tables: tabs and blanks, or the characters a user chose.
//!
//! OpenFst's flag `--fst_field_separator`, for a process as there. The first character is the one that is written.

use std::sync::OnceLock;

static CHOSEN: OnceLock<Vec<char>> = OnceLock::new();

/// Chooses the characters, before anything is read; false if there are none, or if others were chosen already.
pub fn choose(characters: &str) -> bool {
    !characters.is_empty() && CHOSEN.set(characters.chars().collect()).is_ok()
}

/// The characters that were chosen.
pub fn chosen() -> Option<&'static [char]> {
    CHOSEN.get().map(Vec::as_slice)
}

/// The one that is written.
pub fn written() -> char {
    chosen().and_then(|c| c.first().copied()).unwrap_or('\t')
}
