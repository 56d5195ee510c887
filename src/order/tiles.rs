//! All sets of tokens that phrases can make up without rest, as a map of bits: the grid of a bag, as far as cells that are
//! not empty go (Figure 2 of de Gispert et al. 2014).
//!
//! A set is a number: a bit for a word that occurs once, a few bits for one that occurs more often, so that sets are put
//! together by adding their numbers. Sixty-four sets that differ in six single words are one machine word. Of the other
//! fields, the highest that a set has belongs to some phrase of it; so a set can be made up if a phrase with this field
//! leaves a smaller set that can be, and that is asked for sixty-four sets at a time: a shift and two ANDs. Of the words that
//! occur once, those with the fewest phrases are the highest fields, for half of all sets have the highest.
//!
//! 2^bits / 8 bytes, and a nanosecond or so for each machine word and phrase set that has its highest field: 10 ms for 25
//! words, a second for 30. Where it would be more than the caller allows, there is no such map.

use crate::chart::bag::{Bag, Cover, PhraseTrie, Type};

pub struct Tiles {
    bits: Vec<u64>,
    /// What each byte of a set adds to its number.
    bytes: [[u64; 256]; 8],
    /// The number of the whole bag.
    all: u64,
}

/// What may be spent on a map.
#[derive(Clone, Copy, Debug)]
pub struct TileLimits {
    pub bytes: usize,
    /// Machine words times sets of phrases.
    pub work: u64,
}

/// No field has this bit.
const NO_FIELD: u32 = u32::MAX;

/// Sets that differ in so many single words are one machine word.
const LOW: u32 = 6;

/// Where a word's number of tokens is kept.
#[derive(Clone, Copy, Default)]
struct Place {
    at: u32,
    bits: u32,
}

/// A set of a phrase, without its lowest bits.
struct Tile {
    /// Its words that occur once, as bits of the number.
    single: u64,
    /// Its other words, each in a field with a guard above.
    spread: u64,
    high: u64,
    low: u32,
}

impl Tiles {
    /// `None` if the sets are too many.
    pub fn new<const W: usize>(bag: &Bag, trie: &PhraseTrie, limits: TileLimits) -> Option<Self> {
        if W > 1 || bag.is_empty() {
            return None;
        }
        let mut sets: Vec<Cover<1>> = trie.phrases.iter().filter_map(|p| bag.cover(&p.words)).collect();
        sets.sort_unstable();
        sets.dedup();
        let places = places(bag, &sets);
        let total = places.iter().map(|p| p.at + p.bits).max().unwrap_or(0).max(LOW);
        if total >= u64::BITS || (limits.bytes as u64) < (1u64 << total) / 8 {
            return None;
        }
        let numbers = Numbers::new(bag, &places);
        // The tiles of each highest field, by its lowest bit.
        let mut tiles: Vec<Vec<Tile>> = (0..u64::BITS).map(|_| vec![]).collect();
        let mut lowest: Vec<u32> = vec![];
        for set in &sets {
            let number = numbers.of(set.0[0]);
            let (high, low) = (number >> LOW, (number & 63) as u32);
            if high == 0 {
                lowest.push(low);
            } else {
                let tile = Tile { single: high & numbers.single, spread: numbers.spread(high), high, low };
                tiles[numbers.top(high) as usize].push(tile);
            }
        }
        // A field is the highest in all numbers between its first bit and its last.
        let highest = |at: usize| {
            let fields = numbers.field.iter().enumerate().skip(at).take_while(|(_, first)| **first as usize == at);
            (1u128 << (at + fields.count())) - (1 << at)
        };
        let work: u128 = tiles.iter().enumerate().map(|(at, t)| t.len() as u128 * highest(at)).sum();
        if work + (1 << (total - LOW)) > limits.work.into() {
            return None;
        }
        let mut bits = vec![0u64; 1 << (total - LOW)];
        bits[0] = 1;
        for i in 1..64 {
            let tiled = |&p: &u32| p & !i == 0 && bits[0] >> (i - p) & 1 == 1;
            bits[0] |= u64::from(lowest.iter().any(tiled)) << i;
        }
        let apart: [u64; 64] =
            std::array::from_fn(|p| (0..64).filter(|i| i & p == 0).fold(0, |mask, i| mask | 1u64 << i));
        for h in 1..bits.len() as u64 {
            if numbers.exceeds(h) {
                continue;
            }
            let guarded = numbers.spread(h) | numbers.guards;
            let mut sum = 0;
            for tile in &tiles[numbers.top(h) as usize] {
                let short = (tile.single & !h) | (!guarded.wrapping_sub(tile.spread) & numbers.guards);
                if short == 0 {
                    sum |= (bits[(h - tile.high) as usize] & apart[tile.low as usize]) << tile.low;
                    if sum == u64::MAX {
                        break;
                    }
                }
            }
            bits[h as usize] = sum;
        }
        Some(Tiles { bits, all: numbers.of(bag.all::<1>().0[0]), bytes: numbers.bytes })
    }

    /// True if phrases can make up what a set lacks.
    #[inline(always)]
    pub fn completes<const W: usize>(&self, set: &Cover<W>) -> bool {
        let number = self.all - number(&self.bytes, set.0[0]);
        self.bits[(number >> LOW) as usize] >> (number & 63) & 1 == 1
    }
}

#[inline(always)]
fn number(bytes: &[[u64; 256]; 8], set: u64) -> u64 {
    set.to_le_bytes().iter().zip(bytes).fold(0, |sum, (&b, table)| sum | table[b as usize])
}

/// Where words are kept: six single words with many phrases, words that occur more often, the other single words, those with
/// few phrases last.
fn places(bag: &Bag, sets: &[Cover<1>]) -> Vec<Place> {
    let has = |t: usize| sets.iter().filter(|s| bag.count(s, t as Type) > 0).count();
    let mut order: Vec<(usize, usize)> = (0..bag.words.len()).map(|t| (has(t), t)).collect();
    order.sort_unstable_by_key(|&(sets, t)| (std::cmp::Reverse(sets), t));
    let (single, other): (Vec<usize>, Vec<usize>) =
        order.into_iter().map(|(_, t)| t).partition(|&t| bag.counts[t] == 1);
    let (lowest, rest) = single.split_at(single.len().min(LOW as usize));
    let mut places = vec![Place::default(); bag.words.len()];
    for (at, &t) in (0..).zip(lowest) {
        places[t] = Place { at, bits: 1 };
    }
    let mut at = LOW;
    for &t in other.iter().chain(rest) {
        let bits = u32::BITS - bag.counts[t].leading_zeros();
        places[t] = Place { at, bits };
        at += bits;
    }
    places
}

/// How sets become numbers; what is said of numbers here is without their lowest bits.
struct Numbers {
    bytes: [[u64; 256]; 8],
    /// The bits of single words.
    single: u64,
    /// Of each bit: the lowest bit of its field.
    field: [u32; 64],
    others: Vec<Other>,
    guards: u64,
}

/// The field of a word that occurs more than once.
struct Other {
    at: u32,
    mask: u64,
    /// Its tokens.
    most: u64,
    /// Its place among the spread ones.
    to: u32,
}

impl Numbers {
    fn new(bag: &Bag, places: &[Place]) -> Self {
        let mut numbers = Numbers { bytes: [[0; 256]; 8], single: 0, field: [NO_FIELD; 64], others: vec![], guards: 0 };
        let mut spread = 0;
        for (t, place) in places.iter().enumerate() {
            // The bits of a word's field in a set, one token and up.
            let one: Cover<1> = bag.with(&Cover::EMPTY, t as Type).unwrap_or(Cover::EMPTY);
            let shift = one.0[0].trailing_zeros();
            for bit in 0..place.bits {
                let (byte, mask) = ((shift + bit) / 8, 1usize << ((shift + bit) % 8));
                let table = &mut numbers.bytes[byte as usize];
                (0..256).filter(|b| b & mask != 0).for_each(|b| table[b] |= 1 << (place.at + bit));
            }
            let Some(at) = place.at.checked_sub(LOW) else { continue };
            (at..at + place.bits).for_each(|bit| numbers.field[bit as usize] = at);
            if bag.counts[t] == 1 {
                numbers.single |= 1 << at;
            } else {
                let most = bag.counts[t].into();
                numbers.others.push(Other { at, mask: (1 << place.bits) - 1, most, to: spread });
                numbers.guards |= 1 << (spread + place.bits);
                spread += place.bits + 1;
            }
        }
        numbers
    }
    fn of(&self, set: u64) -> u64 {
        number(&self.bytes, set)
    }
    fn spread(&self, high: u64) -> u64 {
        self.others.iter().fold(0, |sum, o| sum | (high >> o.at & o.mask) << o.to)
    }
    /// True if a number has more tokens of a word than there are.
    fn exceeds(&self, high: u64) -> bool {
        self.others.iter().any(|o| high >> o.at & o.mask > o.most)
    }
    /// The lowest bit of the highest field that is not 0.
    fn top(&self, high: u64) -> u32 {
        self.field[(u64::BITS - 1 - high.leading_zeros()) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::bag::Phrase;
    use crate::order::grid::Grid;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// The cells of the grid are those that the map has.
    #[test]
    fn sets_that_can_be_made_up_are_the_cells_of_the_grid() {
        let limits = TileLimits { bytes: 1 << 20, work: 1 << 40 };
        let mut rng = SmallRng::seed_from_u64(5);
        for case in 0..200 {
            // Words that repeat, and so many that do not that they take more than the lowest bits.
            let kinds = [3, 8, 40][case % 3];
            let tokens: Vec<String> =
                (0..rng.random_range(1..14)).map(|_| rng.random_range(0..kinds).to_string()).collect();
            let bag = Bag::new(tokens.iter().map(String::as_str)).unwrap();
            let phrase = |rng: &mut SmallRng| {
                let words = (0..rng.random_range(1..4)).map(|_| rng.random_range(0..bag.words.len() as Type)).collect();
                Phrase { words, count: 1, cost: 0.0 }
            };
            let phrases: Vec<Phrase> = (0..rng.random_range(0..40)).map(|_| phrase(&mut rng)).collect();
            let trie = PhraseTrie::new(phrases.into_iter().filter(|p| bag.cover::<1>(&p.words).is_some()).collect());
            let tiles = Tiles::new::<1>(&bag, &trie, limits).unwrap();
            let grid = Grid::<1>::parse(&bag, &trie, 1 << 20).unwrap();
            let cells: std::collections::BTreeSet<Cover<1>> = grid.cells.into_iter().collect();
            let mut sets: Vec<Cover<1>> = vec![Cover::EMPTY];
            for t in 0..bag.words.len() as Type {
                for i in 0..sets.len() {
                    let mut set = sets[i];
                    while let Some(more) = bag.with(&set, t) {
                        sets.push(more);
                        set = more;
                    }
                }
            }
            for set in sets {
                let there = set == Cover::EMPTY || cells.contains(&set);
                assert_eq!(tiles.completes(&bag.rest(&set)), there, "case {case}: {}", bag.name(&set));
            }
        }
        let bag = Bag::new(["a", "b"]).unwrap();
        let trie = PhraseTrie::new(vec![]);
        assert!(Tiles::new::<1>(&bag, &trie, TileLimits { bytes: 7, ..limits }).is_none());
        // Two words of 30 tokens each: 1024 numbers of two fields, all of which two phrases may end.
        let tokens = ["a", "b"].repeat(30);
        let bag = Bag::new(tokens).unwrap();
        let both = |words: &[Type]| Phrase { words: words.to_vec(), count: 1, cost: 0.0 };
        let trie = PhraseTrie::new(vec![both(&[0, 1]), both(&[1, 1])]);
        let work = |work: u64| Tiles::new::<1>(&bag, &trie, TileLimits { bytes: 1 << 20, work });
        assert!(work(2000).is_none() && work(4000).is_some());
        assert!(Tiles::new::<2>(&bag, &trie, limits).is_none());
    }
}
