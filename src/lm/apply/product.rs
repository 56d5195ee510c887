//! The pairs of lattice and model states, and the arcs between them.

use super::OP;
use super::labels::{Labels, NO_WORD};
use super::scorer::Scorer;
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, FlatFst, NO_STATE, StateId};
use crate::fst::semiring::Weight;
use crate::fst::statetable::StateTable;

/// Where the states and arcs of a result come from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Of each state: the lattice's and the models'.
    pub states: Vec<(StateId, u32)>,
    /// Of each arc: its position in the lattice.
    pub arcs: Vec<u32>,
}

pub struct Product<'a, W> {
    pub lattice: &'a FlatFst<W>,
    pub labels: &'a Labels,
    /// Lattice states by rank: topological order, or their numbers.
    pub order: &'a [StateId],
    rank: Vec<u32>,
    /// Pairs (rank, models' state), numbered as they are seen.
    pub table: StateTable,
    /// Seen pairs whose arcs are there, in the order they were expanded.
    rows: Vec<u32>,
    offsets: Vec<usize>,
    finals: Vec<W>,
    /// `nextstate` is the number of a pair.
    arcs: Vec<Arc<W>>,
    arc_of: Vec<u32>,
    max_states: usize,
}

impl<'a, W: Weight> Product<'a, W> {
    pub fn new(lattice: &'a FlatFst<W>, labels: &'a Labels, order: &'a [StateId], max_states: Option<usize>) -> Self {
        let mut rank = vec![0; lattice.num_states()];
        for (r, &s) in order.iter().enumerate() {
            rank[s as usize] = r as u32;
        }
        Product {
            lattice,
            labels,
            order,
            rank,
            table: StateTable::default(),
            rows: vec![],
            offsets: vec![],
            finals: vec![],
            arcs: vec![],
            arc_of: vec![],
            max_states: max_states.unwrap_or(usize::MAX),
        }
    }

    #[inline(always)]
    pub fn number(&mut self, state: StateId, models: u32) -> u32 {
        self.table.number((self.rank[state as usize] as u64) << 32 | models as u64)
    }
    /// The lattice's and the models' state of a pair.
    #[inline(always)]
    pub fn pair(&self, number: u32) -> (StateId, u32) {
        let key = self.table.key(number);
        (self.order[(key >> 32) as usize], key as u32)
    }
    pub fn start(&mut self, scorer: &mut impl Scorer) -> u32 {
        let models = scorer.start();
        self.number(self.lattice.start(), models)
    }

    /// Asks for what `expand` will need of the models, so that the memory comes while something else is done.
    #[inline]
    pub fn prefetch(&self, number: u32, scorer: &impl Scorer) {
        let (state, models) = self.pair(number);
        for &word in &self.labels.of_arc[self.lattice.range(state)] {
            if word != NO_WORD {
                scorer.prefetch(models, word);
            }
        }
    }

    /// Adds the arcs of a pair; `see` is told of each: its cost and the pair it leads to. Returns the cost to end here.
    #[inline]
    pub fn expand<S: Scorer>(&mut self, number: u32, scorer: &mut S, mut see: impl FnMut(f64, u32)) -> Result<f64> {
        if self.table.len() > self.max_states {
            let (limit, least) =
                (format!("{} states", self.max_states), "give --prune a beam, or a larger --max-states");
            return Err(Error::limit(OP, limit, format!("the lattice with the models is larger; {least}")));
        }
        let (state, models) = self.pair(number);
        self.rows.push(number);
        self.offsets.push(self.arcs.len());
        let range = self.lattice.range(state);
        for i in range {
            let a = self.lattice.all_arcs()[i];
            let (next, cost) = match self.labels.of_arc[i] {
                NO_WORD => (models, 0.0),
                word => scorer.step(models, word),
            };
            let cost = a.weight.to_f64() + cost;
            check_cost(cost)?;
            let to = self.number(a.nextstate, next);
            see(cost, to);
            self.arcs.push(Arc { weight: W::from_f64(cost), nextstate: to, ..a });
            self.arc_of.push(i as u32);
        }
        let own = self.lattice.final_weight(state);
        let cost = if own.is_zero_w() { f64::INFINITY } else { own.to_f64() + scorer.end(models) };
        check_cost(cost)?;
        self.finals.push(W::from_f64(cost));
        if self.arcs.len() >= u32::MAX as usize - 1 {
            return Err(Error::limit(OP, "2^32 arcs", "the lattice with the models is too large; give --prune a beam"));
        }
        Ok(cost)
    }

    /// All pairs of an acyclic lattice: the lattice's states in topological order, the models' in their own.
    pub fn in_order<S: Scorer>(&mut self, scorer: &mut S) -> Result<()> {
        let start = self.start(scorer);
        // Pairs of a lattice state as a chain, newest first.
        let mut newest = vec![NONE; self.order.len()];
        let mut older: Vec<u32> = vec![NONE];
        newest[(self.table.key(start) >> 32) as usize] = start;
        let mut row: Vec<u32> = vec![];
        for rank in 0..self.order.len() {
            row.clear();
            let mut number = newest[rank];
            while number != NONE {
                row.push(number);
                number = older[number as usize];
            }
            let models = |n: u32| self.table.key(n) as u32;
            row.sort_unstable_by(|&a, &b| scorer.compare(models(a), models(b)));
            for (i, &number) in row.iter().enumerate() {
                if let Some(&next) = row.get(i + 1) {
                    self.prefetch(next, scorer);
                }
                let before = self.table.len();
                self.expand(number, scorer, |_, _| ())?;
                for new in before..self.table.len() {
                    let rank = (self.table.key(new as u32) >> 32) as usize;
                    older.push(std::mem::replace(&mut newest[rank], new as u32));
                }
            }
        }
        Ok(())
    }

    /// All pairs that the start reaches, as they are seen.
    pub fn as_reached<S: Scorer>(&mut self, scorer: &mut S) -> Result<()> {
        self.start(scorer);
        let mut number = 0;
        while (number as usize) < self.table.len() {
            self.prefetch(number, scorer);
            self.expand(number, scorer, |_, _| ())?;
            number += 1;
        }
        Ok(())
    }

    /// The automaton of the expanded pairs, by rank and then by the models' states; arcs to others are dropped.
    pub fn finish<S: Scorer>(mut self, scorer: &S) -> (FlatFst<W>, Origin) {
        self.offsets.push(self.arcs.len());
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let key = |row: u32| self.table.key(self.rows[row as usize]);
        let compare = |a: u32, b: u32| {
            let (a, b) = (key(a), key(b));
            (a >> 32).cmp(&(b >> 32)).then_with(|| scorer.compare(a as u32, b as u32))
        };
        let in_place = order.windows(2).all(|p| compare(p[0], p[1]).is_lt());
        if !in_place {
            order.sort_unstable_by(|&a, &b| compare(a, b));
        }
        let mut new_id = vec![NO_STATE; self.table.len()];
        for (id, &row) in order.iter().enumerate() {
            new_id[self.rows[row as usize] as usize] = id as StateId;
        }
        let states = order.iter().map(|&row| self.pair(self.rows[row as usize])).collect();
        let start = new_id[0];
        let whole = self.rows.len() == self.table.len();
        let (offsets, finals, arcs, arc_of) = if in_place && whole {
            for a in &mut self.arcs {
                a.nextstate = new_id[a.nextstate as usize];
            }
            (self.offsets.iter().map(|&o| o as u32).collect(), self.finals, self.arcs, self.arc_of)
        } else {
            let mut offsets = Vec::with_capacity(order.len() + 1);
            let mut arcs = Vec::with_capacity(self.arcs.len());
            let mut arc_of = Vec::with_capacity(self.arcs.len());
            for &row in &order {
                offsets.push(arcs.len() as u32);
                for i in self.offsets[row as usize]..self.offsets[row as usize + 1] {
                    let a = self.arcs[i];
                    let nextstate = new_id[a.nextstate as usize];
                    if nextstate != NO_STATE {
                        arcs.push(Arc { nextstate, ..a });
                        arc_of.push(self.arc_of[i]);
                    }
                }
            }
            offsets.push(arcs.len() as u32);
            (offsets, order.iter().map(|&row| self.finals[row as usize]).collect(), arcs, arc_of)
        };
        let fst = FlatFst::from_parts(start, offsets, finals, arcs).with_symbols_of(self.lattice);
        (fst, Origin { states, arcs: arc_of })
    }
}

const NONE: u32 = u32::MAX;

/// A cost may be infinite, if a model gives no probability; it cannot be a gain without end.
#[inline(always)]
fn check_cost(cost: f64) -> Result<()> {
    if cost > f64::NEG_INFINITY {
        return Ok(());
    }
    let why = if cost.is_nan() {
        "a model has no number for it; is its file damaged? (weft lm info --check)"
    } else {
        "a model that is subtracted gives it no probability"
    };
    Err(Error::op(OP, format!("a word costs {cost}: {why}")))
}
