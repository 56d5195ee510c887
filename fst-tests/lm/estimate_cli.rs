//! `weft lm estimate` as a user meets it.

use crate::sandbox::Sandbox;

#[test]
fn writes_a_model_whole_or_not_at_all() {
    let s = Sandbox::new();
    s.run("weft lm estimate --order 4 train.txt -o lm.arpa").ok();
    assert!(s.read("lm.arpa").starts_with("\\data\\\nngram 1="));
    s.run("gzip -k train.txt; weft lm estimate --order 4 train.txt.gz -o lm.arpa.gz; zcat lm.arpa.gz | cmp - lm.arpa")
        .ok();
    assert_eq!(s.run("weft lm estimate --order 4 < train.txt").ok(), s.read("lm.arpa"));
    assert_eq!(s.run("weft lm estimate --order 4 -j 1 --memory 300K --temp . train.txt").ok(), s.read("lm.arpa"));
    s.write("bad.txt", "a b\nc <s> d\n");
    let before: Vec<_> = std::fs::read_dir(s.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    s.run("weft lm estimate --order 2 --temp . bad.txt -o bad.arpa")
        .fails(2, &["bad.txt:2:3:", "<s>", "--skip-symbols"]);
    assert_eq!(std::fs::read_dir(s.path()).unwrap().count(), before.len());
    let said = s.run("weft lm estimate --order 2 --skip-symbols --discount-fallback bad.txt");
    assert!(said.err.contains("taken as a blank") && said.err.contains("fallback discounts"), "{said:?}");
    assert!(said.ok().contains("\tc d\n"));
}

#[test]
fn pruning_may_stand_before_the_corpus() {
    let s = Sandbox::new();
    let spread = s.run("weft lm estimate --order 3 --prune 0 0 1 train.txt").ok();
    assert_eq!(s.run("weft lm estimate --order 3 train.txt --prune 0,0,1").ok(), spread);
    assert_ne!(s.run("weft lm estimate --order 3 train.txt").ok(), spread);
}

#[test]
fn stupid_back_off_says_what_it_is() {
    let s = Sandbox::new();
    let said = s.run("weft lm estimate --order 3 --smoothing stupid --backoff 0.4 train.txt");
    assert!(said.err.contains("not normalised"), "{said:?}");
    assert!(said.ok().contains("\t-0.39794\n"));
}

#[test]
fn wrong_input_has_a_place_and_a_reason() {
    let s = Sandbox::empty();
    s.write("tiny.txt", "a b c\n");
    s.write("empty.txt", "");
    std::fs::write(s.path().join("latin1.txt"), b"ok\nna\xefve\n").unwrap();
    std::fs::write(s.path().join("cut.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]).unwrap();
    for (line, parts) in [
        ("--order 2 none.txt", vec!["none.txt: "]),
        ("--order 2 empty.txt", vec!["empty"]),
        ("--order 2 tiny.txt", vec!["1-grams", "--discount-fallback"]),
        ("--order 2 latin1.txt", vec!["latin1.txt:2:3: not UTF-8"]),
        ("--order 2 cut.gz", vec!["cut.gz", "cut off"]),
        ("--order 0 tiny.txt", vec!["order"]),
        ("--order 99 tiny.txt", vec!["order"]),
        ("--order 2 --prune 1 0 -- tiny.txt", vec!["pruning"]),
        ("--order 2 --prune 0 1 2 -- tiny.txt", vec!["pruning"]),
        ("--order 2 --prune 99999999999999999999 -- tiny.txt", vec!["--prune"]),
        ("--order 2 --discount-fallback=0.5,3 tiny.txt", vec!["discount"]),
        ("--order 2 --smoothing stupid --backoff 0 tiny.txt", vec!["back-off"]),
        ("--order 2 --memory lots tiny.txt", vec!["--memory"]),
        ("--order 2 --memory 200K --temp none/such --discount-fallback long.txt", vec!["none/such"]),
        ("--order 2 --vocab none.txt tiny.txt", vec!["none.txt"]),
        ("--order 2 - -", vec!["standard input"]),
    ] {
        s.write("long.txt", &(0..40_000).map(|i| format!("w{} w{}\n", i % 199, i)).collect::<String>());
        s.run(&format!("weft lm estimate {line} -o out.arpa")).fails(2, &parts);
        assert!(!s.has("out.arpa"));
    }
}
