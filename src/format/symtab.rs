//! Symbol tables as text (`word<TAB>id`, gaps and CRLF allowed) and as OpenFst's binary form inside automata.

use std::io::{BufRead, Write};

use super::bytes::ByteSource;
use super::{io, separator};
use crate::error::{Error, Result};
use crate::fst::symbols::SymbolTable;

const MAGIC: i32 = 2125658996;

/// Reads a table, text or binary (recognised by content).
pub fn read(name: &str) -> Result<SymbolTable> {
    read_input(io::open(name)?)
}

/// Reads a table from an opened input, once through: it may be a pipe.
pub fn read_input(mut input: io::Input) -> Result<SymbolTable> {
    let head = input.reader.fill_buf().map_err(|e| Error::io(&input.name, e))?;
    if head.starts_with(&MAGIC.to_le_bytes()) {
        let mut source = ByteSource::new(input);
        let table = read_binary(&mut source)?;
        return if source.at_end()? { Ok(table) } else { Err(source.error("bytes after the end of the symbol table")) };
    }
    let (shown, text) = input.text()?;
    read_text(&shown, &text)
}

/// `word<TAB>id` a line; the word is everything before the last tab or run of blanks.
pub fn read_text(name: &str, text: &str) -> Result<SymbolTable> {
    let mut table = SymbolTable::new(name);
    table.reserve(memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1, text.len());
    for (n, line) in io::without_mark(text).lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() {
            continue;
        }
        let bad = |column: usize, message: &str| Err(Error::text(name, n + 1, column, message));
        let trimmed = line.trim_end();
        let fields = separator::chosen().map(|c| (trimmed.rfind(c), c));
        let (cut, chosen) = fields.unwrap_or_else(|| (trimmed.rfind(['\t', ' ']), &[]));
        let Some(cut) = cut else {
            return bad(trimmed.chars().count() + 1, "expected a symbol, a tab and its integer id");
        };
        let after = cut + trimmed[cut..].chars().next().map_or(1, char::len_utf8);
        let symbol = if !chosen.is_empty() {
            trimmed[..cut].trim_matches(chosen)
        } else if trimmed[..=cut].contains('\t') {
            trimmed[..=cut].trim_end_matches([' ', '\t']).trim_start_matches('\t')
        } else {
            trimmed[..cut].trim_matches(' ')
        };
        let column = trimmed[..cut].chars().count() + 2;
        let Ok(key) = trimmed[after..].parse::<i64>() else {
            return bad(column, &format!("expected an integer id, found {:?}", &trimmed[after..]));
        };
        if key == -1 {
            return bad(column, "-1 is reserved and cannot be the id of a symbol");
        }
        if symbol.is_empty() {
            return bad(1, "expected a symbol before the id");
        }
        // A lost end of line would make one symbol of two. Blanks in a symbol need a tab behind it.
        let blank = if trimmed[..=cut].contains('\t') { '\t' } else { ' ' };
        if let Some(at) = symbol.find(blank).filter(|_| chosen.is_empty()) {
            let message = "a line is a symbol, a tab and its id; there is more here";
            return Err(Error::in_line(name, n + 1, line, symbol[at + 1..].trim_start(), message));
        }
        table.add_with_key(symbol, key);
    }
    Ok(table)
}

/// The table inside an automaton or in a file of its own.
pub fn read_binary(source: &mut ByteSource) -> Result<SymbolTable> {
    let magic = source.i32("the symbol table's magic number")?;
    if magic != MAGIC {
        return Err(source.error(format!("expected a symbol table (magic {MAGIC}), found {magic}")));
    }
    let name = source.string("the symbol table's name")?;
    source.i64("the symbol table's next key")?;
    let size = source.i64("the symbol table's size")?;
    if size < 0 {
        return Err(source.error(format!("a negative number of symbols, {size}")));
    }
    let mut table = SymbolTable::new(name);
    for _ in 0..size {
        let symbol = source.string("a symbol")?;
        let key = source.i64("a symbol's key")?;
        if key == -1 {
            return Err(source.error(format!("the symbol {symbol:?} has the reserved id -1")));
        }
        table.push(&symbol, key);
    }
    Ok(table)
}

/// Every symbol in the order of the keys, which is how OpenFst writes them. Of several with one key only the one that the
/// key stands for: whoever reads the file gets the same symbol for it.
fn by_key(table: &SymbolTable) -> Vec<(&str, i64)> {
    let mut symbols: Vec<_> = table.iter().filter(|&(symbol, key)| table.symbol(key) == Some(symbol)).collect();
    symbols.sort_by_key(|&(_, key)| key);
    symbols
}

pub fn write_binary(out: &mut impl Write, table: &SymbolTable) -> std::io::Result<()> {
    let string = |out: &mut dyn Write, s: &str| {
        out.write_all(&(s.len() as i32).to_le_bytes())?;
        out.write_all(s.as_bytes())
    };
    out.write_all(&MAGIC.to_le_bytes())?;
    string(out, table.name())?;
    out.write_all(&table.available_key().to_le_bytes())?;
    let symbols = by_key(table);
    out.write_all(&(symbols.len() as i64).to_le_bytes())?;
    for (symbol, key) in symbols {
        string(out, symbol)?;
        out.write_all(&key.to_le_bytes())?;
    }
    Ok(())
}

pub fn write_text(out: &mut impl Write, table: &SymbolTable) -> std::io::Result<()> {
    let between = separator::written();
    for (symbol, key) in by_key(table) {
        writeln!(out, "{symbol}{between}{key}")?;
    }
    Ok(())
}

/// Writes a table as text to a file.
pub fn save_text(name: &str, table: &SymbolTable) -> Result<()> {
    let mut out = io::create(name)?;
    write_text(&mut out, table).map_err(|e| Error::io(name, e))?;
    out.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_gaps_crlf_and_blanks() {
        let t = read_text("t", "<eps>\t0\r\nthe dog\t7\r\n\na  900\nb   8\n").unwrap();
        assert_eq!(t.iter().collect::<Vec<_>>(), [("<eps>", 0), ("the dog", 7), ("a", 900), ("b", 8)]);
        let t = read_text("t", "\u{feff}<eps> 0\n").unwrap();
        assert_eq!(t.key("<eps>"), Some(0), "a byte order mark is no part of a symbol");
    }

    #[test]
    fn bad_lines_name_their_place() {
        for (text, want) in [
            ("a\t0\nb\tx\n", "t:2:3:"),
            ("a\n", "t:1:2:"),
            ("a\t-1\n", "t:1:3:"),
            ("\t4\n", "t:1:1:"),
            ("a\t1\nw5\t5w6\t6\n", "t:2:4:"),
            ("b 2 3\n", "t:1:3:"),
        ] {
            let e = read_text("t", text).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
    }

    #[test]
    fn binary_round_trip() {
        let t = read_text("t", "<eps>\t0\né\t70000000000\na\t3\n").unwrap();
        let mut text = vec![];
        write_text(&mut text, &t).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "<eps>\t0\na\t3\né\t70000000000\n");
        let mut bytes = vec![];
        write_binary(&mut bytes, &t).unwrap();
        let mut s = ByteSource::new(io::from_bytes("m", bytes).unwrap());
        assert!(read_binary(&mut s).unwrap() == t);
    }
}
