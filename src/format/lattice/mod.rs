//! Lattices of other tools: HTK's SLF, Kaldi's text, Moses' PLF. They are read as acceptors of words.
//!
//! Every lattice brings its own table of the words it has. A cost is −ln of a probability, scaled as the caller says.

pub mod kaldi;
pub mod plf;
pub mod slf;

use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::format::number::overflows;
use crate::fst::flat::{Arc, EPSILON, FlatFst, Label, ScatterBuilder, StateId};
use crate::fst::semiring::{Tropical, Weight};
use crate::fst::symbols::SymbolTable;

/// What scores are multiplied by before they are added; none: as the file says, or 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scales {
    pub acoustic: Option<f64>,
    pub lm: Option<f64>,
    /// Cost added for every word.
    pub word_penalty: Option<f64>,
}

/// A lattice of a file: what it is called there, and what it is or what is wrong with it.
pub struct Imported {
    pub key: String,
    pub fst: Result<FlatFst<Tropical>>,
}

/// Words that stand for no word.
fn is_nothing(word: &str) -> bool {
    matches!(word, "" | "!NULL" | "*NULL*" | "<eps>" | "*EPS*" | "*DELETE*" | "-")
}

/// A lattice while it is read; states are called by numbers of any size.
struct Reader {
    out: ScatterBuilder<Tropical>,
    table: SymbolTable,
    ids: HashMap<u64, StateId, FxBuildHasher>,
}

impl Reader {
    fn new() -> Self {
        let mut table = SymbolTable::new("words");
        table.add_with_key("<eps>", EPSILON as i64);
        Reader { out: ScatterBuilder::default(), table, ids: HashMap::default() }
    }
    fn state(&mut self, name: u64) -> StateId {
        *self.ids.entry(name).or_insert_with(|| self.out.add_state())
    }
    fn arc(&mut self, from: u64, to: u64, word: &str, weight: Tropical) {
        let (from, to) = (self.state(from), self.state(to));
        let label = if is_nothing(word) { EPSILON } else { self.table.add(word) as Label };
        // A probability of 0 is no arc.
        if weight != Tropical::ZERO {
            self.out.add_arc(from, Arc::new(label, label, weight, to));
        }
    }
    fn finish(mut self, start: u64, finals: &[(u64, Tropical)]) -> FlatFst<Tropical> {
        let start = self.state(start);
        self.out.set_start(start);
        for &(name, weight) in finals {
            let s = self.state(name);
            self.out.set_final(s, weight);
        }
        let table = Shared::new(self.table);
        self.out.finish().with_symbols(Some(table.clone()), Some(table))
    }
}

/// A cost as a weight; none is that of a probability of 0. Sums that end too large are an error: as Infinity they would
/// take the arc away in silence.
fn weight(cost: Option<f64>) -> std::result::Result<Tropical, String> {
    let Some(cost) = cost else { return Ok(Tropical::ZERO) };
    if cost.is_nan() {
        return Err("the scores add up to no number".into());
    }
    if cost.is_infinite() || overflows::<Tropical>(cost) {
        return Err(format!("the cost {cost:e} is too large for {} bits", 8 * Tropical::BYTES));
    }
    Ok(Tropical::from_f64(cost + 0.0))
}

/// A number that is one: not infinite, not NaN.
fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|v| v.is_finite())
}
