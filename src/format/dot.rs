//! GraphViz: an automaton as `dot` draws it, with the text that OpenFst's `fstdraw` prints.

use std::io::Write;
use std::sync::Arc as Shared;

use super::number::{FloatFormat, write_float};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;

#[derive(Clone, Debug)]
pub struct DotConfig {
    /// One label an arc, if the automaton is an acceptor.
    pub acceptor: bool,
    pub isymbols: Option<Shared<SymbolTable>>,
    pub osymbols: Option<Shared<SymbolTable>>,
    pub ssymbols: Option<Shared<SymbolTable>>,
    pub title: String,
    /// Size of the page in inches.
    pub width: f32,
    pub height: f32,
    pub portrait: bool,
    /// From bottom to top, instead of from left to right.
    pub vertical: bool,
    pub ranksep: f32,
    pub nodesep: f32,
    pub fontsize: i32,
    /// Digits of every number, in the sense of the format.
    pub precision: usize,
    pub float_format: FloatFormat,
    pub show_weight_one: bool,
}

impl Default for DotConfig {
    fn default() -> Self {
        DotConfig {
            acceptor: false,
            isymbols: None,
            osymbols: None,
            ssymbols: None,
            title: String::new(),
            width: 8.5,
            height: 11.0,
            portrait: false,
            vertical: false,
            ranksep: 0.4,
            nodesep: 0.25,
            fontsize: 14,
            precision: 5,
            float_format: FloatFormat::G,
            show_weight_one: false,
        }
    }
}

/// Writes an automaton; one without states is nothing at all.
pub fn write<W: Weight>(out: &mut impl Write, name: &str, fst: &FlatFst<W>, config: &DotConfig) -> Result<()> {
    if fst.start() == NO_STATE {
        return Ok(());
    }
    let fail = |e| Error::io(name, e);
    let drawer = Drawer { config, acceptor: config.acceptor && fst.is_acceptor() };
    let mut text = drawer.head();
    for s in std::iter::once(fst.start()).chain(fst.states().filter(|&s| s != fst.start())) {
        drawer.state(&mut text, fst, s, &mut |text| {
            out.write_all(text.as_bytes()).map_err(fail)?;
            text.clear();
            Ok(())
        })?;
    }
    text.push_str("}\n");
    out.write_all(text.as_bytes()).map_err(fail)
}

struct Drawer<'a> {
    config: &'a DotConfig,
    acceptor: bool,
}

impl Drawer<'_> {
    fn number(&self, text: &mut String, value: f64) {
        write_float(text, value, self.config.precision, self.config.float_format);
    }

    fn head(&self) -> String {
        let c = self.config;
        let mut text = String::from("digraph FST {\n");
        text.push_str(if c.vertical { "rankdir = BT;\n" } else { "rankdir = LR;\n" });
        text.push_str("size = \"");
        self.number(&mut text, c.width as f64);
        text.push(',');
        self.number(&mut text, c.height as f64);
        text.push_str("\";\n");
        if !c.title.is_empty() {
            let title = c.title.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("label = \"{title}\";\n"));
        }
        text.push_str("center = 1;\n");
        text.push_str(if c.portrait { "orientation = Portrait;\n" } else { "orientation = Landscape;\n" });
        for (name, value) in [("ranksep", c.ranksep), ("nodesep", c.nodesep)] {
            text.push_str(name);
            text.push_str(" = \"");
            self.number(&mut text, value as f64);
            text.push_str("\";\n");
        }
        text
    }

    /// Appends a state; `spill` gets the text whenever there is much of it, for a state may have very many arcs.
    fn state<W: Weight>(
        &self,
        text: &mut String,
        fst: &FlatFst<W>,
        s: StateId,
        spill: &mut impl FnMut(&mut String) -> Result<()>,
    ) -> Result<()> {
        use std::fmt::Write;
        let c = self.config;
        let _ = write!(text, "{s} [label = \"");
        self.id(text, s as i64, c.ssymbols.as_deref(), "state")?;
        if fst.is_final(s) {
            self.weight(text, fst.final_weight(s));
        }
        let _ = writeln!(
            text,
            "\", shape = {}, style = {}, fontsize = {}]",
            if fst.is_final(s) { "doublecircle" } else { "circle" },
            if s == fst.start() { "bold" } else { "solid" },
            c.fontsize
        );
        for a in fst.arcs(s) {
            let _ = write!(text, "\t{s} -> {} [label = \"", a.nextstate);
            self.id(text, a.ilabel as i64, c.isymbols.as_deref(), "input label")?;
            if !self.acceptor {
                text.push(':');
                self.id(text, a.olabel as i64, c.osymbols.as_deref(), "output label")?;
            }
            self.weight(text, a.weight);
            let _ = writeln!(text, "\", fontsize = {}];", c.fontsize);
            if text.len() >= 1 << 16 {
                spill(text)?;
            }
        }
        if text.len() >= 1 << 16 {
            spill(text)?;
        }
        Ok(())
    }

    fn weight<W: Weight>(&self, text: &mut String, weight: W) {
        if self.config.show_weight_one || !weight.is_one_w() {
            text.push('/');
            self.number(text, weight.to_f64());
        }
    }

    fn id(&self, text: &mut String, id: i64, table: Option<&SymbolTable>, what: &str) -> Result<()> {
        use std::fmt::Write;
        let Some(table) = table else {
            let _ = write!(text, "{id}");
            return Ok(());
        };
        let symbol = table.symbol(id).filter(|s| !s.is_empty()).ok_or_else(|| {
            let name = table.name();
            Error::op("draw", format!("{what} {id} is not in the symbol table {name:?}; draw numbers with --numeric"))
        })?;
        for c in symbol.chars() {
            if c == '\\' || c == '"' {
                text.push('\\');
            }
            text.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    #[test]
    fn a_small_drawing() {
        let mut t = SymbolTable::new("t");
        t.add("<eps>");
        t.add("say \"\\\"");
        let f = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![Arc::new(1, 0, Tropical(0.5), 1)]), (Tropical(1.25), vec![])],
        );
        let config = DotConfig { isymbols: Some(Shared::new(t)), title: "T".into(), ..Default::default() };
        let mut out = vec![];
        write(&mut out, "t", &f, &config).unwrap();
        let want = "digraph FST {\nrankdir = LR;\nsize = \"8.5,11\";\nlabel = \"T\";\ncenter = 1;\n\
                    orientation = Landscape;\nranksep = \"0.4\";\nnodesep = \"0.25\";\n\
                    0 [label = \"0\", shape = circle, style = bold, fontsize = 14]\n\
                    \t0 -> 1 [label = \"say \\\"\\\\\\\":0/0.5\", fontsize = 14];\n\
                    1 [label = \"1/1.25\", shape = doublecircle, style = solid, fontsize = 14]\n}\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
