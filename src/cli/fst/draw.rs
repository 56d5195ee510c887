use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::format::dot::{self, DotConfig};
use crate::format::number::FloatFormat;
use crate::with_fst;

/// Draw an automaton for GraphViz's `dot`
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst draw --portrait a.fst a.dot")]
pub struct Cmd {
    /// One label an arc, if the automaton is an acceptor
    #[arg(long)]
    acceptor: bool,
    /// Symbol table of the input labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    isymbols: Option<String>,
    /// Symbol table of the output labels, instead of the one inside
    #[arg(long, value_name = "FILE")]
    osymbols: Option<String>,
    /// Symbol table of the states
    #[arg(long, value_name = "FILE")]
    ssymbols: Option<String>,
    /// Numbers even where there are symbol tables
    #[arg(long)]
    numeric: bool,
    /// Title of the drawing
    #[arg(long, default_value = "", value_name = "TEXT")]
    title: String,
    /// Width in inches
    #[arg(long, default_value_t = 8.5)]
    width: f32,
    /// Height in inches
    #[arg(long, default_value_t = 11.0)]
    height: f32,
    /// Upright page, instead of landscape
    #[arg(long)]
    portrait: bool,
    /// From bottom to top, instead of from left to right
    #[arg(long)]
    vertical: bool,
    /// Least distance between ranks
    #[arg(long, default_value_t = 0.4)]
    ranksep: f32,
    /// Least distance between nodes
    #[arg(long, default_value_t = 0.25)]
    nodesep: f32,
    /// Size of letters
    #[arg(long, default_value_t = 14)]
    fontsize: i32,
    /// Digits of weights
    #[arg(long, default_value_t = 5)]
    precision: usize,
    /// Format of weights, in the sense of C's printf
    #[arg(long, value_enum, default_value_t)]
    float_format: FloatFormat,
    /// Show weights that are one, too
    #[arg(long)]
    show_weight_one: bool,
    /// Accepted for OpenFst's sake; negative labels are always drawn
    #[arg(long, hide = true)]
    allow_negative_labels: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let fst = env.get(self.io.input())?;
        let config = DotConfig {
            acceptor: self.acceptor,
            isymbols: env.symbols_or(self.isymbols.as_deref(), fst.isyms(), self.numeric)?,
            osymbols: env.symbols_or(self.osymbols.as_deref(), fst.osyms(), self.numeric)?,
            ssymbols: env.symbols_or(self.ssymbols.as_deref(), None, self.numeric)?,
            title: self.title.clone(),
            width: self.width,
            height: self.height,
            portrait: self.portrait,
            vertical: self.vertical,
            ranksep: self.ranksep,
            nodesep: self.nodesep,
            fontsize: self.fontsize,
            precision: self.precision,
            float_format: self.float_format,
            show_weight_one: self.show_weight_one,
        };
        let name = self.io.output().unwrap_or("standard output").to_string();
        env.text(self.io.output(), &mut |mut out| with_fst!(&*fst, f => dot::write(&mut out, &name, f, &config)))?;
        Ok(Status::Done)
    }
}
