//! How good an order of words is, given word alignments: Kendall tau and crossing links.
//!
//! An order is a list of source positions: what stands first in the new sentence, what second, and so on.
//!
//! **Kendall tau** as in Stanojević and Sima'an 2015 ("Reordering Grammar Induction"). Section 4.1: "Gold reorderings for the test corpus
//! are obtained by sorting words by their average target position and (unaligned words follow their right neighboring word)"; section 3.3: the
//! loss "is a ratio of wrongly ordered pairs of words (including gapped pairs) to the total number of pairs", and 4.1 uses it as a
//! score: 1 less the loss, the share of pairs in the right order. Where the paper is silent: words with the same average keep their
//! order; an unaligned word stands directly before its right neighbour, with it; those behind the last aligned word stand with
//! that; a sentence of one word has score 1; the corpus has the mean over sentences.
//!
//! **Crossing links** as in Jehl et al. 2014 ("Source-side Preordering for Translation using Logistic Regression and Depth-first
//! Branch-and-Bound Search"). Section 3: cs(a, b) := |{(i, j) ∈ A_a × A_b : i > j}|, where A_a and A_b are the target positions that
//! a and b are aligned to, a before b; here a and b are words, and all pairs are added up. Section 4.3: the score of a corpus is the mean over
//! sentences (the paper's 22.2 for English-Japanese as it stands), and what an order leaves of it is given in percent (Table 1).
//!
//! Both cost n log n for n words or links.

use crate::error::{Error, Result};
use crate::text::align::{self, Link};

/// How many pairs (i, j), i before j, have values[i] < values[j].
pub fn ascending_pairs(values: &[u32]) -> u64 {
    let pairs = values.len() as u64 * (values.len() as u64).saturating_sub(1) / 2;
    let mut up = values.to_vec();
    up.reverse();
    let mut other = up.clone();
    // Pairs that do not ascend are inversions or equal in the reversed list.
    pairs - not_descending(&mut up, &mut other)
}

/// Sorts `values`; says how many pairs (i, j), i before j, have values[i] <= values[j].
fn not_descending(values: &mut [u32], other: &mut [u32]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let (other_left, other_right) = other.split_at_mut(middle);
    let mut count = not_descending(left, other_left) + not_descending(right, other_right);
    let (mut i, mut j) = (0, 0);
    for place in other.iter_mut() {
        if j == right.len() || i < left.len() && left[i] <= right[j] {
            // All that is left on the right is as large or larger.
            count += (right.len() - j) as u64;
            *place = left[i];
            i += 1;
        } else {
            *place = right[j];
            j += 1;
        }
    }
    values.copy_from_slice(other);
    count
}

/// The order that an alignment asks for. Links must lie within the words.
pub fn gold(links: &[Link], words: usize) -> Vec<u32> {
    let mut sums = vec![(0u64, 0u64); words];
    for &(s, t) in links {
        let (sum, count) = &mut sums[s as usize];
        *sum += t as u64;
        *count += 1;
    }
    // An unaligned word has the average of the next aligned one; at the end, of the last.
    let mut next = sums.iter().rev().find(|s| s.1 > 0).copied().unwrap_or((0, 1));
    for sum in sums.iter_mut().rev() {
        if sum.1 == 0 {
            *sum = next;
        }
        next = *sum;
    }
    let mut order: Vec<u32> = (0..words as u32).collect();
    // Averages compared as fractions: exact. The sort is stable.
    order.sort_by(|&a, &b| {
        let ((x, m), (y, n)) = (sums[a as usize], sums[b as usize]);
        (x as u128 * n as u128).cmp(&(y as u128 * m as u128))
    });
    order
}

/// Pairs of words of a sentence, and how many of them are in the wrong order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kendall {
    pub wrong: u64,
    pub pairs: u64,
}

impl Kendall {
    /// `order` against `gold`: both permutations of as many words.
    pub fn of(order: &[u32], gold: &[u32]) -> Self {
        let mut place = vec![0; gold.len()];
        (0..).zip(gold).for_each(|(i, &word)| place[word as usize] = i);
        let places: Vec<u32> = order.iter().map(|&word| place[word as usize]).collect();
        let pairs = order.len() as u64 * (order.len() as u64).saturating_sub(1) / 2;
        Kendall { wrong: pairs - ascending_pairs(&places), pairs }
    }

    /// The share of pairs in the right order; 1 where there are none.
    pub fn score(&self) -> f64 {
        if self.pairs == 0 { 1.0 } else { 1.0 - self.wrong as f64 / self.pairs as f64 }
    }
}

/// How many pairs of links cross when the source words stand in `order`.
pub fn crossing(order: &[u32], links: &[Link]) -> u64 {
    let mut place = vec![0; order.len()];
    (0..).zip(order).for_each(|(i, &word)| place[word as usize] = i);
    let mut moved: Vec<(u32, u32)> = links.iter().map(|&(s, t)| (place[s as usize], t as u32)).collect();
    moved.sort_unstable();
    // Links of one word ascend and do not cross; links to one word are equal and do not either.
    let mut targets: Vec<u32> = moved.iter().map(|&(_, t)| t).collect();
    let pairs = targets.len() as u64 * (targets.len() as u64).saturating_sub(1) / 2;
    let mut other = targets.clone();
    pairs - not_descending(&mut targets, &mut other)
}

/// Reads an order: every number from 0 to n - 1 once.
pub fn parse_order((file, number): (&str, usize), line: &str, order: &mut Vec<u32>) -> Result<()> {
    order.clear();
    let words = align::words(line).count();
    let mut seen = vec![false; words];
    for token in align::words(line) {
        let error = |message: String| {
            let at = token.as_ptr() as usize - line.as_ptr() as usize;
            Error::text(file, number, line[..at].chars().count() + 1, message)
        };
        let Ok(value) = token.parse::<u32>() else {
            return Err(error(format!(
                "expected a position of the source sentence (a number from 0), found {token:?}"
            )));
        };
        match seen.get_mut(value as usize) {
            None => return Err(error(format!("{value} is no position of {words} words: expected 0 to {}", words - 1))),
            Some(true) => return Err(error(format!("the position {value} is there twice"))),
            Some(new) => *new = true,
        }
        order.push(value);
    }
    Ok(())
}

/// Reads the links of a sentence whose source has `words` words.
pub fn parse_links(place: (&str, usize), line: &str, words: usize, links: &mut Vec<Link>) -> Result<()> {
    align::parse(place, line, (usize::MAX, usize::MAX), links)?;
    if let Some(&(s, t)) = links.iter().find(|l| l.0 as usize >= words) {
        let link = format!("{s}-{t}");
        let before = align::words(line)
            .find(|w| *w == link)
            .map_or("", |w| &line[..w.as_ptr() as usize - line.as_ptr() as usize]);
        let message = format!("the link {link} is outside a source sentence of {words} words");
        return Err(Error::text(place.0, place.1, before.chars().count() + 1, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng, seq::SliceRandom};

    #[test]
    fn pairs_are_those_of_two_loops() {
        let mut rng = SmallRng::seed_from_u64(2);
        for round in 0..2000 {
            let values: Vec<u32> = (0..round % 23).map(|_| rng.random_range(0..12)).collect();
            let up = (0..values.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            assert_eq!(
                ascending_pairs(&values),
                up.filter(|&(j, i)| values[j] < values[i]).count() as u64,
                "{values:?}"
            );
        }
    }

    #[test]
    fn gold_orders_by_hand() {
        // 1 goes to 0, 3 to 1 and 3 (average 2), 0 to 2; 2 stands before 3, 4 and 5 behind the last aligned word, 3.
        assert_eq!(gold(&[(0, 2), (1, 0), (3, 1), (3, 3)], 6), [1, 0, 2, 3, 4, 5]);
        assert_eq!(gold(&[(0, 5), (2, 1)], 4), [1, 2, 3, 0]);
        assert_eq!(gold(&[], 3), [0, 1, 2]);
        assert_eq!(gold(&[], 0), [0u32; 0]);
        // 1/3 and 1/2 and 2/6: fractions, not rounded numbers.
        assert_eq!(gold(&[(0, 0), (0, 1), (1, 0), (1, 0), (1, 1)], 2), [1, 0]);
    }

    #[test]
    fn scores_by_hand_and_by_loops() {
        assert_eq!(Kendall::of(&[0, 1, 2], &[0, 1, 2]).score(), 1.0);
        assert_eq!(Kendall::of(&[2, 1, 0], &[0, 1, 2]).score(), 0.0);
        assert_eq!(Kendall::of(&[1, 0, 2], &[0, 1, 2]), Kendall { wrong: 1, pairs: 3 });
        assert_eq!(Kendall::of(&[0], &[0]).score(), 1.0);
        let mut rng = SmallRng::seed_from_u64(4);
        for round in 0..500 {
            let n = 1 + round % 9;
            let mut order: Vec<u32> = (0..n as u32).collect();
            let mut gold = order.clone();
            order.shuffle(&mut rng);
            gold.shuffle(&mut rng);
            let mut links: Vec<Link> =
                (0..round % 12).map(|_| (rng.random_range(0..n as u16), rng.random_range(0..6))).collect();
            links.sort_unstable();
            links.dedup();
            let at = |list: &[u32], word: u32| list.iter().position(|&w| w == word).unwrap();
            let words = 0..n as u32;
            let pairs = words.clone().flat_map(|a| words.clone().map(move |b| (a, b)));
            let wrong = pairs.filter(|&(a, b)| at(&order, a) < at(&order, b) && at(&gold, a) > at(&gold, b)).count();
            assert_eq!(Kendall::of(&order, &gold).wrong, wrong as u64);
            let mut crossed = 0;
            for x in &links {
                for y in &links {
                    crossed += u64::from(at(&order, x.0 as u32) < at(&order, y.0 as u32) && x.1 > y.1);
                }
            }
            assert_eq!(crossing(&order, &links), crossed, "{order:?} {links:?}");
        }
        // The gold order of a one-to-one alignment has no crossing links.
        assert_eq!(crossing(&super::gold(&[(0, 2), (1, 0), (2, 1)], 3), &[(0, 2), (1, 0), (2, 1)]), 0);
    }

    #[test]
    fn what_is_no_order() {
        let mut order = vec![];
        for (line, want) in [
            ("0 2 1", ""),
            ("", ""),
            ("0 x", "t:3:3: expected a position of the source sentence (a number from 0), found \"x\""),
            ("0 2", "t:3:3: 2 is no position of 2 words: expected 0 to 1"),
            ("1 0 1", "t:3:5: the position 1 is there twice"),
            ("-1", "t:3:1: expected"),
        ] {
            let said = parse_order(("t", 3), line, &mut order).map_or_else(|e| e.to_string(), |()| String::new());
            assert!(said.starts_with(want) && said.is_empty() == want.is_empty(), "{said}");
        }
        let mut links = vec![];
        let e = parse_links(("a", 2), "0-0 3-1", 3, &mut links).unwrap_err().to_string();
        assert_eq!(e, "a:2:5: the link 3-1 is outside a source sentence of 3 words");
    }
}
