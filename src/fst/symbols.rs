//! Symbol tables: strings and their integer keys, with gaps, as OpenFst keeps them beside or inside an automaton.
//!
//! Strings lie in one buffer in the order they were added; a table whose keys are 0, 1, 2, ... needs no map from key to
//! string. The map from string to key is made at the first look-up, so that reading a file does not pay for it.

use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};

#[derive(Debug, Default)]
pub struct SymbolTable {
    name: String,
    text: String,
    ends: Vec<usize>,
    keys: Vec<i64>,
    /// Key to index, only if the keys are not 0, 1, 2, ...
    sparse: Option<HashMap<i64, u32, FxBuildHasher>>,
    /// How many symbols at the beginning have the keys 0, 1, 2, ...
    dense: usize,
    by_symbol: OnceLock<HashTable<u32>>,
}

impl Clone for SymbolTable {
    fn clone(&self) -> Self {
        SymbolTable {
            name: self.name.clone(),
            text: self.text.clone(),
            ends: self.ends.clone(),
            keys: self.keys.clone(),
            sparse: self.sparse.clone(),
            dense: self.dense,
            by_symbol: OnceLock::new(),
        }
    }
}

/// The same symbols with the same keys; order and name are not looked at.
impl PartialEq for SymbolTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.first_difference(other).is_none()
    }
}

impl SymbolTable {
    pub fn new(name: impl Into<String>) -> Self {
        SymbolTable { name: name.into(), ..Default::default() }
    }
    /// Room for so many symbols more with so many bytes together.
    pub(crate) fn reserve(&mut self, symbols: usize, bytes: usize) {
        self.text.reserve_exact(bytes);
        self.ends.reserve_exact(symbols);
        self.keys.reserve_exact(symbols);
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn len(&self) -> usize {
        self.keys.len()
    }
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
    fn symbol_at(&self, index: usize) -> &str {
        let from = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[from..self.ends[index]]
    }
    /// Every `(symbol, key)` in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        (0..self.len()).map(|i| (self.symbol_at(i), self.keys[i]))
    }
    /// One more than the largest key: the next free one.
    pub fn available_key(&self) -> i64 {
        self.keys.iter().max().map_or(0, |k| k.saturating_add(1))
    }

    fn table(&self) -> &HashTable<u32> {
        self.by_symbol.get_or_init(|| {
            let hash = |i: &u32| FxBuildHasher.hash_one(self.symbol_at(*i as usize));
            let mut t = HashTable::with_capacity(self.keys.capacity());
            for i in 0..self.len() as u32 {
                let s = self.symbol_at(i as usize);
                if t.find(hash(&i), |&j| self.symbol_at(j as usize) == s).is_none() {
                    t.insert_unique(hash(&i), i, hash);
                }
            }
            t
        })
    }

    /// Key of a symbol.
    pub fn key(&self, symbol: &str) -> Option<i64> {
        let hash = FxBuildHasher.hash_one(symbol);
        self.table().find(hash, |&i| self.symbol_at(i as usize) == symbol).map(|&i| self.keys[i as usize])
    }

    /// Symbol of a key. Of two with one key it is OpenFst's choice: the first if the table counted 0, 1, 2, ... up to that
    /// key, else the last.
    #[inline]
    pub fn symbol(&self, key: i64) -> Option<&str> {
        let index = match &self.sparse {
            None => usize::try_from(key).ok().filter(|&k| k < self.len())?,
            Some(map) => *map.get(&key)? as usize,
        };
        Some(self.symbol_at(index))
    }

    /// Adds a symbol with the next free key; an old symbol keeps its key. Returns the key.
    pub fn add(&mut self, symbol: &str) -> i64 {
        let key = if self.sparse.is_none() { self.len() as i64 } else { self.available_key() };
        self.add_with_key(symbol, key)
    }

    /// Adds a symbol with a key; a symbol that is there keeps its old key, which is returned.
    pub fn add_with_key(&mut self, symbol: &str, key: i64) -> i64 {
        self.table();
        let Some(mut table) = self.by_symbol.take() else { return key };
        let hash = FxBuildHasher.hash_one(symbol);
        let old = table.find(hash, |&i| self.symbol_at(i as usize) == symbol).map(|&i| self.keys[i as usize]);
        if old.is_none() {
            self.push(symbol, key);
            let i = self.len() as u32 - 1;
            table.insert_unique(hash, i, |i| FxBuildHasher.hash_one(self.symbol_at(*i as usize)));
        }
        self.by_symbol = OnceLock::from(table);
        old.unwrap_or(key)
    }

    /// Appends without looking whether the symbol is there: for readers of tables that a program wrote.
    pub(crate) fn push(&mut self, symbol: &str, key: i64) {
        let index = self.len();
        self.by_symbol.take();
        self.text.push_str(symbol);
        self.ends.push(self.text.len());
        self.keys.push(key);
        if self.sparse.is_none() && key == index as i64 {
            self.dense += 1;
            return;
        }
        let map = self.sparse.get_or_insert_with(|| (0..index as u32).map(|i| (i as i64, i)).collect());
        if !(0..self.dense as i64).contains(&key) {
            map.insert(key, index as u32);
        }
    }

    /// The first symbol or key that the two tables do not agree on, in words.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        // By key: of two symbols with one key only one counts.
        for (symbol, key) in (0..self.len()).filter_map(|i| Some((self.symbol(self.keys[i])?, self.keys[i]))) {
            match other.symbol(key) {
                Some(s) if s == symbol => {}
                Some(s) => return Some(format!("key {key} is {symbol:?} in one and {s:?} in the other")),
                None => return Some(format!("key {key} ({symbol:?}) is only in the first")),
            }
        }
        other
            .iter()
            .find(|&(_, key)| self.symbol(key).is_none())
            .map(|(symbol, key)| format!("key {key} ({symbol:?}) is only in the second"))
    }
}

/// Whether operands with different symbol tables are refused. OpenFst's flag of this name, for a process as there.
pub static COMPAT_SYMBOLS: AtomicBool = AtomicBool::new(true);

/// An error that names the first difference, if two operands bring tables that do not agree. An absent table agrees with
/// every other.
pub fn compatible_symbols(op: &'static str, left: Option<&SymbolTable>, right: Option<&SymbolTable>) -> Result<()> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(()) };
    if std::ptr::eq(left, right) || !COMPAT_SYMBOLS.load(Ordering::Relaxed) {
        return Ok(());
    }
    match left.first_difference(right) {
        None => Ok(()),
        Some(what) => Err(Error::op(
            op,
            format!(
                "the symbol tables of the operands do not agree: {what}; \
                 relabel one operand (weft fst relabel) or remove its tables (weft fst symbols --clear-isymbols --clear-osymbols)"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_repeats() {
        let mut t = SymbolTable::new("words");
        assert_eq!(t.add("<eps>"), 0);
        assert_eq!(t.add_with_key("far", 1 << 40), 1 << 40);
        assert_eq!(t.add("next"), (1 << 40) + 1);
        assert_eq!(t.add_with_key("far", 7), 1 << 40, "an old symbol keeps its key");
        assert_eq!(t.symbol(0), Some("<eps>"));
        assert_eq!(t.symbol(1), None);
        assert_eq!(t.symbol(1 << 40), Some("far"));
        assert_eq!(t.key("next"), Some((1 << 40) + 1));
        assert_eq!(t.key("none"), None);
        assert!(t == t.clone());
    }

    #[test]
    fn two_symbols_with_one_key() {
        let mut t = SymbolTable::new("words");
        for (symbol, key) in [("<eps>", 0), ("a", 1), ("b", 2), ("c", 2), ("x", 9), ("y", 9)] {
            assert_eq!(t.add_with_key(symbol, key), key);
        }
        assert_eq!((t.symbol(2), t.symbol(9)), (Some("b"), Some("y")));
        assert_eq!((t.key("b"), t.key("c"), t.key("x")), (Some(2), Some(2), Some(9)));
        assert!(t == t.clone());
    }

    #[test]
    fn differences_are_named() {
        let (mut a, mut b) = (SymbolTable::new("a"), SymbolTable::new("b"));
        a.add("<eps>");
        b.add("<eps>");
        assert_eq!(a.first_difference(&b), None);
        a.add("x");
        b.add("y");
        assert!(a.first_difference(&b).unwrap().contains("\"x\""));
    }
}
