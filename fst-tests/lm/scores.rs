//! Scores: against the definition.

use proptest::prelude::*;
use weft::format::io;
use weft::lm::query::{QueryConfig, query};
use weft::lm::{LN_10, LanguageModel, UNKNOWN, arpa, binary};

use super::backoff::backoff;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every word of a random sentence scores as the definition says, with the length of the n-gram that matched and
    /// within the bounds that pruning believes in; `step` and `score` agree.
    #[test]
    fn scores_are_those_of_the_definition(b in backoff(), words in proptest::collection::vec(0..7usize, 0..12)) {
        let names = ["a", "b", "c", "<unk>", "</s>", "<s>", "never-seen"];
        let model = b.model();
        let mut history = vec!["<s>".to_string()];
        let mut state = model.begin().unwrap();
        for &i in &words {
            let word = b.known(&[names[i]]).remove(0);
            let id = model.word(names[i]).unwrap_or(UNKNOWN);
            let (want, length) = b.log10(&history, &word);
            let scored = model.score(state, id);
            prop_assert!((scored.log10 as f64 - want).abs() < 1e-5, "{word} after {history:?}: {} not {want}", scored.log10);
            prop_assert_eq!(scored.length as usize, length, "{} after {:?}", word, &history);
            let (next, cost) = model.step(state, id);
            prop_assert_eq!(next, scored.state);
            prop_assert!((cost + want * LN_10).abs() < 1e-9, "{cost} {want}");
            let (least, most) = model.cost_bounds(id);
            prop_assert!(least <= cost && cost <= most, "{least} {cost} {most}");
            state = next;
            history.push(word);
        }
    }

    /// A prepared model takes every step that it took before, to the last bit.
    #[test]
    fn preparing_changes_nothing(b in backoff()) {
        let (plain, prepared) = (b.model(), b.model());
        prepared.prepare();
        for state in 0..plain.num_states() as u32 {
            for word in 0..plain.vocab().len() as u32 {
                let (a, b) = (plain.step(state, word), prepared.step(state, word));
                prop_assert_eq!((a.0, a.1.to_bits()), (b.0, b.1.to_bits()), "word {} in state {}", word, state);
            }
        }
    }

    /// States are minimal in what they remember: two histories in one state have the same future, and a history whose
    /// last words no n-gram extends is in the state of fewer words.
    #[test]
    fn states_are_contexts_that_matter(b in backoff(), words in proptest::collection::vec(0..4usize, 0..6)) {
        let names = ["a", "b", "c", "<unk>"];
        let model = b.model();
        let mut state = model.null();
        let mut history: Vec<String> = vec![];
        for &i in &words {
            state = model.step(state, model.word(names[i]).unwrap_or(UNKNOWN)).0;
            history.push(names[i].to_string());
        }
        let matters = |context: &[String]| {
            context.len() < b.order
                && b.filled.iter().any(|(k, &(_, back))| {
                    (k.len() > context.len() && k[..context.len()] == *context) || (k == context && back != 0.0)
                })
        };
        let want = (0..=history.len()).find(|&from| from == history.len() || matters(&history[from..])).unwrap();
        prop_assert_eq!(model.length(state) as usize, history.len() - want);
    }

    /// A compiled model is the model, through a file and compressed.
    #[test]
    fn binary_files_are_the_model(b in backoff()) {
        let model = b.model();
        let dir = tempfile::tempdir().unwrap();
        for name in ["m.bin", "m.bin.gz"] {
            let path = dir.path().join(name);
            let path = path.to_str().unwrap();
            binary::write(path, &model).unwrap();
            let again = binary::load(path).unwrap();
            prop_assert_eq!(again.block().bytes(), model.block().bytes());
            prop_assert_eq!(again.block().is_mapped(), name == "m.bin");
        }
    }
}

#[test]
fn layout_of_the_text_does_not_matter() {
    let text = "made by hand\n\n\\data\\\nngram 1 = 4\r\nngram  2=2\n\n\n\\1-grams:\n-1.5 <s> -0.5\n\n-1\t</s>\n-2  a\t-0.25 \n\
                -3 <UNK>\n\n\\2-grams:\n -0.5 <s>   a \r\n-0.25\ta </s>\n\\end\\\n\n";
    let model = arpa::read_from(io::from_bytes("t", text.as_bytes().to_vec()).unwrap()).unwrap();
    assert_eq!((model.order(), model.counts()), (2, &[4, 2][..]));
    let mut out = vec![];
    let config = QueryConfig { words: true, sentences: true, summary: true, json: false, boundaries: true };
    let text = io::from_bytes("q", b"a\nb a\n\na".to_vec()).unwrap();
    query(&model, text, &mut out, &config).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(
        out.lines().take(4).collect::<Vec<_>>(),
        [
            "a=3 2 -0.5\t</s>=2 2 -0.25\tTotal: -0.75 OOV: 0",
            "b=0 1 -3.5\ta=3 1 -2\t</s>=2 2 -0.25\tTotal: -5.75 OOV: 1",
            "</s>=2 1 -1.5\tTotal: -1.5 OOV: 0",
            "a=3 2 -0.5\t</s>=2 2 -0.25\tTotal: -0.75 OOV: 0",
        ]
    );
    assert!(out.ends_with("OOVs:\t1\nTokens:\t8\n"), "{out}");
}
