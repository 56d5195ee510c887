//! RIBES (Isozaki et al. 2010; Hirao et al. 2014): rank correlation of the words that hypothesis and reference share.
//!
//! As RIBES.py 1.03.1 has it. A word that both sides have once is aligned; any other by the shortest context, grown to the left or
//! to the right (left first), that both sides have exactly once. The score of a sentence is
//! NKT · precision^alpha · BP^beta: the share of aligned pairs in ascending order, the share of words of the hypothesis that are
//! aligned, and BLEU's brevity penalty of the sentence. The best reference counts; the corpus has the mean over sentences.
//! Words stand between ASCII white space alone, since version 1.03; letters are made small. An empty reference is an error,
//! or no reference with `empty_refs` (the script's `-z`).
//!
//! The shortest context is found from the two longest matches of every position instead of by trying windows: a sentence
//! of n words costs n² steps whatever its words, and no search within.

use serde_json::{Value, json};

use super::corpus::References;
use super::metric::{Metric, Sampled, Workspace};
use super::order::ascending_pairs;
use super::signature::{Setting, Signature};
use super::space;
use crate::error::{Error, Result};

/// RIBES with its options.
#[derive(Clone, Copy, Debug)]
pub struct Ribes {
    pub alpha: f64,
    pub beta: f64,
    pub case_sensitive: bool,
    /// Empty references are none; a sentence without any does not count.
    pub empty_refs: bool,
}

impl Default for Ribes {
    fn default() -> Self {
        Ribes { alpha: 0.25, beta: 0.1, case_sensitive: false, empty_refs: false }
    }
}

/// White space between words.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Normalised Kendall tau, precision, and brevity penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    pub nkt: f64,
    pub precision: f64,
    pub bp: f64,
}

impl Parts {
    /// Of words as numbers. `reference` must have some.
    pub fn of(hyp: &[u32], reference: &[u32]) -> Self {
        if hyp.is_empty() {
            return Parts { nkt: 0.0, precision: 0.0, bp: 0.0 };
        }
        let bp = (1.0 - reference.len() as f64 / hyp.len() as f64).exp().min(1.0);
        let ranks = ranks(hyp, reference);
        let n = ranks.len() as u64;
        if n == 1 && reference.len() == 1 {
            return Parts { nkt: 1.0, precision: 1.0 / hyp.len() as f64, bp };
        }
        if n < 2 {
            return Parts { nkt: 0.0, precision: 0.0, bp };
        }
        let nkt = ascending_pairs(&ranks) as f64 / (n * (n - 1) / 2) as f64;
        Parts { nkt, precision: n as f64 / hyp.len() as f64, bp }
    }
}

/// The places in the reference of the words of the hypothesis that can be aligned.
fn ranks(hyp: &[u32], reference: &[u32]) -> Vec<u32> {
    let left = longest(hyp, reference);
    let turned = |words: &[u32]| words.iter().rev().copied().collect::<Vec<_>>();
    let mut right = longest(&turned(hyp), &turned(reference));
    right.reverse();
    let mut ranks = vec![];
    for (l, r) in left.iter().zip(&right) {
        // The longest match of at least one word is there if the word is; a context of one word is unique if the word is.
        let last = reference.len() - 1;
        let place = match (l.unique(1), l.unique(2), r.unique(2)) {
            (Some(1), ..) => Some(l.place),
            (_, Some(x), Some(y)) => Some(if x <= y { l.place } else { last - r.place }),
            (_, Some(_), None) => Some(l.place),
            (_, None, Some(_)) => Some(last - r.place),
            _ => None,
        };
        ranks.extend(place.map(|p| p as u32));
    }
    ranks
}

/// How far back a position of the hypothesis agrees with other positions.
#[derive(Clone, Copy, Default)]
struct Match {
    /// With any other position of the hypothesis.
    own: usize,
    /// With the best position of the reference, and with the second best.
    first: usize,
    second: usize,
    /// The best position.
    place: usize,
}

impl Match {
    /// The fewest words, at least `least`, that are once in both sentences.
    fn unique(&self, least: usize) -> Option<usize> {
        let words = least.max(self.own + 1).max(self.second + 1);
        (words <= self.first).then_some(words)
    }
}

/// The matches of every position of `hyp`: how many words up to it are those up to another position.
fn longest(hyp: &[u32], reference: &[u32]) -> Vec<Match> {
    let mut matches = vec![Match::default(); hyp.len()];
    // Row i has the common words of hyp[..=i] and other[..=j], from one row to the next.
    let (mut own, mut other) = (vec![0; hyp.len() + 1], vec![0; reference.len() + 1]);
    for (i, &word) in hyp.iter().enumerate() {
        let m = &mut matches[i];
        for j in (0..hyp.len()).rev() {
            own[j + 1] = if hyp[j] == word { own[j] + 1 } else { 0 };
            if i != j {
                m.own = m.own.max(own[j + 1]);
            }
        }
        for j in (0..reference.len()).rev() {
            let common = if reference[j] == word { other[j] + 1 } else { 0 };
            other[j + 1] = common;
            if common > m.first {
                (m.second, m.first, m.place) = (m.first, common, j);
            } else {
                m.second = m.second.max(common);
            }
        }
    }
    matches
}

impl Ribes {
    /// The score of a sentence against its best reference; none without references.
    pub fn sentence(&self, refs: &[&str], hyp: &str, work: &mut Workspace) -> Option<f64> {
        let Workspace { numbers, hyp: ours, refs: lists, .. } = work;
        if lists.is_empty() {
            lists.push(vec![]);
        }
        numbers.clear();
        let mut read = |line: &str, out: &mut Vec<u32>| {
            out.clear();
            for word in space::lower(line, !self.case_sensitive).split(is_space).filter(|w| !w.is_empty()) {
                let start = numbers.text.len();
                numbers.text.push_str(word);
                out.push(numbers.word(start, start + word.len()));
            }
        };
        read(hyp, ours);
        let mut best: Option<f64> = None;
        for line in refs {
            read(line, &mut lists[0]);
            if lists[0].is_empty() {
                continue;
            }
            let Parts { nkt, precision, bp } = Parts::of(ours, &lists[0]);
            let score = nkt * precision.powf(self.alpha) * bp.powf(self.beta);
            best = Some(best.map_or(score, |b| b.max(score)));
        }
        best
    }
}

impl Metric for Ribes {
    fn name(&self) -> String {
        "RIBES".into()
    }
    fn width(&self) -> usize {
        2
    }
    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]) {
        let score = self.sentence(refs, hyp, work);
        out.copy_from_slice(&score.map_or([0.0, 0.0], |s| [s, 1.0]));
    }
    fn score(&self, stats: &[f64]) -> f64 {
        if stats[1] == 0.0 { 0.0 } else { stats[0] / stats[1] }
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        Sampled::double(self.score(&[stats[0] as f64, stats[1] as f64]))
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let own = vec![
            ("case", if self.case_sensitive { "mixed" } else { "lc" }.to_string()),
            ("alpha", self.alpha.to_string()),
            ("beta", self.beta.to_string()),
        ];
        Signature::new(setting, own, "RIBES-1.03.1")
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        vec![("sentences", json!(stats[1] as u64)), ("alpha", json!(self.alpha)), ("beta", json!(self.beta))]
    }
    fn check(&self, refs: &References) -> Result<()> {
        if self.empty_refs {
            return Ok(());
        }
        for file in &refs.files {
            if let Some(i) = file.iter().position(|line| line.split(is_space).all(str::is_empty)) {
                let message = "the reference has no words; --emptyref leaves such references out";
                return Err(Error::text(&file.file, i + 1, 1, message));
            }
        }
        Ok(())
    }
    fn digits(&self) -> usize {
        6
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    /// Windows tried one after the other, occurrences counted.
    fn naive(hyp: &[u32], reference: &[u32]) -> Vec<u32> {
        let times = |words: &[u32], gram: &[u32]| words.windows(gram.len()).filter(|w| *w == gram).count();
        let once = |gram: &[u32]| times(reference, gram) == 1 && times(hyp, gram) == 1;
        let find = |gram: &[u32]| reference.windows(gram.len()).position(|w| w == gram).unwrap();
        let mut ranks = vec![];
        for i in 0..hyp.len() {
            if !reference.contains(&hyp[i]) {
                continue;
            }
            if once(&hyp[i..=i]) {
                ranks.push(find(&hyp[i..=i]) as u32);
                continue;
            }
            for window in 1..(i + 1).max(hyp.len() - i + 1) {
                if window <= i && once(&hyp[i - window..=i]) {
                    ranks.push((find(&hyp[i - window..=i]) + window) as u32);
                    break;
                }
                if i + window < hyp.len() && once(&hyp[i..=i + window]) {
                    ranks.push(find(&hyp[i..=i + window]) as u32);
                    break;
                }
            }
        }
        ranks
    }

    #[test]
    fn contexts_are_those_of_windows() {
        let mut rng = SmallRng::seed_from_u64(8);
        for round in 0..5000 {
            let words = 1 + round % 9;
            let mut sentence =
                |most| -> Vec<u32> { (0..rng.random_range(1..most)).map(|_| rng.random_range(0..=words)).collect() };
            let (hyp, reference) = (sentence(14), sentence(14));
            assert_eq!(ranks(&hyp, &reference), naive(&hyp, &reference), "{hyp:?} {reference:?}");
        }
    }

    #[test]
    fn sentences_by_hand() {
        let ribes = Ribes::default();
        let score = |hyp: &str, refs: &[&str]| ribes.sentence(refs, hyp, &mut Workspace::default());
        assert_eq!(score("a b c", &["A b C"]), Some(1.0));
        assert_eq!(score("c b a", &["a b c"]), Some(0.0));
        assert_eq!(score("", &["a"]), Some(0.0));
        assert_eq!(score("a", &["a"]), Some(1.0));
        assert_eq!(score("a", &[""]), None);
        // Two of three pairs ascend; three of four words are aligned; no penalty.
        let want = 2.0 / 3.0 * 0.75f64.powf(0.25);
        assert_eq!(score("a x c b", &["a b c"]), Some(want));
        assert_eq!(score("a x c b", &["q", "a b c"]), Some(want));
        // An ideographic space is part of a word.
        assert_eq!(score("a\u{3000}b c", &["a b c"]), Some(0.0));
    }
}
