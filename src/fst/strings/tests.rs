use super::*;
use rand::{Rng, SeedableRng, rngs::SmallRng};

type Twin<T> = Vec<(T, Vec<Label>)>;

fn pick<T: Copy>(all: &Twin<T>, rng: &mut SmallRng) -> (T, Vec<Label>) {
    all[rng.random_range(0..all.len())].clone()
}

/// Base 1 takes the sum of the labels as hash: most comparisons then meet a collision.
fn bases() -> impl Iterator<Item = Lists> {
    (0..100).map(|i| if i % 2 == 0 { Lists::default() } else { Lists::with_base(1) })
}

#[test]
fn strings_against_vectors() {
    let mut rng = SmallRng::seed_from_u64(3);
    for lists in bases() {
        let mut strings = Strings::over(lists);
        let mut all: Twin<StringId> = vec![(EMPTY, vec![])];
        for _ in 0..rng.random_range(1..60) {
            let ((a, mut v), (b, w)) = (pick(&all, &mut rng), pick(&all, &mut rng));
            let label = rng.random_range(1..3);
            let id = match rng.random_range(0..6) {
                0 | 1 => {
                    v.push(label);
                    strings.append(a, label)
                }
                2 => {
                    v.insert(0, label);
                    let view = strings.lists.push_front(label, strings.view(a));
                    strings.intern(view)
                }
                3 if v.len() + w.len() < 500 => {
                    v.extend(w);
                    strings.concat(a, b)
                }
                4 => {
                    let k = rng.random_range(0..=v.len());
                    v.truncate(k);
                    let view = strings.lists.take_front(strings.view(a), k as u32);
                    strings.intern(view)
                }
                _ => {
                    assert_eq!(strings.first(a), v.first().copied().unwrap_or(EPSILON));
                    v = v.get(1..).unwrap_or(&[]).to_vec();
                    strings.rest(a)
                }
            };
            all.push((id, v));
        }
        for (a, v) in &all {
            assert_eq!(&strings.labels(*a), v);
            assert_eq!(strings.len(*a) as usize, v.len());
            for (b, w) in &all {
                assert_eq!(a == b, v == w);
                assert_eq!(strings.military(*a, *b), v.len().cmp(&w.len()).then_with(|| v.cmp(w)));
            }
        }
    }
}

#[test]
fn views_against_vectors() {
    let mut rng = SmallRng::seed_from_u64(4);
    for mut lists in bases() {
        let mut all: Twin<View> = vec![(View::EMPTY, vec![])];
        for _ in 0..rng.random_range(1..40) {
            let (mut a, mut v) = pick(&all, &mut rng);
            // Long strings of one label with few others, so that beginnings are long.
            for _ in 0..rng.random_range(0..100) {
                let label = if rng.random_bool(0.02) { 2 } else { 1 };
                if rng.random_bool(0.5) {
                    a = lists.push_front(label, a);
                    v.insert(0, label);
                } else {
                    a = lists.push_back(a, label);
                    v.push(label);
                }
            }
            let k = rng.random_range(0..=v.len());
            if rng.random_bool(0.2) {
                a = lists.drop_front(a, k as u32);
                v.drain(..k);
            } else if rng.random_bool(0.2) {
                a = a.reversed();
                v.reverse();
            }
            all.push((a, v));
        }
        for (a, v) in &all {
            let mut read = vec![];
            lists.read(*a, &mut read);
            assert_eq!(&read, v);
            assert!((0..v.len()).step_by(7).all(|i| lists.get(*a, i as u32) == v[i]));
            for (b, w) in &all {
                let shared = |w: &[Label]| v.iter().zip(w).take_while(|(p, q)| p == q).count() as u32;
                assert_eq!(lists.common(*a, *b), shared(w));
                assert_eq!(lists.hash(*a) == lists.hash(*b) && lists.equal(*a, *b), v == w);
                let more = [&[1], &w[..]].concat();
                assert_eq!(lists.common_with(*a, 1, *b).len(), shared(&more));
                let cut = (w.len() / 2) as u32;
                let (d, mut read) = (lists.divided(1, *b, cut), vec![]);
                lists.read(d, &mut read);
                assert_eq!(read, more[cut as usize..]);
            }
        }
    }
}

/// Every step here would take the length of the string if strings were copied or compared label by label.
#[test]
fn long_strings() {
    let n = 10_000;
    let mut strings = Strings::default();
    let label = |i: u32| 1 + (i % 3) as Label;
    // Two equal lists, and the beginnings that their ends share.
    let (mut a, mut b) = (View::EMPTY, View::EMPTY);
    for i in 0..n {
        a = strings.lists.push_front(label(i), a);
        b = strings.lists.push_front(label(i), b);
        assert_eq!(strings.lists.common(a, b), i + 1);
    }
    // A queue as long as that, one label in and one out.
    let mut queue = strings.intern(a);
    for i in 0..n {
        assert_eq!(strings.first(queue), label(n - 1 - i));
        queue = strings.rest(queue);
        queue = strings.append(queue, label(n - 1 - i));
    }
    assert_eq!(queue, strings.intern(b));
    // The same string and its beginnings from the other side.
    let back = (0..n).rev().fold(View::EMPTY, |view, i| strings.lists.push_back(view, label(i)));
    assert_eq!(strings.intern(back), queue);
    for k in (0..n).step_by(5) {
        let (x, y) = (strings.lists.take_front(back, k), strings.lists.take_front(a, k));
        assert_eq!(strings.intern(x), strings.intern(y));
    }
}
