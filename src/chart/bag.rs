//! A bag of words, sets of its tokens, and the phrases that its words make (de Gispert, Tomalin and Byrne 2014, section 2.1).
//!
//! The paper has a nonterminal for every set of tokens, a string of N bits. Tokens of one word are alike, so that here a
//! set says how many tokens of each word it has: of a word that is there three times, 0 to 3. This is the paper's set
//! with the first tokens of every word, and is written as such (`11000`); sets that differ only in which of equal tokens
//! they have are one, and so no string is made twice by exchanging equal tokens. A bag of N words has at most 2^N sets,
//! fewer with repeated words.
//!
//! A set is a few machine words, as many as the bag needs: a word that occurs once takes a bit, one that occurs k times
//! as many as k needs and one more, the guard. No field lies across two machine words. Guards are 0 in a set. They make it
//! quick to see whether two sets fit together: with the room above `most` filled up, a field that holds too much runs
//! over into its guard, and all fields of a machine word are added at once.

use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::FxHasher;

use crate::error::{Error, Result};

/// The place of a word in its bag: words are numbered in the order of their code points.
pub type Type = u32;

/// A set of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cover<const W: usize>(pub [u64; W]);

impl<const W: usize> Cover<W> {
    pub const EMPTY: Self = Cover([0; W]);

    #[inline(always)]
    pub fn hash_with(&self, more: u64) -> u64 {
        let mut hasher = FxHasher::default();
        for &word in &self.0 {
            hasher.write_u64(word);
        }
        hasher.write_u64(more);
        hasher.finish()
    }
}

impl<const W: usize> std::hash::Hash for Cover<W> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|&w| state.write_u64(w));
    }
}

/// Where the number of a word's tokens is kept.
#[derive(Clone, Copy, Debug)]
struct Field {
    at: u32,
    shift: u32,
    /// How many tokens the bag has.
    most: u64,
    mask: u64,
}

/// The words of a bag, each with the number of its tokens.
#[derive(Clone, Debug)]
pub struct Bag {
    /// In the order of their code points.
    pub words: Vec<String>,
    pub counts: Vec<u32>,
    fields: Vec<Field>,
    /// By machine word.
    planes: Vec<Plane>,
    tokens: usize,
    width: usize,
}

/// All fields of a machine word.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    /// The fields of words that occur once.
    single: u64,
    /// The guards of the others.
    guard: u64,
    /// In each of the others, what is missing from `most` to the largest number it has room for.
    pad: u64,
}

/// Machine words that a set may take: a search is compiled for each of these.
pub const WIDTHS: [usize; 5] = [1, 2, 4, 16, 256];

impl Bag {
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut all: Vec<&str> = tokens.into_iter().collect();
        all.sort_unstable();
        let mut words: Vec<String> = vec![];
        let mut counts: Vec<u32> = vec![];
        for token in &all {
            match words.last() {
                Some(last) if last == token => *counts.last_mut().unwrap_or(&mut 0) += 1,
                _ => {
                    words.push(token.to_string());
                    counts.push(1);
                }
            }
        }
        let mut fields = Vec::with_capacity(words.len());
        let mut planes = vec![Plane::default()];
        let (mut at, mut shift) = (0, 0);
        for &count in &counts {
            let bits = u32::BITS - count.leading_zeros();
            let guard = u32::from(count > 1);
            if shift + bits + guard > u64::BITS {
                at += 1;
                shift = 0;
                planes.push(Plane::default());
            }
            let field = Field { at, shift, most: count as u64, mask: (1u64 << bits) - 1 };
            let plane = &mut planes[at as usize];
            if count == 1 {
                plane.single |= 1 << shift;
            } else {
                plane.guard |= 1 << (shift + bits);
                plane.pad |= (field.mask - field.most) << shift;
            }
            fields.push(field);
            shift += bits + guard;
        }
        let needed = at as usize + 1;
        let Some(&width) = WIDTHS.iter().find(|&&w| w >= needed) else {
            let most = WIDTHS[WIDTHS.len() - 1] * 64;
            return Err(Error::op("order", format!("a bag of {} words is too large: {most} bits at most", all.len())));
        };
        Ok(Bag { words, counts, fields, planes, tokens: all.len(), width })
    }

    /// Tokens, repeated words as often as they are there.
    pub fn len(&self) -> usize {
        self.tokens
    }
    pub fn is_empty(&self) -> bool {
        self.tokens == 0
    }
    /// Machine words of a set: one of `WIDTHS`.
    pub fn width(&self) -> usize {
        self.width
    }
    pub fn find(&self, word: &str) -> Option<Type> {
        self.words.binary_search_by(|w| w.as_str().cmp(word)).ok().map(|t| t as Type)
    }
    /// The whole bag.
    pub fn all<const W: usize>(&self) -> Cover<W> {
        let mut cover = Cover::EMPTY;
        self.fields.iter().for_each(|f| cover.0[f.at as usize] |= f.most << f.shift);
        cover
    }
    /// How many tokens of a word a set has.
    #[inline(always)]
    pub fn count<const W: usize>(&self, cover: &Cover<W>, t: Type) -> u64 {
        let f = self.fields[t as usize];
        cover.0[f.at as usize] >> f.shift & f.mask
    }
    /// The set with one more token of a word; `None` if it has all of them.
    #[inline(always)]
    pub fn with<const W: usize>(&self, cover: &Cover<W>, t: Type) -> Option<Cover<W>> {
        let f = self.fields[t as usize];
        if cover.0[f.at as usize] >> f.shift & f.mask == f.most {
            return None;
        }
        let mut more = *cover;
        more.0[f.at as usize] += 1 << f.shift;
        Some(more)
    }
    /// The tokens of some words, which the bag must have.
    pub fn cover<const W: usize>(&self, words: &[Type]) -> Option<Cover<W>> {
        words.iter().try_fold(Cover::EMPTY, |cover, &t| self.with(&cover, t))
    }
    /// True if the bag has the tokens of both sets.
    #[inline(always)]
    pub fn fits<const W: usize>(&self, a: &Cover<W>, b: &Cover<W>) -> bool {
        let mut over = 0;
        for (i, p) in self.planes.iter().enumerate() {
            let (a, b) = (a.0[i], b.0[i]);
            over |= (a & b & p.single) | (a.wrapping_add(b).wrapping_add(p.pad) & p.guard);
        }
        over == 0
    }
    /// Two sets as one, if the bag has that many tokens.
    #[inline(always)]
    pub fn union<const W: usize>(&self, a: &Cover<W>, b: &Cover<W>) -> Option<Cover<W>> {
        if !self.fits(a, b) {
            return None;
        }
        let mut sum = *a;
        for i in 0..self.planes.len() {
            sum.0[i] += b.0[i];
        }
        Some(sum)
    }
    /// A set without another, if it has all of its tokens.
    #[inline(always)]
    pub fn without<const W: usize>(&self, set: &Cover<W>, less: &Cover<W>) -> Option<Cover<W>> {
        let mut short = 0;
        for (i, p) in self.planes.iter().enumerate() {
            let (set, less) = (set.0[i], less.0[i]);
            // A guard that is lent and not needed is still there.
            short |= (less & !set & p.single) | (!(set | p.guard).wrapping_sub(less) & p.guard);
        }
        if short != 0 {
            return None;
        }
        let mut rest = *set;
        for i in 0..self.planes.len() {
            rest.0[i] -= less.0[i];
        }
        Some(rest)
    }
    /// The tokens that a set lacks.
    pub fn rest<const W: usize>(&self, a: &Cover<W>) -> Cover<W> {
        let mut rest = self.all();
        rest.0.iter_mut().zip(&a.0).for_each(|(x, y)| *x -= y);
        rest
    }
    /// How many tokens a set has.
    pub fn size<const W: usize>(&self, cover: &Cover<W>) -> usize {
        (0..self.words.len() as Type).map(|t| self.count(cover, t) as usize).sum()
    }
    /// The set as the paper writes it: a digit a token, 1 for the first tokens of each word.
    pub fn name<const W: usize>(&self, cover: &Cover<W>) -> String {
        let mut name = String::with_capacity(self.tokens);
        for (t, &count) in self.counts.iter().enumerate() {
            let has = self.count(cover, t as Type);
            (0..count as u64).for_each(|i| name.push(if i < has { '1' } else { '0' }));
        }
        name
    }
}

/// A phrase of words of a bag: the rule I(A) → u.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    pub words: Vec<Type>,
    /// How often the text collection has it; 0: never, and the rule is there so that the word can be said at all.
    pub count: u64,
    pub cost: f64,
}

/// No phrase ends here.
pub const NO_PHRASE: u32 = u32::MAX;

/// A state of the trie: the beginning of some phrases.
#[derive(Clone, Debug)]
pub struct TrieNode {
    /// The last word.
    pub word: Type,
    pub parent: u32,
    pub depth: u32,
    pub children: Range<u32>,
    /// The phrase that ends here.
    pub phrase: u32,
    pub cost: f64,
}

/// The phrases of a bag as a trie; the children of a node lie side by side, in the order of their words.
#[derive(Clone, Debug)]
pub struct PhraseTrie {
    pub nodes: Vec<TrieNode>,
    /// Sorted by their words.
    pub phrases: Vec<Phrase>,
}

impl PhraseTrie {
    pub const ROOT: u32 = 0;

    /// Equal phrases are one, with the least cost.
    pub fn new(mut phrases: Vec<Phrase>) -> Self {
        phrases.retain(|p| !p.words.is_empty());
        phrases.sort_by(|a, b| a.words.cmp(&b.words).then(a.cost.total_cmp(&b.cost)));
        phrases.dedup_by(|b, a| a.words == b.words);
        let root = TrieNode { word: 0, parent: 0, depth: 0, children: 0..0, phrase: NO_PHRASE, cost: 0.0 };
        let mut nodes = vec![root];
        // The phrases of each node that is there, by their places.
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(phrases.len());
        spans.push(0..phrases.len());
        let mut at = 0;
        while at < nodes.len() {
            let (depth, mut span) = (nodes[at].depth as usize, spans[at].clone());
            if span.start < span.end && phrases[span.start].words.len() == depth {
                nodes[at].phrase = span.start as u32;
                nodes[at].cost = phrases[span.start].cost;
                span.start += 1;
            }
            let first = nodes.len() as u32;
            while span.start < span.end {
                let word = phrases[span.start].words[depth];
                let many = phrases[span.clone()].partition_point(|p| p.words[depth] <= word);
                nodes.push(TrieNode {
                    word,
                    parent: at as u32,
                    depth: depth as u32 + 1,
                    children: 0..0,
                    phrase: NO_PHRASE,
                    cost: 0.0,
                });
                spans.push(span.start..span.start + many);
                span.start += many;
            }
            nodes[at].children = first..nodes.len() as u32;
            at += 1;
        }
        PhraseTrie { nodes, phrases }
    }

    pub fn node(&self, n: u32) -> &TrieNode {
        &self.nodes[n as usize]
    }
    /// The node after one more word.
    pub fn child(&self, n: u32, word: Type) -> Option<u32> {
        let range = self.node(n).children.clone();
        let children = &self.nodes[range.start as usize..range.end as usize];
        children.binary_search_by_key(&word, |c| c.word).ok().map(|i| range.start + i as u32)
    }
    /// The last so many words on the way to a node.
    pub fn last_words(&self, n: u32, count: u32) -> impl Iterator<Item = Type> {
        (0..count).rev().map(move |up| {
            let above = (0..up).fold(n, |n, _| self.node(n).parent);
            self.node(above).word
        })
    }
    /// The words from the root to a node.
    pub fn words(&self, mut n: u32) -> Vec<Type> {
        let mut words = vec![];
        while n != Self::ROOT {
            words.push(self.node(n).word);
            n = self.node(n).parent;
        }
        words.reverse();
        words
    }
    /// Words of the longest phrase.
    pub fn longest(&self) -> usize {
        self.phrases.iter().map(|p| p.words.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_by_bits_and_equal_tokens_are_alike() {
        let bag = Bag::new("b a c a a".split(' ')).unwrap();
        assert_eq!((bag.words.clone(), bag.counts.clone()), (vec!["a".into(), "b".into(), "c".into()], vec![3, 1, 1]));
        let ab: Cover<1> = bag.cover(&[0, 1]).unwrap();
        assert_eq!((bag.name(&ab).as_str(), bag.size(&ab)), ("10010", 2));
        let aa: Cover<1> = bag.cover(&[0, 0]).unwrap();
        assert_eq!(bag.name(&bag.union(&aa, &ab).unwrap()), "11110");
        assert_eq!(bag.union(&aa, &aa), None);
        assert_eq!(bag.cover::<1>(&[1, 1]), None);
        assert_eq!(bag.rest(&ab), bag.cover(&[0, 0, 2]).unwrap());
        assert_eq!(bag.union(&ab, &bag.rest(&ab)), Some(bag.all()));
    }

    /// Adding and taking away whole sets is adding and taking away tokens, for all pairs of sets.
    #[test]
    fn sets_fit_as_their_tokens_do() {
        let text = "a a a b c c d d d d d d d e f f f f";
        let bag = Bag::new(text.split(' ')).unwrap();
        let n = bag.words.len() as Type;
        let mut sets: Vec<Cover<1>> = vec![Cover::EMPTY];
        for t in 0..n {
            let longer = |c: &Cover<1>| std::iter::successors(Some(*c), |c| bag.with(c, t)).collect::<Vec<_>>();
            sets = sets.iter().flat_map(longer).collect();
        }
        assert_eq!(sets.len(), 4 * 2 * 3 * 8 * 2 * 5);
        let mut seen = [0; 4];
        for a in &sets {
            for b in sets.iter().step_by(7) {
                let all = |f: &dyn Fn(u64, u64, u64) -> bool| {
                    (0..n).all(|t| f(bag.count(a, t), bag.count(b, t), bag.counts[t as usize] as u64))
                };
                let (fits, has) = (all(&|a, b, most| a + b <= most), all(&|a, b, _| b <= a));
                assert_eq!(bag.fits(a, b), fits);
                let counts = |c: &Cover<1>| (0..n).map(|t| bag.count(c, t)).collect::<Vec<_>>();
                let both = |f: &dyn Fn(u64, u64) -> u64| (0..n).map(|t| f(bag.count(a, t), bag.count(b, t))).collect();
                assert_eq!(bag.union(a, b).map(|c| counts(&c)), fits.then(|| both(&|a, b| a + b)));
                assert_eq!(bag.without(a, b).map(|c| counts(&c)), has.then(|| both(&|a, b| a - b)));
                seen[2 * usize::from(fits) + usize::from(has)] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
    }

    #[test]
    fn wide_bags_take_more_machine_words() {
        let tokens: Vec<String> = (0..150).map(|i| format!("w{:03}", i / 2)).collect();
        let bag = Bag::new(tokens.iter().map(String::as_str)).unwrap();
        assert_eq!(bag.width(), 4);
        let mut cover: Cover<4> = Cover::EMPTY;
        for t in 0..75 {
            cover = bag.with(&cover, t).unwrap();
            cover = bag.with(&cover, t).unwrap();
            assert_eq!(bag.with(&cover, t), None);
        }
        assert_eq!(cover, bag.all());
    }

    #[test]
    fn the_trie_has_every_phrase_once() {
        let phrase = |words: &[Type], cost| Phrase { words: words.to_vec(), count: 1, cost };
        let trie = PhraseTrie::new(vec![
            phrase(&[1, 0], 1.0),
            phrase(&[0], 2.0),
            phrase(&[1, 0, 2], 0.5),
            phrase(&[1, 0], 0.25),
        ]);
        assert_eq!(trie.phrases.len(), 3);
        let n = trie.child(trie.child(PhraseTrie::ROOT, 1).unwrap(), 0).unwrap();
        assert_eq!((trie.node(n).cost, trie.words(n)), (0.25, vec![1, 0]));
        assert_eq!(trie.words(trie.child(n, 2).unwrap()), [1, 0, 2]);
        assert_eq!((trie.child(n, 1), trie.longest()), (None, 3));
    }
}
