//! The fewest edits found by shifting phrases of the hypothesis as long as that helps.
//!
//! Tercom's greedy search with the limits of sacreBLEU: phrases of at most 10 words, moved at most 50 words, at most 1000 shifts
//! tried a sentence; edit distances along a beam of 25 around the diagonal. Among shifts that save most edits the longest, then
//! the first, then the one to the first place is taken. A shift that is tried costs the rows of the distance matrix from the first
//! word that changed on; only the cells of the beam are kept.

/// Words of a phrase that is moved, at most.
const MAX_SHIFT_SIZE: usize = 10;
/// How far a phrase is moved, at most.
const MAX_SHIFT_DIST: usize = 50;
const BEAM_WIDTH: usize = 25;
/// Shifts tried, at most.
const MAX_SHIFT_CANDIDATES: usize = 1000;

const INFINITY: u32 = u32::MAX / 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    /// The same word, or another in its place.
    Keep,
    Substitute,
    /// A word of the reference that the hypothesis lacks.
    Insert,
    /// A word of the hypothesis too many.
    Delete,
}

/// Memory that is kept from sentence to sentence.
#[derive(Default)]
pub struct Edits {
    hyp: Vec<u32>,
    shifted: Vec<u32>,
    best: Vec<u32>,
    /// Distances of the beginnings of `hyp` from those of the reference, and the same for a hypothesis that is tried.
    matrix: Vec<u32>,
    tried: Vec<u32>,
    /// The operations from the end to the beginning.
    trace: Vec<Op>,
    /// For every word of the reference, one more than the place of the word of the hypothesis that it follows or is.
    align: Vec<usize>,
    ref_errors: Vec<bool>,
    hyp_errors: Vec<bool>,
}

/// A shift that was tried. Later fields decide where earlier ones are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    saved: i64,
    length: usize,
    start: std::cmp::Reverse<usize>,
    target: std::cmp::Reverse<usize>,
}

impl Edits {
    /// How many edits it takes to make `hyp` of `reference`.
    pub fn count(&mut self, hyp: &[u32], reference: &[u32]) -> u64 {
        if reference.is_empty() || hyp == reference {
            return if reference.is_empty() { hyp.len() as u64 } else { 0 };
        }
        self.hyp.clear();
        self.hyp.extend_from_slice(hyp);
        let beam = Beam::new(hyp.len(), reference.len());
        for matrix in [&mut self.matrix, &mut self.tried] {
            matrix.clear();
            matrix.resize(beam.cells(), INFINITY);
        }
        let mut distance = beam.rows(&self.hyp, reference, 0, &mut self.matrix);
        let (mut shifts, mut candidates) = (0, 0);
        loop {
            let saved = self.shift(reference, &beam, distance, &mut candidates);
            if candidates >= MAX_SHIFT_CANDIDATES || saved <= 0 {
                return shifts + distance as u64;
            }
            shifts += 1;
            let same = self.hyp.iter().zip(&self.best).take_while(|(a, b)| a == b).count();
            std::mem::swap(&mut self.hyp, &mut self.best);
            distance = beam.rows(&self.hyp, reference, same, &mut self.matrix);
        }
    }

    /// Puts the best shift of `hyp` into `best` and says how many edits it saves.
    fn shift(&mut self, reference: &[u32], beam: &Beam, distance: u32, candidates: &mut usize) -> i64 {
        beam.trace(&self.hyp, reference, &self.matrix, &mut self.trace);
        self.align();
        let mut best: Option<Candidate> = None;
        // Rows of `tried` up to this one are those of `matrix`.
        let mut dirty = 0;
        'search: for start in 0..self.hyp.len() {
            let near = start.saturating_sub(MAX_SHIFT_DIST)..(start + MAX_SHIFT_DIST + 1).min(reference.len());
            for to in near {
                let most = MAX_SHIFT_SIZE.min(self.hyp.len() - start).min(reference.len() - to);
                for length in 1..=most {
                    if self.hyp[start + length - 1] != reference[to + length - 1] {
                        break;
                    }
                    // Only words that are wrong where they are, to places that are wrong; not into the phrase itself.
                    if !self.hyp_errors[start..start + length].contains(&true)
                        || !self.ref_errors[to..to + length].contains(&true)
                        || (start + 1..=start + length).contains(&self.align[to])
                    {
                        continue;
                    }
                    let mut before = None;
                    for at in to..=to + length {
                        let target = if at == 0 { 0 } else { self.align[at - 1] };
                        if before.replace(target) == Some(target) {
                            continue;
                        }
                        perform(&self.hyp, start, length, target, &mut self.shifted);
                        // Rows of the words before the change stay as they are.
                        let from = start.min(target);
                        if dirty < from {
                            let cells = dirty * beam.stride..from * beam.stride;
                            self.tried[cells.clone()].copy_from_slice(&self.matrix[cells]);
                        }
                        let new = beam.rows(&self.shifted, reference, from, &mut self.tried);
                        dirty = from;
                        *candidates += 1;
                        let saved = distance as i64 - new as i64;
                        let (start, target) = (std::cmp::Reverse(start), std::cmp::Reverse(target));
                        let candidate = Candidate { saved, length, start, target };
                        if best.is_none_or(|b| candidate > b) {
                            best = Some(candidate);
                            self.best.clone_from(&self.shifted);
                        }
                    }
                    if *candidates >= MAX_SHIFT_CANDIDATES {
                        break 'search;
                    }
                }
            }
        }
        best.map_or(0, |b| b.saved)
    }

    /// What the trace says of words: where those of the reference are, and which ones are wrong.
    fn align(&mut self) {
        self.align.clear();
        self.ref_errors.clear();
        self.hyp_errors.clear();
        for &op in self.trace.iter().rev() {
            let wrong = op != Op::Keep;
            if op != Op::Insert {
                self.hyp_errors.push(wrong);
            }
            if op != Op::Delete {
                self.align.push(self.hyp_errors.len());
                self.ref_errors.push(wrong);
            }
        }
    }
}

/// The words with `length` of them, from `start` on, moved to `target`.
fn perform(words: &[u32], start: usize, length: usize, target: usize, out: &mut Vec<u32>) {
    out.clear();
    let (end, phrase) = (start + length, &words[start..start + length]);
    let parts: [&[u32]; 4] = if target < start {
        [&words[..target], phrase, &words[target..start], &words[end..]]
    } else if target > end {
        [&words[..start], &words[end..target], phrase, &words[target..]]
    } else {
        // Behind as many words as the target is words into the phrase, or as there are.
        let until = (target + length).min(words.len());
        [&words[..start], &words[end.min(until)..until], phrase, &words[until..]]
    };
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Which cells of a distance matrix are computed, and where they lie: row i, from 1, has those from `low(i)` on at
/// (i - 1) * stride. Row 0 is not kept: its cell j is j.
struct Beam {
    rows: usize,
    columns: usize,
    ratio: f64,
    width: usize,
    stride: usize,
}

impl Beam {
    fn new(hyp: usize, reference: usize) -> Self {
        let ratio = if hyp == 0 { 1.0 } else { reference as f64 / hyp as f64 };
        // Lengths so different that neighbouring rows would not overlap.
        let wide = (BEAM_WIDTH as f64) < ratio / 2.0;
        let width = if wide { (ratio / 2.0 + BEAM_WIDTH as f64).ceil() as usize } else { BEAM_WIDTH };
        let mut beam = Beam { rows: hyp, columns: reference + 1, ratio, width, stride: 0 };
        // The last row goes on to the end.
        let (low, high) = beam.range(hyp);
        beam.stride = (high - low).max(2 * width).min(beam.columns);
        beam
    }

    fn cells(&self) -> usize {
        self.rows * self.stride
    }

    /// The first cell of row `i` and the one behind the last.
    fn range(&self, i: usize) -> (usize, usize) {
        let diagonal = (i as f64 * self.ratio).floor() as usize;
        let high = if i == self.rows { self.columns } else { self.columns.min(diagonal + self.width) };
        (diagonal.saturating_sub(self.width), high)
    }

    /// Computes the rows behind `from` words. The distance of all words.
    fn rows(&self, hyp: &[u32], reference: &[u32], from: usize, matrix: &mut [u32]) -> u32 {
        let mut above_range = if from == 0 { (0, self.columns) } else { self.range(from) };
        for i in from + 1..=self.rows {
            let (low, high) = self.range(i);
            let (done, rest) = matrix.split_at_mut((i - 1) * self.stride);
            let above = &done[done.len().saturating_sub(self.stride)..];
            let cell = |j: usize| match above_range {
                _ if i == 1 => j as u32,
                (low, high) if low <= j && j < high => above[j - low],
                _ => INFINITY,
            };
            let word = hyp[i - 1];
            let (mut corner, mut left) = (if low == 0 { INFINITY } else { cell(low - 1) }, INFINITY);
            for (j, place) in (low..high).zip(rest) {
                let up = cell(j);
                let kept = if j == 0 { INFINITY } else { corner + u32::from(word != reference[j - 1]) };
                left = kept.min(up + 1).min(left + 1).min(INFINITY);
                *place = left;
                corner = up;
            }
            above_range = (low, high);
        }
        self.cell(matrix, self.rows, self.columns - 1)
    }

    fn cell(&self, matrix: &[u32], i: usize, j: usize) -> u32 {
        if i == 0 {
            return j as u32;
        }
        let (low, high) = self.range(i);
        if (low..high).contains(&j) { matrix[(i - 1) * self.stride + j - low] } else { INFINITY }
    }

    /// The operations, last first. Keeping or replacing a word comes before deleting, and that before inserting.
    fn trace(&self, hyp: &[u32], reference: &[u32], matrix: &[u32], trace: &mut Vec<Op>) {
        trace.clear();
        let (mut i, mut j) = (self.rows, self.columns - 1);
        let cell = |i: usize, j: usize| self.cell(matrix, i, j);
        while i > 0 || j > 0 {
            let here = cell(i, j);
            let same = i > 0 && j > 0 && hyp[i - 1] == reference[j - 1];
            let op = if i == 0 {
                Op::Insert
            } else if j == 0 {
                Op::Delete
            } else if cell(i - 1, j - 1) + u32::from(!same) == here {
                if same { Op::Keep } else { Op::Substitute }
            } else if cell(i - 1, j) + 1 == here {
                Op::Delete
            } else {
                Op::Insert
            };
            trace.push(op);
            i -= usize::from(op != Op::Insert);
            j -= usize::from(op != Op::Delete);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    /// The edit distance with the whole matrix.
    fn distance(a: &[u32], b: &[u32]) -> u64 {
        let mut row: Vec<u64> = (0..=b.len() as u64).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i as u64 + 1;
            for (j, y) in b.iter().enumerate() {
                let cost = (corner + u64::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                corner = std::mem::replace(&mut row[j + 1], cost);
            }
        }
        row[b.len()]
    }

    /// The greedy search as its definition has it: every shift from scratch, with lists that are copied.
    fn naive(hyp: &[u32], reference: &[u32]) -> u64 {
        if reference.is_empty() {
            return hyp.len() as u64;
        }
        let beam = Beam::new(hyp.len(), reference.len());
        let fresh = |words: &[u32]| {
            let mut matrix = vec![INFINITY; beam.cells()];
            let d = beam.rows(words, reference, 0, &mut matrix);
            (d, matrix)
        };
        let (mut words, mut shifts, mut tried) = (hyp.to_vec(), 0, 0);
        loop {
            let (before, matrix) = fresh(&words);
            let mut edits = Edits::default();
            beam.trace(&words, reference, &matrix, &mut edits.trace);
            edits.align();
            let mut best: Option<(i64, usize, i64, i64, Vec<u32>)> = None;
            'all: for start in 0..words.len() {
                for to in 0..reference.len() {
                    if start.abs_diff(to) > MAX_SHIFT_DIST {
                        continue;
                    }
                    for length in 1..=MAX_SHIFT_SIZE {
                        let (end, until) = (start + length, to + length);
                        if end > words.len() || until > reference.len() || words[start..end] != reference[to..until] {
                            break;
                        }
                        let within = (start as i64..end as i64).contains(&(edits.align[to] as i64 - 1));
                        if edits.hyp_errors[start..end].iter().all(|e| !e)
                            || edits.ref_errors[to..until].iter().all(|e| !e)
                            || within
                        {
                            continue;
                        }
                        let mut last = -1;
                        for offset in -1..length as i64 {
                            let at = to as i64 + offset;
                            let target = if at == -1 { 0 } else { edits.align[at as usize] as i64 };
                            if target == last {
                                continue;
                            }
                            last = target;
                            let mut moved = vec![];
                            perform(&words, start, length, target as usize, &mut moved);
                            assert_eq!(moved.len(), words.len());
                            let saved = before as i64 - fresh(&moved).0 as i64;
                            tried += 1;
                            let candidate = (saved, length, -(start as i64), -target, moved);
                            if best.as_ref().is_none_or(|b| candidate > *b) {
                                best = Some(candidate);
                            }
                        }
                        if tried >= MAX_SHIFT_CANDIDATES {
                            break 'all;
                        }
                    }
                }
            }
            match best {
                Some((saved, _, _, _, moved)) if saved > 0 && tried < MAX_SHIFT_CANDIDATES => {
                    words = moved;
                    shifts += 1;
                }
                _ => return shifts + before as u64,
            }
        }
    }

    /// The beam over a whole matrix, as its definition has it.
    fn beam_distance(hyp: &[u32], reference: &[u32]) -> u32 {
        let beam = Beam::new(hyp.len(), reference.len());
        let mut matrix = vec![vec![INFINITY; beam.columns]; hyp.len() + 1];
        (0..).zip(&mut matrix[0]).for_each(|(j, cell)| *cell = j);
        for i in 1..=hyp.len() {
            let middle = (i as f64 * beam.ratio).floor() as i64;
            let width = beam.width as i64;
            let high = if i == hyp.len() { beam.columns as i64 } else { (beam.columns as i64).min(middle + width) };
            for j in (middle - width).max(0) as usize..high as usize {
                let mut best = matrix[i - 1][j] + 1;
                if j > 0 {
                    best = best.min(matrix[i - 1][j - 1] + u32::from(hyp[i - 1] != reference[j - 1]));
                    best = best.min(matrix[i][j - 1] + 1);
                }
                matrix[i][j] = best.min(INFINITY);
            }
        }
        matrix[hyp.len()][beam.columns - 1]
    }

    #[test]
    fn the_beam_is_its_definition() {
        let mut rng = SmallRng::seed_from_u64(6);
        for (hyp, reference) in
            [(0, 9), (1, 1), (1, 60), (1, 200), (3, 151), (60, 1), (80, 75), (200, 30), (40, 200), (90, 91)]
        {
            for _ in 0..20 {
                let mut words = |n: usize| -> Vec<u32> { (0..n).map(|_| rng.random_range(1..9)).collect() };
                let (h, r) = (words(hyp), words(reference));
                let beam = Beam::new(h.len(), r.len());
                let got = beam.rows(&h, &r, 0, &mut vec![INFINITY; beam.cells()]);
                assert_eq!(got, beam_distance(&h, &r), "{hyp} {reference}");
            }
        }
    }

    #[test]
    fn the_search_is_its_definition() {
        let mut rng = SmallRng::seed_from_u64(5);
        let mut edits = Edits::default();
        for round in 0..1200 {
            let (most, words) = [(8, 3), (14, 8), (20, 12), (if round % 80 == 3 { 70 } else { 24 }, 9)][round % 4];
            let reference: Vec<u32> = (0..rng.random_range(0..most)).map(|_| rng.random_range(1..=words)).collect();
            let mut hyp = reference.clone();
            for _ in 0..rng.random_range(0..5) {
                if hyp.len() > 2 {
                    let cut = rng.random_range(1..hyp.len());
                    hyp.rotate_left(cut);
                    let at = rng.random_range(0..hyp.len());
                    hyp[at] = rng.random_range(1..=words);
                    hyp.remove(rng.random_range(0..at + 1));
                }
            }
            if round % 7 == 0 {
                hyp = (0..rng.random_range(0..most)).map(|_| rng.random_range(1..=words)).collect();
            }
            let got = edits.count(&hyp, &reference);
            assert_eq!(got, naive(&hyp, &reference), "{hyp:?} {reference:?}");
            // Shifts are taken only where they help.
            assert!(got <= distance(&hyp, &reference) || hyp.len().max(reference.len()) > BEAM_WIDTH);
        }
    }

    #[test]
    fn lengths_that_are_far_apart() {
        let mut edits = Edits::default();
        let long: Vec<u32> = (1..=2000).collect();
        // sacreBLEU 2.6.0's answers: the beam does not reach a word so far from the diagonal.
        assert_eq!(edits.count(&[7], &long), 2000);
        assert_eq!(edits.count(&[1000], &long), 1999);
        assert_eq!(edits.count(&long, &[7]), 1999);
        assert_eq!(edits.count(&[7], &long[..200]), 200);
        assert_eq!(edits.count(&[100, 150], &long[..200]), 198);
        assert_eq!(edits.count(&long[..200], &[100, 150]), 198);
        assert_eq!(edits.count(&[], &long), 2000);
        assert_eq!(edits.count(&long, &[]), 2000);
        assert_eq!(edits.count(&long, &long), 0);
    }
}
