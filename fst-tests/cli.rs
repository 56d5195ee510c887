//! The command as a user meets it: help, README, exit codes, cascades, all through the built binary.

#[path = "cli/sandbox.rs"]
mod sandbox;

#[path = "cli/archives.rs"]
mod archives;
#[path = "cli/cascade.rs"]
mod cascade;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/containers.rs"]
mod containers;
#[path = "cli/grammars.rs"]
mod grammars;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/keys.rs"]
mod keys;
#[path = "cli/lm.rs"]
mod lm;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/readme.rs"]
mod readme;
#[path = "support/containers.rs"]
mod recorded;
