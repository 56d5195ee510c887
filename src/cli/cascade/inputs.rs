//! The inputs of a cascade: standard input, files, a template with a range, archives; one job each.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::sync::{Arc as Shared, Mutex, PoisonError};

use crate::cli::claims::Claims;
use crate::error::{Error, Result};
use crate::format::far::{self, FarReader};
use crate::format::template::{self, NumberRange};
use crate::format::{binary, io};
use crate::fst::any::AnyFst;

/// One automaton to run the stages on.
pub struct Job {
    /// What `?` stands for: the number of a template, the key in an archive, a file's name without folder and suffix.
    pub key: String,
    /// How errors name it.
    pub name: String,
    source: Source,
}

enum Source {
    File(String),
    Stream(Box<io::Input>),
    Ready(Box<Result<AnyFst>>),
    /// Not read at all.
    Refused(Error),
}

/// An input as a script wants it.
pub enum Loaded {
    Fst(AnyFst),
    Text(String, Shared<String>),
}

impl Job {
    pub fn load(self, as_text: bool) -> Result<Loaded> {
        match self.source {
            Source::File(name) if as_text => {
                io::read_text(&name).map(|(shown, text)| Loaded::Text(shown, Shared::new(text)))
            }
            Source::File(name) => binary::read(&name).map(Loaded::Fst),
            Source::Stream(input) if as_text => {
                input.text().map(|(shown, text)| Loaded::Text(shown, Shared::new(text)))
            }
            Source::Stream(input) => binary::read_input(*input).map(|(fst, _)| Loaded::Fst(fst)),
            Source::Refused(e) => Err(e),
            Source::Ready(_) if as_text => {
                Err(Error::usage("an archive holds automata, but the first stage of the script reads text"))
            }
            Source::Ready(fst) => fst.map(Loaded::Fst),
        }
    }

    /// Makes the files that this input writes its own; if it cannot have them, it fails.
    pub fn claim(&mut self, claims: &mut Claims) {
        // What could not be read has no key.
        if matches!(&self.source, Source::Ready(fst) if fst.is_err()) {
            return;
        }
        if let Err(e) = claims.claim(&self.key, &self.name) {
            self.source = Source::Refused(e);
        }
    }
}

/// What the user named.
enum Spec {
    Stdin(Stdin),
    File(String),
    Template(String, NumberRange),
    Archive(String),
}

/// Standard input, opened: its first bytes say what it is.
struct Stdin {
    archive: bool,
    /// Until it is read, and if it could be opened.
    input: Mutex<Option<Result<io::Input>>>,
}

impl Stdin {
    fn open() -> Self {
        let head = io::open("-").and_then(|mut input| match input.reader.fill_buf() {
            Ok(head) => Ok((far::looks_far(head), input)),
            Err(e) => Err(Error::io(STDIN, e)),
        });
        let (archive, input) = match head {
            Ok((archive, input)) => (archive, Ok(input)),
            Err(e) => (false, Err(e)),
        };
        Stdin { archive, input: Mutex::new(Some(input)) }
    }

    fn jobs(&self) -> Box<dyn Iterator<Item = Job> + Send> {
        let taken = self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let input = taken.unwrap_or_else(|| Err(Error::usage("standard input can be read only once")));
        let failed = |e| ready_job("1".into(), STDIN.into(), Err(e));
        match input {
            Err(e) => Box::new(std::iter::once(failed(e))),
            Ok(input) if self.archive => match FarReader::from_input(input) {
                Ok(reader) => Box::new(entries(STDIN.into(), reader)),
                Err(e) => Box::new(std::iter::once(failed(e))),
            },
            Ok(input) => {
                let source = Source::Stream(Box::new(input));
                Box::new(std::iter::once(Job { key: "1".into(), name: STDIN.into(), source }))
            }
        }
    }
}

const STDIN: &str = "standard input";

/// All inputs, before any is read.
pub struct Inputs {
    specs: Vec<Spec>,
    /// Digits that the numbers of templates are padded to where they are keys of an archive.
    width: usize,
}

impl Inputs {
    /// Sorts out what the names are. A file's first bytes tell an archive from an automaton.
    pub fn new(names: &[String], range: Option<&str>) -> Result<Self> {
        let range = range.map(NumberRange::parse).transpose()?;
        let mut specs = vec![];
        let stdin = ["-".to_string()];
        let names = if names.is_empty() { &stdin[..] } else { names };
        match names.iter().filter(|n| io::is_stdio(n)).count() {
            0 => {}
            1 if std::io::stdin().is_terminal() => {
                return Err(Error::usage("no input: name a file, a template with --range, or pipe an automaton in"));
            }
            1 => {}
            _ => return Err(Error::usage("standard input (`-`) can be read only once")),
        }
        for name in names {
            specs.push(if io::is_stdio(name) {
                Spec::Stdin(Stdin::open())
            } else if template::is_template(name) {
                match &range {
                    Some(r) => Spec::Template(name.clone(), r.clone()),
                    None if Path::new(name).exists() => Spec::File(name.clone()),
                    None => {
                        return Err(Error::usage(format!(
                            "{name}: a template needs the numbers of its files: add --range 1:10 or the like"
                        )));
                    }
                }
            } else if is_archive(name) {
                Spec::Archive(name.clone())
            } else {
                Spec::File(name.clone())
            });
        }
        if range.is_some() && !specs.iter().any(|s| matches!(s, Spec::Template(..))) {
            return Err(Error::usage("--range is given, but no input is a template with `?`, such as 'lats/?.fst.gz'"));
        }
        let width = range.iter().flat_map(|r| r.iter()).map(|n| n.len()).max().unwrap_or(0);
        Ok(Inputs { specs, width })
    }

    /// How many there are, if that can be known without reading an archive.
    pub fn count(&self) -> Option<usize> {
        self.specs.iter().try_fold(0, |sum, s| match s {
            Spec::Stdin(Stdin { archive: true, .. }) | Spec::Archive(_) => None,
            Spec::Stdin(_) | Spec::File(_) => Some(sum + 1),
            Spec::Template(_, r) => Some(sum + r.len()),
        })
    }

    /// The key of every input that has one before it is read, with its file.
    pub fn known(&self) -> impl Iterator<Item = (String, String)> {
        self.specs.iter().flat_map(|s| -> Box<dyn Iterator<Item = (String, String)> + '_> {
            match s {
                Spec::File(name) => Box::new(std::iter::once((stem(name), name.clone()))),
                Spec::Template(t, r) => Box::new(r.iter().map(|n| (n.clone(), template::fill(t, &n)))),
                Spec::Stdin(_) | Spec::Archive(_) => Box::new(std::iter::empty()),
            }
        })
    }

    /// An error if two inputs would write the same files.
    pub fn check_keys_differ(&self, mut claims: Claims) -> Result<()> {
        self.known().try_for_each(|(key, file)| claims.claim(&key, &file))
    }

    /// The key of an input in an archive to be written: OpenFst wants them in order, so numbers get one width.
    pub fn archive_key(&self, key: &str) -> String {
        if self.width > 0 && key.bytes().all(|b| b.is_ascii_digit()) {
            format!("{key:0>w$}", w = self.width)
        } else {
            key.to_string()
        }
    }

    /// An error if an archive of the results could not be in the order of the inputs.
    pub fn check_archive_order(&self) -> Result<()> {
        let mut last: Option<String> = None;
        for (key, file) in self.known() {
            let key = self.archive_key(&key);
            if let Some(l) = &last
                && *l > key
            {
                return Err(Error::usage(format!(
                    "{file}: an archive has its keys in order, and {key:?} would come after {l:?}; name the inputs in order"
                )));
            }
            last = Some(key);
        }
        Ok(())
    }

    /// The jobs in order. Archives are read as the jobs are asked for, entry by entry.
    pub fn jobs(&self) -> impl Iterator<Item = Job> + Send {
        self.specs.iter().flat_map(|s| -> Box<dyn Iterator<Item = Job> + Send + '_> {
            match s {
                Spec::File(name) => Box::new(std::iter::once(file_job(stem(name), name.clone()))),
                Spec::Template(t, r) => Box::new(r.iter().map(|n| file_job(n.clone(), template::fill(t, &n)))),
                Spec::Archive(name) => match FarReader::open(name) {
                    Ok(reader) => Box::new(entries(name.clone(), reader)),
                    Err(e) => Box::new(std::iter::once(ready_job(String::new(), name.clone(), Err(e)))),
                },
                Spec::Stdin(stdin) => stdin.jobs(),
            }
        })
    }
}

fn file_job(key: String, name: String) -> Job {
    Job { key, name: name.clone(), source: Source::File(name) }
}

fn ready_job(key: String, name: String, fst: Result<AnyFst>) -> Job {
    Job { key, name, source: Source::Ready(Box::new(fst)) }
}

fn entries(name: String, reader: FarReader) -> impl Iterator<Item = Job> + Send {
    let mut last = String::new();
    reader.map(move |entry| match entry {
        Ok((key, fst)) => {
            last.clone_from(&key);
            let shown = format!("{name}:{key}");
            ready_job(key, shown, Ok(fst))
        }
        // The entry has no key yet: the one before it is the nearest there is.
        Err(e) if last.is_empty() => ready_job(String::new(), name.clone(), Err(e)),
        Err(e) => ready_job(String::new(), format!("{name}: after key {last:?}"), Err(e)),
    })
}

/// The key without leading zeros: archives pad numbers.
pub fn plain_key(key: &str) -> &str {
    let digits = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    let zeros = key.bytes().take(key.len().saturating_sub(1)).take_while(|&b| b == b'0').count();
    if digits { &key[zeros..] } else { key }
}

/// A file's name without its folder and its suffixes of automata and compression.
fn stem(name: &str) -> String {
    let mut base = name.rsplit('/').next().unwrap_or(name);
    for suffix in [".gz", ".zst", ".zstd", ".fst", ".fsa", ".txt"] {
        base = base.strip_suffix(suffix).filter(|b| !b.is_empty()).unwrap_or(base);
    }
    base.to_string()
}

/// True if the file is an archive; one that cannot be read is not, and says why when its turn comes.
pub fn is_archive(name: &str) -> bool {
    // A pipe must not be read twice.
    if !std::fs::metadata(name).is_ok_and(|m| m.is_file()) {
        return false;
    }
    io::open(name).is_ok_and(|mut input| input.reader.fill_buf().is_ok_and(far::looks_far))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        for (name, want) in [("a/b/7.fst.gz", "7"), ("x.fst", "x"), ("lat.1.fst.zst", "lat.1"), (".fst", ".fst")] {
            assert_eq!(stem(name), want);
        }
    }

    #[test]
    fn padded_keys() {
        for (key, want) in [("007", "7"), ("0", "0"), ("00", "0"), ("70", "70"), ("0a", "0a"), ("", "")] {
            assert_eq!(plain_key(key), want);
        }
    }

    #[test]
    fn templates_need_a_range_and_a_range_a_template() {
        let names = |n: &[&str]| n.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        assert!(Inputs::new(&names(&["none/?.fst"]), None).err().unwrap().to_string().contains("--range"));
        assert!(
            Inputs::new(&names(&["a.fst"]), Some("1:2")).err().unwrap().to_string().contains("no input is a template")
        );
        let i = Inputs::new(&names(&["l/?.fst", "x/y.fst"]), Some("9:11")).unwrap();
        assert_eq!(i.count(), Some(4));
        assert_eq!(i.jobs().map(|j| j.key).collect::<Vec<_>>(), ["9", "10", "11", "y"]);
        assert_eq!(i.archive_key("9"), "09");
        assert!(i.check_archive_order().is_ok());
        let claims = || Claims::new(["out/?.fst".to_string()], None);
        assert!(i.check_keys_differ(claims()).is_ok());
        let i = Inputs::new(&names(&["l/?.fst", "x/9.fst"]), Some("9:11")).unwrap();
        assert!(i.check_keys_differ(claims()).unwrap_err().to_string().contains("l/9.fst and x/9.fst"));
        assert!(i.check_archive_order().is_err());
    }
}
