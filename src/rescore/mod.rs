//! What is done to finished lattices: posteriors, minimum Bayes risk, consensus, oracles, combination, lists, samples.
//!
//! Every operation takes any acyclic automaton that OpenFst reads, of any of the three semirings; the words are its
//! output labels. `lattice` is the form they all compute on.

pub mod align;
pub mod combine;
pub mod concat;
pub mod confidence;
pub mod features;
pub mod kbest;
pub mod kendall;
pub mod lattice;
pub mod lmbr;
pub mod mesh;
pub mod mix;
pub mod ngrams;
pub mod oracle;
pub mod posteriors;
pub mod prune;
mod repeats;
pub mod sample;
pub mod words;
