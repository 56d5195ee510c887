//! Pairs of labels as text, `old new` a line: what to relabel to what.

use crate::error::{Error, Result};
use crate::fst::flat::{Label, NO_LABEL};

/// The label with this number, or what is wrong with it; `what` is it: `label`, `input label`.
pub fn label(number: i64, allow_negative: bool, what: &str) -> std::result::Result<Label, String> {
    match Label::try_from(number) {
        Err(_) => Err(format!("the {what} {number} does not fit in 32 bits")),
        Ok(NO_LABEL) if allow_negative => Err(format!("the {what} -1 is reserved")),
        Ok(l) if l < 0 && !allow_negative => {
            Err(format!("the {what} {number} is negative; --allow-negative-labels lets in all but -1"))
        }
        Ok(l) => Ok(l),
    }
}

/// Reads pairs; empty lines and lines that begin with `#` are passed over. Negative labels must be allowed, and −1 is none.
pub fn read(name: &str, text: &str, allow_negative: bool) -> Result<Vec<(Label, Label)>> {
    let mut pairs = vec![];
    for (n, line) in text.lines().enumerate() {
        let mut columns = line.split([' ', '\t', '\r']).filter(|c| !c.is_empty());
        let (first, second, more) = (columns.next(), columns.next(), columns.next());
        let bad = |field: &str, message: String| Error::in_line(name, n + 1, line, field, message);
        let Some(first) = first.filter(|f| !f.starts_with('#')) else { continue };
        let (Some(second), None) = (second, more) else {
            return Err(bad(more.unwrap_or(first), "a line is two labels, the old one and the new one".into()));
        };
        let read = |field: &str| {
            let number =
                field.parse().map_err(|_| bad(field, format!("expected the number of a label, found {field:?}")))?;
            label(number, allow_negative, "label").map_err(|message| bad(field, message))
        };
        pairs.push((read(first)?, read(second)?));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_their_errors() {
        assert_eq!(read("p", "1 2\n\n# no\n3\t4\r\n", false).unwrap(), [(1, 2), (3, 4)]);
        assert_eq!(read("p", "-2 5", true).unwrap(), [(-2, 5)]);
        for (text, want) in [("1\n", "p:1:1:"), ("1 2 3\n", "p:1:5:"), ("1 x\n", "p:1:3:"), ("1 -1\n", "p:1:3:")] {
            let e = read("p", text, true).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
        for (number, allowed, want) in [
            (-1, true, "the label -1 is reserved"),
            (-1, false, "the label -1 is negative; --allow-negative-labels lets in all but -1"),
            (4294967299, true, "the label 4294967299 does not fit in 32 bits"),
        ] {
            assert_eq!(label(number, allowed, "label").unwrap_err(), want);
        }
    }
}
