//! Consensus of permutations and oracles: against everything that can be enumerated, sacreBLEU's numbers, and as typed.

#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod bleu_golden;
mod command;
mod kendall;
mod oracle;
