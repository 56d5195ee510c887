//! TER (Snover et al. 2006): edits that make the hypothesis a reference, shifts of phrases among them, for each word of the reference.
//!
//! As sacreBLEU has it, after Tercom: the same shifts are tried, and no more (`edits`). With several references the fewest edits count,
//! over the mean length. The statistics of a sentence are these two numbers.

mod edits;
mod tokens;

use serde_json::{Value, json};

use super::metric::{Metric, Sampled, Workspace};
use super::ngram::Numbers;
use super::signature::{SACREBLEU, Setting, Signature, yes};
use super::space;

pub use edits::Edits;

/// TER with its options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ter {
    /// Punctuation apart, entities as characters.
    pub normalized: bool,
    /// No punctuation.
    pub no_punct: bool,
    /// With `normalized`, Chinese and Japanese characters apart; with `no_punct`, none of their punctuation.
    pub asian_support: bool,
    pub case_sensitive: bool,
}

impl Ter {
    /// The words of a line as numbers.
    fn words(&self, line: &str, twice: bool, work: &mut Numbers, out: &mut Vec<u32>) {
        let start = work.text.len();
        tokens::tokenize(self, line, &mut work.text);
        if twice && self.normalized {
            // sacreBLEU does so with references, which shows in entities such as `&amp;lt;`. The words of the first time have
            // single spaces between them.
            let once: Vec<&str> = space::words(&work.text[start..]).collect();
            let once = once.join(" ");
            work.text.truncate(start);
            tokens::tokenize(self, &once, &mut work.text);
        }
        work.words_from(start, out);
    }
}

impl Metric for Ter {
    fn name(&self) -> String {
        "TER".into()
    }
    fn width(&self) -> usize {
        2
    }
    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]) {
        let Workspace { numbers, hyp: ours, refs: lists, edits, .. } = work;
        if lists.is_empty() {
            lists.push(vec![]);
        }
        numbers.clear();
        self.words(hyp, false, numbers, ours);
        let (mut fewest, mut words) = (u64::MAX, 0);
        for line in refs {
            self.words(line, true, numbers, &mut lists[0]);
            fewest = fewest.min(edits.count(ours, &lists[0]));
            words += lists[0].len();
        }
        out.copy_from_slice(&[fewest as f64, words as f64 / refs.len() as f64]);
    }
    fn score(&self, stats: &[f64]) -> f64 {
        match (stats[0], stats[1]) {
            (edits, words) if words > 0.0 => 100.0 * (edits / words),
            (edits, _) if edits > 0.0 => 100.0,
            _ => 0.0,
        }
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        match (stats[0], stats[1]) {
            (edits, words) if words > 0.0 => Sampled::single(100.0 * (edits / words)),
            (edits, _) => Sampled::double(if edits > 0.0 { 100.0 } else { 0.0 }),
        }
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let own = vec![
            ("case", if self.case_sensitive { "mixed" } else { "lc" }.to_string()),
            ("tok", "tercom".to_string()),
            ("norm", yes(self.normalized)),
            ("punct", yes(!self.no_punct)),
            ("asian", yes(self.asian_support)),
        ];
        Signature::new(setting, own, SACREBLEU)
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        vec![("num_edits", json!(stats[0] as u64)), ("ref_length", json!(stats[1]))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ter(ter: Ter, hyp: &str, refs: &[&str]) -> [f64; 2] {
        let mut out = [0.0; 2];
        ter.statistics(refs, hyp, &mut Workspace::default(), &mut out);
        out
    }

    #[test]
    fn edits_and_mean_lengths() {
        let plain = Ter::default();
        assert_eq!(ter(plain, "A b C", &["a b c d", "a x"]), [1.0, 3.0]);
        assert_eq!(ter(plain, "c d a b", &["a b c d"]), [1.0, 4.0]);
        assert_eq!(ter(plain, "", &["a b"]), [2.0, 2.0]);
        assert_eq!(ter(plain, "a b", &[""]), [2.0, 0.0]);
        assert_eq!([plain.score(&[2.0, 0.0]), plain.score(&[0.0, 0.0])], [100.0, 0.0]);
        let cased = Ter { case_sensitive: true, ..plain };
        assert_eq!(ter(cased, "A b", &["a b"]), [1.0, 2.0]);
        // The reference is unescaped twice.
        let normal = Ter { normalized: true, ..plain };
        assert_eq!(ter(normal, "&lt;", &["&amp;lt;"]), [0.0, 1.0]);
        assert_eq!(ter(normal, "&amp;lt;", &["<"]), [0.0, 1.0]);
        // An ideographic space is none in `'s `, except the second time.
        assert_eq!(ter(normal, "5's\u{3000}a", &["5's\u{3000}a"]), [2.0, 3.0]);
    }
}
