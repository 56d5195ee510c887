use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;

use super::KeyRange;
use crate::cli::env::Status;
use crate::error::{Error, Result};
use crate::format::far_merged::MergedReader;
use crate::format::io;
use crate::with_fst;

/// Print what is in an archive
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far info --list-fsts s.far")]
pub struct Cmd {
    /// One line an entry, instead of totals
    #[arg(long)]
    list_fsts: bool,
    #[command(flatten)]
    range: KeyRange,
    /// Archives (`-` or nothing: standard input)
    #[arg(value_name = "FAR")]
    files: Vec<String>,
}

struct Line {
    key: String,
    fst_type: Cow<'static, str>,
    states: usize,
    arcs: usize,
    finals: usize,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let mut far = MergedReader::open_from(&self.files, self.range.begin())?;
        let mut lines: Vec<Line> = vec![];
        let mut total = Line { key: String::new(), fst_type: "".into(), states: 0, arcs: 0, finals: 0 };
        let mut count = 0;
        let mut types = BTreeSet::new();
        let mut arc_type = "unknown";
        while let Some(entry) = far.next_entry()? {
            arc_type = entry.fst.arc_type();
            if self.range.before(&entry.key) {
                continue;
            }
            if self.range.after(&entry.key) {
                break;
            }
            let finals = with_fst!(&entry.fst, f => f.states().filter(|&s| f.is_final(s)).count());
            let line = Line {
                key: entry.key,
                fst_type: entry.header.fst_type,
                states: entry.fst.num_states(),
                arcs: entry.fst.num_arcs(),
                finals,
            };
            types.insert(line.fst_type.clone());
            total.states += line.states;
            total.arcs += line.arcs;
            total.finals += line.finals;
            count += 1;
            if self.list_fsts {
                lines.push(line);
            }
        }
        let text = if self.list_fsts {
            table(&lines)
        } else {
            let types: Vec<_> = types.into_iter().collect();
            [
                ("far type", far.far_type().name().to_string()),
                ("arc type", arc_type.to_string()),
                ("fst type", types.join(",")),
                ("# of FSTs", count.to_string()),
                ("total # of states", total.states.to_string()),
                ("total # of arcs", total.arcs.to_string()),
                ("total # of final states", total.finals.to_string()),
            ]
            .iter()
            .map(|(name, value)| format!("{name:<50}{value}\n"))
            .collect()
        };
        let mut out = io::create("-")?;
        out.write_all(text.as_bytes()).map_err(|e| Error::io("standard output", e))?;
        out.commit()?;
        Ok(Status::Done)
    }
}

/// OpenFst's columns; they grow with what is in them.
fn table(lines: &[Line]) -> String {
    let width = |least: usize, of: &dyn Fn(&Line) -> usize| lines.iter().map(of).max().unwrap_or(0).max(least);
    let digits = |n: usize| (n.max(1) as f64).log10().ceil() as usize + 2;
    let key = width(10, &|l| l.key.len() + 2);
    let kind = width(10, &|l| l.fst_type.len() + 2);
    let states = width(14, &|l| digits(l.states));
    let arcs = width(12, &|l| digits(l.arcs));
    let finals = width(20, &|l| digits(l.finals));
    let mut text = format!(
        "{:<key$}{:<kind$}{:>states$}{:>arcs$}{:>finals$}\n",
        "key", "type", "# of states", "# of arcs", "# of final states"
    );
    for l in lines {
        // Widths count bytes, as OpenFst's do.
        text.push_str(&l.key);
        text.extend(std::iter::repeat_n(' ', key - l.key.len()));
        text.push_str(&format!("{:<kind$}{:>states$}{:>arcs$}{:>finals$}\n", l.fst_type, l.states, l.arcs, l.finals));
    }
    text
}
