//! Spellings: what an OpenFst user types is what clap understands.
//!
//! OpenFst's options have underscores (`--sort_type`), may begin with one dash (`-sort_type`), and booleans may be given a
//! value (`--connect=false`, `--connect=0`). Here `--sort_type` becomes `--sort-type`; negative numbers after `=` are left alone.
//! An empty value is that of an option that is not given (`--isymbols=$SYMS`, where there is no SYMS).

use std::any::TypeId;
use std::ffi::OsString;

use clap::builder::{BoolishValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Command};

use crate::error::{Error, Result};

/// Threads to work with; 0 is one a processor. More than some for each processor only take turns.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(8 * processors)).build();
    pool.map_err(|e| Error::usage(format!("cannot start {threads} threads: {e}")))
}

/// Lets every boolean option take a value, `--unique` or `--unique=true` or `--unique=false`, at every level. An option
/// that is given twice has its last value, as in OpenFst.
pub fn openfst_booleans(command: Command) -> Command {
    own_booleans(command).mut_subcommands(openfst_booleans)
}

/// As `openfst_booleans`, for the command that these words call and those above it: a process calls one of very many.
pub fn openfst_booleans_of(command: Command, words: &[OsString]) -> Command {
    let command = own_booleans(command);
    let called = words.iter().enumerate().find_map(|(i, word)| match word.to_str() {
        Some(option) if option.starts_with('-') => None,
        name => Some((i, name.and_then(|name| command.find_subcommand(name))?.get_name().to_string())),
    });
    match called {
        Some((i, name)) => command.mut_subcommand(name, |c| openfst_booleans_of(c, &words[i + 1..])),
        None => command,
    }
}

fn own_booleans(command: Command) -> Command {
    command.args_override_self(true).mut_args(|arg| match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .hide_possible_values(true)
            .value_name("BOOL")
            .value_parser(boolean())
            .hide_default_value(true)
            .default_value("false")
            .default_missing_value("true"),
        // Booleans that are true unless somebody says otherwise.
        ArgAction::Set if arg.get_value_parser().type_id() == TypeId::of::<bool>() => {
            arg.hide_possible_values(true).value_name("BOOL").value_parser(boolean())
        }
        _ => arg,
    })
}

/// `true`, `false`, `1`, `0` ...; nothing after the `=` is true, as in OpenFst.
fn boolean() -> impl TypedValueParser<Value = bool> {
    clap::builder::OsStringValueParser::new().try_map(|value| match value.to_str() {
        Some("") => Ok(true),
        _ => {
            let arg = Arg::new("boolean");
            BoolishValueParser::new()
                .parse_ref(&Command::new("weft"), Some(&arg), &value)
                .map_err(|_| format!("expected true or false, found {:?}", value.to_string_lossy()))
        }
    })
}

/// Rewrites options to the spelling clap knows. File names and values stay as they are.
pub fn openfst_spelling(command: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    let mut names = long_names(command, &argv);
    // sacreBLEU's short names of more than one letter, `-tok`, are aliases of the command's options.
    let called = argv.get(1).and_then(|name| command.find_subcommand(name));
    names.extend(called.map(aliases).unwrap_or_default());
    let may_be_empty = may_be_empty(command, &argv);
    let mut only_values = false;
    let spelled = argv
        .into_iter()
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
        .collect();
    without_empty(spelled, &may_be_empty)
}

/// The options of the called OpenFst command that take a value and have none by themselves.
fn may_be_empty(command: &Command, argv: &[OsString]) -> Vec<String> {
    if command.get_name() == "weft" && !argv.get(1).is_some_and(|c| c == "fst" || c == "far") {
        return vec![];
    }
    let called = argv.iter().take(3).fold(command, |c, word| c.find_subcommand(word).unwrap_or(c));
    let open = |a: &&Arg| matches!(a.get_action(), ArgAction::Set) && a.get_default_values().is_empty();
    called.get_arguments().filter(open).filter_map(|a| a.get_long()).map(|name| format!("--{name}")).collect()
}

/// The words without these options where their value is empty.
fn without_empty(argv: Vec<OsString>, options: &[String]) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::with_capacity(argv.len());
    let mut words = argv.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let named = |name: &str| options.iter().any(|o| o == name);
        let text = word.to_str().unwrap_or_default();
        let alone = text.strip_suffix('=').filter(|name| named(name));
        let empty =
            alone.or_else(|| Some(text).filter(|name| named(name) && words.next_if(|v| v.is_empty()).is_some()));
        if let Some(name) = empty {
            // The last of several values counts, also where it is none.
            while let Some(at) = kept.iter().rposition(|w| value_of(w, name).is_some()) {
                let here = if kept[at] == *name { 2 } else { 1 };
                kept.drain(at..kept.len().min(at + here));
            }
            continue;
        }
        kept.push(word);
    }
    kept
}

/// What follows the name of this option in its word, if that is what the word is.
fn value_of<'a>(word: &'a OsString, option: &str) -> Option<&'a str> {
    let rest = word.to_str()?.strip_prefix(option)?;
    (rest.is_empty() || rest.starts_with('=')).then_some(rest)
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

/// The long options of the command that these words call, and of those above it.
fn long_names(command: &Command, words: &[OsString]) -> Vec<String> {
    let mut names: Vec<String> = command.get_arguments().filter_map(|a| a.get_long()).map(str::to_string).collect();
    // The name of the program may stand in front, or not.
    let called = |(i, word): (usize, &OsString)| Some((i, command.find_subcommand(word.to_str()?)?));
    if let Some((i, sub)) = words.iter().enumerate().find_map(called) {
        names.extend(long_names(sub, &words[i + 1..]));
    }
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

    #[test]
    fn an_option_without_a_value_is_not_given() {
        let option = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Set);
        let print = Command::new("print").args([option("isymbols"), option("precision").default_value("9")]);
        let eval = Command::new("eval").arg(option("isymbols"));
        let weft = Command::new("weft").subcommands([Command::new("fst").subcommand(print), eval]);
        let left = |words: &str| {
            let argv = words.split(' ').map(OsString::from).collect();
            let spelled = openfst_spelling(&weft, argv).into_iter().map(|w| w.into_string().unwrap());
            spelled.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left("weft fst print --isymbols= a.fst"), "weft fst print a.fst");
        assert_eq!(left("weft fst print -isymbols= --precision= a.fst"), "weft fst print --precision= a.fst");
        assert_eq!(left("weft fst print --isymbols  a.fst"), "weft fst print a.fst");
        assert_eq!(left("weft fst print --isymbols x -- --isymbols="), "weft fst print --isymbols x -- --isymbols=");
        assert_eq!(left("weft eval --isymbols= x"), "weft eval --isymbols= x");
        assert_eq!(left("weft fst print --isymbols=x --isymbols= a.fst"), "weft fst print a.fst");
        assert_eq!(left("weft fst print --isymbols x a.fst --isymbols="), "weft fst print a.fst");
    }
}
