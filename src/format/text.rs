//! AT&T text automata: `src dst in [out] [weight]` an arc, `state [weight]` a final state; tabs or spaces.
//!
//! Reading follows OpenFst's `fstcompile`: the first line's first state is the start; states are renumbered in the order
//! they appear, unless asked not to. Printing follows `fstprint`: the start state first, weights with nine digits.

use std::io::Write;
use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::number::{weight_from, write_g, write_int};
use super::{io, pairs, separator};
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, Label, NO_STATE, ScatterBuilder, StateId};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;

#[derive(Clone, Debug, Default)]
pub struct ReadConfig {
    /// Arcs have one label: `src dst label [weight]`.
    pub acceptor: bool,
    pub isymbols: Option<Shared<SymbolTable>>,
    pub osymbols: Option<Shared<SymbolTable>>,
    pub ssymbols: Option<Shared<SymbolTable>>,
    /// States keep the numbers of the file.
    pub keep_state_numbering: bool,
    pub allow_negative_labels: bool,
}

/// Reads an automaton from text. `name` is shown in errors.
pub fn read<W: Weight>(name: &str, text: &str, config: &ReadConfig) -> Result<FlatFst<W>> {
    let text = io::without_mark(text);
    match separator::chosen() {
        None => read_split(name, text, config, |c| matches!(c, ' ' | '\t' | '\r')),
        Some(chosen) => read_split(name, text, config, |c| chosen.contains(&c) || c == '\r'),
    }
}

fn read_split<W: Weight>(
    name: &str,
    text: &str,
    config: &ReadConfig,
    between: impl Fn(char) -> bool + Copy,
) -> Result<FlatFst<W>> {
    let mut b = ScatterBuilder::<W>::default();
    let mut ids: HashMap<i64, StateId, FxBuildHasher> = HashMap::default();
    let mut started = false;
    // A text that names all its states has a byte for each.
    let largest_state = (1 << 24).max(text.len() as u64);
    for (n, line) in text.lines().enumerate() {
        let line = Line { name, number: n + 1, text: line, largest_state };
        let mut fields = [""; 6];
        let mut count = 0;
        for field in line.text.split(between).filter(|f| !f.is_empty()) {
            if count < 6 {
                fields[count] = field;
            }
            count += 1;
        }
        if count == 0 {
            continue;
        }
        if count > 5 || (count == 5 && config.acceptor) || (count == 3 && !config.acceptor) {
            let expected = if config.acceptor {
                "an acceptor's arc is `source target label [weight]`, a final state `state [weight]`"
            } else if count == 3 {
                "an arc is `source target input output [weight]`; if this is an acceptor, say --acceptor"
            } else {
                "an arc is `source target input output [weight]`, a final state `state [weight]`"
            };
            return Err(line.error(fields[count.min(6) - 1], format!("{count} columns: {expected}")));
        }
        let s = line.state(fields[0], config, &mut ids, &mut b)?;
        if !started {
            b.set_start(s);
            started = true;
        }
        if count <= 2 {
            let weight = if count == 2 { line.weight(fields[1])? } else { W::ONE };
            b.set_final(s, weight);
            continue;
        }
        let d = line.state(fields[1], config, &mut ids, &mut b)?;
        let ilabel = line.label(fields[2], config.isymbols.as_deref(), "input label", config)?;
        let (olabel, weight) = match (config.acceptor, count) {
            (true, _) => (ilabel, fields.get(3).filter(|_| count == 4)),
            (false, _) => (
                line.label(fields[3], config.osymbols.as_deref(), "output label", config)?,
                fields.get(4).filter(|_| count == 5),
            ),
        };
        let weight = weight.map_or(Ok(W::ONE), |w| line.weight(w))?;
        b.add_arc(s, Arc::new(ilabel, olabel, weight, d));
    }
    Ok(b.finish())
}

struct Line<'a> {
    name: &'a str,
    number: usize,
    text: &'a str,
    largest_state: u64,
}

impl<'a> Line<'a> {
    fn error(&self, field: &str, message: String) -> Error {
        Error::in_line(self.name, self.number, self.text, field, message)
    }

    fn state<W: Weight>(
        &self,
        field: &str,
        config: &ReadConfig,
        ids: &mut HashMap<i64, StateId, FxBuildHasher>,
        b: &mut ScatterBuilder<W>,
    ) -> Result<StateId> {
        let id = match &config.ssymbols {
            Some(table) => table
                .key(field)
                .ok_or_else(|| self.error(field, format!("state {field:?} is not in the state symbol table")))?,
            None => field
                .parse::<i64>()
                .map_err(|_| self.error(field, format!("expected a state number, found {field:?}")))?,
        };
        if id < 0 {
            return Err(self.error(field, format!("a state number is not negative, found {id}")));
        }
        if config.keep_state_numbering {
            // A single large number must not fill the memory with states.
            if id as u64 > self.largest_state {
                let most = self.largest_state;
                return Err(self.error(field, format!("state {id} is too large to keep its number (at most {most})")));
            }
            while b.num_states() as i64 <= id {
                b.add_state();
            }
            return Ok(id as StateId);
        }
        Ok(*ids.entry(id).or_insert_with(|| b.add_state()))
    }

    fn label(&self, field: &str, table: Option<&SymbolTable>, what: &str, config: &ReadConfig) -> Result<Label> {
        let id = match table {
            Some(table) => table.key(field).ok_or_else(|| {
                self.error(field, format!("the {what} {field:?} is not in the symbol table {:?}", table.name()))
            })?,
            None => field.parse::<i64>().map_err(|_| {
                self.error(
                    field,
                    format!("expected an integer {what}, found {field:?}; for words give --isymbols and --osymbols"),
                )
            })?,
        };
        pairs::label(id, config.allow_negative_labels, what).map_err(|message| self.error(field, message))
    }

    fn weight<W: Weight>(&self, field: &str) -> Result<W> {
        weight_from(field).map_err(|message| self.error(field, message))
    }
}

#[derive(Clone, Debug)]
pub struct PrintConfig {
    /// One label an arc, if the automaton is an acceptor.
    pub acceptor: bool,
    pub isymbols: Option<Shared<SymbolTable>>,
    pub osymbols: Option<Shared<SymbolTable>>,
    pub ssymbols: Option<Shared<SymbolTable>>,
    pub show_weight_one: bool,
    /// What to print for a label that the table does not have; none: an error.
    pub missing_symbol: Option<String>,
    /// Significant digits of a weight.
    pub precision: usize,
}

impl Default for PrintConfig {
    fn default() -> Self {
        PrintConfig {
            acceptor: false,
            isymbols: None,
            osymbols: None,
            ssymbols: None,
            show_weight_one: false,
            missing_symbol: None,
            precision: 9,
        }
    }
}

/// Prints an automaton as text.
pub fn print<W: Weight>(out: &mut impl Write, name: &str, fst: &FlatFst<W>, config: &PrintConfig) -> Result<()> {
    if fst.start() == NO_STATE {
        return Ok(());
    }
    let p = Printer { config, acceptor: config.acceptor && fst.is_acceptor(), between: separator::written() };
    let mut text = String::with_capacity(1 << 16);
    let order = std::iter::once(fst.start()).chain(fst.states().filter(|&s| s != fst.start()));
    for s in order {
        p.state(&mut text, fst, s, &mut |text| {
            out.write_all(text.as_bytes()).map_err(|e| Error::io(name, e))?;
            text.clear();
            Ok(())
        })?;
    }
    out.write_all(text.as_bytes()).map_err(|e| Error::io(name, e))
}

/// The whole automaton as one string: for tests and small automata.
pub fn to_string<W: Weight>(fst: &FlatFst<W>, config: &PrintConfig) -> Result<String> {
    let mut bytes = vec![];
    print(&mut bytes, "text", fst, config)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Printer<'a> {
    config: &'a PrintConfig,
    acceptor: bool,
    /// What stands between two fields.
    between: char,
}

impl Printer<'_> {
    /// Appends a state; `spill` gets the text whenever there is much of it, for a state may have very many arcs.
    fn state<W: Weight>(
        &self,
        text: &mut String,
        fst: &FlatFst<W>,
        s: StateId,
        spill: &mut impl FnMut(&mut String) -> Result<()>,
    ) -> Result<()> {
        let states = self.config.ssymbols.as_deref();
        for a in fst.arcs(s) {
            self.id(text, s as i64, states, "state")?;
            text.push(self.between);
            self.id(text, a.nextstate as i64, states, "state")?;
            text.push(self.between);
            self.id(text, a.ilabel as i64, self.config.isymbols.as_deref(), "input label")?;
            if !self.acceptor {
                text.push(self.between);
                self.id(text, a.olabel as i64, self.config.osymbols.as_deref(), "output label")?;
            }
            if self.config.show_weight_one || !a.weight.is_one_w() {
                text.push(self.between);
                write_g(text, a.weight.to_f64(), self.config.precision);
            }
            text.push('\n');
            if text.len() >= (1 << 16) - 1024 {
                spill(text)?;
            }
        }
        if fst.is_final(s) || fst.arcs(s).is_empty() {
            self.id(text, s as i64, states, "state")?;
            let weight = fst.final_weight(s);
            if self.config.show_weight_one || !weight.is_one_w() {
                text.push(self.between);
                write_g(text, weight.to_f64(), self.config.precision);
            }
            text.push('\n');
            if text.len() >= (1 << 16) - 1024 {
                spill(text)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn id(&self, text: &mut String, id: i64, table: Option<&SymbolTable>, what: &str) -> Result<()> {
        let Some(table) = table else {
            write_int(text, id);
            return Ok(());
        };
        match (table.symbol(id).filter(|s| !s.is_empty()), &self.config.missing_symbol) {
            (Some(symbol), _) => text.push_str(symbol),
            (None, Some(missing)) => text.push_str(missing),
            (None, None) => {
                return Err(Error::op(
                    "print",
                    format!(
                        "{what} {id} is not in the symbol table {:?}; print numbers (--numeric) or say what to print \
                         instead (--missing-symbol)",
                        table.name()
                    ),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    #[test]
    fn states_are_numbered_as_they_appear() {
        let f: FlatFst<Tropical> = read("t", "7 3 1 2 0.5\n\n3 7 2 2\n3 1.5\n", &ReadConfig::default()).unwrap();
        assert_eq!(to_string(&f, &PrintConfig::default()).unwrap(), "0\t1\t1\t2\t0.5\n1\t0\t2\t2\n1\t1.5\n");
    }

    #[test]
    fn the_start_state_is_printed_first() {
        let config = ReadConfig { keep_state_numbering: true, acceptor: true, ..Default::default() };
        let f: FlatFst<Tropical> = read("t", "2 0 5\n0", &config).unwrap();
        let print = PrintConfig { acceptor: true, ..Default::default() };
        assert_eq!(to_string(&f, &print).unwrap(), "2\t0\t5\n0\n1\tInfinity\n");
    }

    #[test]
    fn bad_lines_name_their_place() {
        let t = ReadConfig::default();
        let a = ReadConfig { acceptor: true, ..Default::default() };
        for (text, config, want) in [
            ("0 1 1 1\n0 1 2\n", &t, "t:2:5: 3 columns"),
            ("0 1 x 1\n", &t, "t:1:5: expected an integer input label"),
            ("0\t1\t1\t1\tnan\n", &t, "t:1:9: expected a weight"),
            ("0\t1\t1\t1\t-1e99\n", &t, "t:1:9: the weight -1e99 is too large for 32 bits"),
            ("a\n", &t, "t:1:1: expected a state number"),
            ("0 1 2 3 4\n", &a, "t:1:9: 5 columns"),
            ("0 1 -2 3\n", &t, "t:1:5: the input label -2 is negative"),
        ] {
            let e = read::<Tropical>("t", text, config).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
    }
}
