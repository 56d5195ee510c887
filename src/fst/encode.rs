//! Encodes labels and weights into single labels, so that an algorithm for unweighted acceptors can work on any automaton,
//! and decodes them again.
//!
//! Every distinct (input label, output label, weight) gets the next number from 1; the table holds what was encoded, and
//! is read and written in OpenFst's encoder files. With weights encoded, final weights become arcs to a new final state.
//! O(V + E).

use std::hash::BuildHasher;
use std::io::Write;
use std::sync::Arc as Shared;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::connect::connect;
use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_LABEL, NO_STATE};
use super::semiring::Weight;
use super::symbols::SymbolTable;
use super::visit;
use crate::error::{Error, Result};
use crate::format::bytes::ByteSource;
use crate::format::{io, symtab};

const OP: &str = "encode";
const MAGIC: i32 = 2128178506;
const LABELS: u8 = 1;
const WEIGHTS: u8 = 2;
const HAS_ISYMBOLS: u8 = 4;
const HAS_OSYMBOLS: u8 = 8;

/// What the codes mean.
pub struct EncodeTable<W> {
    pub labels: bool,
    pub weights: bool,
    /// Symbol tables of the automaton that was encoded last.
    pub isyms: Option<Shared<SymbolTable>>,
    pub osyms: Option<Shared<SymbolTable>>,
    triples: Vec<(Label, Label, W)>,
    table: HashTable<u32>,
}

#[inline]
fn hash<W: Weight>(t: &(Label, Label, W)) -> u64 {
    FxBuildHasher.hash_one(((t.0 as u32 as u64) << 32 | t.1 as u32 as u64, t.2.key()))
}

impl<W: Weight> EncodeTable<W> {
    pub fn new(labels: bool, weights: bool) -> Self {
        EncodeTable { labels, weights, isyms: None, osyms: None, triples: vec![], table: HashTable::new() }
    }
    pub fn len(&self) -> usize {
        self.triples.len()
    }
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }
    /// The code of a triple, a new one if it is new.
    #[inline]
    pub fn code(&mut self, ilabel: Label, olabel: Label, weight: W) -> Label {
        let t = (ilabel, olabel, weight);
        let h = hash(&t);
        let triples = &self.triples;
        if let Some(&i) = self.table.find(h, |&i| triples[i as usize] == t) {
            return i as Label + 1;
        }
        let i = self.triples.len() as u32;
        self.triples.push(t);
        let triples = &self.triples;
        self.table.insert_unique(h, i, |&j| hash(&triples[j as usize]));
        i as Label + 1
    }
    /// What a code stands for.
    #[inline]
    pub fn get(&self, code: Label) -> Option<&(Label, Label, W)> {
        usize::try_from(code).ok().and_then(|c| self.triples.get(c.wrapping_sub(1)))
    }

    fn encode_arc(&mut self, a: &Arc<W>) -> Arc<W> {
        let (olabel, weight) = (if self.labels { a.olabel } else { 0 }, if self.weights { a.weight } else { W::ONE });
        let code = self.code(a.ilabel, olabel, weight);
        Arc::new(
            code,
            if self.labels { code } else { a.olabel },
            if self.weights { W::ONE } else { a.weight },
            a.nextstate,
        )
    }

    /// Reads OpenFst's encoder file.
    pub fn read(name: &str) -> Result<Self> {
        let mut source = ByteSource::new(io::open(name)?);
        let magic = source.i32("the encoder's magic number")?;
        if magic != MAGIC {
            return Err(source.error(format!("expected an encoder table (magic {MAGIC}), found {magic}")));
        }
        let arc_type = source.string("the encoder's arc type")?;
        if arc_type != W::ARC_TYPE {
            return Err(source.error(format!("the encoder is of arc type {arc_type}, the automaton {}", W::ARC_TYPE)));
        }
        let [flags] = source.take::<1>("the encoder's flags")?;
        let size = source.i64("the encoder's size")?;
        let count = u64::try_from(size).ok().filter(|&n| n < i32::MAX as u64);
        let Some(count) = count else { return Err(source.error(format!("an impossible number of codes, {size}"))) };
        let mut new = Self::new(flags & LABELS != 0, flags & WEIGHTS != 0);
        new.triples.reserve(source.reservable(count, 8 + W::BYTES as u64));
        let mut twice = false;
        source.records(count, 8 + W::BYTES, "the encoder's codes", |r| {
            let label = |i: usize| Label::from_le_bytes([r[i], r[i + 1], r[i + 2], r[i + 3]]);
            let before = new.len();
            let code = new.code(label(0), label(4), W::read_le(&r[8..]));
            twice |= code as usize <= before;
        })?;
        if twice {
            return Err(source.error("two codes of the encoder stand for the same labels and weight"));
        }
        if new.triples.iter().any(|t| !t.2.is_member()) {
            return Err(source.error("a weight of the encoder is not a number"));
        }
        if flags & HAS_ISYMBOLS != 0 {
            new.isyms = Some(Shared::new(symtab::read_binary(&mut source)?));
        }
        if flags & HAS_OSYMBOLS != 0 {
            new.osyms = Some(Shared::new(symtab::read_binary(&mut source)?));
        }
        Ok(new)
    }

    /// Writes OpenFst's encoder file.
    pub fn write(&self, name: &str) -> Result<()> {
        let mut out = io::create(name)?;
        self.write_to(&mut out).map_err(|e| Error::io(name, e))?;
        out.commit()
    }
    pub fn write_to(&self, out: &mut impl Write) -> std::io::Result<()> {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        out.write_all(&MAGIC.to_le_bytes())?;
        out.write_all(&(W::ARC_TYPE.len() as i32).to_le_bytes())?;
        out.write_all(W::ARC_TYPE.as_bytes())?;
        let symbols = flag(self.isyms.is_some(), HAS_ISYMBOLS) | flag(self.osyms.is_some(), HAS_OSYMBOLS);
        out.write_all(&[flag(self.labels, LABELS) | flag(self.weights, WEIGHTS) | symbols])?;
        out.write_all(&(self.len() as i64).to_le_bytes())?;
        for t in &self.triples {
            let mut raw = [0u8; 16];
            raw[..4].copy_from_slice(&t.0.to_le_bytes());
            raw[4..8].copy_from_slice(&t.1.to_le_bytes());
            t.2.write_le(&mut raw[8..]);
            out.write_all(&raw[..8 + W::BYTES])?;
        }
        for table in [&self.isyms, &self.osyms].into_iter().flatten() {
            symtab::write_binary(out, table)?;
        }
        Ok(())
    }
}

/// Encodes with the codes of `table`, which grows. The symbol tables go into the table.
pub fn encode<W: Weight>(fst: &FlatFst<W>, table: &mut EncodeTable<W>) -> FlatFst<W> {
    table.isyms = fst.isyms.clone();
    table.osyms = fst.osyms.clone();
    if fst.start() == NO_STATE {
        return fst.clone().with_symbols(None, None);
    }
    let superfinal = fst.num_states() as u32;
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + fst.num_states());
    for s in fst.states() {
        b.add_state(if table.weights { W::ZERO } else { fst.final_weight(s) });
        b.extend_arcs(fst.arcs(s).iter().map(|a| table.encode_arc(a)));
        if table.weights && fst.is_final(s) {
            let code = table.code(NO_LABEL, NO_LABEL, fst.final_weight(s));
            b.push_arc(Arc::new(code, if table.labels { code } else { EPSILON }, W::ONE, superfinal));
        }
    }
    if table.weights {
        b.add_state(W::ONE);
    }
    b.set_start(fst.start());
    b.finish()
}

/// Undoes `encode`, also after other operations. The symbol tables come from the table.
pub fn decode<W: Weight>(mut fst: FlatFst<W>, table: &EncodeTable<W>) -> Result<FlatFst<W>> {
    for s in fst.states() {
        for a in fst.arcs_mut(s) {
            if a.ilabel == EPSILON {
                continue;
            }
            let fail = |what: String| Err(Error::op(OP, format!("state {s}: {what}; was it encoded with this table?")));
            if table.labels && a.ilabel != a.olabel {
                return fail(format!("an encoded arc has two labels, {} and {}", a.ilabel, a.olabel));
            }
            if table.weights && !a.weight.is_one_w() {
                return fail(format!("an encoded arc has a weight, {}", a.weight));
            }
            let Some(&(ilabel, olabel, weight)) = table.get(a.ilabel) else {
                return fail(format!("code {} is not in the table of {} codes", a.ilabel, table.len()));
            };
            if ilabel == NO_LABEL {
                // Was the final weight of its source.
                *a = Arc::new(EPSILON, EPSILON, weight, a.nextstate);
                continue;
            }
            a.ilabel = ilabel;
            if table.labels {
                a.olabel = olabel;
            }
            if table.weights {
                a.weight = weight;
            }
        }
    }
    Ok(rm_final_epsilon(&fst).with_symbols(table.isyms.clone(), table.osyms.clone()))
}

/// Takes epsilon arcs to final states without a future into the final weight of their sources, and trims.
fn rm_final_epsilon<W: Weight>(fst: &FlatFst<W>) -> FlatFst<W> {
    let future = visit::coaccessible(fst);
    let last: Vec<bool> =
        fst.states().map(|s| fst.is_final(s) && !fst.arcs(s).iter().any(|a| future[a.nextstate as usize])).collect();
    let mut b = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    // In the order of states, so that a state whose own weight changed passes on the new one, as in OpenFst.
    let mut finals = fst.finals().to_vec();
    for s in fst.states() {
        b.add_state(W::ZERO);
        let mut weight = finals[s as usize];
        for a in fst.arcs(s) {
            if last[a.nextstate as usize] && a.ilabel == EPSILON && a.olabel == EPSILON {
                weight = finals[a.nextstate as usize].otimes(a.weight).oplus(weight);
            } else {
                b.push_arc(*a);
            }
        }
        finals[s as usize] = weight;
        b.set_final(s, weight);
    }
    b.set_start(fst.start());
    connect(b.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};

    fn sample() -> FlatFst<Tropical> {
        FlatFst::from_rows(
            0,
            vec![
                (Tropical(0.5), vec![Arc::new(1, 2, Tropical(1.0), 1), Arc::new(1, 2, Tropical(1.0), 0)]),
                (Tropical(3.0), vec![Arc::new(1, 3, Tropical(1.0), 1)]),
            ],
        )
    }

    #[test]
    fn there_and_back() {
        for (labels, weights) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut table = EncodeTable::new(labels, weights);
            let coded = encode(&sample(), &mut table);
            assert_eq!(coded.is_acceptor(), labels);
            assert!(!weights || coded.is_unweighted());
            assert_eq!(decode(coded, &table).unwrap(), sample());
        }
    }

    #[test]
    fn equal_arcs_share_a_code() {
        let mut table = EncodeTable::new(true, true);
        let coded = encode(&sample(), &mut table);
        assert_eq!(coded.arcs(0).iter().map(|a| a.ilabel).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(table.len(), 4);
    }

    #[test]
    fn a_wrong_table_is_an_error() {
        let mut table = EncodeTable::new(true, true);
        let coded = encode(&sample(), &mut table);
        let empty = EncodeTable::new(true, true);
        assert!(decode(coded, &empty).unwrap_err().to_string().contains("not in the table"));
    }

    #[test]
    fn files() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("codex");
        let name = name.to_str().unwrap();
        let mut table = EncodeTable::new(true, true);
        let coded = encode(&sample(), &mut table);
        table.write(name).unwrap();
        let read = EncodeTable::read(name).unwrap();
        assert_eq!(decode(coded, &read).unwrap(), sample());
        assert!(EncodeTable::<Log64>::read(name).is_err());
        let bytes = std::fs::read(name).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(name, &bytes[..cut]).unwrap();
            assert!(EncodeTable::<Tropical>::read(name).is_err());
        }
    }
}
