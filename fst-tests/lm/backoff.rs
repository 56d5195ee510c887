//! A back-off model as the definition has it, its suffixes filled in, and random ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weft::format::io;
use weft::lm::{NgramModel, arpa};

/// p(w | context) by the definition: the n-gram, or the context's back-off and one word less of it.
#[derive(Clone, Debug)]
pub struct Backoff {
    pub order: usize,
    /// N-gram to (log10 p, back-off).
    pub ngrams: BTreeMap<Vec<String>, (f32, f32)>,
    /// These and every suffix of them.
    pub filled: BTreeMap<Vec<String>, (f32, f32)>,
}

impl Backoff {
    /// A suffix that is not there is put in as KenLM puts it in: what backing off gives, but never above 0.
    pub fn new(order: usize, ngrams: BTreeMap<Vec<String>, (f32, f32)>) -> Self {
        let mut filled = ngrams.clone();
        for n in 3..=order {
            for words in ngrams.keys().filter(|k| k.len() == n) {
                let found = (1..n).find(|&from| filled.contains_key(&words[from..])).unwrap();
                let mut log10 = filled[&words[found..]].0;
                for from in (1..found).rev() {
                    log10 += filled[&words[from..n - 1]].1;
                    filled.insert(words[from..].to_vec(), (-log10.abs(), 0.0));
                }
            }
        }
        Backoff { order, ngrams, filled }
    }
    /// log10 p(word | context), and the words of the n-gram that matched.
    pub fn log10(&self, context: &[String], word: &str) -> (f64, usize) {
        let word = if self.ngrams.contains_key(&vec![word.to_string()]) { word } else { "<unk>" };
        let context = &context[context.len().saturating_sub(self.order - 1)..];
        let mut key = context.to_vec();
        key.push(word.to_string());
        match self.filled.get(&key) {
            Some(&(p, _)) => (p as f64, key.len()),
            None if context.is_empty() => (-100.0, 1),
            None => {
                let backoff = self.filled.get(context).map_or(0.0, |&(_, b)| b as f64);
                let (p, length) = self.log10(&context[1..], word);
                (p + backoff, length)
            }
        }
    }
    /// The words as the model knows them, unknown ones replaced.
    pub fn known(&self, words: &[&str]) -> Vec<String> {
        let known = |w: &&str| self.ngrams.contains_key(&vec![w.to_string()]);
        words.iter().map(|w| if known(w) { w.to_string() } else { "<unk>".to_string() }).collect()
    }
    /// −ln p of a sentence, with its boundaries or without.
    pub fn cost(&self, words: &[&str], boundaries: bool) -> f64 {
        let mut history: Vec<String> = vec![];
        let mut log10 = 0.0;
        if boundaries {
            history.push("<s>".into());
        }
        for w in self.known(words) {
            log10 += self.log10(&history, &w).0;
            history.push(w);
        }
        if boundaries {
            log10 += self.log10(&history, "</s>").0;
        }
        -log10 * std::f64::consts::LN_10
    }
    pub fn arpa(&self) -> String {
        let mut text = "\\data\\\n".to_string();
        let of = |n: usize| self.ngrams.iter().filter(move |(k, _)| k.len() == n);
        for n in 1..=self.order {
            text += &format!("ngram {n}={}\n", of(n).count());
        }
        for n in 1..=self.order {
            text += &format!("\n\\{n}-grams:\n");
            for (words, (p, b)) in of(n) {
                let backoff = if n < self.order && *b != 0.0 { format!("\t{b}") } else { String::new() };
                text += &format!("{p}\t{}{backoff}\n", words.join(" "));
            }
        }
        text + "\n\\end\\\n"
    }
    pub fn model(&self) -> NgramModel {
        arpa::read_from(io::from_bytes("test.arpa", self.arpa().into_bytes()).unwrap()).unwrap()
    }
}

/// A random model: contexts with and without back-offs, positive ones among them; every prefix of an n-gram is there,
/// suffixes need not be.
pub fn backoff() -> impl Strategy<Value = Backoff> {
    let number = 0..40i32;
    let gram = proptest::collection::vec(0..6usize, 2..=4);
    (1..=4usize, proptest::collection::vec((gram, number.clone(), -4..12i32), 0..25), any::<[u8; 6]>()).prop_map(
        |(order, grams, first)| {
            let vocabulary = ["<s>", "</s>", "a", "b", "c", "<unk>"];
            let mut ngrams = BTreeMap::new();
            for (w, p) in vocabulary.iter().zip(first) {
                let backoff = if order > 1 { (p % 5) as f32 / -4.0 } else { 0.0 };
                ngrams.insert(vec![w.to_string()], (-((p % 32) as f32) / 8.0, backoff));
            }
            for (gram, p, b) in grams {
                let words: Vec<String> = gram.iter().map(|&i| vocabulary[i].to_string()).collect();
                for n in 2..=words.len().min(order) {
                    let backoff = if n == order { 0.0 } else { b as f32 / -8.0 };
                    ngrams.entry(words[..n].to_vec()).or_insert((-p as f32 / 8.0, backoff));
                }
            }
            Backoff::new(order, ngrams)
        },
    )
}
