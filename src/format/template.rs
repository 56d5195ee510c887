//! Templates and ranges: `lats/?.fst.gz` with `1:10,15` names one file a sentence.
//!
//! A range is numbers and intervals between commas: `7`, `1:10` (both ends belong to it), `1:2:9` (every second one, as
//! `first:step:last`). A number with leading zeros sets the width: `001:120` gives `001`, `002`, ..., `120`.

use crate::error::{Error, Result};

/// The character of a template that the number or key of an input takes the place of.
pub const SLOT: char = '?';

/// True if the name stands for one file an input.
pub fn is_template(name: &str) -> bool {
    name.contains(SLOT)
}

/// The template with every `?` replaced.
pub fn fill(template: &str, key: &str) -> String {
    template.replace(SLOT, key)
}

/// As `fill`, for a file to be written.
pub fn fill_output(template: &str, key: &str) -> Result<String> {
    if is_template(template) {
        check_key(key)?;
    }
    Ok(fill(template, key))
}

/// An error if files named after the key could be in another folder than the one that was meant. A key comes out of a
/// file; it must not choose where on the disk to write.
pub fn check_key(key: &str) -> Result<()> {
    if key.starts_with('/') || key.split('/').any(|part| part == "..") {
        return Err(Error::usage(format!("the key {key:?} names a file outside the output folder")));
    }
    Ok(())
}

/// A parsed range; the numbers are made as they are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberRange {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    first: u64,
    step: u64,
    last: u64,
    /// Digits to pad to.
    width: usize,
}

impl Part {
    fn len(&self) -> u64 {
        ((self.last - self.first) / self.step).saturating_add(1)
    }
}

impl NumberRange {
    /// Parses `1:10,15` and the like; an error says where and what was expected.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = vec![];
        for item in text.split(',') {
            parts.push(part(item.trim()).map_err(|why| {
                Error::usage(format!(
                    "range {text:?}: {why}; expected numbers and intervals such as 1:10,15 or 1:2:9 (first:step:last)"
                ))
            })?);
        }
        let range = NumberRange { parts };
        match range.parts.iter().try_fold(0u64, |sum, p| sum.checked_add(p.len())) {
            Some(n) if n <= MOST => Ok(range),
            _ => Err(Error::usage(format!("range {text:?}: more than {MOST} numbers"))),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|p| p.len() as usize).sum()
    }
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
    /// The numbers as they stand in file names, in the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        self.parts.iter().flat_map(|p| (0..p.len()).map(move |i| format!("{:0w$}", p.first + i * p.step, w = p.width)))
    }
}

/// More than anyone has files for, few enough to count with.
const MOST: u64 = 100_000_000;
/// No file name is longer.
const MOST_WIDTH: usize = 255;

fn part(item: &str) -> std::result::Result<Part, String> {
    let number = |t: &str| match t {
        "" if item.is_empty() => Err("an empty item between commas".to_string()),
        "" => Err(format!("a number is missing in {item:?}")),
        _ if !t.bytes().all(|b| b.is_ascii_digit()) => Err(format!("{t:?} is not a whole number")),
        _ => t.parse::<u64>().map_err(|_| format!("{t:?} is too large")),
    };
    let fields: Vec<&str> = item.split(':').collect();
    let (first, step, last) = match fields[..] {
        [one] => (one, "1", one),
        [first, last] => (first, "1", last),
        [first, step, last] => (first, step, last),
        _ => return Err(format!("{item:?} has more than three fields")),
    };
    let width = if first.len() > 1 && first.starts_with('0') { first.len() } else { 1 };
    if width > MOST_WIDTH {
        return Err(format!("{item:?} has more than {MOST_WIDTH} digits"));
    }
    let part = Part { first: number(first)?, step: number(step)?, last: number(last)?, width };
    if part.step == 0 {
        return Err(format!("the step of {item:?} is 0"));
    }
    if part.last < part.first {
        return Err(format!("{item:?} ends before it begins"));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let r = NumberRange::parse(text).unwrap();
        let v: Vec<String> = r.iter().collect();
        assert_eq!(v.len(), r.len());
        v
    }

    #[test]
    fn numbers_intervals_and_steps() {
        assert_eq!(all("7"), ["7"]);
        assert_eq!(all("1:3,15"), ["1", "2", "3", "15"]);
        assert_eq!(all("1:2:6"), ["1", "3", "5"]);
        assert_eq!(all("3, 1:2"), ["3", "1", "2"]);
        assert_eq!(all("0"), ["0"]);
        assert_eq!(all("4:4"), ["4"]);
    }

    #[test]
    fn leading_zeros_set_the_width() {
        assert_eq!(all("08:11"), ["08", "09", "10", "11"]);
        assert_eq!(all("007"), ["007"]);
    }

    #[test]
    fn errors_say_what_was_expected() {
        for (text, why) in [
            ("", "an empty item"),
            ("1,,2", "an empty item"),
            ("a:3", "\"a\" is not a whole number"),
            ("-1", "\"-1\" is not a whole number"),
            ("5:1", "ends before it begins"),
            ("1:0:5", "step of \"1:0:5\" is 0"),
            ("1:", "a number is missing in \"1:\""),
            ("1:2:3:4", "more than three fields"),
            ("99999999999999999999", "is too large"),
            ("0:18446744073709551615,1", "more than"),
            ("1:999999999", "more than"),
        ] {
            let e = NumberRange::parse(text).unwrap_err().to_string();
            assert!(e.contains(why), "{text}: {e}");
        }
    }

    #[test]
    fn templates() {
        assert!(is_template("a/?.fst") && !is_template("a/1.fst"));
        assert_eq!(fill("?/lat-?.fst.gz", "12"), "12/lat-12.fst.gz");
    }

    #[test]
    fn keys_stay_in_the_folder() {
        for key in ["a", "a/b", "a..b", "...", ".", "a/./b"] {
            assert_eq!(fill_output("o/?.fst", key).unwrap(), format!("o/{key}.fst"));
        }
        for key in ["..", "../a", "a/../b", "a/..", "/a"] {
            let e = fill_output("o/?.fst", key).unwrap_err().to_string();
            assert!(e.contains("outside the output folder"), "{e}");
            assert_eq!(fill_output("o/one.fst", key).unwrap(), "o/one.fst", "the key is in no name");
        }
    }
}
