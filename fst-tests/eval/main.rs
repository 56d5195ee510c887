//! Evaluation: recorded answers of sacreBLEU and RIBES.py, the commands as users type them, bad input.

#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;

mod bad;
mod command;
mod golden;
