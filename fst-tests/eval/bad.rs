//! Bad input: a message with the file and the sentence, exit code 2, and no output file.

use crate::sandbox::Sandbox;

#[test]
fn texts_that_do_not_fit() {
    let s = Sandbox::empty();
    s.write("ref", "a\nb\nc\n");
    s.write("two", "a\nb\n");
    s.write("none", "");
    s.run("printf 'a\\nb \\377\\nc\\n' > bytes; printf 'a\\nb\\nc\\n' | gzip | head -c 12 > cut.gz").ok();
    for metric in ["bleu", "chrf", "ter", "ribes", "exact", "terbleu"] {
        let run = |args: &str| s.run(&format!("weft eval {metric} {args} -o out"));
        let parts = ["two:3:1: the file ends after 2 sentences, but ref has 3: sentence 3 has no counterpart"];
        run("ref two").fails(2, &parts);
        run("two ref").fails(2, &parts);
        run("--ref two ref ref").fails(2, &parts);
        run("ref none").fails(2, &["none: the file is empty"]);
        run("ref bytes").fails(2, &["bytes:2:3: not UTF-8 text"]);
        run("ref cut.gz").fails(2, &["cut.gz", "cut off"]);
        run("ref nothing").fails(2, &["nothing"]);
        run("- -").fails(2, &["standard input can be read only once"]);
        run("--num-refs 2 ref ref").fails(2, &["ref:1:2: expected 2 references with tabs between them, found 1"]);
        assert!(!s.has("out"));
    }
    s.run("weft eval compare ref ref two").fails(2, &["two:3:1:"]);
    s.run("weft eval compare ref ref,two ref").fails(2, &["two:3:1:"]);
    s.run("weft eval compare ref ref").fails(2, &["2 values"]);
    s.run("weft eval compare ref ref, ref").fails(2, &["has no name"]);
}

#[test]
fn options_that_make_no_sense() {
    let s = Sandbox::empty();
    s.write("ref", "a\n\n");
    for (args, part) in [
        ("bleu --smooth-value 1 ref ref", "--smooth-value belongs to"),
        ("bleu -s floor --smooth-value=-1 ref ref", "not negative"),
        ("bleu --tokenize moses ref ref", "13a"),
        ("chrf --char-order 0 ref ref", "nothing to compare"),
        ("ribes ref ref", "ref:2:1: the reference has no words; --emptyref"),
        ("ribes --alpha nan --emptyref ref ref", "--alpha"),
        ("bleu --skip-empty-refs ref ref", "sentence 2 has no reference at all"),
        ("bleu --confidence --sentence-level ref ref", "cannot be used with"),
    ] {
        s.run(&format!("weft eval {args}")).fails(2, &[part]);
    }
}

#[test]
fn orders_that_are_none() {
    let s = Sandbox::empty();
    s.write("a", "0-0\n0-1 1-0\n");
    for (orders, part) in [
        ("0\n1 x\n", "p:2:3: expected a position of the source sentence (a number from 0), found \"x\""),
        ("0\n1 1\n", "p:2:3: the position 1 is there twice"),
        ("0\n1 2\n", "p:2:3: 2 is no position of 2 words"),
        ("0\n0\n", "a:2:5: the link 1-0 is outside a source sentence of 1 words"),
        ("0\n", "p:2:1: the file ends after 1 sentences, but a has 2"),
        ("0\n1 0\n0\n", "a:3:1: the file ends after 2 sentences, but p has 3"),
        ("0\n1.5 0\n", "p:2:1: expected a position"),
    ] {
        s.write("p", orders);
        for command in ["kendall", "crossing"] {
            s.run(&format!("weft eval {command} --align a p -o out")).fails(2, &[part]);
            assert!(!s.has("out"));
        }
    }
    s.write("p", "0\n1 0\n");
    s.write("a", "0-0\n0:1\n");
    s.run("weft eval kendall --align a p").fails(2, &["a:2:1: expected a link such as 0-1"]);
    s.run("weft eval kendall --align - -").fails(2, &["cannot both come from standard input"]);
    s.run("weft eval kendall p").fails(2, &["--align"]);
}

#[test]
fn lines_without_words_have_scores() {
    let s = Sandbox::empty();
    s.write("empty", "\n\n");
    s.write("words", "a b\n\n");
    for metric in ["bleu", "chrf", "ter", "exact", "terbleu", "ribes --emptyref"] {
        for files in ["empty empty", "words empty", "empty words"] {
            let out = s.run(&format!("weft eval {metric} {files}")).ok();
            assert!(!out.contains("NaN") && !out.contains("inf"), "{metric} {files}: {out}");
            let json = s.run(&format!("weft eval {metric} --json {files}")).ok();
            assert!(!json.contains("\"score\": null"), "{metric} {files}: {json}");
        }
    }
    s.run("weft eval compare -m bleu -m chrf -m ter empty empty empty").ok();
}
