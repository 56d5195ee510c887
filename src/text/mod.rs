//! What comes in: words and their numbers.

pub mod vocab;
