//! The n best paths, or the n best distinct input strings, as an automaton.
//!
//! Needs the tropical semiring. One best path: OpenFst's single-source search, the same float sums and the same path.
//! More: best-first search backwards from the final states, guided by the exact cost from the start (Mohri and Riley
//! 2002). Costs are summed in f64, so the order is exact; of equal paths the one found first comes first, every time.
//! The guide is exact, so every step leads to a result: about n·length steps, each over the arcs that enter a state. Where
//! paths tie there may be more, but after n visits of a state, the best first, no other way through it can be among the n
//! best, so that there are n·V at most (see `limits`).
//! Unique: a node of the search is a string (a suffix) with the best way to read it from every state, which is a lazy
//! determinization; epsilons are looked through, so strings are distinct as strings. They are followed when a node's turn
//! comes, no further than the n-th best can come from: most nodes never have a turn.
//! A bound on states is counted as OpenFst counts: see `bounded`; with unique, a state for every string in the search.
//! The result has OpenFst's form: a start state with one epsilon arc to each path, the best first; paths share their ends.

mod bounded;
mod entry;
mod limits;
mod search;
mod single;

use super::flat::{Arc, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::prune::require_path;
use super::semiring::{SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, best_costs, shortest_distance};
use crate::error::Result;
use bounded::bounded;
use entry::FINAL;
use search::Search;
use single::single;

#[derive(Clone, Copy, Debug)]
pub struct ShortestPathConfig<W> {
    pub nshortest: usize,
    /// Distinct input strings instead of distinct paths.
    pub unique: bool,
    /// How much worse than the best a path may be; `W::ZERO`: as much as it likes.
    pub weight: W,
    /// Stop when the search has made this many states.
    pub nstate: Option<usize>,
}

impl<W: Weight> Default for ShortestPathConfig<W> {
    fn default() -> Self {
        ShortestPathConfig { nshortest: 1, unique: false, weight: W::ZERO, nstate: None }
    }
}

const OP: &str = "shortestpath";

pub fn shortestpath<W: Weight>(fst: &FlatFst<W>, config: &ShortestPathConfig<W>) -> Result<FlatFst<W>> {
    require_path::<W>(OP)?;
    let mut out = if fst.start() == NO_STATE || config.nshortest == 0 {
        FlatFst::empty()
    } else if config.nshortest == 1 {
        // The best path is there whatever the thresholds are, as in OpenFst.
        single(fst)?
    } else if config.weight.less(W::ONE) || config.nstate == Some(0) {
        FlatFst::empty()
    } else if let Some(nstate) = config.nstate.filter(|_| !config.unique) {
        let delta = Some(SHORTEST_DELTA);
        bounded(fst, &shortest_distance(fst, &DistanceConfig { delta, ..Default::default() })?, config, nstate)
    } else {
        let costs = best_costs(fst, OP)?;
        Search::new(fst, costs, config).run()
    };
    // Paths have no cycles: what comes after need not look for them.
    out.start_acyclic = true;
    Ok(out.with_symbols_of(fst))
}

/// A path as it stands in an automaton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Positions of its arcs in `all_arcs`.
    pub arcs: Vec<u32>,
    /// The final state it ends in.
    pub end: StateId,
    /// The sum of its costs in f64, that of the end included.
    pub cost: f64,
}

impl Path {
    /// The labels that `label` takes from its arcs, without epsilons.
    pub fn labels<W: Weight>(&self, fst: &FlatFst<W>, label: impl Fn(&Arc<W>) -> Label) -> Vec<Label> {
        self.arcs.iter().map(|&a| label(&fst.all_arcs()[a as usize])).filter(|&l| l != EPSILON).collect()
    }
    /// Its cost in an automaton of the same shape.
    pub fn cost_in<W: Weight>(&self, fst: &FlatFst<W>) -> f64 {
        let arcs = self.arcs.iter().map(|&a| fst.all_arcs()[a as usize].weight.to_f64());
        arcs.sum::<f64>() + fst.final_weight(self.end).to_f64()
    }
}

/// The n best paths, or the best path of each of the n best input strings, best first. Of any semiring: its weights are
/// taken as costs of single paths. There is no bound on states here.
pub fn best_paths<W: Weight>(fst: &FlatFst<W>, config: &ShortestPathConfig<W>) -> Result<Vec<Path>> {
    if fst.start() == NO_STATE || config.nshortest == 0 {
        return Ok(vec![]);
    }
    let config = ShortestPathConfig { nstate: None, ..*config };
    let mut search = Search::new(fst, best_costs(fst, OP)?, &config);
    let heads = search.heads();
    let path = |&head: &u32| {
        let complete = search.entries[head as usize];
        let mut path = Path { cost: complete.cost, ..Path::default() };
        let mut entry = search.entries[complete.parent as usize];
        while entry.arc != FINAL {
            path.arcs.push(entry.arc);
            entry = search.entries[entry.parent as usize];
        }
        path.end = entry.state;
        path
    };
    Ok(heads.iter().map(path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log, Tropical};

    fn arc(label: Label, weight: f32, next: StateId) -> Arc<Tropical> {
        Arc::new(label, label, Tropical(weight), next)
    }

    /// Labels and cost of every path of an n-best automaton, in its order.
    fn paths(fst: &FlatFst<Tropical>) -> Vec<(Vec<Label>, f64)> {
        let mut out = vec![];
        for head in fst.arcs(fst.start()) {
            let (mut s, mut labels, mut cost) = (head.nextstate, vec![], head.weight.to_f64());
            while let Some(a) = fst.arcs(s).first() {
                if a.ilabel != EPSILON {
                    labels.push(a.ilabel);
                }
                cost += a.weight.to_f64();
                s = a.nextstate;
            }
            out.push((labels, cost));
        }
        out
    }

    #[test]
    fn unique_strings_look_through_epsilons() {
        // "1" in three ways, one of them over an epsilon; "2" once.
        let f = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(1, 3.0, 2), arc(1, 1.0, 2), arc(0, 0.25, 1), arc(2, 1.5, 2)]),
                (Tropical::ZERO, vec![arc(1, 0.5, 2)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let config = ShortestPathConfig { nshortest: 10, unique: true, ..Default::default() };
        assert_eq!(paths(&shortestpath(&f, &config).unwrap()), [(vec![1], 0.75), (vec![2], 1.5)]);
        let config = ShortestPathConfig { unique: false, ..config };
        let costs: Vec<f64> = paths(&shortestpath(&f, &config).unwrap()).into_iter().map(|p| p.1).collect();
        assert_eq!(costs, [0.75, 1.0, 1.5, 3.0]);
        let config = ShortestPathConfig { weight: Tropical(0.25), ..config };
        assert_eq!(paths(&shortestpath(&f, &config).unwrap()).len(), 2);
    }

    #[test]
    fn differences_far_below_a_thousandth_decide() {
        let f = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![arc(1, 0.50001, 1), arc(2, 0.5, 1)]), (Tropical::ONE, vec![])],
        );
        assert_eq!(shortestpath(&f, &Default::default()).unwrap().all_arcs()[0].ilabel, 2);
    }

    #[test]
    fn a_loop_gives_as_many_paths_as_asked_for() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(1, 0.0, 0)])]);
        let config = ShortestPathConfig { nshortest: 5, unique: true, ..Default::default() };
        let lengths: Vec<usize> = paths(&shortestpath(&f, &config).unwrap()).iter().map(|p| p.0.len()).collect();
        assert_eq!(lengths, [0, 1, 2, 3, 4]);
    }

    /// A hundred places with two words each, all of the same cost: 2¹⁰⁰ paths that tie.
    #[test]
    fn ties_are_not_all_tried() {
        for weight in [0.0, 0.1, 1.0 / 3.0] {
            // One state a place, or two between which the words may change: then the strings are in sets of two.
            for wide in [false, true] {
                let mut rows = vec![];
                for place in 0..100u32 {
                    let next = if wide { [2 * place + 2, 2 * place + 3] } else { [place + 1, place + 1] };
                    let arcs = |word: Label| next.iter().map(|&n| arc(word, weight, n)).collect::<Vec<_>>();
                    for _ in 0..1 + wide as usize {
                        rows.push((Tropical::ZERO, [arcs(1), arcs(2)].concat()));
                    }
                }
                rows.extend(vec![(Tropical::ONE, vec![]); 1 + wide as usize]);
                let f = FlatFst::from_rows(0, rows);
                for unique in [false, true] {
                    let config = ShortestPathConfig { nshortest: 30, unique, ..Default::default() };
                    let found = paths(&shortestpath(&f, &config).unwrap());
                    assert_eq!(found.len(), 30);
                    let cost = 100.0 * f64::from(weight);
                    assert!(found.iter().all(|p| p.0.len() == 100 && (p.1 - cost).abs() < 1e-4), "{found:?}");
                    let mut strings: Vec<_> = found.into_iter().map(|p| p.0).collect();
                    strings.sort();
                    strings.dedup();
                    assert!(!unique || strings.len() == 30);
                }
            }
        }
    }

    /// Places of eight states in a ring of epsilons: whichever of them a word comes from, all eight are where it may begin.
    #[test]
    fn states_that_epsilons_join_are_one_place() {
        let (places, ring, words) = (20u32, 8u32, 50u32);
        let mut rows = vec![];
        for s in 0..places * ring {
            let (place, x) = (s / ring, s % ring);
            let mut arcs = vec![arc(0, 0.0, place * ring + (x + 1) % ring)];
            let next = |word: u32| (place + 1) * ring + word * 5 % ring;
            // Each word leaves from other states of the ring.
            let here = (1..=words).filter(|word| ((word * 7919) >> x) & 1 == 1);
            arcs.extend(here.map(|word| arc(word as Label, 0.0, next(word))));
            rows.push((Tropical::ZERO, arcs));
        }
        rows.extend((0..ring).map(|x| (Tropical::ONE, vec![arc(0, 0.0, places * ring + (x + 1) % ring)])));
        let f = FlatFst::from_rows(0, rows);
        let config = ShortestPathConfig { nshortest: 10, unique: true, ..Default::default() };
        let mut search = Search::new(&f, best_costs(&f, OP).unwrap(), &config);
        assert_eq!(search.heads().len(), 10);
        // At most ten visits of each place, with an entry a state and a word.
        let most = 10 * places * (ring + 5 * words);
        assert!(search.entries.len() < most as usize, "{}", search.entries.len());
    }

    /// Round the epsilons is 0 on paper; in sums of floats it may be less.
    #[test]
    fn a_cycle_of_cost_zero_makes_nothing_better() {
        for (weight, end) in [(1000.0, 1.1e-7), (100.0, 1e-8), (0.1, 1e-9), (3e7, 0.3), (1e30, 1.0)] {
            let f = FlatFst::from_rows(
                0,
                vec![
                    (Tropical(end), vec![arc(0, weight, 1), arc(1, 2.0 * weight, 1)]),
                    (Tropical(5.0 * weight), vec![arc(0, -weight, 0)]),
                ],
            );
            let config = ShortestPathConfig { nshortest: 3, unique: true, ..Default::default() };
            let strings: Vec<_> = paths(&shortestpath(&f, &config).unwrap()).into_iter().map(|p| p.0).collect();
            assert_eq!(strings, [vec![], vec![1], vec![1, 1]], "{weight}");
            let found = best_paths(&f, &config).unwrap();
            assert_eq!(found.len(), 3);
            assert_eq!(found[0], Path { arcs: vec![], end: 0, cost: end.into() });
        }
    }

    #[test]
    fn sums_have_no_best_path() {
        let e = shortestpath(&FlatFst::<Log>::empty(), &Default::default()).unwrap_err().to_string();
        assert!(e.contains("to_standard"), "{e}");
    }
}
