//! (TER − BLEU) / 2, both in percent; lower is better.
//!
//! What Čmejrek 2014 ("Reordering Model for Forest-to-String Machine Translation", section 4) tunes and tests with: "(T − B)/2", T for TER and B for
//! BLEU. A TER of 55.3 and a BLEU of 31.3 are 12.0.

use serde_json::{Value, json};

use super::bleu::Bleu;
use super::metric::{Metric, Sampled, Workspace};
use super::signature::{SACREBLEU, Setting, Signature, yes};
use super::ter::Ter;

#[derive(Clone, Copy, Debug, Default)]
pub struct TerBleu {
    pub ter: Ter,
    pub bleu: Bleu,
}

impl TerBleu {
    /// The two scores.
    fn parts(&self, stats: &[f64]) -> (f64, f64) {
        let (ter, bleu) = stats.split_at(self.ter.width());
        (self.ter.score(ter), self.bleu.score(bleu))
    }
}

impl Metric for TerBleu {
    fn name(&self) -> String {
        "(TER-BLEU)/2".into()
    }
    fn width(&self) -> usize {
        self.ter.width() + self.bleu.width()
    }
    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]) {
        let (ter, bleu) = out.split_at_mut(self.ter.width());
        self.ter.statistics(refs, hyp, work, ter);
        self.bleu.statistics(refs, hyp, work, bleu);
    }
    fn score(&self, stats: &[f64]) -> f64 {
        let (ter, bleu) = self.parts(stats);
        (ter - bleu) / 2.0
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        let (ter, bleu) = stats.split_at(self.ter.width());
        Sampled::double((self.ter.score_single(ter).score - self.bleu.score_single(bleu).score) / 2.0)
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let bleu = self.bleu.signature(&Setting { refs: Some(0), ..Setting::default() }).0;
        let mut own: Vec<_> = bleu.into_iter().filter(|(k, _)| !["nrefs", "version"].contains(k)).collect();
        own.extend([
            ("ter.case", if self.ter.case_sensitive { "mixed" } else { "lc" }.to_string()),
            ("ter.norm", yes(self.ter.normalized)),
            ("ter.punct", yes(!self.ter.no_punct)),
            ("ter.asian", yes(self.ter.asian_support)),
        ]);
        Signature::new(setting, own, SACREBLEU)
    }
    fn verbose(&self, stats: &[f64]) -> String {
        let (ter, bleu) = self.parts(stats);
        format!("(TER = {ter:.2} BLEU = {bleu:.2})")
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        let (ter, bleu) = self.parts(stats);
        vec![("ter", json!(ter)), ("bleu", json!(bleu))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_difference() {
        let both = TerBleu::default();
        let mut row = vec![0.0; both.width()];
        both.statistics(&["a b c d e"], "a b c d x", &mut Workspace::default(), &mut row);
        let bleu = both.bleu.score(&row[2..]);
        assert_eq!(both.score(&row), (20.0 - bleu) / 2.0);
        assert!(bleu > 60.0 && bleu < 70.0);
        let single: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        assert!((both.score_single(&single).score - both.score(&row)).abs() < 1e-4);
    }
}
