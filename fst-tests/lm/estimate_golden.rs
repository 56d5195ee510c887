//! `lm estimate` against files of KenLM's lmplz (tools/make-golden-lm).

use std::fs;

use weft::format::io;
use weft::lm::estimate::{Discount, Options, Smoothing};

use crate::model::{Model, run};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fst-tests/golden/lm");

/// The options of lmplz as ours.
fn translate(line: &str, options: &mut Options) {
    options.smoothing = Smoothing::KneserNey { fallback: None };
    let mut words = line.split_whitespace().peekable();
    while let Some(option) = words.next() {
        let mut values = vec![];
        while let Some(value) = words.next_if(|w| !w.starts_with('-')) {
            values.push(value);
        }
        match option {
            "-o" => options.order = values[0].parse().unwrap(),
            "--skip_symbols" => options.skip_symbols = true,
            "--prune" => options.prune = values.iter().map(|v| v.parse().unwrap()).collect(),
            "--limit_vocab_file" => options.vocabulary = Some(format!("{FOLDER}/{}", values[0])),
            "--discount_fallback" => {
                let values: Vec<f32> = values.iter().map(|v| v.parse().unwrap()).collect();
                let fallback =
                    if values.is_empty() { Discount::default() } else { Discount::from_values(&values).unwrap() };
                options.smoothing = Smoothing::KneserNey { fallback: Some(fallback) };
            }
            other => panic!("{other}"),
        }
    }
}

/// The same n-grams in the same order with the same numbers: to the last digit but one, for the logarithm is the system's.
fn check(name: &str, expected: &str, text: &[u8], line: &str) {
    let (ours, _) = run(&[text], |o| translate(line, o)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (expected, ours) = (Model::parse(expected), Model::parse(&ours));
    assert_eq!(expected.lines.len(), ours.lines.len(), "{name}");
    for (e, o) in expected.lines.iter().zip(&ours.lines) {
        assert_eq!(e.0, o.0, "{name}");
        assert!((e.1 - o.1).abs() < 1e-6, "{name}: {e:?} {o:?}");
        assert_eq!(e.2.is_some(), o.2.is_some(), "{name}: {e:?} {o:?}");
        assert!((e.2.unwrap_or(0.0) - o.2.unwrap_or(0.0)).abs() < 1e-6, "{name}: {e:?} {o:?}");
    }
}

#[test]
fn small_texts() {
    let all = fs::read_to_string(format!("{FOLDER}/small.txt")).unwrap();
    let mut cases = 0;
    for case in all.split("== ").skip(1) {
        let mut parts = case.splitn(4, '\n');
        let (name, text, options, arpa) =
            (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let text = text.strip_prefix("$ ").unwrap();
        let text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\0", "\0");
        check(name, arpa, text.as_bytes(), options.strip_prefix("> ").unwrap());
        cases += 1;
    }
    assert!(cases > 15);
}

#[test]
fn real_text() {
    let train = fs::read_to_string(format!("{FOLDER}/train.txt")).unwrap();
    for case in fs::read_to_string(format!("{FOLDER}/cases.txt")).unwrap().lines() {
        let fields: Vec<&str> = case.split('\t').collect();
        let text: String = train.split_inclusive('\n').take(fields[1].parse().unwrap()).collect();
        let (_, expected) = io::read_text(&format!("{FOLDER}/{}.arpa.gz", fields[0])).unwrap();
        check(fields[0], &expected, text.as_bytes(), fields[2]);
    }
}

/// lmplz gives an n-gram that nothing follows the back-off of the next one; it has none.
#[test]
fn an_n_gram_at_the_end_of_a_text_without_newline_is_no_context() {
    let (arpa, _) = run(&[b"a b c\nb a"], |_| {}).unwrap();
    let model = Model::parse(&arpa);
    let words = |line: &str| line.split(' ').map(str::to_string).collect::<Vec<_>>();
    assert_eq!(model.get(&words("b a")).unwrap().1, 0.0);
    assert!((model.get(&words("b c")).unwrap().1 + std::f64::consts::LOG10_2).abs() < 1e-6);
}
