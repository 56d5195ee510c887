//! Extraction and scoring in one go: the steps of `extract`, `combine` and `score` with sorting in between, in memory or,
//! past it, on disk. The file is the same for any memory and any number of threads, and the same as that of the steps
//! run one by one over streams with `LC_ALL=C sort` between them.
//!
//! Half of the memory is for the lines that are being sorted, half for those that are being read.

use std::path::PathBuf;

use super::combine;
use super::extract::{Config, Extractor};
use super::format::{self, RuleFormat};
use super::lexicon::Lexicon;
use super::score;
use super::sort::LineSorter;
use super::stage::{self, Source};
use crate::error::{Error, Result};
use crate::format::packed::PackedOutput;
use crate::lm::estimate::Progress;
use crate::text::lines::{Block, Blocks};
use crate::text::parallel::{Corpus, Pairs};

/// The names of lines between steps, in errors.
const BETWEEN: &str = "sorted lines";

/// Where to sort.
#[derive(Clone, Debug)]
pub struct Room {
    /// Bytes to use, about.
    pub memory: usize,
    /// The folder of temporary files.
    pub temp: PathBuf,
}

impl Room {
    fn sorter(&self) -> LineSorter {
        LineSorter::new(&self.temp, self.memory / 2)
    }
}

/// What was seen of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub pairs: usize,
    /// Pairs with an empty side.
    pub empty: usize,
    /// Pairs with a word that a rule file cannot have, such as `|||`.
    pub unwritable: usize,
}

impl Summary {
    fn add(&mut self, other: Summary) {
        self.pairs += other.pairs;
        self.empty += other.empty;
        self.unwritable += other.unwritable;
    }
}

/// The instances of rules in some pairs, as lines.
fn instances(pairs: &Pairs, config: &Config) -> Result<(Vec<u8>, Summary)> {
    let mut out = vec![];
    let mut summary = Summary { pairs: pairs.len(), ..Summary::default() };
    let mut extractor = Extractor::new(config);
    summary.empty = pairs.each(|pair| {
        let bad = |w: &&str| format::unwritable(RuleFormat::Cdec, w).is_some();
        if pair.source.iter().chain(pair.target).any(bad) {
            summary.unwritable += 1;
        } else {
            extractor.extract(pair, &mut out);
        }
        Ok(())
    })?;
    Ok((out, summary))
}

/// The map step of extraction: instances of rules, in the order of the corpus.
pub fn map(corpus: Corpus, config: &Config, output: &str) -> Result<Summary> {
    let mut out = PackedOutput::create(output)?;
    let mut summary = Summary::default();
    let packing = out.packing();
    corpus.work(
        |pairs| instances(pairs, config).and_then(|(lines, s)| Ok((packing.pack(lines)?, s))),
        |(lines, s)| {
            summary.add(s);
            out.write(&lines)
        },
    )?;
    out.commit()?;
    Ok(summary)
}

/// A reduce step over a sorted stream.
pub fn reduce(
    input: &str,
    key: stage::Key,
    work: impl Fn(&Block) -> Result<Vec<u8>> + Sync,
    output: &str,
) -> Result<()> {
    let source = Source::open(input)?;
    let name = if crate::format::io::is_stdio(input) { "standard input" } else { input };
    finish(source, name, key, work, output)
}

/// The map step of scoring.
pub fn invert(input: &str, output: &str) -> Result<()> {
    let mut out = PackedOutput::create(output)?;
    let packing = out.packing();
    Blocks::open(input)?.work(|block| packing.pack(score::invert(block)?), |lines| out.write(&lines))?;
    out.commit()
}

fn finish(
    source: Source,
    name: &str,
    key: stage::Key,
    work: impl Fn(&Block) -> Result<Vec<u8>> + Sync,
    output: &str,
) -> Result<()> {
    let mut out = PackedOutput::create(output)?;
    let packing = out.packing();
    stage::reduce(source, name, key, |block| packing.pack(work(block)?), |lines| out.write(&lines))?;
    out.commit()
}

/// Extracts, and scores unless only the counts are wanted.
pub fn extract(
    corpus: Corpus,
    config: &Config,
    room: &Room,
    scored: bool,
    output: &str,
    progress: &dyn Progress,
) -> Result<Summary> {
    progress.stage("extracting", None);
    let mut sorter = room.sorter();
    let mut summary = Summary::default();
    let mut lexicon = Lexicon::default();
    corpus.work(
        |pairs| {
            let (lines, s) = instances(pairs, config)?;
            let mut local = Lexicon::default();
            if scored {
                pairs.each(|pair| {
                    local.add(pair);
                    Ok(())
                })?;
            }
            Ok((lines, local, s))
        },
        |(lines, local, s)| {
            summary.add(s);
            progress.advance(lines.len() as u64);
            lexicon.merge(&local);
            sorter.push_all(&lines)
        },
    )?;
    progress.stage("sorting", None);
    let sorted = Source::Sorted(sorter.finish()?);
    if !scored {
        finish(sorted, BETWEEN, stage::rule_key, combine::block, output)?;
        return Ok(summary);
    }
    progress.stage("counting", None);
    let mut sorter = room.sorter();
    let work = |block: &Block| {
        let text = String::from_utf8(combine::block(block)?);
        Ok(score::invert_counted(&text.map_err(|_| Error::op("rules extract", "a rule is not UTF-8"))?))
    };
    stage::reduce(sorted, BETWEEN, stage::rule_key, work, |lines| {
        progress.advance(lines.len() as u64);
        sorter.push_all(&lines)
    })?;
    score_inverted(sorter, room, Some(&lexicon), output, progress)?;
    Ok(summary)
}

/// Scores a file of counted rules.
pub fn score(input: &str, lexicon: Option<&Lexicon>, room: &Room, output: &str, progress: &dyn Progress) -> Result<()> {
    progress.stage("reading", None);
    let mut sorter = room.sorter();
    Blocks::open(input)?.work(score::invert, |lines| {
        progress.advance(lines.len() as u64);
        sorter.push_all(&lines)
    })?;
    score_inverted(sorter, room, lexicon, output, progress)
}

fn score_inverted(
    sorter: LineSorter,
    room: &Room,
    lexicon: Option<&Lexicon>,
    output: &str,
    progress: &dyn Progress,
) -> Result<()> {
    progress.stage("scoring by target", None);
    let sorted = Source::Sorted(sorter.finish()?);
    let mut sorter = room.sorter();
    stage::reduce(sorted, BETWEEN, stage::first_key, score::by_target, |lines| {
        progress.advance(lines.len() as u64);
        sorter.push_all(&lines)
    })?;
    progress.stage("scoring by source", None);
    let sorted = Source::Sorted(sorter.finish()?);
    let mut out = PackedOutput::create(output)?;
    let packing = out.packing();
    let work = |block: &Block| packing.pack(score::by_source(block, lexicon)?);
    stage::reduce(sorted, BETWEEN, stage::source_key, work, |lines| {
        progress.advance(lines.len() as u64);
        out.write(&lines)
    })?;
    out.commit()
}

/// Counts the words that are linked in a corpus.
pub fn lexicon(corpus: Corpus) -> Result<(Lexicon, Summary)> {
    let mut lexicon = Lexicon::default();
    let mut summary = Summary::default();
    corpus.work(
        |pairs| {
            let mut local = Lexicon::default();
            let empty = pairs.each(|pair| {
                local.add(pair);
                Ok(())
            })?;
            Ok((local, Summary { pairs: pairs.len(), empty, unwritable: 0 }))
        },
        |(local, s)| {
            summary.add(s);
            lexicon.merge(&local);
            Ok(())
        },
    )?;
    Ok((lexicon, summary))
}
