//! `weft rescore lmbr`: the hypotheses with the highest expected gain; a grid of parameters in one run.

use std::sync::Arc as Shared;

use clap::Args;

use super::grid::{self, Values};
use super::lists::{WordArgs, put_text};
use super::prints;
use crate::cli::cascade::RunArgs;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::io;
use crate::fst::any::AnyFst;
use crate::fst::flat::Label;
use crate::fst::symbols::SymbolTable;
use crate::rescore::lattice::Lattice;
use crate::rescore::lmbr::{OP, Thetas, best_path, canonical, gains, rescored};
use crate::rescore::mix::{Mixture, System, match_words, skip_words};
use crate::rescore::words::spell;
use crate::with_fst;

pub const HELP: &str = "The gain of a hypothesis is\n  \
    theta0 * words + sum over n of thetan * (sum of p(u) over its n-grams u) - wp * words\n\
    with p(u) the probability that a path of the evidence has u, p(path) = e^(-alpha * cost) over the sum \
    for all paths; the costs of the hypotheses play no part. theta0 = -1/T and thetan = 1/(4 T p r^(n-1)), or \
    --theta. Words that mark the boundaries of the sentence count as words if they are arcs of the lattice.\n\n\
    Without -o it prints the best strings: one a line, or, if a parameter has several values, lines\n  \
    alpha wp number:words        (alpha wp p r number:words if there are several p or r)\n\
    alpha first, wp last to change. -o FILE: the same to a file; a name of automata (.fst, .fsa, .far, packed or \
    not): the lattices, with the gains, negated, as costs, for `kbest` and other tools. %%alpha%%, %%wp%% (or \
    %%wps%%), %%p%% and %%r%% in the name stand for the values, with at least two digits after the point (0.40); \
    lines have as many digits as a number needs (0.4). Values are one number, a list 0.4,0.5 or a range 0.1:0.1:1 \
    (first:step:last). Each lattice is read once, whatever the grid.\n\n\
    --evidence takes the probabilities of n-grams from other lattices of the sentence: their sum, each times \
    the weight after the colon (1 where there is none; they need not sum to 1). The input is evidence only if it is \
    named there, too. Words are matched by name where there are symbol tables.\n\n\
    Examples:\n  weft rescore lmbr --alpha 0.4 --p 0.741 --r 0.62 --wp 0 'lats/?.fst' --range 1:3\n  \
    weft rescore lmbr --evidence 'lats/?.fst:0.25' --evidence 'b/?.fst:0.75' 'lats/?.fst' --range 1:3\n  \
    weft rescore lmbr --alpha 0.1:0.1:1 'lats/?.fst' --range 1:3 -o 'tune/%%alpha%%_%%wp%%.hyp'\n  \
    weft rescore lmbr --alpha 0.5 lat.fst -o gains.fst";

/// Minimum Bayes risk: the path that has the n-grams which are likely (LMBR)
#[derive(Args, Clone, Debug)]
pub struct Lmbr {
    /// What the costs of the evidence are multiplied by
    #[arg(long, value_name = "X,...", default_value = "1", allow_hyphen_values = true)]
    alpha: Values,
    /// Unigram precision
    #[arg(long, value_name = "X,...", default_value = "0.85", allow_hyphen_values = true)]
    p: Values,
    /// Precision of an order over that of the order before
    #[arg(long, value_name = "X,...", default_value = "0.72", allow_hyphen_values = true)]
    r: Values,
    /// Penalty taken from the gain for every word
    #[arg(long, alias = "wps", value_name = "X,...", default_value = "0", allow_hyphen_values = true)]
    wp: Values,
    /// Words of the references, of which theta is made
    #[arg(long = "T", value_name = "X", default_value_t = 10.0, allow_negative_numbers = true)]
    t: f64,
    /// The thetas themselves, instead of p, r and T: theta0,theta1,...
    #[arg(long, value_name = "X,...", allow_hyphen_values = true, conflicts_with_all = ["p", "r", "t", "order"])]
    theta: Option<Values>,
    /// Longest n-grams
    #[arg(long, alias = "maxorder", value_name = "N", default_value_t = 4)]
    order: usize,
    /// Lattice of the same sentence whose n-grams count: a template, an archive with the same keys, a file, `-` for
    /// the input; may be given several times [default: the input]
    #[arg(long, value_name = "FILE[:WEIGHT]", allow_hyphen_values = true)]
    evidence: Vec<String>,
    /// Keep the evidence within this cost of its best path, before alpha: one path a string, minimal, as HiFST does;
    /// the hypotheses, too, if they are the evidence
    #[arg(long, value_name = "BEAM", allow_negative_numbers = true)]
    preprune: Option<f64>,
    /// Of the paths of the evidence with the same words only the best, as HiFST does, instead of their sum
    #[arg(long)]
    unique: bool,
    /// Words that count as none, such as <dr>,<oov>,<sep>; numbers where there are no symbols
    #[arg(long, value_name = "WORD,...", value_delimiter = ',')]
    skip: Vec<String>,
    #[command(flatten)]
    words: WordArgs,
    /// Lines `alpha wp number:words` for one set of parameters, too
    #[arg(long)]
    numbered: bool,
    /// Print the best strings (a stage passes the lattice on if this is not asked for)
    #[arg(long)]
    strings: bool,
    /// Stop with an error where the n-grams of an order need more arcs than this: about 90 bytes each
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    max_arcs: usize,
    /// Where the strings or lattices of a grid go.
    #[arg(skip)]
    files: Option<String>,
}

/// One set of parameters.
struct Point {
    alpha: usize,
    thetas: Thetas,
    wp: f64,
    values: [(&'static str, f64); 5],
}

impl Lmbr {
    /// The stage as the command runs it: it prints, or writes files of its own.
    pub fn command(&self, run: &RunArgs) -> Result<(Self, RunArgs)> {
        self.check()?;
        let (mut stage, mut run) = (self.clone(), run.clone());
        // The input need not be read a second time as evidence.
        for e in &mut stage.evidence {
            let (name, weight) = named_weight(e)?;
            if Some(name) == run.only_input() {
                *e = format!("-:{weight}");
            }
        }
        let name = run.output.clone().filter(|n| !io::is_stdio(n));
        stage.strings |= prints(name.as_deref(), false)?;
        let Some(name) = name else { return Ok((stage, run)) };
        let slots = ["alpha", "p", "r", "wp", "wps"].iter().any(|s| grid::has(&name, s));
        if stage.strings && slots {
            (stage.files, run.output) = (Some(name), None);
        } else if !stage.strings && (slots || stage.points()?.len() > 1) {
            stage.check_slots(&name)?;
            (stage.files, run.output) = (Some(name), None);
        }
        Ok((stage, run))
    }

    /// A lattice for every set of parameters needs a name of its own.
    fn check_slots(&self, name: &str) -> Result<()> {
        if name.ends_with(".far") {
            return Err(Error::usage(format!(
                "{name}: an archive a set of parameters is not written; put `?` in the name instead"
            )));
        }
        let lists = [("alpha", &self.alpha), ("p", &self.p), ("r", &self.r), ("wp", &self.wp)];
        for (slot, values) in lists {
            if values.0.len() > 1 && !grid::has(name, slot) && !(slot == "wp" && grid::has(name, "wps")) {
                return Err(Error::usage(format!(
                    "{name}: there are {} values of --{slot}, and their lattices would be one file; put %%{slot}%% in its name",
                    values.0.len()
                )));
            }
        }
        Ok(())
    }

    /// What can be known to be wrong before any lattice is read.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::usage(what));
        if let Some(a) = self.alpha.0.iter().find(|a| **a < 0.0) {
            return wrong(format!("--alpha {a}: a scale of costs is 0 or more"));
        }
        for (name, values) in [("--p", &self.p), ("--r", &self.r)] {
            if let Some(x) = values.0.iter().find(|x| **x <= 0.0) {
                return wrong(format!("{name} {x}: a precision is more than 0"));
            }
        }
        if !self.t.is_finite() || self.t <= 0.0 {
            return wrong(format!("--T {}: a number of words is more than 0", self.t));
        }
        let order = self.order()?;
        if !(1..=16).contains(&order) {
            return wrong(format!("n-grams of order {order}: expected 1 to 16"));
        }
        if self.preprune.is_some_and(|b| b.is_nan() || b < 0.0) {
            return wrong("--preprune: a beam is 0 or more".into());
        }
        if self.max_arcs >= u32::MAX as usize {
            return wrong(format!("--max-arcs {}: at most {}", self.max_arcs, u32::MAX - 1));
        }
        if self.points()?.iter().any(|p| p.thetas.0.iter().any(|t| !t.is_finite())) {
            return wrong("p, r and T make thetas that are no numbers".into());
        }
        self.evidence.iter().try_for_each(|e| named_weight(e).map(|_| ()))
    }

    fn order(&self) -> Result<usize> {
        match &self.theta {
            Some(Values(t)) if t.len() < 2 => {
                Err(Error::usage("--theta: expected theta0,theta1,...: two numbers or more"))
            }
            Some(Values(t)) => Ok(t.len() - 1),
            None => Ok(self.order),
        }
    }

    /// Every set of parameters, alpha first, wp last to change.
    fn points(&self) -> Result<Vec<Point>> {
        let order = self.order()?;
        let one = Values(vec![0.0]);
        let (ps, rs) = if self.theta.is_some() { (&one, &one) } else { (&self.p, &self.r) };
        let size = [self.alpha.0.len(), ps.0.len(), rs.0.len(), self.wp.0.len()]
            .iter()
            .try_fold(1usize, |n, &k| n.checked_mul(k));
        if size.is_none_or(|n| n > 1_000_000) {
            return Err(Error::usage("the grid has more than a million sets of parameters"));
        }
        let mut points = vec![];
        for (i, &alpha) in self.alpha.0.iter().enumerate() {
            for (&p, &r) in ps.0.iter().flat_map(|p| rs.0.iter().map(move |r| (p, r))) {
                let thetas = match &self.theta {
                    Some(Values(t)) => Thetas(t.clone()),
                    None => Thetas::from_precision(p, r, self.t, order),
                };
                for &wp in &self.wp.0 {
                    let values = [("alpha", alpha), ("p", p), ("r", r), ("wp", wp), ("wps", wp)];
                    points.push(Point { alpha: i, thetas: thetas.clone(), wp, values });
                }
            }
        }
        Ok(points)
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let points = self.points()?;
        let fst = env.get(None)?;
        let table = env.symbols_or(self.words.symbols(), fst.osyms(), false)?;
        let mut systems = vec![];
        for e in &self.evidence {
            let (name, weight) = named_weight(e)?;
            let other = if io::is_stdio(name) { None } else { Some(env.get_entry(name)?) };
            systems.push((name.to_string(), other, weight));
        }
        let mixture = || self.mixture(&fst, table.as_ref(), &systems);
        if self.strings {
            let number = env.number();
            let shown = table.as_deref().filter(|_| !self.words.numeric());
            match &self.files {
                None => put_text(env, || Ok(self.lines(&mixture()?, &points, number, shown)?.concat()))?,
                Some(name) => {
                    // In a trial run there are no lines, but it must be known that there will be.
                    env.gather(&points.first().map_or(String::new(), |p| grid::fill(name, &p.values)), "")?;
                    let lines = self.lines(&mixture()?, &points, number, shown)?;
                    for (point, line) in points.iter().zip(&lines) {
                        env.gather(&grid::fill(name, &point.values), line)?;
                    }
                }
            }
            return Ok(Status::Done);
        }
        if self.files.is_none() && points.len() > 1 {
            return Err(Error::usage(format!(
                "{} sets of parameters make so many lattices: print --strings, or name the lattices with %%alpha%% and the like (-o)",
                points.len()
            )));
        }
        let named = |point: &Point| self.files.as_ref().map(|name| grid::fill(name, &point.values));
        for name in points.iter().filter_map(named) {
            env.will_write(&name);
        }
        let m = mixture()?;
        for point in &points {
            let gains = gains(&m.grams, &m.posteriors[point.alpha], &point.thetas);
            let mut made = AnyFst::Standard(rescored(&m.lattice, &m.hypotheses, &gains, point.wp));
            made.set_isyms(table.clone());
            made.set_osyms(table.clone());
            env.put(named(point).as_deref(), made)?;
        }
        Ok(Status::Done)
    }

    /// The hypotheses with the n-gram posteriors of all systems.
    fn mixture(&self, fst: &AnyFst, table: Option<&Shared<SymbolTable>>, others: &[Other]) -> Result<Mixture> {
        let skip = self.skipped(table.map(|t| &**t))?;
        let mut input = with_fst!(fst, f => Lattice::new(OP, f))?;
        skip_words(&mut input, &skip);
        let prepared = |lattice: Lattice| match (self.unique, self.preprune) {
            (false, None) => Ok(lattice),
            (_, beam) => canonical(&lattice, beam, self.max_arcs),
        };
        let mut systems = vec![];
        let mut hypotheses = None;
        if others.is_empty() {
            systems.push(System { lattice: prepared(input)?, weight: 1.0, hypotheses: true });
        } else {
            let as_it_is = !self.unique && self.preprune.is_none();
            for (name, other, weight) in others {
                let Some(other) = other else {
                    let shared = as_it_is && !systems.iter().any(|s: &System| s.hypotheses);
                    systems.push(System { lattice: prepared(input.clone())?, weight: *weight, hypotheses: shared });
                    continue;
                };
                let mut lattice = with_fst!(&**other, f => Lattice::new(OP, f))
                    .map_err(|e| Error::op(OP, format!("{name}: {}", without_op(&e))))?;
                let own = other.osyms().or(table.filter(|_| self.words.symbols().is_some()));
                match_words(OP, name, &mut lattice, own.map(|t| &**t), table.map(|t| &**t))?;
                skip_words(&mut lattice, &skip);
                systems.push(System { lattice: prepared(lattice)?, weight: *weight, hypotheses: false });
            }
            hypotheses = (!systems.iter().any(|s| s.hypotheses)).then_some(input);
        }
        Mixture::new(OP, hypotheses, systems, &self.alpha.0, self.order()?, self.max_arcs)
    }

    /// The labels of the words that are none.
    fn skipped(&self, table: Option<&SymbolTable>) -> Result<Vec<Label>> {
        let label = |word: &String| match table {
            // A word that the table does not have is on no arc.
            Some(t) => Ok(t.key(word).and_then(|k| Label::try_from(k).ok())),
            None => word
                .parse()
                .map(Some)
                .map_err(|_| Error::usage(format!("--skip {word}: the lattices have no symbols, so this is no label"))),
        };
        self.skip.iter().filter_map(|w| label(w).transpose()).collect()
    }

    /// The best string of every point, with its values where that is asked for.
    fn lines(&self, m: &Mixture, points: &[Point], number: usize, table: Option<&SymbolTable>) -> Result<Vec<String>> {
        let precisions = self.theta.is_none() && (self.p.0.len() > 1 || self.r.0.len() > 1);
        let numbered = self.numbered || self.files.is_some() || points.len() > 1;
        let mut lines = Vec::with_capacity(points.len());
        let mut known: Option<(usize, &Thetas, Vec<f64>)> = None;
        for point in points {
            // Only the penalty changed: the gains of n-grams are the same.
            if known.as_ref().is_none_or(|k| k.0 != point.alpha || k.1 != &point.thetas) {
                known = Some((point.alpha, &point.thetas, gains(&m.grams, &m.posteriors[point.alpha], &point.thetas)));
            }
            let Some((.., gains)) = &known else { continue };
            let words = spell(OP, &best_path(&m.lattice, &m.hypotheses, gains, point.wp).0, table)?;
            let [(_, alpha), (_, p), (_, r), (_, wp), _] = point.values;
            lines.push(match (numbered, precisions) {
                (false, _) => format!("{words}\n"),
                (true, false) => format!("{alpha} {wp} {number}:{words}\n"),
                (true, true) => format!("{alpha} {wp} {p} {r} {number}:{words}\n"),
            });
        }
        Ok(lines)
    }
}

/// A lattice beside the input (none: the input itself), with its name and weight.
type Other = (String, Option<Shared<AnyFst>>, f64);

/// What an error says without the operation's name, which will be said again.
fn without_op(e: &Error) -> String {
    match e {
        Error::Op { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

/// `FILE:WEIGHT`, or `FILE` alone with the weight 1.
fn named_weight(text: &str) -> Result<(&str, f64)> {
    let Some((name, weight)) = text.rsplit_once(':').filter(|(_, w)| !w.contains('/')) else { return Ok((text, 1.0)) };
    match weight.parse::<f64>() {
        Ok(w) if w.is_finite() && w >= 0.0 => Ok((name, w)),
        Ok(w) => Err(Error::usage(format!("--evidence {text}: the weight {w} is not a number from 0 up"))),
        Err(_) => {
            Err(Error::usage(format!("--evidence {text}: {weight:?} is no weight; expected FILE or FILE:WEIGHT")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_weights() {
        assert_eq!(named_weight("a/?.fst.gz:0.25").unwrap(), ("a/?.fst.gz", 0.25));
        assert_eq!(named_weight("a.far").unwrap(), ("a.far", 1.0));
        assert_eq!(named_weight("c:/x/a.far").unwrap(), ("c:/x/a.far", 1.0));
        assert_eq!(named_weight("-:2").unwrap(), ("-", 2.0));
        for bad in ["a:-1", "a:nan", "a:x", "a:"] {
            assert!(named_weight(bad).is_err(), "{bad}");
        }
    }
}
