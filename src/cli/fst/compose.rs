use clap::Args;

use super::io::Binary;
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::compose::{ComposeConfig, ComposeFilter, Rewrite, Special, compose};
use crate::fst::explain::{Cause, Explanation, explain};
use crate::fst::flat::Label;
use crate::fst::symbols::SymbolTable;
use crate::{map_fst2, with_fst, with_fst2};

/// What compose, intersect and difference share.
#[derive(Args, Clone, Debug)]
pub struct ProductOptions {
    /// Composition filter, which decides among equal epsilon paths
    #[arg(long, value_enum, default_value_t)]
    compose_filter: ComposeFilter,
    /// Trim the result
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    connect: bool,
    /// Stop with an error when the product has more states (0: no limit, as without it)
    #[arg(long, value_name = "N")]
    max_states: Option<usize>,
}

impl ProductOptions {
    pub fn config(&self, special: Special) -> ComposeConfig {
        ComposeConfig {
            filter: self.compose_filter,
            connect: self.connect,
            special,
            max_states: self.max_states.filter(|&n| n > 0),
            ..Default::default()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
enum Operand {
    /// The output side of the first operand
    First,
    /// The input side of the second operand
    #[default]
    Second,
}

/// Compose two transducers
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  weft fst compose a.fst b.fst c.fst\n  weft fst compose --phi-label 99 a.fst b.fst -o c.fst\n  weft fst compose --explain a.fst b.fst -o c.fst"
)]
pub struct Cmd {
    #[command(flatten)]
    options: ProductOptions,
    /// Failure label: taken, at its cost, when nothing else matches; consumes nothing (back-off models)
    #[arg(long, value_name = "LABEL")]
    phi_label: Option<String>,
    /// Rest label: matches whatever nothing else matches
    #[arg(long, value_name = "LABEL")]
    rho_label: Option<String>,
    /// Wildcard label: matches every symbol
    #[arg(long, value_name = "LABEL")]
    sigma_label: Option<String>,
    /// The operand that the special labels stand in
    #[arg(long, value_enum, default_value_t)]
    special_side: Operand,
    /// Whether a matched special label is replaced on both sides of its arc
    #[arg(long, value_enum, default_value_t)]
    rewrite_mode: Rewrite,
    /// When the result is empty, say where it died: the first symbol that no path could match
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    io: Binary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let a = env.get(self.io.a())?;
        let b = env.get(self.io.b())?;
        let on_first = self.special_side == Operand::First;
        let table = if on_first { a.osyms() } else { b.isyms() }.map(|t| &**t);
        let special = Special {
            phi: label(&self.phi_label, table, "phi")?,
            rho: label(&self.rho_label, table, "rho")?,
            sigma: label(&self.sigma_label, table, "sigma")?,
            rewrite: self.rewrite_mode,
            on_first,
        };
        let config = self.options.config(special);
        let c = map_fst2!("compose", &*a, &*b, (f, g) => compose(f, g, &config))?;
        if self.explain && is_empty(&c) {
            let found = with_fst2!("compose", &*a, &*b, (f, g) => explain(f, g, &config))?;
            if let Some(e) = found {
                let names = (name_of(self.io.a()), name_of(self.io.b()));
                let table = a.osyms().or(b.isyms()).map(|t| &**t);
                env.note(&tell(&e, table, names));
            }
        }
        env.put(self.io.output(), c)?;
        Ok(Status::Done)
    }
}

fn name_of(operand: Option<&str>) -> &str {
    operand.filter(|n| *n != "-").unwrap_or("the piped automaton")
}

fn is_empty(fst: &AnyFst) -> bool {
    with_fst!(fst, f => f.states().all(|s| !f.is_final(s)))
}

/// A special label, as a number or as a symbol of the operand's table.
fn label(given: &Option<String>, table: Option<&SymbolTable>, what: &str) -> Result<Option<Label>> {
    let Some(text) = given else { return Ok(None) };
    let known = table.and_then(|t| t.key(text)).or_else(|| text.parse::<i64>().ok());
    match known.map(Label::try_from) {
        Some(Ok(l)) => Ok(Some(l)),
        _ => Err(Error::usage(format!(
            "--{what}-label {text}: expected a number, or a symbol of the operand's own symbol table"
        ))),
    }
}

fn tell(e: &Explanation, table: Option<&SymbolTable>, (a, b): (&str, &str)) -> String {
    let word = |l: Label| match table.and_then(|t| t.symbol(l as i64)) {
        Some(s) => s.to_string(),
        None => l.to_string(),
    };
    let list = |labels: &[Label]| {
        let mut text: Vec<String> = labels.iter().take(8).map(|&l| word(l)).collect();
        if labels.len() > 8 {
            text.push(format!("... ({} in all)", labels.len()));
        }
        text.join(" ")
    };
    let mut place = match e.prefix.len() {
        0 => "before any symbol was matched".to_string(),
        matched => {
            let tail = &e.prefix[matched.saturating_sub(8)..];
            let dots = if matched > 8 { "... " } else { "" };
            format!("after {matched} matched symbol{} ({dots}{})", if matched == 1 { "" } else { "s" }, list(tail))
        }
    };
    if !e.circling.is_empty() {
        place += &format!(", however often it goes in circles with {}", list(&e.circling));
    }
    let (s1, s2) = e.states;
    let at = format!("{a} is at state {s1}, {b} at state {s2}");
    match &e.cause {
        Cause::Empty(1) => format!("the composition is empty: {a} has no path from its start to a final state"),
        Cause::Empty(_) => format!("the composition is empty: {b} has no path from its start to a final state"),
        Cause::FirstEnds { expected } => format!(
            "the composition is empty: it died {place}; {at}; {a} ends there, but {b} must still read one of: {}",
            list(expected)
        ),
        Cause::SecondEnds { offered } => format!(
            "the composition is empty: it died {place}; {at}; {b} ends there, but {a} goes on with: {}",
            list(offered)
        ),
        Cause::Unmatched { offered, expected, never_in_second, never_in_first } => {
            let mut text = format!(
                "the composition is empty: it died {place}; {at}; {a} offers: {}; {b} reads: {}",
                list(offered),
                list(expected)
            );
            if !never_in_second.is_empty() {
                text += &format!("; never read anywhere in {b}: {}", list(never_in_second));
            } else if !never_in_first.is_empty() && offered.len() > 8 {
                text += &format!("; never written anywhere in {a}: {}", list(never_in_first));
            }
            text
        }
    }
}
