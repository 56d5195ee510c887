//! Spellings: what an OpenFst user types is what clap understands.
//!
//! OpenFst's options have underscores (`--sort_type`), may begin with one dash (`-sort_type`), and booleans may be given a
//! value (`--connect=false`, `--connect=0`). Here `--sort_type` becomes `--sort-type`; negative numbers after `=` are left alone.

use std::any::TypeId;
use std::ffi::OsString;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Command};

/// Lets every boolean option take a value, `--unique` or `--unique=true` or `--unique=false`, at every level. An option
/// that is given twice has its last value, as in OpenFst.
pub fn openfst_booleans(command: Command) -> Command {
    command
        .args_override_self(true)
        .mut_args(|arg| match arg.get_action() {
            ArgAction::SetTrue => arg
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .hide_possible_values(true)
                .value_name("BOOL")
                .value_parser(BoolishValueParser::new())
                .hide_default_value(true)
                .default_value("false")
                .default_missing_value("true"),
            // Booleans that are true unless somebody says otherwise.
            ArgAction::Set if arg.get_value_parser().type_id() == TypeId::of::<bool>() => {
                arg.hide_possible_values(true).value_name("BOOL").value_parser(BoolishValueParser::new())
            }
            _ => arg,
        })
        .mut_subcommands(openfst_booleans)
}

/// Rewrites options to the spelling clap knows. File names and values stay as they are.
pub fn openfst_spelling(command: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    let mut names = long_names(command);
    // sacreBLEU's short names of more than one letter, `-tok`, are aliases of the command's options.
    let called = argv.get(1).and_then(|name| command.find_subcommand(name));
    names.extend(called.map(aliases).unwrap_or_default());
    let mut only_values = false;
    argv.into_iter()
        .map(|arg| {
            let Some(text) = arg.to_str() else { return arg };
            if text == "--" {
                only_values = true;
            }
            if only_values {
                return arg;
            }
            match respell(text, &names) {
                Some(new) => OsString::from(new),
                None => arg,
            }
        })
        .collect()
}

fn respell(text: &str, names: &[String]) -> Option<String> {
    let double = text.strip_prefix("--");
    let body = double.or_else(|| text.strip_prefix('-'))?;
    let (name, value) = match body.split_once('=') {
        Some((n, v)) => (n, Some(v)),
        None => (body, None),
    };
    let dashed = name.replace('_', "-");
    // One dash and one letter is a short option; one dash and a known long name is OpenFst's other spelling.
    if double.is_none() && (name.len() < 2 || !names.contains(&dashed)) {
        return None;
    }
    if double.is_some() && dashed == name {
        return None;
    }
    Some(match value {
        Some(v) => format!("--{dashed}={v}"),
        None => format!("--{dashed}"),
    })
}

fn long_names(command: &Command) -> Vec<String> {
    let mut names: Vec<String> = command.get_arguments().filter_map(|a| a.get_long()).map(str::to_string).collect();
    for sub in command.get_subcommands() {
        names.extend(long_names(sub));
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn aliases(command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|a| a.get_all_aliases()).flatten().map(str::to_string);
    own.chain(command.get_subcommands().flat_map(aliases)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_single_dashes_and_values() {
        let names = vec!["sort-type".to_string(), "nshortest".to_string(), "output".to_string()];
        let ok = |t: &str| respell(t, &names).unwrap_or_else(|| t.to_string());
        assert_eq!(ok("--sort_type=olabel"), "--sort-type=olabel");
        assert_eq!(ok("--isymbols=my_words.txt"), "--isymbols=my_words.txt");
        assert_eq!(ok("-nshortest=3"), "--nshortest=3");
        assert_eq!(ok("-o"), "-o");
        assert_eq!(ok("-ofile_name"), "-ofile_name");
        assert_eq!(ok("a_b.fst"), "a_b.fst");
        assert_eq!(ok("-"), "-");
        assert_eq!(ok("-1.5"), "-1.5");
    }
}
