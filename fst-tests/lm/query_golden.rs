//! `lm query` against KenLM's query (tools/make-golden-query): the same bytes.

use std::fs;

use weft::format::io;
use weft::lm::binary;
use weft::lm::query::{QueryConfig, query};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fst-tests/golden/lm");

#[test]
fn scores_are_kenlms() {
    let mut cases = 0;
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        let file = path.to_str().unwrap();
        let Some(name) = file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".arpa") else { continue };
        let Ok(expected) = fs::read_to_string(format!("{name}.query")) else { continue };
        let model = binary::load(file).unwrap();
        let say = |words, boundaries| {
            let config = QueryConfig { words, sentences: true, summary: true, json: false, boundaries };
            let mut out = vec![];
            query(&model, io::open(&format!("{FOLDER}/query.txt")).unwrap(), &mut out, &config).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(say(true, true), expected, "{name}");
        assert_eq!(say(false, false), fs::read_to_string(format!("{name}.query-n")).unwrap(), "{name}");
        cases += 1;
    }
    assert!(cases >= 10, "{cases}");
}
