//! One file by every way: any memory, any number of threads, steps over streams; and scores that are probabilities.

use std::collections::HashMap;

use weft::rules::format::{RuleFormat, parse};

use crate::random;
use crate::sandbox::Sandbox;

fn sandbox(seed: u64, pairs: u64) -> Sandbox {
    let s = Sandbox::empty();
    let [source, target, links] = random::corpus(seed, pairs);
    s.write("s", &source);
    s.write("t", &target);
    s.write("a", &links);
    s
}

#[test]
fn memory_threads_and_steps_give_the_same_file() {
    let s = sandbox(1, 3000);
    s.run("weft rules extract --hiero s t a -o one").ok();
    let one = s.bytes("one");
    assert!(one.len() > 100_000);
    for line in [
        "weft rules extract --hiero -j 1 s t a -o other",
        "weft rules extract --hiero -j 3 --memory 100K --temp . s t a -o other",
        "weft rules extract s t a -o other.gz && gzip -dc other.gz > other",
        "weft rules extract s t a -o - > other",
        "paste s t a | weft rules extract --map | LC_ALL=C sort | weft rules extract --reduce -o counts && \
         weft rules lexicon s t a -o lex.gz && weft rules score --lexicon lex.gz counts -o other",
        "weft rules score --map counts | LC_ALL=C sort | weft rules score --reduce target -j 3 | LC_ALL=C sort | \
         weft rules score --reduce source --lexicon lex.gz -o other",
        "weft rules extract --counts-only s t a -o counts2 && cmp counts counts2 && \
         weft rules score --lexicon lex.gz --memory 1K counts2 > other",
    ] {
        s.run(&format!("rm -f other; {line}")).ok();
        assert!(s.bytes("other") == one, "{line}");
    }
    // Parts of the corpus, mapped apart.
    s.run("paste s t a | split -l 1100 - part.").ok();
    s.run(
        "for p in part.*; do weft rules extract --map $p; done | LC_ALL=C sort | weft rules extract --reduce > counts3",
    )
    .ok();
    s.run("cmp counts counts3 && for p in part.*; do weft rules lexicon $p; done > lex3").ok();
    s.run("weft rules score --lexicon lex3 counts3 > other").ok();
    assert!(s.bytes("other") == one);
}

#[test]
fn fractional_counts_are_the_same_by_every_way() {
    let s = sandbox(2, 400);
    s.run("weft rules extract --counts fractional --loose s t a -o one").ok();
    s.run("weft rules extract --counts fractional --loose -j 1 --memory 1K s t a -o two").ok();
    assert!(s.bytes("one") == s.bytes("two"));
}

#[test]
fn scores_are_probabilities() {
    let s = sandbox(3, 500);
    let text = s.run("weft rules extract --hiero s t a").ok();
    let mut given_source: HashMap<String, f64> = HashMap::new();
    let mut given_target: HashMap<String, f64> = HashMap::new();
    let mut last: Option<(String, f64)> = None;
    for line in text.lines() {
        let rule = parse(RuleFormat::Cdec, "t", 1, line).unwrap().unwrap();
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let p = (-rule.feature("EgivenF").unwrap()).exp();
        *given_source.entry(fields[1].to_string()).or_default() += p;
        // The target by itself: its nonterminals from left to right.
        let mut n = 0;
        let target: Vec<String> = fields[2]
            .split(' ')
            .map(|w| {
                if w.starts_with('[') {
                    n += 1;
                    format!("[X,{n}]")
                } else {
                    w.to_string()
                }
            })
            .collect();
        *given_target.entry(target.join(" ")).or_default() += (-rule.feature("FgivenE").unwrap()).exp();
        let key = format!("[X] ||| {} ||| ", fields[1]);
        if let Some((before, cost)) = &last {
            assert!(*before <= key, "sources in order");
            assert!(*before != key || *cost <= rule.feature("EgivenF").unwrap(), "the best first: {line}");
        }
        last = Some((key, rule.feature("EgivenF").unwrap()));
        let count = rule.feature("Count").unwrap();
        let indicator = if count == 1.0 {
            "Count1"
        } else if count == 2.0 {
            "Count2"
        } else {
            "CountMore"
        };
        for name in ["Count1", "Count2", "CountMore"] {
            assert_eq!(rule.feature(name), (name == indicator).then_some(1.0), "{line}");
        }
        let words = rule.target.iter().filter(|s| s.is_word()).count();
        assert_eq!((rule.feature("WordCount"), rule.feature("RuleCount")), (Some(words as f64), Some(1.0)));
        assert!(rule.feature("LexEgivenF").unwrap() >= 0.0 && rule.feature("LexFgivenE").unwrap() >= 0.0);
    }
    for (side, sum) in given_source.iter().chain(&given_target) {
        assert!((sum - 1.0).abs() < 1e-3, "{side}: {sum}");
    }
    assert!(given_source.len() > 100);
}

#[test]
fn the_most_frequent_alignment_is_kept() {
    let s = Sandbox::empty();
    s.write("i", "[X] ||| a b ||| x ||| Count=1 ||| 0-0\n[X] ||| a b ||| x ||| Count=1 ||| 1-0\n[X] ||| a b ||| x ||| Count=1 ||| 1-0\n");
    assert_eq!(s.run("weft rules extract --reduce i").ok(), "[X] ||| a b ||| x ||| Count=3 ||| 1-0\n");
    s.write("i", "[X] ||| a b ||| x ||| Count=1 ||| 0-0\n[X] ||| a b ||| x ||| Count=1 ||| 1-0\n");
    assert_eq!(s.run("weft rules extract --reduce i").ok(), "[X] ||| a b ||| x ||| Count=2 ||| 0-0\n");
}
