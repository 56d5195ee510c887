//! What is printed and written of a translation.

use std::fmt::Write as _;
use std::io::Write;

use super::DecodeArgs;
use super::run::{Done, Sentence};
use crate::decode::{Decoder, Translation, dump};
use crate::error::{Error, Result};
use crate::format::far::{FarType, FarWriter};
use crate::format::{io, number, template};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::rtn::derive::Derivation;
use crate::text::vocab::WordId;

/// The common outputs, in the order of the sentences.
pub struct Outputs {
    text: io::Output,
    /// With its text: after the translation.
    derivations: Option<io::Output>,
    inline: bool,
    archive: Option<FarWriter>,
    width: usize,
}

impl Outputs {
    pub fn new(args: &DecodeArgs, sentences: &[Sentence]) -> Result<Self> {
        let derivations = args.derivation.as_deref().filter(|f| !io::is_stdio(f)).map(io::create).transpose()?;
        let archive = args.lattices.as_deref().filter(|f| !template::is_template(f));
        let width = sentences.iter().map(|s| s.number).max().unwrap_or(0).to_string().len();
        if archive.is_some() && sentences.windows(2).any(|p| p[0].number >= p[1].number) {
            return Err(Error::usage("an archive has its keys in order: name the sentences of --range in order"));
        }
        Ok(Outputs {
            text: io::create(&args.output)?,
            inline: args.derivation.is_some() && derivations.is_none(),
            derivations,
            archive: archive.map(|f| FarWriter::create(f, FarType::Table)).transpose()?,
            width,
        })
    }

    pub fn accept(&mut self, done: Done) -> Result<()> {
        write(&mut self.text, &done.text)?;
        if self.inline {
            write(&mut self.text, &done.derivation)?;
        }
        if let Some(out) = &mut self.derivations {
            write(out, &format!("# {}\n{}", done.number, done.derivation))?;
        }
        match (&mut self.archive, &done.lattice) {
            (Some(archive), Some(lattice)) => archive.add(&format!("{:0>w$}", done.number, w = self.width), lattice),
            _ => Ok(()),
        }
    }

    pub fn finish(self) -> Result<()> {
        self.text.commit()?;
        self.derivations.map_or(Ok(()), io::Output::commit)?;
        self.archive.map_or(Ok(()), FarWriter::finish)
    }
}

fn write(out: &mut io::Output, text: &str) -> Result<()> {
    let name = out.name().to_string();
    out.write_all(text.as_bytes()).map_err(|e| Error::io(&name, e))
}

fn words(decoder: &Decoder, words: &[WordId]) -> String {
    words.iter().map(|&w| decoder.grammar.vocab.word(w)).collect::<Vec<_>>().join(" ")
}

/// The best translation as a line.
pub fn best(decoder: &Decoder, t: &Translation) -> String {
    let best = t.hypotheses.first().map_or(String::new(), |h| words(decoder, &h.words));
    best + "\n"
}

/// Moses' lines: number, words, features, score; logarithms, so that more is better.
pub fn nbest(decoder: &Decoder, t: &Translation, number: usize) -> String {
    let mut out = String::new();
    for h in &t.hypotheses {
        let _ = write!(out, "{number} ||| {} |||", words(decoder, &h.words));
        for (name, value) in &h.features {
            let _ = write!(out, " {name}= {}", shown(-value));
        }
        let _ = writeln!(out, " ||| {}", shown(-h.cost));
    }
    out
}

/// Nine significant digits; no minus before a zero.
fn shown(value: f64) -> String {
    let mut text = String::new();
    number::write_g(&mut text, value + 0.0, 9);
    text
}

/// The rules of the best translation, each with its span, below the rule that it is a part of.
pub fn derivation(decoder: &Decoder, t: &Translation) -> String {
    let mut out = String::new();
    let Some(tree) = t.hypotheses.first().and_then(|h| h.derivation.as_ref()) else { return out };
    let mut open: Vec<(&Derivation, usize)> = vec![(tree, 1)];
    while let Some((d, depth)) = open.pop() {
        let cell = &t.chart.cells[d.cell as usize];
        let name = &decoder.grammar.nonterminals()[cell.nt as usize];
        let rule = match d.rule {
            Some(rule) => format!("{}\t{}", decoder.grammar.show(rule), decoder.grammar.cost(rule)),
            None => format!("passed through\t{}", decoder.config.pass_through),
        };
        let _ = writeln!(out, "{:indent$}{name}[{}:{}] {rule}", "", cell.start, cell.end, indent = 2 * depth);
        open.extend(d.children.iter().rev().map(|c| (c, depth + 1)));
    }
    out
}

/// The lattice as it is written: with its words, or with HiFST's numbers for labels.
pub fn lattice(decoder: &Decoder, t: &Translation) -> FlatFst<Tropical> {
    let fst = t.lattice().whole.clone();
    if !decoder.integers {
        let symbols = dump::symbols(decoder, None, std::iter::once(&fst));
        return fst.with_symbols(Some(symbols.clone()), Some(symbols));
    }
    let mut fst = fst;
    for a in fst.all_arcs_mut() {
        // Words of such grammars are numbers; a word of a sentence that is none has no label in HiFST either.
        let label = decoder.grammar.vocab.word(a.olabel as WordId).parse().unwrap_or(0);
        (a.ilabel, a.olabel) = (label, label);
    }
    fst
}
