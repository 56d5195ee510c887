//! `Rule`: one synchronous rule as it stands in a line of text, its symbols borrowed from that line.
//!
//! Every format is read into this and written from it; the grammar in memory (`grammar`) is built of it. Nonterminals are
//! linked by their number: `X1` of the source is `X1` of the target. In the source the numbers are those of the first
//! appearance, 1, 2, ... from left to right, whatever the file had.

use std::borrow::Cow;

use smallvec::SmallVec;

/// A symbol of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol<'a> {
    Word(&'a str),
    /// `link` counts from 1.
    Nonterminal {
        name: &'a str,
        link: u8,
    },
}

impl Symbol<'_> {
    pub fn is_word(&self) -> bool {
        matches!(self, Symbol::Word(_))
    }
}

/// A link between words (or nonterminals) of the two sides: positions from 0.
pub type Link = (u16, u16);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule<'a> {
    pub lhs: &'a str,
    pub source: SmallVec<[Symbol<'a>; 8]>,
    pub target: SmallVec<[Symbol<'a>; 8]>,
    /// Costs by name, in the order of the line. Those of formats without names are called `F1`, `F2`, ...
    pub features: SmallVec<[(Cow<'a, str>, f64); 12]>,
    /// Links between words; nonterminals are linked by their numbers.
    pub alignment: SmallVec<[Link; 8]>,
}

impl Rule<'_> {
    /// Nonterminals of the source.
    pub fn rank(&self) -> usize {
        self.source.iter().filter(|s| !s.is_word()).count()
    }
    /// The cost of a feature, if the rule has it.
    pub fn feature(&self, name: &str) -> Option<f64> {
        self.features.iter().find(|(n, _)| n == name).map(|&(_, v)| v)
    }
}

/// The name of the feature in column `index` (from 0) of a format without names.
pub fn column_name(index: usize) -> String {
    format!("F{}", index + 1)
}
