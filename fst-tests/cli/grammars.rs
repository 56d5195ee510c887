//! The shipped lattices and model: the cascade mends what the lattices alone get wrong.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::sandbox::{ROOT, Sandbox};

fn sandbox() -> Sandbox {
    let s = Sandbox::empty();
    symlink(Path::new(ROOT).join("grammars"), s.path().join("grammars")).unwrap();
    s
}

/// Words to insert, delete or change to get from one sentence to the other.
fn errors(a: &str, b: &str) -> usize {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut last = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = last + usize::from(x != y);
            last = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

fn total_errors(s: &Sandbox, output: &str) -> usize {
    let reference = s.read("grammars/reference.txt");
    let found: Vec<&str> = output.lines().map(|l| l.split('\t').next().unwrap_or(l)).collect();
    assert_eq!(found.len(), reference.lines().count());
    found.iter().zip(reference.lines()).map(|(a, b)| errors(a, b)).sum()
}

#[test]
fn the_language_model_mends_the_lattices() {
    let s = sandbox();
    s.write("alone.weft", "shortestpath\nprintstrings\n");
    let run = |script: &str| s.run(&format!("weft cascade {script} 'grammars/lattices/?.fst.gz' --range 1:20")).ok();
    let (alone, rescored) = (total_errors(&s, &run("alone.weft")), total_errors(&s, &run("grammars/rescore.weft")));
    assert!(rescored * 3 < alone * 2, "{rescored} errors with the model, {alone} without");
}

#[test]
fn every_file_is_small_and_described() {
    let described = std::fs::read_to_string(Path::new(ROOT).join("grammars/README.md")).unwrap();
    let mut size = 0;
    let mut folders = vec![Path::new(ROOT).join("grammars")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
                continue;
            }
            size += meta.len();
            let name = entry.file_name().into_string().unwrap();
            let shown = name.trim_start_matches(|c: char| c.is_ascii_digit());
            assert!(name == "README.md" || described.contains(shown), "{name} is not in grammars/README.md");
        }
    }
    assert!(size < 1_500_000, "{size} bytes");
}
