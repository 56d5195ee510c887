//! `weft rescore posteriors`: the probabilities of n-grams, arcs and words.

use std::fmt::Write;

use clap::Args;
use serde::Serialize;

use super::lists::{WordArgs, put_text};
use super::prints;
use crate::cli::cascade::RunArgs;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::write_g;
use crate::format::text::{self, PrintConfig};
use crate::fst::any::AnyFst;
use crate::fst::symbols::SymbolTable;
use crate::map_fst;
use crate::rescore::confidence::{arc_posteriors, confidences};
use crate::rescore::lattice::Lattice;
use crate::rescore::ngrams::{GramId, Grams};
use crate::rescore::posteriors::Evidence;
use crate::rescore::words::{spell, word};
use crate::with_fst;

pub const OP: &str = "rescore-posteriors";

pub const HELP: &str = "The probability of a path is e^(-alpha * cost), over the sum for all paths. Prints lines\n  \
    n-gram TAB probability that a path has it at least once [TAB expected number of times, with --counts]\n\
    by order, the likely ones first, then by label. --json: one object a lattice,\n  \
    {\"number\": 1, \"ngrams\": [{\"words\": [...], \"posterior\": p, \"count\": c}, ...]}\n\n\
    --arcs: the lattice with -ln(probability of the paths through the arc) for costs; an automaton with \
    -o and a name of automata (.fst, .fsa, .far), text otherwise.\n\n\
    --words: for each word of the path of the lowest cost a line, and an empty line after the sentence:\n  \
    word TAB P(its arc) TAB P(this word at this place, counted from the start) TAB P(this word anywhere)\n\
    --json: {\"number\": 1, \"words\": [{\"word\", \"arc\", \"place\", \"anywhere\"}, ...]}\n\n\
    Examples:\n  weft rescore posteriors --order 4 lat.fst\n  \
    weft rescore posteriors --order 2 --alpha 0.5 --counts --min 0.01 'lats/?.fst' --range 1:3 --keys\n  \
    weft rescore posteriors --arcs lat.fst -o arcs.fst\n  \
    weft rescore posteriors --words lat.fst";

/// How likely n-grams, arcs and words are
#[derive(Args, Clone, Debug)]
pub struct Posteriors {
    /// What costs are multiplied by before they become probabilities
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// Longest n-grams
    #[arg(long, value_name = "N", default_value_t = 4)]
    order: usize,
    /// Expected numbers of times, too
    #[arg(long)]
    counts: bool,
    /// Print what is at least so likely
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true)]
    min: f64,
    /// The lattice with the posteriors of its arcs
    #[arg(long, conflicts_with_all = ["words_of_best", "counts", "min", "order", "json"])]
    arcs: bool,
    /// How sure the words of the best path are
    #[arg(long = "words", id = "words_of_best", conflicts_with_all = ["counts", "min", "order"])]
    words_of_best: bool,
    /// JSON instead of lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    words: WordArgs,
    /// Stop with an error where the n-grams of an order need more arcs than this: about 90 bytes each
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_arcs: usize,
    /// The automaton of --arcs is printed.
    #[arg(skip)]
    print: bool,
}

#[derive(Serialize)]
struct Document<T> {
    number: usize,
    #[serde(flatten)]
    list: T,
}
#[derive(Serialize)]
struct Ngrams {
    ngrams: Vec<Ngram>,
}
#[derive(Serialize)]
struct Ngram {
    words: Vec<String>,
    posterior: f64,
    count: f64,
}
#[derive(Serialize)]
struct Words {
    words: Vec<Word>,
}
#[derive(Serialize)]
struct Word {
    word: String,
    arc: f64,
    place: f64,
    anywhere: f64,
}

impl Posteriors {
    /// The stage as the command runs it: without a file for it, an automaton is printed.
    pub fn command(&self, run: &RunArgs) -> Result<Self> {
        self.check()?;
        let print = self.arcs && prints(run.output.as_deref(), false)?;
        if !self.arcs {
            prints(run.output.as_deref(), true)?;
        }
        Ok(Posteriors { print, ..self.clone() })
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::usage(what));
        if !self.alpha.is_finite() || self.alpha < 0.0 {
            return wrong(format!("--alpha {}: a scale of costs is 0 or more", self.alpha));
        }
        if !(1..=16).contains(&self.order) {
            return wrong(format!("--order {}: expected 1 to 16", self.order));
        }
        if !(0.0..=1.0).contains(&self.min) {
            return wrong(format!("--min {}: a probability is from 0 to 1", self.min));
        }
        if self.max_arcs >= u32::MAX as usize {
            return wrong(format!("--max-arcs {}: at most {}", self.max_arcs, u32::MAX - 1));
        }
        Ok(())
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let fst = env.get(None)?;
        let table = self.words.table(env, &fst)?;
        let (table, number) = (table.as_deref(), env.number());
        let lattice = || with_fst!(&*fst, f => Lattice::new(OP, f));
        if self.arcs && !self.print {
            let lattice = lattice()?;
            let made = map_fst!(&*fst, f => arc_posteriors(OP, f, &lattice, self.alpha))?;
            env.put(None, made)?;
        } else if self.arcs {
            put_text(env, || {
                let lattice = lattice()?;
                let made = map_fst!(&*fst, f => arc_posteriors(OP, f, &lattice, self.alpha))?;
                self.arcs_as_text(&made, table)
            })?;
        } else if self.words_of_best {
            put_text(env, || self.confidences(lattice()?, number, table))?;
        } else {
            put_text(env, || self.ngrams(lattice()?, number, table))?;
        }
        Ok(Status::Done)
    }

    fn arcs_as_text(&self, fst: &AnyFst, table: Option<&SymbolTable>) -> Result<String> {
        let inside = |t: Option<&std::sync::Arc<SymbolTable>>| t.cloned().filter(|_| table.is_some());
        let named =
            |t| if self.words.symbols().is_some() { table.cloned().map(std::sync::Arc::new) } else { inside(t) };
        let config = PrintConfig {
            acceptor: true,
            isymbols: named(fst.isyms()),
            osymbols: named(fst.osyms()),
            ..PrintConfig::default()
        };
        with_fst!(fst, f => text::to_string(f, &config))
    }

    fn confidences(&self, lattice: Lattice, number: usize, table: Option<&SymbolTable>) -> Result<String> {
        let found = confidences(OP, lattice, self.alpha, self.max_arcs)?;
        if self.json {
            let named = |c: &crate::rescore::confidence::Confidence| {
                word(OP, c.word, table).map(|word| Word { word, arc: c.arc, place: c.place, anywhere: c.anywhere })
            };
            let words = found.iter().map(named).collect::<Result<_>>()?;
            return json(number, Words { words });
        }
        let mut out = String::new();
        for c in &found {
            out.push_str(&word(OP, c.word, table)?);
            for p in [c.arc, c.place, c.anywhere] {
                out.push('\t');
                write_g(&mut out, p, DIGITS);
            }
            out.push('\n');
        }
        out.push('\n');
        Ok(out)
    }

    fn ngrams(&self, lattice: Lattice, number: usize, table: Option<&SymbolTable>) -> Result<String> {
        let mut grams = Grams::default();
        let evidence = Evidence::new(OP, lattice, &mut grams, self.order, self.max_arcs)?;
        let found = evidence.posteriors(OP, &grams, &[self.alpha])?.swap_remove(0);
        drop(evidence);
        let mut list: Vec<GramId> =
            (1..grams.count() as GramId).filter(|&g| found.path[g as usize] >= self.min).collect();
        // Labels are compared first to last where probabilities are the same: the same order for any numbering of
        // n-grams.
        list.sort_by(|&a, &b| {
            let likely = found.path[b as usize].total_cmp(&found.path[a as usize]);
            grams.len(a).cmp(&grams.len(b)).then(likely).then_with(|| grams.words(a).cmp(&grams.words(b)))
        });
        if self.json {
            let named = |g: GramId| -> Result<Ngram> {
                let words = grams.words(g).iter().map(|&w| word(OP, w, table)).collect::<Result<_>>()?;
                Ok(Ngram { words, posterior: found.path[g as usize], count: found.count[g as usize] })
            };
            return json(number, Ngrams { ngrams: list.into_iter().map(named).collect::<Result<_>>()? });
        }
        let mut out = String::new();
        for g in list {
            out.push_str(&spell(OP, &grams.words(g), table)?);
            out.push('\t');
            write_g(&mut out, found.path[g as usize], DIGITS);
            if self.counts {
                out.push('\t');
                write_g(&mut out, found.count[g as usize], DIGITS);
            }
            out.push('\n');
        }
        Ok(out)
    }
}

/// Digits of a printed probability.
const DIGITS: usize = 9;

fn json<T: Serialize>(number: usize, list: T) -> Result<String> {
    let mut line = serde_json::to_string(&Document { number, list })
        .map_err(|e| Error::op(OP, format!("cannot be written as JSON: {e}")))?;
    let _ = writeln!(line);
    Ok(line)
}
