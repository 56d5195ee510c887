//! What is printed and written of a bag.

use std::io::Write;
use std::sync::Arc as Shared;

use crate::error::{Error, Result};
use crate::format::far::{FarType, FarWriter};
use crate::format::moses::write_hypothesis;
use crate::format::{io, template};
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::order::{Ordered, Orderer};
use crate::text::vocab::WordId;

/// The common outputs, in the order of the bags.
pub struct Outputs {
    text: io::Output,
    archive: Option<FarWriter>,
    width: usize,
}

impl Outputs {
    pub fn new(output: &str, lattices: Option<&str>, numbers: &[usize]) -> Result<Self> {
        let archived = lattices.filter(|f| !template::is_template(f));
        if archived.is_some() && numbers.windows(2).any(|p| p[0] >= p[1]) {
            return Err(Error::usage("an archive has its keys in order: name the bags of --range in order"));
        }
        Ok(Outputs {
            text: io::create(output)?,
            archive: archived.map(|f| FarWriter::create(f, FarType::Table)).transpose()?,
            width: numbers.iter().max().unwrap_or(&0).to_string().len(),
        })
    }

    pub fn accept(&mut self, number: usize, text: &str, lattice: Option<&AnyFst>) -> Result<()> {
        let name = self.text.name().to_string();
        self.text.write_all(text.as_bytes()).map_err(|e| Error::io(&name, e))?;
        if let (Some(archive), Some(lattice)) = (&mut self.archive, lattice) {
            archive.add(&format!("{number:0>w$}", w = self.width), lattice)?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        self.text.commit()?;
        self.archive.map_or(Ok(()), FarWriter::finish)
    }
}

pub fn words(orderer: &Orderer, words: &[WordId]) -> String {
    words.iter().map(|&w| orderer.word(w)).collect::<Vec<_>>().join(" ")
}

/// Moses' lines: number, words, scores of the models and of the rules, all together; logarithms, so that more is better.
pub fn nbest(orderer: &Orderer, done: &Ordered, number: usize) -> String {
    let models = if orderer.second.is_empty() { &orderer.models } else { &orderer.second };
    let mut out = String::new();
    for answer in &done.answers {
        let mut all = 0.0;
        let mut features = vec![];
        for (model, score) in models.iter().zip(orderer.scores(&answer.words)) {
            all += model.scale * score;
            features.push((model.feature.clone(), score));
        }
        // Costs of lattices are rounded: what is left of rules that cost nothing is not their cost.
        let rules = Some(answer.cost - all).filter(|r| r.abs() > 1e-4).unwrap_or(0.0);
        features.push(("Rules".into(), rules));
        write_hypothesis(&mut out, number, &words(orderer, &answer.words), &features, all + rules);
    }
    out
}

/// The lattice with its words.
pub fn lattice(orderer: &Orderer, fst: &FlatFst<Tropical>) -> AnyFst {
    let symbols = Shared::new(orderer.symbols(std::iter::once(fst)));
    AnyFst::Standard(fst.clone().with_symbols(Some(symbols.clone()), Some(symbols)))
}
