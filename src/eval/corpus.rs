//! Hypotheses and references, sentence by sentence.
//!
//! Lines end at `\n` alone (other separators of Unicode are white space of a line) and have no white space at their ends, as
//! sacreBLEU reads them. All files must have as many lines. An empty line of a reference file is an empty reference, as in sacreBLEU's
//! command; with `skip_empty` it is none (sacreBLEU's `None`), and a sentence without any is an error.

use crate::error::{Error, Result};
use crate::format::io;

use super::space;

/// A file of sentences.
pub struct Sentences {
    /// The name to show in messages.
    pub file: String,
    text: String,
    /// Where lines begin and end.
    lines: Vec<(usize, usize)>,
}

impl Sentences {
    pub fn read(name: &str) -> Result<Self> {
        let (file, text) = io::read_text(name)?;
        Self::new(file, text)
    }

    pub fn new(file: String, text: String) -> Result<Self> {
        let mut lines = vec![];
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
            if end < text.len() || start < end {
                lines.push((start, start + space::trim_end(&text[start..end]).len()));
            }
            start = end + 1;
        }
        if lines.is_empty() {
            return Err(Error::usage(format!("{file}: the file is empty, expected a sentence a line")));
        }
        Ok(Sentences { file, text, lines })
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
    /// Sentence `i`, from 0.
    pub fn get(&self, i: usize) -> &str {
        &self.text[self.lines[i].0..self.lines[i].1]
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|&(start, end)| &self.text[start..end])
    }

    /// An error unless `self` has as many sentences as `other`.
    pub fn check_len(&self, other: &Sentences) -> Result<()> {
        let (short, long) = if self.len() < other.len() { (self, other) } else { (other, self) };
        if short.len() == long.len() {
            return Ok(());
        }
        let message = format!(
            "the file ends after {} sentences, but {} has {}: sentence {} has no counterpart",
            short.len(),
            long.file,
            long.len(),
            short.len() + 1
        );
        Err(Error::text(&short.file, short.len() + 1, 1, message))
    }
}

/// All references of all sentences.
pub struct References {
    /// One a reference, or one whose lines hold `columns` references between tabs.
    pub files: Vec<Sentences>,
    columns: usize,
    skip_empty: bool,
}

impl References {
    /// From files of one reference each.
    pub fn read(names: &[&str], skip_empty: bool) -> Result<Self> {
        let files = names.iter().map(|name| Sentences::read(name)).collect::<Result<Vec<_>>>()?;
        for file in files.iter().skip(1) {
            files[0].check_len(file)?;
        }
        Self { files, columns: 1, skip_empty }.checked()
    }

    /// From one file with `columns` references a line, tabs between them.
    pub fn read_columns(name: &str, columns: usize, skip_empty: bool) -> Result<Self> {
        let file = Sentences::read(name)?;
        for (i, line) in file.iter().enumerate() {
            let found = line.splitn(columns, '\t').count();
            if found != columns {
                let message = format!("expected {columns} references with tabs between them, found {found}");
                return Err(Error::text(&file.file, i + 1, line.chars().count() + 1, message));
            }
        }
        Self { files: vec![file], columns, skip_empty }.checked()
    }

    fn checked(self) -> Result<Self> {
        if self.skip_empty {
            let mut refs = vec![];
            for i in 0..self.len() {
                self.get(i, &mut refs);
                if refs.is_empty() {
                    let names = self.files.iter().map(|f| f.file.as_str()).collect::<Vec<_>>().join(", ");
                    return Err(Error::usage(format!("{names}: sentence {} has no reference at all", i + 1)));
                }
            }
        }
        Ok(self)
    }

    /// How many sentences there are.
    pub fn len(&self) -> usize {
        self.files[0].len()
    }
    pub fn is_empty(&self) -> bool {
        self.files[0].is_empty()
    }

    /// The references of sentence `i`, in order.
    pub fn get<'a>(&'a self, i: usize, refs: &mut Vec<&'a str>) {
        refs.clear();
        if self.columns > 1 {
            refs.extend(self.files[0].get(i).splitn(self.columns, '\t'));
        } else {
            refs.extend(self.files.iter().map(|f| f.get(i)));
        }
        if self.skip_empty {
            refs.retain(|r| !r.is_empty());
        }
    }

    /// References a sentence; none if not all sentences have as many.
    pub fn count(&self) -> Option<usize> {
        let all = self.files.len().max(self.columns);
        if !self.skip_empty {
            return Some(all);
        }
        let mut refs = vec![];
        let mut counts = (0..self.len()).map(|i| {
            self.get(i, &mut refs);
            refs.len()
        });
        let first = counts.next()?;
        counts.all(|n| n == first).then_some(first)
    }

    /// A hypothesis file with as many sentences.
    pub fn read_hypotheses(&self, name: &str) -> Result<Sentences> {
        let hyp = Sentences::read(name)?;
        self.files[0].check_len(&hyp)?;
        Ok(hyp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_feeds_alone() {
        let s = Sentences::new("t".into(), "a\u{2028}b \r\n\n x\u{c}y\u{3000}\nlast".into()).unwrap();
        assert_eq!(s.iter().collect::<Vec<_>>(), ["a\u{2028}b", "", " x\u{c}y", "last"]);
        assert_eq!(Sentences::new("t".into(), "\n".into()).unwrap().len(), 1);
        assert!(Sentences::new("t".into(), "".into()).is_err());
    }
}
