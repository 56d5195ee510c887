//! Walks over an automaton's graph: topological order, strongly connected components, accessible and coaccessible states.
//!
//! All are linear in states and arcs and iterative: a chain of a million states needs no stack. Depth-first order is
//! OpenFst's (the start state first, then the others by number; arcs in order), so that orders derived from it agree.

use super::flat::{FlatFst, NO_STATE, StateId};
use super::semiring::Weight;

/// Incoming arcs in flat form: `arcs[offsets[s]..offsets[s + 1]]` are positions in `all_arcs` of the arcs that enter `s`.
pub struct Incoming {
    pub offsets: Vec<u32>,
    pub arcs: Vec<u32>,
    /// Source state of every arc, by its position in `all_arcs`.
    pub sources: Vec<StateId>,
}

impl Incoming {
    pub fn new<W: Weight>(fst: &FlatFst<W>) -> Self {
        let n = fst.num_states();
        let mut offsets = vec![0u32; n + 2];
        for a in fst.all_arcs() {
            offsets[a.nextstate as usize + 2] += 1;
        }
        for s in 0..n {
            offsets[s + 2] += offsets[s + 1];
        }
        let mut arcs = vec![0u32; fst.num_arcs()];
        let mut sources = vec![0; fst.num_arcs()];
        for s in fst.states() {
            for i in fst.range(s) {
                sources[i] = s;
                let place = &mut offsets[fst.all_arcs()[i].nextstate as usize + 1];
                arcs[*place as usize] = i as u32;
                *place += 1;
            }
        }
        offsets.pop();
        Incoming { offsets, arcs, sources }
    }
    /// Positions of the arcs that enter `s`, in the order of their sources.
    #[inline]
    pub fn of(&self, s: StateId) -> &[u32] {
        &self.arcs[self.offsets[s as usize] as usize..self.offsets[s as usize + 1] as usize]
    }
}

/// True if every arc goes to a state of a higher number: the state order is a topological order.
pub fn is_top_sorted<W: Weight>(fst: &FlatFst<W>) -> bool {
    fst.states().all(|s| fst.arcs(s).iter().all(|a| a.nextstate > s))
}

/// States in topological order, or `None` if there is a cycle. States that the start does not reach are there too.
pub fn topological_order<W: Weight>(fst: &FlatFst<W>) -> Option<Vec<StateId>> {
    if is_top_sorted(fst) {
        return Some(fst.states().collect());
    }
    depth_first_order(fst)
}

/// As `topological_order`, but always the reversed finishing order of a depth-first walk, as OpenFst's topsort.
pub fn depth_first_order<W: Weight>(fst: &FlatFst<W>) -> Option<Vec<StateId>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let n = fst.num_states();
    let mut mark = vec![NEW; n];
    let mut finished: Vec<StateId> = Vec::with_capacity(n);
    let mut stack: Vec<(StateId, u32)> = vec![];
    let first = (fst.start() != NO_STATE).then_some(fst.start());
    for root in first.into_iter().chain(fst.states()) {
        if mark[root as usize] != NEW {
            continue;
        }
        mark[root as usize] = OPEN;
        stack.push((root, fst.range(root).start as u32));
        while let Some((s, next)) = stack.last_mut() {
            let end = fst.range(*s).end as u32;
            if *next == end {
                mark[*s as usize] = DONE;
                finished.push(*s);
                stack.pop();
                continue;
            }
            let t = fst.all_arcs()[*next as usize].nextstate;
            *next += 1;
            match mark[t as usize] {
                NEW => {
                    mark[t as usize] = OPEN;
                    stack.push((t, fst.range(t).start as u32));
                }
                OPEN => return None,
                _ => {}
            }
        }
    }
    finished.reverse();
    Some(finished)
}

/// Strongly connected components, numbered in topological order: an arc never goes to a lower component.
pub struct Components {
    pub of: Vec<u32>,
    pub count: usize,
}

/// Tarjan's algorithm, iterative. `keep` says which arcs count (all, or epsilons only).
pub fn components<W: Weight>(fst: &FlatFst<W>, keep: impl Fn(&super::flat::Arc<W>) -> bool) -> Components {
    const NONE: u32 = u32::MAX;
    let n = fst.num_states();
    let mut of = vec![NONE; n];
    let mut index = vec![NONE; n];
    let mut low = vec![0u32; n];
    let mut open: Vec<StateId> = vec![];
    let mut stack: Vec<(StateId, u32)> = vec![];
    let mut clock = 0u32;
    let mut count = 0u32;
    let first = (fst.start() != NO_STATE).then_some(fst.start());
    for root in first.into_iter().chain(fst.states()) {
        if index[root as usize] != NONE {
            continue;
        }
        stack.push((root, fst.range(root).start as u32));
        index[root as usize] = clock;
        low[root as usize] = clock;
        clock += 1;
        open.push(root);
        while let Some((s, next)) = stack.last_mut() {
            let (s, end) = (*s, fst.range(*s).end as u32);
            if *next < end {
                let a = &fst.all_arcs()[*next as usize];
                *next += 1;
                if !keep(a) {
                    continue;
                }
                let t = a.nextstate;
                if index[t as usize] == NONE {
                    index[t as usize] = clock;
                    low[t as usize] = clock;
                    clock += 1;
                    open.push(t);
                    stack.push((t, fst.range(t).start as u32));
                } else if of[t as usize] == NONE {
                    low[s as usize] = low[s as usize].min(index[t as usize]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                low[*parent as usize] = low[*parent as usize].min(low[s as usize]);
            }
            if low[s as usize] == index[s as usize] {
                while let Some(t) = open.pop() {
                    of[t as usize] = count;
                    if t == s {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    // Tarjan finishes the last components first.
    for c in &mut of {
        *c = count - 1 - *c;
    }
    Components { of, count: count as usize }
}

/// The states in the order of their components, `of` each and by number inside one, and where those of each begin.
pub fn members(of: &[u32], count: usize) -> (Vec<StateId>, Vec<u32>) {
    let mut first = vec![0u32; count + 1];
    of.iter().for_each(|&c| first[c as usize + 1] += 1);
    for c in 0..count {
        first[c + 1] += first[c];
    }
    let mut place = first.clone();
    let mut members = vec![0; of.len()];
    for (s, &c) in (0..).zip(of) {
        members[place[c as usize] as usize] = s;
        place[c as usize] += 1;
    }
    (members, first)
}

/// True if the start state lies on a cycle.
pub fn start_on_cycle<W: Weight>(fst: &FlatFst<W>) -> bool {
    fst.start() != NO_STATE && on_cycle(fst, fst.start())
}

/// True if the state lies on a cycle.
pub fn on_cycle<W: Weight>(fst: &FlatFst<W>, state: StateId) -> bool {
    let mut seen = vec![false; fst.num_states()];
    let mut stack = vec![state];
    while let Some(s) = stack.pop() {
        for a in fst.arcs(s) {
            if a.nextstate == state {
                return true;
            }
            if !std::mem::replace(&mut seen[a.nextstate as usize], true) {
                stack.push(a.nextstate);
            }
        }
    }
    false
}

/// Which states the start reaches.
pub fn accessible<W: Weight>(fst: &FlatFst<W>) -> Vec<bool> {
    let mut seen = vec![false; fst.num_states()];
    if fst.start() == NO_STATE {
        return seen;
    }
    if fst.start() == 0 && is_top_sorted(fst) {
        seen[0] = true;
        for s in fst.states() {
            if seen[s as usize] {
                for a in fst.arcs(s) {
                    seen[a.nextstate as usize] = true;
                }
            }
        }
        return seen;
    }
    let mut stack = vec![fst.start()];
    seen[fst.start() as usize] = true;
    while let Some(s) = stack.pop() {
        for a in fst.arcs(s) {
            if !std::mem::replace(&mut seen[a.nextstate as usize], true) {
                stack.push(a.nextstate);
            }
        }
    }
    seen
}

/// Which states lie on a path from the start to a final state.
pub fn on_a_path<W: Weight>(fst: &FlatFst<W>) -> Vec<bool> {
    let mut both = coaccessible(fst);
    both.iter_mut().zip(accessible(fst)).for_each(|(b, a)| *b &= a);
    both
}

/// Which states reach a final state.
pub fn coaccessible<W: Weight>(fst: &FlatFst<W>) -> Vec<bool> {
    let mut seen: Vec<bool> = fst.states().map(|s| fst.is_final(s)).collect();
    // Sweeping backwards settles everything that only goes forward; most automata need no more than two sweeps.
    for _ in 0..3 {
        let mut changed_behind = false;
        for s in fst.states().rev() {
            if !seen[s as usize] && fst.arcs(s).iter().any(|a| seen[a.nextstate as usize]) {
                seen[s as usize] = true;
                changed_behind = true;
            }
        }
        if !changed_behind || is_top_sorted(fst) {
            return seen;
        }
    }
    let incoming = Incoming::new(fst);
    let mut stack: Vec<StateId> = fst.states().filter(|&s| seen[s as usize]).collect();
    while let Some(s) = stack.pop() {
        for &i in incoming.of(s) {
            let source = incoming.sources[i as usize];
            if !std::mem::replace(&mut seen[source as usize], true) {
                stack.push(source);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    fn graph(n: usize, finals: &[u32], edges: &[(u32, u32)]) -> FlatFst<Tropical> {
        let mut rows = vec![(Tropical::ZERO, vec![]); n];
        for &f in finals {
            rows[f as usize].0 = Tropical::ONE;
        }
        for &(s, t) in edges {
            rows[s as usize].1.push(Arc::new(1, 1, Tropical::ONE, t));
        }
        FlatFst::from_rows(0, rows)
    }

    #[test]
    fn orders_and_cycles() {
        let f = graph(4, &[3], &[(0, 2), (2, 1), (1, 3)]);
        assert_eq!(topological_order(&f), Some(vec![0, 2, 1, 3]));
        assert!(topological_order(&graph(2, &[], &[(0, 1), (1, 0)])).is_none());
        assert!(start_on_cycle(&graph(2, &[], &[(0, 1), (1, 0)])));
        assert!(!start_on_cycle(&graph(2, &[], &[(0, 1), (1, 1)])));
    }

    #[test]
    fn components_in_topological_order() {
        let f = graph(5, &[4], &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (3, 4)]);
        let c = components(&f, |_| true);
        assert_eq!((c.of, c.count), (vec![0, 1, 1, 2, 3], 4));
    }

    #[test]
    fn reachability_against_brute_force() {
        use rand::{Rng, SeedableRng, rngs::SmallRng};
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..500 {
            let n = rng.random_range(1..9usize);
            let edges: Vec<(u32, u32)> = (0..rng.random_range(0..14))
                .map(|_| (rng.random_range(0..n as u32), rng.random_range(0..n as u32)))
                .collect();
            let f = graph(n, &[rng.random_range(0..n as u32)], &edges);
            let mut reach = vec![vec![false; n]; n];
            for (s, row) in reach.iter_mut().enumerate() {
                row[s] = true;
            }
            for _ in 0..n {
                for &(s, t) in &edges {
                    for row in reach.iter_mut() {
                        row[t as usize] |= row[s as usize];
                    }
                }
            }
            let co: Vec<bool> = (0..n).map(|s| (0..n).any(|t| reach[s][t] && f.is_final(t as u32))).collect();
            assert_eq!(accessible(&f), reach[0]);
            assert_eq!(coaccessible(&f), co);
            let c = components(&f, |_| true);
            for (s, t) in (0..n).flat_map(|s| (0..n).map(move |t| (s, t))) {
                assert_eq!(c.of[s] == c.of[t], reach[s][t] && reach[t][s]);
            }
            assert!(edges.iter().all(|&(s, t)| c.of[s as usize] <= c.of[t as usize]));
        }
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let n = 300_000;
        let edges: Vec<(u32, u32)> = (1..n).map(|s| (s, s - 1)).collect();
        let mut f = graph(n as usize, &[0], &edges);
        f.set_start(n - 1);
        assert_eq!(topological_order(&f).unwrap()[0], n - 1);
        assert_eq!(components(&f, |_| true).count, n as usize);
    }
}
