//! `weft lm apply`, and the same as a stage of a cascade, `lm-apply`.

use std::sync::Arc as Shared;

use clap::Args;

use crate::cli::cascade::RunArgs;
use crate::cli::cascade::script::{Stage, StageCommand};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::io;
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::lm::NgramModel;
use crate::lm::apply::{self, ApplyConfig, Boundaries, Part, Term};
use crate::with_fst;

/// Adds the scores of language models to lattices, exactly; with a beam, prunes while it composes
#[derive(Args, Debug)]
#[command(after_help = "The words of a lattice are its output labels, by its own symbol table or by --symbols. \
                  The result's costs are\n  lattice + scale * -ln p(words) [each model] + word-penalty * words\n\
                  `lm-apply` with the same options is a stage of `weft cascade`. The parts of --keep-separate are called lattice,\n\
                  lm1, lm2, ..., subtract1, ..., words; sums of them with other weights are other rescorings.\n\n\
                  Examples:\n  weft lm apply --lm lm.arpa --prune 9 lat.fst -o out.fst\n  \
                  weft lm apply --lm lm.arpa --scale 0.8 --boundaries add 'lats/?.fst' -o 'out/?.fst.gz' --range 1:3 --keep-separate\n  \
                  weft lm apply --lm big.arpa --subtract lm.arpa s.far -o rescored.far")]
pub struct Cmd {
    #[command(flatten)]
    stage: LmApply,
    #[command(flatten)]
    run: RunArgs,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        // What is wrong with the options is said once, not once a lattice.
        let scales = self.stage.terms()?.into_iter().map(|t| t.scale);
        apply::check(&self.stage.config(), scales)?;
        let mut stage = self.stage.clone();
        if stage.keep_separate.as_deref() == Some("") {
            stage.keep_separate = Some(self.parts_name()?);
        }
        let stage = Stage {
            command: StageCommand::LmApply(stage),
            name: apply::OP.into(),
            words: apply::OP.into(),
            place: String::new(),
        };
        self.run.run(&[stage])
    }

    /// Where the parts go if nothing is said: `out/?.fst.gz` has `out/?.parts.far` beside it.
    fn parts_name(&self) -> Result<String> {
        let Some(output) = self.run.output.as_deref().filter(|o| !io::is_stdio(o)) else {
            return Err(Error::usage(
                "--keep-separate without a name needs -o; or name it: --keep-separate=parts/?.far",
            ));
        };
        let base = [".gz", ".zst", ".zstd"].iter().find_map(|s| output.strip_suffix(s)).unwrap_or(output);
        Ok(match (base.strip_suffix(".far"), base.strip_suffix(".fst").unwrap_or(base)) {
            (Some(archive), _) => format!("{archive}.?.parts.far"),
            (None, base) => format!("{base}.parts.far"),
        })
    }
}

/// Adds the scores of language models, exactly
#[derive(Args, Clone, Debug)]
pub struct LmApply {
    /// Model to add; may be given several times
    #[arg(long = "lm", value_name = "MODEL", required_unless_present = "subtract")]
    models: Vec<String>,
    /// What the score of a model is multiplied by: one for each --lm [default: 1]
    #[arg(long = "scale", value_name = "X", allow_negative_numbers = true)]
    scales: Vec<f64>,
    /// Model to take away: its score is in the lattice already; may be given several times
    #[arg(long, value_name = "MODEL")]
    subtract: Vec<String>,
    /// What the score of a subtracted model was multiplied by: one for each --subtract [default: 1]
    #[arg(long = "subtract-scale", value_name = "X", allow_negative_numbers = true)]
    subtract_scales: Vec<f64>,
    /// Cost added for every word; <s> and </s> are none
    #[arg(long, value_name = "COST", default_value_t = 0.0, allow_negative_numbers = true)]
    word_penalty: f64,
    /// -ln p of a word that a model does not know, instead of the model's <unk>
    #[arg(long, value_name = "COST", allow_negative_numbers = true)]
    oov_cost: Option<f64>,
    /// Where the sentence boundaries are
    #[arg(long, value_enum, default_value_t)]
    boundaries: Boundaries,
    /// Keep what is at most this much worse than the best path; nothing else is built
    #[arg(long, value_name = "BEAM", allow_negative_numbers = true)]
    prune: Option<f64>,
    /// Symbol table that names the lattices' output labels, instead of their own
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
    /// Keep the old and the new scores apart: beside each result, an archive of automata of its shape, one for each part of
    /// the costs, unscaled [default: OUTPUT with .parts.far]
    #[arg(long, value_name = "FAR", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    keep_separate: Option<String>,
    /// Stop with an error at this many states
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
}

impl LmApply {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let terms = self.terms()?;
        let loaded: Vec<Shared<NgramModel>> = terms.iter().map(|t| env.model(&t.file)).collect::<Result<_>>()?;
        let terms: Vec<Term> = terms
            .iter()
            .zip(&loaded)
            .map(|(t, model)| Term { model: &**model, scale: t.scale, name: &t.file, part: &t.part })
            .collect();
        let named = self.symbols.as_deref().map(|name| env.symbols(name)).transpose()?;
        let kept = named.clone();
        let lattice = env.get(None)?;
        let done = match &*lattice {
            AnyFst::Standard(f) => self.apply(f, &terms, named).map(any),
            AnyFst::Log(f) => self.apply(f, &terms, named).map(any),
            AnyFst::Log64(f) => self.apply(f, &terms, named).map(any),
        };
        let (mut fst, parts) = done?;
        // Words by which the labels were understood stay with them.
        if let (Some(table), None) = (&kept, fst.osyms()) {
            fst.set_osyms(Some(table.clone()));
            if fst.isyms().is_none() && with_fst!(&fst, f => f.is_acceptor()) {
                fst.set_isyms(Some(table.clone()));
            }
        }
        if let Some(name) = &self.keep_separate {
            if name.is_empty() {
                return Err(Error::usage("--keep-separate as a stage needs a name: --keep-separate=parts/?.far"));
            }
            env.put_archive(name, &parts)?;
        }
        env.put(None, fst)?;
        Ok(Status::Done)
    }

    fn terms(&self) -> Result<Vec<Named>> {
        let mut terms = named_terms("--lm", "--scale", "lm", &self.models, &self.scales)?;
        let subtracted =
            named_terms("--subtract", "--subtract-scale", "subtract", &self.subtract, &self.subtract_scales)?;
        terms.extend(subtracted.into_iter().map(|t| Named { scale: -t.scale, ..t }));
        Ok(terms)
    }

    fn config(&self) -> ApplyConfig {
        ApplyConfig {
            boundaries: self.boundaries,
            word_penalty: self.word_penalty,
            oov_cost: self.oov_cost,
            prune: self.prune,
            max_states: self.max_states,
            silent: false,
        }
    }

    fn apply<W: Weight>(
        &self,
        lattice: &FlatFst<W>,
        terms: &[Term],
        named: Option<Shared<SymbolTable>>,
    ) -> Result<(FlatFst<W>, Vec<Part<W>>)> {
        let config = self.config();
        let empty = Shared::default();
        let table = match (named.as_ref(), lattice.osyms.as_ref()) {
            (Some(table), _) | (None, Some(table)) => table,
            (None, None) if lattice.num_arcs() == 0 => &empty,
            (None, None) => {
                return Err(Error::op(
                    apply::OP,
                    "the lattice has no symbol table; name one with --symbols, so that its labels are words",
                ));
            }
        };
        if self.keep_separate.is_some() {
            return apply::apply_with_parts(lattice, terms, table, &config);
        }
        apply::apply(lattice, terms, table, &config).map(|fst| (fst, vec![]))
    }
}

/// A model as the user named it.
struct Named {
    file: String,
    scale: f64,
    part: String,
}

fn named_terms(lm: &str, scale: &str, part: &str, files: &[String], scales: &[f64]) -> Result<Vec<Named>> {
    if !scales.is_empty() && scales.len() != files.len() {
        return Err(Error::usage(format!(
            "{} models and {} scales: give a {scale} for each {lm}, or none",
            files.len(),
            scales.len()
        )));
    }
    let named = |(i, file): (usize, &String)| Named {
        file: file.clone(),
        scale: scales.get(i).copied().unwrap_or(1.0),
        part: format!("{part}{}", i + 1),
    };
    Ok(files.iter().enumerate().map(named).collect())
}

fn any<W: Weight>((fst, parts): (FlatFst<W>, Vec<Part<W>>)) -> (AnyFst, Vec<(String, AnyFst)>)
where
    AnyFst: From<FlatFst<W>>,
{
    // An archive's keys stand in order.
    let mut parts: Vec<(String, AnyFst)> = parts.into_iter().map(|p| (p.name, p.fst.into())).collect();
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    (fst.into(), parts)
}
