//! Records: n-grams with what is known of them, as rows of u32 of one width.
//!
//! A row begins with its words and ends with two or three numbers (a count in two halves; later a probability and
//! weights). Words stand so that plain lexicographic order is the order wanted: in *suffix order* last word first
//! (`w_n w_{n-1} ... w_1`), in *context order* the last word after the others (`w_{n-1} ... w_1 w_n`).

/// The longest row that can be sorted.
pub const MAX_WIDTH: usize = 16;

/// The bit of a count that says: will be pruned.
pub const PRUNED: u64 = 1 << 63;

/// In place of the weight of the lower order: this row is pruned. (Not a number, so never a weight.)
pub const DROPPED: u32 = u32::MAX;

/// A count from its two halves.
#[inline]
pub fn count(halves: &[u32]) -> u64 {
    halves[0] as u64 | (halves[1] as u64) << 32
}

#[inline]
pub fn set_count(halves: &mut [u32], count: u64) {
    halves[0] = count as u32;
    halves[1] = (count >> 32) as u32;
}

/// Puts rows in suffix order so that sorting them gives context order.
pub fn turn(data: &mut [u32], width: usize) {
    for row in data.chunks_exact_mut(width) {
        row[..width - 2].rotate_left(1);
    }
}

/// Sorts rows of `width` numbers with all threads. No two may have the same words.
pub fn sort(data: &mut [u32], width: usize) {
    quicksort(data, width, 0, true);
}

/// As `sort`, with this thread only.
pub fn sort_alone(data: &mut [u32], width: usize) {
    quicksort(data, width, 0, false);
}

/// Rows that are sorted by insertion.
const FEW: usize = 24;
/// Rows that are worth another thread.
const MANY: usize = 1 << 14;

/// Multikey quicksort (Bentley and Sedgewick 1997) on two columns at a time: in place, and what many rows have in common
/// is looked at once. One piece of code for all widths.
fn quicksort(mut data: &mut [u32], width: usize, mut column: usize, parallel: bool) {
    while data.len() > FEW * width {
        let pivot = pivot(data, width, column);
        let low = partition(data, width, column, |key| key < pivot);
        let (less, rest) = data.split_at_mut(low * width);
        let same = partition(rest, width, column, |key| key == pivot);
        let (same, more) = rest.split_at_mut(same * width);
        let next = column + 2;
        if parallel && less.len() + more.len() + same.len() > MANY * width {
            rayon::join(
                || quicksort(less, width, column, true),
                || {
                    rayon::join(
                        || quicksort(more, width, column, true),
                        || {
                            if next < width {
                                quicksort(same, width, next, true)
                            }
                        },
                    )
                },
            );
            return;
        }
        // The largest part last, in this loop: the stack stays short.
        let mut parts = [(less, column), (same, next), (more, column)];
        parts.sort_unstable_by_key(|(part, _)| part.len());
        let [small, middle, large] = parts;
        for (part, column) in [small, middle] {
            if column < width {
                quicksort(part, width, column, parallel);
            }
        }
        (data, column) = large;
        if column >= width {
            return;
        }
    }
    insertion(data, width, column);
}

#[inline]
fn key(row: &[u32], column: usize) -> u64 {
    (row[column] as u64) << 32 | row.get(column + 1).copied().unwrap_or(0) as u64
}

/// The middle one of nine keys.
fn pivot(data: &[u32], width: usize, column: usize) -> u64 {
    let rows = data.len() / width;
    let mut keys = [0; 9];
    for (i, k) in keys.iter_mut().enumerate() {
        let at = (rows - 1) * i / 8 * width;
        *k = key(&data[at..at + width], column);
    }
    keys.sort_unstable();
    keys[4]
}

/// Moves the rows whose keys are wanted to the front; says how many they are.
#[inline]
fn partition(data: &mut [u32], width: usize, column: usize, wanted: impl Fn(u64) -> bool) -> usize {
    let (mut i, mut j) = (0, data.len() / width);
    loop {
        while i < j && wanted(key(&data[i * width..(i + 1) * width], column)) {
            i += 1;
        }
        while i < j && !wanted(key(&data[(j - 1) * width..j * width], column)) {
            j -= 1;
        }
        if i >= j {
            return i;
        }
        j -= 1;
        let (left, right) = data.split_at_mut(j * width);
        left[i * width..(i + 1) * width].swap_with_slice(&mut right[..width]);
        i += 1;
    }
}

fn insertion(data: &mut [u32], width: usize, column: usize) {
    let mut row = [0; MAX_WIDTH];
    let row = &mut row[..width];
    for i in (width..data.len()).step_by(width) {
        let mut j = i;
        while j > 0 && data[i + column..i + width] < data[j - width + column..j] {
            j -= width;
        }
        if j < i {
            row.copy_from_slice(&data[i..i + width]);
            data.copy_within(j..i, j + width);
            data[j..j + width].copy_from_slice(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn sorts_like_the_library() {
        let mut rng = SmallRng::seed_from_u64(1);
        for (rows, width, words) in [(0, 3, 9), (1, 3, 9), (30, 1, 5), (500, 4, 3), (3000, 7, 2), (50_000, 5, 40)] {
            let mut data: Vec<u32> = (0..rows * width).map(|_| rng.random_range(0..words)).collect();
            let mut expected: Vec<Vec<u32>> = data.chunks(width).map(<[u32]>::to_vec).collect();
            expected.sort();
            let mut alone = data.clone();
            sort(&mut data, width);
            sort_alone(&mut alone, width);
            assert_eq!(data, expected.concat());
            assert_eq!(alone, data);
        }
        let mut down: Vec<u32> = (0..100_000).rev().collect();
        sort(&mut down, 1);
        assert!(down.is_sorted());
    }
}
