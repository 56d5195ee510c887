//! The recorded answers of HiFST, where they are there: strings and costs of its regression cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sandbox::{ROOT, Sandbox};

/// HiFST rounds weights to 1/1024 whenever it minimises a cell.
const CLOSE: f64 = 0.004;

fn folder() -> Option<PathBuf> {
    let folder = Path::new(ROOT).parent()?.join("shared/peers/hifst");
    folder.join("expected/decode").is_dir().then_some(folder)
}

/// The options of a recorded command, in weft's words.
fn options(command: &str) -> String {
    let mut out = vec!["--format hifst --nbest 10 --unique".to_string()];
    let mut source = String::new();
    for (name, value) in command.split_whitespace().skip(1).filter_map(|a| a.strip_prefix("--")?.split_once('=')) {
        match name {
            "grammar.load" => out.push(format!("--rules {value}")),
            "source.load" => source = value.to_string(),
            "range" => out.push(format!("--range {value}")),
            "lm.load" => out.push(format!("--lm {value}")),
            "lm.featureweights" => out.push(format!("--lm-scale {value}")),
            "lm.wps" => out.push(format!("--word-penalty={value}")),
            "hifst.prune" => out.push(format!("--prune {value}")),
            "grammar.featureweights" => out.push(format!("--feature-weights {value}")),
            "featureweights" => {
                let (lm, rules) = value.split_once(',').unwrap();
                out.push(format!("--lm-scale {lm} --feature-weights {rules}"));
            }
            "hifst.usepdt" => out.push("--expand pdt".into()),
            "hifst.localprune.conditions" => {
                let parts: Vec<&str> = value.split(',').collect();
                out.extend(parts.chunks(4).map(|c| format!("--prune-cell {}", c.join(","))));
            }
            // Cells are reduced exactly, and the same model prunes them.
            "hifst.optimizecells" | "hifst.localprune.enable" | "hifst.localprune.lm.load" => {}
            other => panic!("unknown option of HiFST: {other}"),
        }
    }
    out.push(source);
    out.join(" ")
}

#[test]
fn the_same_lists_as_hifst() {
    let Some(folder) = folder() else { return };
    let s = Sandbox::empty();
    for entry in std::fs::read_dir(folder.join("expected/decode")).unwrap() {
        let case = entry.unwrap().path();
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let options = options(&std::fs::read_to_string(case.join("command")).unwrap());
        for more in ["", "--expand lazy", "--expand pdt"] {
            // An option given twice has its last value.
            let said = s.run(&format!("cd {} && weft decode {options} {more}", folder.display()));
            let mut got: BTreeMap<usize, Vec<(String, f64)>> = BTreeMap::new();
            for line in said.out.lines() {
                let fields: Vec<&str> = line.split(" ||| ").collect();
                let number: usize = fields[0].parse().unwrap();
                let score: f64 = fields[3].parse().unwrap();
                got.entry(number + 1).or_default().push((fields[1].to_string(), -score));
            }
            for list in std::fs::read_dir(&case).unwrap().map(|f| f.unwrap().path()) {
                let Some(number) = list.file_name().unwrap().to_str().unwrap().strip_suffix(".10best") else {
                    continue;
                };
                let want: Vec<(String, f64)> = std::fs::read_to_string(&list)
                    .unwrap()
                    .lines()
                    .map(|l| {
                        let (words, costs) = l.split_once('\t').unwrap();
                        (words.to_string(), costs.split(',').next().unwrap().parse().unwrap())
                    })
                    .collect();
                let got = got.remove(&number.parse().unwrap()).unwrap_or_default();
                assert_eq!(got.len(), want.len(), "{name} {number} {more}: {}", said.err);
                for (g, w) in got.iter().zip(&want) {
                    assert_eq!(g.0, w.0, "{name} {number} {more}");
                    assert!((g.1 - w.1).abs() < CLOSE, "{name} {number} {more}: {} instead of {}", g.1, w.1);
                }
            }
        }
    }
}
