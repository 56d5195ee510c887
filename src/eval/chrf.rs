//! chrF (Popović 2015) and chrF++ (Popović 2017): the F-score of character n-grams, and of word n-grams with `word_order`.
//!
//! The statistics of a sentence are, for every order, its n-grams, the reference's, and those they share, for the reference that
//! gives the best score of the sentence. The corpus score is of the sums: mean precision and mean recall over the orders that both
//! sides have (or, with `eps_smoothing`, the mean of the orders' F-scores). As sacreBLEU does; a sentence costs a sort of
//! its characters.

use serde_json::{Value, json};

use super::metric::{Metric, Real, Sampled, Workspace};
use super::ngram::{Matcher, Numbers};
use super::signature::{SACREBLEU, Setting, Signature, yes};
use super::space;

/// chrF with its options.
#[derive(Clone, Copy, Debug)]
pub struct Chrf {
    pub char_order: usize,
    pub word_order: usize,
    /// How many times as important recall is as precision.
    pub beta: u32,
    pub lowercase: bool,
    /// White space counts as characters.
    pub whitespace: bool,
    pub eps_smoothing: bool,
}

impl Default for Chrf {
    fn default() -> Self {
        Chrf { char_order: 6, word_order: 0, beta: 2, lowercase: false, whitespace: false, eps_smoothing: false }
    }
}

/// Where a precision is undefined.
const EPS: f64 = 1e-16;

impl Chrf {
    fn orders(&self) -> usize {
        self.char_order + self.word_order
    }

    /// The formula, and whether the result is a number of precision `T`: 0 is a plain number in sacreBLEU.
    fn f_score<T: Real>(&self, stats: &[T]) -> (f64, bool) {
        let (zero, factor) = (T::of(0.0), T::of(self.beta as f64 * self.beta as f64));
        let more = T::of(1.0 + self.beta as f64 * self.beta as f64);
        let (mut score, mut precision, mut recall) = (zero, zero, zero);
        let mut effective = 0;
        for row in stats.chunks(3) {
            let (hyp, reference, matched) = (row[0], row[1], row[2]);
            let p = if hyp > zero { matched / hyp } else { T::of(EPS) };
            let r = if reference > zero { matched / reference } else { T::of(EPS) };
            let below = factor * p + r;
            score = score + if below > zero { more * p * r / below } else { T::of(EPS) };
            if hyp > zero && reference > zero {
                precision = precision + p;
                recall = recall + r;
                effective += 1;
            }
        }
        if self.eps_smoothing {
            return ((T::of(100.0) * score / T::of(self.orders() as f64)).double(), true);
        }
        if effective > 0 {
            precision = precision / T::of(effective as f64);
            recall = recall / T::of(effective as f64);
        }
        if precision + recall == zero {
            return (0.0, false);
        }
        let f = more * precision * recall / (factor * precision + recall);
        ((T::of(100.0) * f).double(), true)
    }

    /// The numbers of the characters of a line.
    fn characters(&self, line: &str, numbers: &mut Numbers, out: &mut Vec<u32>) {
        out.clear();
        out.extend(line.chars().filter(|&c| self.whitespace || !space::is_space(c)).map(|c| numbers.char(c)));
    }

    /// Adds one reference's counts to `row`, which holds none yet.
    fn counts(hyp: &[u32], reference: &[u32], used: usize, matcher: &mut Matcher, row: &mut [f64]) {
        let mut matches = [0; 16];
        let mut many = vec![];
        let orders = row.len() / 3;
        let matches = match matches.get_mut(..orders) {
            Some(few) => few,
            None => {
                many.resize(orders, 0);
                &mut many
            }
        };
        matcher.count(hyp, &[reference], used, matches);
        for (n, (row, &matched)) in row.chunks_mut(3).zip(matches.iter()).enumerate() {
            let theirs = reference.len().saturating_sub(n);
            // N-grams of an order that the reference does not have are not held against the hypothesis.
            row[0] = if theirs == 0 { 0.0 } else { hyp.len().saturating_sub(n) as f64 };
            row[1] = theirs as f64;
            row[2] = matched as f64;
        }
    }
}

/// Words with one punctuation mark split off: at the end, or else at the beginning.
fn words(line: &str, numbers: &mut Numbers, out: &mut Vec<u32>) {
    out.clear();
    for word in space::words(line) {
        let (first, last) = (word.chars().next(), word.chars().next_back());
        let mark = |c: Option<char>| c.is_some_and(|c| c.is_ascii_punctuation());
        let cut = match word.chars().nth(1) {
            None => word.len(),
            _ if mark(last) => word.len() - 1,
            _ if mark(first) => 1,
            _ => word.len(),
        };
        for part in [&word[..cut], &word[cut..]] {
            if !part.is_empty() {
                let start = numbers.text.len();
                numbers.text.push_str(part);
                out.push(numbers.word(start, start + part.len()));
            }
        }
    }
}

impl Metric for Chrf {
    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order))
    }
    fn width(&self) -> usize {
        3 * self.orders()
    }

    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]) {
        let Workspace { numbers, matcher, hyp: ours, refs: lists, row, .. } = work;
        if lists.is_empty() {
            lists.push(vec![]);
        }
        let theirs = &mut lists[0];
        let hyp = &space::lower(hyp, self.lowercase);
        let mut best = -1.0;
        row.clear();
        row.resize(out.len(), 0.0);
        for line in refs {
            let line = &space::lower(line, self.lowercase);
            let (chars, rest) = row.split_at_mut(3 * self.char_order);
            numbers.clear();
            self.characters(hyp, numbers, ours);
            self.characters(line, numbers, theirs);
            Chrf::counts(ours, theirs, numbers.len(), matcher, chars);
            if self.word_order > 0 {
                numbers.clear();
                words(hyp, numbers, ours);
                words(line, numbers, theirs);
                Chrf::counts(ours, theirs, numbers.len(), matcher, rest);
            }
            let score = if refs.len() == 1 { 0.0 } else { self.f_score(&row[..]).0 };
            if score > best {
                best = score;
                out.copy_from_slice(row);
            }
        }
    }

    fn score(&self, stats: &[f64]) -> f64 {
        self.f_score(stats).0
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        let (score, single) = self.f_score(stats);
        Sampled { score, single }
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let own = vec![
            ("case", if self.lowercase { "lc" } else { "mixed" }.to_string()),
            ("eff", yes(!self.eps_smoothing)),
            ("nc", self.char_order.to_string()),
            ("nw", self.word_order.to_string()),
            ("space", yes(self.whitespace)),
        ];
        Signature::new(setting, own, SACREBLEU)
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        let column = |i: usize| stats.chunks(3).map(|row| row[i] as u64).collect::<Vec<_>>();
        vec![
            ("char_order", json!(self.char_order)),
            ("word_order", json!(self.word_order)),
            ("beta", json!(self.beta)),
            ("hyp_ngrams", json!(column(0))),
            ("ref_ngrams", json!(column(1))),
            ("matches", json!(column(2))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(chrf: &Chrf, hyp: &str, refs: &[&str]) -> Vec<f64> {
        let mut out = vec![0.0; chrf.width()];
        chrf.statistics(refs, hyp, &mut Workspace::default(), &mut out);
        out
    }

    #[test]
    fn counts_by_hand() {
        let chrf = Chrf { char_order: 2, word_order: 1, ..Chrf::default() };
        // Characters abac and aba; words `ab`, `ac` and `aba`.
        assert_eq!(row(&chrf, "ab ac", &["aba"]), [4.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 0.0]);
        // An order that the reference lacks does not count.
        assert_eq!(row(&chrf, "abc", &["a"]), [3.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        assert_eq!(chrf.score(&row(&chrf, "", &["a"])), 0.0);
        assert_eq!(chrf.score(&row(&chrf, "a b", &["a b"])), 100.0);
        assert_eq!(chrf.name(), "chrF2+");
    }

    #[test]
    fn punctuation_is_split_off_once() {
        let list = |line: &str| {
            let mut numbers = Numbers::default();
            let mut out = vec![];
            numbers.clear();
            words(line, &mut numbers, &mut out);
            numbers.text
        };
        assert_eq!(list("(hi) \"x ) .. é! —a"), "(hi)\"x)..é!—a");
        let count = |line: &str| {
            let (mut numbers, mut out) = (Numbers::default(), vec![]);
            numbers.clear();
            words(line, &mut numbers, &mut out);
            out
        };
        assert_eq!(count("(hi) (x ) a!"), [1, 2, 3, 4, 2, 5, 6]);
    }

    #[test]
    fn the_best_reference_counts() {
        let chrf = Chrf::default();
        assert_eq!(row(&chrf, "abcd", &["xyz", "abcd"]), row(&chrf, "abcd", &["abcd"]));
    }
}
