//! `weft lattice import`: lattices of HTK, Kaldi and Moses as automata.

use clap::{Args, Subcommand, ValueEnum};

use super::claims::Claims;
use super::env::Status;
use crate::error::{Error, Result};
use crate::format::binary::{self, Container};
use crate::format::far::{FarType, FarWriter};
use crate::format::lattice::{Imported, Scales, kaldi, plf, slf};
use crate::format::{io, symtab, template};
use crate::fst::any::AnyFst;
use crate::fst::symbols::SymbolTable;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  printf \"((('a',0.5,1),('b',0.5,1),),(('c',1,1),),)\\n\" > in.plf\n  \
                  weft lattice import --from plf in.plf -o in.far")]
pub struct LatticeArgs {
    #[command(subcommand)]
    command: LatticeCommand,
}

#[derive(Subcommand, Debug)]
enum LatticeCommand {
    Import(Import),
}

impl LatticeArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            LatticeCommand::Import(c) => c.run(),
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// HTK's Standard Lattice Format: one lattice a file
    Slf,
    /// Kaldi's lattices and compact lattices as text, with their keys
    Kaldi,
    /// Moses' Python-like format: one lattice a line
    Plf,
}

/// Read lattices of HTK, Kaldi and Moses
#[derive(Args, Debug)]
#[command(
    after_help = "The results are acceptors of words, their costs -ln of probabilities, scores added up as scaled. `?` in -o, or the key \
                  in an archive, is the name of the file (slf), the key (kaldi) or the number of the line (plf). A lattice that \
                  cannot be read is named, the others go on.\n\n\
                  Examples:\n  printf \"((('a',0.5,1),('b',0.25,1),),(('c',1,1),),)\\n\" > in.plf\n  \
                  weft lattice import --from plf in.plf -o in.far\n  \
                  weft rescore kbest -n 2 --format strings in.far\n  \
                  printf 'u1\\n0 1 a 1.5,20,\\n0 1 b 2,10,\\n1 0.5,0,\\n\\n' > lat.txt\n  \
                  weft lattice import --from kaldi --acoustic-scale 0.1 lat.txt -o 'k/?.fst'"
)]
struct Import {
    /// Files to read (`-` or nothing: standard input)
    #[arg(value_name = "FILE")]
    inputs: Vec<String>,
    /// What they are
    #[arg(long, value_enum)]
    from: From,
    /// A name with `?`, an archive (.far), or a file if there is one lattice
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// What acoustic scores are multiplied by [default: the file's own scale, or 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    acoustic_scale: Option<f64>,
    /// What language model or graph scores are multiplied by, or the probabilities of PLF [default: the same]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    lm_scale: Option<f64>,
    /// Cost added for every word [default: the file's own penalty, or 0]
    #[arg(long, value_name = "COST", allow_negative_numbers = true)]
    word_penalty: Option<f64>,
    /// Symbol table that names the words of Kaldi's lattices where they are numbers
    #[arg(long, value_name = "FILE")]
    symbols: Option<String>,
}

enum Target {
    Template(Claims),
    Archive(Box<FarWriter>),
    One,
}

/// Where lattices go, and how many came.
struct Sink<'a> {
    output: &'a str,
    target: Target,
    total: usize,
    failed: usize,
}

impl Sink<'_> {
    fn accept(&mut self, file: &str, lattice: Imported) -> Result<()> {
        self.total += 1;
        let key = lattice.key;
        let written = lattice.fst.map(AnyFst::Standard).and_then(|fst| match &mut self.target {
            Target::Template(claims) => {
                let flat = key.replace('/', "_");
                claims.claim(&flat, &format!("{file} ({key})"))?;
                binary::write(&template::fill(self.output, &flat), &fst, Container::Vector)
            }
            Target::Archive(far) => far.add(&key, &fst),
            Target::One if self.total > 1 => Err(Error::usage(format!(
                "{}: one file cannot hold several lattices; put `?` in its name or end it in .far",
                self.output
            ))),
            Target::One => binary::write(self.output, &fst, Container::Vector),
        });
        match written {
            Err(e @ Error::Io { .. }) => Err(e),
            Err(e) => {
                self.failed += 1;
                // What is wrong with a text has its file already.
                let place = if matches!(e, Error::Text { .. }) { String::new() } else { format!("{file}: ") };
                crate::cli::say!("weft: {key}: {place}{e}");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

impl Import {
    fn run(&self) -> Result<Status> {
        let scales = Scales { acoustic: self.acoustic_scale, lm: self.lm_scale, word_penalty: self.word_penalty };
        if let Some(bad) =
            [scales.acoustic, scales.lm, scales.word_penalty].into_iter().flatten().find(|s| !s.is_finite())
        {
            return Err(Error::usage(format!("{bad} is no scale; expected a number")));
        }
        let table = self.symbols.as_deref().map(symtab::read).transpose()?;
        let target = if template::is_template(&self.output) {
            Target::Template(Claims::new([self.output.clone()], None))
        } else if self.output.ends_with(".far") {
            Target::Archive(Box::new(FarWriter::create(&self.output, FarType::Table)?))
        } else {
            Target::One
        };
        let mut sink = Sink { output: &self.output, target, total: 0, failed: 0 };
        let stdin = ["-".to_string()];
        for name in if self.inputs.is_empty() { &stdin[..] } else { &self.inputs } {
            self.file(name, &scales, table.as_ref(), &mut sink)?;
        }
        let Sink { target, total, failed, .. } = sink;
        if let Target::Archive(far) = target {
            far.finish()?;
        }
        if failed > 0 {
            crate::cli::say!("weft: {failed} of {total} lattices failed");
        }
        Ok(Status::from_answer(failed == 0))
    }

    fn file(&self, name: &str, scales: &Scales, table: Option<&SymbolTable>, sink: &mut Sink) -> Result<()> {
        let (shown, text) = io::read_text(name)?;
        match self.from {
            From::Slf => {
                let fst = slf::read(&shown, &text, scales);
                sink.accept(&shown, Imported { key: stem(name), fst })
            }
            From::Kaldi => kaldi::read(&shown, &text, scales, table).try_for_each(|l| sink.accept(&shown, l)),
            From::Plf => plf::read(&shown, &text, scales).try_for_each(|l| sink.accept(&shown, l)),
        }
    }
}

/// A file's name without its folder and its suffixes.
fn stem(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    let plain = [".gz", ".zst", ".zstd"].iter().find_map(|s| base.strip_suffix(s)).unwrap_or(base);
    let plain = [".slf", ".lat", ".txt"].iter().find_map(|s| plain.strip_suffix(s)).unwrap_or(plain);
    if io::is_stdio(plain) { "1".into() } else { plain.to_string() }
}
