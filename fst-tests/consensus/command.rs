//! `weft rescore consensus` and `weft rescore oracle` as they are typed, and what they say to bad input.

use crate::sandbox::Sandbox;

const SYMS: &str = "<eps>\t0\nthe\t1\na\t2\ncat\t3\ndog\t4\nsat\t5\n<s>\t6\n</s>\t7\n";

impl Sandbox {
    /// An arc whose weight is none, which no text can say.
    fn not_a_number(&self, name: &str) {
        self.words(name, "0 1 the 1234.5\n1\n");
        let mut bytes = self.bytes(name);
        let at = bytes.windows(4).position(|w| w == 1234.5f32.to_le_bytes()).unwrap();
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    /// Compiles an acceptor with the words above inside.
    fn words(&self, name: &str, text: &str) {
        self.write("words.syms", SYMS);
        self.write("it.t", text);
        let keep = "--isymbols=words.syms --osymbols=words.syms --keep_isymbols --keep_osymbols";
        self.run(&format!("mkdir -p $(dirname {name}); weft fst compile --acceptor {keep} it.t {name}")).ok();
    }
}

#[test]
fn consensus_of_samples() {
    let s = Sandbox::new();
    assert_eq!(s.run("weft rescore consensus --kendall --samples perms.txt").ok(), "0 2 1\n1 0\n");
    let scores = s.run("weft rescore consensus --kendall --samples perms.txt --over all -v").ok();
    assert_eq!(scores, "0 2 1\t2.300000\t0.233333\n1 0\t0.666667\t0.333333\n");
    assert_eq!(s.run("cat perms.txt | weft rescore consensus --kendall --samples -").ok(), "0 2 1\n1 0\n");
    let json = s.run("weft rescore consensus --kendall --samples perms.txt --json").ok();
    let line: serde_json::Value = serde_json::from_str(json.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&line["sentence"], &line["proven"]), (&2.into(), &true.into()));
    assert_eq!(line["order"], serde_json::json!([1, 0]));
    s.write("logs.txt", "-0.5\t0 1\n-0.6\t1 0\n");
    assert_eq!(s.run("weft rescore consensus --kendall --log-weights --samples logs.txt -o out.txt").ok(), "");
    assert_eq!(s.read("out.txt"), "0 1\n");
}

#[test]
fn a_bad_sample_fails_its_sentence_only() {
    let s = Sandbox::empty();
    s.write("p.txt", "1\t0 1\n\n1\t0 1\n1\t0 0\n\n1\t1 0\n\nNaN\t0\n\n1\t1 2\n\n1\t\n");
    let said = s.run("weft rescore consensus --kendall --samples p.txt");
    let parts = [
        "sentence 2: p.txt:4:5: no permutation: position 0 comes twice",
        "sentence 4: p.txt:8:1: the weight NaN",
        "sentence 5: p.txt:10:3: no permutation",
        "positions count from 0",
        "3 of 6 sentences failed",
    ];
    assert_eq!(said.fails(1, &parts), "0 1\n\n1 0\n\n\n\n");
    s.write("empty.txt", "\n\n");
    s.run("weft rescore consensus --kendall --samples empty.txt").fails(2, &["empty.txt:1:1: no samples"]);
    s.write("bytes.txt", "");
    s.run("printf '1\\t0 1\\n\\n1\\t\\377\\n' > bytes.txt").ok();
    s.run("weft rescore consensus --kendall --samples bytes.txt").fails(2, &["bytes.txt:3:3: not UTF-8"]);
    s.run("weft rescore consensus --kendall --samples none.txt").fails(2, &["none.txt"]);
}

#[test]
fn wrong_calls_of_consensus() {
    let s = Sandbox::new();
    s.run("weft rescore consensus perms.fst").fails(2, &["--kendall"]);
    s.run("weft rescore consensus --kendall --samples perms.txt perms.fst").fails(2, &["cannot be used with"]);
    s.run("weft rescore consensus --kendall --samples perms.txt --range 1:3").fails(2, &["cannot be used with"]);
    s.run("weft rescore consensus --kendall=false perms.fst").fails(2, &["say --kendall"]);
    s.run("weft rescore consensus --kendall --samples perms.txt --over lattice").fails(2, &["samples are given"]);
    s.run("weft rescore consensus --kendall --over samples perms.fst").fails(2, &["--samples FILE"]);
    s.run("weft rescore consensus --kendall --log-weights perms.fst").fails(2, &["about samples"]);
    s.run("weft rescore consensus --kendall --samples perms.txt -o x.fst").fails(2, &["text"]);
    s.run("weft rescore consensus --kendall perms.fst --json -o x.fst")
        .fails(2, &["x.fst is the name of an automaton"]);
    s.run("weft rescore consensus --kendall --alpha nan perms.fst").fails(2, &["--alpha"]);
}

#[test]
fn consensus_of_lattices() {
    let s = Sandbox::new();
    // 0 1 2 costs 0.75, 1 0 2 costs 1, 0 2 1 costs 1: probabilities 0.391, 0.304, 0.304.
    assert_eq!(s.run("weft rescore consensus --kendall perms.fst").ok(), "0 1 2\n");
    assert_eq!(s.run("weft rescore consensus --kendall --numeric perms.fst").ok(), "1 2 3\n");
    assert_eq!(s.run("weft rescore consensus --kendall --over all perms.fst").ok(), "0 1 2\n");
    s.write("names.syms", "<eps>\t0\nzero\t1\none\t2\ntwo\t3\n");
    assert_eq!(s.run("weft rescore consensus --kendall --symbols names.syms perms.fst").ok(), "zero one two\n");
    // 1 + 0.6957 + 0.6957 with costs as they are, and evenly 1 + 2/3 + 2/3.
    let scores = |alpha: &str| s.run(&format!("weft rescore consensus --kendall -v --alpha {alpha} perms.fst")).ok();
    assert!(scores("1").starts_with("0 1 2\t2.39"), "{}", scores("1"));
    assert!(scores("0").starts_with("0 1 2\t2.333333\t0.222222"), "{}", scores("0"));
    // As a stage it makes an automaton; so does -o.
    s.write("c.weft", "rescore-consensus --kendall\nprintstrings --print-weight\n");
    assert!(s.run("weft cascade c.weft perms.fst").ok().starts_with("1 2 3\t0.2"));
    s.run("weft rescore consensus --kendall perms.fst -o out.fst").ok();
    assert!(s.run("weft fst print --acceptor out.fst").ok().starts_with("0\t1\t1\n1\t2\t2\n2\t3\t3\n3\t0.2"));
}

#[test]
fn lattices_that_are_no_permutations() {
    let s = Sandbox::new();
    s.words("p/1.fst", "0 1 the\n1 2 cat\n2\n");
    s.words("p/2.fst", "0 1 the\n1 2 cat\n2 3 the\n3\n");
    s.words("p/3.fst", "0 1 the\n0 1 a\n1 2 cat\n2\n");
    s.words("p/4.fst", "0 1 the\n1 1 cat\n1\n");
    s.words("p/5.fst", "0 1 the\n1 0 cat\n");
    s.not_a_number("p/6.fst");
    s.words("p/7.fst", "0 1 cat\n1 2 the\n2\n");
    let said = s.run("weft rescore consensus --kendall 'p/?.fst' --range 1:8");
    let parts = [
        "p/2.fst: rescore-consensus: not a lattice of permutations: on the path \"the cat the\", \"the\" comes twice",
        "p/3.fst: rescore-consensus: not a lattice of permutations",
        "which is on other paths, is missing",
        "p/4.fst: rescore-consensus: the lattice has a cycle",
        "p/5.fst: rescore-consensus: the lattice has no path",
        "p/6.fst: byte ",
        "p/8.fst: No such file",
        "6 of 8 inputs failed",
    ];
    assert_eq!(said.fails(1, &parts), "the cat\ncat the\n");
}

#[test]
fn what_is_not_proven_is_said() {
    let s = Sandbox::empty();
    // Thirty words of which every sample has another third first: they go in circles.
    let orders = (0..3).map(|k| {
        let words: Vec<String> =
            (0..30u32).map(|i| ((i * 7 + k * 10 + (i * i * (k + 1)) / 7) % 30).to_string()).collect();
        words
    });
    let mut text = String::new();
    for mut words in orders {
        let mut seen = std::collections::BTreeSet::new();
        words.retain(|w| seen.insert(w.clone()));
        words.extend((0..30).map(|w| w.to_string()).filter(|w| !seen.contains(w)));
        text += &format!("1\t{}\n", words.join(" "));
    }
    s.write("p.txt", &text);
    let said = s.run("weft rescore consensus --kendall --samples p.txt --over all --limit 100 --json");
    assert!(said.err.contains("sentence 1: not proven to be the best order"), "{said:?}");
    let line: serde_json::Value = serde_json::from_str(&said.ok()).unwrap();
    assert_eq!(line["proven"], false);
    assert!(line["bound"].as_f64() > line["gain"].as_f64());
    let one = s.run("weft rescore consensus --kendall --samples p.txt --over all -v").ok();
    assert_eq!(one, s.run("weft rescore consensus --kendall --samples p.txt --over all -v -j 1").ok());
}

#[test]
fn oracles_of_lattices() {
    let s = Sandbox::new();
    s.words("lats/1.fst.gz", "0 1 the 1\n0 1 a\n1 2 dog\n1 2 cat 2\n2 3 sat 3\n2 3 <eps>\n3\n");
    s.words("lats/2.fst.gz", "0 1 <s>\n1 2 a\n1 2 the 5\n2 3 dog\n3 4 </s>\n4\n");
    s.write("ref.txt", "the cat sat\nthe dog barked\n");
    let said = s.run("weft rescore oracle --refs ref.txt 'lats/?.fst.gz' --range 1:2");
    assert!(said.err.contains("weft: oracle BLEU = "), "{said:?}");
    assert!(said.err.contains("hyp_len = 5 ref_len = 6), 2 sentences"), "{said:?}");
    assert_eq!(said.ok(), "the cat sat\nthe dog\n");
    let said = s.run("weft rescore oracle --refs ref.txt 'lats/?.fst.gz' --range 1:2 --nbest 1 --scores");
    // exp(1 − 3/2) times the root of 1/2 · 1/2.
    assert_eq!(said.ok(), "a dog\t0.00\t0/2 0/1 0/0 0/0\na dog\t30.33\t1/2 0/1 0/0 0/0\n");
    let linear = s.run("weft rescore oracle --refs ref.txt 'lats/?.fst.gz' --range 1:2 --p 0.5 --r 0.5 -j 1").ok();
    assert_eq!(linear, "the cat sat\nthe dog\n");
    // A second reference that the best path has.
    s.write("ref2.txt", "a dog\na dog\n");
    let both = s.run("weft rescore oracle --refs ref.txt --refs ref2.txt 'lats/?.fst.gz' --range 1:2 --nbest 100").ok();
    assert_eq!(both, "a dog\na dog\n");
    s.run("weft rescore oracle --refs ref.txt 'lats/?.fst.gz' --range 1:2 -o o.far").ok();
    s.write("p.weft", "printstrings --print-weight\n");
    assert_eq!(s.run("weft cascade p.weft o.far").ok(), "the cat sat\t6\n<s> the dog </s>\t5\n");
    s.write("o.weft", "rescore-oracle --refs ref.txt\nprintstrings\n");
    assert_eq!(s.run("weft cascade o.weft lats/1.fst.gz").ok(), "the cat sat\n");
}

#[test]
fn oracles_of_bad_input() {
    let s = Sandbox::new();
    s.words("l/1.fst", "0 1 the\n1\n");
    s.words("l/2.fst", "0 1 the\n1 1 cat\n1\n");
    s.words("l/3.fst", "0 1 the\n1 0 cat\n");
    s.not_a_number("l/4.fst");
    s.write("n.t", "0 1 9\n1\n");
    s.run("weft fst compile --acceptor n.t l/5.fst").ok();
    s.words("l/6.fst", "0 1 the\n1\n");
    s.write("ref.txt", "the\nthe\nthe\nthe\nzzz the\n");
    let said = s.run("weft rescore oracle --refs ref.txt 'l/?.fst' --range 1:6");
    let parts = [
        "l/2.fst: rescore-oracle: the lattice has a cycle",
        "l/3.fst: rescore-oracle: the lattice has no path",
        "l/4.fst: byte ",
        "l/5.fst: rescore-oracle: the lattice has no symbol table, and the reference of sentence 5 has words",
        "--symbols",
        "l/6.fst: rescore-oracle: ref.txt has 5 lines, and none for sentence 6",
        "5 of 6 inputs failed",
        "1 sentence",
    ];
    assert_eq!(said.fails(1, &parts), "the\n");
    s.write("few.syms", "<eps>\t0\nthe\t1\n");
    s.run("weft rescore oracle --refs ref.txt --symbols few.syms l/5.fst").fails(1, &["label 9 is not in the symbol"]);
    // Numbers need no names.
    s.write("idx.txt", "3\n4\n5\n6\n9 8\n");
    assert_eq!(s.run("weft rescore oracle --refs idx.txt l/5.fst --scores").ok(), "9\t36.79\t1/1 0/0 0/0 0/0\n");
    s.write("short.txt", "the\n");
    let two = "weft rescore oracle --refs ref.txt --refs short.txt l/1.fst";
    s.run(two).fails(1, &["ref.txt has 5 lines and short.txt has 1"]);
    s.run("weft rescore oracle --refs ref.txt --scores l/1.fst -o x.far").fails(2, &["name a text file"]);
    s.run("weft rescore oracle l/1.fst").fails(2, &["--refs"]);
    s.run("weft rescore oracle --refs none.txt l/1.fst").fails(2, &["none.txt"]);
    s.run("weft rescore oracle --refs ref.txt --p 0 --r 1 l/1.fst").fails(2, &["--p and --r"]);
    s.run("weft rescore oracle --refs ref.txt --nbest 0 l/1.fst").fails(2, &["--nbest 0"]);
    s.run("weft rescore oracle --refs 'r?.txt' l/1.fst").fails(2, &["no template"]);
    s.run("weft rescore oracle --refs ref.txt --max-states 1 l/1.fst").fails(1, &["stopped at 1 states"]);
}
