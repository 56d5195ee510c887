//! Every container that OpenFst writes, from its recorded files (`golden/containers.txt`): read as OpenFst reads it, and
//! written with the same bytes.

use weft::format::binary::{self, Container};
use weft::format::io;
use weft::format::text::{self, PrintConfig};
use weft::with_fst;

use super::recorded::cases;
use super::sandbox::Sandbox;

fn container(name: &str) -> Option<Container> {
    <Container as clap::ValueEnum>::from_str(name, false).ok()
}

#[test]
fn files_of_openfst_are_read_as_it_reads_them() {
    for case in cases() {
        let input = io::from_bytes("recorded", case.bytes).unwrap();
        let (fst, header) = binary::read_input(input).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        assert_eq!(header.fst_type, case.fst_type, "{}", case.name);
        let config = PrintConfig { isymbols: fst.isyms().cloned(), ..PrintConfig::default() };
        let printed = with_fst!(&fst, f => text::to_string(f, &config)).unwrap();
        assert_eq!(printed, case.printed, "{}", case.name);
    }
}

/// The properties in the header are what each knows of the automaton; the gaps of C++ pairs may hold anything.
#[test]
fn files_have_openfsts_bytes() {
    let mut seen = 0;
    for case in cases().into_iter().filter(|c| !c.name.ends_with("aligned") && !c.name.contains("log64")) {
        let Some(container) = container(&case.fst_type) else { continue };
        let (fst, _) = binary::read_input(io::from_bytes("recorded", case.bytes.clone()).unwrap()).unwrap();
        binary::writable(&fst, container).unwrap();
        let mut bytes = vec![];
        binary::write_any(&mut bytes, &fst, container).unwrap();
        // Behind the magic number, two strings, the version and the flags.
        let properties = 4 + 4 + case.fst_type.len() + 4 + fst.arc_type().len() + 8;
        let without = |b: &[u8]| [&b[..properties], &b[properties + 8..]].concat();
        assert_eq!(without(&bytes), without(&case.bytes), "{}", case.name);
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

/// Written aligned and read again, by the command itself; what does not fit is refused and leaves nothing behind.
#[test]
fn convert_writes_every_container() {
    let s = Sandbox::empty();
    s.write("string.txt", "0 1 1\n1 2 3\n2 3 2\n3\n");
    s.write("weighted.txt", "0 1 1 0.5\n1 2 3\n2 0.25\n");
    s.write("branches.txt", "0 1 1 0.5\n0 1 2\n1 0 3\n1 2\n");
    s.write("pairs.txt", "0 1 1 2\n0 2 0 1\n1\n2\n");
    s.write("all.txt", "0 1 1 2 0.5\n1\n");
    for (text, fitting) in [
        ("string --acceptor", "string weighted_string acceptor unweighted_acceptor unweighted"),
        ("weighted --acceptor", "weighted_string acceptor"),
        ("branches --acceptor", "acceptor"),
        ("pairs", "unweighted"),
        ("all", ""),
    ] {
        for arc in ["standard", "log64"] {
            let (name, options) = text.split_once(' ').unwrap_or((text, ""));
            s.run(&format!("weft fst compile --arc_type={arc} {options} {name}.txt in.fst")).ok();
            for kind in ["string", "weighted_string", "acceptor", "unweighted_acceptor", "unweighted"] {
                for align in ["", "--fst_align"] {
                    let said = s.run(&format!("weft fst convert --fst_type=compact_{kind} {align} in.fst {kind}.fst"));
                    if fitting.split(' ').any(|k| k == kind) {
                        said.ok();
                        s.run(&format!("weft fst equal in.fst {kind}.fst && rm {kind}.fst")).ok();
                    } else {
                        said.fails(2, &[&format!("the automaton is no compact_{kind}: ")]);
                        assert!(!s.has(&format!("{kind}.fst")));
                    }
                }
            }
        }
    }
}

#[test]
fn archives_of_compact_strings() {
    let s = Sandbox::empty();
    s.write("w.syms", "<eps> 0\nthe 1\ndog 2\n");
    s.write("lines", "the dog\n\ndog the the\n");
    for far_type in ["sttable", "stlist"] {
        let options = format!("--far_type={far_type} --symbols=w.syms --fst_type=compact");
        s.run(&format!("weft far compilestrings {options} lines s.far")).ok();
        let info = s.run("weft far info s.far").ok();
        assert!(info.contains("fst type                                          compact_string\n"), "{info}");
        assert_eq!(s.run("weft far printstrings --symbols=w.syms s.far").ok(), "the dog\n\ndog the the\n");
        // Entries keep their container, and a bad one is named.
        s.run("weft far extract s.far && weft far create lines-1 lines-2 lines-3 again.far").ok();
        assert_eq!(s.run("weft fst info lines-3 | head -1 | grep -o 'compact.*'").ok(), "compact_string\n");
        assert_eq!(s.run("weft far printstrings --symbols=w.syms again.far").ok(), "the dog\n\ndog the the\n");
        let said = s.run("echo project --project_type=input | weft cascade - s.far -o x.far && weft far info x.far");
        assert!(said.ok().contains("vector\n"));
    }
}
