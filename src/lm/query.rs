//! Scores of sentences: per word, per sentence and of a whole text, with the arithmetic and the counts of KenLM's `query`.
//!
//! Words are what stands between blanks; a sentence is a line. With boundaries a sentence begins after `<s>` and its
//! `</s>` is scored and counted as a token. Blocks of lines are scored in parallel; sums over the text are made in the
//! order of the text, so that they do not depend on the number of threads.

use std::io::{BufRead, Write};
use std::ops::Range;

use rayon::prelude::*;

use super::model::{NgramModel, Scored};
use super::vocab::END;
use super::{LanguageModel, LmState, UNKNOWN, WordId};
use crate::error::{Error, Result};
use crate::format::io::{self, Input};

/// What to print, and how.
#[derive(Clone, Copy, Debug)]
pub struct QueryConfig {
    pub words: bool,
    pub sentences: bool,
    pub summary: bool,
    pub json: bool,
    /// A sentence begins after `<s>` and ends with `</s>`.
    pub boundaries: bool,
}

/// Sums over a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    pub log10: f64,
    pub log10_oov: f64,
    pub tokens: u64,
    pub oovs: u64,
}

impl Summary {
    pub fn perplexity(&self) -> f64 {
        10f64.powf(-(self.log10 / self.tokens as f64))
    }
    pub fn perplexity_without_oov(&self) -> f64 {
        10f64.powf(-((self.log10 - self.log10_oov) / (self.tokens - self.oovs) as f64))
    }
}

/// Bytes of text that one thread scores in a row.
const PIECE: usize = 1 << 17;
/// Pieces that are in memory at a time.
const PIECES: usize = 64;

/// Scores every line of a text and prints what is asked for.
pub fn query(model: &NgramModel, mut text: Input, out: &mut dyn Write, config: &QueryConfig) -> Result<Summary> {
    let scorer = Scorer::new(model, config)?;
    let mut summary = Summary::default();
    let fail = |e| Error::io("standard output", e);
    let mut pieces: Vec<Vec<u8>> = vec![];
    let mut ended = false;
    while !ended {
        pieces.clear();
        while pieces.len() < PIECES && !ended {
            let mut piece = Vec::with_capacity(PIECE + (1 << 12));
            ended = fill(&mut text, &mut piece)?;
            if !piece.is_empty() {
                pieces.push(piece);
            }
        }
        let done: Vec<Piece> = pieces.par_iter().map(|p| scorer.piece(p)).collect();
        for piece in done {
            out.write_all(&piece.text).map_err(fail)?;
            piece.totals.iter().for_each(|&t| summary.log10 += t as f64);
            piece.oov_log10.iter().for_each(|&t| summary.log10_oov += t as f64);
            summary.tokens += piece.tokens;
            summary.oovs += piece.oov_log10.len() as u64;
        }
    }
    if config.summary {
        print_summary(&summary, out, config.json).map_err(fail)?;
    }
    Ok(summary)
}

/// Reads whole lines up to about `PIECE` bytes; true at the end of the text.
fn fill(text: &mut Input, piece: &mut Vec<u8>) -> Result<bool> {
    while piece.len() < PIECE {
        let n = text.reader.read_until(b'\n', piece).map_err(|e| io::read_error(&text.name, 0, e))?;
        if n == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn print_summary(s: &Summary, out: &mut dyn Write, json: bool) -> std::io::Result<()> {
    // A text without words has no perplexity.
    let (with, without) = (s.perplexity(), s.perplexity_without_oov());
    if json {
        let number = |x: f64| if x.is_finite() { serde_json::json!(x) } else { serde_json::Value::Null };
        let object = serde_json::json!({
            "perplexity": number(with), "perplexity_without_oov": number(without), "oovs": s.oovs, "tokens": s.tokens,
        });
        writeln!(out, "{object}")
    } else {
        let (with, without) = (Shortest(with), Shortest(without));
        writeln!(out, "Perplexity including OOVs:\t{with}\nPerplexity excluding OOVs:\t{without}")?;
        writeln!(out, "OOVs:\t{}\nTokens:\t{}", s.oovs, s.tokens)
    }
}

/// The scores of some lines.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    totals: Vec<f32>,
    oov_log10: Vec<f32>,
    tokens: u64,
}

struct Scorer<'a> {
    model: &'a NgramModel,
    config: &'a QueryConfig,
    start: LmState,
    end: Option<WordId>,
}

fn blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | 0)
}

impl<'a> Scorer<'a> {
    fn new(model: &'a NgramModel, config: &'a QueryConfig) -> Result<Self> {
        let (start, end) = match (config.boundaries, model.begin(), model.end_word()) {
            (false, ..) => (model.null(), None),
            (true, Some(begin), Some(end)) => (begin, Some(end)),
            _ => {
                return Err(Error::usage(format!(
                    "{}: the model has no <s> or no </s>; to score without sentence boundaries add --no-boundaries",
                    model.name()
                )));
            }
        };
        Ok(Scorer { model, config, start, end })
    }

    fn piece(&self, text: &[u8]) -> Piece {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut words: Vec<&[u8]> = vec![];
        let mut ids: Vec<WordId> = vec![];
        let mut lines: Vec<Range<usize>> = vec![];
        for line in text.split(|&b| b == b'\n') {
            let from = ids.len();
            for word in line.split(|&b| blank(b)).filter(|w| !w.is_empty()) {
                ids.push(self.model.vocab().find(word).unwrap_or(UNKNOWN));
                words.push(word);
            }
            if let Some(end) = self.end {
                ids.push(end);
                words.push(END.as_bytes());
            }
            lines.push(from..ids.len());
        }
        let mut scored = vec![Scored::default(); ids.len()];
        self.model.score_all(self.start, &ids, &lines, &mut scored);
        if self.model.header().has_unknown == 0 {
            // KenLM gives the <unk> that it puts in a back-off weight of 0, so that certainty after it is 0 and not −0.
            for line in &lines {
                for (i, s) in scored[line.clone()].iter_mut().enumerate().skip(1) {
                    s.log10 += if ids[line.start + i - 1] == UNKNOWN { 0.0 } else { -0.0 };
                }
            }
        }
        let mut piece = Piece { tokens: ids.len() as u64, ..Piece::default() };
        for line in lines {
            self.line(&words[line.clone()], &ids[line.clone()], &scored[line], &mut piece);
        }
        piece
    }

    fn line(&self, words: &[&[u8]], ids: &[WordId], scored: &[Scored], piece: &mut Piece) {
        let total = scored.iter().fold(0f32, |sum, s| sum + s.log10);
        piece.totals.push(total);
        let before = piece.oov_log10.len();
        piece.oov_log10.extend(ids.iter().zip(scored).filter(|(id, _)| **id == UNKNOWN).map(|(_, s)| s.log10));
        let (oov, tokens) = (piece.oov_log10.len() - before, ids.len());
        let out = &mut piece.text;
        // Writing to memory does not fail.
        let _ = match (self.config.json, self.config.words, self.config.sentences) {
            (_, false, false) => Ok(()),
            (true, with_words, _) => {
                out.push(b'{');
                if with_words {
                    print_json_words(words, scored, out);
                }
                writeln!(out, "\"log10\":{},\"oov\":{oov},\"tokens\":{tokens}}}", Json(total))
            }
            (false, with_words, with_total) => {
                for ((word, id), s) in words.iter().zip(ids).zip(scored).filter(|_| with_words) {
                    out.extend_from_slice(word);
                    let _ = write!(out, "={id} {} {}\t", s.length, Shortest(s.log10));
                }
                if with_total { writeln!(out, "Total: {} OOV: {oov}", Shortest(total)) } else { writeln!(out) }
            }
        };
    }
}

fn print_json_words(words: &[&[u8]], scored: &[Scored], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"words\":[");
    for (i, (word, s)) in words.iter().zip(scored).enumerate() {
        let word = serde_json::Value::from(String::from_utf8_lossy(word));
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{{\"word\":{word},\"length\":{},\"log10\":{}}}", s.length, Json(s.log10));
    }
    out.extend_from_slice(b"],");
}

/// The shortest digits that are the float, of two equally short ones the even: as KenLM prints it.
pub struct Shortest<F>(pub F);

impl<F: zmij::Float> std::fmt::Display for Shortest<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format(self.0);
        match text.split_once("e+") {
            Some((digits, exponent)) => write!(f, "{digits}e{exponent}"),
            None => f.write_str(text.strip_suffix(".0").unwrap_or(text)),
        }
    }
}

/// A float as JSON has it: there is no infinity.
struct Json(f32);

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        if self.0.is_finite() { Shortest(self.0).fmt(f) } else { f.write_str("null") }
    }
}
