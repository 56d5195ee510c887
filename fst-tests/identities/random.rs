//! Random automata, and running commands on them.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use weft::cli::env::Status;
use weft::fst::any::AnyFst;

use crate::support::memory::MemoryEnv;
pub use crate::support::twin::*;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub acyclic: bool,
    pub transducer: bool,
    pub epsilon: bool,
    pub weighted: bool,
    pub labels: i64,
    pub states: usize,
    pub arcs: usize,
}

pub const ACYCLIC: Shape =
    Shape { acyclic: true, transducer: true, epsilon: false, weighted: true, labels: 3, states: 6, arcs: 10 };

impl Shape {
    pub const fn cyclic(self) -> Shape {
        Shape { acyclic: false, labels: 2, states: 4, arcs: 7, ..self }
    }
    pub const fn acceptor(self) -> Shape {
        Shape { transducer: false, ..self }
    }
    pub const fn epsilons(self) -> Shape {
        Shape { epsilon: true, ..self }
    }
    pub const fn unweighted(self) -> Shape {
        Shape { weighted: false, ..self }
    }
    pub const fn labels(self, labels: i64) -> Shape {
        Shape { labels, ..self }
    }
    pub const fn size(self, states: usize, arcs: usize) -> Shape {
        Shape { states, arcs, ..self }
    }
}

/// A random automaton: dead and unreachable states, parallel arcs and ties included; states are not in topological
/// order.
pub fn automaton(shape: Shape) -> impl Strategy<Value = Automaton> {
    let n = shape.states;
    let low = if shape.epsilon { 0 } else { 1 };
    let arc = (0..n, 0..n, low..=shape.labels, low..=shape.labels, 0..24u32);
    let finals = proptest::collection::vec(proptest::option::weighted(0.4, 0..24u32), n);
    let perm = Just((1..n).collect::<Vec<_>>()).prop_shuffle();
    (1..=n, proptest::collection::vec(arc, 0..=shape.arcs), finals, perm).prop_map(move |(n, arcs, finals, perm)| {
        let weight = |w: u32| if shape.weighted { w as f64 / 8.0 } else { 0.0 };
        // Numbers are mixed, but the start stays 0.
        let mut name: Vec<usize> = vec![0];
        name.extend(perm.into_iter().filter(|&p| p < n));
        let mut a = Automaton { start: 0, finals: vec![f64::INFINITY; n], arcs: vec![vec![]; n] };
        for (s, f) in finals.into_iter().take(n).enumerate() {
            a.finals[name[s]] = f.map_or(f64::INFINITY, weight);
        }
        for (mut s, mut d, i, mut o, w) in arcs {
            (s, d) = (s % n, d % n);
            if shape.acyclic {
                if s == d {
                    continue;
                }
                (s, d) = (s.min(d), s.max(d));
            }
            if !shape.transducer {
                o = i;
            }
            // A cycle of epsilons must lose enough for the sum over its turns to end soon.
            let heavy = if !shape.acyclic && i == 0 && o == 0 { 3.0 } else { 0.0 };
            a.arcs[name[s]].push(Arc { i, o, w: weight(w) + heavy, to: name[d] });
        }
        a
    })
}

/// A cyclic acceptor with states that differ only in what comes several arcs later, of which two have a way in common:
/// the start leads to `ups` and `mids`, an up to one or two mids, every mid to one of two chains, these to the end, and
/// that back.
pub fn late_differences() -> impl Strategy<Value = Automaton> {
    const LENGTH: usize = 2;
    let mids = proptest::collection::vec(0..3usize, 4);
    let ups = proptest::collection::vec((0..4usize, 0..4usize), 4);
    let states = 2 + 2 * LENGTH + 4 + 4;
    let names = Just((1..states).collect::<Vec<_>>()).prop_shuffle();
    (mids, ups, proptest::bool::ANY, names).prop_map(move |(mids, ups, back, mut names)| {
        // The start keeps its number.
        names.insert(0, 0);
        let mut a = Automaton { start: 0, finals: vec![f64::INFINITY; states], arcs: vec![vec![]; states] };
        let mut join = |s: usize, label: i64, to: usize| {
            a.arcs[names[s]].push(Arc { i: label, o: label, w: 0.0, to: names[to] });
        };
        let (end, first_mid, first_up) = (1, 2 + 2 * LENGTH, 2 + 2 * LENGTH + mids.len());
        for chain in 0..2 {
            join(2 + chain, 4 + chain as i64, end);
            (1..LENGTH).for_each(|i| join(2 + 2 * i + chain, 3, 2 * i + chain));
        }
        for (i, &mid) in mids.iter().enumerate() {
            join(first_mid + i, 2, 2 * LENGTH + usize::from(mid == 0));
            join(0, 6 + i as i64, first_mid + i);
        }
        for (i, &(one, other)) in ups.iter().enumerate() {
            join(first_up + i, 1, first_mid + one);
            if other != one {
                join(first_up + i, 1, first_mid + other);
            }
            join(0, 10 + i as i64, first_up + i);
        }
        if back {
            join(end, 14, 0);
        }
        a.finals[names[end]] = 0.0;
        a
    })
}

/// One output letter for every input letter, so that every input string has one output string.
pub fn functional(shape: Shape) -> impl Strategy<Value = Automaton> {
    automaton(shape.acceptor()).prop_map(move |mut a| {
        for arc in a.arcs.iter_mut().flatten() {
            arc.o = (arc.i * 2 + 1) % (shape.labels + 1);
        }
        a
    })
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ring {
    Tropical,
    Log,
    Log64,
}

pub const RINGS: [Ring; 3] = [Ring::Tropical, Ring::Log, Ring::Log64];

impl Ring {
    pub fn fst(self, a: &Automaton) -> AnyFst {
        match self {
            Ring::Tropical => AnyFst::Standard(a.flat()),
            Ring::Log => AnyFst::Log(a.flat()),
            Ring::Log64 => AnyFst::Log64(a.flat()),
        }
    }
    /// Paths compete and do not add up.
    pub fn path(self) -> bool {
        self == Ring::Tropical
    }
    pub fn tolerance(self) -> f64 {
        if self.path() { 1e-6 } else { 1e-3 }
    }
    pub fn relation(self, a: &Automaton, bound: Bound) -> Relation {
        relation(a, bound, self.path())
    }
    /// The output of a command on the automata `a`, `b`, `c`: what it put in `out`.
    pub fn run(self, line: &str, operands: &[&Automaton]) -> Result<Automaton, TestCaseError> {
        let env = self.env(line, operands)?;
        env.automata.get("out").map(Automaton::of).ok_or_else(|| TestCaseError::fail(format!("{line}: no output")))
    }
    /// The answer of a command that asks something.
    pub fn ask(self, line: &str, operands: &[&Automaton]) -> Result<bool, TestCaseError> {
        let mut env = self.load(operands);
        let status = env.run(line).map_err(|e| TestCaseError::fail(format!("{line}: {e}")))?;
        Ok(status == Status::Done)
    }
    pub fn load(self, operands: &[&Automaton]) -> MemoryEnv {
        let mut env = MemoryEnv::default();
        for (name, a) in ["a", "b", "c", "d"].iter().zip(operands) {
            env.automata.insert(name.to_string(), self.fst(a));
        }
        env
    }
    /// Runs commands separated by `;` and gives all that is there afterwards.
    pub fn env(self, lines: &str, operands: &[&Automaton]) -> Result<MemoryEnv, TestCaseError> {
        let mut env = self.load(operands);
        for line in lines.split(';') {
            env.run(line).map_err(|e| TestCaseError::fail(format!("{line}: {e}")))?;
        }
        Ok(env)
    }
}

/// Fails the case with what differs.
pub fn agree(want: &Relation, found: &Relation, ring: Ring) -> Result<(), TestCaseError> {
    same(want, found, ring.tolerance()).map_err(|e| TestCaseError::fail(format!("{ring:?}: {e}")))
}

/// The operation keeps the relation (up to the bound).
pub fn keeps(line: &str, a: &Automaton, bound: Bound, ring: Ring) -> Result<Automaton, TestCaseError> {
    let found = ring.run(line, &[a])?;
    agree(&ring.relation(a, bound), &ring.relation(&found, bound), ring)?;
    Ok(found)
}

/// Few cases, the same ones in every run. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` look further.
pub fn config(cases: u32) -> ProptestConfig {
    let given = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok());
    ProptestConfig {
        cases: given("PROPTEST_CASES").map_or(cases, |n| n as u32),
        rng_seed: RngSeed::Fixed(given("PROPTEST_RNG_SEED").unwrap_or(20170)),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..ProptestConfig::default()
    }
}
