//! The command: outputs, order, threads, bad input.

use crate::sandbox::Sandbox;

#[test]
fn threads_change_nothing() {
    let s = Sandbox::new();
    s.write("many.txt", &"a b\nb c a\nc\n\na a b c c b\n".repeat(20));
    let line = "weft decode --rules h.rules --lm words.arpa --nbest 5 --lattices";
    let one = s.run(&format!("{line} 'one/?.fst' -j 1 many.txt -o one.txt")).ok();
    let four = s.run(&format!("{line} 'four/?.fst' -j 4 many.txt -o four.txt")).ok();
    assert_eq!(one, four);
    assert_eq!(s.read("one.txt"), s.read("four.txt"));
    for n in 1..=100 {
        assert!(s.bytes(&format!("one/{n}.fst")) == s.bytes(&format!("four/{n}.fst")), "lattice {n}");
    }
}

#[test]
fn a_sentence_that_fails_is_named_and_the_others_go_on() {
    let s = Sandbox::new();
    s.write("some.rules", "[X] ||| a b ||| x ||| F=1\n[X] ||| c ||| y ||| F=1\n");
    s.write("three.txt", "c\na\nc c\n");
    let said = s.run("weft decode --rules some.rules --pass-through unknown --weights w.toml three.txt");
    assert_eq!(said.code, 2, "{said:?}");
    s.write("w.toml", "F = 1\n");
    let out = s
        .run("weft decode --rules some.rules --pass-through unknown --weights w.toml three.txt")
        .fails(1, &["sentence 2: ", "no derivation", "2 of 3 sentences exact; 1 failed"]);
    assert_eq!(out, "y\n\ny y\n");
    // By default the word is passed through, and that is said.
    let said = s.run("weft decode --rules some.rules --weights w.toml three.txt");
    assert_eq!((said.code, said.out.as_str()), (0, "y\na\ny y\n"), "{}", said.err);
    assert!(said.err.contains("sentence 2: no derivation with the rules alone; passed through"), "{}", said.err);
}

#[test]
fn bad_input_has_a_place() {
    let s = Sandbox::new();
    s.write("bad.rules", "[X] ||| a ||| b ||| F=1\n[X] ||| a [X,1] ||| b ||| F=1\n");
    s.run("weft decode --rules bad.rules src.txt").fails(2, &["bad.rules:2:"]);
    s.run("gzip -c h.rules > whole.gz && head -c 60 whole.gz > cut.gz").ok();
    s.run("weft decode --rules cut.gz src.txt").fails(2, &["cut.gz: byte ", "cut off"]);
    s.write("empty.rules", "\n");
    s.run("weft decode --rules empty.rules src.txt").fails(2, &["empty.rules", "no rules"]);
    s.run("weft decode --rules none.rules src.txt").fails(2, &["none.rules: No such file"]);
    s.run("weft decode --rules h.rules none.txt").fails(2, &["none.txt: No such file"]);
    s.run("weft decode --rules h.rules --range 1:99 src.txt").fails(2, &["no line"]);
    s.run("weft decode --rules h.rules --prune-cell Y,1,2,3 src.txt").fails(2, &["no rule has the nonterminal \"Y\""]);
    s.run("weft decode --rules h.rules --prune-cell X,1,2 src.txt").fails(2, &["3 parts", "NT,SPAN,STATES,BEAM"]);
    s.run("weft decode --rules h.rules --lattices out.fst src.txt").fails(2, &["put `?` in its name"]);
    s.write("w.toml", "EgivenG = 1\n");
    s.run("weft decode --rules h.rules --weights w.toml src.txt").fails(2, &["EgivenG", "no such feature"]);
    s.write("w.toml", "EgivenF = \"much\"\n");
    s.run("weft decode --rules h.rules --weights w.toml src.txt").fails(2, &["w.toml:1:1: the weight of EgivenF"]);
    s.write("words.idx", "1 3 x 2\n");
    s.run("weft decode --rules g.hifst words.idx").fails(2, &["words.idx:1:5:", "\"x\""]);
    s.run("printf '[X] ||| a ||| \\xff ||| F=1\\n' > utf.rules && weft decode --rules utf.rules src.txt")
        .fails(2, &["utf.rules:1:", "UTF-8"]);
}

/// What `--dump` and `--lattices` write is what the other commands read.
#[test]
fn dumps_have_words_and_names_of_cells() {
    let s = Sandbox::new();
    s.run("weft decode --rules h.rules --lm words.arpa --prune 5 --dump d --lattices l.far src.txt").ok();
    let chart = s.read("d/1/chart.txt");
    assert!(chart.lines().any(|l| l.starts_with("X[0:1]\t[X] ||| a ||| ")), "{chart}");
    assert!(s.read("d/1/chart.json").contains("\"cell\": \"X[0:1]\""));
    let root = s.read("d/1/rtn/S[0:2].txt");
    assert!(root.contains("\tX[0:2]"), "{root}");
    let printed = s.run("weft fst print --acceptor 'd/1/rtn/S[0:2].fst'").ok();
    assert_eq!(printed, root);
    // The network expands to the lattice by the general tools, too.
    let list = s.read("d/1/rtn.txt");
    let rows: Vec<Vec<&str>> = list.lines().map(|l| l.split('\t').collect()).collect();
    let root = rows.iter().find(|r| r.last() == Some(&"root")).unwrap();
    let mut line = format!("weft fst replace --call-arc-labeling neither 'd/1/rtn/{}.fst' {}", root[1], root[0]);
    for row in rows.iter().filter(|r| r[0] != root[0]) {
        line += &format!(" 'd/1/rtn/{}.fst' {}", row[1], row[0]);
    }
    s.run(&format!("{line} | weft fst rmepsilon | weft fst determinize | weft fst minimize > m.fst")).ok();
    let clear = "weft fst symbols --clear-isymbols --clear-osymbols";
    s.run(&format!("{clear} m.fst > m2.fst; {clear} d/1/lattice.fst | weft fst equivalent - m2.fst")).ok();
    let best = s.run("printf 'shortestpath\\nprintstrings\\n' | weft cascade - l.far").ok();
    assert_eq!(best, s.run("weft decode --rules h.rules --lm words.arpa src.txt").ok());
}
