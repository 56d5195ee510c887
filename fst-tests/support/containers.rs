//! The files of OpenFst that are recorded in `golden/containers.txt`.

use std::path::Path;

pub struct Case {
    /// Type of the automaton, of its arcs, and which automaton it is.
    pub name: String,
    pub fst_type: String,
    /// As OpenFst prints it.
    pub printed: String,
    pub bytes: Vec<u8>,
}

pub fn cases() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fst-tests/golden/containers.txt");
    let mut cases: Vec<Case> = vec![];
    for line in std::fs::read_to_string(file).unwrap().lines().filter(|l| !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            let fst_type = name.split(' ').next().unwrap().to_string();
            cases.push(Case { name: name.into(), fst_type, printed: String::new(), bytes: vec![] });
            continue;
        }
        let case = cases.last_mut().unwrap();
        if let Some(hex) = line.strip_prefix("> ") {
            let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
            case.bytes = (0..hex.len() / 2).map(byte).collect();
        } else {
            case.printed.push_str(line);
            case.printed.push('\n');
        }
    }
    cases
}
