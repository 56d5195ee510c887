//! Evaluation: how good translations and orders are, and whether two systems differ by more than chance.
//!
//! ```text
//! files ──corpus──► references, hypotheses ──Metric──► statistics of every sentence ──sum──► score
//!                                                          └──significance──► intervals, p-values
//! alignments, permutations ──order──► Kendall tau, crossing links
//! ```
//!
//! BLEU, chrF and TER are those of sacreBLEU (`signature::SACREBLEU` names the release), RIBES that of its reference
//! script. A metric is a struct of options that implements `Metric`: statistics of a sentence, which add up, and the score of
//! a sum. BLEU's parts are public by themselves (`bleu::BleuStats`, `bleu::Smoothing`) for tuning and oracles.

pub mod bleu;
pub mod chrf;
pub mod corpus;
pub mod exact;
pub mod metric;
pub mod ngram;
pub mod order;
pub mod random;
pub mod ribes;
pub mod signature;
pub mod significance;
pub mod space;
pub mod ter;
pub mod terbleu;
pub mod tokenize;
