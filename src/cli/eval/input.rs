//! What the metrics of translations share: references and hypotheses on the command line.

use clap::Args;

use crate::error::{Error, Result};
use crate::eval::corpus::{References, Sentences};
use crate::format::io;

/// References beside the first.
#[derive(Args, Debug)]
pub struct MoreRefs {
    /// Another reference file; may be given several times
    #[arg(long = "ref", value_name = "FILE")]
    more: Vec<String>,
    /// Every line of REF has N references with tabs between them
    #[arg(long, aliases = ["nr"], default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "more")]
    num_refs: u16,
    /// An empty line of a reference file is no reference, instead of an empty one
    #[arg(long)]
    skip_empty_refs: bool,
}

impl MoreRefs {
    /// All references. Standard input can be only one of the files, `others` among them.
    pub fn read(&self, first: &str, others: &[&str]) -> Result<References> {
        let names: Vec<&str> = [first].into_iter().chain(self.more.iter().map(String::as_str)).collect();
        if names.iter().chain(others).filter(|n| io::is_stdio(n)).count() > 1 {
            return Err(Error::usage("standard input can be read only once; name a file for the others"));
        }
        match self.num_refs {
            1 => References::read(&names, self.skip_empty_refs),
            n => References::read_columns(first, n as usize, self.skip_empty_refs),
        }
    }
}

/// References and one hypothesis.
#[derive(Args, Debug)]
pub struct Texts {
    /// Reference translations, a sentence a line
    #[arg(value_name = "REF")]
    reference: String,
    /// The translations to judge (`-` or nothing: standard input)
    #[arg(value_name = "HYP", default_value = "-", hide_default_value = true)]
    hypothesis: String,
    #[command(flatten)]
    refs: MoreRefs,
}

impl Texts {
    pub fn read(&self) -> Result<(References, Sentences)> {
        let refs = self.refs.read(&self.reference, &[&self.hypothesis])?;
        let hyp = refs.read_hypotheses(&self.hypothesis)?;
        Ok((refs, hyp))
    }
}
