//! What a command leaves behind: files that are whole or not there, in the place that was named, and one message.

use crate::sandbox::Sandbox;

#[test]
fn links_are_written_through_and_permissions_stay() {
    let s = Sandbox::new();
    s.run("ln -s target link && weft fst arcsort a.fst link").ok();
    assert_eq!(s.run("weft fst equal target link && readlink link").ok(), "target\n");
    s.run("touch private && chmod 600 private && weft fst print a.fst private").ok();
    assert_eq!(s.run("stat -c %a private").ok(), "600\n");
    assert_eq!(s.read("private"), s.run("weft fst print a.fst").ok());
    assert!(s.run("ls -A").ok().lines().all(|name| !name.ends_with(".part")));
}

/// Where the process is killed in the middle of its work, nothing of its output is left.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_command_leaves_nothing() {
    let s = Sandbox::new();
    s.write("p.weft", "arcsort\nprint\n");
    // The input does not end, so that the command is killed in the middle of its work, however slow the machine is.
    let line = "mkfifo pipe; weft cascade p.weft - -o out/killed.txt < pipe & exec 9> pipe; cat a.fst >&9; \
                for i in $(seq 100); do [ -d out ] && break; sleep 0.1; done; ls -d out; kill -KILL $!; wait; true";
    assert_eq!(s.run(line).ok(), "out\n");
    assert_eq!(s.run("ls -A out").ok(), "");
}

#[test]
fn two_results_do_not_go_to_one_place() {
    let s = Sandbox::new();
    for line in [
        "weft fst encode --encode-labels a.fst same same",
        "weft fst encode --encode-labels a.fst - -",
        "weft fst minimize a.fst same same",
        "weft fst symbols --save-isymbols same --save-osymbols same a.fst -o other",
        "weft fst symbols --save-isymbols same a.fst same",
        "weft fst print --save_isymbols=same --save_osymbols=same a.fst same",
        "weft fst print --save-isymbols same --save-osymbols same a.fst",
        "weft fst print --json --save-osymbols same a.fst same",
        "weft fst print --save-isymbols - a.fst",
    ] {
        s.run(line).fails(2, &["two results would both go to"]);
        assert!(!s.has("same"), "{line}");
    }
}

/// No reader would take −∞ or the label −1, so nobody writes them.
#[test]
fn what_nobody_could_read_is_not_written() {
    let s = Sandbox::empty();
    s.write("low.t", "0 1 1 1 -3e38\n1\n");
    s.run("weft fst compile low.t low.fst").ok();
    let said = ["the result is not written", "arc 0 of state 0 has a weight that is not a number or minus infinity"];
    s.run("weft fst map --map-type times --weight=-3e38 low.fst out.fst").fails(2, &said);
    s.run("weft far create low.fst low.far && weft fst compose low.fst low.fst out.fst").fails(2, &said);
    assert!(!s.has("out.fst"));
    s.run("weft fst determinize --det-type nonfunctional --subsequential-label=-1 low.fst")
        .fails(2, &["-1 is reserved"]);
    s.run("weft fst replace --return-label=-1 low.fst 5 -o r.fst").fails(2, &["return label -1 is reserved"]);
    for line in ["prune --weight 1e39", "map --map-type times --weight 1e39", "determinize --weight 1e39"] {
        s.run(&format!("weft fst {line} low.fst")).fails(2, &["the weight 1e39 is too large for 32 bits"]);
    }
}

#[test]
fn messages_that_cannot_be_written_change_nothing() {
    let s = Sandbox::new();
    s.run("weft fst print nosuch 2> /dev/full").fails(2, &[]);
    s.run("weft fst print nosuch 2>&-").fails(2, &[]);
}

#[test]
fn errors_of_operations_name_the_input() {
    let s = Sandbox::empty();
    s.write("n.t", "0 1 1 1 -1\n1 1 2 2 -1\n1\n");
    s.run("weft fst compile n.t n.fst").ok();
    s.run("weft fst push --push-weights n.fst").fails(2, &["weft: n.fst: ", "negative weight passes through state 1"]);
    s.run("cat n.fst | weft fst shortestpath").fails(2, &["weft: standard input: shortestpath: "]);
    s.run("weft fst difference n.fst n.fst").fails(2, &["weft: n.fst, n.fst: difference: "]);
    s.run("weft fst intersect --max-states 1 n.fst n.fst").fails(2, &["intersect: stopped at 1 states"]);
    s.run("weft fst equal --delta=nan n.fst n.fst").fails(2, &["--delta NaN: expected a number"]);
}

/// Memory that ends is an error like others: the exit code is 2, and nothing is left.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_ends_is_an_error() {
    let s = Sandbox::empty();
    let chain: String = (1..24).map(|i| format!("{i} {} 1 1\n{i} {} 2 2\n", i + 1, i + 1)).collect();
    s.write("e.t", &format!("0 0 1 1\n0 0 2 2\n0 1 1 1\n{chain}24\n"));
    s.run("weft fst compile e.t e.fst").ok();
    s.run("ulimit -v 400000; weft fst determinize e.fst out/d.fst").fails(2, &["weft: out of memory"]);
    assert_eq!(s.run("mkdir -p out; ls -A out").ok(), "");
    s.run("weft fst determinize --max-states 1000 e.fst").fails(2, &["e.fst: determinize: stopped at 1000 states"]);
}
