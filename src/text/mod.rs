//! What comes in: words and their numbers, lines, word alignments, aligned corpora.

pub mod align;
pub mod lines;
pub mod parallel;
pub mod vocab;
