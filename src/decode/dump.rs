//! Every intermediate of a sentence, as files that can be looked at and that OpenFst reads.

use std::path::Path;
use std::sync::Arc as Shared;

use super::{Decoder, Translation};
use crate::error::Result;
use crate::format::text::{self, PrintConfig};
use crate::format::{binary, io};
use crate::fst::any::AnyFst;
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::fst::symbols::SymbolTable;
use crate::rtn::{Rtn, expand, pointed};

/// Arcs of an expansion that is made only to be written.
const LOOKED_AT: f64 = 200_000.0;

/// Writes DIR/N: the chart, the cells, the lattices before and after the models.
pub fn dump(decoder: &Decoder, t: &Translation, dir: &Path) -> Result<()> {
    let pass_through = decoder.config.pass_through;
    write_text(&dir.join("chart.txt"), &crate::chart::show::text(&decoder.grammar, &t.chart, pass_through))?;
    let json = crate::chart::show::to_json(&decoder.grammar, &t.chart, pass_through);
    write_text(&dir.join("chart.json"), &format!("{json:#}\n"))?;
    for (name, rtn) in [("rtn", &t.network), ("pruned", &t.pruned)] {
        let Some(rtn) = rtn else { continue };
        let mut list = String::new();
        let symbols = symbols(decoder, Some(rtn), rtn.cells.iter());
        for (c, (fst, span)) in rtn.cells.iter().zip(&rtn.spans).enumerate() {
            let shown = span.name(&decoder.grammar);
            let root = if c == rtn.root { "\troot" } else { "" };
            let (states, arcs) = (fst.num_states(), fst.num_arcs());
            list.push_str(&format!("{}\t{shown}\t{states} states\t{arcs} arcs{root}\n", Rtn::pointer(c)));
            write(&symbols, fst, &dir.join(name).join(&shown))?;
        }
        write_text(&dir.join(format!("{name}.txt")), &list)?;
    }
    let lattice = |fst, name: &str| write(&symbols(decoder, None, std::iter::once(fst)), fst, &dir.join(name));
    // A search may have gone without the expansion; where it is not too large, it is made to be looked at.
    let made = match (&t.expanded, t.pruned.as_ref().or(t.network.as_ref())) {
        (None, Some(rtn)) if expand::sizes(rtn)[rtn.root] <= LOOKED_AT => expand::expand(rtn, usize::MAX).ok(),
        _ => None,
    };
    if let Some(fst) = t.expanded.as_ref().or(made.as_ref()) {
        lattice(fst, "lattice")?;
    }
    lattice(&t.first.whole, "lattice-lm")?;
    lattice(&t.first.rules, "lattice-lm.rules")?;
    if let Some(second) = &t.second {
        lattice(&second.whole, "lattice-lm2")?;
    }
    Ok(())
}

pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    io::create(&path.to_string_lossy())?.write_and_commit(text.as_bytes())
}

/// NAME.fst and NAME.txt, with words and names of cells.
pub(crate) fn write(symbols: &Shared<SymbolTable>, fst: &FlatFst<Tropical>, path: &Path) -> Result<()> {
    let fst = fst.clone().with_symbols(Some(symbols.clone()), Some(symbols.clone()));
    let base = path.to_string_lossy();
    let name = format!("{base}.txt");
    let config = PrintConfig {
        acceptor: true,
        isymbols: fst.isyms.clone(),
        osymbols: fst.osyms.clone(),
        ..PrintConfig::default()
    };
    let mut out = io::create(&name)?;
    text::print(&mut out, &name, &fst, &config)?;
    out.commit()?;
    binary::write(&format!("{base}.fst"), &AnyFst::Standard(fst), binary::Container::Vector)
}

/// The words that automata have, and the cells they point to: one table for all of them, so that they can be put together.
pub fn symbols<'a>(
    decoder: &Decoder,
    rtn: Option<&Rtn>,
    automata: impl Iterator<Item = &'a FlatFst<Tropical>>,
) -> Shared<SymbolTable> {
    let mut labels: Vec<i32> = vec![0];
    automata.for_each(|fst| labels.extend(fst.all_arcs().iter().map(|a| a.olabel)));
    labels.sort_unstable();
    labels.dedup();
    let mut table = SymbolTable::new("words");
    for label in labels {
        match (pointed(label), rtn) {
            (Some(cell), Some(rtn)) => table.push(&rtn.spans[cell].name(&decoder.grammar), label as i64),
            _ => table.push(decoder.symbols.symbol(label as i64).unwrap_or("?"), label as i64),
        }
    }
    Shared::new(table)
}
