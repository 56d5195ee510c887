//! Word alignments in Pharaoh's form: `0-0 1-2 3-1`, source and target positions from 0.

use crate::error::{Error, Result};

/// Source and target positions, from 0.
pub type Link = (u16, u16);

/// Words of a sentence at most.
pub const MAX_WORDS: usize = u16::MAX as usize;

/// Reads the links of a line into `links`, sorted and each once. A link outside a sentence pair of `source` and `target`
/// words is an error.
pub fn parse(
    (file, number): (&str, usize),
    line: &str,
    (source, target): (usize, usize),
    links: &mut Vec<Link>,
) -> Result<()> {
    links.clear();
    for token in words(line) {
        let error = |message: String| {
            let at = token.as_ptr() as usize - line.as_ptr() as usize;
            Error::text(file, number, line[..at].chars().count() + 1, message)
        };
        let numbers = token.split_once('-').and_then(|(s, t)| Some((s.parse::<u32>().ok()?, t.parse::<u32>().ok()?)));
        let (s, t) = numbers.ok_or_else(|| error(format!("expected a link such as 0-1, found {token:?}")))?;
        if s as usize >= source || t as usize >= target {
            return Err(error(format!("the link {token} is outside a pair of {source} and {target} words")));
        }
        let (Ok(s), Ok(t)) = (u16::try_from(s), u16::try_from(t)) else {
            return Err(error(format!("the link {token} is further than {MAX_WORDS} words")));
        };
        links.push((s, t));
    }
    links.sort_unstable();
    links.dedup();
    Ok(())
}

/// What stands between blanks and tabs; other blanks of Unicode are words.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', '\r']).filter(|w| !w.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_sorted_and_in_range() {
        let mut links = vec![];
        parse(("t", 1), "1-2 0-0  1-2", (2, 3), &mut links).unwrap();
        assert_eq!(links, [(0, 0), (1, 2)]);
        for (line, want) in [
            ("0-0 2-0", "t:7:5: the link 2-0 is outside a pair of 2 and 3 words"),
            ("0-3", "t:7:1: the link 0-3 is outside"),
            ("0-0 é", "t:7:5: expected a link such as 0-1"),
            ("0-0 1:1", "t:7:5: expected"),
            ("0-0 -1-1", "t:7:5: expected"),
        ] {
            let e = parse(("t", 7), line, (2, 3), &mut links).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
    }
}
