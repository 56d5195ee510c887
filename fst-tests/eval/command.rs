//! The commands as users type them.

use crate::sandbox::Sandbox;

fn texts() -> Sandbox {
    let s = Sandbox::empty();
    s.write("ref.txt", "The cat sat on the mat.\nIt was raining, again.\nHello\n\n");
    s.write("ref2.txt", "A cat sat on a mat.\n\nHello there\nx\n");
    s.write("hyp.txt", "The cat sat on a mat.\nIt rained again.\nHello\n\n");
    s.write("hyp2.txt", "cat the on mat.\nagain raining it\nHi\nx\n");
    s
}

#[test]
fn the_commands_of_the_specification() {
    let s = texts();
    s.write("a.align", "0-1 1-0\n0-0 1-2 2-1\n");
    s.write("permutations.txt", "1 0\n0 1 2\n");
    for line in [
        "weft eval bleu ref.txt hyp.txt",
        "weft eval bleu --tokenize char --json ref.txt hyp.txt",
        "weft eval chrf ref.txt hyp.txt",
        "weft eval ter ref.txt hyp.txt",
        "weft eval ribes --emptyref ref.txt hyp.txt",
        "weft eval compare ref.txt hyp.txt hyp2.txt",
    ] {
        assert!(!s.run(line).ok().is_empty(), "{line}");
    }
    // The first order is right; the second has one of three pairs wrong.
    let said = s.run("weft eval kendall --align a.align permutations.txt").ok();
    assert_eq!(said, "Kendall tau = 0.8333 (2 sentences; 0.7500 of all pairs)\n");
}

#[test]
fn scores_are_found_in_json() {
    let s = texts();
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(&s.run(line).ok()).unwrap();
    let bleu = json("weft eval bleu --json ref.txt hyp.txt");
    assert_eq!((&bleu["name"], &bleu["tok"], &bleu["nrefs"]), (&"BLEU".into(), &"13a".into(), &"1".into()));
    assert_eq!(bleu["sys_len"], 12);
    assert_eq!(bleu["counts"].as_array().unwrap().len(), 4);
    let score = bleu["score"].as_f64().unwrap();
    assert_eq!(s.run("weft eval bleu -b -w 6 ref.txt hyp.txt").ok(), format!("{score:.6}\n"));
    let ter = json("weft eval ter --json ref.txt hyp.txt")["score"].as_f64().unwrap();
    let both = json("weft eval terbleu --json ref.txt hyp.txt");
    assert_eq!(both["score"].as_f64().unwrap(), (ter - score) / 2.0);
    let exact = json("weft eval exact --json ref.txt hyp.txt");
    assert_eq!((exact["score"].as_f64(), &exact["matches"]), (Some(50.0), &2.into()));
    assert_eq!(s.run("weft eval exact ref.txt hyp.txt").ok().lines().next(), Some("SPR = 50.00 (2 of 4 sentences)"));
}

#[test]
fn input_in_other_forms_is_the_same() {
    let s = texts();
    s.run("gzip -k ref.txt").ok();
    let want = s.run("weft eval bleu ref.txt hyp.txt").ok();
    for line in [
        "weft eval bleu ref.txt.gz hyp.txt",
        "weft eval bleu ref.txt < hyp.txt",
        "weft eval bleu - hyp.txt < ref.txt",
        "tr '\\n' '\\n' < hyp.txt | weft eval bleu ref.txt -",
        "sed 's/$/ \\r/' hyp.txt > cr.txt; weft eval bleu ref.txt cr.txt",
        "printf '%s' \"$(cat hyp.txt)\" > cut.txt; echo >> cut.txt; echo >> cut.txt; weft eval bleu ref.txt cut.txt",
        "weft eval bleu -j 1 ref.txt hyp.txt",
        "weft eval bleu ref.txt hyp.txt -o out.txt && cat out.txt",
    ] {
        assert_eq!(s.run(line).ok(), want, "{line}");
    }
}

#[test]
fn several_references() {
    let s = texts();
    let two = s.run("weft eval bleu --ref ref2.txt ref.txt hyp.txt").ok();
    assert!(two.contains("nrefs:2|"), "{two}");
    s.run("paste ref.txt ref2.txt | sed 's/\\t$/\\tnone/' > both.txt; sed -i 's/^$/none/' ref2.txt").ok();
    let files = s.run("weft eval bleu --ref ref2.txt ref.txt hyp.txt").ok();
    assert_eq!(s.run("weft eval bleu -nr 2 both.txt hyp.txt").ok(), files);
    // An empty line is an empty reference, or none.
    s.write("ref2.txt", "A cat sat on a mat.\n\nHello there\nx\n");
    s.write("some.txt", "a\nb\nc\nd\n");
    let skipped = s.run("weft eval bleu --skip-empty-refs --ref ref2.txt some.txt hyp.txt").ok();
    assert!(skipped.contains("nrefs:var|"), "{skipped}");
}

#[test]
fn sentences_have_lines() {
    let s = texts();
    let out = s.run("weft eval bleu --sentence-level ref.txt hyp.txt").ok();
    assert_eq!(out.lines().count(), 4);
    assert!(out.starts_with("BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = "), "{out}");
    let scores = s.run("weft eval chrf -sl -b ref.txt hyp.txt").ok();
    assert_eq!(scores.lines().nth(2), Some("100.00"));
    assert_eq!(
        s.run("weft eval ter --sentence-level --score-only -w 0 ref.txt hyp.txt").ok().lines().nth(2),
        Some("0")
    );
}

#[test]
fn options_have_sacrebleus_spelling() {
    let s = texts();
    for (short, long) in [
        (
            "bleu -tok intl -s floor -sv 0.2 -lc",
            "bleu --tokenize intl --smooth-method floor --smooth-value 0.2 --lowercase",
        ),
        ("bleu -ci -cin 50", "bleu --confidence --confidence-n 50"),
        ("chrf -cw 2 -cc 5", "chrf --chrf-word-order 2 --chrf-char-order 5"),
        ("ter --ter-normalized", "ter --normalized"),
    ] {
        let say = |args: &str| s.run(&format!("weft eval {args} ref.txt hyp.txt")).ok();
        assert_eq!(say(short), say(long));
    }
    let short = s.run("weft eval bleu --short ref.txt hyp.txt").ok();
    assert_eq!(short.lines().nth(1), Some("#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0"));
}

#[test]
fn orders_are_judged() {
    let s = Sandbox::empty();
    s.write("src.txt", "a b c\nd\n\n");
    s.write("a.align", "0-2 1-0 2-1 2-0\n0-0\n\n");
    s.write("p.txt", "1 2 0\n0\n\n");
    let say = |line: &str| s.run(&format!("weft eval {line}")).ok();
    assert_eq!(say("kendall --align a.align p.txt"), "Kendall tau = 1.0000 (3 sentences; 1.0000 of all pairs)\n");
    assert_eq!(say("kendall --align a.align --sentence-level --identity src.txt"), "0.3333\n1.0000\n1.0000\n");
    // As it stands 0-2 crosses three links; in the new order none do.
    assert_eq!(
        say("crossing --align a.align -w 2 p.txt"),
        "crossing links = 0.00 a sentence (3 sentences; 0.0 % of 1.00 in the original order)\n"
    );
    assert_eq!(say("crossing --align a.align --sentence-level --identity src.txt"), "3\n0\n0\n");
    let json: serde_json::Value =
        serde_json::from_str(&say("crossing --json --align a.align --identity src.txt")).unwrap();
    assert_eq!((json["score"].as_f64(), json["percent"].as_f64()), (Some(1.0), Some(100.0)));
}

#[test]
fn runs_of_a_tuner() {
    let s = texts();
    let say = |line: &str| s.run(&format!("weft eval compare --paired-ar-n 200 --paired-bs-n 50 {line}")).ok();
    let out = say("ref.txt hyp.txt,hyp2.txt hyp2.txt,ref2.txt");
    assert!(out.contains("runs") && out.contains("sd"), "{out}");
    let json: serde_json::Value = serde_json::from_str(&say("--json ref.txt hyp.txt,hyp2.txt hyp2.txt")).unwrap();
    let system = &json["metrics"][0]["systems"][0];
    let runs: Vec<f64> = system["runs"].as_array().unwrap().iter().map(|r| r.as_f64().unwrap()).collect();
    assert_eq!(system["score"].as_f64().unwrap(), (runs[0] + runs[1]) / 2.0);
    assert!(system["sd"].as_f64().unwrap() > 0.0 && system["p_randomisation"].is_null());
    // A file whose name has a comma is one file.
    s.run("cp hyp.txt a,b").ok();
    assert!(!say("ref.txt a,b hyp2.txt").contains("runs"));
}
