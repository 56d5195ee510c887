//! Hostile files: valid ones mutated thousands of times, and kept bad ones. Whatever the bytes, reading ends in a clear
//! error or a sound automaton, without a panic and without reserving memory on the word of a header.

#[path = "support/containers.rs"]
mod recorded;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc as Shared;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use weft::format::binary::{self, Container};
use weft::format::far::{FarReader, FarType, FarWriter};
use weft::format::text::{self, ReadConfig};
use weft::format::{io, json, pairs, symtab};
use weft::fst::any::AnyFst;
use weft::fst::flat::{Arc, FlatFst};
use weft::fst::semiring::{Log, Log64, Tropical, Weight};
use weft::fst::symbols::SymbolTable;
use weft::{Result, with_fst};

/// Remembers the largest single request of a thread.
struct Watching;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LARGEST.try_with(|l| l.set(l.get().max(layout.size())));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = LARGEST.try_with(|l| l.set(l.get().max(size)));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// The files here have a few hundred bytes; buffers and cautious guesses are far below this.
const MOST: usize = 40 << 20;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Fst,
    Far,
    Symbols,
    Text,
    Json,
    Pairs,
}

/// Reads the bytes as what they should be, and looks whether what comes out is sound.
fn read(kind: Kind, bytes: &[u8]) -> Result<()> {
    let input = || io::from_bytes("mutant", bytes.to_vec());
    match kind {
        Kind::Fst => sound(&binary::read_input(input()?)?.0),
        Kind::Far => {
            let mut last = String::new();
            for entry in FarReader::from_input(input()?)? {
                let (key, fst) = entry?;
                assert!(last <= key);
                last = key;
                sound(&fst);
            }
        }
        Kind::Symbols => {
            let table = symtab::read_input(input()?)?;
            for (symbol, key) in table.iter() {
                assert!(table.key(symbol).is_some() && table.symbol(key).is_some());
            }
            symtab::write_binary(&mut vec![], &table).unwrap();
        }
        Kind::Text => {
            let (name, text) = input()?.text()?;
            let read = configs().map(|config| text::read::<Tropical>(&name, &text, &config).map(|f| sound(&f.into())));
            // What is bad for an acceptor may be good for a transducer.
            if read.iter().all(Result::is_err) {
                return read.into_iter().collect();
            }
        }
        Kind::Json => sound(&json::read("mutant", &input()?.text()?.1)?),
        Kind::Pairs => drop(pairs::read("mutant", &input()?.text()?.1, false)?),
    }
    Ok(())
}

fn configs() -> [ReadConfig; 3] {
    [
        ReadConfig::default(),
        ReadConfig { acceptor: true, ..Default::default() },
        ReadConfig { keep_state_numbering: true, allow_negative_labels: true, ..Default::default() },
    ]
}

/// Every state and weight exists, and the automaton survives being written and read.
fn sound(fst: &AnyFst) {
    with_fst!(fst, f => {
        assert!(f.start() == u32::MAX || (f.start() as usize) < f.num_states());
        assert!(f.finals().iter().all(|w| w.is_member()));
        for (_, a) in f.transitions() {
            assert!((a.nextstate as usize) < f.num_states() && a.weight.is_member());
        }
    });
    let mut bytes = vec![];
    binary::write_any(&mut bytes, fst, Container::Vector).unwrap();
    let again = binary::read_input(io::from_bytes("again", bytes).unwrap()).unwrap().0;
    assert_eq!(*fst, again);
}

/// Reads a mutant; says how it was made if it panics or asks for too much.
fn try_mutant(kind: Kind, bytes: &[u8], how: &dyn Fn() -> String) -> bool {
    LARGEST.with(|l| l.set(0));
    let outcome = std::panic::catch_unwind(|| read(kind, bytes));
    let largest = LARGEST.with(Cell::get);
    assert!(largest < MOST, "{kind:?}: {}: asked for {largest} bytes at once", how());
    match outcome {
        Ok(Ok(())) => true,
        Ok(Err(e)) => {
            assert!(e.to_string().contains("mutant"), "{kind:?}: {}: no file in the message: {e}", how());
            false
        }
        Err(_) => panic!("{kind:?}: {}: panicked on {bytes:02x?}", how()),
    }
}

fn symbols() -> Shared<SymbolTable> {
    let mut t = SymbolTable::new("words");
    for w in ["<eps>", "a", "bé", "c"] {
        t.add(w);
    }
    t.add_with_key("far", 70_000_000_000);
    Shared::new(t)
}

fn sample<W: Weight>(with_symbols: bool) -> FlatFst<W> {
    let w = W::from_f64;
    let fst = FlatFst::from_rows(
        1,
        vec![
            (W::ZERO, vec![Arc::new(1, 2, w(0.5), 2), Arc::new(0, 0, W::ONE, 0)]),
            (w(1.5), vec![Arc::new(3, 3, w(-2.25), 0), Arc::new(2, 1, W::ZERO, 3)]),
            (W::ONE, vec![]),
            (W::ZERO, vec![Arc::new(1, 1, w(3.0), 2)]),
        ],
    );
    if with_symbols { fst.with_symbols(Some(symbols()), Some(symbols())) } else { fst }
}

fn samples() -> Vec<AnyFst> {
    vec![
        sample::<Tropical>(false).into(),
        sample::<Tropical>(true).into(),
        sample::<Log>(false).into(),
        sample::<Log64>(true).into(),
        sample::<Log64>(false).into(),
        FlatFst::<Log>::empty().into(),
    ]
}

/// One valid file of every kind.
fn seeds() -> Vec<(Kind, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let mut seeds = vec![];
    for fst in samples() {
        for container in [Container::Vector, Container::Const] {
            let mut bytes = vec![];
            binary::write_any(&mut bytes, &fst, container).unwrap();
            seeds.push((Kind::Fst, bytes));
        }
        let mut bytes = vec![];
        json::write(&mut bytes, "seed", &fst).unwrap();
        seeds.push((Kind::Json, bytes));
    }
    let rich = ["weightedstring", "acceptor", "unweighted", "acceptor aligned"];
    for case in recorded::cases() {
        let name = case.name.splitn(3, ' ').last().unwrap();
        if !["vector", "const"].contains(&&*case.fst_type) && rich.contains(&name) {
            seeds.push((Kind::Fst, case.bytes));
        }
    }
    for far_type in [FarType::Table, FarType::List] {
        let name = dir.path().join("seed.far");
        let name = name.to_str().unwrap();
        let mut far = FarWriter::create(name, far_type).unwrap();
        for (key, container) in [("a", Container::Vector), ("b", Container::Const), ("cc", Container::Vector)] {
            far.add_as(key, &sample::<Tropical>(key == "a").into(), container).unwrap();
        }
        far.finish().unwrap();
        seeds.push((Kind::Far, std::fs::read(name).unwrap()));
    }
    let mut table = vec![];
    symtab::write_binary(&mut table, &symbols()).unwrap();
    seeds.push((Kind::Symbols, table));
    seeds.push((Kind::Symbols, "<eps>\t0\na\t1\r\nbé  7\nfar\t70000000000\n".into()));
    seeds.push((Kind::Text, "0 1 1 2 0.5\n0\t1\t3\t4\n1 2 5 6 Infinity\r\n2\n1 1.5e-3\n".into()));
    seeds.push((Kind::Text, "0 1 1\n1 0 2 0.25\n1\n".into()));
    seeds.push((Kind::Pairs, "1 2\n# note\n3\t4\n".into()));
    seeds
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

#[test]
fn the_seeds_themselves_are_read() {
    for (kind, bytes) in seeds() {
        read(kind, &bytes).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
        read(kind, &gz(&bytes)).unwrap();
        read(kind, &zstd::encode_all(&bytes[..], 0).unwrap()).unwrap();
    }
}

#[test]
fn cut_off_at_every_byte() {
    for (kind, bytes) in seeds() {
        for n in 0..bytes.len() {
            let read = try_mutant(kind, &bytes[..n], &|| format!("cut at {n} of {}", bytes.len()));
            let binary = bytes.iter().any(|&b| b < 9);
            // An empty file is an empty symbol table as text.
            let empty = n == 0 && matches!(kind, Kind::Symbols);
            assert!(!(read && binary) || empty, "{kind:?}: cut at {n} of {} and not noticed", bytes.len());
        }
    }
}

#[test]
fn compressed_and_cut_off_at_every_byte() {
    for (kind, bytes) in seeds() {
        for packed in [gz(&bytes), zstd::encode_all(&bytes[..], 0).unwrap()] {
            for n in 4..packed.len() {
                let read = try_mutant(kind, &packed[..n], &|| format!("packed, cut at {n} of {}", packed.len()));
                // The trailer of a gz and the checksum of a zstd are not part of the content.
                assert!(!read || n + 8 >= packed.len(), "{kind:?}: packed, cut at {n} of {}", packed.len());
            }
        }
    }
}

#[test]
fn bits_flipped() {
    let mut rng = SmallRng::seed_from_u64(1);
    for (kind, bytes) in seeds() {
        let packed = [gz(&bytes), zstd::encode_all(&bytes[..], 0).unwrap()];
        for source in [&bytes, &bytes, &packed[0], &packed[1]] {
            for round in 0..400 {
                let mut mutant = source.clone();
                let mut places = vec![];
                for _ in 0..rng.random_range(1..=4) {
                    let at = rng.random_range(0..mutant.len());
                    mutant[at] ^= 1 << rng.random_range(0..8);
                    places.push(at);
                }
                try_mutant(kind, &mutant, &|| format!("round {round}, bits flipped at {places:?}"));
            }
        }
    }
}

#[test]
fn sizes_and_numbers_that_lie() {
    let wide: [u64; 8] = [
        u64::MAX,
        1 << 60,
        i64::MAX as u64,
        i64::MIN as u64,
        u32::MAX as u64,
        u32::MAX as u64 - 1,
        i32::MAX as u64,
        f64::NAN.to_bits(),
    ];
    let narrow: [u32; 7] = [u32::MAX, u32::MAX - 1, 1 << 31, i32::MAX as u32, 1 << 30, 0x7fc0_0000, 0xff80_0000];
    for (kind, bytes) in seeds() {
        for at in 0..bytes.len() {
            for value in wide {
                if at + 8 <= bytes.len() {
                    let mut mutant = bytes.clone();
                    mutant[at..at + 8].copy_from_slice(&value.to_le_bytes());
                    try_mutant(kind, &mutant, &|| format!("{value:#x} at {at}"));
                }
            }
            for value in narrow {
                if at + 4 <= bytes.len() {
                    let mut mutant = bytes.clone();
                    mutant[at..at + 4].copy_from_slice(&value.to_le_bytes());
                    try_mutant(kind, &mutant, &|| format!("{value:#x} at {at}"));
                }
            }
        }
    }
}

#[test]
fn pieces_exchanged_repeated_and_left_out() {
    let mut rng = SmallRng::seed_from_u64(2);
    let seeds = seeds();
    for (kind, bytes) in &seeds {
        for round in 0..300 {
            let other = &seeds[rng.random_range(0..seeds.len())].1;
            let (a, b) = (rng.random_range(0..=bytes.len()), rng.random_range(0..=bytes.len()));
            let (c, d) = (rng.random_range(0..=other.len()), rng.random_range(0..=other.len()));
            let piece = &other[c.min(d)..c.max(d)];
            let mutant = [&bytes[..a], piece, &bytes[b..]].concat();
            try_mutant(*kind, &mutant, &|| format!("round {round}, {} bytes between {a} and {b}", piece.len()));
        }
        for extra in [&b"\0"[..], b"x", bytes] {
            let read = try_mutant(*kind, &[bytes, extra].concat(), &|| format!("{} bytes more", extra.len()));
            let text = matches!(kind, Kind::Text | Kind::Pairs | Kind::Symbols | Kind::Json);
            assert!(!read || text, "{kind:?}: {} bytes after the end and not noticed", extra.len());
        }
    }
}

/// Kept bad files, through the command: `expected.txt` has the file, the words of the command and how the message begins.
#[test]
fn kept_bad_inputs_fail_as_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fst-tests/corpus/bad");
    let expected = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    let mut files = 0;
    for line in expected.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let fields: Vec<_> = line.split('\t').collect();
        let [file, words, message] = fields[..] else { panic!("expected.txt: {line:?}") };
        files += 1;
        assert!(folder.join(file).is_file(), "{file} is not there");
        let words: Vec<_> = words.split(' ').map(|w| if w == "FILE" { file } else { w }).collect();
        let out = Command::new(env!("CARGO_BIN_EXE_weft")).args(&words).current_dir(&folder).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with(&format!("weft: {message}")), "{line}: {stderr}");
    }
    let kept = std::fs::read_dir(&folder).unwrap().count() - 1;
    assert_eq!(files, kept, "every file of the folder is in expected.txt, once");
}
