use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::write_g;
use crate::fst::flat::{Arc, Builder, FlatFst, Label, NO_STATE};
use crate::fst::properties::{self, I_LABEL_SORTED, NAMES, O_LABEL_SORTED};
use crate::fst::semiring::Weight;
use crate::fst::visit;
use crate::with_fst;

/// Print what an automaton is: its size, its parts and its properties
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst info --json a.fst")]
pub struct Cmd {
    /// Arcs that count for accessible, coaccessible and connected states and for components
    #[arg(long, value_enum, default_value_t)]
    arc_filter: ArcFilter,
    /// Everything, or the types and symbol tables only
    #[arg(long, value_enum, default_value_t)]
    info_type: InfoType,
    /// Compute the properties that the file does not state
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    test_properties: bool,
    /// Check first that the automaton is well formed
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fst_verify: bool,
    /// As one JSON object
    #[arg(long)]
    json: bool,
    /// Automaton (`-` or nothing: standard input)
    #[arg(value_name = "IN")]
    input: Option<String>,
    /// Output file
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ArcFilter {
    #[default]
    Any,
    Epsilon,
    Iepsilon,
    Oepsilon,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum InfoType {
    #[default]
    Auto,
    Long,
    Short,
}

impl ArcFilter {
    fn keeps<W>(self, a: &Arc<W>) -> bool {
        match self {
            ArcFilter::Any => true,
            ArcFilter::Epsilon => a.ilabel == 0 && a.olabel == 0,
            ArcFilter::Iepsilon => a.ilabel == 0,
            ArcFilter::Oepsilon => a.olabel == 0,
        }
    }
    /// In front of what is counted.
    fn word(self) -> &'static str {
        match self {
            ArcFilter::Any => "",
            ArcFilter::Epsilon => "epsilon ",
            ArcFilter::Iepsilon => "input-epsilon ",
            ArcFilter::Oepsilon => "output-epsilon ",
        }
    }
}

/// One line of the output.
struct Fact {
    name: String,
    value: Value,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let (fst, header) = env.get_with_header(self.input.as_deref())?;
        // An automaton that a stage before made has no header; its container would be a vector.
        let fst_type = header.as_ref().map_or("vector", |h| &h.fst_type);
        let stored = header.as_ref().map_or(0, |h| h.properties) & (properties::TRINARY | properties::ERROR)
            | properties::EXPANDED
            | if fst_type == "vector" { properties::MUTABLE } else { 0 };
        let table = |t: Option<&std::sync::Arc<crate::fst::symbols::SymbolTable>>| {
            t.map_or_else(|| "none".to_string(), |t| t.name().to_string())
        };
        let mut facts = vec![
            Fact { name: "fst type".into(), value: fst_type.into() },
            Fact { name: "arc type".into(), value: fst.arc_type().into() },
            Fact { name: "input symbol table".into(), value: table(fst.isyms()).into() },
            Fact { name: "output symbol table".into(), value: table(fst.osyms()).into() },
        ];
        if self.info_type != InfoType::Short {
            with_fst!(&*fst, f => self.long(f, stored, &mut facts))?;
        }
        let text = if self.json { as_json(&facts) } else { as_text(&facts) };
        env.text(self.output.as_deref(), &mut |out| {
            out.write_all(text.as_bytes())
                .map_err(|e| Error::io(self.output.as_deref().unwrap_or("standard output"), e))
        })?;
        Ok(Status::Done)
    }

    fn long<W: Weight>(&self, fst: &FlatFst<W>, stored: u64, facts: &mut Vec<Fact>) -> Result<()> {
        let verified = if self.fst_verify { Some(properties::verify(fst, Some(stored))?) } else { None };
        let bits = if !self.test_properties || properties::complete(stored) {
            stored
        } else {
            verified.unwrap_or_else(|| properties::compute(fst)) | (stored & properties::BINARY)
        };
        let mut fact = |name: &str, value: Value| facts.push(Fact { name: name.to_string(), value });
        let count = |keep: fn(&Arc<W>) -> bool| fst.all_arcs().iter().filter(|a| keep(a)).count();
        fact("# of states", fst.num_states().into());
        fact("# of arcs", fst.num_arcs().into());
        fact("initial state", if fst.start() == NO_STATE { (-1).into() } else { fst.start().into() });
        fact("# of final states", fst.states().filter(|&s| fst.is_final(s)).count().into());
        fact("# of input/output epsilons", count(|a| a.ilabel == 0 && a.olabel == 0).into());
        fact("# of input epsilons", count(|a| a.ilabel == 0).into());
        fact("# of output epsilons", count(|a| a.olabel == 0).into());
        fact("input label multiplicity", multiplicity(fst, |a| a.ilabel).into());
        fact("output label multiplicity", multiplicity(fst, |a| a.olabel).into());

        let word = self.arc_filter.word();
        let reach = Reach::new(fst, self.arc_filter);
        fact(&format!("# of {word}accessible states"), reach.accessible.into());
        fact(&format!("# of {word}coaccessible states"), reach.coaccessible.into());
        fact(&format!("# of {word}connected states"), reach.connected.into());
        fact(&format!("# of {word}connected components"), reach.components.into());
        fact(&format!("# of {word}strongly conn components"), reach.strong.into());

        let known = |value: Option<bool>| value.map_or(Value::Null, Value::Bool);
        fact("input matcher", known(properties::value(bits, I_LABEL_SORTED)));
        fact("output matcher", known(properties::value(bits, O_LABEL_SORTED)));
        // Only containers with a look-ahead table inside have these.
        fact("input lookahead", false.into());
        fact("output lookahead", false.into());
        for (property, name) in NAMES {
            fact(name, known(properties::value(bits, property)));
        }
        Ok(())
    }
}

/// How many arcs an arc shares its label with at its state, itself included, on average.
fn multiplicity<W: Weight>(fst: &FlatFst<W>, label: fn(&Arc<W>) -> Label) -> f64 {
    let mut sum = 0f64;
    let mut counts: FxHashMap<Label, u64> = FxHashMap::default();
    for s in fst.states() {
        let arcs = fst.arcs(s);
        if arcs.windows(2).all(|p| label(&p[0]) <= label(&p[1])) {
            for run in arcs.chunk_by(|a, b| label(a) == label(b)) {
                sum += (run.len() * run.len()) as f64;
            }
            continue;
        }
        counts.clear();
        for a in arcs {
            *counts.entry(label(a)).or_default() += 1;
        }
        sum += counts.values().map(|&n| (n * n) as f64).sum::<f64>();
    }
    if fst.num_arcs() > 0 { sum / fst.num_arcs() as f64 } else { 0.0 }
}

struct Reach {
    accessible: usize,
    coaccessible: usize,
    connected: usize,
    components: usize,
    strong: usize,
}

impl Reach {
    fn new<W: Weight>(fst: &FlatFst<W>, filter: ArcFilter) -> Self {
        if fst.start() == NO_STATE {
            return Reach { accessible: 0, coaccessible: 0, connected: 0, components: weak_components(fst), strong: 0 };
        }
        let kept;
        let fst = if filter == ArcFilter::Any {
            fst
        } else {
            let mut b = Builder::with_capacity(fst.num_states(), 0);
            for s in fst.states() {
                b.add_state(fst.final_weight(s));
                b.extend_arcs(fst.arcs(s).iter().filter(|a| filter.keeps(a)).copied());
            }
            b.set_start(fst.start());
            kept = b.finish();
            &kept
        };
        let (from, to) = (visit::accessible(fst), visit::coaccessible(fst));
        Reach {
            accessible: from.iter().filter(|&&x| x).count(),
            coaccessible: to.iter().filter(|&&x| x).count(),
            connected: from.iter().zip(&to).filter(|&(&x, &y)| x && y).count(),
            components: weak_components(fst),
            strong: visit::components(fst, |_| true).count,
        }
    }
}

/// Components when arcs may be followed both ways: union-find with path halving.
fn weak_components<W: Weight>(fst: &FlatFst<W>) -> usize {
    let mut parent: Vec<u32> = fst.states().collect();
    fn root(parent: &mut [u32], mut s: u32) -> u32 {
        while parent[s as usize] != s {
            parent[s as usize] = parent[parent[s as usize] as usize];
            s = parent[s as usize];
        }
        s
    }
    let mut components = fst.num_states();
    for (s, a) in fst.transitions() {
        let (p, q) = (root(&mut parent, s), root(&mut parent, a.nextstate));
        if p != q {
            // The smaller number wins, so that long chains stay flat.
            parent[p.max(q) as usize] = p.min(q);
            components -= 1;
        }
    }
    components
}

fn as_text(facts: &[Fact]) -> String {
    let mut text = String::new();
    for fact in facts {
        let value = match &fact.value {
            Value::Null => "?".to_string(),
            Value::Bool(b) => if *b { "y" } else { "n" }.to_string(),
            Value::String(s) => s.clone(),
            Value::Number(n) if n.is_f64() => {
                let mut shown = String::new();
                write_g(&mut shown, n.as_f64().unwrap_or(0.0), 6);
                shown
            }
            other => other.to_string(),
        };
        text.push_str(&format!("{:<50}{value}\n", fact.name));
    }
    text
}

/// The same facts, in the same order, under names that need no quoting in jq: `num_states`, `input_label_sorted`.
/// What is not known is null.
fn as_json(facts: &[Fact]) -> String {
    let lines: Vec<_> = facts
        .iter()
        .map(|fact| {
            let name = fact.name.replace("# of", "num").replace([' ', '/', '-'], "_");
            let none = fact.name.ends_with("symbol table") && fact.value == "none";
            let value = if none { &Value::Null } else { &fact.value };
            format!("  \"{name}\": {value}")
        })
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order_and_is_json() {
        let facts = [("# of states", Value::from(3)), ("input symbol table", "none".into()), ("cyclic", Value::Null)]
            .map(|(name, value)| Fact { name: name.into(), value });
        let text = as_json(&facts);
        assert_eq!(text, "{\n  \"num_states\": 3,\n  \"input_symbol_table\": null,\n  \"cyclic\": null\n}\n");
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }

    #[test]
    fn multiplicity_counts_equal_labels_whatever_their_order() {
        let arc = |i: Label| Arc::new(i, 1, crate::fst::semiring::Tropical(0.0), 0);
        for labels in [[1, 1, 2], [1, 2, 1]] {
            let row = (crate::fst::semiring::Tropical(0.0), labels.map(arc).to_vec());
            let f = FlatFst::from_rows(0, vec![row]);
            assert_eq!(multiplicity(&f, |a| a.ilabel), 5.0 / 3.0);
            assert_eq!(multiplicity(&f, |a| a.olabel), 3.0);
        }
    }
}
