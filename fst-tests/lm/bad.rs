//! What must fail, and how it says so.

use std::sync::Arc as Shared;

use weft::format::io;
use weft::fst::flat::{Arc, FlatFst};
use weft::fst::semiring::Tropical;
use weft::fst::symbols::SymbolTable;
use weft::lm::apply::{ApplyConfig, Boundaries, Term, apply};
use weft::lm::automaton::{AutomatonConfig, Backoff, automaton};
use weft::lm::{NgramModel, arpa, binary};

const GOOD: &str = "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\n-1.5\t<s>\t-0.5\n-1\t</s>\n-2\ta\t-0.25\n\n\
                    \\2-grams:\n-0.5\t<s> a\n-0.25\ta </s>\n\n\\end\\\n";

fn read(text: &str) -> weft::Result<NgramModel> {
    arpa::read_from(io::from_bytes("m.arpa", text.as_bytes().to_vec()).unwrap())
}

#[test]
fn arpa_files_that_lie_are_refused_with_the_place() {
    read(GOOD).unwrap();
    let cases = [
        (
            "ngram 1=4",
            "ngram 1=5",
            "m.arpa:11:1: expected 5 1-grams as the header promises, but after 4 the section ends",
        ),
        ("ngram 1=4", "ngram 1=3", "m.arpa:9:1: expected \\2-grams:, found \"-2\\ta\\t-0.25\"; there are more 1-grams"),
        (
            "ngram 2=2",
            "ngram 2=3",
            "m.arpa:15:1: expected 3 2-grams as the header promises, but after 2 the section ends",
        ),
        ("ngram 2=2", "ngram 2=1", "m.arpa:13:1: more 2-grams than the 1 that the header promises"),
        ("ngram 2=2", "ngram 3=2", "m.arpa:3:1: expected the count of 2-grams, found that of 3-grams"),
        ("ngram 2=2", "ngrams: 2", "m.arpa:3:1: expected a count such as"),
        ("\\end\\\n", "", "m.arpa:15:1: the file ends without \\end\\: it is cut off"),
        ("-0.25\ta </s>\n\n\\end\\\n", "", "expected 2 2-grams as the header promises, but after 1 the file ends"),
        ("\\2-grams:", "\\3-grams:", "m.arpa:11:1: expected \\2-grams:, found \"\\3-grams:\""),
        ("-2\ta", "0.5\ta", "m.arpa:9:1: a log10 probability of 0.5 is above 0"),
        ("-0.25\ta </s>", "1e3\ta </s>", "m.arpa:13:1: a log10 probability of 1000 is above 0"),
        ("-2\ta", "two\ta", "m.arpa:9:1: expected a log10 probability, found \"two\""),
        ("-2\ta", "nan\ta", "m.arpa:9:1: expected a log10 probability, found \"nan\""),
        ("-2\ta\t-0.25", "-2\ta\tx", "m.arpa:9:6: expected a back-off weight or the end of the line, found \"x\""),
        ("-2\ta\t-0.25", "-2\ta\t-0.25 7", "m.arpa:9:12: expected the end of the line, found \"7\""),
        ("-2\ta", "-2\t</s>", "m.arpa:9:4: the word \"</s>\" is there twice"),
        ("<s> a", "<s> b", "m.arpa:12:10: \"b\" is not among the 1-grams"),
        ("<s> a", "<s>", "m.arpa:12:9: expected 2 words, found 1"),
        ("<s> a", "a </s>", "the 2-gram \"a </s>\" is there twice"),
        ("a </s>\n", "a </s>\t-0.5\n", "m.arpa:13:14: an n-gram of the highest order has no back-off weight"),
        ("\\data\\", "data", "there is no \\data\\ line"),
    ];
    for (from, to, want) in cases {
        assert!(GOOD.contains(from), "{from:?}");
        let e = read(&GOOD.replacen(from, to, 1)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains(want), "{from:?} -> {to:?}: {e:?}, expected {want:?}");
    }
    let three =
        GOOD.replace("ngram 2=2\n", "ngram 2=2\nngram 3=1\n").replace("\\end\\", "\\3-grams:\n-1\ta a a\n\n\\end\\");
    let e = read(&three).err().unwrap().to_string();
    assert!(e.contains("m.arpa:17:4: its context \"a a\" is not among the 2-grams"), "{e}");
}

#[test]
fn files_that_are_something_else_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let says = |bytes: &[u8]| {
        let path = dir.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        binary::load(path.to_str().unwrap()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(says(b"mmap lm http://kheafield.com/code format version 5\n").contains("a binary model of KenLM"));
    assert!(says(&2125659606i32.to_le_bytes()).contains("an automaton"));
    assert_eq!(says(format!("\u{feff}{GOOD}").as_bytes()), "", "a byte order mark is no harm");
}

/// A model may have words that are called like the symbols of epsilon and failure.
#[test]
fn names_of_special_labels_are_free() {
    let model =
        read(&GOOD.replace("-2\ta\t", "-2\t<phi>\t").replace("<s> a", "<s> <phi>").replace("a </s>", "<phi> </s>"));
    let config = AutomatonConfig { backoff: Backoff::Phi, boundaries: Boundaries::Add, max_arcs: 100 };
    let g: FlatFst<Tropical> = automaton(&model.unwrap(), &config).unwrap();
    let table = g.isyms.unwrap();
    assert_eq!((table.key("<phi>"), table.key("<phi>_")), (Some(3), Some(5)));
}

/// Cut at every byte, and with every byte changed: an error or a model, never a panic.
#[test]
fn damaged_models_do_no_harm() {
    for cut in 0..GOOD.len() - 1 {
        assert!(read(&GOOD[..cut]).is_err(), "cut at {cut}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.bin");
    let path = path.to_str().unwrap();
    binary::write(path, &read(GOOD).unwrap()).unwrap();
    let bytes = std::fs::read(path).unwrap();
    for cut in (8..bytes.len()).step_by(7) {
        std::fs::write(path, &bytes[..cut]).unwrap();
        let e = binary::load(path).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains("cut off") || e.contains("not a model") || e.contains("damaged"), "cut at {cut}: {e:?}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x41;
        std::fs::write(path, &changed).unwrap();
        // A byte of padding after the header counts for nothing; any other is noticed.
        if let Ok(model) = binary::load(path) {
            assert_eq!(model.counts(), [4, 2], "byte {at}");
        }
    }
}

fn lattice(labels: &[i32], cycle: bool) -> FlatFst<Tropical> {
    let last = labels.len() as u32;
    let mut rows: Vec<_> = labels
        .iter()
        .enumerate()
        .map(|(i, &l)| (Tropical(f32::INFINITY), vec![Arc::new(l, l, Tropical(0.5), i as u32 + 1)]))
        .collect();
    let back = if cycle { vec![Arc::new(0, 0, Tropical(0.0), last - 1)] } else { vec![] };
    rows.push((Tropical(0.0), back));
    FlatFst::from_rows(0, rows)
}

fn table(words: &[&str]) -> Shared<SymbolTable> {
    let mut t = SymbolTable::new("t");
    words.iter().for_each(|w| {
        t.add(w);
    });
    Shared::new(t)
}

#[test]
fn lattices_that_do_not_fit_are_refused() {
    let model = read(GOOD).unwrap();
    let term = Term { model: &model, scale: 1.0, name: "m.arpa", part: "lm1" };
    let fails = |lattice: &FlatFst<Tropical>, words: &[&str], config: &ApplyConfig| {
        apply(lattice, &[term], &table(words), config).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let plain = ApplyConfig::default();
    let e = fails(&lattice(&[1, 7], false), &["<eps>", "a"], &plain);
    assert!(e.contains("label 7 of the lattice has no word"), "{e}");
    let e = fails(&lattice(&[1, 2], false), &["<eps>", "A", "B"], &plain);
    assert!(e.contains("none of the 2 words") && e.contains("m.arpa"), "{e}");
    let e = fails(&lattice(&[1, 0], true), &["<eps>", "a"], &plain);
    assert!(e.contains("a cycle of epsilon arcs, through states 1 and 2"), "{e}");
    let e = fails(&lattice(&[1], false), &["<eps>", "a"], &ApplyConfig { prune: Some(-1.0), ..plain });
    assert!(e.contains("the beam is -1"), "{e}");
    let e = fails(&lattice(&[1; 9], false), &["<eps>", "a"], &ApplyConfig { max_states: Some(3), ..plain });
    assert!(e.contains("stopped at 3 states"), "{e}");
    let present = ApplyConfig { boundaries: Boundaries::Present, ..plain };
    let e = fails(&lattice(&[1], false), &["<eps>", "a"], &present);
    assert!(e.contains("has no <s> on any arc"), "{e}");
    let priced = ApplyConfig { oov_cost: Some(5.0), ..plain };
    assert_eq!(fails(&lattice(&[1], false), &["<eps>", "A"], &priced), "", "the user says what unknown words cost");
    // A lattice of unknown words only is nothing bad, as long as its table has others.
    assert_eq!(fails(&lattice(&[1], false), &["<eps>", "x", "a"], &plain), "");
}
