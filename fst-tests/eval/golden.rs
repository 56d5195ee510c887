//! Every recorded case (tools/make-golden-eval) through the binary: the same lines, scores to the last digits, the same p-values.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{ROOT, Sandbox};

/// The cases of these commands.
fn cases(commands: &[&str]) -> Vec<Value> {
    let text = fs::read_to_string(Path::new(ROOT).join("fst-tests/golden/eval/cases.jsonl")).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|case| commands.contains(&case["args"][0].as_str().unwrap())).collect()
}

fn run(s: &Sandbox, case: &Value, more: &str) -> String {
    let args: Vec<&str> = case["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    s.run(&format!("cd {ROOT}/fst-tests/golden/eval && weft eval {} {more}", args.join(" "))).ok()
}

/// Equal but for what another mathematics library may round otherwise.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * a.abs().max(b.abs())
}

fn check(commands: &[&str], at_least: usize) {
    let s = Sandbox::empty();
    let cases = cases(commands);
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    for case in cases {
        let object = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        if let Some(text) = case["text"].as_array() {
            let text: Vec<&str> = text.iter().map(|l| l.as_str().unwrap()).collect();
            assert_eq!(run(&s, &case, "").lines().collect::<Vec<_>>(), text, "{}", case["args"]);
            let json = object(&run(&s, &case, "--json"));
            assert!(same(json["score"].as_f64().unwrap(), case["score"].as_f64().unwrap()), "{case} {json}");
            assert_eq!(json["signature"], text[1]);
        }
        if let Some(scores) = case["scores"].as_array() {
            let said = run(&s, &case, "--json");
            assert_eq!(said.lines().count(), scores.len());
            for (i, (line, want)) in said.lines().zip(scores).enumerate() {
                let json = object(line);
                assert_eq!(json["sentence"], i + 1);
                let (got, want) = (json["score"].as_f64().unwrap(), want.as_f64().unwrap());
                assert!(same(got, want), "{}: sentence {}: {got} {want}", case["args"], i + 1);
            }
        }
        if let Some(lines) = case["lines"].as_array() {
            let lines: Vec<&str> = lines.iter().map(|l| l.as_str().unwrap()).collect();
            assert_eq!(run(&s, &case, "").lines().collect::<Vec<_>>(), lines, "{}", case["args"]);
        }
        if let Some(score) = case["score_text"].as_str() {
            assert_eq!(run(&s, &case, "--score-only").trim_end(), score, "{}", case["args"]);
        }
    }
}

#[test]
fn bleu_is_sacrebleus() {
    check(&["bleu"], 60);
}

#[test]
fn chrf_is_sacrebleus() {
    check(&["chrf"], 15);
}

#[test]
fn ter_is_sacrebleus() {
    check(&["ter"], 45);
}

#[test]
fn ribes_is_the_scripts() {
    check(&["ribes"], 12);
}

#[test]
fn tests_of_significance_are_sacrebleus() {
    let s = Sandbox::empty();
    let cases = cases(&["compare"]);
    assert!(cases.len() >= 8);
    for case in cases {
        let one = run(&s, &case, "--json -j 1");
        assert_eq!(one, run(&s, &case, "--json -j 3"), "the same for any number of threads");
        let json: Value = serde_json::from_str(&one).unwrap();
        for (row, metric) in case["systems"].as_array().unwrap().iter().zip(json["metrics"].as_array().unwrap()) {
            assert_eq!((&row[0], &row[1]), (&metric["name"], &metric["signature"]), "{}", case["args"]);
            let bootstrap = metric["signature"].as_str().unwrap().contains("|bs:");
            for i in 0..2 {
                let (want, got) = (&row[2 + i], &metric["systems"][i]);
                let p = if bootstrap { "p_bootstrap" } else { "p_randomisation" };
                for (want, key) in (0..4).map(|k| &want[k]).zip(["score", "mean", "ci", p]) {
                    let equal = match (want.as_f64(), got[key].as_f64()) {
                        (Some(a), Some(b)) => same(a, b),
                        (a, b) => a == b,
                    };
                    assert!(equal, "{}: {key} {want} {got}", case["args"]);
                }
            }
        }
    }
}
