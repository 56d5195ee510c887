//! BLEU (Papineni et al. 2002) with the tokenisers and smoothing methods of sacreBLEU.
//!
//! The statistics of a sentence are its length, the length of the closest reference (the shorter one of two that are as
//! close), and for orders 1 to 4 its n-grams and how many of them are in a reference, clipped by the reference that has
//! an n-gram most often. Corpus BLEU is the score of the sum. Smoothing as in Chen and Cherry 2014 ("A Systematic Comparison of
//! Smoothing Techniques for Sentence-Level BLEU"), methods 1 to 3. A sentence costs a sort of its words.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::metric::{Metric, Real, Sampled, Workspace};
use super::ngram::Matcher;
use super::signature::{SACREBLEU, Setting, Signature, yes};
use super::space;
use super::tokenize::Tokenizer;

/// The longest n-grams.
pub const ORDER: usize = 4;

/// What becomes of orders of which nothing matches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Smoothing {
    /// The score is 0.
    None,
    /// Their count of matches is this.
    Floor(f64),
    /// All orders but the first have this many more n-grams, all matching.
    AddK(f64),
    /// The first has half a match, the next a quarter, and so on.
    #[default]
    Exp,
}

/// The names of the smoothing methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SmoothMethod {
    /// No smoothing
    None,
    /// No matches count as 0.1, or --smooth-value
    Floor,
    /// 1, or --smooth-value, is added to matches and n-grams of orders 2 to 4
    AddK,
    /// The first order without matches counts as half a match, the next as a quarter, ...
    #[default]
    Exp,
}

impl Smoothing {
    /// A method with its value, or sacreBLEU's value for it.
    pub fn new(method: SmoothMethod, value: Option<f64>) -> Self {
        match method {
            SmoothMethod::None => Smoothing::None,
            SmoothMethod::Floor => Smoothing::Floor(value.unwrap_or(0.1)),
            SmoothMethod::AddK => Smoothing::AddK(value.unwrap_or(1.0)),
            SmoothMethod::Exp => Smoothing::Exp,
        }
    }

    fn signature(self) -> String {
        match self {
            Smoothing::None => "none".into(),
            Smoothing::Floor(v) => format!("floor[{v:.2}]"),
            Smoothing::AddK(v) => format!("add-k[{v:.2}]"),
            Smoothing::Exp => "exp".into(),
        }
    }
}

/// What BLEU is made of; of a sentence or, added up, of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BleuStats {
    /// Words of the hypothesis.
    pub sys_len: u64,
    /// Words of the closest reference.
    pub ref_len: u64,
    /// Matching n-grams.
    pub counts: [u64; ORDER],
    /// N-grams of the hypothesis.
    pub totals: [u64; ORDER],
}

/// A score and its parts; precisions in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BleuScore {
    pub score: f64,
    pub precisions: [f64; ORDER],
    pub bp: f64,
}

impl BleuStats {
    /// Of words as numbers from 1 to `used`, against one reference or more.
    pub fn of(hyp: &[u32], refs: &[&[u32]], used: usize, matcher: &mut Matcher) -> Self {
        let mut counts = [0; ORDER];
        matcher.count(hyp, refs, used, &mut counts);
        let totals = std::array::from_fn(|n| hyp.len().saturating_sub(n) as u64);
        let closest = refs.iter().map(|r| r.len()).min_by_key(|&len| (len.abs_diff(hyp.len()), len));
        BleuStats { sys_len: hyp.len() as u64, ref_len: closest.unwrap_or(0) as u64, counts, totals }
    }

    /// With `effective_order`, orders that the hypothesis is too short for do not count: for single sentences.
    pub fn score(&self, smoothing: Smoothing, effective_order: bool) -> BleuScore {
        let real = |a: [u64; ORDER]| a.map(|x| x as f64);
        compute(real(self.counts), real(self.totals), (self.sys_len, self.ref_len), smoothing, effective_order)
    }

    /// 0 to 100, of a single sentence: sacreBLEU's defaults for one.
    pub fn sentence_bleu(&self) -> f64 {
        self.score(Smoothing::Exp, true).score
    }
    /// 0 to 100, of the sum over sentences: sacreBLEU's defaults.
    pub fn corpus_bleu(&self) -> f64 {
        self.score(Smoothing::Exp, false).score
    }

    /// Precisions, brevity penalty and lengths, as sacreBLEU prints them after a score.
    pub fn verbose(&self, score: &BleuScore) -> String {
        let precisions = score.precisions.map(|p| format!("{p:.1}")).join("/");
        let (bp, ratio) = (score.bp, ratio(self));
        format!("{precisions} (BP = {bp:.3} ratio = {ratio:.3} hyp_len = {} ref_len = {})", self.sys_len, self.ref_len)
    }

    fn from_row<T: Real>(row: &[T]) -> Self {
        let whole = |i: usize| row[i].double() as u64;
        BleuStats {
            sys_len: whole(0),
            ref_len: whole(1),
            counts: std::array::from_fn(|n| whole(2 + n)),
            totals: std::array::from_fn(|n| whole(2 + ORDER + n)),
        }
    }
}

impl AddAssign for BleuStats {
    fn add_assign(&mut self, other: Self) {
        self.sys_len += other.sys_len;
        self.ref_len += other.ref_len;
        for n in 0..ORDER {
            self.counts[n] += other.counts[n];
            self.totals[n] += other.totals[n];
        }
    }
}

impl Add for BleuStats {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// What remains when a part is taken away again; it must be a part.
impl Sub for BleuStats {
    type Output = Self;
    fn sub(self, part: Self) -> Self {
        BleuStats {
            sys_len: self.sys_len - part.sys_len,
            ref_len: self.ref_len - part.ref_len,
            counts: std::array::from_fn(|n| self.counts[n] - part.counts[n]),
            totals: std::array::from_fn(|n| self.totals[n] - part.totals[n]),
        }
    }
}

impl Sum for BleuStats {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

/// The formula; in single precision up to the logarithms if `T` is f32.
fn compute<T: Real>(
    counts: [T; ORDER],
    totals: [T; ORDER],
    (sys_len, ref_len): (u64, u64),
    smoothing: Smoothing,
    effective_order: bool,
) -> BleuScore {
    let bp = match (sys_len, ref_len) {
        (s, r) if s >= r => 1.0,
        (0, _) => 0.0,
        (s, r) => (1.0 - r as f64 / s as f64).exp(),
    };
    let (zero, hundred) = (T::of(0.0), T::of(100.0));
    let mut precisions = [0.0; ORDER];
    if counts.iter().all(|&c| c == zero) {
        return BleuScore { score: 0.0, precisions, bp };
    }
    let mut smooth = 1.0;
    let mut order = ORDER;
    for n in 0..ORDER {
        let (mut count, mut total) = (counts[n], totals[n]);
        if let (Smoothing::AddK(k), 1..) = (smoothing, n) {
            count = count + T::of(k);
            total = total + T::of(k);
        }
        if total == zero {
            break;
        }
        if effective_order {
            order = n + 1;
        }
        let precision = match smoothing {
            _ if count != zero => hundred * count / total,
            Smoothing::Exp => {
                smooth *= 2.0;
                hundred / (T::of(smooth) * total)
            }
            Smoothing::Floor(v) => T::of(100.0 * v) / total,
            _ => zero,
        };
        precisions[n] = precision.double();
    }
    // The logarithm of 0 is a very small number.
    let log = |p: f64| if p == 0.0 { -9_999_999_999.0 } else { p.ln() };
    let sum = precisions[..order].iter().fold(0.0, |sum, &p| sum + log(p));
    BleuScore { score: bp * (sum / order as f64).exp(), precisions, bp }
}

/// BLEU with its options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bleu {
    pub tokenizer: Tokenizer,
    pub smoothing: Smoothing,
    pub lowercase: bool,
    pub effective_order: bool,
}

impl Bleu {
    /// The statistics of a line of text.
    pub fn stats(&self, refs: &[&str], hyp: &str, work: &mut Workspace) -> BleuStats {
        let Workspace { numbers, matcher, hyp: words, refs: lists, .. } = work;
        numbers.clear();
        if lists.len() < refs.len() {
            lists.resize_with(refs.len(), Vec::new);
        }
        let mut number = |line: &str, out: &mut Vec<u32>| {
            let start = numbers.text.len();
            self.tokenizer.tokenize(space::trim_end(&space::lower(line, self.lowercase)), &mut numbers.text);
            numbers.words_from(start, out);
        };
        number(hyp, words);
        for (line, out) in refs.iter().zip(lists.iter_mut()) {
            number(line, out);
        }
        match refs.len() {
            1 => BleuStats::of(words, &[&lists[0]], numbers.len(), matcher),
            n => {
                let lists: Vec<&[u32]> = lists[..n].iter().map(|l| &l[..]).collect();
                BleuStats::of(words, &lists, numbers.len(), matcher)
            }
        }
    }

    fn parts(&self, stats: &[f64]) -> (BleuStats, BleuScore) {
        let stats = BleuStats::from_row(stats);
        (stats, stats.score(self.smoothing, self.effective_order))
    }
}

impl Metric for Bleu {
    fn name(&self) -> String {
        "BLEU".into()
    }
    fn width(&self) -> usize {
        2 + 2 * ORDER
    }
    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]) {
        let stats = self.stats(refs, hyp, work);
        let all = [stats.sys_len, stats.ref_len].into_iter().chain(stats.counts).chain(stats.totals);
        out.iter_mut().zip(all).for_each(|(o, x)| *o = x as f64);
    }
    fn score(&self, stats: &[f64]) -> f64 {
        self.parts(stats).1.score
    }
    fn score_single(&self, stats: &[f32]) -> Sampled {
        let row: &[f32; 2 + 2 * ORDER] = stats.try_into().expect("the width of BLEU");
        let lengths = (row[0] as u64, row[1] as u64);
        let of = |from: usize| std::array::from_fn(|n| row[from + n]);
        Sampled::double(compute(of(2), of(2 + ORDER), lengths, self.smoothing, self.effective_order).score)
    }
    fn signature(&self, setting: &Setting) -> Signature {
        let own = vec![
            ("case", if self.lowercase { "lc" } else { "mixed" }.to_string()),
            ("eff", yes(self.effective_order)),
            ("tok", self.tokenizer.name().to_string()),
            ("smooth", self.smoothing.signature()),
        ];
        Signature::new(setting, own, SACREBLEU)
    }
    fn verbose(&self, stats: &[f64]) -> String {
        let (stats, score) = self.parts(stats);
        stats.verbose(&score)
    }
    fn fields(&self, stats: &[f64]) -> Vec<(&'static str, Value)> {
        let (stats, score) = self.parts(stats);
        vec![
            ("counts", json!(stats.counts)),
            ("totals", json!(stats.totals)),
            ("precisions", json!(score.precisions)),
            ("bp", json!(score.bp)),
            ("ratio", json!(ratio(&stats))),
            ("sys_len", json!(stats.sys_len)),
            ("ref_len", json!(stats.ref_len)),
        ]
    }
}

fn ratio(stats: &BleuStats) -> f64 {
    if stats.ref_len == 0 { 0.0 } else { stats.sys_len as f64 / stats.ref_len as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(hyp: &str, refs: &[&str]) -> BleuStats {
        Bleu::default().stats(refs, hyp, &mut Workspace::default())
    }

    #[test]
    fn counts_are_clipped_and_lengths_closest() {
        let s = stats("the the the cat", &["the cat sat", "the the dog barks loudly"]);
        assert_eq!((s.counts, s.totals), ([3, 2, 0, 0], [4, 3, 2, 1]));
        // 3 and 5 are as close to 4: the shorter one.
        assert_eq!((s.sys_len, s.ref_len), (4, 3));
        let empty = stats("", &["a b"]);
        assert_eq!((empty.counts, empty.totals, empty.ref_len), ([0; 4], [0; 4], 2));
    }

    #[test]
    fn parts_add_up_and_come_off() {
        let (a, b) = (stats("a b c d", &["a b d"]), stats("x y", &["x y z"]));
        let all: BleuStats = [a, b].into_iter().sum();
        assert_eq!(all, a + b);
        assert_eq!(all - b, a);
    }

    /// By hand: precisions 3/4, 1/3, none, none; no brevity penalty.
    #[test]
    fn smoothing_by_hand() {
        let s = stats("a b x c", &["a b y c"]);
        let score = |smoothing, eff| s.score(smoothing, eff).score;
        let mean = |p: [f64; 4]| (p.iter().map(|x| (100.0 * x).ln()).sum::<f64>() / 4.0).exp();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(score(Smoothing::Exp, false), mean([0.75, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 4.0]));
        near(score(Smoothing::Floor(0.1), false), mean([0.75, 1.0 / 3.0, 0.1 / 2.0, 0.1]));
        near(score(Smoothing::AddK(1.0), false), mean([0.75, 2.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0]));
        near(score(Smoothing::None, false), 0.0);
        // Two words have no orders 3 and 4.
        let two = stats("a b", &["a b"]);
        near(two.score(Smoothing::Exp, true).score, 100.0);
        near(two.score(Smoothing::Exp, false).score, 0.0);
        // Nothing in common is 0 whatever the smoothing.
        assert_eq!(stats("a", &["b"]).score(Smoothing::AddK(1.0), true).score, 0.0);
        assert_eq!(stats("", &["b"]).score(Smoothing::Exp, true).bp, 0.0);
    }

    #[test]
    fn both_precisions_agree() {
        let bleu = Bleu::default();
        let mut row = [0.0; 10];
        bleu.statistics(&["the cat sat on the mat ."], "the cat is on the mat .", &mut Workspace::default(), &mut row);
        let single: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        assert!((bleu.score(&row) - bleu.score_single(&single).score).abs() < 1e-4);
    }
}
