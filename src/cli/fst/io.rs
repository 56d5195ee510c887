//! The positional arguments that operations share: OpenFst's order, with `-o` as a second way to name the output.

use clap::Args;

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
