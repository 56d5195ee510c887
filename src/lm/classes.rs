//! Classes of words by the exchange algorithm (Kneser and Ney 1993; Martin, Liermann and Ney 1998).
//!
//! The frequent words are divided into classes so that a class bigram model gives the text the largest likelihood: in turn,
//! each word goes to the class where the sum of N ln N over pairs of classes, less twice that over classes, gains most. Words
//! that are too rare for that get classes by their look: digits, a capital, a hyphen, the last letters.
//!
//! Costs, a pass, words · classes · classes beside them. The result does not depend on threads.

use hashbrown::HashMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::estimate::Progress;
use crate::error::{Error, Result};
use crate::text::lines::Blocks;
use crate::text::vocab::{Vocab, WordId};

#[derive(Clone, Copy, Debug)]
pub struct ClassConfig {
    /// Classes of frequent words.
    pub classes: usize,
    /// How often a word is there at least to be put into one of them.
    pub least: u64,
    /// Passes over all words at most.
    pub passes: usize,
}

/// Words of a text with their classes.
pub struct Classified {
    /// In the order of the words' frequency.
    pub words: Vec<(String, String)>,
    /// ln-likelihood of the class bigrams, per word.
    pub gain: f64,
}

/// The class of what no list has.
pub const OTHERS: &str = "~";

/// The class of a rare word, by its look.
pub fn look(word: &str) -> String {
    let first = word.chars().next().unwrap_or('~');
    if word.chars().any(|c| c.is_numeric()) {
        return "~0".into();
    }
    if !word.chars().any(char::is_alphabetic) {
        return OTHERS.into();
    }
    if first.is_uppercase() {
        return "~A".into();
    }
    let letters: Vec<char> = word.chars().collect();
    let last: String = letters[letters.len().saturating_sub(if letters.len() > 4 { 3 } else { 2 })..].iter().collect();
    let mark = if word.contains('-') { "~-" } else { "~" };
    format!("{mark}{last}")
}

fn f(n: u64) -> f64 {
    if n == 0 { 0.0 } else { n as f64 * (n as f64).ln() }
}

/// Pairs of a word: the word beside it and how often.
type Beside = Vec<(WordId, u64)>;

pub fn classify(texts: &[String], config: &ClassConfig, progress: &dyn Progress) -> Result<Classified> {
    let (vocab, counts, pairs) = read(texts, progress)?;
    let mut order: Vec<WordId> = (1..vocab.len() as WordId).collect();
    order.sort_by(|&a, &b| counts[b as usize].cmp(&counts[a as usize]).then_with(|| vocab.word(a).cmp(vocab.word(b))));
    let frequent = order.partition_point(|&w| counts[w as usize] >= config.least);
    if frequent == 0 {
        return Err(Error::op("lm classes", "no word is frequent enough to be put into a class"));
    }
    // Classes 0.. are those of frequent words; then come the looks, and at the end the boundary of sentences.
    let mut class: Vec<u32> = vec![0; vocab.len()];
    for (i, &w) in order[..frequent].iter().enumerate() {
        class[w as usize] = i.min(config.classes - 1) as u32;
    }
    let mut looks: HashMap<String, u32, FxBuildHasher> = HashMap::default();
    for &w in &order[frequent..] {
        let next = (config.classes + looks.len()) as u32;
        class[w as usize] = *looks.entry(look(vocab.word(w))).or_insert(next);
    }
    let boundary = config.classes + looks.len();
    class[0] = boundary as u32;
    let mut after: Vec<Beside> = vec![vec![]; vocab.len()];
    let mut before: Vec<Beside> = vec![vec![]; vocab.len()];
    let mut sorted: Vec<(u64, u64)> = pairs.into_iter().collect();
    sorted.sort_unstable();
    for (key, n) in sorted {
        let (a, b) = ((key >> 32) as WordId, key as WordId);
        after[a as usize].push((b, n));
        before[b as usize].push((a, n));
    }
    let mut exchange = Exchange::new(class, boundary + 1, &after, &counts);
    progress.stage("exchanging", Some((config.passes * frequent) as u64));
    for _ in 0..config.passes {
        let mut moved = 0;
        for &w in &order[..frequent] {
            moved += usize::from(exchange.best_place(w, config.classes, &after, &before, counts[w as usize]));
            progress.advance(1);
        }
        if moved == 0 {
            break;
        }
    }
    let names: HashMap<u32, &String, FxBuildHasher> = looks.iter().map(|(name, &c)| (c, name)).collect();
    let name = |w: WordId| {
        let c = exchange.class[w as usize];
        names.get(&c).map_or_else(|| format!("c{c}"), |n| n.to_string())
    };
    let words = order.iter().map(|&w| (vocab.word(w).to_string(), name(w))).collect();
    let total: u64 = counts.iter().sum();
    Ok(Classified { words, gain: exchange.likelihood() / total.max(1) as f64 })
}

type Counted = (Vocab, Vec<u64>, HashMap<u64, u64, FxBuildHasher>);

/// Words, their counts, and pairs of neighbours; 0 is the boundary of sentences.
fn read(texts: &[String], progress: &dyn Progress) -> Result<Counted> {
    progress.stage("reading", None);
    let mut vocab = Vocab::default();
    let mut counts: Vec<u64> = vec![0];
    let mut pairs: HashMap<u64, u64, FxBuildHasher> = HashMap::default();
    for text in texts {
        let mut blocks = Blocks::open(text)?;
        while let Some(block) = blocks.next_block()? {
            for (_, line) in block.lines() {
                let mut last = 0;
                for word in line.split_ascii_whitespace() {
                    let id = vocab.add(word);
                    counts.resize(vocab.len(), 0);
                    counts[id as usize] += 1;
                    *pairs.entry((last as u64) << 32 | id as u64).or_default() += 1;
                    last = id;
                }
                *pairs.entry((last as u64) << 32).or_default() += 1;
                counts[0] += 1;
            }
            progress.advance(block.text.len() as u64);
        }
    }
    Ok((vocab, counts, pairs))
}

struct Exchange {
    class: Vec<u32>,
    width: usize,
    /// How often a class followed another.
    pairs: Vec<u64>,
    sizes: Vec<u64>,
    /// Of the word in hand: how often each class follows it, and comes before it.
    after: Vec<u64>,
    before: Vec<u64>,
}

impl Exchange {
    fn new(class: Vec<u32>, width: usize, after: &[Beside], counts: &[u64]) -> Self {
        let mut pairs = vec![0; width * width];
        let mut sizes = vec![0; width];
        for (w, beside) in after.iter().enumerate() {
            sizes[class[w] as usize] += counts[w];
            for &(v, n) in beside {
                pairs[class[w] as usize * width + class[v as usize] as usize] += n;
            }
        }
        Exchange { class, width, pairs, sizes, after: vec![0; width], before: vec![0; width] }
    }

    fn likelihood(&self) -> f64 {
        self.pairs.iter().map(|&n| f(n)).sum::<f64>() - 2.0 * self.sizes.iter().map(|&n| f(n)).sum::<f64>()
    }

    /// Takes a word's pairs out of the counts of its class, or puts them in.
    fn shift(&mut self, class: usize, itself: u64, count: u64, sign: i64) {
        let add = |x: &mut u64, n: u64| *x = x.wrapping_add_signed(sign * n as i64);
        for g in 0..self.width {
            add(&mut self.pairs[class * self.width + g], self.after[g]);
            add(&mut self.pairs[g * self.width + class], self.before[g]);
        }
        add(&mut self.pairs[class * self.width + class], itself);
        add(&mut self.sizes[class], count);
    }

    /// Moves a word to the class where it gains most; whether that is another one.
    fn best_place(&mut self, w: WordId, classes: usize, after: &[Beside], before: &[Beside], count: u64) -> bool {
        let old = self.class[w as usize] as usize;
        self.after.fill(0);
        self.before.fill(0);
        let mut itself = 0;
        for &(v, n) in &after[w as usize] {
            if v == w {
                itself = n;
            } else {
                self.after[self.class[v as usize] as usize] += n;
            }
        }
        for &(v, n) in before[w as usize].iter().filter(|(v, _)| *v != w) {
            self.before[self.class[v as usize] as usize] += n;
        }
        self.shift(old, itself, count, -1);
        let nonzero = |of: &[u64]| -> Vec<(usize, u64)> {
            of.iter().enumerate().filter(|(_, n)| **n > 0).map(|(g, &n)| (g, n)).collect()
        };
        let (next, last) = (nonzero(&self.after), nonzero(&self.before));
        let this = &*self;
        let gain = |g: usize| {
            let more = |n: u64, by: u64| f(n + by) - f(n);
            let mut sum = -2.0 * more(this.sizes[g], count);
            for &(h, n) in next.iter().filter(|(h, _)| *h != g) {
                sum += more(this.pairs[g * this.width + h], n);
            }
            for &(h, n) in last.iter().filter(|(h, _)| *h != g) {
                sum += more(this.pairs[h * this.width + g], n);
            }
            sum + more(this.pairs[g * this.width + g], this.after[g] + this.before[g] + itself)
        };
        let pick = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 || (b.1 == a.1 && b.0 < a.0) { b } else { a };
        let nothing = || (usize::MAX, f64::NEG_INFINITY);
        let (best, _) = (0..classes).into_par_iter().with_min_len(32).map(|g| (g, gain(g))).reduce(nothing, pick);
        let best = if gain(old) >= gain(best) { old } else { best };
        self.shift(best, itself, count, 1);
        self.class[w as usize] = best as u32;
        best != old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Quiet;
    impl Progress for Quiet {
        fn stage(&self, _: &str, _: Option<u64>) {}
        fn advance(&self, _: u64) {}
    }

    #[test]
    fn words_that_stand_alike_are_put_together() {
        let mut text = String::new();
        for noun in ["dog", "cat", "cow", "hen"] {
            for verb in ["eats", "sees", "has", "likes"] {
                for det in ["the", "a", "this"] {
                    text.push_str(&format!("{det} {noun} {verb} {det} bone-x\n"));
                }
            }
        }
        text.push_str("42 Zorro walking\n");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t");
        std::fs::write(&file, &text).unwrap();
        let config = ClassConfig { classes: 4, least: 10, passes: 10 };
        let found = classify(&[file.to_str().unwrap().to_string()], &config, &Quiet).unwrap();
        let class: std::collections::HashMap<&str, &str> =
            found.words.iter().map(|(w, c)| (w.as_str(), c.as_str())).collect();
        for alike in [&["dog", "cat", "cow", "hen"][..], &["eats", "sees", "has", "likes"], &["the", "a", "this"]] {
            assert!(alike.iter().all(|w| class[w] == class[alike[0]]), "{alike:?} {class:?}");
        }
        assert_ne!(class["dog"], class["eats"]);
        assert_eq!((class["42"], class["Zorro"], class["walking"]), ("~0", "~A", "~ing"));
    }

    #[test]
    fn counts_stay_right_while_words_move() {
        let text: String = (0..300).map(|i| format!("w{} w{} w{}\n", i % 7, i * i % 11, i % 3)).collect();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t");
        std::fs::write(&file, &text).unwrap();
        let (vocab, counts, pairs) = read(&[file.to_str().unwrap().to_string()], &Quiet).unwrap();
        let mut after: Vec<Beside> = vec![vec![]; vocab.len()];
        let mut before = after.clone();
        for (key, n) in pairs {
            after[(key >> 32) as usize].push((key as WordId, n));
            before[key as u32 as usize].push(((key >> 32) as WordId, n));
        }
        let class: Vec<u32> = (0..vocab.len() as u32).map(|w| if w == 0 { 3 } else { w % 3 }).collect();
        let mut e = Exchange::new(class, 4, &after, &counts);
        for w in (1..vocab.len() as WordId).cycle().take(40) {
            let was = e.likelihood();
            e.best_place(w, 3, &after, &before, counts[w as usize]);
            assert!(e.likelihood() >= was - 1e-9);
        }
        let again = Exchange::new(e.class.clone(), 4, &after, &counts);
        assert_eq!((e.pairs, e.sizes), (again.pairs, again.sizes));
    }
}
