//! What README.md shows is what happens.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::sandbox::{ROOT, Sandbox};

fn readme() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap()
}

/// `$ command` lines of the `console` blocks, each with the lines of output below it.
fn steps(text: &str) -> Vec<(String, String)> {
    let mut steps: Vec<(String, String)> = vec![];
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_string(), String::new())),
                (None, Some(step)) if step.0.ends_with('\\') => {
                    step.0.push('\n');
                    step.0.push_str(line);
                }
                (None, Some(step)) => {
                    step.1.push_str(line);
                    step.1.push('\n');
                }
                (None, None) => panic!("a console block begins with output: {line}"),
            }
        }
    }
    steps
}

#[test]
fn console_blocks_run_and_print_what_they_show() {
    let s = Sandbox::empty();
    symlink(Path::new(ROOT).join("grammars"), s.path().join("grammars")).unwrap();
    let steps = steps(&readme());
    assert!(steps.len() >= 5, "the README has a tour");
    for (command, expected) in steps {
        let said = s.run(&command);
        assert_eq!(said.out, expected, "$ {command}\n{}", said.err);
    }
}

#[test]
fn the_two_commands_are_there_and_ci_runs_the_second() {
    let text = readme();
    assert!(text.contains("\ncargo test\n"));
    let ci = std::fs::read_to_string(Path::new(ROOT).join(".ci/run")).unwrap();
    for line in ["cargo fmt --check", "cargo clippy --all-targets -- -D warnings", "cargo test"] {
        assert!(ci.lines().any(|l| l == line), ".ci/run does not run `{line}`");
    }
    // The main job, with the binary of this build instead of `cargo run`.
    let job =
        text.lines().find_map(|l| l.strip_prefix("cargo run --release -- ")).expect("the main job is in the README");
    let s = Sandbox::empty();
    let out = s.run(&format!("weft {job}")).ok();
    assert!(out.contains("彼女 は その 先生 が 好き だ 。\n"), "{out}");
    assert_eq!(s.read("weft-demo/hyp.ja").lines().filter(|l| !l.is_empty()).count(), 20);
}

/// Links to files of the repository lead somewhere.
#[test]
fn links_to_files_hold() {
    for target in readme().split("](").skip(1).filter_map(|t| t.split(')').next()) {
        if !target.starts_with("http") && !target.starts_with('#') {
            assert!(Path::new(ROOT).join(target).exists(), "{target} does not exist");
        }
    }
}
