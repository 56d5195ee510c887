//! What is printed and written of a translation.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc as Shared;

use super::DecodeArgs;
use super::run::{Done, Sentence};
use crate::decode::{Decoder, Translation, dump};
use crate::error::{Error, Result};
use crate::format::far::{FarType, FarWriter};
use crate::format::{io, moses, template};
use crate::fst::flat::{EPSILON, FlatFst, Label};
use crate::fst::semiring::Tropical;
use crate::fst::symbols::SymbolTable;
use crate::rtn::derive::Derivation;
use crate::rtn::rule_lattice::labelled;
use crate::rules::grammar::{Grammar, PASS_THROUGH};
use crate::text::vocab::{self, WordId};

/// The common outputs, in the order of the sentences.
pub struct Outputs {
    text: io::Output,
    /// With its text: after the translation.
    derivations: Option<io::Output>,
    inline: bool,
    archive: Option<FarWriter>,
    rule_archive: Option<FarWriter>,
    rule_features: Option<io::Output>,
    /// Input labels of all rule lattices.
    rules: BTreeSet<Label>,
    width: usize,
}

impl Outputs {
    pub fn new(args: &DecodeArgs, sentences: &[Sentence]) -> Result<Self> {
        let derivations = args.derivation.as_deref().filter(|f| !io::is_stdio(f)).map(io::create).transpose()?;
        let archive = |name: &Option<String>| {
            let name = name.as_deref().filter(|f| !template::is_template(f));
            name.map(|f| FarWriter::create(f, FarType::Table)).transpose()
        };
        let archived = [&args.lattices, &args.rule_lattices].into_iter().flatten().any(|f| !template::is_template(f));
        let width = sentences.iter().map(|s| s.number).max().unwrap_or(0).to_string().len();
        if archived && sentences.windows(2).any(|p| p[0].number >= p[1].number) {
            return Err(Error::usage("an archive has its keys in order: name the sentences of --range in order"));
        }
        Ok(Outputs {
            text: io::create(&args.output)?,
            inline: args.derivation.is_some() && derivations.is_none(),
            derivations,
            archive: archive(&args.lattices)?,
            rule_archive: archive(&args.rule_lattices)?,
            rule_features: args.rule_features.as_deref().map(io::create).transpose()?,
            rules: BTreeSet::new(),
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
        self.rules.extend(&done.rules);
        let key = format!("{:0>w$}", done.number, w = self.width);
        let archives = [(&mut self.archive, &done.lattice), (&mut self.rule_archive, &done.rule_lattice)];
        for (archive, lattice) in archives {
            if let (Some(archive), Some(lattice)) = (archive, lattice) {
                archive.add(&key, lattice)?;
            }
        }
        Ok(())
    }

    pub fn finish(self, grammar: &Grammar) -> Result<()> {
        self.text.commit()?;
        self.derivations.map_or(Ok(()), io::Output::commit)?;
        self.archive.map_or(Ok(()), FarWriter::finish)?;
        self.rule_archive.map_or(Ok(()), FarWriter::finish)?;
        let Some(out) = self.rule_features else { return Ok(()) };
        let lines: String = self.rules.iter().map(|&l| format!("{l}\t{}\n", labelled_rule(grammar, l))).collect();
        out.write_and_commit(lines.as_bytes())
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

/// An n-best list of Moses; `number` counts from 0.
pub fn nbest(decoder: &Decoder, t: &Translation, number: usize) -> String {
    let mut out = String::new();
    for h in &t.hypotheses {
        moses::write_hypothesis(&mut out, number, &words(decoder, &h.words), &h.features, h.cost);
    }
    out
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
    let mut fst = with_words(decoder, t.lattice().whole.clone());
    fst.isyms = fst.osyms.clone();
    fst.all_arcs_mut().iter_mut().for_each(|a| a.ilabel = a.olabel);
    fst
}

/// Names of words for output labels; or HiFST's numbers for these.
fn with_words(decoder: &Decoder, mut fst: FlatFst<Tropical>) -> FlatFst<Tropical> {
    if !decoder.integers {
        fst.osyms = Some(dump::symbols(decoder, None, std::iter::once(&fst)));
        return fst;
    }
    for a in fst.all_arcs_mut() {
        // Words of such grammars are numbers; a word of a sentence that is none has no label in HiFST either.
        a.olabel = decoder.grammar.vocab.word(a.olabel as WordId).parse().unwrap_or(EPSILON);
    }
    fst
}

/// The rule lattice as it is written, with the names of its rules; and its rules' labels.
pub fn rule_lattice(decoder: &Decoder, t: &Translation) -> Result<(FlatFst<Tropical>, BTreeSet<Label>)> {
    let mut fst = with_words(decoder, decoder.rule_lattice(t)?);
    let labels: BTreeSet<Label> = fst.all_arcs().iter().map(|a| a.ilabel).filter(|&l| l != EPSILON).collect();
    let mut names = SymbolTable::new("rules");
    names.add_with_key(vocab::EPSILON, EPSILON as i64);
    for &label in &labels {
        let name = match labelled(&decoder.grammar, label) {
            Some(rule) => decoder.grammar.show(rule).replace(' ', "_"),
            None => PASS_THROUGH.to_string(),
        };
        // Two rules may look the same: those of two files, or with `_` in their words.
        let name = if names.key(&name).is_some() { format!("{name}#{label}") } else { name };
        names.add_with_key(&name, label as i64);
    }
    fst.isyms = Some(Shared::new(names));
    Ok((fst, labels))
}

/// The rule of an input label, as cdec writes it; what passes words through as a rule of that word.
fn labelled_rule(grammar: &Grammar, label: Label) -> String {
    let Some(rule) = labelled(grammar, label) else {
        let lhs = &grammar.nonterminals()[grammar.oov_nonterminal() as usize];
        return format!("[{lhs}] ||| {PASS_THROUGH} ||| {PASS_THROUGH} ||| {PASS_THROUGH}=1");
    };
    let mut line = grammar.show(rule);
    for (i, (name, value)) in grammar.rule_features(rule).enumerate() {
        let gap = if i == 0 { " ||| " } else { " " };
        let _ = write!(line, "{gap}{}={value}", grammar.features()[name as usize]);
    }
    line
}
