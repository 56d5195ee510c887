//! The script of a cascade: one stage a line, each parsed by the clap structs of `weft fst`.

use clap::{Command, FromArgMatches, Subcommand};

use super::stages::{PrintStrings, Save};
use crate::cli::args;
use crate::cli::env::{Env, Status};
use crate::cli::fst::FstCommand;
use crate::cli::lm::LmApply;
use crate::cli::rescore::RescoreStage;
use crate::error::{Error, Result};

/// What a line can be: any operation, or one of the few that only make sense here.
#[derive(Subcommand, Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a handful of values a process
pub enum StageCommand {
    #[command(flatten)]
    Fst(FstCommand),
    LmApply(LmApply),
    #[command(flatten)]
    Rescore(RescoreStage),
    Save(Save),
    Printstrings(PrintStrings),
}

/// One line of the script.
#[derive(Clone, Debug)]
pub struct Stage {
    pub command: StageCommand,
    /// The operation: `compose`.
    pub name: String,
    /// The line as it was understood: `compose - lm.fst`.
    pub words: String,
    /// `script.weft:3: `; empty for a command that is its only stage.
    pub place: String,
}

impl Stage {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        match &self.command {
            StageCommand::Fst(c) => c.run(env),
            StageCommand::LmApply(c) => c.run(env),
            StageCommand::Rescore(c) => c.run(env),
            StageCommand::Save(c) => c.run(env),
            StageCommand::Printstrings(c) => c.run(env),
        }
    }
    /// An error of this stage, with its place in the script.
    pub fn error(&self, e: &Error) -> String {
        let message = e.to_string();
        let named = message.starts_with(&format!("{}: ", self.name));
        if named { format!("{}{message}", self.place) } else { format!("{}{}: {message}", self.place, self.name) }
    }
}

/// The grammar of a line, as clap sees it.
pub fn grammar() -> Command {
    let command = Command::new("stage")
        .no_binary_name(true)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .disable_help_flag(true);
    args::openfst_booleans(StageCommand::augment_subcommands(command))
}

/// Parses a script. Every bad line is reported, not only the first.
pub fn parse(file: &str, text: &str) -> Result<Vec<Stage>> {
    let grammar = grammar();
    let mut stages = vec![];
    let mut bad = vec![];
    for (n, line) in text.lines().enumerate() {
        let place = format!("{file}:{}: ", n + 1);
        match parse_line(&grammar, &place, line) {
            Ok(Some(stage)) => stages.push(stage),
            Ok(None) => {}
            Err(message) => bad.push(format!("{place}{message}")),
        }
    }
    if !bad.is_empty() {
        return Err(Error::usage(bad.join("\n")));
    }
    if stages.is_empty() {
        return Err(Error::usage(format!("{file}: the script has no stages; write one a line, such as `rmepsilon`")));
    }
    Ok(stages)
}

fn parse_line(grammar: &Command, place: &str, line: &str) -> std::result::Result<Option<Stage>, String> {
    // shlex ends a line at an unquoted `#` that begins a word, as a shell does.
    let Some(mut words) = shlex::split(line) else {
        return Err("a quote is opened and not closed, or the line ends in a backslash".into());
    };
    for prefix in ["weft", "fst"] {
        if words.first().is_some_and(|w| w == prefix) {
            words.remove(0);
        }
    }
    // `weft lm apply` is the stage `lm-apply`, `weft rescore lmbr` is `rescore-lmbr`.
    if words.len() > 1 && ["lm", "rescore"].contains(&&*words[0]) {
        let joined = format!("{}-{}", words[0], words[1]);
        if grammar.find_subcommand(&joined).is_some() {
            words.splice(..2, [joined]);
        }
    }
    if words.is_empty() {
        return if line.trim_start().starts_with('#') || line.trim().is_empty() {
            Ok(None)
        } else {
            Err("expected an operation after `weft fst`".into())
        };
    }
    // `fstprune` of a pasted OpenFst command is `prune`.
    if let Some(short) = words[0].strip_prefix("fst")
        && grammar.find_subcommand(&words[0]).is_none()
        && grammar.find_subcommand(short).is_some()
    {
        words[0] = short.to_string();
    }
    if words.iter().any(|w| w == "|" || w == ">") {
        return Err("one stage a line: write what comes after `|` on the next line, and use `save FILE` for `>`".into());
    }
    let plain = |w: &str| !w.is_empty() && !w.contains(|c: char| c.is_whitespace() || "'\"\\#".contains(c));
    let quoted = words.iter().map(|w| match shlex::try_quote(w) {
        Ok(q) if !plain(w) => q.into_owned(),
        _ => w.clone(),
    });
    let shown = quoted.collect::<Vec<_>>().join(" ");
    let name = words[0].clone();
    let argv = args::openfst_spelling(grammar, words.into_iter().map(Into::into).collect());
    let command = grammar
        .clone()
        .try_get_matches_from(argv)
        .and_then(|m| StageCommand::from_arg_matches(&m))
        .map_err(|e| explain(&name, &e))?;
    Ok(Some(Stage { command, name, words: shown, place: place.to_string() }))
}

/// clap's message on one line if it can be, without the parts that only make sense on a command line.
fn explain(name: &str, e: &clap::Error) -> String {
    use clap::error::ErrorKind;
    if e.kind() == ErrorKind::DisplayHelp {
        return format!("help is not a stage; see `weft fst {name} --help`");
    }
    let text = e.render().to_string();
    let text = text.trim_start_matches("error: ").trim_end();
    let kept: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("For more information") && !l.starts_with("Usage: stage"))
        .collect();
    match e.kind() {
        ErrorKind::InvalidSubcommand => format!(
            "{}; a stage is an operation of `weft fst`, `lm-apply`, `rescore-...`, `save` or `printstrings`",
            kept.join("; ")
        )
        .replacen("unrecognized subcommand", "unknown stage", 1),
        _ => format!("{name}: {}", kept.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        parse("s", text).unwrap().into_iter().map(|s| s.words).collect()
    }

    #[test]
    fn comments_blanks_quotes_and_prefixes() {
        let text = "# a comment\n\n  arcsort --sort_type=olabel # why\nweft fst print\nfst print\nfstprint\n\
                    save 'my file.fst'\n";
        assert_eq!(words(text), ["arcsort --sort_type=olabel", "print", "print", "print", "save 'my file.fst'"]);
        assert_eq!(parse("s", text).unwrap()[0].place, "s:3: ");
    }

    #[test]
    fn every_bad_line_is_reported_with_its_place() {
        let e = parse("s.weft", "arcsort\nprnt\narcsort --sort-type up\nsave\n'open\nprint | head\nweft fst\n")
            .unwrap_err();
        let e = e.to_string();
        for want in [
            "s.weft:2: unknown stage 'prnt'",
            "tip: ",
            "s.weft:3: arcsort: invalid value 'up'",
            "s.weft:4: save: ",
            "s.weft:5: a quote is opened",
            "s.weft:6: one stage a line",
            "s.weft:7: expected an operation",
        ] {
            assert!(e.contains(want), "{want:?} is not in:\n{e}");
        }
        assert!(!e.contains("s.weft:1:"));
    }

    #[test]
    fn an_empty_script_is_an_error() {
        assert!(parse("s", "# nothing\n").unwrap_err().to_string().contains("no stages"));
    }

    #[test]
    fn the_grammar_is_sound() {
        grammar().debug_assert();
    }
}
