//! An automaton without cycles made deterministic and minimal, its epsilons removed, in one go.
//!
//! A state of the result is a set of states with residual costs (Mohri 1997); sets are walked depth first, and each is
//! closed when all that it leads to is, its least cost moved to the arc before, and merged with a state that has the same
//! future (Revuz 1992). So nothing that is not minimal is ever built but the sets themselves. Sums are f64, rounded once an
//! arc; nothing is quantised. Acceptors of the tropical semiring only; the depth is that of the longest string.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use super::cell::{Open, Register, SAME};
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label, NO_STATE, StateId};
use crate::fst::semiring::Tropical;

/// The smallest deterministic automaton; a limit error beyond so many sets of states.
pub fn smallest(fst: &FlatFst<Tropical>, max_states: usize) -> Result<FlatFst<Tropical>> {
    if fst.start() == NO_STATE {
        return Ok(FlatFst::empty());
    }
    let mut maker = Maker {
        fst,
        register: Register::default(),
        members: vec![],
        sets: vec![],
        table: HashTable::new(),
        pool: vec![],
        opens: vec![],
        max_states,
        best: vec![f64::INFINITY; fst.num_states()],
        touched: vec![],
        open: vec![],
    };
    let (set, least) = maker.set(&mut vec![(fst.start(), 0.0)]);
    maker.close(set, Some(least))?;
    let out = maker.register.finish();
    Ok(if out.num_arcs() == 0 && !out.is_final(out.start()) { FlatFst::empty() } else { out })
}

/// A set: its members, and when it is closed, its least cost and state.
struct Set {
    members: (u32, u32),
    closed: Option<(f64, StateId)>,
}

/// An arc on its way: label, state it leads to, cost.
type Move = (Label, StateId, f64);

struct Maker<'a> {
    fst: &'a FlatFst<Tropical>,
    register: Register,
    members: Vec<(StateId, f64)>,
    sets: Vec<Set>,
    table: HashTable<u32>,
    /// Lists to be used again.
    pool: Vec<Vec<Move>>,
    opens: Vec<Open>,
    max_states: usize,
    /// Of each state its cost in the set that is being made, and the states that have one.
    best: Vec<f64>,
    touched: Vec<StateId>,
    open: Vec<(StateId, f64)>,
}

fn rounded(cost: f64) -> i64 {
    (cost / SAME as f64).round() as i64
}

fn hash(members: &[(StateId, f64)]) -> u64 {
    members.iter().fold(0u64, |h, &(s, c)| FxBuildHasher.hash_one((h, s, rounded(c))))
}

impl Maker<'_> {
    /// The set of these states and of those that epsilons lead to, and its least cost, which is taken off.
    fn set(&mut self, from: &mut Vec<(StateId, f64)>) -> (u32, f64) {
        self.open.append(from);
        while let Some((s, cost)) = self.open.pop() {
            let best = &mut self.best[s as usize];
            if *best == f64::INFINITY {
                self.touched.push(s);
            }
            if cost < *best {
                *best = cost;
                for a in self.fst.arcs(s).iter().filter(|a| a.ilabel == 0) {
                    self.open.push((a.nextstate, cost + a.weight.0 as f64));
                }
            }
        }
        self.touched.sort_unstable();
        let first = self.members.len();
        let mut least = f64::INFINITY;
        for s in self.touched.drain(..) {
            let cost = std::mem::replace(&mut self.best[s as usize], f64::INFINITY);
            let counts = self.fst.is_final(s) || self.fst.arcs(s).iter().any(|a| a.ilabel != 0);
            if counts && cost < f64::INFINITY {
                self.members.push((s, cost));
                least = least.min(cost);
            }
        }
        self.members[first..].iter_mut().for_each(|m| m.1 -= least);
        let (members, sets) = (&self.members, &self.sets);
        let of = |s: u32| &members[sets[s as usize].members.0 as usize..sets[s as usize].members.1 as usize];
        let now = &members[first..];
        let key = hash(now);
        let same = |&s: &u32| {
            let of = of(s);
            of.len() == now.len() && of.iter().zip(now).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() <= SAME as f64)
        };
        if let Some(&known) = self.table.find(key, same) {
            self.members.truncate(first);
            return (known, least);
        }
        let number = self.sets.len() as u32;
        self.sets.push(Set { members: (first as u32, self.members.len() as u32), closed: None });
        let (members, sets) = (&self.members, &self.sets);
        self.table.insert_unique(key, number, |&s| {
            let (from, to) = sets[s as usize].members;
            hash(&members[from as usize..to as usize])
        });
        (number, least)
    }

    /// The state of a set and what it costs at least from there. `begun`: it is the start, whose costs stay where they are.
    fn close(&mut self, set: u32, begun: Option<f64>) -> Result<(f64, StateId)> {
        if let Some(closed) = self.sets[set as usize].closed {
            return Ok(closed);
        }
        if self.sets.len() > self.max_states {
            return Err(Error::limit(
                "expansion",
                format!("{} states", self.max_states),
                "one path a string takes more; use a smaller beam or more memory",
            ));
        }
        let fst = self.fst;
        let before = begun.unwrap_or(0.0);
        let mut moves = self.pool.pop().unwrap_or_default();
        let mut open = self.opens.pop().unwrap_or_default();
        let (from, to) = self.sets[set as usize].members;
        for &(s, cost) in &self.members[from as usize..to as usize] {
            let cost = cost + before;
            open.end = open.end.min(cost + fst.final_weight(s).0 as f64);
            moves.extend(
                fst.arcs(s).iter().filter(|a| a.ilabel != 0).map(|a| (a.ilabel, a.nextstate, cost + a.weight.0 as f64)),
            );
        }
        moves.sort_unstable_by_key(|&(label, next, _)| (label, next));
        let mut targets = vec![];
        let mut at = 0;
        while at < moves.len() {
            let label = moves[at].0;
            while at < moves.len() && moves[at].0 == label {
                targets.push((moves[at].1, moves[at].2));
                at += 1;
            }
            let (next, least) = self.set(&mut targets);
            let empty = self.sets[next as usize].members.0 == self.sets[next as usize].members.1;
            if !empty && least < f64::INFINITY {
                let (more, state) = self.close(next, None)?;
                if more < f64::INFINITY {
                    open.arcs.push((label, least + more, state));
                }
            }
        }
        moves.clear();
        self.pool.push(moves);
        let dead = open.arcs.is_empty() && open.end == f64::INFINITY && begun.is_none();
        let closed = if dead { (f64::INFINITY, NO_STATE) } else { self.register.close(&mut open, begun.is_none()) };
        self.opens.push(open);
        self.sets[set as usize].closed = Some(closed);
        Ok(closed)
    }
}
