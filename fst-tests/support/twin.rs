//! Brute force: automata as plain lists, and what they mean by following every path. Slow, short, and independent of the
//! engine under test.

use std::collections::BTreeMap;

use weft::fst::any::AnyFst;
use weft::fst::flat::{Arc as FlatArc, FlatFst, NO_STATE};
use weft::fst::semiring::Weight;
use weft::with_fst;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    pub i: i64,
    pub o: i64,
    pub w: f64,
    pub to: usize,
}

/// A final weight of infinity is no final state. Without states there is no start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Automaton {
    pub start: usize,
    pub finals: Vec<f64>,
    pub arcs: Vec<Vec<Arc>>,
}

/// A path: its strings without epsilons, its weight with the final one, and its arcs as (state, position).
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pub i: Vec<i64>,
    pub o: Vec<i64>,
    pub weight: f64,
    pub arcs: Vec<(usize, usize)>,
}

pub fn number(word: &str) -> Option<f64> {
    match word {
        "Infinity" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
        w if w.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') => w.parse().ok(),
        _ => None,
    }
}

impl Automaton {
    /// From numeric AT&T text; the start is state 0.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        let mut a = Automaton::default();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            let f: Vec<&str> = line.split_whitespace().collect();
            let bad = || format!("not a line of an automaton: {line}");
            let mut state = |name: &str, a: &mut Automaton| {
                *ids.entry(name.to_string()).or_insert_with(|| {
                    a.finals.push(f64::INFINITY);
                    a.arcs.push(vec![]);
                    a.finals.len() - 1
                })
            };
            let s = state(f[0], &mut a);
            if f.len() <= 2 {
                a.finals[s] = f.get(1).map_or(Some(0.0), |w| number(w)).ok_or_else(bad)?;
            } else {
                let to = state(f[1], &mut a);
                let label = |w: Option<&&str>| w.and_then(|w| w.parse::<i64>().ok()).ok_or_else(bad);
                let w = f.get(4).map_or(Some(0.0), |w| number(w)).ok_or_else(bad)?;
                a.arcs[s].push(Arc { i: label(f.get(2))?, o: label(f.get(3))?, w, to });
            }
        }
        Ok(a)
    }

    pub fn of(fst: &AnyFst) -> Self {
        fn of<W: Weight>(f: &FlatFst<W>) -> Automaton {
            let arc = |a: &FlatArc<W>| Arc {
                i: a.ilabel as i64,
                o: a.olabel as i64,
                w: a.weight.to_f64(),
                to: a.nextstate as usize,
            };
            if f.start() == NO_STATE {
                return Automaton::default();
            }
            Automaton {
                start: f.start() as usize,
                finals: f.finals().iter().map(|w| w.to_f64()).collect(),
                arcs: f.states().map(|s| f.arcs(s).iter().map(arc).collect()).collect(),
            }
        }
        with_fst!(fst, f => of(f))
    }

    pub fn flat<W: Weight>(&self) -> FlatFst<W> {
        if self.finals.is_empty() {
            return FlatFst::empty();
        }
        let arc = |a: &Arc| FlatArc::new(a.i as i32, a.o as i32, W::from_f64(a.w), a.to as u32);
        let rows = self.finals.iter().zip(&self.arcs);
        FlatFst::from_rows(
            self.start as u32,
            rows.map(|(w, arcs)| (W::from_f64(*w), arcs.iter().map(arc).collect())).collect(),
        )
    }

    pub fn num_arcs(&self) -> usize {
        self.arcs.iter().map(Vec::len).sum()
    }

    /// No state comes back to itself: taking away states without arcs into them takes away all.
    pub fn is_acyclic(&self) -> bool {
        let mut into = vec![0; self.finals.len()];
        self.arcs.iter().flatten().for_each(|x| into[x.to] += 1);
        let mut free: Vec<usize> = (0..into.len()).filter(|&s| into[s] == 0).collect();
        let mut gone = 0;
        while let Some(s) = free.pop() {
            gone += 1;
            for x in &self.arcs[s] {
                into[x.to] -= 1;
                free.extend((into[x.to] == 0).then_some(x.to));
            }
        }
        gone == self.finals.len()
    }

    /// Every path of an acyclic automaton, up to a million steps.
    pub fn paths(&self) -> Vec<Path> {
        let mut found = vec![];
        if self.finals.is_empty() {
            return found;
        }
        let mut stack = vec![(self.start, Path { i: vec![], o: vec![], weight: 0.0, arcs: vec![] })];
        let mut steps = 0;
        while let Some((s, p)) = stack.pop() {
            steps += 1;
            assert!(steps < 1_000_000, "too many paths, or a cycle");
            if self.finals[s] < f64::INFINITY {
                found.push(Path { weight: p.weight + self.finals[s], ..p.clone() });
            }
            for (k, a) in self.arcs[s].iter().enumerate().rev() {
                let mut q = p.clone();
                q.i.extend((a.i != 0).then_some(a.i));
                q.o.extend((a.o != 0).then_some(a.o));
                q.weight += a.w;
                q.arcs.push((s, k));
                stack.push((a.to, q));
            }
        }
        found
    }
}

/// Input and output string with their weight.
pub type Relation = BTreeMap<(Vec<i64>, Vec<i64>), f64>;

/// How far to follow paths: the longest string on either side, and the most arcs.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub length: usize,
    pub steps: usize,
}

impl Bound {
    pub fn length(length: usize) -> Self {
        Bound { length, steps: 80 }
    }
}

/// For acyclic automata: everything.
pub const ALL: Bound = Bound { length: 100, steps: 100 };

/// Weights from here on count as none: they end the turns of epsilon cycles.
pub const NOTHING: f64 = 40.0;

/// a ⊕ b: the least, or the sum of probabilities.
pub fn plus(x: f64, y: f64, path: bool) -> f64 {
    match path {
        true => x.min(y),
        false if x == f64::INFINITY => y,
        false if y == f64::INFINITY => x,
        false => x.min(y) - (-(x - y).abs()).exp().ln_1p(),
    }
}

pub fn add(r: &mut Relation, key: (Vec<i64>, Vec<i64>), w: f64, path: bool) {
    let e = r.entry(key).or_insert(f64::INFINITY);
    *e = plus(*e, w, path);
}

/// What the automaton relates, weights summed (or the least, if `path`).
pub fn relation(a: &Automaton, bound: Bound, path: bool) -> Relation {
    let mut total = Relation::new();
    let mut front: BTreeMap<(usize, Vec<i64>, Vec<i64>), f64> = BTreeMap::new();
    if !a.finals.is_empty() {
        front.insert((a.start, vec![], vec![]), 0.0);
    }
    for _ in 0..=bound.steps {
        let mut next: BTreeMap<(usize, Vec<i64>, Vec<i64>), f64> = BTreeMap::new();
        for ((s, i, o), w) in front {
            if a.finals[s] < f64::INFINITY {
                add(&mut total, (i.clone(), o.clone()), w + a.finals[s], path);
            }
            for arc in &a.arcs[s] {
                let (mut i, mut o) = (i.clone(), o.clone());
                i.extend((arc.i != 0).then_some(arc.i));
                o.extend((arc.o != 0).then_some(arc.o));
                if i.len() > bound.length || o.len() > bound.length || w + arc.w > NOTHING + 20.0 {
                    continue;
                }
                let e = next.entry((arc.to, i, o)).or_insert(f64::INFINITY);
                *e = plus(*e, w + arc.w, path);
            }
        }
        front = next;
        if front.is_empty() {
            break;
        }
    }
    total.retain(|_, w| *w < NOTHING);
    total
}

/// x ∘ y, by joining on the middle string.
pub fn join(x: &Relation, y: &Relation, path: bool) -> Relation {
    let mut total = Relation::new();
    for ((i, m), w) in x {
        for ((n, o), v) in y.iter().filter(|((n, _), _)| n == m) {
            debug_assert_eq!(m, n);
            add(&mut total, (i.clone(), o.clone()), w + v, path);
        }
    }
    total
}

/// Every string of x followed by every string of y.
pub fn product(x: &Relation, y: &Relation, length: usize, path: bool) -> Relation {
    let mut total = Relation::new();
    for ((i, o), w) in x {
        for ((j, p), v) in y {
            let key = ([&i[..], &j[..]].concat(), [&o[..], &p[..]].concat());
            if key.0.len() <= length && key.1.len() <= length {
                add(&mut total, key, w + v, path);
            }
        }
    }
    total
}

/// x or y.
pub fn sum(x: &Relation, y: &Relation, path: bool) -> Relation {
    let mut total = x.clone();
    for (key, w) in y {
        add(&mut total, key.clone(), *w, path);
    }
    total
}

/// The same strings with the same weights, up to the tolerance and to what counts as nothing.
pub fn same(want: &Relation, found: &Relation, tolerance: f64) -> Result<(), String> {
    for key in want.keys().chain(found.keys()) {
        let (p, q) = (want.get(key).copied(), found.get(key).copied());
        let ok = match (p, q) {
            (Some(p), Some(q)) => super::compare::close(p, q, tolerance),
            (p, q) => p.or(q).is_some_and(|w| w > NOTHING - 10.0),
        };
        if !ok {
            return Err(format!("{key:?} should weigh {p:?} and weighs {q:?}"));
        }
    }
    Ok(())
}
