//! Shared lists of labels, and views of them that are compared exactly in logarithmic time.
//!
//! A list is its newest label and an older list; nothing is copied when it grows. A view is the newest part of a list, read
//! in one of the two directions, so that a view grows at one end for nothing and is cut at both: O(1) or O(log n) by jumps
//! (Myers 1983, "An applicative random-access stack"). A polynomial hash says where two views may differ. It is only a
//! filter: what it holds equal is compared, block by block of doubling size, and blocks found equal are joined in a
//! union-find forest, so that no stretch is compared twice: O(n log n) joins for n labels, however many comparisons.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::fst::flat::Label;

/// Some of the newest labels of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    list: u32,
    len: u32,
    /// The newest label is the last one; otherwise the first.
    back: bool,
}

impl View {
    pub const EMPTY: View = View { list: 0, len: 0, back: false };

    #[inline]
    pub fn len(self) -> u32 {
        self.len
    }
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
    /// Grows at the back for nothing, not at the front.
    #[inline]
    pub(super) fn is_back(self) -> bool {
        self.back
    }
    /// The same labels in the opposite order.
    pub fn reversed(self) -> View {
        View { back: !self.back, ..self }
    }
}

struct Node {
    label: Label,
    older: u32,
    /// An older list much further back.
    jump: u32,
    len: u32,
    /// Hash of all labels read from the newest, and from the oldest.
    down: u64,
    up: u64,
}

pub struct Lists {
    nodes: Vec<Node>,
    /// Powers of the base and of its inverse.
    powers: Vec<(u64, u64)>,
    base: (u64, u64),
    blocks: HashMap<View, u32, FxBuildHasher>,
    parents: Vec<u32>,
}

/// Views up to this length are compared label by label.
const BLOCK: u32 = 32;
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x1234_5678_9abc_def1 % PRIME;

#[inline]
fn times(a: u64, b: u64) -> u64 {
    let p = a as u128 * b as u128;
    plus(p as u64 & PRIME, (p >> 61) as u64)
}
#[inline]
fn plus(a: u64, b: u64) -> u64 {
    let s = a + b;
    if s >= PRIME { s - PRIME } else { s }
}
#[inline]
fn minus(a: u64, b: u64) -> u64 {
    plus(a, PRIME - b)
}
/// Labels may be negative; they count as the numbers they are in 32 bits, off zero.
#[inline]
fn code(label: Label) -> u64 {
    label as u32 as u64 + 1
}

impl Default for Lists {
    fn default() -> Self {
        Lists::with_base(BASE)
    }
}

impl Lists {
    /// The base changes the hashes and no result.
    pub(super) fn with_base(base: u64) -> Self {
        // The inverse is base^(PRIME − 2) (Fermat).
        let (mut inverse, mut square, mut left) = (1, base, PRIME - 2);
        while left > 0 {
            if left & 1 == 1 {
                inverse = times(inverse, square);
            }
            square = times(square, square);
            left >>= 1;
        }
        Lists {
            nodes: vec![Node { label: 0, older: 0, jump: 0, len: 0, down: 0, up: 0 }],
            powers: vec![(1, 1)],
            base: (base, inverse),
            blocks: HashMap::default(),
            parents: vec![],
        }
    }

    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    fn add(&mut self, older: u32, label: Label) -> u32 {
        let n = &self.nodes[older as usize];
        let j = &self.nodes[n.jump as usize];
        let far = self.nodes[j.jump as usize].len;
        let jump = if n.len - j.len == j.len - far { j.jump } else { older };
        let len = n.len + 1;
        let down = plus(times(n.down, self.base.0), code(label));
        let up = plus(n.up, times(self.powers[n.len as usize].0, code(label)));
        if self.powers.len() <= len as usize {
            let (p, q) = self.powers[len as usize - 1];
            self.powers.push((times(p, self.base.0), times(q, self.base.1)));
        }
        self.nodes.push(Node { label, older, jump, len, down, up });
        self.nodes.len() as u32 - 1
    }
    /// The list without its newest `k` labels. O(log n).
    fn older(&self, list: u32, k: u32) -> u32 {
        let target = self.nodes[list as usize].len - k;
        let mut at = list;
        while self.nodes[at as usize].len > target {
            let n = &self.nodes[at as usize];
            at = if self.nodes[n.jump as usize].len >= target { n.jump } else { n.older };
        }
        at
    }
    fn grown(&mut self, view: View, label: Label, back: bool) -> View {
        let view = if view.back == back { view } else { self.turned(view) };
        // Of an empty view no list is left.
        let list = if view.len == 0 { 0 } else { view.list };
        View { list: self.add(list, label), len: view.len + 1, back }
    }
    /// The same labels in a list of their own that grows at the other end. O(n).
    pub(super) fn turned(&mut self, view: View) -> View {
        let (mut at, mut list) = (view.list, 0);
        for _ in 0..view.len {
            let Node { label, older, .. } = self.nodes[at as usize];
            list = self.add(list, label);
            at = older;
        }
        View { list, len: view.len, back: !view.back }
    }
    /// `label` and then `view`: O(1), but O(n) for a view that grows at the back.
    pub fn push_front(&mut self, label: Label, view: View) -> View {
        self.grown(view, label, false)
    }
    /// `view` and then `label`: O(1), but O(n) for a view that grows at the front.
    pub fn push_back(&mut self, view: View, label: Label) -> View {
        self.grown(view, label, true)
    }
    /// Forgets the label that was pushed last, which made `view`, unless blocks may have been made of it.
    pub(super) fn take_back(&mut self, view: View) {
        if view.len <= 2 * BLOCK && view.list as usize + 1 == self.nodes.len() {
            self.nodes.pop();
        }
    }

    /// The view without its first `k` labels.
    pub fn drop_front(&self, view: View, k: u32) -> View {
        if view.len <= k {
            return View::EMPTY;
        }
        let list = if view.back { view.list } else { self.older(view.list, k) };
        View { list, len: view.len - k, ..view }
    }
    /// The first `k` labels of the view.
    pub fn take_front(&self, view: View, k: u32) -> View {
        if k >= view.len {
            return view;
        }
        self.drop_front(view.reversed(), view.len - k).reversed()
    }
    /// Label number `i`; there must be one.
    pub fn get(&self, view: View, i: u32) -> Label {
        let k = if view.back { view.len - 1 - i } else { i };
        self.nodes[self.older(view.list, k) as usize].label
    }
    /// Appends the labels to `out`.
    pub fn read(&self, view: View, out: &mut Vec<Label>) {
        let from = out.len();
        let mut at = view.list;
        for _ in 0..view.len {
            let n = &self.nodes[at as usize];
            out.push(n.label);
            at = n.older;
        }
        if view.back {
            out[from..].reverse();
        }
    }

    /// Equal labels have equal hashes.
    pub(super) fn hash(&self, view: View) -> u64 {
        let n = &self.nodes[view.list as usize];
        let rest = &self.nodes[self.older(view.list, view.len) as usize];
        if view.back {
            times(minus(n.up, rest.up), self.powers[rest.len as usize].1)
        } else {
            minus(n.down, times(rest.down, self.powers[view.len as usize].0))
        }
    }
    /// Hash of a string of `len` labels, after `label` comes to its end.
    pub(super) fn hash_longer(&self, hash: u64, len: u32, label: Label) -> u64 {
        plus(hash, times(self.powers[len as usize].0, code(label)))
    }
    /// Hash of a string without its first label.
    pub(super) fn hash_rest(&self, hash: u64, first: Label) -> u64 {
        times(minus(hash, code(first)), self.base.1)
    }

    /// Whether two views with the same hash are equal.
    pub(super) fn equal(&mut self, a: View, b: View) -> bool {
        a.len == b.len && (a == b || self.proven(a, b))
    }
    /// How many labels at the beginning two views share. O(log² n), amortised.
    pub fn common(&mut self, a: View, b: View) -> u32 {
        let most = a.len.min(b.len);
        if most == 0 {
            return 0;
        }
        let mut low = 0;
        if !a.back && !b.back {
            // Mostly it is only a few labels, or the lists soon become one.
            let walked = most.min(BLOCK);
            let (same, one) = self.newest_shared(a.list, b.list, walked);
            if one || same == most {
                return most;
            }
            if same < walked {
                return same;
            }
            low = same;
        }
        // At `high` the beginnings differ for certain, at `low` they seem equal: double the step, then halve.
        let seem_equal =
            |lists: &Self, k: u32| lists.hash(lists.take_front(a, k)) == lists.hash(lists.take_front(b, k));
        if seem_equal(self, most) {
            low = most;
        }
        let (mut high, mut step) = (most + 1, 1);
        while low.saturating_add(step) < high {
            if seem_equal(self, low + step) {
                low += step;
                step = step.saturating_mul(2);
            } else {
                high = low + step;
            }
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if seem_equal(self, middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (a, b) = (self.take_front(a, low), self.take_front(b, low));
        if self.proven(a, b) {
            return low;
        }
        let (mut x, mut y) = (vec![], vec![]);
        self.read(a, &mut x);
        self.read(b, &mut y);
        x.iter().zip(&y).take_while(|(l, m)| l == m).count() as u32
    }
    /// The part of `a` at its beginning that `label` (epsilon: nothing) and then `b` also has.
    pub fn common_with(&mut self, a: View, label: Label, b: View) -> View {
        if a.len == 0 {
            return View::EMPTY;
        }
        let k = match label {
            0 => self.common(a, b),
            _ if self.get(a, 0) != label => return View::EMPTY,
            _ => 1 + self.common(self.drop_front(a, 1), b),
        };
        self.take_front(a, k)
    }
    /// `label` (epsilon: nothing) and then `view`, without the first `cut` labels.
    pub fn divided(&mut self, label: Label, view: View, cut: u32) -> View {
        match (label, cut) {
            (0, _) => self.drop_front(view, cut),
            (_, 0) => self.push_front(label, view),
            _ => self.drop_front(view, cut - 1),
        }
    }

    /// How many of the newest labels of two lists are the same, up to `most`; and whether the lists became one by then.
    #[inline]
    fn newest_shared(&self, mut x: u32, mut y: u32, most: u32) -> (u32, bool) {
        for k in 0..most {
            if x == y {
                return (k, true);
            }
            let (n, m) = (&self.nodes[x as usize], &self.nodes[y as usize]);
            if n.label != m.label {
                return (k, false);
            }
            (x, y) = (n.older, m.older);
        }
        (most, x == y)
    }
    /// Label by label, for views of the same length.
    fn same(&self, a: View, b: View) -> bool {
        if a.back == b.back {
            let (same, one) = self.newest_shared(a.list, b.list, a.len);
            return one || same == a.len;
        }
        let (mut x, mut y) = (a.list, b.list);
        let mut seen = [0; 2 * BLOCK as usize];
        let seen = &mut seen[..a.len as usize];
        for place in seen.iter_mut() {
            *place = self.nodes[x as usize].label;
            x = self.nodes[x as usize].older;
        }
        seen.iter().rev().all(|&label| {
            let n = &self.nodes[y as usize];
            y = n.older;
            n.label == label
        })
    }
    /// Whether views of the same length, with the same hash, are equal.
    fn proven(&mut self, a: View, b: View) -> bool {
        if a.len <= 2 * BLOCK {
            return self.same(a, b);
        }
        // Two blocks, of the size of a block times a power of two, that overlap.
        let size = BLOCK << (a.len / BLOCK).ilog2();
        let rest = a.len - size;
        self.blocks_equal(self.take_front(a, size), self.take_front(b, size))
            && self.blocks_equal(self.drop_front(a, rest), self.drop_front(b, rest))
    }
    fn blocks_equal(&mut self, a: View, b: View) -> bool {
        // Pairs to compare, and (true) pairs to join once their halves are known to be equal.
        let mut stack = vec![(a, b, false)];
        while let Some((a, b, join)) = stack.pop() {
            if a == b {
                continue;
            }
            if a.len <= BLOCK {
                if !self.same(a, b) {
                    return false;
                }
                continue;
            }
            let (x, y) = (self.root(a), self.root(b));
            if x == y {
                continue;
            }
            if join {
                self.parents[x.max(y) as usize] = x.min(y);
                continue;
            }
            let half = a.len / 2;
            stack.push((a, b, true));
            stack.push((self.drop_front(a, half), self.drop_front(b, half), false));
            stack.push((self.take_front(a, half), self.take_front(b, half), false));
        }
        true
    }
    fn root(&mut self, block: View) -> u32 {
        let fresh = self.parents.len() as u32;
        let mut at = *self.blocks.entry(block).or_insert(fresh);
        if at == fresh {
            self.parents.push(fresh);
        }
        while self.parents[at as usize] != at {
            let up = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = up;
            at = up;
        }
        at
    }
}
