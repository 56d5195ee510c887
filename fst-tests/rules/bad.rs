//! Bad input: a message with file, line and column, exit code 2, and no output file.

use crate::sandbox::Sandbox;

#[test]
fn corpora_that_do_not_fit() {
    let s = Sandbox::new();
    let run = |s: &Sandbox, parts: &[&str]| {
        s.run("weft rules extract --hiero s t a -o out").fails(2, parts);
        s.run("weft rules lexicon s t a -o out").fails(2, parts);
        assert!(!s.has("out"));
    };
    s.write("s", "a\nb\n");
    s.write("t", "x\ny\nz\n");
    s.write("a", "0-0\n0-0\n");
    run(&s, &["s:3:1: the file ends after 2 lines, but t goes on"]);
    s.write("t", "x\n");
    run(&s, &["t:2:1: the file ends after 1 lines, but s goes on"]);
    s.write("t", "x\ny z\n");
    s.write("a", "0-0\n0-0 0-2\n");
    run(&s, &["a:2:5: the link 0-2 is outside a pair of 1 and 2 words"]);
    s.write("a", "0-0\n0-0 1\n");
    run(&s, &["a:2:5: expected a link"]);
    s.write("a", "0-0\n\n");
    s.run("printf 'a\\nb\\377\\n' > s").ok();
    run(&s, &["s:2:2: not UTF-8 text"]);
    s.run("weft rules extract s t").fails(2, &["expected three files"]);
    s.run("weft rules extract s t nothing").fails(2, &["nothing"]);
    s.write("i", "a\tb\n");
    s.run("weft rules extract --map i -o out").fails(2, &["i:1:4: expected three columns"]);
    s.write("i", "é\tb\t0-1\n");
    s.run("weft rules extract --map i -o out").fails(2, &["i:1:5: the link 0-1 is outside"]);
    assert!(!s.has("out"));
}

#[test]
fn empty_pairs_and_strange_words_are_passed_over() {
    let s = Sandbox::empty();
    s.write("s", "a\n\nb\n|||\n[X,1]\n\u{3000}\n");
    s.write("t", "x\ny\n \nz\nz\nq\n");
    s.write("a", "0-0\n\n\n0-0\n0-0\n0-0\n");
    let said = s.run("weft rules extract s t a");
    assert!(said.err.contains("2 of 6 pairs have an empty side"), "{said:?}");
    assert!(said.err.contains("2 of 6 pairs have a word that reads as a part of a rule"), "{said:?}");
    assert_eq!(said.ok().lines().count(), 2);
    for name in ["s", "t", "a"] {
        s.write(name, "");
    }
    assert_eq!(s.run("weft rules extract s t a").ok(), "");
    assert_eq!(s.run("weft rules extract s t a -o e.gz && weft rules filter --top 1 e.gz").ok(), "");
}

#[test]
fn rules_that_are_none() {
    let s = Sandbox::new();
    s.write("r", "[X] ||| a ||| b ||| Count=1\n\n[X] ||| a é [X,1] ||| b\n");
    for line in [
        "weft rules score r -o out",
        "weft rules score --map r -o out",
        "weft rules convert --to moses r -o out",
        "weft rules convert --from cdec r -o out",
        "weft rules filter --top 2 --by Count r -o out",
        "weft rules patterns r -o out",
        "weft rules shallow r -o out",
    ] {
        s.run(line).fails(2, &["r:3:13: [X,1] of the source is not in the target"]);
        assert!(!s.has("out"), "{line}");
    }
    s.write("r", "[X] ||| a ||| b ||| A=1\n");
    s.run("weft rules score r").fails(2, &["r:1:24: the rule has no Count"]);
    s.run("weft rules filter --top 1 r").fails(2, &["r:1:24: the rule has no EgivenF", "--by"]);
    s.run("weft rules shallow --n 21 r").fails(2, &["at most 20"]);
    s.run("weft rules filter --deny w r").fails(2, &["--deny"]);
    s.run("weft rules score --map --lexicon r r").fails(2, &["--reduce source"]);
    s.run("weft rules score --lexicon r r").fails(2, &["r:1:1: expected source<TAB>target<TAB>count"]);
    s.write("r", "[X] ||| b ||| b ||| Count=1\n[X] ||| a ||| b ||| Count=1\n");
    s.run("weft rules extract --reduce r").fails(2, &["r:2:1: the lines are not sorted"]);
    s.run("weft rules score --reduce source r").fails(2, &["r:2:1: the lines are not sorted"]);
}
