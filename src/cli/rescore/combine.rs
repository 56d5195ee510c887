//! `weft rescore combine`: the lattices of several systems made one.

use std::sync::Arc as Shared;

use clap::{Args, ValueEnum};

use super::lists::put_text;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::rescore::combine::{CombineConfig, OP, interpolate, intersect, mesh_of, union};
use crate::rescore::lattice::Lattice;
use crate::rescore::words::{share_words, word};
use crate::with_fst;

pub const HELP: &str = "Each lattice becomes a distribution first, p(path) = e^(-alpha * cost) over the sum for all its paths; the weights \
    are made to sum to 1. (--no-normalize: costs and weights as they are.)\n  \
    union        side by side: a path costs -ln(weight * p); a string may have several paths\n  \
    interpolate  -ln of the sum of weight * p over all paths of a string; one path a string\n  \
    intersect    the strings that all have, at the sum of alpha * weight * cost; weights are 1\n               \
    unless given, and nothing is made a distribution\n  \
    --mesh       a confusion network: bins of words with posteriors that sum to 1; every path of\n               \
    every lattice is one of its paths\n\n\
    A mesh has a bin for each word of the best path; other paths are aligned with it by edit distance, and words between \
    bins get bins of their own. Words are matched by name where tables differ. The results are acceptors of the words; \
    --text and --plf print a mesh. The first lattice is the input, as everywhere; --with names the others: a template, an \
    archive with the same keys, a file.\n\n\
    Examples:\n  weft rescore combine --with b/1.fst --weight 0.3 --weight 0.7 --mode interpolate lat.fst -o both.fst\n  \
    weft rescore combine --with 'b/?.fst' 'lats/?.fst' --range 1:3 -o 'both/?.fst'\n  \
    weft rescore combine --mesh --text --with 'b/?.fst' --weight 1 --weight 3 'lats/?.fst' --range 1:1\n  \
    weft rescore combine --mesh --plf lat.fst\n\n\
    The third prints, where the first system says \"a c\" or \"b c\" and the second \"a d c\":\n\
    \u{20}   a 0.875 b 0.125\n    d 0.75 *DELETE* 0.25\n    c 1";

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// All paths of all lattices
    #[default]
    Union,
    /// The strings that all have
    Intersect,
    /// The probabilities of strings, mixed
    Interpolate,
}

/// Make one lattice of several: union, intersection, interpolation, confusion network
#[derive(Args, Clone, Debug)]
pub struct Combine {
    /// Another lattice of the same sentence; may be given several times
    #[arg(long = "with", value_name = "FILE")]
    others: Vec<String>,
    /// Weights: of the input, then of each --with [default: all the same]
    #[arg(long = "weight", value_name = "W")]
    weights: Vec<f64>,
    /// What is made
    #[arg(long, value_enum, default_value_t, conflicts_with = "mesh")]
    mode: Mode,
    /// Make a confusion network
    #[arg(long)]
    mesh: bool,
    /// Print the confusion network, a bin a line: words and posteriors, *DELETE* for no word
    #[arg(long, requires = "mesh")]
    text: bool,
    /// Print the confusion network as Moses reads it (PLF)
    #[arg(long, requires = "mesh", conflicts_with = "text")]
    plf: bool,
    /// What costs are multiplied by
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f64,
    /// Take costs and weights as they are
    #[arg(long)]
    no_normalize: bool,
    /// Stop with an error at this many states (intersect, interpolate)
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_states: usize,
}

impl Combine {
    /// What can be known to be wrong before any lattice is read.
    pub fn check(&self) -> Result<()> {
        let lattices = self.others.len() + 1;
        if lattices == 1 && !self.mesh && self.mode != Mode::Interpolate {
            return Err(Error::usage("one lattice has nothing to be combined with: name others with --with"));
        }
        if !self.weights.is_empty() && self.weights.len() != lattices {
            return Err(Error::usage(format!(
                "{lattices} lattices and {} weights: give a --weight for the input and one for each --with, or none",
                self.weights.len()
            )));
        }
        self.config().check()
    }

    fn config(&self) -> CombineConfig {
        let weights = if self.weights.is_empty() { vec![1.0; self.others.len() + 1] } else { self.weights.clone() };
        let (alpha, normalize, max_states) = (self.alpha, !self.no_normalize, self.max_states.max(1));
        CombineConfig { weights, alpha, normalize, max_states }
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let mut names = vec!["the input".to_string()];
        let mut fsts = vec![env.get(None)?];
        for name in &self.others {
            names.push(name.clone());
            fsts.push(env.get_entry(name)?);
        }
        if self.text || self.plf {
            put_text(env, || {
                let (lattices, table) = self.lattices(&fsts, &names)?;
                let mesh = mesh_of(&lattices, &self.config())?;
                let word = |label| word(OP, label, table.as_deref());
                if self.text { mesh.text(word) } else { mesh.plf(word) }
            })?;
            return Ok(Status::Done);
        }
        let (lattices, table) = self.lattices(&fsts, &names)?;
        let mut made = match &*fsts[0] {
            AnyFst::Standard(_) => self.make(&lattices).map(AnyFst::Standard),
            AnyFst::Log(_) => self.make(&lattices).map(AnyFst::Log),
            AnyFst::Log64(_) => self.make(&lattices).map(AnyFst::Log64),
        }?;
        made.set_isyms(table.clone());
        made.set_osyms(table);
        env.put(None, made)?;
        Ok(Status::Done)
    }

    fn make<W: Weight>(&self, lattices: &[Lattice]) -> Result<FlatFst<W>> {
        let config = self.config();
        match self.mode {
            _ if self.mesh => Ok(mesh_of(lattices, &config)?.to_fst()),
            Mode::Union => Ok(union(lattices, &config)),
            Mode::Intersect => intersect(lattices, &config),
            Mode::Interpolate => interpolate(lattices, &config),
        }
    }

    /// The lattices with one numbering of words, and its table.
    fn lattices(
        &self,
        fsts: &[Shared<AnyFst>],
        names: &[String],
    ) -> Result<(Vec<Lattice>, Option<Shared<SymbolTable>>)> {
        let mut own: Vec<AnyFst> = fsts.iter().map(|f| (**f).clone()).collect();
        share_words(OP, &mut own, names)?;
        let mut lattices = vec![];
        for (fst, name) in own.iter().zip(names) {
            let lattice = with_fst!(fst, f => Lattice::new(OP, f)).map_err(|e| match e {
                Error::Op { op, message } if fsts.len() > 1 => Error::op(op, format!("{name}: {message}")),
                other => other,
            })?;
            lattices.push(lattice);
        }
        Ok((lattices, own[0].osyms().cloned()))
    }
}
