//! What a metric is: statistics of a sentence that add up, and the score of a sum.
//!
//! Statistics of a corpus are rows of numbers, one a sentence, made in parallel and added in order, so that a score does not
//! depend on the number of threads. Numbers are f64, exact for counts.

use std::ops::{Add, Div, Mul};

use rayon::prelude::*;
use serde_json::Value;

use super::corpus::{References, Sentences};
use super::ngram::{Matcher, Numbers};
use super::signature::{Setting, Signature};
use super::ter::Edits;
use crate::error::Result;

pub trait Metric: Sync {
    /// The name before the `=` of the score.
    fn name(&self) -> String;
    /// How many numbers the statistics of a sentence are.
    fn width(&self) -> usize;
    /// Writes the statistics of one sentence, which has at least one reference.
    fn statistics(&self, refs: &[&str], hyp: &str, work: &mut Workspace, out: &mut [f64]);
    /// The score of added statistics.
    fn score(&self, stats: &[f64]) -> f64;
    /// The score of statistics that were added in single precision, computed in single precision wherever NumPy 2 would: what
    /// sacreBLEU's bootstrap does.
    fn score_single(&self, stats: &[f32]) -> Sampled;
    fn signature(&self, setting: &Setting) -> Signature;
    /// What is printed behind the score.
    fn verbose(&self, _stats: &[f64]) -> String {
        String::new()
    }
    /// Further fields of the JSON object.
    fn fields(&self, _stats: &[f64]) -> Vec<(&'static str, Value)> {
        vec![]
    }
    /// An error for references that the metric cannot do with.
    fn check(&self, _refs: &References) -> Result<()> {
        Ok(())
    }
    /// Digits of a printed score behind the point.
    fn digits(&self) -> usize {
        2
    }
}

/// A score of a resample, and whether it is a number of single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    pub score: f64,
    pub single: bool,
}

impl Sampled {
    pub fn single(score: f32) -> Self {
        Sampled { score: score as f64, single: true }
    }
    pub fn double(score: f64) -> Self {
        Sampled { score, single: false }
    }
}

/// Memory that is kept from sentence to sentence.
#[derive(Default)]
pub struct Workspace {
    pub numbers: Numbers,
    pub matcher: Matcher,
    pub hyp: Vec<u32>,
    pub refs: Vec<Vec<u32>>,
    pub row: Vec<f64>,
    pub edits: Edits,
}

/// Rows of statistics, one a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    pub width: usize,
    pub rows: Vec<f64>,
}

/// Sentences that a thread takes at a time.
const BLOCK: usize = 64;

impl Statistics {
    /// Those of all sentences.
    pub fn of(metric: &dyn Metric, refs: &References, hyp: &Sentences) -> Self {
        let width = metric.width();
        let mut rows = vec![0.0; width * hyp.len()];
        rows.par_chunks_mut(width * BLOCK).enumerate().for_each_init(
            || (Workspace::default(), vec![]),
            |(work, lines), (block, rows)| {
                for (i, row) in rows.chunks_mut(width).enumerate() {
                    let i = block * BLOCK + i;
                    refs.get(i, lines);
                    metric.statistics(lines, hyp.get(i), work, row);
                }
            },
        );
        Statistics { width, rows }
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// The sum of all rows, added in order.
    pub fn sum(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.width];
        self.rows.chunks(self.width).for_each(|row| add(&mut sum, row));
        sum
    }

    /// Adds the rows of another run over the same sentences.
    pub fn add_run(&mut self, other: &Statistics) {
        add(&mut self.rows, &other.rows);
    }
}

fn add(sum: &mut [f64], row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(s, r)| *s += r);
}

/// f64 and f32, for formulas that are computed in both.
pub trait Real: Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    fn of(value: f64) -> Self;
    fn double(self) -> f64;
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }
    fn double(self) -> f64 {
        self
    }
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }
    fn double(self) -> f64 {
        self as f64
    }
}
