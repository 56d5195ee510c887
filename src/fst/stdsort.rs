//! Sorting as C++'s standard library does it (libstdc++'s `std::sort`), to the order of equals: automata that OpenFst
//! sorted and ours are then the same arc by arc.
//!
//! Introsort: quicksort with the median of three, heapsort where that goes too deep, insertion for runs up to 16.
//! O(n log n). Up to 16 items it is stable. Where no two keys are equal any sort gives the same, and a faster one is taken.

/// Runs of up to this many items are left to insertion.
const SMALL: usize = 16;

/// Sorts by a key, equals in the order in which `std::sort` leaves them. `spare` is memory for large runs with equals.
pub(crate) fn sort_by_key<T: Copy, K: Ord>(items: &mut [T], spare: &mut Vec<T>, key: impl Fn(&T) -> K) {
    if items.len() <= SMALL {
        return items.sort_by_key(key);
    }
    if items.is_sorted_by(|a, b| key(a) < key(b)) {
        return;
    }
    spare.clear();
    spare.extend_from_slice(items);
    items.sort_by_key(&key);
    if items.windows(2).any(|pair| key(&pair[0]) == key(&pair[1])) {
        items.copy_from_slice(spare);
        std_sort(items, &|a, b| key(a) < key(b));
    }
}

fn std_sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    quicksort(items, 2 * items.len().ilog2(), less);
    // All are now within their runs of at most 16; the least is in the first.
    for i in 1..items.len() {
        let item = items[i];
        if i < SMALL && less(&item, &items[0]) {
            items.copy_within(0..i, 1);
            items[0] = item;
            continue;
        }
        let mut hole = i;
        while less(&item, &items[hole - 1]) {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = item;
    }
}

fn quicksort<T: Copy>(mut items: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) {
    while items.len() > SMALL {
        if depth == 0 {
            return heapsort(items, less);
        }
        depth -= 1;
        let cut = partition(items, less);
        let (left, right) = items.split_at_mut(cut);
        quicksort(right, depth, less);
        items = left;
    }
}

/// Puts the median of the second, the middle and the last item in front, and divides the others by it.
fn partition<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let below = |x: usize, y: usize| less(&items[x], &items[y]);
    let median = match (below(a, b), below(b, c), below(a, c)) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    items.swap(0, median);
    let pivot = items[0];
    let (mut first, mut last) = (1, items.len());
    loop {
        while less(&items[first], &pivot) {
            first += 1;
        }
        last -= 1;
        while less(&pivot, &items[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

fn heapsort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for parent in (0..items.len() / 2).rev() {
        adjust(items, parent, items[parent], less);
    }
    for last in (1..items.len()).rev() {
        let item = items[last];
        items[last] = items[0];
        adjust(&mut items[..last], 0, item, less);
    }
}

/// Lets the hole sink to a leaf, and `item` rise from there.
fn adjust<T: Copy>(items: &mut [T], top: usize, item: T, less: &impl Fn(&T, &T) -> bool) {
    let len = items.len();
    let mut hole = top;
    while 2 * hole + 2 < len {
        let (left, right) = (2 * hole + 1, 2 * hole + 2);
        let child = if less(&items[right], &items[left]) { left } else { right };
        items[hole] = items[child];
        hole = child;
    }
    if 2 * hole + 2 == len {
        items[hole] = items[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    while hole > top && less(&items[(hole - 1) / 2], &item) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: u64, keys: u64, seed: u64) -> Vec<(u64, u64)> {
        let mut x = seed;
        (0..n)
            .map(|i| {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((x >> 33) % keys, i)
            })
            .collect()
    }
    /// A number for an order.
    fn digest(items: &[(u64, u64)]) -> u64 {
        items.iter().fold(0, |h: u64, &(_, i)| h.wrapping_mul(1_000_003).wrapping_add(i + 1))
    }

    #[test]
    fn everything_is_there_and_in_order() {
        let mut spare = vec![];
        for n in (0..70).chain([100, 1000, 5000]) {
            for keys in [1, 2, 5, 50, u64::MAX] {
                let given = numbers(n, keys, n.wrapping_add(keys));
                let mut sorted = given.clone();
                sort_by_key(&mut sorted, &mut spare, |x| x.0);
                assert!(sorted.is_sorted_by_key(|x| x.0), "{n} {keys}");
                let mut all = sorted.clone();
                all.sort_by_key(|x| x.1);
                assert_eq!(all, given);
                let mut heap = given.clone();
                heapsort(&mut heap, &|a, b| a.0 < b.0);
                assert!(heap.is_sorted_by_key(|x| x.0), "{n} {keys}");
            }
        }
    }

    /// Orders of equals as g++ 12's `std::sort` and `std::partial_sort` leave them.
    #[test]
    fn equals_are_where_the_standard_library_has_them() {
        let mut spare = vec![];
        for (n, keys, seed, sorted, heaped) in RECORDED {
            let mut items = numbers(n, keys, seed);
            sort_by_key(&mut items, &mut spare, |x| x.0);
            assert_eq!(digest(&items), sorted, "{n} {keys} {seed}");
            let mut items = numbers(n, keys, seed);
            heapsort(&mut items, &|a, b| a.0 < b.0);
            assert_eq!(digest(&items), heaped, "{n} {keys} {seed}");
        }
    }

    const RECORDED: [(u64, u64, u64, u64, u64); 8] = [
        (17, 3, 1, 8646126134121972325, 17176573890075597229),
        (33, 4, 2, 17648430416067332717, 7378321884678625325),
        (64, 10, 3, 1618366706130411522, 14716953978146454142),
        (100, 2, 4, 5757972567095193196, 10427943885924491898),
        (500, 7, 5, 16353136066795156418, 12081886963015316360),
        (1000, 900, 6, 3008218146035159752, 9625241784040511590),
        (3000, 1, 7, 9645814955679240068, 14008567266929644188),
        (5000, 50, 8, 4969914178773583982, 6636163213727237468),
    ];
}
