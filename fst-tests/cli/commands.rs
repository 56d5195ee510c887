//! The commands users type: OpenFst's spellings, outputs, exit codes, pipes.

use crate::sandbox::Sandbox;

#[test]
fn the_commands_of_every_day() {
    let s = Sandbox::new();
    s.write("root.t", "0 1 101 101\n1\n");
    s.write("p.t", "0 1 102 102\n1 2 1 1\n2\n");
    s.write("q.t", "0 1 2 2\n1\n");
    for name in ["root", "p", "q"] {
        s.run(&format!("weft fst compile {name}.t {name}.fst")).ok();
    }
    for line in [
        "weft fst compile --isymbols w.syms --osymbols w.syms a.txt -o t.fst",
        "weft fst compile --acceptor --arc-type log64 a.txt l.fst",
        "weft fst print a.fst",
        "weft fst compose a.fst b.fst -o c.fst",
        "weft fst determinize a.fst | weft fst minimize | weft fst print",
        "weft fst shortestpath --nshortest 10 --unique acc.fst -o n.fst",
        "weft fst prune --weight 3 a.fst pruned.fst",
        "weft fst map --map-type superfinal a.fst > m.fst",
        "weft fst project --project-type output a.fst > pr.fst",
        "weft fst shortestdistance a.fst",
        "weft fst equivalent acc.fst acc.fst",
        "weft fst info --json a.fst",
        "weft fst draw a.fst > a.dot",
    ] {
        let said = s.run(line);
        assert_eq!(said.code, 0, "{line}\n{}", said.err);
        assert!(said.err.is_empty(), "{line}\n{}", said.err);
    }
    assert_eq!(s.run("weft fst print pruned.fst").ok(), s.run("weft fst prune --weight=3 a.fst | weft fst print").ok());
    assert!(s.read("a.dot").starts_with("digraph"));
    assert!(s.run("weft fst info --json a.fst").ok().trim_start().starts_with('{'));
    assert_eq!(
        s.run("weft fst print c.fst").ok(),
        "0\t1\ta\tp\t1.10000002\n0\t2\tb\tq\t2.20000005\n1\t3\tc\tr\t0.5\n2\t3\td\tr\t1\n3\t0.25\n"
    );

    let said = s
        .run("weft fst replace root.fst 100 p.fst 101 q.fst 102 -o r.fst && weft fst rmepsilon r.fst | weft fst print");
    // As in OpenFst, an arc that calls another automaton keeps its input label.
    let labels: Vec<String> =
        said.ok().lines().filter_map(|l| l.split('\t').nth(3)).filter(|&l| l != "0").map(String::from).collect();
    assert_eq!(labels, ["2", "1"]);
}

#[test]
fn openfst_spellings_are_the_same_command() {
    let s = Sandbox::new();
    for (ours, theirs) in [
        ("weft fst arcsort --sort-type olabel a.fst", "weft fst arcsort --sort_type=olabel a.fst -"),
        ("weft fst arcsort --sort-type olabel a.fst", "weft fst arcsort -sort_type=olabel < a.fst"),
        ("weft fst shortestpath --unique acc.fst", "weft fst shortestpath --unique=true acc.fst"),
        ("weft fst shortestpath acc.fst", "weft fst shortestpath --unique=false acc.fst"),
        ("weft fst map --map-type rmweight a.fst", "weft fst map --map_type=rmweight a.fst"),
        ("weft fst print --acceptor acc.fst", "weft fst print --acceptor=true acc.fst"),
        ("weft fst print --acceptor acc.fst", "weft fst print --acceptor=1 acc.fst"),
        ("weft fst print acc.fst", "weft fst print --acceptor=0 acc.fst"),
    ] {
        let (a, b) = (s.run(&format!("{ours} | od -c")), s.run(&format!("{theirs} | od -c")));
        assert_eq!(a.ok(), b.ok(), "{ours}\n{theirs}");
    }
}

/// What a file says of its automaton goes through a pipe: a path has no cycle, so that its start stays the start.
#[test]
fn a_union_with_a_path_has_no_new_start() {
    let s = Sandbox::new();
    s.run("printf '0 1 1 1\\n1\\n' | weft fst compile - u.fst").ok();
    let made = s.run("weft fst shortestpath u.fst | weft fst union - u.fst | weft fst print").ok();
    assert_eq!(made, "1\t0\t1\t1\n1\t2\t0\t0\n0\n2\t3\t1\t1\n3\n");
}

#[test]
fn outputs_are_the_same_in_all_three_ways() {
    let s = Sandbox::new();
    s.run("weft fst invert a.fst o1.fst; weft fst invert a.fst -o o2.fst; weft fst invert a.fst > o3.fst").ok();
    s.run("weft fst invert < a.fst > o4.fst; cat a.fst | weft fst invert - o5.fst").ok();
    for n in 2..=5 {
        assert!(s.bytes("o1.fst") == s.bytes(&format!("o{n}.fst")), "o{n}.fst differs");
    }
    s.run("weft fst invert a.fst z.fst.gz; weft fst invert a.fst z.fst.zst").ok();
    assert!(s.bytes("z.fst.gz").starts_with(&[0x1f, 0x8b]) && s.bytes("z.fst.zst").starts_with(&[0x28, 0xb5]));
    s.run("weft fst equal o1.fst z.fst.gz && weft fst equal o1.fst z.fst.zst").ok();
}

#[test]
fn exit_codes() {
    let s = Sandbox::new();
    s.write("other.t", "0 1 a\n1\n");
    let keep = "--isymbols=w.syms --osymbols=w.syms --keep_isymbols --keep_osymbols";
    s.run(&format!("weft fst compile --acceptor {keep} other.t other.fst")).ok();
    for op in ["equal", "equivalent", "isomorphic"] {
        s.run(&format!("weft fst {op} acc.fst acc.fst")).ok();
        s.run(&format!("weft fst {op} acc.fst other.fst")).fails(1, &[]);
        s.run(&format!("weft fst {op} acc.fst nosuch.fst")).fails(2, &["nosuch.fst"]);
    }
    s.run("weft").fails(2, &["Usage"]);
    s.run("weft fst prnt a.fst").fails(2, &["prnt"]);
    s.run("weft fst print --nosuch a.fst").fails(2, &["--nosuch"]);
    s.run("weft fst print nosuch.fst").fails(2, &["weft: nosuch.fst"]);
    s.run("weft fst print a.txt").fails(2, &["a.txt", "compile"]);
    s.run("weft fst print .").fails(2, &["directory"]);
    s.run("weft fst compose - - < a.fst").fails(2, &["standard input can be read only once"]);
}

#[test]
fn options_without_a_value_are_not_given() {
    let s = Sandbox::new();
    let plain = s.run("weft fst print a.fst").ok();
    assert_eq!(s.run("weft fst print --isymbols= --save_osymbols= a.fst < /dev/null").ok(), plain);
    assert_eq!(s.run("weft fst symbols --isymbols= --relabel_ipairs= a.fst < /dev/null | weft fst print").ok(), plain);
    assert_eq!(s.run("weft fst print --isymbols \"$UNSET\" a.fst < /dev/null").ok(), plain);
}

#[test]
fn an_archive_of_one_file_goes_to_standard_output() {
    let s = Sandbox::new();
    let before = s.bytes("a.fst");
    s.run("weft far create a.fst > one.far < acc.fst").ok();
    assert_eq!(s.bytes("a.fst"), before);
    s.run("weft far create a.fst two.far && weft far equal one.far two.far").ok();
    s.write("lines", "ab\nc\n");
    s.run("weft far compilestrings --token_type=byte lines > s.far < /dev/null").ok();
    assert_eq!(s.bytes("lines"), b"ab\nc\n");
    assert_eq!(s.run("weft far printstrings --token_type=byte s.far").ok(), "ab\nc\n");
    s.run("weft far extract --keys=lines-9 s.far").fails(2, &["cannot find key \"lines\""]);
}

#[test]
fn a_failed_command_leaves_no_output() {
    let s = Sandbox::new();
    s.run("head -c 100 a.fst > cut.fst").ok();
    s.run("weft fst invert cut.fst out.fst").fails(2, &["cut.fst"]);
    assert!(!s.has("out.fst"));
    s.write("bad.t", "0 1 a b\n0 1 nosuchword b\n");
    s.run("weft fst compile --isymbols w.syms --osymbols w.syms bad.t out.fst").fails(2, &["bad.t:2:5", "nosuchword"]);
    assert!(!s.has("out.fst"));
    let left: Vec<_> =
        std::fs::read_dir(s.path()).unwrap().filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    assert!(left.iter().all(|n| !n.ends_with(".part")), "{left:?}");
}

#[test]
fn a_closed_pipe_is_nobodys_error() {
    let s = Sandbox::empty();
    let mut text: String = (0..200_000).map(|i| format!("{i} {} 1 1\n", i + 1)).collect();
    text.push_str("200000\n");
    s.write("long.txt", &text);
    s.run("weft fst compile long.txt long.fst").ok();
    for line in
        ["weft fst print long.fst", "weft fst arcsort long.fst", "weft fst --help", "weft cascade p.weft long.fst"]
    {
        s.write("p.weft", "print\n");
        let said = s.run(&format!("{line} | head -c 10 | wc -c"));
        assert!(said.err.is_empty(), "{line}: {said:?}");
        assert_eq!(said.ok().trim(), "10");
    }
}

/// Thousands of files on one command line go another way than a few (cli/operands.rs); nothing is lost on it.
#[test]
fn hundreds_of_operands() {
    let s = Sandbox::empty();
    let names: Vec<String> = (1..=300).map(|i| format!("parts_of/{i:03}.fst")).collect();
    let calls: String = (1..=300).map(|i| format!("0 1 {} {}\n", 1000 + i, 1000 + i)).collect();
    s.write("root.t", &(calls + "1\n"));
    s.write("parts_of/note", "");
    let lines: String = (1..=300).map(|i| format!("{i} {}\n", i + 300)).collect();
    s.write("lines", &lines);
    let syms: String = (0..=600).map(|i| format!("{i}\t{i}\n")).collect();
    s.write("syms", &syms);
    s.run("weft fst compile root.t root.fst").ok();
    s.run("weft far compilestrings --symbols=syms --generate_keys=3 lines s.far").ok();
    s.run("weft far extract --filename_prefix=parts_of/ --filename_suffix=.fst s.far").ok();
    let strings = |automaton: &str| {
        let labels = "weft fst project --project_type=output | weft fst rmepsilon | weft fst print | cut -s -f 3";
        let printed = s.run(&format!("{automaton} | {labels} | sort -n | uniq")).ok();
        printed.split_whitespace().map(|l| l.parse::<i32>().unwrap()).collect::<Vec<_>>()
    };
    let all: Vec<i32> = (1..=600).collect();
    let pairs: String = names.iter().enumerate().map(|(i, name)| format!("{name} {} ", 1001 + i)).collect();
    assert_eq!(strings(&format!("weft fst replace root.fst 9999 {pairs} --epsilon_on_replace")), all);
    assert_eq!(strings(&format!("weft fst replace --return_label=0 root.fst 9999 {pairs} - ")), all);
    let files = names.join(" ");
    assert_eq!(strings(&format!("weft fst union {files}")), all);
    assert_eq!(strings(&format!("weft fst union {files} -o u.fst; cat u.fst")), all);
    s.run(&format!("weft far create {files} made.far && weft far create -o too.far {files}")).ok();
    assert_eq!(s.bytes("made.far"), s.bytes("too.far"));
    assert_eq!(s.run("weft far info --list_fsts made.far | wc -l").ok().trim(), "301");
    let last = format!("weft fst replace root.fst 9999 {pairs} nosuch.fst 77 r.fst");
    s.run(&last).fails(2, &["nosuch.fst: No such file"]);
    s.run(&format!("weft fst replace root.fst 9999 {pairs} last.fst -o r.fst")).fails(2, &["last.fst has no label"]);
}

/// OpenFst 1.8 has other words for some options of 1.7; both are understood.
#[test]
fn old_and_new_words_say_the_same() {
    let s = Sandbox::new();
    for (old, new) in [
        ("closure --closure_plus", "closure --closure_type=plus"),
        ("closure", "closure --closure_type=star"),
        ("push --push_weights --to_final", "push --push_weights --reweight_type=to_final"),
        ("push --push_weights", "push --push_weights --reweight-type to-initial"),
        ("project --project_output", "project --project_type=output"),
    ] {
        let [old, new] = [old, new].map(|words| s.run(&format!("weft fst {words} a.fst | weft fst print")).ok());
        assert!(!old.is_empty() && old == new, "{new}");
    }
    s.write("pot.t", "0 0.5\n1 0.25\n2 1\n3 0\n");
    let [old, new, other] = ["--to_final", "--reweight_type=to_final", ""]
        .map(|option| s.run(&format!("weft fst reweight {option} a.fst pot.t | weft fst print")).ok());
    assert!(old == new && old != other);
}

/// Tables with the same words may have names of their own.
#[test]
fn tables_keep_their_names() {
    let s = Sandbox::new();
    s.run("cp w.syms other.syms && weft fst compile --isymbols w.syms --osymbols other.syms --keep-isymbols --keep-osymbols a.txt n.fst").ok();
    for words in ["convert n.fst", "arcsort n.fst", "invert n.fst - | weft fst invert"] {
        let said = s.run(&format!("weft fst {words} | weft fst info")).ok();
        let tables: Vec<&str> =
            said.lines().filter(|l| l.contains("symbol table")).filter_map(|l| l.split_whitespace().last()).collect();
        assert_eq!(tables, ["w.syms", "other.syms"], "{words}");
    }
}

/// A word for words that the new table lacks need not be there if none lacks.
#[test]
fn an_unknown_symbol_that_nobody_needs_is_a_note() {
    let s = Sandbox::new();
    let relabel = "weft fst relabel --isymbols=w.syms --relabel_isymbols=w.syms --unknown_isymbol=none a.fst";
    let said = s.run(&format!("{relabel} r.fst && weft fst equal a.fst r.fst"));
    assert!(said.code == 0 && said.err.contains("\"none\" is not in \"w.syms\""), "{}", said.err);
}

/// Options that tell apart what is nearly the same are no negative numbers.
#[test]
fn a_delta_is_no_negative_number() {
    let s = Sandbox::new();
    s.run("weft far create a.fst x.far").ok();
    for words in [
        "fst prune --delta=-1 a.fst",
        "fst push --push-weights --delta=-1 a.fst",
        "fst shortestdistance --delta=-0.5 a.fst",
        "fst rmepsilon --delta=nan a.fst",
        "fst equivalent --delta=-1 a.fst a.fst",
        "far equal --delta=-1 x.far x.far",
    ] {
        s.run(&format!("weft {words}")).fails(2, &["--delta"]);
    }
}
