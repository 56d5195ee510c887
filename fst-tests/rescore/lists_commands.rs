//! kbest, sample and align as commands: formats, features, archives, threads, bad input; HiFST's lists.

use std::collections::BTreeMap;
use std::path::Path;

use crate::sandbox::{ROOT, Sandbox};

/// The shipped lattices, with a folder of bad ones: no path, a cycle, a weight that is no number.
pub fn lattices() -> Sandbox {
    let s = Sandbox::empty();
    std::os::unix::fs::symlink(Path::new(ROOT).join("grammars"), s.path().join("grammars")).unwrap();
    s
}

pub fn bad(s: &Sandbox) {
    s.write("1.t", "0 1 1 0.5\n0 1 2 1\n1\n");
    s.write("2.t", "0 1 1\n");
    s.write("3.t", "0 1 1 1\n1 0 2 1\n1\n");
    s.write("5.t", "0 1 1 0.25\n1\n");
    for n in [1, 2, 3, 5] {
        s.run(&format!("mkdir -p bad; weft fst compile --acceptor {n}.t bad/{n}.fst")).ok();
    }
    // NaN cannot be written as text: its bytes take the place of those of 0.25.
    let mut bytes = s.bytes("bad/5.fst");
    let at = bytes.windows(4).position(|w| w == 0.25f32.to_le_bytes()).unwrap();
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(s.path().join("bad/5.fst"), bytes).unwrap();
    s.run("cp bad/1.fst bad/4.fst").ok();
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let s = lattices();
    let line = "'grammars/lattices/?.fst.gz' --range 1:20";
    for command in ["kbest -n 50 --unique", "sample -n 50 --seed 3 --format moses", "sample -n 20 --print-weight"] {
        let one = s.run(&format!("weft rescore {command} -j 1 {line}")).ok();
        assert_eq!(one, s.run(&format!("weft rescore {command} -j 4 {line}")).ok());
        assert_eq!(one.lines().count(), 20 * command.split(' ').nth(2).unwrap().parse::<usize>().unwrap());
    }
    // A sentence's draws are its own.
    let all = s.run(&format!("weft rescore sample -n 5 --seed 9 {line}")).ok();
    let some = s.run("weft rescore sample -n 5 --seed 9 'grammars/lattices/?.fst.gz' --range 7").ok();
    assert_eq!(all.lines().skip(30).take(5).collect::<Vec<_>>(), some.lines().collect::<Vec<_>>());
    assert_ne!(all, s.run(&format!("weft rescore sample -n 5 --seed 10 {line}")).ok());
    let fst = s.run(&format!("weft rescore sample -n 100 {line} -o a.far && weft far info a.far")).ok();
    assert!(fst.contains("20"), "{fst}");
}

#[test]
fn formats_numbers_and_stages() {
    let s = lattices();
    let file = "grammars/lattices/3.fst.gz";
    let plain = s.run(&format!("weft rescore kbest -n 2 --unique --format strings {file}")).ok();
    assert_eq!(plain, "Well , there your have it .\t17.4340003\nWell , Where your have it .\t17.5430002\n");
    // The number of a sentence is that of its file; Moses counts from 0.
    let moses = s.run(&format!("weft rescore kbest {file}")).ok();
    assert_eq!(moses, "2 ||| Well , there your have it . ||| ||| -17.4340003\n");
    let numeric = s.run(&format!("weft rescore kbest --numeric {file}")).ok();
    assert!(numeric.split(' ').nth(2).unwrap().parse::<u32>().is_ok(), "{numeric}");
    s.write("k.weft", "prune --weight 0.2\nrescore kbest -n 10 --unique --format strings\n");
    assert_eq!(s.run(&format!("weft cascade k.weft {file}")).ok(), plain);
    s.run(&format!("weft rescore kbest -n 0 {file}")).fails(2, &["from 1 on"]);
    s.run(&format!("weft rescore kbest --format strings --parts x.far {file}")).fails(2, &["features"]);
    s.run(&format!("weft rescore sample --parts x.far {file}")).fails(2, &["--format moses"]);
}

#[test]
fn parts_of_the_costs_add_up() {
    let s = lattices();
    let s2 = Sandbox::new();
    s.write("lm.arpa", &s2.read("lm.arpa"));
    let line = "weft lm apply --lm lm.arpa --scale 0.5 --word-penalty -0.25 --prune 4";
    s.run(&format!("{line} --keep-separate 'grammars/lattices/?.fst.gz' --range 1:4 -o 'out/?.fst'")).ok();
    let list = s.run("weft rescore kbest -n 20 --unique --parts 'out/?.parts.far' 'out/?.fst' --range 1:4").ok();
    assert_eq!(list.lines().count(), 80);
    for l in list.lines() {
        let fields: Vec<&str> = l.split(" ||| ").collect();
        let f: Vec<&str> = fields[2].split(' ').collect();
        assert_eq!((f[0], f[2], f[4]), ("lattice=", "lm1=", "words="), "{l}");
        let v = |i: usize| f[i].parse::<f64>().unwrap();
        assert_eq!(-v(5), fields[1].split(' ').count() as f64, "{l}");
        let sum = v(1) + 0.5 * v(3) - 0.25 * v(5);
        assert!((sum - fields[3].parse::<f64>().unwrap()).abs() < 1e-3, "{l}: {sum}");
    }
    // Parts of another lattice are not taken for its own; the others go on.
    s.run("cp out/2.parts.far out/3.parts.far").ok();
    let said = s.run("weft rescore kbest --parts 'out/?.parts.far' 'out/?.fst' --range 1:4");
    let out =
        said.fails(1, &["out/3.fst: rescore-kbest: out/3.parts.far: the part \"lattice\"", "1 of 4 inputs failed"]);
    assert_eq!(out.lines().map(|l| &l[..1]).collect::<String>(), "013");
}

#[test]
fn features_of_rules_are_those_of_decode() {
    let s = Sandbox::new();
    s.write("src.txt", "a b\nc b a\na b a c b\n");
    let decode = "weft decode --rules h.rules --prune 100";
    s.run(&format!("{decode} --rule-lattices 'rl/?.fst' --rule-features rl.txt src.txt -o hyp.txt")).ok();
    let want = s.run(&format!("{decode} --nbest 1000 src.txt")).ok();
    let got = s.run("weft rescore kbest -n 1000 --rule-features rl.txt 'rl/?.fst' --range 1:3").ok();
    type Row = (String, String, Vec<(String, f64)>, f64);
    let rows = |text: &str| {
        let row = |l: &str| -> Row {
            let f: Vec<&str> = l.split(" ||| ").collect();
            let words: Vec<&str> = f[2].split(' ').collect();
            let features = words.chunks(2).map(|c| (c[0].to_string(), c[1].parse().unwrap()));
            (f[0].into(), f[1].into(), features.collect(), f[3].parse().unwrap())
        };
        let mut rows: Vec<Row> = text.lines().map(row).collect();
        rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.3.total_cmp(&b.3)));
        rows
    };
    let (want, got) = (rows(&want), rows(&got));
    assert_eq!(got.len(), want.len());
    assert!(got.len() > 20);
    for (g, w) in got.iter().zip(&want) {
        assert_eq!((&g.0, &g.1), (&w.0, &w.1));
        assert!((g.3 - w.3).abs() < 1e-5, "{g:?} {w:?}");
    }
    // Features of derivations with one cost may be in another order: as sums over a sentence they are the same.
    for name in ["EgivenF=", "FgivenE=", "Glue="] {
        let sum = |rows: &[Row]| rows.iter().flat_map(|r| &r.2).filter(|f| f.0 == name).map(|f| f.1).sum::<f64>();
        assert!((sum(&got) - sum(&want)).abs() < 1e-4, "{name}");
    }
    // The same derivations, asked for string by string.
    s.write("two.txt", "y z x\nx y z\n");
    let all = s.run("weft rescore align --strings two.txt --all --format inputs 'rl/?.fst' --range 1:2").ok();
    let count = |n: &str, words: &str| want.iter().filter(|r| r.0 == n && r.1 == words).count();
    assert_eq!(all.lines().count(), count("0", "y z x") + count("1", "x y z"), "{all}");
    assert!(all.starts_with("[S]_|||_[X,1]_|||_[X,1] [X]_|||_a_[X,1]_|||_[X,1]_x [X]_|||_b_|||_y_z\t1.75\n"), "{all}");
    s.write("few.txt", "1\t[X] ||| a ||| x ||| p=1\n");
    s.run("weft rescore kbest --rule-features few.txt rl/1.fst")
        .fails(1, &["rl/1.fst: rescore-kbest: the input label"]);
    s.write("wrong.txt", "1\t[X] ||| a ||| x ||| p=one\n");
    s.run("weft rescore kbest --rule-features wrong.txt rl/1.fst").fails(1, &["wrong.txt:1:23: \"p=one\""]);
}

#[test]
fn strings_are_matched_with_their_sentences() {
    let s = Sandbox::new();
    s.write("t.txt", "a c\nb d\n");
    let said = s.run("weft rescore align --strings t.txt 'lats/?.fst' --range 1:3");
    let parts = [
        "lats/2.fst: rescore-align: the string is not in the lattice",
        "word 1 (b): the string has d, the lattice has: c",
        "lats/3.fst: rescore-align: this is sentence 3, and t.txt has 2 lines",
        "2 of 3 inputs failed",
    ];
    assert_eq!(said.fails(1, &parts), "a c\t0\n  a\ta\t0\n  c\tc\t0\n");
    s.write("t.txt", "a nowhere\n");
    s.run("weft rescore align --strings t.txt lats/1.fst").fails(1, &["lats/1.fst: ", "no word \"nowhere\""]);
    s.write("t.txt", "\n");
    s.run("weft rescore align --strings t.txt lats/1.fst")
        .fails(1, &["the string ends where the lattice goes on with: a b"]);
    s.run("weft rescore align --strings none.txt lats/1.fst").fails(2, &["none.txt"]);
    s.write("t.txt", "1 3\n");
    let numbers = s.run("weft rescore align --numeric --format inputs --strings t.txt lats/1.fst").ok();
    assert_eq!(numbers, "1 3\t0\n");
    // Costs of arcs and of the end.
    s.run("weft fst project --project-type output a.fst | weft fst symbols --clear-isymbols > o.fst").ok();
    s.write("t.txt", "x z\n");
    let steps = s.run("weft rescore align --strings t.txt a.fst").ok();
    assert_eq!(steps, "x z\t1.75\n  a\tx\t1\n  c\tz\t0.5\n  end\t\t0.25\n");
}

#[test]
fn bad_lattices_are_named_and_the_others_go_on() {
    let s = Sandbox::empty();
    bad(&s);
    let line = "'bad/?.fst' --range 1:6";
    let parts =
        ["bad/2.fst: rescore-kbest: the lattice has no path", "bad/6.fst: No such file", "3 of 6 inputs failed"];
    let out = s.run(&format!("weft rescore kbest -n 2 --unique {line}")).fails(1, &parts);
    // The third is cyclic and has best strings all the same.
    assert_eq!(
        out,
        "0 ||| 1 ||| ||| -0.5\n0 ||| 2 ||| ||| -1\n2 ||| 1 ||| ||| -1\n2 ||| 1 2 1 ||| ||| -3\n3 ||| 1 ||| ||| -0.5\n3 ||| 2 ||| ||| -1\n"
    );
    let parts = [
        "bad/2.fst: rescore-sample: the lattice has no path",
        "bad/3.fst: rescore-sample: the lattice has a cycle",
        "bad/5.fst: ",
    ];
    let out = s.run(&format!("weft rescore sample -n 2 {line}")).fails(1, &parts);
    assert_eq!(out.lines().count(), 4);
    s.run("head -c 60 bad/1.fst > cut.fst; weft rescore kbest cut.fst").fails(1, &["cut.fst: byte"]);
}

#[test]
fn the_same_strings_as_hifst() {
    let Some(folder) = Path::new(ROOT).parent().map(|p| p.join("shared/peers/hifst")).filter(|f| f.is_dir()) else {
        return;
    };
    let s = Sandbox::empty();
    let want = s.run(&format!("zcat {}/expected/printstrings-1000-unique.txt.gz", folder.display())).ok();
    let line = "weft rescore kbest -n 1000 --unique --format strings";
    let got = s.run(&format!("{line} '{}/lattices/?.lat.fst.gz' --range 1:4", folder.display())).ok();
    let list = |text: &str| -> Vec<(String, f64)> {
        let row = |l: &str| l.split_once('\t').map(|(w, c)| (w.trim().to_string(), c.parse().unwrap())).unwrap();
        text.lines().map(row).collect()
    };
    let (want, got) = (list(&want), list(&got));
    assert_eq!((want.len(), got.len()), (4000, 4000));
    // HiFST rounds weights to 1/1024 on the way; what is worse than its last string by less may have been that.
    const CLOSE: f64 = 0.01;
    for (w, g) in want.chunks(1000).zip(got.chunks(1000)) {
        let (w, g): (BTreeMap<_, _>, BTreeMap<_, _>) = (w.iter().cloned().collect(), g.iter().cloned().collect());
        assert_eq!((w.len(), g.len()), (1000, 1000));
        let last = w.values().copied().fold(0.0, f64::max);
        let mut others = 0;
        for (words, cost) in &g {
            match w.get(words) {
                Some(his) => assert!((his - cost).abs() < CLOSE, "{words}: {cost} instead of {his}"),
                None => {
                    others += 1;
                    assert!(*cost > last - CLOSE, "{words} at {cost} is not in HiFST's list, which ends at {last}");
                }
            }
        }
        assert!(others <= 2, "{others} strings are not in HiFST's list");
    }
}

/// What `--help` says an example prints is what it prints.
#[test]
fn examples_print_what_help_shows() {
    for (command, which) in [("kbest", 3), ("sample", 0), ("align", 2), ("combine", 2), ("concat", 4)] {
        let s = Sandbox::new();
        let help = s.run(&format!("COLUMNS=400 weft rescore {command} --help")).ok();
        let (_, tail) = help.split_once("Examples:\n").unwrap();
        let examples: Vec<&str> = tail.lines().take_while(|l| l.starts_with(' ')).map(str::trim).collect();
        let mut printed = String::new();
        for line in &examples[..=which] {
            printed = s.run(line).ok();
        }
        let (_, shown) = tail.split_once(" prints").unwrap().1.split_once(":\n").unwrap();
        let shown: String = shown.lines().map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l))).collect();
        assert!(!shown.is_empty() && printed.starts_with(&shown), "{command}: {shown:?} is not how {printed:?} begins");
    }
}
