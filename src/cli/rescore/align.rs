//! `weft rescore align`: which derivations of a lattice give a string.

use std::fmt::Write;
use std::sync::Arc as Shared;

use clap::{Args, ValueEnum};

use super::lists::{WordArgs, put_text};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::write_g;
use crate::fst::flat::{EPSILON, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::Path;
use crate::fst::symbols::SymbolTable;
use crate::rescore::align::{AlignConfig, OP, align};
use crate::rescore::words::{labels, spell, word};
use crate::with_fst;

pub const HELP: &str = "Line N of the strings belongs to sentence N: the number of a template, a numeric key or name, else the \
    place among the inputs. The string is matched with the output labels; what is printed are the input labels: of a rule lattice \
    (`decode --rule-lattices`) the rules, each before the rules of its nonterminals. A string that is not in its lattice is an error \
    that says where it left it; the others go on.\n\n\
    Examples:\n  weft rescore align --strings test.txt lat.fst\n  \
    weft decode --rules h.rules --rule-lattices 'rl/?.fst' src.txt -o hyp.txt\n  \
    weft rescore align --strings hyp.txt 'rl/?.fst' --range 1:2\n  \
    weft rescore align --strings hyp.txt --all --format inputs 'rl/?.fst' --range 1:2\n\n\
    The third prints, of the first sentence, \"a b\":\n\
    \u{20}   y z x\t1.75\n\
    \u{20}     [S]_|||_[X,1]_|||_[X,1]\t-\t0\n\
    \u{20}     [X]_|||_a_[X,1]_|||_[X,1]_x\t-\t0.875\n\
    \u{20}     [X]_|||_b_|||_y_z\ty\t0.875\n\
    \u{20}     -\tz\t0\n\
    \u{20}     -\tx\t0";

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// The string and its cost; below, a line an arc: input, output, cost
    #[default]
    Steps,
    /// The input labels, a tab, the cost
    Inputs,
}

/// Find the derivations that give a string
#[derive(Args, Clone, Debug)]
pub struct Align {
    /// Strings of words, one line a sentence
    #[arg(long, value_name = "FILE")]
    strings: String,
    /// How many derivations, the best ones
    #[arg(short, long, value_name = "N", default_value_t = 1, conflicts_with = "all")]
    n: usize,
    /// All derivations
    #[arg(long)]
    all: bool,
    /// With --all, stop with an error at more derivations than this
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_paths: usize,
    /// What is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    words: WordArgs,
    /// Symbol table of the input labels, instead of the lattice's own
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
}

impl Align {
    /// What can be known to be wrong before any lattice is read.
    pub fn check(&self) -> Result<()> {
        if self.n == 0 || self.max_paths == 0 {
            return Err(Error::usage("-n and --max-paths count derivations, from 1 on"));
        }
        Ok(())
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let fst = env.get(None)?;
        let (shown, strings) = env.read_text(&self.strings)?;
        let number = env.number();
        let words = self.words.table(env, &fst)?;
        let numeric = self.words.numeric();
        let inputs = env.symbols_or(self.isymbols.as_deref(), fst.isyms(), numeric)?;
        let n = if self.all { self.max_paths } else { self.n };
        let config = AlignConfig { n, all: self.all };
        let show = Show { format: self.format, inputs, words };
        put_text(env, || {
            let line = line_of(&shown, &strings, number)?;
            let string = labels(OP, line, show.words.as_deref())?;
            with_fst!(&*fst, f => {
                let paths = align(f, &string, &config, show.words.as_deref())?;
                show.text(f, &paths)
            })
        })?;
        Ok(Status::Done)
    }
}

/// The line of a sentence in a file with one line a sentence.
fn line_of<'a>(file: &str, text: &'a str, number: usize) -> Result<&'a str> {
    let line = number.checked_sub(1).and_then(|n| text.lines().nth(n));
    line.ok_or_else(|| {
        let lines = text.lines().count();
        Error::op(OP, format!("this is sentence {number}, and {file} has {lines} lines"))
    })
}

struct Show {
    format: Format,
    inputs: Option<Shared<SymbolTable>>,
    words: Option<Shared<SymbolTable>>,
}

impl Show {
    fn text<W: Weight>(&self, fst: &FlatFst<W>, paths: &[Path]) -> Result<String> {
        let mut out = String::new();
        for path in paths {
            let string = match self.format {
                Format::Steps => spell(OP, &path.labels(fst, |a| a.olabel), self.words.as_deref())?,
                Format::Inputs => spell(OP, &path.labels(fst, |a| a.ilabel), self.inputs.as_deref())?,
            };
            out.push_str(&string);
            cost(&mut out, path.cost);
            if self.format == Format::Inputs {
                continue;
            }
            for &i in &path.arcs {
                let a = &fst.all_arcs()[i as usize];
                // What says nothing and costs nothing is left out.
                if (a.ilabel, a.olabel) == (EPSILON, EPSILON) && a.weight.is_one_w() {
                    continue;
                }
                let input = named(a.ilabel, self.inputs.as_deref())?;
                let _ = write!(out, "  {input}\t{}", named(a.olabel, self.words.as_deref())?);
                cost(&mut out, a.weight.to_f64());
            }
            let end = fst.final_weight(path.end);
            if !end.is_one_w() {
                out.push_str("  end\t");
                cost(&mut out, end.to_f64());
            }
        }
        Ok(out)
    }
}

/// A label as it is shown; epsilon is a dash.
fn named(label: Label, table: Option<&SymbolTable>) -> Result<String> {
    if label == EPSILON { Ok("-".into()) } else { word(OP, label, table) }
}

fn cost(out: &mut String, value: f64) {
    out.push('\t');
    write_g(out, value + 0.0, 9);
    out.push('\n');
}
