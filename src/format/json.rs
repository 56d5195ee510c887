//! An automaton as JSON, written and read back exactly.
//!
//! ```text
//! {"arc_type": "standard", "start": 0, "states": [
//!   {"arcs": [{"ilabel": 1, "olabel": 2, "weight": 0.5, "nextstate": 1}]},
//!   {"final": 0, "arcs": []}
//! ], "isymbols": {"name": "w.syms", "symbols": [["<eps>", 0], ["a", 1]]}}
//! ```
//!
//! A state without `final` is not final; `weight` may be left out when it is 0. An infinite weight is the string
//! "Infinity". Numbers have as many digits as it takes to read the same weight again.

use std::fmt;
use std::io::Write;
use std::sync::Arc as Shared;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use crate::error::{Error, Result};
use crate::fst::any::AnyFst;
use crate::fst::flat::{Arc, Builder, FlatFst, Label, NO_LABEL, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::symbols::SymbolTable;
use crate::with_fst;

/// Writes an automaton with its symbol tables, one state a line.
pub fn write(out: &mut impl Write, name: &str, fst: &AnyFst) -> Result<()> {
    with_fst!(fst, f => write_flat(out, name, f))
}

fn write_flat<W: Weight>(out: &mut impl Write, name: &str, fst: &FlatFst<W>) -> Result<()> {
    use std::fmt::Write as _;
    let fail = |e| Error::io(name, e);
    let mut text = format!("{{\"arc_type\": \"{}\", \"start\": ", W::ARC_TYPE);
    match fst.start() {
        NO_STATE => text.push_str("null"),
        s => text.push_str(&s.to_string()),
    }
    text.push_str(", \"states\": [");
    for s in fst.states() {
        text.push_str(if s == 0 { "\n  {" } else { ",\n  {" });
        if fst.is_final(s) {
            text.push_str("\"final\": ");
            number(&mut text, fst.final_weight(s));
            text.push_str(", ");
        }
        text.push_str("\"arcs\": [");
        for (i, a) in fst.arcs(s).iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{{\"ilabel\": {}, \"olabel\": {}, \"weight\": ", a.ilabel, a.olabel);
            number(&mut text, a.weight);
            let _ = write!(text, ", \"nextstate\": {}}}", a.nextstate);
        }
        text.push_str("]}");
        if text.len() >= 1 << 16 {
            out.write_all(text.as_bytes()).map_err(fail)?;
            text.clear();
        }
    }
    text.push_str(if fst.num_states() == 0 { "]" } else { "\n]" });
    for (side, table) in [("isymbols", &fst.isyms), ("osymbols", &fst.osyms)] {
        let Some(table) = table else { continue };
        let quote = |s: &str| serde_json::to_string(s).unwrap_or_default();
        let _ = write!(text, ", \"{side}\": {{\"name\": {}, \"symbols\": [", quote(table.name()));
        for (i, (symbol, key)) in table.iter().enumerate() {
            let _ = write!(text, "{}[{}, {key}]", if i == 0 { "" } else { ", " }, quote(symbol));
        }
        text.push_str("]}");
    }
    text.push_str("}\n");
    out.write_all(text.as_bytes()).map_err(fail)
}

/// The shortest digits that give the same weight again.
fn number<W: Weight>(text: &mut String, weight: W) {
    use std::fmt::Write;
    let value = weight.to_f64();
    if value == f64::INFINITY {
        return text.push_str("\"Infinity\"");
    }
    if W::BYTES == 4 {
        // Read as f64 and then rounded, the short form could in theory end at a neighbour.
        let short = (value as f32).to_string();
        if short.parse::<f64>().is_ok_and(|v| v as f32 == value as f32) {
            return text.push_str(&short);
        }
    }
    let _ = write!(text, "{value}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonFst {
    #[serde(default = "standard")]
    arc_type: String,
    start: Option<StateId>,
    states: Vec<JsonState>,
    isymbols: Option<JsonTable>,
    osymbols: Option<JsonTable>,
}

fn standard() -> String {
    "standard".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonState {
    #[serde(rename = "final")]
    final_weight: Option<Number>,
    #[serde(default)]
    arcs: Vec<JsonArc>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonArc {
    ilabel: Label,
    olabel: Label,
    #[serde(default)]
    weight: Number,
    nextstate: StateId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonTable {
    #[serde(default)]
    name: String,
    symbols: Vec<(String, i64)>,
}

/// A weight's number: finite, or the string "Infinity".
#[derive(Clone, Copy, Default)]
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or \"Infinity\"")
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> std::result::Result<Number, E> {
                Ok(Number(v))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> std::result::Result<Number, E> {
                Ok(Number(v as f64))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> std::result::Result<Number, E> {
                Ok(Number(v as f64))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> std::result::Result<Number, E> {
                match v {
                    "Infinity" => Ok(Number(f64::INFINITY)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(v), &self)),
                }
            }
        }
        d.deserialize_any(Seen)
    }
}

/// Reads an automaton. `name` is shown in errors.
pub fn read(name: &str, text: &str) -> Result<AnyFst> {
    let json: JsonFst = serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        // The place stands in front of the message already.
        let message = message.split(" at line ").next().unwrap_or(&message).to_string();
        Error::text(name, e.line().max(1), e.column().max(1), message)
    })?;
    match AnyFst::empty(&json.arc_type).map_err(|e| Error::text(name, 1, 1, e.to_string()))? {
        AnyFst::Standard(_) => build(name, json).map(AnyFst::Standard),
        AnyFst::Log(_) => build(name, json).map(AnyFst::Log),
        AnyFst::Log64(_) => build(name, json).map(AnyFst::Log64),
    }
}

fn build<W: Weight>(name: &str, json: JsonFst) -> Result<FlatFst<W>> {
    let bad = |message: String| Error::op("json", format!("{name}: {message}"));
    let n = json.states.len();
    let weight = |number: Number| {
        let w = W::from_f64(number.0);
        // A finite number must not become infinite in 32 bits.
        (w.is_member() && w.is_zero_w() == (number.0 == f64::INFINITY)).then_some(w)
    };
    let mut b = Builder::with_capacity(n, json.states.iter().map(|s| s.arcs.len()).sum());
    for (s, state) in json.states.iter().enumerate() {
        let final_weight = match state.final_weight {
            None => W::ZERO,
            Some(number) => {
                weight(number).ok_or_else(|| bad(format!("state {s}: the final weight is out of range")))?
            }
        };
        b.add_state(final_weight);
        for (i, a) in state.arcs.iter().enumerate() {
            let at = || format!("arc {i} of state {s}");
            if a.nextstate as usize >= n {
                return Err(bad(format!("{} goes to state {}, but there are {n} states", at(), a.nextstate)));
            }
            if a.ilabel == NO_LABEL || a.olabel == NO_LABEL {
                return Err(bad(format!("{} has the reserved label -1", at())));
            }
            let w = weight(a.weight).ok_or_else(|| bad(format!("{} has a weight that is out of range", at())))?;
            b.push_arc(Arc::new(a.ilabel, a.olabel, w, a.nextstate));
        }
    }
    if let Some(start) = json.start {
        if start as usize >= n {
            return Err(bad(format!("start state {start} is not one of the {n} states")));
        }
        b.set_start(start);
    }
    let table = |t: Option<JsonTable>| {
        let Some(t) = t else { return Ok(None) };
        let mut table = SymbolTable::new(t.name);
        for (symbol, key) in &t.symbols {
            if *key == i64::from(NO_LABEL) {
                return Err(bad(format!("the symbol {symbol:?} has the reserved id -1")));
            }
            table.push(symbol, *key);
        }
        Ok(Some(Shared::new(table)))
    };
    Ok(b.finish().with_symbols(table(json.isymbols)?, table(json.osymbols)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};

    fn text_of(fst: &AnyFst) -> String {
        let mut out = vec![];
        write(&mut out, "t", fst).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn weights_come_back_to_the_bit() {
        let mut bits = 12345u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, b) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
            if a > f64::NEG_INFINITY {
                let f: AnyFst = FlatFst::from_rows(0, vec![(Log64(a), vec![])]).into();
                let AnyFst::Log64(g) = read("t", &text_of(&f)).unwrap() else { panic!() };
                assert_eq!(g.final_weight(0).0.to_bits(), a.to_bits());
            }
            if b > f32::NEG_INFINITY {
                let f: AnyFst = FlatFst::from_rows(0, vec![(Tropical(b), vec![])]).into();
                let AnyFst::Standard(g) = read("t", &text_of(&f)).unwrap() else { panic!() };
                assert_eq!(g.final_weight(0).0.to_bits(), b.to_bits());
            }
        }
    }

    #[test]
    fn everything_comes_back() {
        let mut t = SymbolTable::new("my \"table\"");
        t.add("<eps>");
        t.add_with_key("é\n\t", 1 << 40);
        let f = FlatFst::from_rows(
            1,
            vec![
                (Tropical(-0.0), vec![Arc::new(-5, 3, Tropical::ZERO, 1), Arc::new(1, 1, Tropical(0.1), 0)]),
                (Tropical::ZERO, vec![]),
            ],
        );
        let f: AnyFst = f.with_symbols(Some(Shared::new(t)), None).into();
        let g = read("t", &text_of(&f)).unwrap();
        assert_eq!(f, g);
        assert_eq!(f.isyms(), g.isyms());
        assert_eq!(g.isyms().unwrap().name(), "my \"table\"");
        assert_eq!(text_of(&f), text_of(&g));
        let empty = AnyFst::empty("log").unwrap();
        assert_eq!(read("t", &text_of(&empty)).unwrap(), empty);
    }

    #[test]
    fn bad_json_is_named() {
        for (text, want) in [
            ("", "t:1:1: EOF"),
            ("{\"states\": [\n{\"arcs\": 3}]}", "t:2:10: invalid type"),
            ("{\"states\": [], \"extra\": 1}", "t:1:22: unknown field"),
            (
                "{\"states\": [{\"arcs\": [{\"ilabel\": 1, \"olabel\": 1, \"nextstate\": 1}]}]}",
                "json: t: arc 0 of state 0 goes",
            ),
            ("{\"states\": [], \"start\": 0}", "json: t: start state 0"),
            ("{\"states\": [{\"final\": 1e300}], \"start\": 0}", "json: t: state 0: the final weight"),
            ("{\"states\": [{\"final\": \"NaN\"}], \"start\": 0}", "t:1:27: invalid value"),
            ("{\"arc_type\": \"x\", \"states\": []}", "t:1:1: arc type"),
        ] {
            let e = read("t", text).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
        let deep = "[".repeat(100_000);
        assert!(read("t", &format!("{{\"states\": {deep}")).is_err());
    }
}
