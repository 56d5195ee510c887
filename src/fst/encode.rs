//! Encodes labels and weights into single labels, so that an algorithm for unweighted acceptors can work on any
//! automaton, and decodes them again.
//!
//! Every distinct (input label, output label, weight) gets the next number from 1; the table holds what was encoded.
//! With weights encoded, final weights become arcs to a new final state. O(V + E). Files of tables are in
//! `format::encoder`.

use std::hash::BuildHasher;
use std::sync::Arc as Shared;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::connect::connect;
use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_LABEL, NO_STATE};
use super::semiring::Weight;
use super::symbols::SymbolTable;
use super::visit;
use crate::error::{Error, Result};

const OP: &str = "encode";

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
    /// What the codes stand for, from 1 on.
    pub fn triples(&self) -> &[(Label, Label, W)] {
        &self.triples
    }
    /// Makes room for so many more codes.
    pub fn reserve(&mut self, codes: usize) {
        self.triples.reserve(codes);
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
    use crate::fst::semiring::Tropical;

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
}
