//! Keys as names of files: what inputs write is never written over by another input, nor outside the folder that was named.

use crate::sandbox::Sandbox;

/// Strings `1`, `2`, ... as automata: `s1.far` with the keys k1, k2, k3; `s2.far` with k2 and k4, other strings.
fn archives() -> Sandbox {
    let s = Sandbox::empty();
    s.write("connect.weft", "connect\n");
    s.write("print.weft", "printstrings\n");
    s.run(
        "for i in 1 2 3 12 14; do printf \"0 1 $i\\n1\\n\" > t; mkdir -p $((i / 10)); \
         weft fst compile --acceptor t $((i / 10))/k$((i % 10)) || exit 1; done\n\
         weft far create 0/k1 0/k2 0/k3 s1.far && weft far create 1/k2 1/k4 s2.far",
    )
    .ok();
    s
}

#[test]
fn an_archive_on_standard_input_is_one_as_a_file_is() {
    let s = archives();
    s.write("save.weft", "save one.fst\nprintstrings\n");
    s.run("gzip -k s1.far && mkdir none && printf x > one.fst").ok();
    for (how, far) in
        [("cat s1.far |", "-"), ("gzip -c s1.far |", ""), ("", "s1.far"), ("", "s1.far.gz"), ("", "- < s1.far")]
    {
        s.run(&format!("{how} weft cascade connect.weft {far} -o one.fst"))
            .fails(2, &["one.fst: one file cannot hold the results of several inputs"]);
        s.run(&format!("{how} weft cascade connect.weft {far} > two.fst"))
            .fails(2, &["nothing says where the results go"]);
        s.run(&format!("{how} weft cascade save.weft {far}")).fails(2, &["every input would overwrite one.fst"]);
        assert_eq!((s.read("one.fst"), s.read("two.fst")), ("x".into(), String::new()), "{how} {far}");
        s.run(&format!("{how} weft cascade connect.weft {far} -o 'out/?.fst'")).ok();
        assert_eq!(s.run("weft cascade print.weft out/k1.fst out/k2.fst out/k3.fst; rm -r out").ok(), "1\n2\n3\n");
        assert_eq!(s.run(&format!("{how} weft cascade print.weft {far}")).ok(), "1\n2\n3\n");
    }
    // One automaton is one input.
    s.run("weft cascade connect.weft - -o three.fst < 0/k3").ok();
    s.run("weft cascade connect.weft < 0/k3 > 3.fst && cmp 3.fst three.fst").ok();
    s.run("head -c 70 s1.far | weft cascade print.weft").fails(1, &["standard input", "cut off", "1 of 1 inputs"]);
    s.run("weft cascade print.weft - -").fails(2, &["standard input (`-`) can be read only once"]);
    s.run("weft cascade print.weft < none").fails(1, &["standard input", "1 of 1 inputs failed"]);
}

#[test]
fn equal_keys_do_not_overwrite_each_other() {
    let s = archives();
    s.write("save.weft", "save out/?.fst\nprintstrings\n");
    for j in [1, 2, 16] {
        let said = s.run(&format!("weft cascade connect.weft s1.far s2.far -j {j} -o 'out/?.fst'"));
        said.fails(
            1,
            &[
                "weft: s2.far:k2: s1.far:k2 and s2.far:k2 are both `k2`: both would write out/k2.fst",
                "1 of 5 inputs failed",
            ],
        );
        assert_eq!(s.run("weft cascade print.weft out/*; rm -r out").ok(), "1\n2\n3\n14\n");
        let said = s.run(&format!("cat s1.far | weft cascade save.weft s2.far - -j {j}"));
        let out = said.fails(1, &["weft: standard input:k2: s2.far:k2 and standard input:k2 are both `k2`"]);
        assert_eq!(out, "12\n14\n1\n3\n");
        assert_eq!(s.run("weft cascade print.weft out/*; rm -r out").ok(), "1\n12\n3\n14\n");
        let said = s.run(&format!("weft cascade print.weft s1.far s2.far -j {j} --dump D"));
        assert_eq!(said.fails(1, &["s2.far:k2: s1.far:k2 and s2.far:k2 are both `k2`"]), "1\n2\n3\n14\n");
        assert_eq!(s.run("cat D/*/01-printstrings.txt; rm -r D").ok(), "1\n2\n3\n14\n");
        // A file and an archive.
        let said = s.run(&format!("weft cascade connect.weft 1/k2 s1.far -j {j} -o 'out/?.fst'"));
        said.fails(1, &["weft: s1.far:k2: 1/k2 and s1.far:k2 are both `k2`"]);
        assert_eq!(s.run("weft cascade print.weft out/*; rm -r out").ok(), "1\n12\n3\n");
        // One archive.
        s.run("weft far create 0/k2 1/k2 twice.far").ok();
        let said = s.run(&format!("weft cascade connect.weft twice.far -j {j} -o 'out/?.fst'"));
        said.fails(1, &["weft: twice.far:k2: twice.far:k2 is an input twice: both would write out/k2.fst"]);
        assert_eq!(s.run("weft cascade print.weft out/*; rm -r out").ok(), "2\n");
    }
    // Where nothing is written under keys, keys may be equal.
    assert_eq!(s.run("weft cascade print.weft s1.far s2.far").ok(), "1\n2\n3\n12\n14\n");
    s.run("weft cascade connect.weft 0/k2 s2.far -o both.far").ok();
    assert_eq!(s.run("weft cascade print.weft both.far").ok(), "2\n12\n14\n");
    s.run("weft cascade connect.weft 0/k2 1/k2 -o 'out/?.fst'").fails(2, &["0/k2 and 1/k2 are both `k2`"]);
    assert!(!s.has("out"));
}

#[test]
fn keys_that_are_one_name_do_not_overwrite_each_other() {
    let s = archives();
    s.run("weft far create --key-prefix a/ 0/k1 0/k2 sub.far && weft far create --key-prefix a_ 1/k2 1/k4 flat.far")
        .ok();
    for j in [1, 4] {
        let said = s.run(&format!("weft cascade print.weft sub.far flat.far -j {j} --dump D"));
        let why = "flat.far:a_k2: sub.far:a/k2 and flat.far:a_k2 would both write D/a_k2";
        assert_eq!(said.fails(1, &[why, "1 of 4"]), "1\n2\n14\n");
        assert_eq!(s.run("ls D; cat D/a_k2/01-printstrings.txt; rm -r D").ok(), "a_k1\na_k2\na_k4\n2\n");
    }
    s.run("weft cascade connect.weft sub.far flat.far -o 'out/?.fst'").ok();
    assert!(s.has("out/a/k2.fst") && s.has("out/a_k2.fst"));
    s.run("weft far create --key-prefix a/./ 1/k2 dot.far").ok();
    s.run("weft cascade connect.weft sub.far dot.far -o 'out/?.fst'")
        .fails(1, &["dot.far:a/./k2: sub.far:a/k2 and dot.far:a/./k2 would both write out/a/k2.fst"]);
}

/// A key comes out of a file: it is no reason to write outside of the folder that was named.
#[test]
fn keys_do_not_choose_the_folder() {
    let s = archives();
    let away = s.path().join("away").display().to_string();
    s.write("save.weft", "save out/?.fst\nprintstrings\n");
    s.write("text.weft", "print - out/?.txt\nprintstrings\n");
    s.run(&format!(
        "weft far create --key-prefix ../esc- 0/k1 up.far && weft far create --key-prefix {away}/ 0/k1 root.far"
    ))
    .ok();
    for far in ["up.far", "root.far"] {
        for run in [
            "connect.weft s2.far -o 'out/?.fst'",
            "save.weft s2.far",
            "text.weft s2.far",
            "print.weft s2.far -o 'out/?'",
        ] {
            s.run(&format!("weft cascade {run} {far}"))
                .fails(1, &["names a file outside the output folder", "1 of 3 inputs failed"]);
            assert_eq!(s.run("ls out | wc -l; rm -r out").ok(), "2\n", "{run}");
        }
    }
    // The folders of a dump are flat.
    s.run("weft cascade print.weft up.far --dump D").ok();
    assert!(s.has("D/.._esc-k1/00-input.fst"));
    s.run("weft rescore concat --by-name up.far -o 'out/?.fst'").fails(2, &["--by-name expects"]);
    s.run("weft far create --key-prefix ../esc --key-suffix .1 0/k1 part.far").ok();
    s.run("weft rescore concat --by-name part.far -o 'out/?.fst'").fails(1, &["outside the output folder"]);
    assert_eq!(s.run("ls -d away* esc* ../esc* 2>/dev/null; true").ok(), "");
    // As in `far extract`.
    s.run("weft far extract --filename-prefix out/ up.far").fails(2, &["outside the output folder; use --generate"]);
}
