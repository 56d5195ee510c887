//! Confusion networks (meshes, sausages): a sequence of bins, each with words or nothing and their posteriors.
//!
//! Every path of the lattice is a path of the mesh, and the posterior of a word in a bin is the sum of those of the arcs
//! that lie in it. Mangu, Brill and Stolcke (2000) cluster arcs by time and sound; this is the pivot method of
//! Hakkani-Tür and Riccardi (2003) and Xue and Zhao (2005) with words in the place of times. The best path is the pivot,
//! a bin for each of its words. Each state gets a position in the pivot: the one with the least edit distance of the paths
//! through the state to the pivot, words compared for equality, never smaller than that of a state before it. An arc
//! from position i to a later one j lies in a bin from i to j: that of its own word if there is one. An arc that stays at
//! its position lies in an extra bin there, as deep as words before it do. Bins of the arcs of a path are thus always in
//! order, and the paths that pass a bin by are its posterior of nothing, summed, not taken as a remainder.
//!
//! O(arcs · w) time and O(states · w) memory, where w is how many positions lie between the pivot's states before and after
//! a state: the whole pivot at worst, a few words in a lattice. Several lattices are joined in one first.

use std::ops::Range;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lattice::Lattice;
use crate::error::{Error, Result};
use crate::format::number::write_g;
use crate::fst::flat::{Arc, Builder, EPSILON, FlatFst, Label, StateId};
use crate::fst::semiring::Weight;

/// What is written for the arc without a word.
pub const NOTHING: &str = "*DELETE*";
/// The same in Moses' files.
const PLF_NOTHING: &str = "*EPS*";

/// Cells of the table of edit distances at most: 2 GB in two tables.
const MOST_CELLS: usize = 1 << 28;

/// Bins in order; in each, words (`EPSILON`: nothing) with posteriors that sum to 1, the largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    pub bins: Vec<Vec<(Label, f64)>>,
}

/// The mesh of a lattice whose paths have the probabilities e^(−alpha · cost), over their sum.
pub fn mesh(op: &'static str, lattice: &Lattice, alpha: f64) -> Result<Mesh> {
    let (forward, backward) = (lattice.forward(alpha), lattice.backward(alpha));
    let Some(&total) = backward.first() else { return Ok(Mesh::default()) };
    let pivot = Pivot::new(lattice, alpha);
    let places = Places::new(op, lattice, &pivot)?;
    let mut layout = Layout::new(&places, pivot.words.len());
    // First the arcs whose bin is certain: where several will do, words join their like.
    let mut open = vec![];
    for s in lattice.states() {
        let (here, from) = (forward[s as usize], layout.cursor(&places, s));
        let end = lattice.finals[s as usize];
        if end < f64::INFINITY {
            layout.pass(from..layout.bins.len(), (total - here - alpha * end).exp());
        }
        for a in lattice.arcs(s) {
            let posterior = (total - here - alpha * a.cost - backward[a.next as usize]).exp();
            let range = from..layout.cursor(&places, a.next);
            let own = range.clone().find(|&b| layout.pivot[b].is_some_and(|k| pivot.words[k as usize] == a.word));
            match own {
                _ if a.word == EPSILON => layout.pass(range, posterior),
                Some(bin) => layout.put(bin, range, a.word, posterior),
                None if range.len() == 1 => layout.put(range.start, range, a.word, posterior),
                None => open.push((range, a.word, posterior)),
            }
        }
    }
    for (range, word, posterior) in open {
        let mass = |&b: &usize| layout.bins[b].get(&word).copied().unwrap_or(0.0);
        let mut bin = range.start;
        for b in range.clone() {
            if mass(&b) > mass(&bin) {
                bin = b;
            }
        }
        layout.put(bin, range, word, posterior);
    }
    Ok(layout.finish())
}

/// The best path: its words, and which of its states is where.
struct Pivot {
    words: Vec<Label>,
    /// How many of the words come before a state of the path; none for other states.
    index: Vec<Option<u32>>,
}

impl Pivot {
    fn new(lattice: &Lattice, alpha: f64) -> Self {
        let n = lattice.num_states();
        let end = |s: StateId| {
            let cost = lattice.finals[s as usize];
            if cost < f64::INFINITY { alpha * cost } else { f64::INFINITY }
        };
        let mut cost: Vec<f64> = lattice.states().map(end).collect();
        let mut choice: Vec<Option<usize>> = vec![None; n];
        for s in lattice.states().rev() {
            for (i, a) in lattice.range(s).zip(lattice.arcs(s)) {
                let through = alpha * a.cost + cost[a.next as usize];
                if through < cost[s as usize] {
                    (cost[s as usize], choice[s as usize]) = (through, Some(i));
                }
            }
        }
        let mut pivot = Pivot { words: vec![], index: vec![None; n] };
        let mut at = 0;
        loop {
            pivot.index[at as usize] = Some(pivot.words.len() as u32);
            let Some(i) = choice[at as usize] else { return pivot };
            pivot.words.extend(Some(lattice.arcs[i].word).filter(|&w| w != EPSILON));
            at = lattice.arcs[i].next;
        }
    }
}

/// Where each state stands: a position in the pivot, and a depth in the extra bins before it.
struct Places {
    position: Vec<u32>,
    depth: Vec<u32>,
}

impl Places {
    fn new(op: &'static str, lattice: &Lattice, pivot: &Pivot) -> Result<Self> {
        let n = lattice.num_states();
        let (low, high) = bounds(lattice, pivot);
        // Row s has the distances for the positions low[s]..=high[s].
        let mut rows = vec![0usize];
        for s in 0..n {
            rows.push(rows[s] + (high[s] - low[s]) as usize + 1);
        }
        if rows[n] > MOST_CELLS {
            let message = "the lattices are too large to be aligned; prune them first (weft rescore prune)";
            return Err(Error::limit(op, format!("{MOST_CELLS} cells"), message));
        }
        let table = Table { lattice, words: &pivot.words, low: &low, high: &high, rows: &rows };
        let (before, after) = (table.before(), table.after());
        let mut places = Places { position: low.clone(), depth: vec![0; n] };
        for s in lattice.states() {
            let row = rows[s as usize]..rows[s as usize + 1];
            let best = row.clone().min_by_key(|&i| before[i].saturating_add(after[i])).unwrap_or(row.start);
            let own = low[s as usize] + (best - row.start) as u32;
            // What came before said how far to be at least.
            let p = &mut places.position[s as usize];
            if own > *p {
                (*p, places.depth[s as usize]) = (own, 0);
            }
            let (here, depth) = (*p, places.depth[s as usize]);
            for a in lattice.arcs(s) {
                let (p, d) = (&mut places.position[a.next as usize], &mut places.depth[a.next as usize]);
                let deeper = depth + u32::from(a.word != EPSILON);
                if here > *p {
                    (*p, *d) = (here, deeper);
                } else if here == *p {
                    *d = (*d).max(deeper);
                }
            }
        }
        Ok(places)
    }
}

/// For each state, the last position of a pivot's state at or before it, and the first at or behind it.
fn bounds(lattice: &Lattice, pivot: &Pivot) -> (Vec<u32>, Vec<u32>) {
    let n = lattice.num_states();
    let (mut low, mut high) = (vec![0; n], vec![pivot.words.len() as u32; n]);
    for s in lattice.states() {
        low[s as usize] = pivot.index[s as usize].unwrap_or(low[s as usize]);
        for a in lattice.arcs(s) {
            low[a.next as usize] = low[a.next as usize].max(low[s as usize]);
        }
    }
    for s in lattice.states().rev() {
        let behind = lattice.arcs(s).iter().map(|a| high[a.next as usize]).min();
        high[s as usize] = pivot.index[s as usize].unwrap_or(behind.unwrap_or(pivot.words.len() as u32));
    }
    (low, high)
}

/// Edit distances between paths and the pivot.
struct Table<'a> {
    lattice: &'a Lattice,
    words: &'a [Label],
    low: &'a [u32],
    high: &'a [u32],
    rows: &'a [usize],
}

impl Table<'_> {
    /// What an arc costs against the word of the pivot after position `j`.
    fn swap(&self, word: Label, j: u32) -> u32 {
        u32::from(self.words[j as usize] != word)
    }

    /// The least distance of a path from the start to a state to the pivot's first j words.
    fn before(&self) -> Vec<u32> {
        let mut cells = vec![u32::MAX; self.rows[self.lattice.num_states()]];
        (0..).zip(&mut cells[..self.rows[1]]).for_each(|(j, cell)| *cell = j);
        for s in self.lattice.states() {
            let (low, high) = (self.low[s as usize], self.high[s as usize]);
            for a in self.lattice.arcs(s) {
                let t = a.next as usize;
                let mut word_done = u32::MAX;
                let mut word_open = u32::MAX;
                for j in low..=self.high[t] {
                    let swapped = if j > low && a.word != EPSILON {
                        word_open.saturating_add(self.swap(a.word, j - 1))
                    } else {
                        u32::MAX
                    };
                    let here = if j <= high { cells[self.rows[s as usize] + (j - low) as usize] } else { u32::MAX };
                    word_open = here.min(word_open.saturating_add(1));
                    let added = if a.word == EPSILON { word_open } else { word_open.saturating_add(1) };
                    word_done = swapped.min(added).min(word_done.saturating_add(1));
                    if j >= self.low[t] {
                        let cell = &mut cells[self.rows[t] + (j - self.low[t]) as usize];
                        *cell = (*cell).min(word_done);
                    }
                }
            }
        }
        cells
    }

    /// The least distance of a path from a state to the end to the pivot's words after the first j.
    fn after(&self) -> Vec<u32> {
        let all = self.words.len() as u32;
        let mut cells = vec![u32::MAX; self.rows[self.lattice.num_states()]];
        for s in self.lattice.states().rev() {
            let (low, high) = (self.low[s as usize], self.high[s as usize]);
            let at = self.rows[s as usize];
            if self.lattice.finals[s as usize] < f64::INFINITY {
                (low..=high).for_each(|j| cells[at + (j - low) as usize] = all - j);
            }
            for a in self.lattice.arcs(s) {
                let t = a.next as usize;
                let mut word_done = u32::MAX;
                let mut word_open = u32::MAX;
                for j in (low..=self.high[t]).rev() {
                    let swapped = if j < self.high[t] && a.word != EPSILON {
                        word_done.saturating_add(self.swap(a.word, j))
                    } else {
                        u32::MAX
                    };
                    let there =
                        if j >= self.low[t] { cells[self.rows[t] + (j - self.low[t]) as usize] } else { u32::MAX };
                    word_done = there.min(word_done.saturating_add(1));
                    let added = if a.word == EPSILON { word_done } else { word_done.saturating_add(1) };
                    word_open = swapped.min(added).min(word_open.saturating_add(1));
                    if j <= high {
                        let cell = &mut cells[at + (j - low) as usize];
                        *cell = (*cell).min(word_open);
                    }
                }
            }
        }
        cells
    }
}

/// The bins while they are filled: before each word of the pivot and after the last, extra bins; then the word's own.
struct Layout {
    /// The first bin of each position.
    begin: Vec<usize>,
    /// The word of the pivot that a bin is for.
    pivot: Vec<Option<u32>>,
    bins: Vec<HashMap<Label, f64, FxBuildHasher>>,
}

impl Layout {
    fn new(places: &Places, words: usize) -> Self {
        let mut deep = vec![0; words + 1];
        for (&p, &d) in places.position.iter().zip(&places.depth) {
            deep[p as usize] = deep[p as usize].max(d);
        }
        let mut layout = Layout { begin: vec![], pivot: vec![], bins: vec![] };
        for (k, &extra) in deep.iter().enumerate() {
            layout.begin.push(layout.pivot.len());
            layout.pivot.extend(std::iter::repeat_n(None, extra as usize));
            layout.pivot.extend((k < words).then_some(Some(k as u32)));
        }
        layout.bins = vec![HashMap::default(); layout.pivot.len()];
        layout
    }

    /// The first bin that an arc from this state may lie in.
    fn cursor(&self, places: &Places, s: StateId) -> usize {
        self.begin[places.position[s as usize] as usize] + places.depth[s as usize] as usize
    }

    /// An arc that lies in a bin; the others that it could lie in are passed by.
    fn put(&mut self, bin: usize, range: Range<usize>, word: Label, posterior: f64) {
        self.add(bin, word, posterior);
        self.pass(range.start..bin, posterior);
        self.pass(bin + 1..range.end, posterior);
    }

    fn pass(&mut self, range: Range<usize>, posterior: f64) {
        range.for_each(|bin| self.add(bin, EPSILON, posterior));
    }

    fn add(&mut self, bin: usize, word: Label, posterior: f64) {
        // What has a path must not vanish, however unlikely it is.
        *self.bins[bin].entry(word).or_insert(0.0) += posterior.max(f64::MIN_POSITIVE);
    }

    fn finish(self) -> Mesh {
        let filled = self.bins.into_iter().filter(|words| words.keys().any(|&w| w != EPSILON));
        let bin = |words: HashMap<Label, f64, FxBuildHasher>| {
            let mut bin: Vec<(Label, f64)> = words.into_iter().collect();
            bin.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let sum: f64 = bin.iter().map(|w| w.1).sum();
            bin.iter_mut().for_each(|w| w.1 /= sum);
            bin
        };
        Mesh { bins: filled.map(bin).collect() }
    }
}

impl Mesh {
    /// The mesh as an automaton: a state between bins, −ln of the posteriors as costs.
    pub fn to_fst<W: Weight>(&self) -> FlatFst<W> {
        let mut b = Builder::with_capacity(self.bins.len() + 1, self.bins.iter().map(Vec::len).sum());
        for (i, bin) in self.bins.iter().enumerate() {
            b.add_state(W::ZERO);
            for &(word, p) in bin {
                b.push_arc(Arc::new(word, word, W::from_f64(0.0 - p.ln()), i as StateId + 1));
            }
        }
        b.add_state(W::ONE);
        b.set_start(0);
        b.finish()
    }

    /// A bin a line: words and posteriors, six digits.
    pub fn text(&self, word: impl Fn(Label) -> Result<String>) -> Result<String> {
        let mut out = String::new();
        for bin in &self.bins {
            for (i, &(label, p)) in bin.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                out.push_str(&if label == EPSILON { NOTHING.into() } else { word(label)? });
                out.push(' ');
                write_g(&mut out, p, 6);
            }
            out.push('\n');
        }
        Ok(out)
    }

    /// One line in the Python-like format of Moses: ((('word',0.5,1),...),...).
    pub fn plf(&self, word: impl Fn(Label) -> Result<String>) -> Result<String> {
        let mut out = String::from("(");
        for bin in &self.bins {
            out.push('(');
            for &(label, p) in bin {
                let name = if label == EPSILON { PLF_NOTHING.into() } else { word(label)? };
                out.push_str("('");
                out.push_str(&name.replace('\\', "\\\\").replace('\'', "\\'"));
                out.push_str("',");
                write_g(&mut out, p, 6);
                out.push_str(",1),");
            }
            out.push_str("),");
        }
        out.push_str(")\n");
        Ok(out)
    }
}
