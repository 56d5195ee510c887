//! Pushing: moves weights, or output labels, or both, along the paths as far as they go towards the start or towards the
//! final states (Mohri 2009, "Weighted automata algorithms", §7).
//!
//! Weights are moved by reweighting with the distance to the final states (or from the start), labels by the longest
//! common beginning (or end) of the outputs of all paths, together in one pass. Labels may make new states: an arc has
//! one output label. Needs, in the log semiring, sums that converge; a negative cycle is an error. Weights: O(V + E)
//! where acyclic, else as shortest distance. Labels: O(E log² n), plus the result.

use std::collections::VecDeque;

use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::gallic::{Gallic, factor};
use super::map::{MapConfig, MapType, map_within};
use super::reweight::{ReweightType, reweight};
use super::semiring::{DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::strings::{EMPTY, Lists, StringId, Strings, View};
use super::visit::{Incoming, components, start_on_cycle, topological_order};
use crate::error::Result;

#[derive(Clone, Copy, Debug)]
pub struct PushConfig {
    pub weights: bool,
    pub labels: bool,
    /// Divide by the sum of all paths.
    pub remove_total_weight: bool,
    /// Drop the beginning (or end) that all outputs share.
    pub remove_common_affix: bool,
    pub direction: ReweightType,
    /// When a log sum over cycles counts as converged.
    pub delta: f32,
}

impl Default for PushConfig {
    fn default() -> Self {
        PushConfig {
            weights: false,
            labels: false,
            remove_total_weight: false,
            remove_common_affix: false,
            direction: ReweightType::ToInitial,
            delta: DELTA,
        }
    }
}

pub fn push<W: Weight>(fst: FlatFst<W>, config: &PushConfig) -> Result<FlatFst<W>> {
    if fst.start() == NO_STATE {
        return Ok(if config.labels { FlatFst::empty().with_symbols_of(&fst) } else { fst });
    }
    match (config.labels, config.weights) {
        (true, _) => Ok(push_labels(&fst, config)?.with_symbols_of(&fst)),
        (false, true) => push_weights(fst, config),
        (false, false) => Ok(fst),
    }
}

fn distances<W: Weight>(fst: &FlatFst<W>, config: &PushConfig) -> Result<Vec<W>> {
    let reverse = config.direction == ReweightType::ToInitial;
    shortest_distance(fst, &DistanceConfig { reverse, delta: Some(config.delta), lenient: true, ..Default::default() })
}

/// Sum of all paths, from the distances.
fn total<W: Weight>(fst: &FlatFst<W>, distance: &[W], direction: ReweightType) -> W {
    match direction {
        ReweightType::ToInitial => distance[fst.start() as usize],
        ReweightType::ToFinal => distance.iter().zip(fst.finals()).fold(W::ZERO, |sum, (d, f)| sum.oplus(d.otimes(*f))),
    }
}

fn push_weights<W: Weight>(fst: FlatFst<W>, config: &PushConfig) -> Result<FlatFst<W>> {
    let distance = distances(&fst, config)?;
    let total = total(&fst, &distance, config.direction);
    let mut fst = reweight(fst, &distance, config.direction);
    if !config.remove_total_weight || total.is_one_w() || total.is_zero_w() {
        return Ok(fst);
    }
    match config.direction {
        ReweightType::ToInitial => {
            let start = fst.start();
            fst.arcs_mut(start).iter_mut().for_each(|a| a.weight = a.weight.odivide(total));
            let w = &mut fst.finals_mut()[start as usize];
            *w = w.odivide(total);
        }
        ReweightType::ToFinal => fst.finals_mut().iter_mut().for_each(|w| *w = w.odivide(total)),
    }
    Ok(fst)
}

/// What all paths on the far side of a state share; none if there is no path.
#[derive(Clone, Copy)]
struct Potential<W> {
    output: View,
    weight: W,
}

fn push_labels<W: Weight>(fst: &FlatFst<W>, config: &PushConfig) -> Result<FlatFst<W>> {
    let direction = config.direction;
    let mut strings = Strings::default();
    let outputs = common_outputs(fst, direction, &mut strings.lists);
    let weights = if config.weights {
        distances(fst, config)?
    } else {
        // OpenFst takes the distances of the unweighted automaton, which in the log semiring count paths. Where there
        // are infinitely many no weight is moved.
        let none_moved = || fst.states().map(|_| W::ONE).collect();
        let counted = (!W::PATH).then(|| {
            let plain = map_within(fst.clone(), &MapConfig { map_type: MapType::Rmweight, ..Default::default() });
            distances(&plain, config)
        });
        counted.and_then(|d| d.ok()).unwrap_or_else(none_moved)
    };
    let potentials: Vec<Option<Potential<W>>> = outputs
        .iter()
        .zip(&weights)
        .map(|(output, &weight)| output.filter(|_| !weight.is_zero_w()).map(|output| Potential { output, weight }))
        .collect();
    // Without a successful path nothing is common to all: then nothing is removed.
    let affix = shared_by_all(fst, &potentials, direction, &mut strings.lists).unwrap_or(Affix::NONE);
    let removed = Affix {
        output: if config.remove_common_affix { affix.output } else { View::EMPTY },
        weight: if config.remove_total_weight { affix.weight } else { W::ONE },
    };
    let moved = Moved::new(fst, &potentials, direction, removed, strings);
    factor("push", moved.into_gallic(fst))
}

/// Weight and output that every path has.
type Affix<W> = Potential<W>;

impl<W: Weight> Affix<W> {
    const NONE: Self = Potential { output: View::EMPTY, weight: W::ONE };
    fn is_one(&self) -> bool {
        self.output.is_empty() && self.weight.is_one_w()
    }
}

fn shared_by_all<W: Weight>(
    fst: &FlatFst<W>,
    potentials: &[Option<Potential<W>>],
    direction: ReweightType,
    lists: &mut Lists,
) -> Option<Affix<W>> {
    if direction == ReweightType::ToInitial {
        return potentials[fst.start() as usize];
    }
    let mut sum: Option<Affix<W>> = None;
    for (p, &f) in potentials.iter().zip(fst.finals()) {
        let Some(p) = p.filter(|_| !f.is_zero_w()) else { continue };
        let weight = p.weight.otimes(f);
        sum = Some(match sum {
            None => Affix { output: p.output, weight },
            Some(q) => Affix { output: lists.common_with(q.output, EPSILON, p.output), weight: q.weight.oplus(weight) },
        });
    }
    sum
}

/// For every state the longest common beginning of the outputs of all paths to a final state; or the longest common end of
/// those from the start, last label first. Acyclic input takes one pass over the arcs.
pub(super) fn common_outputs<W: Weight>(
    fst: &FlatFst<W>,
    direction: ReweightType,
    lists: &mut Lists,
) -> Vec<Option<View>> {
    let to_initial = direction == ReweightType::ToInitial;
    let mut d: Vec<Option<View>> = vec![None; fst.num_states()];
    if to_initial {
        fst.states().filter(|&s| fst.is_final(s)).for_each(|s| d[s as usize] = Some(View::EMPTY));
    } else {
        d[fst.start() as usize] = Some(View::EMPTY);
    }
    match topological_order(fst) {
        Some(order) if to_initial => {
            for &s in order.iter().rev() {
                let mut sum = d[s as usize];
                for a in fst.arcs(s) {
                    if let Some(next) = d[a.nextstate as usize] {
                        sum = Some(shared_with(sum, a.olabel, next, lists));
                    }
                }
                d[s as usize] = sum;
            }
        }
        Some(order) => {
            for &s in &order {
                let Some(here) = d[s as usize] else { continue };
                for a in fst.arcs(s) {
                    let to = &mut d[a.nextstate as usize];
                    *to = Some(shared_with(*to, a.olabel, here, lists));
                }
            }
        }
        None => settle_cycles(fst, to_initial, &mut d, lists),
    }
    d
}

/// What `sum`, if there is one, shares with `label` and then `view`.
#[inline]
fn shared_with(sum: Option<View>, label: Label, view: View, lists: &mut Lists) -> View {
    match sum {
        None => lists.divided(label, view, 0),
        Some(sum) => lists.common_with(sum, label, view),
    }
}

/// Component by component; inside one, until nothing gets shorter.
fn settle_cycles<W: Weight>(fst: &FlatFst<W>, to_initial: bool, d: &mut [Option<View>], lists: &mut Lists) {
    let incoming = to_initial.then(|| Incoming::new(fst));
    let component = components(fst, |_| true);
    let mut order: Vec<StateId> = fst.states().collect();
    order.sort_by_key(|&s| component.of[s as usize]);
    if to_initial {
        order.reverse();
    }
    let mut queue: VecDeque<StateId> = VecDeque::new();
    let mut queued = vec![false; fst.num_states()];
    for group in order.chunk_by(|&s, &t| component.of[s as usize] == component.of[t as usize]) {
        queue.extend(group.iter().filter(|&&s| d[s as usize].is_some()));
        group.iter().for_each(|&s| queued[s as usize] = d[s as usize].is_some());
        while let Some(s) = queue.pop_front() {
            queued[s as usize] = false;
            let Some(here) = d[s as usize] else { continue };
            let mut relax = |arc: &Arc<W>, to: StateId| {
                let old = d[to as usize];
                let new = shared_with(old, arc.olabel, here, lists);
                if old.is_none_or(|o| new.len() < o.len()) {
                    d[to as usize] = Some(new);
                    if component.of[to as usize] == component.of[s as usize] && !queued[to as usize] {
                        queued[to as usize] = true;
                        queue.push_back(to);
                    }
                }
            };
            match &incoming {
                Some(incoming) => {
                    for &i in incoming.of(s) {
                        relax(&fst.all_arcs()[i as usize], incoming.sources[i as usize]);
                    }
                }
                None => fst.arcs(s).iter().for_each(|a| relax(a, a.nextstate)),
            }
        }
    }
}

/// The automaton with every arc's and final state's new weight and output string.
struct Moved<W> {
    arcs: Vec<(StringId, W)>,
    finals: Vec<Option<(StringId, W)>>,
    /// A start in front, with what its arc to the old one carries.
    new_start: Option<(StringId, W)>,
    strings: Strings,
}

impl<W: Weight> Moved<W> {
    fn new(
        fst: &FlatFst<W>,
        potentials: &[Option<Potential<W>>],
        direction: ReweightType,
        removed: Affix<W>,
        mut strings: Strings,
    ) -> Self {
        let to_initial = direction == ReweightType::ToInitial;
        let mut arcs = Vec::with_capacity(fst.num_arcs());
        let mut finals = Vec::with_capacity(fst.num_states());
        for s in fst.states() {
            let p = potentials[s as usize];
            for a in fst.arcs(s) {
                arcs.push(match (p, potentials[a.nextstate as usize]) {
                    (Some(p), Some(q)) if to_initial => {
                        let weight = a.weight.otimes(q.weight).odivide(p.weight);
                        let rest = strings.lists.divided(a.olabel, q.output, p.output.len());
                        (strings.intern(rest), weight)
                    }
                    (Some(p), Some(q)) => {
                        let weight = p.weight.otimes(a.weight).odivide(q.weight);
                        let rest = strings.lists.divided(a.olabel, p.output, q.output.len());
                        (strings.intern(rest.reversed()), weight)
                    }
                    _ => (strings.of_label(a.olabel), a.weight),
                });
            }
            let f = fst.final_weight(s);
            finals.push(match p {
                _ if f.is_zero_w() => None,
                Some(p) if to_initial => Some((EMPTY, f.odivide(p.weight))),
                None if to_initial => Some((EMPTY, f)),
                Some(p) => {
                    let rest = strings.lists.drop_front(p.output, removed.output.len());
                    let output = strings.intern(rest.reversed());
                    let weight = p.weight.otimes(f);
                    Some((output, if removed.is_one() { weight } else { weight.odivide(removed.weight) }))
                }
                None => None,
            });
        }
        let mut moved = Moved { arcs, finals, new_start: None, strings };
        if let Some(p) = potentials[fst.start() as usize].filter(|p| !p.is_one()) {
            moved.make_good(fst, p, direction);
        }
        if to_initial && !removed.is_one() {
            moved.remove_at_start(fst, removed);
        }
        moved
    }

    /// What was divided out of the start is multiplied in again.
    fn make_good(&mut self, fst: &FlatFst<W>, p: Potential<W>, direction: ReweightType) {
        let (output, weight) = match direction {
            ReweightType::ToInitial => (self.strings.intern(p.output), p.weight),
            ReweightType::ToFinal => (EMPTY, W::ONE.odivide(p.weight)),
        };
        if start_on_cycle(fst) {
            self.new_start = Some((output, weight));
            return;
        }
        for i in fst.range(fst.start()) {
            let (string, w) = self.arcs[i];
            self.arcs[i] = (self.strings.concat(output, string), weight.otimes(w));
        }
        if let Some((string, w)) = self.finals[fst.start() as usize] {
            self.finals[fst.start() as usize] = Some((self.strings.concat(output, string), weight.otimes(w)));
        }
    }

    fn remove_at_start(&mut self, fst: &FlatFst<W>, removed: Affix<W>) {
        let strings = &mut self.strings;
        let mut divide = |(string, w): (StringId, W)| {
            let rest = strings.lists.drop_front(strings.view(string), removed.output.len());
            (strings.intern(rest), w.odivide(removed.weight))
        };
        if let Some(arc) = &mut self.new_start {
            *arc = divide(*arc);
            return;
        }
        self.arcs[fst.range(fst.start())].iter_mut().for_each(|a| *a = divide(*a));
        if let Some(f) = &mut self.finals[fst.start() as usize] {
            *f = divide(*f);
        }
    }

    fn into_gallic(self, fst: &FlatFst<W>) -> Gallic<W> {
        let Moved { arcs: mut pool, finals, new_start, strings } = self;
        let mut graph_arcs: Vec<Arc<W>> = fst.all_arcs().to_vec();
        let mut offsets = fst.offsets().to_vec();
        let mut start = fst.start();
        let mut is_final: Vec<W> = finals.iter().map(|f| if f.is_some() { W::ONE } else { W::ZERO }).collect();
        if let Some(arc) = new_start {
            graph_arcs.push(Arc::new(EPSILON, EPSILON, W::ONE, start));
            offsets.push(graph_arcs.len() as u32);
            pool.push(arc);
            start = is_final.len() as StateId;
            is_final.push(W::ZERO);
        }
        Gallic::of_pairs(FlatFst::from_parts(start, offsets, is_final, graph_arcs), pool, finals, strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn arc(i: i32, o: i32, w: f32, t: u32) -> Arc<Tropical> {
        Arc::new(i, o, Tropical(w), t)
    }
    const Z: Tropical = Tropical::ZERO;

    #[test]
    fn weights_to_both_ends() {
        let f = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 1, 1.0, 1), arc(2, 2, 3.0, 1)]), (Tropical(2.0), vec![])]);
        let config = PushConfig { weights: true, ..Default::default() };
        let g = push(f.clone(), &config).unwrap();
        let want = vec![(Z, vec![arc(1, 1, 3.0, 1), arc(2, 2, 5.0, 1)]), (Tropical(0.0), vec![])];
        assert_eq!(g, FlatFst::from_rows(0, want));
        let g = push(f.clone(), &PushConfig { remove_total_weight: true, ..config }).unwrap();
        assert_eq!(g.arcs(0), [arc(1, 1, 0.0, 1), arc(2, 2, 2.0, 1)]);
        let g = push(f, &PushConfig { direction: ReweightType::ToFinal, ..config }).unwrap();
        let want = vec![(Z, vec![arc(1, 1, 0.0, 1), arc(2, 2, 2.0, 1)]), (Tropical(3.0), vec![])];
        assert_eq!(g, FlatFst::from_rows(0, want));
    }

    #[test]
    fn labels_to_the_start() {
        // 1:0 2:7 3:8 becomes 1:7 2:8 3:0.
        let rows = |o: [i32; 3]| {
            vec![
                (Z, vec![arc(1, o[0], 0.5, 1)]),
                (Z, vec![arc(2, o[1], 0.0, 2)]),
                (Z, vec![arc(3, o[2], 0.0, 3)]),
                (Tropical::ONE, vec![]),
            ]
        };
        let f = FlatFst::from_rows(0, rows([0, 7, 8]));
        let config = PushConfig { labels: true, ..Default::default() };
        assert_eq!(push(f.clone(), &config).unwrap(), FlatFst::from_rows(0, rows([7, 8, 0])));
        let none = PushConfig { remove_common_affix: true, ..config };
        assert_eq!(push(f, &none).unwrap(), FlatFst::from_rows(0, rows([0, 0, 0])));
    }

    #[test]
    fn one_pass_finds_what_the_queue_does() {
        let mut rng = SmallRng::seed_from_u64(5);
        for _ in 0..300 {
            // Arcs to lower states only, so that the order has to be found.
            let n = rng.random_range(2..9u32);
            let rows = (0..n)
                .map(|s| {
                    let arcs = (0..if s == 0 { 0 } else { rng.random_range(0..4) })
                        .map(|_| arc(1, rng.random_range(0..3), 0.0, rng.random_range(0..s)))
                        .collect();
                    (if s == 0 || rng.random_bool(0.1) { Tropical::ONE } else { Z }, arcs)
                })
                .collect();
            let f = FlatFst::from_rows(n - 1, rows);
            for direction in [ReweightType::ToInitial, ReweightType::ToFinal] {
                let to_initial = direction == ReweightType::ToInitial;
                let (mut lists, mut read) = (Lists::default(), vec![]);
                let one_pass = common_outputs(&f, direction, &mut lists);
                let mut queue: Vec<Option<View>> = f
                    .states()
                    .map(|s| (if to_initial { f.is_final(s) } else { s == f.start() }).then_some(View::EMPTY))
                    .collect();
                settle_cycles(&f, to_initial, &mut queue, &mut lists);
                let mut labels = |view: Option<View>| {
                    read.clear();
                    view.map(|v| {
                        lists.read(v, &mut read);
                        read.clone()
                    })
                };
                assert!(one_pass.iter().zip(&queue).all(|(&a, &b)| labels(a) == labels(b)));
            }
        }
    }

    #[test]
    fn a_long_chain_of_labels() {
        let n = 100_000;
        let mut rows: Vec<_> = (0..n).map(|s| (Z, vec![arc(1, 1 + (s % 3) as i32, 0.0, s + 1)])).collect();
        rows.push((Tropical::ONE, vec![]));
        let f = FlatFst::from_rows(0, rows);
        let config = PushConfig { labels: true, ..Default::default() };
        assert_eq!(push(f.clone(), &config).unwrap(), f);
        let end = push(f, &PushConfig { direction: ReweightType::ToFinal, ..config }).unwrap();
        assert_eq!(end.num_arcs(), 2 * n as usize);
    }
}
