//! Exact matches: the share of sentences that are word for word a reference, in percent.
//!
//! The Sentence Precision Rate of de Gispert, Tomalin and Byrne 2014 ("Word Ordering with Phrase-Based Grammars", section 3.3 and Figure 8):
//! "the percentage of exactly reconstructed sentences". Words are what stands between white space.

use serde_json::{Value, json};

use super::metric::{Metric, Sampled, Workspace};
use super::signature::{Setting, Signature};
use super::space;

#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    pub lowercase: bool,
}

impl Metric for Exact {
    fn name(&self) -> String {
        "SPR".into()
    }
    fn width(&self) -> usize {
        2
    }
    fn statistics(&self, refs: &[&str], hyp: &str, _work: &mut Workspace, out: &mut [f64]) {
        let hyp = space::lower(hyp, self.lowercase);
        let same = |line: &&str| space::words(&space::lower(line, self.lowercase)).eq(space::words(&hyp));
        out.copy_from_slice(&[f64::from(refs.iter().any(same)), 1.0]);
    }
    fn score(&self, stats: &[f64]) -> f64 {
        100.0 * stats[0] / stats[1]
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        Sampled::double(self.score(&[stats[0] as f64, stats[1] as f64]))
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let case = if self.lowercase { "lc" } else { "mixed" }.to_string();
        Signature::new(setting, vec![("case", case)], concat!("weft-", env!("CARGO_PKG_VERSION")))
    }
    fn verbose(&self, stats: &[f64]) -> String {
        format!("({} of {} sentences)", stats[0], stats[1])
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        vec![("matches", json!(stats[0] as u64)), ("sentences", json!(stats[1] as u64))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_not_spaces() {
        let exact = |lowercase, hyp: &str, refs: &[&str]| {
            let mut out = [0.0; 2];
            Exact { lowercase }.statistics(refs, hyp, &mut Workspace::default(), &mut out);
            out[0]
        };
        assert_eq!(exact(false, "a  b", &["x", "a b "]), 1.0);
        assert_eq!(exact(false, "A b", &["a b"]), 0.0);
        assert_eq!(exact(true, "A b", &["a b"]), 1.0);
        assert_eq!(exact(false, "", &[""]), 1.0);
        assert_eq!(Exact::default().score(&[1.0, 4.0]), 25.0);
    }
}
