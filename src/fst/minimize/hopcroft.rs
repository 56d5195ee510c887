//! Partition refinement for cyclic acceptors.
//!
//! Classes are linked lists of states through arrays. A class that is taken from the stack splits the classes whose states
//! reach it, label by label; of the two parts the smaller is a new class. Lists, stack and heap work in the order of
//! OpenFst's, so that the same state heads each class in the end. Classes of deterministic automata are those of equal
//! futures; those of others may be too large, and `stable` splits them further.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::fst::flat::{FlatFst, Label, StateId};
use crate::fst::semiring::Weight;
use crate::fst::stdsort::sort_by_key;
use crate::fst::visit::Incoming;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Class {
    size: u32,
    yes_size: u32,
    no_head: u32,
    yes_head: u32,
}

const EMPTY: Class = Class { size: 0, yes_size: 0, no_head: NONE, yes_head: NONE };

#[derive(Clone, Copy)]
struct Element {
    class: u32,
    next: u32,
    prev: u32,
    /// In the `yes` list of its class if this is the round.
    yes: u64,
}

struct Partition {
    elements: Vec<Element>,
    classes: Vec<Class>,
    visited: Vec<u32>,
    round: u64,
}

impl Partition {
    fn add(&mut self, s: StateId, class: u32) {
        let c = &mut self.classes[class as usize];
        c.size += 1;
        let head = std::mem::replace(&mut c.no_head, s);
        if head != NONE {
            self.elements[head as usize].prev = s;
        }
        self.elements[s as usize] = Element { class, next: head, prev: NONE, yes: 0 };
    }

    /// Moves a state to the `yes` list of its class.
    fn split_on(&mut self, s: StateId) {
        let e = self.elements[s as usize];
        if e.yes == self.round {
            return;
        }
        let c = &mut self.classes[e.class as usize];
        if e.prev != NONE {
            self.elements[e.prev as usize].next = e.next;
        } else {
            c.no_head = e.next;
        }
        if e.next != NONE {
            self.elements[e.next as usize].prev = e.prev;
        }
        let head = std::mem::replace(&mut c.yes_head, s);
        c.yes_size += 1;
        if head != NONE {
            self.elements[head as usize].prev = s;
        } else {
            self.visited.push(e.class);
        }
        self.elements[s as usize] = Element { class: e.class, next: head, prev: NONE, yes: self.round };
    }

    /// Splits every class that has both lists; the smaller becomes a new class and goes on the stack.
    fn finish_split(&mut self, stack: &mut Vec<u32>) {
        let mut visited = std::mem::take(&mut self.visited);
        for &class in &visited {
            let new_id = self.classes.len() as u32;
            let old = &mut self.classes[class as usize];
            let no_size = old.size - old.yes_size;
            let mut new = EMPTY;
            if no_size == 0 {
                old.no_head = old.yes_head;
            } else if no_size < old.yes_size {
                (new.no_head, new.size) = (old.no_head, no_size);
                (old.no_head, old.size) = (old.yes_head, old.yes_size);
            } else {
                (new.no_head, new.size) = (old.yes_head, old.yes_size);
                old.size = no_size;
            }
            (old.yes_head, old.yes_size) = (NONE, 0);
            if new.size > 0 {
                let mut s = new.no_head;
                while s != NONE {
                    self.elements[s as usize].class = new_id;
                    s = self.elements[s as usize].next;
                }
                self.classes.push(new);
                stack.push(new_id);
            }
        }
        visited.clear();
        self.visited = visited;
        self.round += 1;
    }
}

/// A place in the incoming arcs of a state: the next label, and the positions still to come.
type Place = (Label, u32, u32);

/// Binary heap with the least label on top, and the order of equal labels of C++'s standard library.
fn push(heap: &mut Vec<Place>, place: Place) {
    heap.push(place);
    let hole = heap.len() - 1;
    lift(heap, hole, place);
}

fn lift(heap: &mut [Place], mut hole: usize, place: Place) {
    while hole > 0 && heap[(hole - 1) / 2].0 > place.0 {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = place;
}

fn pop(heap: &mut Vec<Place>) -> Option<Place> {
    let top = *heap.first()?;
    let value = heap.pop()?;
    let len = heap.len();
    if len == 0 {
        return Some(top);
    }
    let (mut hole, mut child) = (0, 0);
    while child < (len - 1) / 2 {
        child = 2 * (child + 1);
        if heap[child].0 > heap[child - 1].0 {
            child -= 1;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    if len.is_multiple_of(2) && child == (len - 2) / 2 {
        child = 2 * (child + 1);
        heap[hole] = heap[child - 1];
        hole = child - 1;
    }
    lift(heap, hole, value);
    Some(top)
}

/// For every state of a trim acceptor with sorted arcs the state that stands for its class.
pub fn classes<W: Weight>(fst: &FlatFst<W>) -> Vec<StateId> {
    let n = fst.num_states();
    // Incoming arcs, by label.
    let mut spare = vec![];
    let mut incoming = Incoming::new(fst);
    for s in 0..n {
        let range = incoming.offsets[s] as usize..incoming.offsets[s + 1] as usize;
        sort_by_key(&mut incoming.arcs[range], &mut spare, |&i| fst.all_arcs()[i as usize].ilabel);
    }
    let label = |incoming: &Incoming, at: u32| fst.all_arcs()[incoming.arcs[at as usize] as usize].ilabel;
    let mut p = Partition {
        elements: vec![Element { class: 0, next: NONE, prev: NONE, yes: 0 }; n],
        classes: vec![],
        visited: vec![],
        round: 1,
    };
    // States that differ in finality or in their labels are apart from the beginning.
    let mut first: HashMap<(u64, bool), u32, FxBuildHasher> = HashMap::default();
    for s in fst.states() {
        let mut hash = 433024223u64;
        let mut last = None;
        for a in fst.arcs(s) {
            if last != Some(a.ilabel) {
                hash = hash.wrapping_mul(7603).wrapping_add(a.ilabel as i64 as u64);
                last = Some(a.ilabel);
            }
        }
        let class = *first.entry((hash, fst.is_final(s))).or_insert_with(|| {
            p.classes.push(EMPTY);
            p.classes.len() as u32 - 1
        });
        p.add(s, class);
    }
    let mut stack: Vec<u32> = (0..p.classes.len() as u32).collect();
    let mut heap: Vec<Place> = vec![];
    while let Some(class) = stack.pop() {
        let mut s = p.classes[class as usize].no_head;
        while s != NONE {
            let (from, to) = (incoming.offsets[s as usize], incoming.offsets[s as usize + 1]);
            if from < to {
                push(&mut heap, (label(&incoming, from), from, to));
            }
            s = p.elements[s as usize].next;
        }
        let mut last = None;
        while let Some((l, at, to)) = pop(&mut heap) {
            if last != Some(l) {
                p.finish_split(&mut stack);
            }
            let source = incoming.sources[incoming.arcs[at as usize] as usize];
            if p.classes[p.elements[source as usize].class as usize].size > 1 {
                p.split_on(source);
            }
            last = Some(l);
            if at + 1 < to {
                push(&mut heap, (label(&incoming, at + 1), at + 1, to));
            }
        }
        p.finish_split(&mut stack);
    }
    p.elements.iter().map(|e| p.classes[e.class as usize].no_head).collect()
}
