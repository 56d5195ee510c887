//! Strings of labels for operations that move output along paths: two representations without copying.
//!
//! `Strings` interns: equal strings have equal numbers, and a string is its first label and the number of the rest.
//! `Lists` keeps lists that grow at one end and shrink at the other in O(log n), compares parts of them by a polynomial
//! hash modulo 2^61 − 1 (two different strings are taken for equal with a probability below 10^-12 a million strings),
//! and finds the longest common beginning of two in O(log² n).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::Label;

/// An interned string.
pub type StringId = u32;
/// The string without labels.
pub const EMPTY: StringId = 0;

pub struct Strings {
    nodes: Vec<(Label, StringId)>,
    lengths: Vec<u32>,
    find: HashMap<(Label, StringId), StringId, FxBuildHasher>,
    buffer: Vec<Label>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { nodes: vec![(0, EMPTY)], lengths: vec![0], find: HashMap::default(), buffer: vec![] }
    }
}

impl Strings {
    /// `label` followed by `rest`.
    #[inline]
    pub fn cons(&mut self, label: Label, rest: StringId) -> StringId {
        let fresh = self.nodes.len() as StringId;
        let id = *self.find.entry((label, rest)).or_insert(fresh);
        if id == fresh {
            self.nodes.push((label, rest));
            self.lengths.push(self.lengths[rest as usize] + 1);
        }
        id
    }
    /// The string of one output label; epsilon is the empty one.
    #[inline]
    pub fn of_label(&mut self, label: Label) -> StringId {
        if label == 0 { EMPTY } else { self.cons(label, EMPTY) }
    }
    #[inline]
    pub fn len(&self, s: StringId) -> u32 {
        self.lengths[s as usize]
    }
    /// First label (0 if empty) and the rest.
    #[inline]
    pub fn split(&self, s: StringId) -> (Label, StringId) {
        self.nodes[s as usize]
    }
    pub fn labels(&self, mut s: StringId) -> impl Iterator<Item = Label> + '_ {
        std::iter::from_fn(move || {
            let (label, rest) = self.nodes[s as usize];
            (s != EMPTY).then(|| {
                s = rest;
                label
            })
        })
    }
    /// `a` followed by `b`. O(|a|).
    pub fn concat(&mut self, a: StringId, b: StringId) -> StringId {
        if a == EMPTY || b == EMPTY {
            return a.max(b); // the other one is 0
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend(self.labels(a));
        let joined = buffer.iter().rev().fold(b, |rest, &l| self.cons(l, rest));
        self.buffer = buffer;
        joined
    }
    /// Shorter strings first, then by labels.
    pub fn military(&self, a: StringId, b: StringId) -> std::cmp::Ordering {
        if a == b {
            return std::cmp::Ordering::Equal;
        }
        self.len(a).cmp(&self.len(b)).then_with(|| self.labels(a).cmp(self.labels(b)))
    }
}

/// A list in `Lists`: its newest label and all before it. 0 is the empty list.
pub type ListId = u32;

/// The newest `len` labels of a list, newest first.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub list: ListId,
    pub len: u32,
}

impl Slice {
    pub const EMPTY: Slice = Slice { list: 0, len: 0 };
}

struct Node {
    label: Label,
    older: ListId,
    /// An older list much further back, so that any age is reached in O(log n) steps (Myers 1983).
    jump: ListId,
    len: u32,
    hash: u64,
}

pub struct Lists {
    nodes: Vec<Node>,
    powers: Vec<u64>,
}

const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x1234_5678_9abc_def1 % PRIME;

#[inline]
fn times(a: u64, b: u64) -> u64 {
    let p = a as u128 * b as u128;
    let s = (p as u64 & PRIME) + (p >> 61) as u64;
    if s >= PRIME { s - PRIME } else { s }
}

impl Default for Lists {
    fn default() -> Self {
        Lists { nodes: vec![Node { label: 0, older: 0, jump: 0, len: 0, hash: 0 }], powers: vec![1] }
    }
}

impl Lists {
    /// One more label, the newest.
    pub fn add(&mut self, slice: Slice, label: Label) -> Slice {
        let older = slice.list;
        let (n, j) = (&self.nodes[older as usize], &self.nodes[self.nodes[older as usize].jump as usize]);
        let far = self.nodes[j.jump as usize].len;
        let jump = if n.len - j.len == j.len - far { j.jump } else { older };
        // Labels may be negative; hash them as the numbers they are in 32 bits, off zero.
        let hash = (times(n.hash, BASE) + label as u32 as u64 + 1) % PRIME;
        let len = n.len + 1;
        if self.powers.len() <= len as usize {
            self.powers.push(times(self.powers[len as usize - 1], BASE));
        }
        self.nodes.push(Node { label, older, jump, len, hash });
        Slice { list: self.nodes.len() as ListId - 1, len: slice.len + 1 }
    }
    /// The list without its newest `k` labels. O(log n).
    pub fn drop_newest(&self, list: ListId, k: u32) -> ListId {
        let target = self.nodes[list as usize].len - k;
        let mut at = list;
        while self.nodes[at as usize].len > target {
            let n = &self.nodes[at as usize];
            at = if self.nodes[n.jump as usize].len >= target { n.jump } else { n.older };
        }
        at
    }
    /// Label number `i` of a slice, the newest is 0.
    pub fn get(&self, slice: Slice, i: u32) -> Label {
        self.nodes[self.drop_newest(slice.list, i) as usize].label
    }
    /// Labels from the newest to the oldest.
    pub fn labels(&self, slice: Slice) -> impl Iterator<Item = Label> + '_ {
        let mut at = slice.list;
        (0..slice.len).map(move |_| {
            let n = &self.nodes[at as usize];
            at = n.older;
            n.label
        })
    }
    /// Equal slices have equal lengths and hashes.
    pub fn hash(&self, slice: Slice) -> u64 {
        self.hash_newest(slice.list, slice.len)
    }
    fn hash_newest(&self, list: ListId, k: u32) -> u64 {
        let rest = self.nodes[self.drop_newest(list, k) as usize].hash;
        // hash(list) = hash(rest)·B^k + hash(newest k)
        let shifted = times(rest, self.powers[k as usize]);
        (self.nodes[list as usize].hash + PRIME - shifted) % PRIME
    }
    /// The longest slice of newest labels that both share.
    pub fn common(&self, a: Slice, b: Slice) -> Slice {
        let most = a.len.min(b.len);
        if a.list == b.list {
            return Slice { list: a.list, len: most };
        }
        let same = |k: u32| self.hash_newest(a.list, k) == self.hash_newest(b.list, k);
        // Double, then halve: short answers are cheap.
        let (mut good, mut step) = (0, 1);
        while good + step <= most && same(good + step) {
            good += step;
            step *= 2;
        }
        while step > 0 {
            if good + step <= most && same(good + step) {
                good += step;
            }
            step /= 2;
        }
        Slice { list: a.list, len: good }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    #[test]
    fn interned_strings() {
        let mut s = Strings::default();
        let b = s.of_label(2);
        let ab = s.cons(1, b);
        let c = s.of_label(3);
        let abc = s.concat(ab, c);
        assert_eq!(s.labels(abc).collect::<Vec<_>>(), [1, 2, 3]);
        let bc = s.concat(b, c);
        assert_eq!(s.split(abc), (1, bc));
        assert_eq!(s.cons(1, bc), abc);
        assert_eq!(s.military(c, ab), std::cmp::Ordering::Less);
    }

    #[test]
    fn lists_against_vectors() {
        let mut rng = SmallRng::seed_from_u64(3);
        for _ in 0..200 {
            let mut lists = Lists::default();
            let mut all: Vec<(Slice, Vec<Label>)> = vec![(Slice::EMPTY, vec![])];
            for _ in 0..rng.random_range(1..60) {
                let (slice, labels) = all[rng.random_range(0..all.len())].clone();
                let label = rng.random_range(1..3);
                let mut more = labels.clone();
                more.insert(0, label);
                let mut longer = lists.add(slice, label);
                if rng.random_bool(0.3) {
                    longer.len = rng.random_range(0..=longer.len);
                    more.truncate(longer.len as usize);
                }
                all.push((longer, more));
            }
            for (x, v) in &all {
                assert_eq!(&lists.labels(*x).collect::<Vec<_>>(), v);
                for (i, &l) in v.iter().enumerate() {
                    assert_eq!(lists.get(*x, i as u32), l);
                }
                for (y, w) in &all {
                    let k = v.iter().zip(w).take_while(|(p, q)| p == q).count();
                    assert_eq!(lists.common(*x, *y).len as usize, k);
                    assert_eq!(x.len == y.len && lists.hash(*x) == lists.hash(*y), v == w);
                }
            }
        }
    }
}
