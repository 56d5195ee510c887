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
use crate::rtn::{Rtn, pointed};

/// Writes DIR/N: the chart, the cells, the lattices before and after the models.
pub fn dump(decoder: &Decoder, t: &Translation, dir: &Path) -> Result<()> {
    let pass_through = decoder.config.pass_through;
    write_text(&dir.join("chart.txt"), &crate::chart::show::text(&decoder.grammar, &t.chart, pass_through))?;
    let json = crate::chart::show::to_json(&decoder.grammar, &t.chart, pass_through);
    write_text(&dir.join("chart.json"), &format!("{json:#}\n"))?;
    for (name, rtn) in [("rtn", &t.network), ("pruned", &t.pruned)] {
        let Some(rtn) = rtn else { continue };
        let mut list = String::new();
        for (c, (fst, span)) in rtn.cells.iter().zip(&rtn.spans).enumerate() {
            let shown = span.name(&decoder.grammar);
            let root = if c == rtn.root { "\troot" } else { "" };
            let (states, arcs) = (fst.num_states(), fst.num_arcs());
            list.push_str(&format!("{}\t{shown}\t{states} states\t{arcs} arcs{root}\n", Rtn::pointer(c)));
            write(decoder, Some(rtn), fst, &dir.join(name).join(&shown))?;
        }
        write_text(&dir.join(format!("{name}.txt")), &list)?;
    }
    if let Some(fst) = &t.expanded {
        write(decoder, None, fst, &dir.join("lattice"))?;
    }
    write(decoder, None, &t.first.whole, &dir.join("lattice-lm"))?;
    write(decoder, None, &t.first.rules, &dir.join("lattice-lm.rules"))?;
    if let Some(second) = &t.second {
        write(decoder, None, &second.whole, &dir.join("lattice-lm2"))?;
    }
    Ok(())
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    io::create(&path.to_string_lossy())?.write_and_commit(text.as_bytes())
}

/// NAME.fst and NAME.txt, with words and names of cells.
fn write(decoder: &Decoder, rtn: Option<&Rtn>, fst: &FlatFst<Tropical>, path: &Path) -> Result<()> {
    let fst = with_symbols(decoder, rtn, fst.clone());
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

/// The automaton with a symbol table of the words that it has, and of the cells it points to.
pub fn with_symbols(decoder: &Decoder, rtn: Option<&Rtn>, fst: FlatFst<Tropical>) -> FlatFst<Tropical> {
    let mut labels: Vec<i32> = fst.all_arcs().iter().map(|a| a.olabel).chain([0]).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut table = SymbolTable::new("words");
    for label in labels {
        match (pointed(label), rtn) {
            (Some(cell), Some(rtn)) => table.push(&rtn.spans[cell].name(&decoder.grammar), label as i64),
            _ => table.push(decoder.symbols.symbol(label as i64).unwrap_or("?"), label as i64),
        }
    }
    let table = Shared::new(table);
    fst.with_symbols(Some(table.clone()), Some(table))
}
