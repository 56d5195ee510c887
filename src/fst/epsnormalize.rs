//! Epsilon normalization: an equivalent transducer in which, on every path, input epsilons come only after the last input
//! label (or the same for the output side). (Mohri 2002, "Generic epsilon-removal and input epsilon-normalization".)
//!
//! Input-epsilon arcs are removed as in epsilon removal, with weights that are sets of (output string, weight) pairs; the
//! strings are then unfolded again. There is a normal form if no cycle has more output labels than input labels (and so
//! one of input epsilons none at all): the k-th arc of a path in normal form can write one label, so that what is left to
//! write would grow with every turn. Others are an error; Bellman-Ford finds such a cycle, and need not look where no
//! arc of a cycle writes without reading. Costs what epsilon removal does, times the number of strings joined (tails of
//! epsilons behind many states are walked once, see `walks`). States and arcs come in OpenFst's order.

use std::cmp::Ordering;
use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::connect::keep_states;
use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::gallic::{Gallic, Set, factor};
use super::invert::invert;
use super::semiring::{SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, most_steps, negative_cycle, shortest_distance};
use super::strings::{EMPTY, StringId, Strings};
use super::visit::{components, on_a_path};
use super::walks::{Expand, expand_all, patience};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EpsNormType {
    #[default]
    Input,
    Output,
}

const OP: &str = "epsnormalize";

pub fn epsnormalize<W: Weight>(fst: FlatFst<W>, side: EpsNormType) -> Result<FlatFst<W>> {
    let patience = patience(&fst);
    match side {
        EpsNormType::Input => normalize(fst, ["input", "output"], patience).map(|(out, _)| out),
        EpsNormType::Output => normalize(invert(fst), ["output", "input"], patience).map(|(out, _)| invert(out)),
    }
}

/// Normalizes the input side, and says how far the walks were. `sides`: what the user calls the input and the output.
fn normalize<W: Weight>(fst: FlatFst<W>, sides: [&str; 2], patience: usize) -> Result<(FlatFst<W>, usize)> {
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    // What lies on no path would be trimmed at the end; without it, it cannot be in the way.
    let keep = on_a_path(&fst);
    if fst.start() == NO_STATE || !keep[fst.start() as usize] {
        return Ok((FlatFst::empty().with_symbols(isyms, osyms), 0));
    }
    // States that only epsilons enter do not survive. Arcs from outside count: the order of arcs depends on it.
    let mut entered = vec![false; fst.num_states()];
    entered[fst.start() as usize] = true;
    fst.all_arcs().iter().filter(|a| a.ilabel != EPSILON).for_each(|a| entered[a.nextstate as usize] = true);
    let mut kept = keep.iter();
    entered.retain(|_| kept.next() == Some(&true));
    let names: Vec<StateId> = fst.states().filter(|&s| keep[s as usize]).collect();
    let fst = keep_states(fst, &keep);
    check_lengths(&fst, &names, sides)?;
    let (gallic, walked) = Removal::new(&fst, &names).run(&entered, patience)?;
    Ok((factor(OP, gallic)?.with_symbols(isyms, osyms), walked))
}

/// No cycle has more output labels than input labels, or an error. Every state lies on a path; `names` are the numbers that
/// the user knows.
fn check_lengths<W: Weight>(fst: &FlatFst<W>, names: &[StateId], [input, output]: [&str; 2]) -> Result<()> {
    if fst.all_arcs().iter().all(|a| a.ilabel != EPSILON || a.olabel == EPSILON) {
        return Ok(());
    }
    let mut lengths = fst.clone();
    for a in lengths.all_arcs_mut() {
        a.weight = W::from_f64((a.ilabel != EPSILON) as u8 as f64 - (a.olabel != EPSILON) as u8 as f64);
    }
    let Some(s) = negative_cycle(&lengths) else { return Ok(()) };
    let s = names[s as usize];
    Err(Error::op(
        OP,
        format!(
            "a cycle through state {s} has more {output} than {input} labels, so that with every turn more {output} waits \
             to be written: there is no normal form"
        ),
    ))
}

/// A weight in progress: pairs in military order of the strings.
type Pairs<W> = Vec<(StringId, W)>;
/// The number of a final weight among those of arcs.
const FINAL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct GallicArc {
    ilabel: Label,
    set: Set,
    nextstate: StateId,
}

struct Removal<'a, W> {
    fst: &'a FlatFst<W>,
    /// The numbers of the states that the user knows.
    names: &'a [StateId],
    component: Vec<u32>,
    strings: Strings,
    pool: Vec<(StringId, W)>,
    /// Arcs of finished states, each state's in one run; `place` says where.
    arcs: Vec<GallicArc>,
    place: Vec<Option<(u32, u32)>>,
    finals: Vec<Set>,
    /// What the arcs of the state at hand are to carry, each part with the number of its arc.
    open: Vec<(u32, StringId, W)>,
    distance: Vec<Pairs<W>>,
    seen: Vec<bool>,
    members: Vec<StateId>,
}

impl<'a, W: Weight> Removal<'a, W> {
    fn new(fst: &'a FlatFst<W>, names: &'a [StateId]) -> Self {
        let n = fst.num_states();
        Removal {
            fst,
            names,
            component: components(fst, |a| a.ilabel == EPSILON).of,
            strings: Strings::default(),
            pool: vec![],
            arcs: Vec::with_capacity(fst.num_arcs()),
            place: vec![None; n],
            finals: vec![Set::ZERO; n],
            open: vec![],
            distance: vec![vec![]; n],
            seen: vec![false; n],
            members: vec![],
        }
    }

    /// The automaton with strings as weights, and how far the walks were.
    fn run(mut self, entered: &[bool], patience: usize) -> Result<(Gallic<W>, usize)> {
        let fst = self.fst;
        let mut order: Vec<StateId> = fst.states().collect();
        order.sort_by_key(|&s| std::cmp::Reverse(self.component[s as usize]));
        let walked = expand_all(fst, |a| a.ilabel == EPSILON, &order, entered, patience, &mut self)?;
        let mut b = Builder::with_capacity(fst.num_states(), self.arcs.len());
        let mut sets = Vec::with_capacity(self.arcs.len());
        for s in fst.states() {
            let keep = self.finals[s as usize].len > 0;
            b.add_state(if keep { W::ONE } else { W::ZERO });
            if let Some((from, to)) = self.place[s as usize].filter(|_| entered[s as usize]) {
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
        let graph = keep_states(graph, &keep);
        Ok((Gallic { graph, sets, finals, pool: self.pool, strings: self.strings }, walked))
    }

    /// The arcs and the final weight of a state, with the epsilons before them taken in; how far that was, as
    /// `Expand` wants to know it.
    fn take_in(&mut self, source: StateId, shared: bool) -> Result<usize> {
        self.distances(source)?;
        let mut stack = vec![source];
        let mut looked = 0;
        let mut out: Vec<GallicArc> = vec![];
        let mut find: HashMap<(Label, StateId), u32, FxBuildHasher> = HashMap::default();
        let mut number = |ilabel, nextstate| {
            *find.entry((ilabel, nextstate)).or_insert_with(|| {
                out.push(GallicArc { ilabel, set: Set::ZERO, nextstate });
                out.len() as u32 - 1
            })
        };
        while let Some(s) = stack.pop() {
            if std::mem::replace(&mut self.seen[s as usize], true) {
                continue;
            }
            let d = std::mem::take(&mut self.distance[s as usize]);
            match self.place[s as usize] {
                Some((from, to)) => {
                    looked += if shared { 1 + (to - from) as usize } else { 0 };
                    for i in from..to {
                        let a = self.arcs[i as usize];
                        self.open_set(number(a.ilabel, a.nextstate), &d, a.set);
                    }
                    self.open_set(FINAL, &d, self.finals[s as usize]);
                }
                None => {
                    looked += 1 + self.fst.arcs(s).len();
                    for a in self.fst.arcs(s) {
                        if a.ilabel != EPSILON {
                            self.open_arc(number(a.ilabel, a.nextstate), &d, a.olabel, a.weight);
                        } else if !self.seen[a.nextstate as usize] {
                            stack.push(a.nextstate);
                        }
                    }
                    if self.fst.is_final(s) {
                        self.open_arc(FINAL, &d, EPSILON, self.fst.final_weight(s));
                    }
                }
            }
        }
        for s in std::mem::take(&mut self.members) {
            self.seen[s as usize] = false;
            self.distance[s as usize].clear();
        }
        self.close(source, &mut out);
        let from = self.arcs.len() as u32;
        if shared {
            self.arcs.extend_from_slice(&out);
        } else {
            self.arcs.extend(out.iter().rev());
        }
        self.place[source as usize] = Some((from, self.arcs.len() as u32));
        if self.pool.len() >= u32::MAX as usize || self.arcs.len() >= i32::MAX as usize {
            return Err(Error::limit(OP, "2^31 arcs", "the paths of epsilons make the result too large"));
        }
        Ok(if shared { looked } else { looked.saturating_sub(1 + self.fst.arcs(source).len() + out.len()) })
    }

    /// Adds `d` and then an arc to an arc of the state at hand.
    fn open_arc(&mut self, number: u32, d: &[(StringId, W)], olabel: Label, weight: W) {
        let strings = &mut self.strings;
        self.open.extend(d.iter().map(|&(s, w)| (number, strings.append(s, olabel), w.otimes(weight))));
    }
    /// Adds `d` and then a set.
    fn open_set(&mut self, number: u32, d: &[(StringId, W)], set: Set) {
        let first = self.open.len();
        for &(s, w) in d {
            for &(t, v) in &self.pool[set.from as usize..][..set.len as usize] {
                self.open.push((number, self.strings.concat(s, t), w.otimes(v)));
            }
        }
        if d.len() > 1 {
            // Added up by itself first, as OpenFst rounds.
            let mut product: Pairs<W> = self.open.drain(first..).map(|(_, s, w)| (s, w)).collect();
            self.merge(&mut product);
            self.open.extend(product.into_iter().map(|(s, w)| (number, s, w)));
        }
    }
    /// The sums of all that was added, equal strings in the order in which they came.
    fn close(&mut self, source: StateId, out: &mut [GallicArc]) {
        let strings = &mut self.strings;
        self.open.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| strings.military(a.1, b.1)));
        for parts in self.open.chunk_by(|a, b| a.0 == b.0) {
            let from = self.pool.len() as u32;
            for equal in parts.chunk_by(|a, b| a.1 == b.1) {
                let sum = equal[1..].iter().fold(equal[0].2, |sum, part| sum.oplus(part.2));
                self.pool.push((equal[0].1, sum));
            }
            let set = Set { from, len: self.pool.len() as u32 - from };
            match parts[0].0 {
                FINAL => self.finals[source as usize] = set,
                number => out[number as usize].set = set,
            }
        }
        self.open.clear();
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
            for &s in group {
                // All that comes from other components is there.
                let mut d = std::mem::take(&mut self.distance[s as usize]);
                self.merge(&mut d);
                self.distance[s as usize] = d;
            }
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
                        let strings = &mut self.strings;
                        let more = d.iter().map(|&(s, w)| (strings.append(s, a.olabel), w.otimes(a.weight)));
                        self.distance[a.nextstate as usize].extend(more);
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
        /// Looks at every state before it is worth a question whether this ends.
        const SOON: u64 = 64;
        let size = group.len() as u64;
        let num_arcs: usize = group.iter().map(|&s| fst.arcs(s).iter().filter(inside).count()).sum();
        let (mut pops, mut steps) = (0u64, 0u64);
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
            if pops == SOON * size {
                self.check_sums(s, group, component)?;
            }
            if W::PATH && pops > size * SOON.max(size + 1) {
                // No cycle is negative: all that still changes are last digits.
                break;
            }
            if steps > most_steps(num_arcs) {
                return Err(self.no_sum(s));
            }
            if self.place[s as usize].is_some() {
                continue;
            }
            for a in fst.arcs(s).iter().filter(inside) {
                let t = a.nextstate;
                steps += 1;
                let more: Pairs<W> = r.iter().map(|&(s, w)| (s, w.otimes(a.weight))).collect();
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

    /// The epsilon arcs of a component have finite sums from `source`, or an error: looked up where `settle` takes long.
    fn check_sums(&self, source: StateId, group: &[StateId], component: &[u32]) -> Result<()> {
        let local: HashMap<StateId, u32, FxBuildHasher> = group.iter().zip(0..).map(|(&s, i)| (s, i)).collect();
        let mut b = Builder::<W>::with_capacity(group.len(), group.len());
        for &s in group {
            b.add_state(W::ZERO);
            if self.place[s as usize].is_none() {
                let inside =
                    |a: &&Arc<W>| a.ilabel == EPSILON && component[a.nextstate as usize] == component[s as usize];
                for a in self.fst.arcs(s).iter().filter(inside) {
                    b.push_arc(Arc { nextstate: local[&a.nextstate], ..*a });
                }
            }
        }
        b.set_start(local[&source]);
        shortest_distance(&b.finish(), &DistanceConfig::default()).map(|_| ()).map_err(|_| self.no_sum(source))
    }
    fn no_sum(&self, s: StateId) -> Error {
        let s = self.names[s as usize];
        let why = "a cycle of negative cost, or of probability 1?";
        Error::op(OP, format!("the epsilon cycles through state {s} have no finite sum ({why})"))
    }

    /// Brings pairs into order and adds up those of equal strings, in the order in which they came.
    fn merge(&mut self, pairs: &mut Pairs<W>) {
        pairs.sort_by(|a, b| self.strings.military(a.0, b.0));
        pairs.dedup_by(|next, sum| {
            let equal = next.0 == sum.0;
            if equal {
                sum.1 = sum.1.oplus(next.1);
            }
            equal
        });
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

impl<W: Weight> Expand for Removal<'_, W> {
    fn expand(&mut self, s: StateId) -> Result<usize> {
        self.take_in(s, false)
    }

    fn share(&mut self, s: StateId) -> Result<usize> {
        self.take_in(s, true)
    }

    fn is_expanded(&self, s: StateId) -> bool {
        self.place[s as usize].is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log, Tropical};
    use crate::fst::testing::{ONE, Z, arc};

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
        assert!(epsnormalize(with(3), EpsNormType::Output).is_ok());
        let negative = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(0, 0, -1.0, 0)])]);
        assert!(epsnormalize(negative, EpsNormType::Input).is_err());
    }
    #[test]
    fn cycles_may_not_write_more_than_they_read() {
        // State 1 lies on no path, so that messages count from it on.
        let turns = |back: Vec<Arc<Tropical>>| {
            let mut rows = vec![(ONE, vec![arc(0, 5, 0.0, 2)]), (Z, vec![])];
            for (i, a) in back.into_iter().enumerate() {
                rows.push((Z, vec![Arc { nextstate: i as u32 + 3, ..a }]));
            }
            rows.push((Z, vec![arc(1, 6, 0.0, 0)]));
            FlatFst::from_rows(0, rows)
        };
        let e = epsnormalize(turns(vec![]), EpsNormType::Input).unwrap_err().to_string();
        assert!(
            e.contains("through state 0 has more output than input") || e.contains("through state 2 has more"),
            "{e}"
        );
        let e = epsnormalize(invert(turns(vec![])), EpsNormType::Output).unwrap_err().to_string();
        assert!(e.contains("has more input than output"), "{e}");
        assert!(epsnormalize(turns(vec![arc(0, 0, 0.0, 0)]), EpsNormType::Input).is_err());
        assert_eq!(epsnormalize(turns(vec![arc(2, 0, 0.0, 0)]), EpsNormType::Input).unwrap().num_states(), 2);
        assert!(epsnormalize(turns(vec![arc(2, 0, 0.0, 0), arc(3, 0, 0.0, 0)]), EpsNormType::Input).is_ok());
    }

    #[test]
    fn sums_over_epsilons_that_diverge_are_found_early() {
        let n = 2000u32;
        let mut rows: Vec<_> = (0..n).map(|s| (Log::ZERO, vec![Arc::new(0, 0, Log(0.0), (s + 1) % n)])).collect();
        rows[0].1.push(Arc::new(1, 1, Log(0.5), n));
        rows.push((Log::ONE, vec![]));
        let e = epsnormalize(FlatFst::from_rows(0, rows), EpsNormType::Input).unwrap_err().to_string();
        assert!(e.contains("no finite sum"), "{e}");
    }

    #[test]
    fn many_outputs_between_two_states_are_not_quadratic() {
        let k = 30_000;
        let rows = vec![(Z, (1..=k).rev().map(|i| arc(1, i, 0.0, 1)).collect()), (ONE, vec![])];
        let g = epsnormalize(FlatFst::from_rows(0, rows), EpsNormType::Input).unwrap();
        assert!(g.arcs(0).iter().map(|a| a.olabel).eq(1..=k));
        // The same after epsilons.
        let rows =
            vec![(Z, (1..=k).rev().map(|i| arc(0, i, 0.0, 1)).collect()), (Z, vec![arc(1, 0, 0.0, 2)]), (ONE, vec![])];
        let g = epsnormalize(FlatFst::from_rows(0, rows), EpsNormType::Input).unwrap();
        assert!(g.arcs(0).iter().map(|a| a.olabel).eq(1..=k));
    }
    #[test]
    fn one_chain_of_epsilons_behind_many_states_is_linear() {
        let n = 5000;
        let mut rows = vec![(Z, (1..=n).map(|s| arc(s as Label, 0, 0.0, s)).collect())];
        rows.extend((0..n).map(|s| (Z, vec![arc(0, 1 + (s % 4) as Label, 0.0, n + 1)])));
        rows.extend((0..n).map(|s| (Z, vec![arc(0, 0, 0.0, n + s + 2)])));
        rows.push((ONE, vec![]));
        let f = FlatFst::from_rows(0, rows);
        let (size, most) = (f.num_states() + f.num_arcs(), patience(&f));
        let (g, walked) = normalize(f, ["input", "output"], most).unwrap();
        assert_eq!(g.num_arcs(), 2 * n as usize);
        assert!(walked <= 16 * size, "{walked} steps for {size} states and arcs");
    }

    #[test]
    fn shared_states_change_nothing() {
        use rand::{Rng, SeedableRng, rngs::SmallRng};
        let mut rng = SmallRng::seed_from_u64(12);
        let mut shared = 0;
        for _ in 0..1000 {
            let n = rng.random_range(2..24u32);
            let rows = (0..n).map(|s| {
                // Labels in front, epsilons behind.
                let (least, labels) = if s < n / 3 { (2, 0.6) } else { (0, 0.1) };
                let arcs = (0..rng.random_range(least..4)).filter(|_| s + 1 < n).map(|_| {
                    let label = if rng.random_bool(labels) { rng.random_range(1..4) } else { 0 };
                    let next = rng.random_range(s + 1..n);
                    arc(label, rng.random_range(0..3), rng.random_range(0..16) as f32 / 8.0, next)
                });
                let arcs = arcs.collect();
                (if s + 1 == n || rng.random_bool(0.2) { Tropical(rng.random_range(0..8) as f32) } else { Z }, arcs)
            });
            let f = FlatFst::from_rows(0, rows.collect());
            let (want, far) = normalize(f.clone(), ["input", "output"], usize::MAX).unwrap();
            let (found, walked) = normalize(f.clone(), ["input", "output"], 0).unwrap();
            assert_eq!(found, want, "{f:?}");
            shared += (walked != far) as u32;
        }
        assert!(shared > 100, "{shared}");
    }
}
