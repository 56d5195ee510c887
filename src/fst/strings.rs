//! Strings of labels for operations that move output along paths. Nothing is copied when a label is moved, and equality is
//! exact.
//!
//! `View`s (see `lists`) are for strings that are only cut and compared at their ends. `Strings` numbers them: equal strings
//! have equal numbers. A label at the end and the string without its first label are remembered, so that an output that
//! waits in a queue costs O(1) a label the second time and O(log n) the first, whatever its length.

mod lists;

use std::cmp::Ordering;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use super::flat::{EPSILON, Label};
pub use lists::{Lists, View};

/// The number of a string.
pub type StringId = u32;
/// The string without labels.
pub const EMPTY: StringId = 0;
const UNKNOWN: StringId = StringId::MAX;

struct Entry {
    view: View,
    first: Label,
    /// The string without its first label.
    rest: StringId,
    hash: u64,
}

pub struct Strings {
    pub lists: Lists,
    entries: Vec<Entry>,
    find: HashTable<StringId>,
    longer: HashMap<(StringId, Label), StringId, FxBuildHasher>,
    buffer: Vec<Label>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings::over(Lists::default())
    }
}

/// The hash of the table wants its upper bits filled.
#[inline]
fn spread(hash: u64) -> u64 {
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

impl Strings {
    fn over(lists: Lists) -> Self {
        Strings {
            lists,
            entries: vec![Entry { view: View::EMPTY, first: EPSILON, rest: EMPTY, hash: 0 }],
            find: HashTable::new(),
            longer: HashMap::default(),
            buffer: vec![],
        }
    }
    /// How many strings there are, the empty one included.
    pub fn count(&self) -> usize {
        self.entries.len()
    }
    /// Memory in use, in labels and numbers of strings.
    pub fn size(&self) -> usize {
        self.lists.num_nodes() + self.entries.len()
    }

    /// The number of the string that `view` shows. O(log n), amortised.
    pub fn intern(&mut self, view: View) -> StringId {
        match view.len() {
            0 => EMPTY,
            1 => self.append(EMPTY, self.lists.get(view, 0)),
            _ => self.number(view, self.lists.hash(view)),
        }
    }
    /// Strings of two labels and more; shorter ones are found without comparing.
    fn number(&mut self, view: View, hash: u64) -> StringId {
        let Strings { lists, entries, find, .. } = self;
        let known = find.find(spread(hash), |&id| {
            let e = &entries[id as usize];
            e.hash == hash && lists.equal(e.view, view)
        });
        if let Some(&id) = known {
            return id;
        }
        let id = entries.len() as StringId;
        entries.push(Entry { view, first: lists.get(view, 0), rest: UNKNOWN, hash });
        find.insert_unique(spread(hash), id, |&i| spread(entries[i as usize].hash));
        id
    }
    #[inline]
    pub fn view(&self, s: StringId) -> View {
        self.entries[s as usize].view
    }
    #[inline]
    pub fn len(&self, s: StringId) -> u32 {
        self.entries[s as usize].view.len()
    }
    /// The first label; epsilon if there is none.
    #[inline]
    pub fn first(&self, s: StringId) -> Label {
        self.entries[s as usize].first
    }
    /// The string without its first label.
    #[inline]
    pub fn rest(&mut self, s: StringId) -> StringId {
        let Entry { view, first, rest, hash } = self.entries[s as usize];
        if rest != UNKNOWN {
            return rest;
        }
        let left = self.lists.drop_front(view, 1);
        let rest = match left.len() {
            1 => self.append(EMPTY, self.lists.get(left, 0)),
            _ => self.number(left, self.lists.hash_rest(hash, first)),
        };
        self.entries[s as usize].rest = rest;
        rest
    }
    /// The string of one output label; epsilon is the empty one.
    #[inline]
    pub fn of_label(&mut self, label: Label) -> StringId {
        self.append(EMPTY, label)
    }
    /// `s` and then `label`, if that is not epsilon.
    #[inline]
    pub fn append(&mut self, s: StringId, label: Label) -> StringId {
        if label == EPSILON {
            return s;
        }
        match self.longer.get(&(s, label)) {
            Some(&known) => known,
            None => self.append_new(s, label),
        }
    }
    fn append_new(&mut self, s: StringId, label: Label) -> StringId {
        let (view, hash) = (self.growing(s), self.entries[s as usize].hash);
        let hash = self.lists.hash_longer(hash, view.len(), label);
        let view = self.lists.push_back(view, label);
        if s == EMPTY {
            let id = self.entries.len() as StringId;
            self.entries.push(Entry { view, first: label, rest: EMPTY, hash });
            self.longer.insert((s, label), id);
            return id;
        }
        let (before, id) = (self.entries.len(), self.number(view, hash));
        if self.entries.len() == before {
            self.lists.take_back(view);
        }
        self.longer.insert((s, label), id);
        id
    }
    /// The string as a view that grows at the back, and so for ever.
    fn growing(&mut self, s: StringId) -> View {
        let entry = &mut self.entries[s as usize];
        if !entry.view.is_back() {
            entry.view = self.lists.turned(entry.view);
        }
        entry.view
    }
    /// `a` followed by `b`. O(|b|); or O(|a|), if that is less and `b` was made from its end.
    pub fn concat(&mut self, a: StringId, b: StringId) -> StringId {
        if a == EMPTY || b == EMPTY {
            return a.max(b); // the other one is 0
        }
        let (p, q) = (self.view(a), self.view(b));
        if q.len() == 1 {
            return self.append(a, self.first(b));
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let joined = if !q.is_back() && p.len() <= q.len() {
            self.lists.read(p, &mut buffer);
            buffer.iter().rev().fold(q, |view, &label| self.lists.push_front(label, view))
        } else {
            self.lists.read(q, &mut buffer);
            let p = self.growing(a);
            buffer.iter().fold(p, |view, &label| self.lists.push_back(view, label))
        };
        self.buffer = buffer;
        self.intern(joined)
    }
    /// Shorter strings first, then by labels.
    pub fn military(&mut self, a: StringId, b: StringId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (p, q) = (self.view(a), self.view(b));
        p.len().cmp(&q.len()).then(self.first(a).cmp(&self.first(b))).then_with(|| {
            // They are not equal, so there is a label after what they share.
            let k = self.lists.common(p, q);
            self.lists.get(p, k).cmp(&self.lists.get(q, k))
        })
    }
    pub fn labels(&self, s: StringId) -> Vec<Label> {
        let mut labels = vec![];
        self.lists.read(self.view(s), &mut labels);
        labels
    }
}

#[cfg(test)]
mod tests;
