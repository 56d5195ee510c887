//! Writes an ARPA file, with the numbers as lmplz writes them: the fewest digits that give the same single.

use std::io::Write;

use super::records::DROPPED;
use super::vocabulary::Words;
use crate::error::{Error, Result};
use crate::format::io;

pub struct Writer<'a> {
    out: io::Output,
    words: &'a Words,
}

impl<'a> Writer<'a> {
    /// Begins the file: the number of n-grams of every order.
    pub fn new(out: io::Output, words: &'a Words, counts: &[u64]) -> Result<Self> {
        let mut writer = Writer { out, words };
        let mut head = String::from("\\data\\\n");
        for (i, n) in counts.iter().enumerate() {
            head.push_str(&format!("ngram {}={n}\n", i + 1));
        }
        head.push('\n');
        writer.put(head.as_bytes())?;
        Ok(writer)
    }

    pub fn put(&mut self, text: &[u8]) -> Result<()> {
        self.out.write_all(text).map_err(|e| Error::io(self.out.name(), e))
    }

    pub fn section(&mut self, order: usize) -> Result<()> {
        self.put(format!("\\{order}-grams:\n").as_bytes())
    }

    pub fn end_section(&mut self) -> Result<()> {
        self.put(b"\n")
    }

    /// Ends the file and puts it in place.
    pub fn finish(mut self) -> Result<()> {
        self.put(b"\\end\\\n")?;
        self.out.commit()
    }

    pub fn words(&self) -> &'a Words {
        self.words
    }
}

/// The lines of some rows: words in suffix order, probability, back-off.
pub fn lines(rows: &[u32], words: &Words, order: usize, highest: bool) -> Vec<u8> {
    let width = order + 2;
    let mut text = Vec::with_capacity(rows.len() / width * (24 + 8 * order));
    for row in rows.chunks_exact(width).filter(|row| row[order + 1] != DROPPED) {
        let p = f32::from_bits(row[order]).log10();
        // Rounding may have made a probability a little more than one.
        write_number(&mut text, if p < 0.0 { p } else { 0.0 });
        for (i, &word) in row[..order].iter().rev().enumerate() {
            text.push(if i == 0 { b'\t' } else { b' ' });
            text.extend_from_slice(words.get(word));
        }
        if !highest {
            text.push(b'\t');
            write_number(&mut text, f32::from_bits(row[order + 1]).log10());
        }
        text.push(b'\n');
    }
    text
}

/// Appends a number: decimal from 1e-6 to 1e21, else with an exponent.
fn write_number(text: &mut Vec<u8>, value: f32) {
    // What an ARPA file has for the logarithm of zero.
    if value == f32::NEG_INFINITY {
        return text.extend_from_slice(b"-99");
    }
    let mut buffer = zmij::Buffer::new();
    let shown = buffer.format(value);
    if (1e-3..1e3).contains(&value.abs()) {
        return text.extend_from_slice(shown.strip_suffix(".0").unwrap_or(shown).as_bytes());
    }
    let Some((digits, exponent)) = shown.split_once('e') else {
        return text.extend_from_slice(shown.strip_suffix(".0").unwrap_or(shown).as_bytes());
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    if !(-6..0).contains(&exponent) {
        text.extend_from_slice(digits.as_bytes());
        return text.extend_from_slice(format!("e{exponent}").as_bytes());
    }
    if digits.starts_with('-') {
        text.push(b'-');
    }
    text.extend_from_slice(b"0.");
    text.extend(std::iter::repeat_n(b'0', -exponent as usize - 1));
    text.extend(digits.bytes().filter(u8::is_ascii_digit));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_lmplz_writes_them() {
        let shown = |v: f32| {
            let mut text = vec![];
            write_number(&mut text, v);
            String::from_utf8(text).unwrap()
        };
        for (value, text) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (-0.3125, "-0.3125"),
            (-0.000001, "-0.000001"),
            (-0.0000125, "-0.0000125"),
            (-0.00000095, "-9.5e-7"),
            (-1e-7, "-1e-7"),
            (-12.5, "-12.5"),
            (f32::NEG_INFINITY, "-99"),
        ] {
            assert_eq!(shown(value), text);
        }
        let mut v = 1e-8f32;
        while v < 100.0 {
            assert_eq!(shown(-v).parse::<f32>().unwrap(), -v);
            v *= 1.37;
        }
    }
}
