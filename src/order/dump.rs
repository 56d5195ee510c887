//! What is made of a bag on the way, as files that can be looked at and that OpenFst reads: the grid and its rules, the cells
//! as automata with pointers, what they expand to, the lattice. Cells are named by their bits.

use std::path::Path;
use std::sync::Arc as Shared;

use super::Orders;
use super::bag::{Ordered, Orderer};
use super::grid::Grid;
use crate::chart::bag::{Bag, PhraseTrie};
use crate::decode::dump::{write, write_text};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Tropical;
use crate::fst::symbols::SymbolTable;
use crate::rtn::{Rtn, bag, expand, pointed};

/// Cells of a grid that is made only to be written, and arcs of its expansion.
const CELLS: usize = 5_000;
const ARCS: f64 = 200_000.0;

impl Orderer<'_> {
    /// Writes DIR; says what was too large to be written.
    pub fn dump(&self, tokens: &[&str], done: &Ordered, dir: &Path) -> Result<Option<String>> {
        let bag = Bag::new(tokens.iter().copied())?;
        if let Some(lattice) = &done.lattice {
            let table = Shared::new(self.symbols(std::iter::once(&lattice.whole)));
            write(&table, &lattice.whole, &dir.join("lattice-lm"))?;
            write(&table, &lattice.rules, &dir.join("lattice-lm.rules"))?;
        }
        let all = self.phrases.phrases(&bag, Orders { least: 1, most: self.config.orders.most });
        let trie = PhraseTrie::new(self.rules(&bag, &all, done.rung));
        match bag.width() {
            1 => self.dump_grid::<1>(&bag, &trie, dir),
            2 => self.dump_grid::<2>(&bag, &trie, dir),
            4 => self.dump_grid::<4>(&bag, &trie, dir),
            16 => self.dump_grid::<16>(&bag, &trie, dir),
            _ => self.dump_grid::<256>(&bag, &trie, dir),
        }
    }

    fn dump_grid<const W: usize>(&self, bag: &Bag, trie: &PhraseTrie, dir: &Path) -> Result<Option<String>> {
        let grid = match Grid::<W>::parse(bag, trie, CELLS) {
            Err(Error::Limit { .. }) => {
                write_text(&dir.join("grid.txt"), &self.rules_text::<W>(bag, trie))?;
                return Ok(Some(format!("more than {CELLS} cells: the dump has the phrases alone")));
            }
            grid => grid?,
        };
        let mut text = self.rules_text::<W>(bag, trie);
        let network = bag::build(bag, trie, &grid, |t| self.label(bag, t));
        let Some((rtn, names)) = network else {
            write_text(&dir.join("grid.txt"), &text)?;
            return Ok(None);
        };
        for (cell, name) in rtn.cells.iter().zip(&names) {
            for a in cell.all_arcs().iter().filter(|a| pointed(a.ilabel).is_some()) {
                // A pointer in front is followed by those that may be behind it.
                let front = pointed(a.ilabel).map_or("", |c| names[c].as_str());
                for b in cell.arcs(a.nextstate) {
                    if let Some(behind) = pointed(b.ilabel) {
                        text.push_str(&format!("{name} → {front} {}\n", names[behind]));
                    }
                }
            }
        }
        text.push_str(&format!("S → {}\n", names[rtn.root]));
        write_text(&dir.join("grid.txt"), &text)?;
        let table = self.pointer_symbols(&rtn, &names);
        let mut list = String::new();
        for (c, (fst, name)) in rtn.cells.iter().zip(&names).enumerate() {
            let root = if c == rtn.root { "\troot" } else { "" };
            let (states, arcs) = (fst.num_states(), fst.num_arcs());
            list.push_str(&format!("{}\t{name}\t{states} states\t{arcs} arcs{root}\n", Rtn::pointer(c)));
            write(&table, fst, &dir.join("rtn").join(name))?;
        }
        write_text(&dir.join("rtn.txt"), &list)?;
        if expand::sizes(&rtn)[rtn.root] <= ARCS {
            let fst = expand::expand(&rtn, usize::MAX)?;
            let table = Shared::new(self.symbols(std::iter::once(&fst)));
            write(&table, &fst, &dir.join("lattice"))?;
        }
        Ok(None)
    }

    /// The rules of phrases, one a line.
    fn rules_text<const W: usize>(&self, bag: &Bag, trie: &PhraseTrie) -> String {
        let line = |p: &crate::chart::bag::Phrase| {
            let words: Vec<&str> = p.words.iter().map(|&t| bag.words[t as usize].as_str()).collect();
            let name = bag.cover::<W>(&p.words).map_or(String::new(), |c| bag.name(&c));
            format!("{name} → {}\t{}\t{}\n", words.join(" "), p.count, p.cost)
        };
        trie.phrases.iter().map(line).collect()
    }

    /// The words of the cells and the names of cells that are pointed to.
    fn pointer_symbols(&self, rtn: &Rtn, names: &[String]) -> Shared<SymbolTable> {
        let words: Vec<&FlatFst<Tropical>> = rtn.cells.iter().collect();
        let mut labels: Vec<Label> = words.iter().flat_map(|f| f.all_arcs()).map(|a| a.ilabel).collect();
        labels.push(0);
        labels.sort_unstable();
        labels.dedup();
        let mut table = SymbolTable::new("words");
        for label in labels {
            match pointed(label) {
                Some(cell) => table.add_with_key(&names[cell], label as i64),
                None => table.add_with_key(self.vocab.word(label as u32), label as i64),
            };
        }
        Shared::new(table)
    }
}
