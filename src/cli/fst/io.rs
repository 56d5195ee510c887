//! The positional arguments that operations share: OpenFst's order, with `-o` as a second way to name the output.

use clap::Args;

use crate::error::{Error, Result};
use crate::format::io::is_stdio;
use crate::format::number::parse_weight;

/// Several results of one command go to different places; nothing or `-` is standard output.
pub fn distinct(outputs: &[Option<&str>]) -> Result<()> {
    let places: Vec<&str> =
        outputs.iter().map(|o| o.filter(|name| !is_stdio(name)).unwrap_or("standard output")).collect();
    for (i, place) in places.iter().enumerate() {
        if places[..i].contains(place) {
            return Err(Error::usage(format!(
                "two results would both go to {place}; name another file for one of them"
            )));
        }
    }
    Ok(())
}

/// How far apart equal weights may be.
pub fn nearness(delta: f32) -> Result<()> {
    if delta >= 0.0 && delta.is_finite() {
        return Ok(());
    }
    Err(Error::usage(format!("--delta {delta}: expected a number, 0 or more")))
}

/// A weight as the text of an option: whether it fits the semiring shows when there is an automaton.
pub fn weight_text(text: &str) -> std::result::Result<String, String> {
    // Numbers that are too large for any semiring get their message with the others.
    let number = text.is_empty() || parse_weight(text).is_some() || text.parse::<f64>().is_ok_and(|x| !x.is_nan());
    if number { Ok(text.to_string()) } else { Err("expected a number or Infinity".into()) }
}

/// `[IN] [OUT]`, or `[IN] -o OUT`.
#[derive(Args, Clone, Debug, Default)]
pub struct Unary {
    /// Input automaton (`-` or nothing: standard input)
    #[arg(value_name = "IN")]
    pub input: Option<String>,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Unary {
    pub fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref().or(self.out.as_deref())
    }
}

/// `A [B] [OUT]`, or `A [B] -o OUT`.
#[derive(Args, Clone, Debug)]
pub struct Binary {
    /// First automaton (`-`: standard input)
    #[arg(value_name = "A")]
    pub a: String,
    /// Second automaton (`-` or nothing: standard input)
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Output automaton (`-` or nothing: standard output)
    #[arg(value_name = "OUT", conflicts_with = "output")]
    out: Option<String>,
    /// Output file, instead of OUT
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Binary {
    pub fn a(&self) -> Option<&str> {
        Some(&self.a)
    }
    pub fn b(&self) -> Option<&str> {
        self.b.as_deref()
    }
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref().or(self.out.as_deref())
    }
}
