//! Every `--help` has an example, and every example runs.

use clap::{Command, CommandFactory};
use weft::cli::Weft;

use crate::sandbox::Sandbox;

/// Every command with its path, such as `weft fst prune`.
fn all() -> Vec<(String, Command)> {
    let mut found = vec![];
    let mut open = vec![("weft".to_string(), Weft::command())];
    while let Some((path, command)) = open.pop() {
        for sub in command.get_subcommands() {
            open.push((format!("{path} {}", sub.get_name()), sub.clone()));
        }
        found.push((path, command));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The indented lines after `Example:`.
fn example(command: &Command) -> Option<Vec<String>> {
    let text = command.get_after_help().or(command.get_after_long_help())?.to_string();
    let (_, tail) = text.split_once("Example:\n").or_else(|| text.split_once("Examples:\n"))?;
    let lines: Vec<String> = tail.lines().take_while(|l| l.starts_with(' ')).map(|l| l.trim().to_string()).collect();
    (!lines.is_empty()).then_some(lines)
}

#[test]
fn every_command_has_an_example_and_a_line_about_itself() {
    let mut bad = vec![];
    for (path, command) in all() {
        if example(&command).is_none() {
            bad.push(format!("{path}: no `Example:` in --help"));
        }
        match command.get_about() {
            None => bad.push(format!("{path}: no description")),
            Some(about) if about.to_string().contains("Not built") => bad.push(format!("{path}: {about}")),
            Some(_) => {}
        }
        for arg in command.get_arguments() {
            let known = ["help", "version"].contains(&arg.get_id().as_str());
            if arg.get_help().is_none() && !arg.is_hide_set() && !known {
                bad.push(format!("{path}: {} has no help", arg.get_id()));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn every_example_runs() {
    let mut bad = vec![];
    for (path, command) in all() {
        let Some(lines) = example(&command) else { continue };
        // One folder an example: none may live on the files of another.
        let sandbox = Sandbox::new();
        for line in lines {
            if !line.contains("weft ") && !line.starts_with("printf") && !line.starts_with("echo") {
                bad.push(format!("{path}: not a command: {line}"));
                continue;
            }
            let said = sandbox.run(&line);
            if said.code != 0 {
                bad.push(format!("{path}: {line}\n  exit {}: {}", said.code, said.err));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let s = Sandbox::empty();
    for (path, _) in all() {
        let said = s.run(&format!("{path} --help"));
        assert!(said.out.contains("Usage:") && said.err.is_empty(), "{path}: {said:?}");
        said.ok();
    }
    assert!(s.run("weft --version").ok().starts_with("weft "));
}

#[test]
fn the_clap_tree_is_sound() {
    Weft::command().debug_assert();
}
