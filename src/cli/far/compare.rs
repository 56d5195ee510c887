use clap::Args;

use super::KeyRange;
use crate::cli::env::Status;
use crate::cli::fst::io::nearness;
use crate::error::{Error, Result};
use crate::format::far::{Entry, FarReader};
use crate::fst::any::AnyFst;
use crate::fst::equal::equal;
use crate::fst::isomorphic::isomorphic;
use crate::fst::semiring::DELTA;
use crate::with_fst2;

/// Say whether two archives have the same keys with equal automata
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far equal s.far s.far")]
pub struct Equal {
    #[command(flatten)]
    pair: Pair,
}

/// Say whether two archives have the same keys with automata that differ only in the numbers of states
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft far isomorphic s.far s.far")]
pub struct Isomorphic {
    #[command(flatten)]
    pair: Pair,
}

#[derive(Args, Debug)]
struct Pair {
    /// Weights may differ by this much
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    #[command(flatten)]
    range: KeyRange,
    /// First archive (`-`: standard input)
    #[arg(value_name = "A")]
    a: String,
    /// Second archive (`-`: standard input)
    #[arg(value_name = "B")]
    b: String,
}

impl Equal {
    pub fn run(&self) -> Result<Status> {
        let delta = self.pair.delta;
        self.pair.run("far equal", "equal", &|f, g| with_fst2!("far equal", f, g, (a, b) => Ok(equal(a, b, delta))))
    }
}

impl Isomorphic {
    pub fn run(&self) -> Result<Status> {
        let delta = self.pair.delta;
        self.pair.run(
            "far isomorphic",
            "isomorphic",
            &|f, g| with_fst2!("far isomorphic", f, g, (a, b) => isomorphic(a, b, delta)),
        )
    }
}

impl Pair {
    /// The first entry at or after the first key.
    fn first(&self, far: &mut FarReader) -> Result<Option<Entry>> {
        loop {
            match far.next_entry()? {
                Some(e) if self.range.before(&e.key) => {}
                other => return Ok(other),
            }
        }
    }

    fn run(&self, op: &str, what: &str, same: &dyn Fn(&AnyFst, &AnyFst) -> Result<bool>) -> Result<Status> {
        nearness(self.delta)?;
        if self.a == "-" && self.b == "-" {
            return Err(Error::usage("standard input can be read only once"));
        }
        let (mut a, mut b) =
            (FarReader::open_from(&self.a, self.range.begin())?, FarReader::open_from(&self.b, self.range.begin())?);
        let (mut left, mut right) = (self.first(&mut a)?, self.first(&mut b)?);
        if let Some(begin) = self.range.begin() {
            let has = |e: &Option<Entry>| e.as_ref().is_some_and(|e| e.key == begin);
            match (has(&left), has(&right)) {
                (true, true) => {}
                (false, false) => return Ok(Status::Done),
                (first, _) => {
                    let place = if first { &self.b } else { &self.a };
                    crate::cli::say!("weft: {op}: key {begin:?} is missing from {place}");
                    return Ok(Status::No);
                }
            }
        }
        loop {
            let (x, y) = match (&left, &right) {
                (None, None) => return Ok(Status::Done),
                (Some(e), None) | (None, Some(e)) => {
                    if self.range.after(&e.key) {
                        return Ok(Status::Done);
                    }
                    let place = if left.is_none() { &self.a } else { &self.b };
                    crate::cli::say!("weft: {op}: key {:?} is missing from {place}", e.key);
                    return Ok(Status::No);
                }
                (Some(x), Some(y)) => (x, y),
            };
            if self.range.after(&x.key) && self.range.after(&y.key) {
                return Ok(Status::Done);
            }
            if x.key != y.key {
                crate::cli::say!("weft: {op}: different keys, {:?} and {:?}", x.key, y.key);
                return Ok(Status::No);
            }
            if !same(&x.fst, &y.fst)? {
                crate::cli::say!("weft: {op}: the automata of key {:?} are not {what}", x.key);
                return Ok(Status::No);
            }
            left = a.next_entry()?;
            right = b.next_entry()?;
        }
    }
}
