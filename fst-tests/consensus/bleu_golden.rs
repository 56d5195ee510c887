//! Sentence and corpus BLEU that sacreBLEU 2.6.0 gives: `BLEU(tokenize="none")`, for sentences with `effective_order=True`.

use weft::eval::bleu::BleuStats;
use weft::rescore::oracle::Reference;
use weft::rescore::oracle::bleu::References;

/// Hypothesis, references, sentence BLEU.
const SENTENCES: [(&str, &[&str], f64); 24] = [
    ("a d c", &["b d c a", "c"], 45.1386440550),
    ("c e", &["b e", "e"], 50.0000000000),
    ("e a e c", &["d d e e a", "d c a c a e"], 35.1862973998),
    ("c b c b c d", &["c b c b b d a", "d b c c b e a c"], 47.6011654924),
    ("e d", &["e d", "d d b b a"], 100.0000000000),
    ("d e a b e", &["d e a b e", "e e d a d e b"], 100.0000000000),
    ("a e e", &["b e e", "c b"], 55.0321208149),
    ("d", &["d c c", "e a c d c e"], 13.5335283237),
    ("c", &["c b e e", "a a b c d c b b"], 4.9787068368),
    ("a", &["b c e c e a b c", "e c d d b e"], 0.6737946999),
    ("d e c", &["d c c", "e b a e a e a"], 39.6850262992),
    ("d b a", &["d b e", "e c a d a c b d"], 62.9960524947),
    ("c a c d d", &["e a c b d b", "d e c a"], 28.1170662595),
    ("c d a e a a", &["c d a e a a c b", "e a a d a a d d c"], 71.6531310574),
    ("e b e b e d", &["e c e b e d d c a", "e b c d d d"], 53.7284965912),
    ("a e d b d c", &["a e d c d a", "e e a c c c"], 37.9917842826),
    ("e d b b", &["e d b b", "c c c e c e"], 100.0000000000),
    ("a d b e b a a e", &["d d b e d a a e", "d b a b b e"], 37.9917842826),
    ("c b d b e", &["a b d b e", "a a"], 66.8740304976),
    ("e d c", &["e d c", "d"], 100.0000000000),
    ("a b a e a c b c", &["c b a e c c b c", "b c a"], 34.5720784642),
    ("d c d", &["e c d", "b a c a c e b"], 55.0321208149),
    ("c", &["c e c d c", "e a b b a e"], 1.8315638889),
    ("e e x a d b", &["c e d a d b d a", "a e e c a"], 37.9917842826),
];

/// Of all of them together: with both references, with the first one only.
const CORPUS: [f64; 2] = [42.7049200354, 36.8942351936];

fn stats(hypothesis: &str, references: &[&str]) -> BleuStats {
    let reference = Reference::new(references);
    let words: Vec<u32> = hypothesis.split_whitespace().map(|w| reference.number(w)).collect();
    References::new(&reference.words).stats(&words)
}

#[test]
fn the_numbers_of_sacrebleu() {
    let mut totals = [BleuStats::default(), BleuStats::default()];
    for (hypothesis, references, want) in SENTENCES {
        let s = stats(hypothesis, references);
        assert!((s.sentence_bleu() - want).abs() < 1e-9, "{hypothesis:?}: {} and not {want}", s.sentence_bleu());
        totals[0] += s;
        totals[1] += stats(hypothesis, &references[..1]);
    }
    for (total, want) in totals.iter().zip(CORPUS) {
        assert!((total.corpus_bleu() - want).abs() < 1e-9, "{} and not {want}", total.corpus_bleu());
    }
}
