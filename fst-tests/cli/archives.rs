//! Archives: entries at any place of the file, and going straight to a key.

use crate::sandbox::Sandbox;

/// Every entry is read wherever its bytes lie in the reader's buffer: the first look ends at 512, later ones at steps of 64 KB.
#[test]
fn entries_lie_anywhere_in_a_buffer() {
    let s = Sandbox::empty();
    s.write("r.t", "1\n1\n1\n1\n");
    for suffix in 36..48 {
        let suffix = "x".repeat(suffix);
        for kind in ["sttable", "stlist"] {
            let line = format!(
                "weft far compilestrings --token-type byte --generate-keys 1 --key-suffix {suffix} --far-type {kind} r.t r.far"
            );
            s.run(&line).ok();
            assert_eq!(s.run("weft far printstrings --token-type byte r.far").ok(), "1\n1\n1\n1\n", "{line}");
            assert_eq!(s.run("cat r.far | weft far printstrings --token-type byte").ok(), "1\n1\n1\n1\n", "{line}");
        }
    }
    s.write("many.t", &"1 2 3\n".repeat(3000));
    for keys in 5..9 {
        s.run(&format!("weft far compilestrings --generate-keys {keys} many.t many.far")).ok();
        assert!(
            s.run("weft far info many.far").ok().contains("# of FSTs                                         3000")
        );
    }
}

/// A key is found through the index of a table, and the answers are those of reading everything.
#[test]
fn tables_are_entered_at_a_key() {
    let s = Sandbox::empty();
    let lines: String = (0..500).map(|i| format!("{}\n", i + 1)).collect();
    s.write("n.t", &lines);
    s.run("weft far compilestrings --generate-keys 3 n.t table.far").ok();
    s.run("weft far compilestrings --generate-keys 3 --far-type stlist n.t list.far").ok();
    for (begin, end) in
        [("001", "003"), ("250", "250"), ("2505", "252"), ("498", "999"), ("000", "001"), ("zzz", "zzzz")]
    {
        let of = |far: &str| {
            s.run(&format!("weft far printstrings --print-key --begin-key {begin} --end-key {end} {far}")).ok()
        };
        assert_eq!(of("table.far"), of("list.far"), "{begin} {end}");
        assert_eq!(
            of("table.far"),
            s.run(&format!("cat table.far | weft far printstrings --print-key --begin-key {begin} --end-key {end}"))
                .ok()
        );
    }
    assert_eq!(s.run("weft far printstrings --print-key --begin-key 499 table.far").ok(), "499\t499\n500\t500\n");
    s.run("weft far extract --keys 300-302,017,499 --filename-prefix out/ table.far").ok();
    assert_eq!(s.run("ls out | tr '\\n' ' '").ok(), "017 300 301 302 499 ");
    s.run("weft far extract --keys 300,zz table.far").fails(2, &["zz"]);
    // An index that lies is not followed: reading from the beginning says what is wrong.
    let mut bytes = s.bytes("table.far");
    let at = bytes.len() - 8 * 100;
    bytes[at] ^= 1;
    std::fs::write(s.path().join("bad.far"), &bytes).unwrap();
    s.run("weft far printstrings bad.far").fails(2, &["bad.far: byte", "the index says"]);
    for cut in [1, 8, 9, 4000] {
        std::fs::write(s.path().join("bad.far"), &bytes[..bytes.len() - cut]).unwrap();
        s.run("weft far printstrings --begin-key 400 bad.far").fails(2, &["bad.far"]);
    }
}

#[test]
fn separators_chosen_for_all_tools_hold_for_strings_too() {
    let s = Sandbox::empty();
    s.write("k.syms", "<eps>,0\na,1\nb,2\n");
    s.write("k.txt", "a,b\n");
    s.run("weft far compilestrings --fst_field_separator=, --symbols=k.syms --generate_keys=1 k.txt k.far").ok();
    assert_eq!(s.run("weft far printstrings --fst_field_separator=, --symbols=k.syms k.far").ok(), "a,b\n");
    assert_eq!(s.run("weft far printstrings --fst_field_separator=';,' k.far").ok(), "1,2\n");
}

/// The end of a list is a key without a letter: what a checksum says there is heard, too.
#[test]
fn damaged_checksums_are_seen() {
    let s = Sandbox::empty();
    s.write("n.t", "1 2 3\n4\n5 6\n");
    for (far_type, packed, check) in
        [("stlist", "gz", 6), ("sttable", "gz", 6), ("stlist", "gz", 1), ("sttable", "gz", 1), ("stlist", "zst", 2)]
    {
        let name = format!("{far_type}.far.{packed}");
        s.run(&format!("weft far compilestrings --generate-keys 3 --far-type {far_type} n.t -o {name}")).ok();
        assert_eq!(s.run(&format!("weft far printstrings {name}")).ok(), "1 2 3\n4\n5 6\n");
        let mut bytes = s.bytes(&name);
        let at = bytes.len() - check;
        bytes[at] ^= 0x55;
        std::fs::write(s.path().join(&name), bytes).unwrap();
        for command in ["info", "printstrings", "extract"] {
            let said = s.run(&format!("weft far {command} {name}"));
            said.fails(2, &[&name, "checksum"]);
        }
    }
}

/// Automata that are no archives are as many as one likes, whatever the system allows to be open at a time.
#[test]
#[cfg(target_os = "linux")]
fn automata_are_more_than_may_be_open() {
    let s = Sandbox::empty();
    s.write("small.t", "0 1 1\n1\n");
    s.write("large.t", &(0..1000).map(|i| format!("{i} {} 1\n", i + 1)).chain(["1000\n".into()]).collect::<String>());
    for of in ["small", "large"] {
        s.run(&format!("weft fst compile --acceptor {of}.t {of} && weft fst compile --acceptor {of}.t {of}.gz")).ok();
    }
    for (of, arcs) in [("small", 300), ("large", 300_000), ("small.gz", 300), ("large.gz", 300_000)] {
        s.run(&format!("mkdir many; for i in $(seq 300); do cp {of} many/$i.fst; done")).ok();
        let said = s.run("ulimit -n 128; weft far info many/*.fst").ok();
        let (count, arcs) = (format!("{:<50}300\n", "# of FSTs"), format!("{:<50}{arcs}\n", "total # of arcs"));
        assert!(said.contains(&count) && said.contains(&arcs) && said.contains("fst\n"), "{of}: {said}");
        let said = s.run("ulimit -n 128; weft far info --list-fsts many/*.fst").ok();
        assert!(said.lines().skip(1).map(|l| l.split(' ').next().unwrap_or("")).is_sorted(), "{said}");
        s.run("ulimit -n 128; weft far extract --filename-suffix .copy many/*.fst && cmp many/300.fst.copy many/7.fst.copy").ok();
        // What is wrong with one comes in its turn.
        s.run(&format!("head -c 60 {of} > many/222.fst")).ok();
        s.run("ulimit -n 128; weft far info many/*.fst").fails(2, &["many/222.fst: "]);
        s.run("ulimit -n 128; weft far info --end-key many/220.fst many/*.fst").ok();
        s.run("rm -r many").ok();
    }
}

/// Another kind, another container, and back: the entries stay.
#[test]
fn archives_are_converted() {
    let s = Sandbox::empty();
    s.write("n.t", "1 2 3\n4\n5 6\n");
    s.run("weft far compilestrings --generate-keys 3 --far-type stlist n.t -o n.far").ok();
    s.run("weft far convert --fst_type=compact_string n.far c.far && weft far convert --far_type=sttable c.far t.far")
        .ok();
    for (far, said) in [("c.far", "stlist"), ("t.far", "sttable")] {
        assert!(s.run(&format!("weft far info {far}")).ok().contains(&format!("{said}\n")), "{far}");
        assert!(s.run(&format!("weft far info --list-fsts {far}")).ok().contains("compact_string"), "{far}");
        s.run(&format!("weft far equal n.far {far}")).ok();
    }
    s.run("weft far convert --fst-type vector < t.far > v.far && weft far convert --far-type stlist v.far w.far").ok();
    assert_eq!(s.bytes("w.far"), s.bytes("n.far"));
    s.write("two.t", "0 1 1 2\n1\n");
    s.run("weft fst compile two.t two.fst && weft far create two.fst two.far").ok();
    s.run("weft far convert --fst-type compact_string two.far none.far").fails(2, &["two labels, 1 and 2"]);
    assert!(!s.path().join("none.far").exists());
}

/// One table of codes for all: it grows from entry to entry, and from archive to archive.
#[test]
fn archives_are_encoded_with_one_table() {
    let s = Sandbox::empty();
    for (name, text) in [("a", "0 1 1 2 0.5\n1 1\n"), ("b", "0 1 3 4 0.5\n0 1 1 2 0.5\n1\n"), ("c", "0 1 7 7\n1\n")] {
        for arc_type in ["standard", "log64"] {
            s.write("x.t", text);
            s.run(&format!("weft fst compile --arc-type {arc_type} x.t {name}.{arc_type}")).ok();
        }
    }
    for t in ["standard", "log64"] {
        s.run(&format!("weft far create a.{t} b.{t} ab.far && weft far create c.{t} c.far")).ok();
        s.run("weft far encode --encode_labels --encode_weights ab.far codex coded.far").ok();
        s.run("weft far extract --filename-suffix .coded coded.far").ok();
        // The first arc of `a` is the second of `b`.
        assert_eq!(s.run(&format!("weft fst print a.{t}.coded")).ok(), "0\t1\t1\t1\n1\t2\t2\t2\n2\n");
        assert_eq!(s.run(&format!("weft fst print b.{t}.coded")).ok(), "0\t1\t3\t3\n0\t1\t1\t1\n1\t2\t4\t4\n2\n");
        s.run("weft far encode --encode_reuse c.far codex more.far").ok();
        s.run("weft far encode --decode more.far codex c2.far && weft far equal c.far c2.far").ok();
        s.run("weft far encode --decode coded.far codex - | weft far extract --filename-suffix .back").ok();
        for name in ["a", "b"] {
            s.run(&format!("weft fst equivalent --random --npath 20 {name}.{t} {name}.{t}.back")).ok();
        }
    }
    s.run("weft far encode --encode-labels ab.far both both").fails(2, &["both"]);
    s.run("weft far create c.standard s.far && weft far encode --decode s.far codex out.far")
        .fails(2, &["codex", "log64"]);
    assert!(!s.path().join("out.far").exists());
}
