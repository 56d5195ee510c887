//! `weft cascade`: stages, inputs, outputs, failures.

use crate::sandbox::Sandbox;

/// 30 small lattices `lats/1.fst` ..., each with its own number as a label.
fn lattices() -> Sandbox {
    let s = Sandbox::new();
    for i in 1..=30 {
        s.write(&format!("lats/{i}.txt"), &format!("0 1 {i} {i} 1\n0 1 {} {} 2\n1 2 7 7\n2 0.5\n", i + 100, i + 100));
    }
    s.run("for i in $(seq 30); do weft fst compile lats/$i.txt lats/$i.fst || exit 1; done").ok();
    s
}

const ALL: &str = "'lats/?.fst' --range 1:30";

#[test]
fn a_stage_does_what_the_command_does() {
    let s = Sandbox::new();
    for stage in [
        "arcsort --sort_type=olabel",
        "invert",
        "project --project-type output",
        "prune --weight=1.5",
        "determinize",
        "reverse",
        "shortestpath --nshortest=2",
        "map --map-type superfinal",
        "push --push-weights",
    ] {
        s.write("one.weft", stage);
        s.run("weft cascade one.weft a.fst -o by-stage.fst").ok();
        s.run(&format!("weft fst {stage} a.fst by-command.fst")).ok();
        assert!(s.bytes("by-stage.fst") == s.bytes("by-command.fst"), "{stage}");
    }
    s.write("two.weft", "compose - b.fst\nprint\n");
    assert_eq!(s.run("weft cascade two.weft a.fst").ok(), s.run("weft fst compose a.fst b.fst | weft fst print").ok());
    s.write("left.weft", "compose a.fst -\nprint\n");
    assert_eq!(s.run("weft cascade left.weft b.fst").ok(), s.run("weft fst compose a.fst b.fst | weft fst print").ok());
}

#[test]
fn scripts_have_comments_quotes_and_prefixes() {
    let s = Sandbox::new();
    s.write("s.weft", "# first\n\nweft fst invert   # back and\n  fst invert\nfstinvert\nsave 'my file.fst'\nprint\n");
    assert_eq!(s.run("weft cascade s.weft < a.fst").ok(), s.run("weft fst invert a.fst | weft fst print").ok());
    assert!(s.has("my file.fst"));
    assert_eq!(s.run("echo print | weft cascade - a.fst").ok(), s.run("weft fst print a.fst").ok());
    assert_eq!(s.run("cat a.fst | weft cascade s.weft -").ok(), s.run("weft fst invert a.fst | weft fst print").ok());
}

#[test]
fn bad_scripts_are_refused_before_any_work() {
    let s = lattices();
    s.write("bad.weft", "save out/?.fst\nprnt\nprune --wieght 3\narcsort --sort-type up\n'open\n");
    s.run(&format!("weft cascade bad.weft {ALL}")).fails(
        2,
        &[
            "bad.weft:2: unknown stage 'prnt'",
            "bad.weft:3: prune: ",
            "--wieght",
            "bad.weft:4: arcsort: ",
            "bad.weft:5: ",
        ],
    );
    s.write("missing.weft", "save out/?.fst\ncompose - nosuch.fst\nprint --isymbols no.syms\n");
    s.run(&format!("weft cascade missing.weft {ALL}"))
        .fails(2, &["missing.weft:2: compose: nosuch.fst", "missing.weft:3: print: no.syms"]);
    s.write("template.weft", "save out/?.fst\nunion - other/?.fst\n");
    s.run("mkdir other; cp lats/[1-8].fst other/").ok();
    s.run("weft cascade template.weft 'lats/?.fst' --range 7:9").fails(2, &["template.weft:2: union: other/9.fst"]);
    s.write("nowhere.weft", "connect\n");
    s.run(&format!("weft cascade nowhere.weft {ALL}")).fails(2, &["nothing says where the results go", "-o"]);
    s.run(&format!("weft cascade nowhere.weft {ALL} -o one.fst")).fails(2, &["one.fst", "`?`"]);
    s.write("over.weft", "save one.fst\n");
    s.run(&format!("weft cascade over.weft {ALL}")).fails(2, &["over.weft:1", "overwrite one.fst"]);
    s.write("empty.weft", "# nothing\n");
    s.run("weft cascade empty.weft a.fst").fails(2, &["no stages"]);
    s.run("weft cascade nosuch.weft a.fst").fails(2, &["nosuch.weft"]);
    s.run("weft cascade nowhere.weft 'lats/?.fst' -o 'out/?.fst'").fails(2, &["--range"]);
    s.run("weft cascade nowhere.weft 'lats/?.fst' --range 3:1 -o 'out/?.fst'").fails(2, &["ends before it begins"]);
    s.run("weft cascade nowhere.weft 'nosuch/?.fst' --range 1:3 -o 'out/?.fst'").fails(2, &["nosuch/1.fst"]);
    assert!(!s.has("out"), "nothing was written");
}

#[test]
fn templates_archives_and_files_give_the_same() {
    let s = lattices();
    s.write("p.weft", "shortestpath\nprintstrings --print-weight\n");
    let want = s.run(&format!("weft cascade p.weft {ALL}")).ok();
    assert_eq!(want.lines().next(), Some("1 7\t1.5"));
    assert_eq!(want.lines().count(), 30);
    assert_eq!(s.run("weft cascade p.weft $(for i in $(seq 30); do echo lats/$i.fst; done)").ok(), want);
    s.write("c.weft", "connect\n");
    s.run(&format!("weft cascade c.weft {ALL} -o all.far")).ok();
    assert_eq!(s.run("weft cascade p.weft all.far").ok(), want);
    assert_eq!(s.run("weft cascade p.weft < all.far").ok(), want);
    assert_eq!(s.run("gzip -k all.far; weft cascade p.weft all.far.gz").ok(), want);
    s.run(&format!("weft cascade c.weft {ALL} -o 'new/?.fst.gz'")).ok();
    assert_eq!(s.run("weft cascade p.weft 'new/?.fst.gz' --range 1:30").ok(), want);
    assert_eq!(
        s.run("weft cascade p.weft 'lats/?.fst' --range 3:2:7,30").ok(),
        "3 7\t1.5\n5 7\t1.5\n7 7\t1.5\n30 7\t1.5\n"
    );
    s.run(&format!("weft cascade p.weft {ALL} -o all.txt")).ok();
    assert_eq!(s.read("all.txt"), want);
    assert_eq!(s.run(&format!("weft cascade p.weft {ALL} -o 'each/?.txt'")).ok(), "");
    assert_eq!(s.read("each/30.txt"), "30 7\t1.5\n");
    let keyed = s.run("weft cascade p.weft 'lats/?.fst' --range 1:2 --keys").ok();
    assert_eq!(keyed, "# lats/1.fst\n1 7\t1.5\n# lats/2.fst\n2 7\t1.5\n");
}

#[test]
fn a_script_may_begin_with_text() {
    let s = lattices();
    s.write("t.weft", "compile --acceptor=false\nshortestpath\nprintstrings\n");
    assert_eq!(s.run("weft cascade t.weft 'lats/?.txt' --range 4:5").ok(), "4 7\n5 7\n");
    assert_eq!(s.run("weft cascade t.weft < lats/9.txt").ok(), "9 7\n");
}

#[test]
fn templates_in_stages_are_one_file_an_input() {
    let s = lattices();
    s.write(
        "u.weft",
        "union - lats/?.fst\nsave u/?.fst.gz\nprint - u/?.txt\nprune --weight=0.5 - pruned/?.fst\nprintstrings\n",
    );
    let out = s.run("weft cascade u.weft 'lats/?.fst' --range 2:3").ok();
    assert_eq!(out, "2 7\n2 7\n3 7\n3 7\n");
    for i in 2..=3 {
        let union = s.run(&format!("weft fst union lats/{i}.fst lats/{i}.fst | weft fst print")).ok();
        assert_eq!(s.read(&format!("u/{i}.txt")), union);
        assert_eq!(s.run(&format!("weft fst print u/{i}.fst.gz")).ok(), union);
        assert!(s.has(&format!("pruned/{i}.fst")));
    }
    s.run("cp lats/2.fst 2.fst").ok();
    s.run("weft cascade u.weft 2.fst lats/2.fst").fails(2, &["2.fst and lats/2.fst are both `2`"]);
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let s = lattices();
    s.write("p.weft", "union - lats/?.fst\nrmepsilon\ndeterminize\nminimize\nshortestpath --nshortest=2\nprint\n");
    s.write("f.weft", "union - lats/?.fst\nrmepsilon\n");
    s.run("cp lats/1.txt lats/17.fst").ok();
    let first = s.run(&format!("weft cascade p.weft {ALL} --threads 1"));
    assert_eq!(first.code, 1);
    assert!(first.out.len() > 1000);
    for j in [2, 3, 16] {
        let said = s.run(&format!("weft cascade p.weft {ALL} -j {j}"));
        assert_eq!((&said.out, &said.err, said.code), (&first.out, &first.err, 1), "{j} threads");
        s.run(&format!("weft cascade f.weft {ALL} -j 1 -o one.far")).fails(1, &[]);
        s.run(&format!("weft cascade f.weft {ALL} -j {j} -o many.far")).fails(1, &[]);
        assert!(s.bytes("one.far") == s.bytes("many.far"));
    }
}

#[test]
fn a_failing_input_is_named_and_the_others_go_on() {
    let s = lattices();
    s.write("p.weft", "prune --weight=9\nprintstrings\n");
    s.run("head -c 60 lats/1.fst > lats/2.fst; rm lats/4.fst").ok();
    let out = s
        .run("weft cascade p.weft 'lats/?.fst' --range 1:5 -j 2")
        .fails(1, &["weft: lats/2.fst: ", "weft: lats/4.fst: No such file", "2 of 5 inputs failed"]);
    assert_eq!(out, "1 7\n101 7\n3 7\n103 7\n5 7\n105 7\n");
    // A stage that fails says which line of the script it is.
    s.write("loop.t", "0 0 1 1\n0\n");
    s.run("weft fst compile loop.t loop.fst").ok();
    let out =
        s.run("weft cascade p.weft lats/1.fst loop.fst").fails(1, &["loop.fst: p.weft:2: printstrings: ", "cycle"]);
    assert_eq!(out, "1 7\n101 7\n");
    // A test that says no fails its input.
    s.write("e.weft", "equal - lats/1.fst\n");
    s.run("weft cascade e.weft lats/1.fst lats/3.fst")
        .fails(1, &["lats/3.fst: e.weft:1: equal - lats/1.fst: no", "1 of 2"]);
    s.run("weft cascade e.weft lats/1.fst").ok();
    // An entry of an archive is named by its key.
    s.write("c.weft", "connect\n");
    s.run("weft cascade c.weft lats/1.fst loop.fst -o two.far").ok();
    s.run("weft cascade p.weft two.far").fails(1, &["two.far:loop: p.weft:2"]);
}

#[test]
fn dump_has_what_every_stage_made() {
    let s = lattices();
    s.write("d.weft", "union - lats/?.fst\nprune --weight 0.5\nprintstrings\n");
    s.run("weft cascade d.weft 'lats/?.fst' --range 8:9 --dump D").ok();
    for i in 8..=9 {
        let union = s.run(&format!("weft fst union lats/{i}.fst lats/{i}.fst")).ok();
        assert!(!union.is_empty());
        s.run(&format!("weft fst equal lats/{i}.fst D/{i}/00-input.fst")).ok();
        s.run(&format!("weft fst union lats/{i}.fst lats/{i}.fst | weft fst equal - D/{i}/01-union.fst")).ok();
        let text = s.run(&format!("weft fst print --acceptor D/{i}/02-prune.fst")).ok();
        assert_eq!(s.read(&format!("D/{i}/02-prune.txt")), text);
        assert_eq!(s.read(&format!("D/{i}/03-printstrings.txt")), format!("{i} 7\n{i} 7\n"));
    }
    // Words where there are symbol tables.
    s.write("w.weft", "connect\n");
    s.run("weft cascade w.weft acc.fst --dump W -o x.fst").ok();
    assert_eq!(s.read("W/acc/01-connect.txt"), "0\t1\ta\n0\t1\tb\n1\t2\tc\n2\n");
}

#[test]
fn stats_count_states_arcs_and_paths() {
    let s = lattices();
    s.write("s.weft", "union - lats/?.fst\nrmepsilon\nclosure\nprint\n");
    let said = s.run("weft cascade s.weft 'lats/?.fst' --range 1:4 --stats > /dev/null");
    assert_eq!(said.code, 0, "{said:?}");
    let rows: Vec<Vec<&str>> = said.err.lines().map(|l| l.split_whitespace().rev().collect()).collect();
    assert_eq!(rows[0], ["seconds", "paths", "arcs", "states", "inputs", "stage"]);
    // Backwards: seconds, paths, arcs, states, inputs.
    assert_eq!(rows[1][1..], ["8", "12", "12", "4", "input"]);
    assert_eq!(rows[2][1], "16", "the union has twice the paths");
    assert_eq!(rows[3][1], "16");
    assert_eq!(rows[4][1], "inf", "a closure has no end of paths");
    assert_eq!(rows[5][1..4], ["-", "-", "-"], "print makes no automaton");
    assert!(said.err.contains("4 inputs, 0 failed"), "{}", said.err);
}

#[test]
fn a_bar_is_for_terminals() {
    let s = lattices();
    s.write("p.weft", "print\n");
    let said = s.run(&format!("weft cascade p.weft {ALL} --progress"));
    assert!(said.err.is_empty(), "{said:?}");
    said.ok();
}

#[test]
fn a_stage_can_read_what_one_before_it_wrote() {
    let s = lattices();
    s.write("r.weft", "save once.fst\nunion - once.fst\nprint\n");
    assert_eq!(s.run("weft cascade r.weft a.fst").ok(), s.run("weft fst union a.fst a.fst | weft fst print").ok());
    s.write("t.weft", "save kept/?.fst\nunion - kept/?.fst\nprint\n");
    assert_eq!(
        s.run("weft cascade t.weft 'lats/?.fst' --range 5").ok(),
        s.run("weft fst union lats/5.fst lats/5.fst | weft fst print").ok()
    );
}

#[test]
fn files_beside_the_automaton_are_one_an_input_too() {
    let s = lattices();
    s.write("e.weft", "encode --encode_labels - codes/?.cdx\nencode --decode - codes/?.cdx\nprint\n");
    let out = s.run("weft cascade e.weft 'lats/?.fst' --range 5:6").ok();
    assert_eq!(out, s.run("weft fst print lats/5.fst; weft fst print lats/6.fst").ok());
    assert!(s.has("codes/5.cdx") && s.has("codes/6.cdx"));
    s.write("d.weft", "encode --decode - nosuch.cdx\nprint\n");
    s.run("weft cascade d.weft 'lats/?.fst' --range 5:6").fails(2, &["d.weft:1: encode: nosuch.cdx"]);
    s.write("t.weft", "print --save-isymbols tables/?.syms\n");
    s.run("weft cascade t.weft a.fst acc.fst").ok();
    assert_eq!(s.read("tables/a.syms"), s.read("tables/acc.syms"));
}

#[test]
fn what_a_script_cannot_mean_is_said_once_and_before_any_work() {
    let s = lattices();
    s.write("nothing.weft", "arcsort\nprune a.fst\nprint\n");
    s.run("weft cascade nothing.weft 'lats/?.fst' --range 1:3")
        .fails(2, &["nothing.weft:2: prune a.fst: this stage does not look at the automaton of the stage before"]);
    s.write("weight.weft", "arcsort\nprune --weight x\nprint\n");
    let wrong = s.run("weft cascade weight.weft 'lats/?.fst' --range 1:3");
    assert_eq!(wrong.err.matches("weight.weft:2: prune: invalid value 'x'").count(), 1, "{}", wrong.err);
    assert_eq!(wrong.code, 2);
}

#[test]
fn an_earlier_result_stays_where_every_input_fails() {
    let s = lattices();
    s.write("p.weft", "print\n");
    s.write("empty.fst", "");
    s.write("keep.txt", "old\n");
    s.run("weft cascade p.weft empty.fst -o keep.txt").fails(1, &["1 of 1 inputs failed"]);
    assert_eq!(s.read("keep.txt"), "old\n");
}

#[test]
fn standard_input_is_read_as_files_are() {
    let s = lattices();
    s.write("p.weft", "print\n");
    s.run("cat a.fst a.fst | weft cascade p.weft").fails(1, &["bytes after the end of the automaton"]);
    s.write("c.weft", "compile\nprint\n");
    s.run("printf '0 1 1 1\n1 2 \\xff 1\n' | weft cascade c.weft").fails(1, &["standard input:2:5: not UTF-8 text"]);
}

#[test]
fn threads_are_kept_within_reason() {
    let s = lattices();
    s.write("p.weft", "print\n");
    let some = s.run("weft cascade p.weft 'lats/?.fst' --range 1:3 -j 1").ok();
    assert_eq!(s.run("weft cascade p.weft 'lats/?.fst' --range 1:3 -j 1000000").ok(), some);
}
