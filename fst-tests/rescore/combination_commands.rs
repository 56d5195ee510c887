//! combine and concat as commands: several systems, archives, parts of sentences, bad input.

use crate::sandbox::Sandbox;

fn print(s: &Sandbox, file: &str) -> String {
    s.run(&format!("weft fst print --acceptor {file}")).ok()
}

#[test]
fn words_are_matched_by_name() {
    let s = Sandbox::new();
    let line = "weft rescore combine --weight 1 --weight 3 --with 'b/?.fst' 'lats/?.fst' --range 1:2";
    s.run(&format!("{line} -o 'u/?.fst'")).ok();
    let union = print(&s, "u/2.fst");
    assert_eq!(
        union,
        "0\t1\t<eps>\t2.07944155\n0\t4\t<eps>\t0.287682086\n1\t2\ta\n1\t2\tb\n2\t3\tc\n3\n4\t5\ta\n5\t6\td\n6\t7\tc\n7\n"
    );
    s.run(&format!("{line} --mode interpolate -o i.far")).ok();
    let list = s.run("weft rescore kbest -n 9 --unique --format strings i.far").ok();
    assert!(list.starts_with("a d c\t0.287682"), "{list}");
    assert_eq!(list.lines().count(), 6);
    let mesh = s.run(&format!("{line} --mesh --text")).ok();
    assert_eq!(mesh, "a 0.875 b 0.125\nd 0.75 *DELETE* 0.25\nc 1\n".repeat(2));
    let plf = s.run("weft rescore combine --mesh --plf lat.fst").ok();
    assert_eq!(plf, "((('a',0.5,1),('b',0.5,1),),(('c',1,1),),)\n");
    // An archive gives the entry of the sentence, whatever the zeros before its number.
    s.run("weft cascade copy.weft 'b/?.fst' --range 08:10 -o x.far 2> /dev/null; true").ok();
    s.run("weft cascade copy.weft 'b/?.fst' --range 01:02 -o y.far 2> /dev/null; cp b/1.fst b/01.fst; cp b/2.fst b/02.fst").ok();
    s.run("weft cascade copy.weft 'b/?.fst' --range 01:02 -o b.far").ok();
    s.run("weft rescore combine --weight 1 --weight 3 --with b.far 'lats/?.fst' --range 1:2 -o 'v/?.fst'").ok();
    assert_eq!(print(&s, "v/2.fst"), union);
    let said = s.run("weft rescore combine --with b.far 'lats/?.fst' --range 1:3 -o 'v/?.fst'");
    said.fails(1, &["lats/3.fst: rescore-combine: b.far: there is no entry \"3\"", "1 of 3 inputs failed"]);
}

#[test]
fn results_do_not_depend_on_threads() {
    let s = Sandbox::empty();
    let root = crate::sandbox::ROOT;
    let line = format!("'{root}/grammars/lattices/?.fst.gz' --range 1:20");
    for command in ["--mesh --text", "--mesh --plf --alpha 0.3"] {
        let one = s.run(&format!("weft rescore combine {command} -j 1 {line}")).ok();
        assert_eq!(one, s.run(&format!("weft rescore combine {command} -j 3 {line}")).ok());
    }
    s.run(&format!("weft rescore combine --mode interpolate -j 1 {line} -o 1.far")).ok();
    s.run(&format!("weft rescore combine --mode interpolate -j 3 {line} -o 3.far && cmp 1.far 3.far")).ok();
}

#[test]
fn what_cannot_be_combined() {
    let s = Sandbox::new();
    s.run("weft rescore combine lat.fst -o x.fst").fails(2, &["--with"]);
    s.run("weft rescore combine --with b/1.fst --weight 1 lat.fst -o x.fst").fails(2, &["2 lattices and 1 weights"]);
    s.run("weft rescore combine --with b/1.fst --weight 1 --weight -1 lat.fst").fails(2, &["-1"]);
    s.run("weft rescore combine --text lat.fst").fails(2, &["--mesh"]);
    s.run("weft rescore combine --with none.fst lat.fst -o x.fst").fails(2, &["none.fst"]);
    let said = s.run("weft rescore combine --mode intersect --with b/1.fst lat.fst -o x.fst");
    said.fails(1, &["lat.fst: rescore-combine: no string is in both lattices"]);
    // The second lattice is bad for one sentence only.
    s.write("e.t", "0 1 1\n");
    s.run("weft fst compile --acceptor e.t b/2.fst").ok();
    let said = s.run("weft rescore combine --with 'b/?.fst' 'lats/?.fst' --range 1:3 -o 'o/?.fst'");
    said.fails(1, &["lats/2.fst: rescore-combine: b/?.fst has no symbol table, but others have", "1 of 3"]);
    assert!(s.has("o/1.fst") && !s.has("o/2.fst") && s.has("o/3.fst"));
    s.write("c.t", "0 1 a\n1 0 c\n1\n");
    s.run(
        "weft fst compile --acceptor --isymbols=w.syms --osymbols=w.syms --keep_isymbols --keep_osymbols c.t b/2.fst",
    )
    .ok();
    let said = s.run("weft rescore combine --with 'b/?.fst' 'lats/?.fst' --range 2:2 -o 'o/?.fst'");
    said.fails(1, &["b/?.fst: the lattice has a cycle"]);
}

/// "<s> x </s>" with each of the words in the place of x, at costs 0.5 a word and 1 for each boundary.
fn sentence(s: &Sandbox, file: &str, words: &str) {
    let mut text = String::from("0 1 <s> 1\n");
    words.split(' ').for_each(|w| text += &format!("1 2 {w} 0.5\n"));
    s.write("s.t", &format!("{text}2 3 </s> 1\n3\n"));
    let table: String = words.split(' ').enumerate().map(|(i, w)| format!("{w} {}\n", i + 7)).collect();
    s.write("s.syms", &format!("<eps> 0\n</s> 1\n<s> 2\n{table}"));
    let keep = "--isymbols=s.syms --osymbols=s.syms --keep_isymbols --keep_osymbols";
    s.run(&format!("mkdir -p p; weft fst compile --acceptor {keep} s.t {file}")).ok();
}

#[test]
fn parts_of_sentences_are_joined() {
    let s = Sandbox::empty();
    for (n, words) in [(1, "a b"), (2, "b c"), (3, "d"), (4, "e")] {
        sentence(&s, &format!("p/{n}.fst"), words);
    }
    let strings = |file: &str| s.run(&format!("weft rescore kbest -n 99 --format strings {file}")).ok();
    s.run("weft rescore concat p/1.fst p/2.fst p/3.fst -o w.fst").ok();
    let joined = "<s> a b d </s>\t7.5\n<s> a c d </s>\t7.5\n<s> b b d </s>\t7.5\n<s> b c d </s>\t7.5\n";
    let mut lines: Vec<String> = strings("w.fst").lines().map(str::to_string).collect();
    lines.sort();
    assert_eq!(lines.join("\n") + "\n", joined);
    s.run("weft rescore concat --boundaries keep p/3.fst p/4.fst -o k.fst").ok();
    assert_eq!(strings("k.fst"), "<s> d </s> <s> e </s>\t5\n");
    s.run("weft rescore concat --boundary-words 'd,</s>' p/4.fst p/3.fst -o k.fst").ok();
    assert_eq!(strings("k.fst"), "<s> e <s> </s>\t5\n");
    // Groups, counts and names say the same.
    s.write("groups.txt", "1 2 3\n4\n");
    s.write("counts.txt", "3\n1\n");
    s.run("for n in 1 2 3; do cp p/$n.fst p/1.$n.fst; done; cp p/4.fst p/2.1.fst").ok();
    s.run("weft rescore concat 'p/?.fst' --range 1:4 --groups groups.txt -o 'g/?.fst'").ok();
    s.run("weft rescore concat 'p/?.fst' --range 1:4 --counts counts.txt -o 'c/?.fst'").ok();
    s.run("weft rescore concat p/2.1.fst p/1.3.fst p/1.1.fst p/1.2.fst --by-name -o n.far").ok();
    s.run("cmp g/1.fst w.fst && cmp g/1.fst c/1.fst && cmp g/2.fst c/2.fst").ok();
    s.run("weft far extract --filename-prefix e- n.far && cmp e-1 g/1.fst && cmp e-2 g/2.fst").ok();
    s.run("weft rescore concat -j 1 n.far --groups counts.txt -o z.fst")
        .fails(2, &["one file cannot hold 2 sentences"]);
    // A model that knows "a c" across the joint.
    s.write("lm.arpa", &Sandbox::new().read("lm.arpa"));
    s.run("weft lm apply --lm lm.arpa --boundaries present w.fst -o r.fst").ok();
    assert!(strings("r.fst").starts_with("<s> a c d </s>\t"), "{}", strings("r.fst"));
}

#[test]
fn a_bad_sentence_is_named_and_the_others_are_joined() {
    let s = Sandbox::empty();
    for n in 1..=3 {
        sentence(&s, &format!("p/{n}.fst"), "a b");
    }
    s.write("groups.txt", "1 9\n\n2 3\n2\n");
    let said = s.run("weft rescore concat 'p/?.fst' --range 1:3 --groups groups.txt -o 'g/?.fst'");
    let parts = [
        "sentence 1: groups.txt:1: there is no input \"9\"",
        "sentence 2: groups.txt:2: the line is empty",
        "sentence 4: groups.txt:4: the input \"2\" was a part before",
        "3 of 4 sentences failed",
    ];
    said.fails(1, &parts);
    assert!(s.has("g/3.fst") && !s.has("g/1.fst"));
    s.write("e.t", "0 1 1\n");
    s.run("weft fst compile --acceptor e.t p/2.fst").ok();
    s.write("groups.txt", "1 2\n3\n");
    let said = s.run("weft rescore concat 'p/?.fst' --range 1:3 --groups groups.txt -o g.far");
    said.fails(1, &["sentence 1: rescore-concat: p/2.fst: the lattice has no path"]);
    assert!(s.run("weft far info --list-fsts g.far").ok().contains("\n2 "));
    s.write("counts.txt", "1\n3\n");
    let line = "weft rescore concat 'p/?.fst' --range 1:3";
    s.run(&format!("{line} --counts counts.txt -o 'c/?.fst'")).fails(2, &["counts.txt:2:1: 4 parts"]);
    s.run(&format!("{line} --by-name -o 'c/?.fst'")).fails(2, &["p/1.fst: --by-name"]);
    s.run(&format!("{line} --boundary-words x -o c.fst")).fails(2, &["--boundary-words x"]);
    s.run("weft rescore concat none.fst -o c.fst").fails(1, &["none.fst"]);
}
