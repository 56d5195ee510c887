//! Transducers for minimization: outputs pushed to the front as strings beside the weights, and written out again.
//!
//! Strings are numbered (see `strings`), so that the number of a string takes the place of an output label.

use std::sync::Arc as Shared;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{OP, merge};
use crate::error::{Error, Result};
use crate::fst::encode::EncodeTable;
use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_LABEL, NO_STATE, ScatterBuilder, StateId};
use crate::fst::gallic;
use crate::fst::push::common_outputs;
use crate::fst::reweight::ReweightType;
use crate::fst::semiring::Weight;
use crate::fst::shortestdistance::{DistanceConfig, shortest_distance};
use crate::fst::strings::{EMPTY, StringId, Strings};
use crate::fst::symbols::SymbolTable;
use crate::fst::visit;

/// A transducer with a string on every arc (its number in the place of the output label) and at every final state.
pub struct Gallic<W> {
    fst: FlatFst<W>,
    ends: Vec<StringId>,
    strings: Strings,
}

/// Pushes, rounds, encodes, merges states and decodes.
pub fn minimize<W: Weight>(fst: FlatFst<W>, delta: f32) -> Result<Gallic<W>> {
    let mut gallic = push(fst, delta)?;
    for a in gallic.fst.all_arcs_mut() {
        a.weight = a.weight.quantized(delta);
    }
    for w in gallic.fst.finals_mut() {
        *w = w.quantized(delta);
    }
    let Gallic { fst, ends, strings } = gallic;
    if strings.count() > Label::MAX as usize {
        return Err(Error::limit(OP, "2^31 strings", "the outputs of the transducer are too many"));
    }
    if fst.start() == NO_STATE {
        return Ok(Gallic { fst: FlatFst::empty(), ends: vec![], strings });
    }
    let mut table = EncodeTable::new(true, true);
    let superfinal = fst.num_states() as StateId;
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + fst.num_states());
    for s in fst.states() {
        b.add_state(W::ZERO);
        for a in fst.arcs(s) {
            let code = table.code(a.ilabel, a.olabel, a.weight);
            b.push_arc(Arc::new(code, code, W::ONE, a.nextstate));
        }
        if fst.is_final(s) {
            let code = table.code(NO_LABEL, ends[s as usize] as Label, fst.final_weight(s));
            b.push_arc(Arc::new(code, code, W::ONE, superfinal));
        }
    }
    b.add_state(W::ONE);
    b.set_start(fst.start());
    drop(fst);
    let coded = merge(b.finish());
    // Back: the final state is the one that only final weights lead to, and goes.
    let n = coded.num_states();
    let mut ends = vec![0; n];
    let mut b = Builder::with_capacity(n, coded.num_arcs());
    let mut last = NO_STATE;
    for s in coded.states() {
        b.add_state(W::ZERO);
        for a in coded.arcs(s) {
            let Some(&(ilabel, string, weight)) = table.get(a.ilabel) else { continue };
            if ilabel == NO_LABEL {
                b.set_final(s, weight);
                ends[s as usize] = string as StringId;
                last = a.nextstate;
            } else {
                b.push_arc(Arc::new(ilabel, string, weight, a.nextstate));
            }
        }
    }
    b.set_start(coded.start());
    let keep: Vec<bool> = (0..n as StateId).map(|s| s != last).collect();
    let mut at = 0;
    ends.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    Ok(Gallic { fst: crate::fst::connect::keep_states(b.finish(), &keep), ends, strings })
}

/// Moves weights and outputs towards the start.
fn push<W: Weight>(mut fst: FlatFst<W>, delta: f32) -> Result<Gallic<W>> {
    let mut strings = Strings::default();
    let mut ends = vec![EMPTY; fst.num_states()];
    if fst.start() == NO_STATE {
        return Ok(Gallic { fst, ends, strings });
    }
    let distance =
        shortest_distance(&fst, &DistanceConfig { reverse: true, delta: Some(delta), ..Default::default() })?;
    let mut prefix = common_outputs(&fst, ReweightType::ToInitial, &mut strings.lists);
    prefix.iter_mut().zip(&distance).for_each(|(p, d)| *p = p.filter(|_| !d.is_zero_w()));
    for s in fst.states() {
        let (d, p) = (distance[s as usize], prefix[s as usize]);
        for a in fst.arcs_mut(s) {
            let string = match (p, prefix[a.nextstate as usize]) {
                (Some(p), Some(q)) => {
                    a.weight = a.weight.otimes(distance[a.nextstate as usize]).odivide(d);
                    let rest = strings.lists.divided(a.olabel, q, p.len());
                    strings.intern(rest)
                }
                _ => strings.of_label(a.olabel),
            };
            a.olabel = string as Label;
        }
        if p.is_some() {
            // At a final state the common prefix is empty.
            let w = &mut fst.finals_mut()[s as usize];
            *w = w.odivide(d);
        }
    }
    let start = fst.start();
    let Some(p) = prefix[start as usize] else { return Ok(Gallic { fst, ends, strings }) };
    let (d, p) = (distance[start as usize], strings.intern(p));
    if p == EMPTY && d.is_one_w() {
        return Ok(Gallic { fst, ends, strings });
    }
    if visit::start_on_cycle(&fst) {
        let (_, mut offsets, mut finals, mut arcs) = fst.into_parts();
        finals.push(W::ZERO);
        ends.push(EMPTY);
        arcs.push(Arc::new(EPSILON, p as Label, d, start));
        offsets.push(arcs.len() as u32);
        let fst = FlatFst::from_parts(finals.len() as StateId - 1, offsets, finals, arcs);
        return Ok(Gallic { fst, ends, strings });
    }
    for a in fst.arcs_mut(start) {
        a.weight = d.otimes(a.weight);
        a.olabel = strings.concat(p, a.olabel as StringId) as Label;
    }
    let w = &mut fst.finals_mut()[start as usize];
    *w = d.otimes(*w);
    ends[start as usize] = p;
    Ok(Gallic { fst, ends, strings })
}

impl<W: Weight> Gallic<W> {
    /// One label an arc: what a string has more is carried on to the next arcs, or written by arcs of its own at the end.
    pub fn factored(self) -> Result<FlatFst<W>> {
        let Gallic { fst: graph, ends, strings } = self;
        let pool: Vec<(StringId, W)> = graph.all_arcs().iter().map(|a| (a.olabel as StringId, a.weight)).collect();
        let finals: Vec<_> =
            graph.states().map(|s| graph.is_final(s).then(|| (ends[s as usize], graph.final_weight(s)))).collect();
        gallic::factor(OP, gallic::Gallic::of_pairs(graph, pool, finals, strings))
    }

    /// A new output label for every string, and the transducer that maps them to the strings.
    pub fn split(
        mut self,
        isyms: Option<Shared<SymbolTable>>,
        osyms: Option<Shared<SymbolTable>>,
    ) -> Result<(FlatFst<W>, FlatFst<W>)> {
        let mut second = ScatterBuilder::default();
        let home = second.add_state();
        second.set_start(home);
        second.set_final(home, W::ONE);
        let mut names = osyms.as_ref().map(|table| {
            let mut names = SymbolTable::new(format!("{}_from_gallic", table.name()));
            names.add_with_key(table.symbol(0).unwrap_or_default(), 0);
            names
        });
        let mut known: HashMap<StringId, Label, FxBuildHasher> = HashMap::default();
        let strings = &self.strings;
        let mut label_of = |string: StringId| {
            if string == EMPTY {
                return EPSILON;
            }
            let next = known.len() as Label + 1;
            *known.entry(string).or_insert_with(|| {
                let labels = strings.labels(string);
                let (mut from, mut input) = (home, next);
                let mut name = String::new();
                for (i, &label) in labels.iter().enumerate() {
                    let to = if i + 1 == labels.len() { home } else { second.add_state() };
                    second.add_arc(from, Arc::new(input, label, W::ONE, to));
                    if let Some(table) = &osyms {
                        if i > 0 {
                            name.push('_');
                        }
                        name.push_str(table.symbol(label as i64).unwrap_or_default());
                    }
                    (from, input) = (to, EPSILON);
                }
                if let Some(names) = &mut names {
                    // "a" and "b" in a row are not the symbol "a_b".
                    while names.key(&name).is_some() {
                        name += &format!("_{next}");
                    }
                    names.add_with_key(&name, next as i64);
                }
                next
            })
        };
        let n = self.fst.num_states() as StateId;
        let mut b = Builder::with_capacity(n as usize + 1, self.fst.num_arcs());
        let mut superfinal = false;
        for s in self.fst.states() {
            b.add_state(W::ZERO);
            for a in self.fst.arcs(s) {
                b.push_arc(Arc { olabel: label_of(a.olabel as StringId), ..*a });
            }
            let (weight, end) = (self.fst.final_weight(s), self.ends[s as usize]);
            if self.fst.is_final(s) && end != EMPTY {
                superfinal = true;
                b.push_arc(Arc::new(EPSILON, label_of(end), weight, n));
            } else {
                b.set_final(s, weight);
            }
        }
        if superfinal {
            b.add_state(W::ONE);
        }
        b.set_start(self.fst.start());
        self.ends.clear();
        let names = names.map(Shared::new);
        let first = b.finish().with_symbols(isyms, names.clone());
        Ok((first, second.finish().with_symbols(names, osyms)))
    }
}
