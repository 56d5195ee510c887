//! Phrases of bags: the pass over a text, the index, files and map and reduce steps, against counting by hand.

use std::collections::BTreeMap;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use weft::chart::bag::Bag;
use weft::lm::estimate::Progress;
use weft::order::Orders;
use weft::order::index::{self, Index};
use weft::order::scan::Scanner;
use weft::order::table::{NgramTable, Phrases};

use crate::sandbox::Sandbox;

struct Quiet;
impl Progress for Quiet {
    fn stage(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}

fn words(rng: &mut SmallRng, n: usize) -> String {
    // The first ones are frequent, the last ones rare.
    const WORDS: [&str; 14] =
        ["the", "a", "cat", "sat", "on", "mat", ",", ".", "dog", "ran", "by", "hat", "owl", "far"];
    (0..n).map(|_| WORDS[rng.random_range(0..14).min(rng.random_range(0..14))]).collect::<Vec<_>>().join(" ")
}

/// A text and bags.
fn data(seed: u64) -> (String, Vec<String>) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let sentence = |rng: &mut SmallRng| {
        let n = rng.random_range(0..12);
        words(rng, n)
    };
    let mut text: Vec<String> = (0..199).map(|_| sentence(&mut rng)).collect();
    // Words far from each other are no pair.
    text.push(words(&mut rng, 150));
    let bags = (0..70).map(|_| sentence(&mut rng) + " unseen").collect();
    (text.join("\n") + "\n", bags)
}

/// By hand: every n-gram of a bag, and every pair.
fn by_hand(text: &str, bag: &Bag, orders: Orders) -> (BTreeMap<Vec<u32>, u64>, Vec<u64>) {
    let mut found = BTreeMap::new();
    let n = bag.words.len();
    let mut pairs = vec![0; n * n];
    for line in text.lines() {
        let types: Vec<Option<u32>> = line.split_ascii_whitespace().map(|w| bag.find(w)).collect();
        for i in 0..types.len() {
            for length in orders.least..=orders.most.min(types.len() - i) {
                let ngram: Option<Vec<u32>> = types[i..i + length].iter().copied().collect();
                if let Some(ngram) = ngram.filter(|g| bag.cover::<1>(g).is_some()) {
                    *found.entry(ngram).or_default() += 1;
                }
            }
            for j in i + 1..types.len().min(i + 60) {
                if let (Some(a), Some(b)) = (types[i], types[j])
                    && a != b
                {
                    pairs[a as usize * n + b as usize] += 1;
                }
            }
        }
    }
    (found, pairs)
}

#[test]
fn every_way_to_find_phrases_finds_those_that_are_there() {
    let orders = Orders { least: 1, most: 4 };
    for seed in 0..6 {
        let (text, lines) = data(seed);
        let s = Sandbox::empty();
        s.write("t.txt", &text);
        s.write("bags", &(lines.join("\n") + "\n"));
        let name = s.path().join("t.txt").to_str().unwrap().to_string();
        let bags: Vec<Bag> = lines.iter().map(|l| Bag::new(l.split_ascii_whitespace()).unwrap()).collect();
        let scanned = |threads| {
            Scanner::new(&bags, true).unwrap().scan(std::slice::from_ref(&name), orders, threads, &Quiet).unwrap()
        };
        let (table, seen) = scanned(1);
        assert_eq!(seen.sentences, 200);
        let file = s.path().join("p.gz").to_str().unwrap().to_string();
        scanned(3).0.write(&file, orders).unwrap();
        let read = NgramTable::read(&file).unwrap();
        let idx = s.path().join("t.idx").to_str().unwrap().to_string();
        index::build(std::slice::from_ref(&name), 4, &idx, &Quiet).unwrap();
        let index = Index::open(&idx).unwrap();
        s.run("weft order phrases --text t.txt --orders 1-4 bags -o one.gz").ok();
        s.run("head -90 t.txt > t1; tail -110 t.txt > t2; (weft order phrases --orders 1-4 --map bags < t1; weft order phrases --orders 1-4 --map bags < t2) | LC_ALL=C sort | weft order phrases --reduce -o two").ok();
        assert_eq!(s.run("zcat one.gz").ok(), s.read("two"));
        for bag in &bags {
            let (meant, pairs) = by_hand(&text, bag, orders);
            let sources: [(&str, &dyn Phrases); 3] = [("scan", &table), ("file", &read), ("index", &index)];
            for (what, source) in sources {
                let found: BTreeMap<Vec<u32>, u64> = source.phrases(bag, orders).into_iter().collect();
                assert_eq!(found, meant, "{what}, seed {seed}");
                assert_eq!(source.pairs(bag).unwrap(), pairs, "{what}, seed {seed}");
            }
        }
    }
}

#[test]
fn bad_files_are_named_with_a_place() {
    let s = Sandbox::empty();
    s.write("bag", "a b\n");
    s.write("lm.arpa", "\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-1\t</s>\n\n\\end\\\n");
    for (text, why) in [
        ("a b 3\n", "p:1:6: no tab"),
        ("a b\t3\na  b\t1\n", "p:2:1: an empty word"),
        ("a b\tmany\n", "p:1:5: \"many\" is not a count"),
    ] {
        s.write("p", text);
        s.run("weft order --phrases p --lm lm.arpa bag").fails(2, &[why]);
    }
    s.write("p", "b\t1\na\t1\n");
    s.run("weft order phrases --reduce p").fails(2, &["p:2:1: the lines are not sorted"]);
    s.write("t.txt", "a b\nb a\n");
    s.run("weft order index t.txt -o t.idx").ok();
    s.run("head -c 90 t.idx > cut.idx").ok();
    s.run("weft order --index cut.idx --lm lm.arpa bag").fails(2, &["cut.idx: byte 90", "cut off"]);
    s.run("weft order --index t.txt --lm lm.arpa bag").fails(2, &["t.txt: byte"]);
    s.run("weft order --lm lm.arpa bag").fails(2, &["where do phrases come from?"]);
    s.run("weft order --text none.txt --lm lm.arpa bag").fails(2, &["none.txt"]);
    s.run("weft order --text t.txt --orders 5-3 --lm lm.arpa bag").fails(2, &["--orders 5-3", "such as 1-5"]);
    s.run("weft order --text t.txt --beam=-1 --lm lm.arpa bag").fails(2, &["--beam is -1"]);
    s.run("weft order --text t.txt --lm lm.arpa --lattices one.fst bag").fails(2, &["put `?` in its name"]);
    s.write("w.toml", "Frase = 1\n");
    s.run("weft order --text t.txt --lm lm.arpa --weights w.toml bag").fails(2, &["Frase", "Phrase, LogCount"]);
}
