//! The flags that every OpenFst tool has from its library: `--fst_align`, `--fst_compat_symbols`, `--v` and so on.
//!
//! They are taken off the command line of `weft fst` and `weft far` before it is read, in OpenFst's spelling or with
//! hyphens. What changes a result is heeded; what speaks of OpenFst's own inside (caches, logging, checks that are always
//! made here) has nothing to do.

use std::ffi::OsString;
use std::sync::atomic::Ordering;

use clap::Command;

use crate::error::{Error, Result};
use crate::format::{binary, separator};
use crate::fst::symbols::COMPAT_SYMBOLS;

/// Flags with a value that change nothing here.
const VALUES: [&str; 9] = [
    "v",
    "tmpdir",
    "fst-default-cache-gc-limit",
    "fst-read-mode",
    "save-relabel-ipairs",
    "save-relabel-opairs",
    "fst-weight-parentheses",
    "fst-weight-separator",
    "far-field-separator",
];
/// Booleans that change nothing here.
const BOOLEANS: [&str; 3] = ["fst-default-cache-gc", "fst-verify-properties", "fst-error-fatal"];

/// The words without OpenFst's library flags, which are set for the process. What the command has as options of its own
/// stays.
pub fn take(command: &Command, argv: Vec<OsString>) -> Result<Vec<OsString>> {
    if !argv.get(1).is_some_and(|c| c == "fst" || c == "far") {
        return Ok(argv);
    }
    let called = argv.iter().skip(1).take(2).try_fold(command, |c, word| c.find_subcommand(word));
    let own: Vec<&str> = called.into_iter().flat_map(|c| c.get_arguments()).filter_map(|a| a.get_long()).collect();
    let mut kept = Vec::with_capacity(argv.len());
    let mut words = argv.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let Some((name, value)) = word.to_str().and_then(flag) else {
            kept.push(word);
            continue;
        };
        let is_text = name == "fst-field-separator" || VALUES.contains(&name.as_str());
        let is_boolean = matches!(name.as_str(), "fst-align" | "fst-compat-symbols" | "helpshort")
            || BOOLEANS.contains(&name.as_str());
        if own.contains(&name.as_str()) || !(is_text || is_boolean) {
            kept.push(word);
        } else if is_text {
            let value = match value {
                Some(v) => v,
                None => words.next().and_then(|w| w.into_string().ok()).ok_or_else(|| missing(&name))?,
            };
            if name == "fst-field-separator" && !separator::choose(&value) {
                return Err(Error::usage("--fst-field-separator needs a character, and is given once"));
            }
        } else {
            let on = match value.as_deref() {
                None | Some("true" | "t" | "1") => true,
                Some("false" | "f" | "0") => false,
                Some(other) => return Err(Error::usage(format!("--{name} is true or false, not {other:?}"))),
            };
            match name.as_str() {
                "fst-align" => binary::ALIGN.store(on, Ordering::Relaxed),
                "fst-compat-symbols" => COMPAT_SYMBOLS.store(on, Ordering::Relaxed),
                "helpshort" if on => kept.push("-h".into()),
                _ => {}
            }
        }
    }
    Ok(kept)
}

fn missing(name: &str) -> Error {
    Error::usage(format!("--{name} needs a value"))
}

/// The name of an option, with hyphens, and the value behind `=`. One dash is enough for names of several letters.
fn flag(word: &str) -> Option<(String, Option<String>)> {
    let body = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value.to_string())),
        None => (body, None),
    };
    // `-v` alone is weft's own, where a command has it.
    let short = name.len() == 1 && value.is_none() && !word.starts_with("--");
    Some((name.replace('_', "-"), value)).filter(|(name, _)| !name.is_empty() && !short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(words: &[&str]) -> Vec<String> {
        let argv = words.iter().map(OsString::from).collect();
        let own = clap::Arg::new("own").long("far-field-separator");
        let far = Command::new("far").subcommand(Command::new("print").arg(own));
        take(&Command::new("weft").subcommand(far), argv)
            .unwrap()
            .into_iter()
            .map(|w| w.into_string().unwrap())
            .collect()
    }

    #[test]
    fn library_flags_are_taken_and_others_left() {
        let words = ["weft", "fst", "print", "--v=1", "-tmpdir", "/x", "--fst_error_fatal=false", "a.fst"];
        assert_eq!(left(&words), ["weft", "fst", "print", "a.fst"]);
        let words = ["weft", "far", "print", "--far_field_separator=x", "--numeric", "--", "--v=1"];
        assert_eq!(left(&words), words);
        assert_eq!(left(&["weft", "fst", "equal", "-v", "a", "b", "-v=1"]), ["weft", "fst", "equal", "-v", "a", "b"]);
        let words = ["weft", "eval", "bleu", "--v=1"];
        assert_eq!(left(&words), words);
        assert_eq!(left(&["weft", "fst", "print", "--helpshort"]), ["weft", "fst", "print", "-h"]);
    }
}
