//! The coarsest stable partition of a nondeterministic acceptor that is finer than a given one: two states of a class
//! have arcs with the same labels into the same classes, and so the same future.
//!
//! To split by the smaller half of a class alone, as for deterministic automata, is not enough: a state may have arcs
//! with one label into both halves. So for every state and label the arcs into a set of classes are counted, and those
//! that go into one class of the set are compared with all: a class falls into what has no such arc, nothing else, and
//! both. O(E log V) arcs are looked at, and sorted by label class by class; none more than once where the given
//! partition is stable.
//! R. Paige and R. Tarjan, Three partition refinement algorithms, SIAM J. Comput. 16(6), 1987, with labels.

use crate::fst::flat::{FlatFst, Label, StateId};
use crate::fst::semiring::Weight;
use crate::fst::visit::Incoming;

/// From the state that stands for the class of every state to the same for the coarsest stable partition. Arcs are
/// sorted by label; states of a class have arcs with the same labels, and are all final or none. A state goes on
/// standing for what is left of its class, the least state for other parts.
pub fn refine<W: Weight>(fst: &FlatFst<W>, stands_for: Vec<StateId>) -> Vec<StateId> {
    let mut p = Partition::new(&stands_for);
    if p.is_stable(fst) {
        return stands_for;
    }
    p.refine(fst);
    let mut of_block = vec![None; p.blocks.len()];
    for s in fst.states() {
        let stands = &mut of_block[p.block[s as usize] as usize];
        if stands.is_none() || stands_for[s as usize] == s {
            *stands = Some(s);
        }
    }
    fst.states().map(|s| of_block[p.block[s as usize] as usize].unwrap_or(s)).collect()
}

/// The states of a block lie side by side from `first` to `end`, the marked ones in front.
#[derive(Clone, Copy)]
struct Block {
    first: u32,
    marked: u32,
    end: u32,
    /// The set that the block belongs to.
    set: u32,
}

impl Block {
    fn len(&self) -> u32 {
        self.end - self.first
    }
}

struct Partition {
    states: Vec<StateId>,
    /// The place of a state in `states`, and its block.
    place: Vec<u32>,
    block: Vec<u32>,
    blocks: Vec<Block>,
    /// Sets of blocks. All blocks are stable against each of them.
    sets: Vec<Vec<u32>>,
    /// Sets of more than one block.
    open: Vec<u32>,
    /// Blocks with marked states.
    touched: Vec<u32>,
}

impl Partition {
    fn new(stands_for: &[StateId]) -> Self {
        let n = stands_for.len();
        let mut states: Vec<StateId> = (0..n as StateId).collect();
        states.sort_by_key(|&s| stands_for[s as usize]);
        let (mut place, mut block, mut blocks) = (vec![0; n], vec![0; n], vec![]);
        let mut first = 0;
        for class in states.chunk_by(|&s, &t| stands_for[s as usize] == stands_for[t as usize]) {
            for (&s, at) in class.iter().zip(first..) {
                (place[s as usize], block[s as usize]) = (at, blocks.len() as u32);
            }
            let end = first + class.len() as u32;
            blocks.push(Block { first, marked: first, end, set: 0 });
            first = end;
        }
        let sets = vec![(0..blocks.len() as u32).collect()];
        Partition { states, place, block, blocks, sets, open: vec![0], touched: vec![] }
    }

    fn is_stable<W: Weight>(&self, fst: &FlatFst<W>) -> bool {
        let targets = |s: StateId, out: &mut Vec<(Label, u32)>| {
            out.clear();
            out.extend(fst.arcs(s).iter().map(|a| (a.ilabel, self.block[a.nextstate as usize])));
            out.sort_unstable();
            out.dedup();
        };
        let (mut one, mut other) = (vec![], vec![]);
        self.blocks.iter().all(|b| {
            let states = &self.states[b.first as usize..b.end as usize];
            targets(states[0], &mut one);
            states[1..].iter().all(|&s| {
                targets(s, &mut other);
                one == other
            })
        })
    }

    fn refine<W: Weight>(&mut self, fst: &FlatFst<W>) {
        let incoming = Incoming::new(fst);
        // Of every arc the number of its counter, of every counter the arcs of one state with one label into one set.
        let mut counter = vec![0u32; fst.num_arcs()];
        let mut counts: Vec<u32> = vec![];
        for s in fst.states() {
            let mut arcs = fst.range(s);
            for equal in fst.arcs(s).chunk_by(|a, b| a.ilabel == b.ilabel) {
                for i in arcs.by_ref().take(equal.len()) {
                    counter[i] = counts.len() as u32;
                }
                counts.push(equal.len() as u32);
            }
        }
        // Arcs into the block at hand: label, source, position.
        let mut arcs: Vec<(Label, StateId, u32)> = vec![];
        let mut both: Vec<StateId> = vec![];
        while let Some(set) = self.open.pop() {
            let Some(splitter) = self.take_smaller(set) else { continue };
            let Block { first, end, .. } = self.blocks[splitter as usize];
            arcs.clear();
            for &s in &self.states[first as usize..end as usize] {
                let arc = |&i: &u32| (fst.all_arcs()[i as usize].ilabel, incoming.sources[i as usize], i);
                arcs.extend(incoming.of(s).iter().map(arc));
            }
            arcs.sort_unstable();
            for equal in arcs.chunk_by(|a, b| a.0 == b.0) {
                both.clear();
                for of_source in equal.chunk_by(|a, b| a.1 == b.1) {
                    let (_, source, i) = of_source[0];
                    self.mark(source);
                    let count = of_source.len() as u32;
                    let all = &mut counts[counter[i as usize] as usize];
                    if *all > count {
                        *all -= count;
                        of_source.iter().for_each(|a| counter[a.2 as usize] = counts.len() as u32);
                        counts.push(count);
                        both.push(source);
                    }
                }
                self.split();
                both.iter().for_each(|&s| self.mark(s));
                self.split();
            }
        }
    }

    /// Makes the smaller of two blocks of a set a set of its own.
    fn take_smaller(&mut self, set: u32) -> Option<u32> {
        let blocks = &mut self.sets[set as usize];
        let &[.., a, b] = blocks.as_slice() else { return None };
        blocks.truncate(blocks.len() - 2);
        let (small, large) =
            if self.blocks[a as usize].len() < self.blocks[b as usize].len() { (a, b) } else { (b, a) };
        blocks.push(large);
        if blocks.len() > 1 {
            self.open.push(set);
        }
        self.blocks[small as usize].set = self.sets.len() as u32;
        self.sets.push(vec![small]);
        Some(small)
    }

    fn mark(&mut self, s: StateId) {
        let id = self.block[s as usize];
        let b = &mut self.blocks[id as usize];
        let (from, to) = (self.place[s as usize], b.marked);
        if b.marked == b.first {
            self.touched.push(id);
        }
        b.marked += 1;
        let other = self.states[to as usize];
        self.states.swap(from as usize, to as usize);
        self.place.swap(s as usize, other as usize);
    }

    /// Makes new blocks of the marked states, unless they are all of their block.
    fn split(&mut self) {
        for id in std::mem::take(&mut self.touched) {
            let new = self.blocks.len() as u32;
            let b = &mut self.blocks[id as usize];
            let (first, marked) = (b.first, b.marked);
            b.marked = b.first;
            if marked == b.end {
                continue;
            }
            (b.first, b.marked) = (marked, marked);
            let set = b.set;
            self.blocks.push(Block { first, marked: first, end: marked, set });
            for &s in &self.states[first as usize..marked as usize] {
                self.block[s as usize] = new;
            }
            let blocks = &mut self.sets[set as usize];
            blocks.push(new);
            if blocks.len() == 2 {
                self.open.push(set);
            }
        }
    }
}
