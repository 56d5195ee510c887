//! `weft order eval`: how good ordered sentences are, as the paper's tables and figure have it.

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::plot;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::eval::metric::Workspace;
use crate::format::{binary, io, moses, template};
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::order::score::{BySize, Stats};
use crate::rescore::oracle::{Method, OracleConfig, Reference, oracle};
use crate::text::vocab;

/// Judge ordered sentences: BLEU and exact matches, by size of the bag, and what lists and lattices could have given
#[derive(Args, Debug)]
#[command(
    long_about = "Judge ordered sentences. For every OUTPUT a row: BLEU (sacreBLEU's, on the tokens as they are) and SPR, the \
                  percentage of sentences that are exactly the reference; with --nbest and --lattices also the BLEU of the \
                  best sentence of each list and of the best path of each lattice (tables 1 and 2 of the paper). Then both by \
                  size of the bag (figure 8).",
    after_help = "Examples:\n  weft order --text train.en --lm en.arpa test.bag -o out.txt && weft order eval test.en out.txt\n  \
                  weft order --text train.en --lm en.arpa --nbest 100 --lattices 'lats/?.fst' test.bag -o nbest.txt && weft order eval test.en --nbest nbest.txt --lattices 'lats/?.fst' --json eval.json --svg eval.svg"
)]
pub struct Cmd {
    /// The sentences that were meant, one a line
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// Ordered sentences, one a line; several to compare; NAME=FILE gives a row its name
    #[arg(value_name = "OUTPUT")]
    outputs: Vec<String>,
    /// N-best lists in the format of Moses, for the oracle; without OUTPUT their first sentences are judged
    #[arg(long, value_name = "FILE")]
    nbest: Option<String>,
    /// Lattices, for the oracle: a name with `?` for the number of the line
    #[arg(long, value_name = "FILE")]
    lattices: Option<String>,
    /// Write everything as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Draw BLEU and SPR of all rows by size of the bag, with the number of sentences of each size
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
}

/// A row of the table.
struct Row {
    name: String,
    scores: BySize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        if self.outputs.is_empty() && self.nbest.is_none() && self.lattices.is_none() {
            return Err(Error::usage("nothing to judge: name ordered sentences, or --nbest, or --lattices"));
        }
        let (shown, text) = io::read_text(&self.reference)?;
        let reference: Vec<&str> = text.lines().collect();
        if reference.is_empty() {
            return Err(Error::text(&shown, 1, 1, "no sentences"));
        }
        // What cannot be written is to be known before the work is done and shown.
        let open = |name: &Option<String>| name.as_deref().map(io::create).transpose();
        let (json, svg) = (open(&self.json)?, open(&self.svg)?);
        let mut rows = vec![];
        for output in &self.outputs {
            // A file whose own name has `=` in it is a file.
            let named = output.split_once('=').filter(|_| !std::path::Path::new(output).exists());
            let (name, file) = named.unwrap_or((output, output));
            let (shown, text) = io::read_text(file)?;
            let lines: Vec<&str> = text.lines().collect();
            if lines.len() != reference.len() {
                let message = format!("{} lines, but {} has {}", lines.len(), self.reference, reference.len());
                return Err(Error::text(&shown, lines.len().min(reference.len()) + 1, 1, message));
            }
            rows.push(row(name, &reference, lines.into_iter()));
        }
        if let Some(name) = &self.nbest {
            let lists = read_lists(name, reference.len())?;
            let first = |l: &Vec<String>| l.first().cloned().unwrap_or_default();
            if self.outputs.is_empty() {
                let best: Vec<String> = lists.iter().map(first).collect();
                rows.push(row(name, &reference, best.iter().map(String::as_str)));
            }
            let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
            let mut work = Workspace::default();
            let best = |(l, r): (&Vec<String>, &&str)| list_oracle(l, r, &mut work).unwrap_or_default();
            let best: Vec<String> = lists.iter().zip(&reference).map(best).collect();
            rows.push(row(&format!("{longest}-best oracle"), &reference, best.iter().map(String::as_str)));
        }
        if let Some(name) = &self.lattices {
            let best = self.lattice_oracles(name, &reference)?;
            rows.push(row("lattice oracle", &reference, best.iter().map(String::as_str)));
        }
        io::create("-")?.write_and_commit(table(&rows).as_bytes())?;
        if let Some(json) = json {
            json.write_and_commit(format!("{:#}\n", to_json(&rows)).as_bytes())?;
        }
        if let Some(svg) = svg {
            let systems: Vec<plot::System> = rows.iter().map(|r| (&r.name[..], &r.scores)).collect();
            svg.write_and_commit(plot::draw(&systems).as_bytes())?;
        }
        Ok(Status::Done)
    }

    fn lattice_oracles(&self, name: &str, reference: &[&str]) -> Result<Vec<String>> {
        use rayon::prelude::*;
        if !template::is_template(name) {
            return Err(Error::usage(format!("--lattices {name}: put `?` in the name for the number of the line")));
        }
        let one = |(i, r): (usize, &&str)| {
            let file = template::fill(name, &(i + 1).to_string());
            let AnyFst::Standard(fst) = binary::read(&file)? else {
                return Err(Error::usage(format!("{file}: expected a lattice with tropical weights")));
            };
            lattice_oracle(&file, &fst, r)
        };
        reference.par_iter().enumerate().map(one).collect()
    }
}

/// The path of a lattice that is most like the reference, by the linear approximation of BLEU (Sokolov et al. 2012).
fn lattice_oracle(file: &str, fst: &FlatFst<Tropical>, reference: &str) -> Result<String> {
    let wrong = |what: String| Error::usage(format!("{file}: {what}"));
    let symbols = fst.osyms.as_ref().ok_or_else(|| wrong("the lattice has no symbols".into()))?;
    let lines = [reference];
    let reference = Reference::new(&lines);
    let config = OracleConfig { method: Method::Grid, max_states: ORACLE_STATES };
    // A word that is spelt like epsilon has a backslash in the table, and none in the reference.
    let symbol = |label: i32| symbols.symbol(label as i64).map(vocab::plain);
    let word = |label: i32| symbol(label).ok_or_else(|| wrong(format!("label {label} has no symbol")));
    let best = oracle(fst, &reference.words, |label| Ok(reference.number(word(label)?)), &config)?;
    let labels = best.path.iter().map(|&(label, _)| label).filter(|&label| label != 0);
    Ok(labels.map(word).collect::<Result<Vec<_>>>()?.join(" "))
}

/// States of a lattice with the n-grams of its reference at most.
const ORACLE_STATES: usize = 20_000_000;

/// The best sentence of a list by BLEU, the first of equally good ones.
fn list_oracle(list: &[String], reference: &str, work: &mut Workspace) -> Option<String> {
    let mut best: Option<(f64, &String)> = None;
    for sentence in list {
        let bleu = Stats::of(reference, sentence, work).sentence_bleu();
        if best.is_none_or(|(b, _)| bleu > b) {
            best = Some((bleu, sentence));
        }
    }
    best.map(|(_, sentence)| sentence.clone())
}

fn row<'a>(name: &str, reference: &[&str], lines: impl Iterator<Item = &'a str>) -> Row {
    let mut scores = BySize::default();
    let mut work = Workspace::default();
    for (r, line) in reference.iter().zip(lines) {
        scores.add(r, &Stats::of(r, line, &mut work));
    }
    Row { name: name.to_string(), scores }
}

/// The sentences of n-best lists, by the number of the list.
fn read_lists(name: &str, count: usize) -> Result<Vec<Vec<String>>> {
    let (shown, text) = io::read_text(name)?;
    let mut lists = vec![vec![]; count];
    for (i, line) in text.lines().enumerate() {
        let moses::Line { number, words, .. } = moses::read_line(line, &shown, i + 1)?;
        let wrong = || format!("number {number}, but there are {count} references: numbers go from 0 to {}", count - 1);
        let list = lists.get_mut(number).ok_or_else(|| Error::text(&shown, i + 1, 1, wrong()))?;
        list.push(words);
    }
    let missing = lists.iter().filter(|l| l.is_empty()).count();
    if let Some(first) = lists.iter().position(Vec::is_empty) {
        let message = format!("{missing} of {count} references have no list; the first is number {first}, from 0");
        return Err(Error::usage(format!("{shown}: {message}")));
    }
    Ok(lists)
}

fn table(rows: &[Row]) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "{:width$}  {:>9}  {:>6}  {:>6}", "system", "sentences", "BLEU", "SPR");
    for r in rows {
        let s = &r.scores.all;
        let _ = writeln!(out, "{:width$}  {:>9}  {:>6.2}  {:>6.2}", r.name, s.sentences, s.bleu(), s.exact_rate());
    }
    let _ = writeln!(out, "\n{:width$}  {:>9}  {:>9}  {:>6}  {:>6}", "system", "bag size", "sentences", "BLEU", "SPR");
    for r in rows {
        for (&class, s) in &r.scores.classes {
            let (from, to) = BySize::sizes(class);
            let size = format!("{from}-{to}");
            let (bleu, spr) = (s.bleu(), s.exact_rate());
            let _ = writeln!(out, "{:width$}  {size:>9}  {:>9}  {bleu:>6.2}  {spr:>6.2}", r.name, s.sentences);
        }
    }
    out
}

fn to_json(rows: &[Row]) -> Value {
    let scores = |s: &Stats| json!({"sentences": s.sentences, "bleu": s.bleu(), "spr": s.exact_rate()});
    let one = |r: &Row| {
        let classes = r.scores.classes.iter().map(|(&class, s)| {
            let (from, to) = BySize::sizes(class);
            json!({"from": from, "to": to, "scores": scores(s)})
        });
        json!({"system": r.name, "scores": scores(&r.scores.all), "by_size": classes.collect::<Vec<_>>()})
    };
    Value::Array(rows.iter().map(one).collect())
}
