//! posteriors and lmbr as commands: grids, evidence, names, words, bad input; HiFST's answers.

use std::path::Path;

use crate::lists_commands::{bad, lattices};
use crate::sandbox::{ROOT, Sandbox};

/// HiFST's answers for its four lattices, where they are there.
#[test]
fn the_same_strings_as_hifst() {
    let Some(folder) = Path::new(ROOT).parent().map(|p| p.join("shared/peers/hifst")) else { return };
    if !folder.join("expected/lmbr").is_dir() {
        return;
    }
    let s = Sandbox::empty();
    s.run(&format!(
        "weft rescore lmbr --alpha 0.4:0.1:0.5 --wps -0.01,0.01 --p 0.741 --r 0.62 --preprune 5 '{}/lattices/?.lat.fst.gz' --range 1:4 \
         -o '%%alpha%%_%%wps%%.hyp'",
        folder.display()
    ))
    .ok();
    for entry in std::fs::read_dir(folder.join("expected/lmbr")).unwrap() {
        let path = entry.unwrap().path();
        let want: String =
            std::fs::read_to_string(&path).unwrap().lines().map(|l| format!("{}\n", l.trim_end())).collect();
        assert_eq!(s.read(path.file_name().unwrap().to_str().unwrap()), want, "{}", path.display());
    }
}

/// Answers of HiFST's lmbr for lattices of our own, as recorded.
#[test]
fn recorded_answers_of_hifst() {
    let folder = Path::new(ROOT).join("fst-tests/golden/lmbr");
    let s = Sandbox::empty();
    for case in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let options = std::fs::read_to_string(case.join("options")).unwrap();
        let want = std::fs::read_to_string(case.join("expected.hyp")).unwrap();
        for n in 1..=6 {
            s.run(&format!("weft fst compile --acceptor {}/{n}.txt {n}.fst", case.display())).ok();
        }
        let got = s.run(&format!("weft rescore lmbr {} '?.fst' --range 1:6", options.trim())).ok();
        assert_eq!(got, want, "{}", case.display());
    }
}

const SHIPPED: &str = "'grammars/lattices/?.fst.gz' --range 1:5";

#[test]
fn a_grid_is_the_single_runs() {
    let s = lattices();
    let grid =
        s.run(&format!("weft rescore lmbr --alpha 0.5,1 --p 0.6:0.2:0.8 --r 0.7 --wp -0.05,0.05 {SHIPPED}")).ok();
    assert_eq!(grid.lines().count(), 5 * 8);
    for (alpha, p, wp) in [("0.5", "0.6", "-0.05"), ("1", "0.8", "0.05")] {
        let one = s.run(&format!("weft rescore lmbr --alpha {alpha} --p {p} --r 0.7 --wp {wp} {SHIPPED}")).ok();
        for (i, words) in one.lines().enumerate() {
            let line = format!("{alpha} {wp} {p} 0.7 {}:{words}", i + 1);
            assert!(grid.lines().any(|l| l == line), "{line}");
        }
    }
    assert_eq!(
        grid,
        s.run(&format!("weft rescore lmbr -j 1 --alpha 0.5,1 --p 0.6:0.2:0.8 --r 0.7 --wp -0.05,0.05 {SHIPPED}")).ok()
    );
    // One file a point, and the lattices of the same points, whose best paths these are.
    s.run(&format!("weft rescore lmbr --alpha 0.5,1 --wp -0.05,0.05 {SHIPPED} -o 'hyp/%%alpha%%_%%wp%%.hyp'")).ok();
    s.run(&format!("weft rescore lmbr --alpha 0.5,1 --wp -0.05,0.05 {SHIPPED} -o 'lat/%%alpha%%_%%wps%%/?.fst'")).ok();
    for point in ["0.50_-0.05", "0.50_0.05", "1.00_-0.05", "1.00_0.05"] {
        let strings =
            s.run(&format!("weft rescore kbest -n 1 --format strings 'lat/{point}/?.fst' --range 1:5 | cut -f 1")).ok();
        let hyps: Vec<String> =
            s.read(&format!("hyp/{point}.hyp")).lines().map(|l| l.split_once(':').unwrap().1.to_string()).collect();
        assert_eq!(strings.lines().collect::<Vec<_>>(), hyps);
    }
    s.run(&format!("weft rescore lmbr --alpha 0.5,1 {SHIPPED} -o 'one.txt'")).ok();
    assert_eq!(s.read("one.txt").lines().count(), 10);
    assert!(s.read("one.txt").starts_with("0.5 0 1:"));
    // The same as thetas, and as a stage.
    let plain = s.run(&format!("weft rescore lmbr --p 0.5 --r 0.5 --order 2 --T 5 {SHIPPED}")).ok();
    assert_eq!(plain, s.run(&format!("weft rescore lmbr --theta -0.2,0.1,0.2 {SHIPPED}")).ok());
    s.write("l.weft", "rescore-lmbr --theta -0.2,0.1,0.2\nshortestpath\nprintstrings\n");
    assert_eq!(plain, s.run(&format!("weft cascade l.weft {SHIPPED}")).ok());
    s.write("l.weft", "rescore-lmbr --theta -0.2,0.1,0.2 --strings\n");
    assert_eq!(plain, s.run(&format!("weft cascade l.weft {SHIPPED}")).ok());
}

#[test]
fn evidence_of_several_systems() {
    let s = lattices();
    let alone = s.run(&format!("weft rescore lmbr --alpha 0.5 {SHIPPED}")).ok();
    let mixed = |evidence: &str| s.run(&format!("weft rescore lmbr --alpha 0.5 {evidence} {SHIPPED}")).ok();
    assert_eq!(alone, mixed("--evidence 'grammars/lattices/?.fst.gz'"));
    assert_eq!(alone, mixed("--evidence 'grammars/lattices/?.fst.gz:0.5' --evidence -:0.5"));
    // Another system: the same sentences with other costs, in an archive, its words numbered otherwise.
    s.write("lm.weft", "compose --phi-label=1 - grammars/lm.fst.gz\nprune --weight=9\n");
    s.run(&format!("weft cascade lm.weft {SHIPPED} -o b.far")).ok();
    s.run("weft fst symbols --save-osymbols=w.syms grammars/lattices/1.fst.gz > /dev/null").ok();
    let other = mixed("--evidence b.far");
    assert_ne!(alone, other);
    assert_eq!(other, mixed("--evidence b.far:1 --evidence 'grammars/lattices/?.fst.gz:0'"));
    assert_eq!(alone, mixed("--evidence b.far:0 --evidence -"));
    let tac = "{ print $1 \"\\t\" (NR == 1 ? 0 : 100000 - NR) }";
    s.run(&format!("awk '{tac}' w.syms > v.syms")).ok();
    for n in 1..=3 {
        s.run(&format!(
            "mkdir -p v && weft fst print grammars/lattices/{n}.fst.gz > t.txt && \
             weft fst compile --isymbols v.syms --osymbols v.syms --keep-isymbols --keep-osymbols t.txt v/{n}.fst"
        ))
        .ok();
    }
    let three = "'grammars/lattices/?.fst.gz' --range 1:3";
    let named = s.run(&format!("weft rescore lmbr --alpha 0.5 --evidence 'v/?.fst' {three}")).ok();
    assert_eq!(named, alone.lines().take(3).map(|l| format!("{l}\n")).collect::<String>());
}

#[test]
fn bad_lattices_are_named_and_the_rest_goes_on() {
    let s = Sandbox::empty();
    bad(&s);
    let named =
        ["bad/2.fst: ", "no path", "bad/3.fst: ", "cycle", "bad/5.fst: ", "not a number", "3 of 5 inputs failed"];
    for command in [
        "lmbr",
        "lmbr --preprune 3",
        "lmbr --unique --evidence -",
        "posteriors --order 1",
        "posteriors --words",
        "posteriors --arcs",
    ] {
        let said = s.run(&format!("weft rescore {command} 'bad/?.fst' --range 1:5"));
        let out = said.fails(1, &named);
        assert!(!out.is_empty());
    }
    s.run("weft rescore lmbr 'bad/?.fst' --range 1:5 -o 'l/%%alpha%%/?.fst'").fails(1, &named);
    assert!(s.has("l/1.00/1.fst") && s.has("l/1.00/4.fst") && !s.has("l/1.00/2.fst"));
    s.run("weft rescore lmbr 'bad/?.fst' --range 1:5 -o 'h/%%alpha%%.hyp'").fails(1, &named);
    assert_eq!(s.read("h/1.00.hyp"), "1 0 1:1\n1 0 4:1\n");
    s.run("weft rescore lmbr --evidence 'bad/?.fst' bad/1.fst bad/4.fst").ok();
    s.run("weft rescore lmbr --evidence bad/3.fst bad/1.fst").fails(1, &["bad/1.fst: ", "bad/3.fst", "cycle"]);
    // A label without a word.
    s.write("w.syms", "<eps> 0\none 1\n");
    s.run("weft rescore posteriors --symbols w.syms bad/1.fst")
        .fails(1, &["bad/1.fst: ", "label 2 is not in the symbol table"]);
    assert_eq!(s.run("weft rescore lmbr --symbols w.syms bad/1.fst").ok(), "one\n");
    assert_eq!(s.run("weft rescore lmbr --symbols w.syms --numeric bad/1.fst").ok(), "1\n");
    // What the options say is looked at before any lattice.
    for (options, why) in [
        ("--alpha x", "not a number"),
        ("--alpha -1", "0 or more"),
        ("--p 0", "more than 0"),
        ("--T 0", "more than 0"),
        ("--order 0", "1 to 16"),
        ("--theta 1", "two numbers or more"),
        ("--theta 1,2 --p 0.5", "cannot be used with"),
        ("--evidence bad/1.fst:x", "no weight"),
        ("--evidence bad/1.fst:-1", "from 0 up"),
        ("--evidence none.fst", "none.fst"),
        ("--preprune -1", "0 or more"),
        ("--alpha 1,2 -o 'a/?.fst'", "%%alpha%%"),
        ("--alpha 1,2 -o '%%alpha%%.far'", "archive"),
        ("--alpha 1,2 -o '%%alpha%%.fst'", "put `?`"),
        ("--skip x", "no label"),
    ] {
        let said = s.run(&format!("weft rescore lmbr {options} 'bad/?.fst' --range 1,4"));
        assert!(said.err.contains(why) && said.code != 0, "{options}: {said:?}");
    }
    for (options, why) in [
        ("--order 17", "1 to 16"),
        ("--alpha nan", "0 or more"),
        ("--min 2", "from 0 to 1"),
        ("--arcs --json", "cannot be used with"),
    ] {
        s.run(&format!("weft rescore posteriors {options} bad/1.fst")).fails(2, &[why]);
    }
}

#[test]
fn words_that_count_as_none() {
    let s = Sandbox::empty();
    s.write("a.t", "0 1 1\n1 2 999999999\n2 3 2\n0 4 1\n4 3 3\n3\n");
    s.run("weft fst compile --acceptor a.t a.fst").ok();
    let post = s.run("weft rescore posteriors --order 2 a.fst").ok();
    assert_eq!(post, "1\t1\n2\t0.5\n3\t0.5\n999999999\t0.5\n1 3\t0.5\n1 999999999\t0.5\n999999999 2\t0.5\n");
    assert_eq!(s.run("weft rescore lmbr --skip 999999999 --wp -1 a.fst").ok(), "1 2\n");
    assert_eq!(s.run("weft rescore lmbr --wp -1 a.fst").ok(), "1 999999999 2\n");
}

#[test]
fn posteriors_as_text_json_and_automata() {
    let s = Sandbox::empty();
    s.write("a.t", "0 1 7 7\n1 2 7 7\n1 2 8 8\n2\n");
    s.run("weft fst compile a.t a.fst").ok();
    let text = s.run("weft rescore posteriors --counts --order 2 a.fst").ok();
    assert_eq!(text, "7\t1\t1.5\n8\t0.5\t0.5\n7 7\t0.5\t0.5\n7 8\t0.5\t0.5\n");
    let text = s.run("weft rescore posteriors --order 2 --min 0.75 a.fst").ok();
    assert_eq!(text, "7\t1\n");
    let json = s.run("weft rescore posteriors --json --order 1 a.fst").ok();
    assert_eq!(
        json,
        "{\"number\":1,\"ngrams\":[{\"words\":[\"7\"],\"posterior\":1.0,\"count\":1.5},{\"words\":[\"8\"],\"posterior\":0.5,\"count\":0.5}]}\n"
    );
    assert_eq!(
        s.run("weft rescore posteriors --arcs a.fst").ok(),
        "0\t1\t7\n1\t2\t7\t0.693147182\n1\t2\t8\t0.693147182\n2\n"
    );
    s.run("weft rescore posteriors --arcs a.fst -o p.fst").ok();
    assert_eq!(
        s.run("weft fst print --acceptor p.fst").ok(),
        "0\t1\t7\n1\t2\t7\t0.693147182\n1\t2\t8\t0.693147182\n2\n"
    );
    assert_eq!(s.run("weft rescore posteriors --words a.fst").ok(), "7\t1\t1\t1\n7\t0.5\t0.5\t1\n\n");
    let json = s.run("weft rescore posteriors --words --json a.fst").ok();
    assert!(json.contains("\"words\":[{\"word\":\"7\",\"arc\":1.0,\"place\":1.0,\"anywhere\":1.0},"), "{json}");
    // A bound on the work.
    s.run("weft rescore posteriors --order 2 --max-arcs 2 a.fst").fails(1, &["a.fst", "--max-arcs"]);
}
