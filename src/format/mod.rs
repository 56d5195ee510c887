//! Files: what comes in and goes out, one format a file. Knows types, not algorithms.
//!
//! `-` is standard input or output; gz and zstd are recognised by content on reading and chosen by suffix on writing;
//! an output file appears whole or not at all.

pub mod binary;
pub mod blocks;
pub mod bytes;
mod check;
pub mod compact;
pub mod dot;
pub mod encoder;
pub mod far;
mod far_index;
pub mod far_merged;
pub mod folder;
pub mod io;
pub mod json;
pub mod lattice;
pub mod moses;
pub mod number;
pub mod packed;
pub mod pairs;
mod place;
mod plain;
pub mod separator;
mod small;
mod states;
pub mod symtab;
pub mod template;
pub mod text;
