//! What comes in: words and their numbers, lines, word alignments, aligned corpora, dependency trees.

pub mod align;
pub mod dependencies;
pub mod lines;
pub mod parallel;
pub mod vocab;
