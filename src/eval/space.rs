//! White space and letters' case as Python has them, which sacreBLEU's numbers rest on.
//!
//! Python's white space is Unicode's and the four separators U+001C to U+001F. Lower case is Unicode's full mapping, with the
//! final sigma: the same in both languages.

use std::borrow::Cow;

/// What `str.split()` splits at and `str.strip()` takes off.
#[inline]
pub fn is_space(c: char) -> bool {
    if c.is_ascii() { is_ascii_space(c as u8) } else { c.is_whitespace() }
}

/// `is_space` among ASCII.
#[inline]
pub fn is_ascii_space(b: u8) -> bool {
    b == b' ' || (0x09..=0x0d).contains(&b) || (0x1c..=0x1f).contains(&b)
}

/// The words of a line: `str.split()`.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|w| !w.is_empty())
}

/// `str.rstrip()`.
pub fn trim_end(line: &str) -> &str {
    line.trim_end_matches(is_space)
}

/// `str.lower()`, where it is asked for.
pub fn lower(line: &str, asked: bool) -> Cow<'_, str> {
    if !asked {
        Cow::Borrowed(line)
    } else if line.is_ascii() {
        Cow::Owned(line.to_ascii_lowercase())
    } else {
        Cow::Owned(line.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_pythons() {
        let all: Vec<u32> = ('\0'..=char::MAX).filter(|&c| is_space(c)).map(|c| c as u32).collect();
        // [c for c in range(0x110000) if chr(c).isspace()] in Python 3.
        let mut python: Vec<u32> =
            (9..=13).chain(0x1c..=0x20).chain([0x85, 0xa0, 0x1680]).chain(0x2000..=0x200a).collect();
        python.extend([0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);
        assert_eq!(all, python);
        assert_eq!(words("\u{3000}a\u{1c}b\u{200b}c \t").collect::<Vec<_>>(), ["a", "b\u{200b}c"]);
        assert_eq!(trim_end("a b \u{a0}\r\n"), "a b");
    }

    #[test]
    fn lower_case_is_pythons() {
        for (from, to) in [("ΑΣ ΑΣΑ Σ", "ας ασα σ"), ("İI", "i\u{307}i"), ("ẞÄ", "ßä"), ("ABC", "abc")]
        {
            assert_eq!(lower(from, true), to);
            assert_eq!(lower(from, false), from);
        }
    }
}
