//! Epsilon normalization: an equivalent transducer in which, on every path, input epsilons come only after the last input
//! label (or the same for the output side). (Mohri 2002, "Generic epsilon-removal and input epsilon-normalization".)
//!
//! Input-epsilon arcs are removed as in epsilon removal, with weights that are sets of (output string, weight) pairs; the
//! strings are then unfolded again. Needs an automaton whose cycles of input epsilons have no output; others have no
//! normal form, and it is an error. Costs what epsilon removal does, times the number of strings joined. States and arcs
//! come in OpenFst's order.

use std::cmp::Ordering;
use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::connect::keep_states;
use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::gallic::{Gallic, Set, factor};
use super::invert::invert;
use super::semiring::{SHORTEST_DELTA, Weight};
use super::strings::{EMPTY, StringId, Strings};
use super::visit::{components, on_a_path};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EpsNormType {
    #[default]
    Input,
    Output,
}

const OP: &str = "epsnormalize";

pub fn epsnormalize<W: Weight>(fst: FlatFst<W>, side: EpsNormType) -> Result<FlatFst<W>> {
    if side == EpsNormType::Output {
        return epsnormalize(invert(fst), EpsNormType::Input).map(invert);
    }
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    // What lies on no path would be trimmed at the end; without it, it cannot be in the way.
    let keep = on_a_path(&fst);
    if fst.start() == NO_STATE || !keep[fst.start() as usize] {
        return Ok(FlatFst::empty().with_symbols(isyms, osyms));
    }
    // States that only epsilons enter do not survive. Arcs from outside count: the order of arcs depends on it.
    let mut entered = vec![false; fst.num_states()];
    entered[fst.start() as usize] = true;
    fst.all_arcs().iter().filter(|a| a.ilabel != EPSILON).for_each(|a| entered[a.nextstate as usize] = true);
    let mut kept = keep.iter();
    entered.retain(|_| kept.next() == Some(&true));
    let fst = keep_states(fst, &keep);
    let gallic = Removal::new(&fst)?.run(&entered)?;
    Ok(factor(OP, gallic)?.with_symbols(isyms, osyms))
}

/// A weight in progress: pairs in military order of the strings.
type Pairs<W> = Vec<(StringId, W)>;

#[derive(Clone, Copy)]
struct GallicArc {
    ilabel: Label,
    set: Set,
    nextstate: StateId,
}

struct Removal<'a, W> {
    fst: &'a FlatFst<W>,
    component: Vec<u32>,
    strings: Strings,
    pool: Vec<(StringId, W)>,
    /// Arcs of finished states, each state's in one run; `place` says where.
    arcs: Vec<GallicArc>,
    place: Vec<Option<(u32, u32)>>,
    finals: Vec<Set>,
    distance: Vec<Pairs<W>>,
    seen: Vec<bool>,
    members: Vec<StateId>,
}

impl<'a, W: Weight> Removal<'a, W> {
    fn new(fst: &'a FlatFst<W>) -> Result<Self> {
        let component = components(fst, |a| a.ilabel == EPSILON).of;
        for (s, a) in fst.transitions() {
            let cyclic = a.ilabel == EPSILON && component[s as usize] == component[a.nextstate as usize];
            if cyclic && a.olabel != EPSILON {
                return Err(Error::op(
                    OP,
                    format!(
                        "a cycle of epsilons through state {s} has label {} on the other side: \
                         infinitely many outputs for one input have no normal form",
                        a.olabel
                    ),
                ));
            }
        }
        let n = fst.num_states();
        Ok(Removal {
            fst,
            component,
            strings: Strings::default(),
            pool: vec![],
            arcs: Vec::with_capacity(fst.num_arcs()),
            place: vec![None; n],
            finals: vec![Set::ZERO; n],
            distance: vec![vec![]; n],
            seen: vec![false; n],
            members: vec![],
        })
    }

    fn run(mut self, entered: &[bool]) -> Result<Gallic<W>> {
        let fst = self.fst;
        let mut order: Vec<StateId> = fst.states().filter(|&s| entered[s as usize]).collect();
        order.sort_by_key(|&s| std::cmp::Reverse(self.component[s as usize]));
        for s in order {
            self.expand(s)?;
        }
        let mut b = Builder::with_capacity(fst.num_states(), self.arcs.len());
        let mut sets = Vec::with_capacity(self.arcs.len());
        for s in fst.states() {
            let keep = self.finals[s as usize].len > 0;
            b.add_state(if keep { W::ONE } else { W::ZERO });
            if let Some((from, to)) = self.place[s as usize] {
                for a in &self.arcs[from as usize..to as usize] {
                    b.push_arc(Arc::new(a.ilabel, sets.len() as Label, W::ONE, a.nextstate));
                    sets.push(a.set);
                }
            }
        }
        b.set_start(fst.start());
        let graph = b.finish();
        let keep = on_a_path(&graph);
        let finals = self.finals.iter().zip(&keep).filter(|(_, k)| **k).map(|(f, _)| *f).collect();
        Ok(Gallic { graph: keep_states(graph, &keep), sets, finals, pool: self.pool, strings: self.strings })
    }

    /// The arcs and the final weight of a state, with the epsilons before them taken in.
    fn expand(&mut self, source: StateId) -> Result<()> {
        self.distances(source)?;
        let mut stack = vec![source];
        let mut out: Vec<GallicArc> = vec![];
        let mut find: HashMap<(Label, StateId), usize, FxBuildHasher> = HashMap::default();
        let mut final_weight: Pairs<W> = vec![];
        while let Some(s) = stack.pop() {
            if std::mem::replace(&mut self.seen[s as usize], true) {
                continue;
            }
            let d = std::mem::take(&mut self.distance[s as usize]);
            match self.place[s as usize] {
                Some((from, to)) => {
                    for i in from..to {
                        let a = self.arcs[i as usize];
                        let weight = self.times_set(&d, a.set);
                        self.emit(&mut out, &mut find, a.ilabel, weight, a.nextstate);
                    }
                    let f = self.times_set(&d, self.finals[s as usize]);
                    final_weight = self.plus(&final_weight, &f);
                }
                None => {
                    for a in self.fst.arcs(s) {
                        if a.ilabel == EPSILON {
                            if !self.seen[a.nextstate as usize] {
                                stack.push(a.nextstate);
                            }
                        } else {
                            let weight = self.times(&d, a.olabel, a.weight);
                            self.emit(&mut out, &mut find, a.ilabel, weight, a.nextstate);
                        }
                    }
                    if self.fst.is_final(s) {
                        let f = self.times(&d, EPSILON, self.fst.final_weight(s));
                        final_weight = self.plus(&final_weight, &f);
                    }
                }
            }
        }
        for s in std::mem::take(&mut self.members) {
            self.seen[s as usize] = false;
            self.distance[s as usize].clear();
        }
        let from = self.arcs.len() as u32;
        self.arcs.extend(out.iter().rev());
        self.place[source as usize] = Some((from, self.arcs.len() as u32));
        self.finals[source as usize] = self.store(&final_weight);
        if self.pool.len() >= u32::MAX as usize || self.arcs.len() >= i32::MAX as usize {
            return Err(Error::limit(OP, "2^31 arcs", "the paths of epsilons make the result too large"));
        }
        Ok(())
    }

    fn emit(
        &mut self,
        out: &mut Vec<GallicArc>,
        find: &mut HashMap<(Label, StateId), usize, FxBuildHasher>,
        ilabel: Label,
        weight: Pairs<W>,
        nextstate: StateId,
    ) {
        let at = *find.entry((ilabel, nextstate)).or_insert(out.len());
        if at == out.len() {
            let set = self.store(&weight);
            out.push(GallicArc { ilabel, set, nextstate });
        } else {
            let old = self.pairs(out[at].set);
            let sum = self.plus(&old, &weight);
            out[at].set = self.store(&sum);
        }
    }

    /// Sums of the epsilon paths from `source` to every state they reach, in `distance`; `members` are these states.
    fn distances(&mut self, source: StateId) -> Result<()> {
        let mut stack = vec![source];
        let mut members = vec![];
        while let Some(s) = stack.pop() {
            if std::mem::replace(&mut self.seen[s as usize], true) {
                continue;
            }
            members.push(s);
            if self.place[s as usize].is_none() {
                stack.extend(self.fst.arcs(s).iter().filter(|a| a.ilabel == EPSILON).map(|a| a.nextstate));
            }
        }
        members.iter().for_each(|&s| self.seen[s as usize] = false);
        members.sort_by_key(|&s| self.component[s as usize]);
        self.distance[source as usize].push((EMPTY, W::ONE));
        let fst = self.fst;
        let component = std::mem::take(&mut self.component);
        let mut outcome = Ok(());
        for group in members.chunk_by(|&s, &t| component[s as usize] == component[t as usize]) {
            outcome = self.settle(group, &component);
            if outcome.is_err() {
                break;
            }
            for &s in group {
                if self.place[s as usize].is_some() {
                    continue;
                }
                let d = std::mem::take(&mut self.distance[s as usize]);
                for a in fst.arcs(s).iter().filter(|a| a.ilabel == EPSILON) {
                    if component[a.nextstate as usize] != component[s as usize] {
                        let more = self.times(&d, a.olabel, a.weight);
                        let old = std::mem::take(&mut self.distance[a.nextstate as usize]);
                        self.distance[a.nextstate as usize] = self.plus(&old, &more);
                    }
                }
                self.distance[s as usize] = d;
            }
        }
        self.component = component;
        self.members = members;
        outcome
    }

    /// Closes the distances under the epsilon arcs inside a component, which have no output.
    fn settle(&mut self, group: &[StateId], component: &[u32]) -> Result<()> {
        let fst = self.fst;
        let inside =
            |a: &&Arc<W>| a.ilabel == EPSILON && component[a.nextstate as usize] == component[group[0] as usize];
        if !group.iter().any(|&s| self.place[s as usize].is_none() && fst.arcs(s).iter().any(|a| inside(&a))) {
            return Ok(());
        }
        // Best paths need as many rounds as there are states; sums converge, or grow for ever.
        let limit = if W::PATH { group.len() + 1 } else { 1_000_000 } as u64 * group.len() as u64;
        let mut pops = 0u64;
        let mut fresh: HashMap<StateId, Pairs<W>, FxBuildHasher> = HashMap::default();
        let mut queue: VecDeque<StateId> = VecDeque::new();
        for &s in group {
            if !self.distance[s as usize].is_empty() {
                fresh.insert(s, self.distance[s as usize].clone());
                queue.push_back(s);
            }
        }
        while let Some(s) = queue.pop_front() {
            let Some(r) = fresh.remove(&s) else { continue };
            pops += 1;
            if pops > limit {
                return Err(Error::op(
                    OP,
                    format!(
                        "the epsilon cycles through state {s} have no finite sum (a cycle of negative cost, or of probability 1?)"
                    ),
                ));
            }
            if self.place[s as usize].is_some() {
                continue;
            }
            for a in fst.arcs(s).iter().filter(inside) {
                let t = a.nextstate;
                let more = self.times(&r, EPSILON, a.weight);
                let old = std::mem::take(&mut self.distance[t as usize]);
                let new = self.plus(&old, &more);
                let same = old.len() == new.len()
                    && old.iter().zip(&new).all(|(p, q)| {
                        p.0 == q.0 && if W::PATH { p.1 == q.1 } else { p.1.approx_eq(q.1, SHORTEST_DELTA) }
                    });
                if same {
                    self.distance[t as usize] = old;
                    continue;
                }
                self.distance[t as usize] = new;
                let waiting = fresh.remove(&t);
                let sum = match &waiting {
                    Some(w) => self.plus(w, &more),
                    None => more,
                };
                fresh.insert(t, sum);
                if waiting.is_none() {
                    queue.push_back(t);
                }
            }
        }
        Ok(())
    }

    fn store(&mut self, pairs: &[(StringId, W)]) -> Set {
        let from = self.pool.len() as u32;
        self.pool.extend_from_slice(pairs);
        Set { from, len: pairs.len() as u32 }
    }
    fn pairs(&self, set: Set) -> Pairs<W> {
        self.pool[set.from as usize..][..set.len as usize].to_vec()
    }
    /// Appending one label keeps the order.
    fn times(&mut self, d: &[(StringId, W)], olabel: Label, weight: W) -> Pairs<W> {
        d.iter().map(|&(s, w)| (self.strings.append(s, olabel), w.otimes(weight))).collect()
    }
    fn times_set(&mut self, d: &[(StringId, W)], set: Set) -> Pairs<W> {
        let mut sum = vec![];
        for &(s, w) in d {
            let product: Pairs<W> = (set.from..set.from + set.len)
                .map(|i| {
                    let (t, v) = self.pool[i as usize];
                    (self.strings.concat(s, t), w.otimes(v))
                })
                .collect();
            sum = if sum.is_empty() { product } else { self.plus(&sum, &product) };
        }
        sum
    }
    fn plus(&mut self, a: &[(StringId, W)], b: &[(StringId, W)]) -> Pairs<W> {
        let mut sum = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match self.strings.military(a[i].0, b[j].0) {
                Ordering::Less => {
                    sum.push(a[i]);
                    i += 1;
                }
                Ordering::Greater => {
                    sum.push(b[j]);
                    j += 1;
                }
                Ordering::Equal => {
                    sum.push((a[i].0, a[i].1.oplus(b[j].1)));
                    i += 1;
                    j += 1;
                }
            }
        }
        sum.extend_from_slice(&a[i..]);
        sum.extend_from_slice(&b[j..]);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::{Z, arc};

    #[test]
    fn input_epsilons_go_to_the_end() {
        let f = FlatFst::from_rows(
            0,
            vec![(Z, vec![arc(0, 5, 0.5, 1)]), (Z, vec![arc(1, 6, 1.0, 2)]), (Tropical::ONE, vec![])],
        );
        let want = vec![(Z, vec![arc(1, 5, 1.5, 1)]), (Z, vec![arc(0, 6, 0.0, 2)]), (Tropical::ONE, vec![])];
        assert_eq!(epsnormalize(f, EpsNormType::Input).unwrap(), FlatFst::from_rows(0, want));
    }

    #[test]
    fn the_output_side_is_the_inverse() {
        let f = FlatFst::from_rows(
            0,
            vec![(Z, vec![arc(5, 0, 0.5, 1)]), (Z, vec![arc(6, 1, 1.0, 2)]), (Tropical::ONE, vec![])],
        );
        let by_hand = invert(epsnormalize(invert(f.clone()), EpsNormType::Input).unwrap());
        assert_eq!(epsnormalize(f, EpsNormType::Output).unwrap(), by_hand);
    }

    #[test]
    fn cycles_of_epsilons() {
        let with =
            |o| FlatFst::from_rows(0, vec![(Z, vec![arc(0, o, 1.0, 0), arc(1, 2, 0.0, 1)]), (Tropical::ONE, vec![])]);
        let g = epsnormalize(with(0), EpsNormType::Input).unwrap();
        assert_eq!(g, FlatFst::from_rows(0, vec![(Z, vec![arc(1, 2, 0.0, 1)]), (Tropical::ONE, vec![])]));
        assert!(epsnormalize(with(3), EpsNormType::Input).unwrap_err().to_string().contains("no normal form"));
        let negative = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(0, 0, -1.0, 0)])]);
        assert!(epsnormalize(negative, EpsNormType::Input).is_err());
    }
}
