//! The lattices of the parts of a sentence, joined in order: every path of the first, then every path of the second, ...
//!
//! Where two parts meet, sentence boundaries make no sense: the end of a sentence in a part that is not the last, and the
//! beginning in one that is not the first, become epsilons, their costs kept, so that a language model goes on across the
//! joint. Tables that differ are merged by name. Linear in all parts together times their number; cycles do no harm.

use super::lattice::{check_weights, no_path};
use super::words::share_tables;
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::concat::concat as concat_two;
use crate::fst::connect::connect;
use crate::fst::flat::{EPSILON, FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::{map_fst, map_fst2, with_fst};

pub const OP: &str = "rescore-concat";

/// What becomes of sentence boundaries at the joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Joints {
    /// They become epsilons; their costs stay
    #[default]
    Drop,
    /// They stay words
    Keep,
}

#[derive(Clone, Debug)]
pub struct ConcatConfig {
    pub joints: Joints,
    /// The words, or the numbers where there is no table, that begin and end a sentence.
    pub begin: String,
    pub end: String,
}

/// Parts of one semiring; `names` are for errors.
pub fn concat(mut parts: Vec<AnyFst>, names: &[String], config: &ConcatConfig) -> Result<AnyFst> {
    for (part, name) in parts.iter().zip(names) {
        let named = |e: Error| match e {
            Error::Op { op, message } => Error::op(op, format!("{name}: {message}")),
            other => other,
        };
        with_fst!(part, f => check(f)).map_err(named)?;
    }
    share_tables(OP, &mut parts, names)?;
    let last = parts.len().saturating_sub(1);
    let mut whole: Option<AnyFst> = None;
    for (i, mut part) in parts.into_iter().enumerate() {
        if config.joints == Joints::Drop {
            let mut gone = vec![];
            gone.extend((i > 0).then(|| label(&part, &config.begin)).flatten());
            gone.extend((i < last).then(|| label(&part, &config.end)).flatten());
            with_fst!(&mut part, f => drop_words(f, &gone));
        }
        whole = Some(match whole {
            None => map_fst!(part, f => Ok::<_, Error>(connect(f)))?,
            Some(before) => map_fst2!(OP, before, part, (f, g) => concat_two(&f, &connect(g)))?,
        });
    }
    whole.ok_or_else(|| Error::op(OP, "there are no parts"))
}

fn check<W: Weight>(fst: &FlatFst<W>) -> Result<()> {
    check_weights(OP, fst)?;
    let there = crate::fst::visit::on_a_path(fst).into_iter().any(|on| on);
    if there { Ok(()) } else { Err(no_path(OP)) }
}

/// The output label of a word, or the number itself where there is no table.
fn label(fst: &AnyFst, word: &str) -> Option<Label> {
    match fst.osyms() {
        Some(table) => table.key(word).and_then(|k| Label::try_from(k).ok()),
        None => word.parse().ok(),
    }
}

/// These words become epsilons; on the input side, too, where that says the same.
fn drop_words<W: Weight>(fst: &mut FlatFst<W>, words: &[Label]) {
    if words.is_empty() {
        return;
    }
    for a in fst.all_arcs_mut() {
        if words.contains(&a.olabel) {
            if a.ilabel == a.olabel {
                a.ilabel = EPSILON;
            }
            a.olabel = EPSILON;
        }
    }
}
