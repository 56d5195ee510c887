//! Commands that are called with thousands of files: `replace root.fst 1 a.fst 2 b.fst 3 ...`, `union`, `far create`.
//!
//! clap takes some microseconds for every word, as long as it takes to open a file. So a long run of words that are no
//! options is set aside before clap looks, with one word in its place that no command line can have, and comes back when
//! that word is parsed. Only for commands whose operands are of the type `Operands`, and as large as the words themselves.

use std::any::TypeId;
use std::ffi::OsString;
use std::str::FromStr;
use std::sync::{Arc as Shared, Mutex};

use clap::Command;

/// Runs of this many words are set aside; shorter ones are not worth it.
const LONG: usize = 64;
/// The first words of a run stay: the names of the command, and the value of an option in front of them.
const STAY: usize = 8;

/// The words that were set aside.
static ASIDE: Mutex<Vec<Vec<String>>> = Mutex::new(vec![]);

/// One operand, or a run of them that was set aside.
#[derive(Clone, Debug)]
pub struct Operands(Shared<Vec<String>>);

impl FromStr for Operands {
    type Err = std::convert::Infallible;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let run = word.strip_prefix('\0').and_then(|number| number.parse::<usize>().ok());
        let words = run.and_then(|run| ASIDE.lock().ok()?.get_mut(run).map(std::mem::take));
        Ok(Operands(Shared::new(words.unwrap_or_else(|| vec![word.to_string()]))))
    }
}

/// All the operands, in their order.
pub fn all(parts: &[Operands]) -> Vec<&str> {
    let mut words = Vec::with_capacity(parts.iter().map(|part| part.0.len()).sum());
    words.extend(parts.iter().flat_map(|part| part.0.iter()).map(String::as_str));
    words
}

/// The words with long runs of operands set aside, if the command that they call takes such.
pub fn set_aside(command: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    if argv.len() < LONG || !takes_many(command, &argv) {
        return argv;
    }
    let Ok(mut aside) = ASIDE.lock() else { return argv };
    let mut kept = Vec::with_capacity(STAY + 2);
    let mut run: Vec<OsString> = vec![];
    let mut end_run = |run: &mut Vec<OsString>, kept: &mut Vec<OsString>| {
        kept.extend(run.drain(..run.len().min(STAY)));
        if run.len() + STAY < LONG {
            kept.append(run);
        } else {
            kept.push(format!("\0{}", aside.len()).into());
            aside.push(run.drain(..).filter_map(|word| word.into_string().ok()).collect());
        }
    };
    for word in argv {
        // What is no text, or nothing, may mean something to those who look at words one by one.
        if word.to_str().is_some_and(|text| !text.is_empty() && !text.starts_with(['-', '\0'])) {
            run.push(word);
        } else {
            end_run(&mut run, &mut kept);
            kept.push(word);
        }
    }
    end_run(&mut run, &mut kept);
    kept
}

fn takes_many(command: &Command, argv: &[OsString]) -> bool {
    let called = argv.iter().skip(1).take(2).fold(command, |c, word| c.find_subcommand(word).unwrap_or(c));
    called.get_positionals().any(|arg| arg.get_value_parser().type_id() == TypeId::of::<Operands>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction};

    #[test]
    fn every_operand_arrives_in_its_order() {
        let files = Arg::new("files").num_args(1..).value_parser(clap::value_parser!(Operands));
        let options = [Arg::new("o").short('o'), Arg::new("deep").long("deep").action(ArgAction::SetTrue)];
        let weft = || Command::new("weft").subcommand(Command::new("all").arg(files.clone()).args(options.clone()));
        for count in [1, 7, 55, 56, 57, 70, 1000] {
            for place in 0..4 {
                let names: Vec<String> = (0..count).map(|i| format!("f{i}")).collect();
                let option = [["-o", "x"], ["--deep", "y"], ["--", "-z"], ["", "w"]][place];
                let at = [0, count / 2, count, count / 3][place];
                let words =
                    names[..at].iter().map(String::as_str).chain(option).chain(names[at..].iter().map(String::as_str));
                let argv = ["weft", "all"].into_iter().chain(words.clone()).map(OsString::from).collect();
                let short = set_aside(&weft(), argv);
                assert!(short.len() <= LONG + 2 * STAY + 4, "{count} {place}: {}", short.len());
                let matches = weft().try_get_matches_from(short).unwrap();
                let parts: Vec<Operands> =
                    matches.subcommand().unwrap().1.get_many("files").unwrap().cloned().collect();
                let taken = ["-o", "--deep", "--"];
                let left: Vec<&str> = words.filter(|w| !(taken.contains(w) || place == 0 && *w == "x")).collect();
                assert_eq!(all(&parts), left, "{count} {place}");
            }
        }
    }

    #[test]
    fn other_commands_and_words_that_are_no_text_are_left_alone() {
        let one = Command::new("weft").subcommand(Command::new("one").arg(Arg::new("file").num_args(1..)));
        let argv: Vec<OsString> =
            ["weft", "one"].into_iter().chain(std::iter::repeat_n("x", 500)).map(Into::into).collect();
        assert_eq!(set_aside(&one, argv.clone()), argv);
    }
}
