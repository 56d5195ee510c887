//! One pass over a text collection that finds the phrases of all bags at once.
//!
//! A word knows the bags that have it, and those that have it twice, and so on, as sets of bits. An n-gram is a phrase of
//! some bag if the sets of its words have a bag in common, a word that comes again taking the set of those that have it
//! again. An n-gram that was found before is in the table and is not asked about. Every thread counts in a table of its own;
//! these are added up at the end, so that the result does not depend on the threads.
//!
//! Costs one look-up a word of the text, and for words of bags one more for each n-gram up to the first that no bag has.
//! Memory is that of the n-grams found (20 bytes each, a thread) and of the sets: bags · words of bags / 8 bytes.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use super::Orders;
use super::table::{GAP, NgramTable, ROOT};
use crate::chart::bag::Bag;
use crate::error::{Error, Result};
use crate::lm::estimate::Progress;
use crate::text::lines::Blocks;
use crate::text::vocab::{Vocab, WordId};

/// Which bags have a word, and how often.
pub struct Scanner {
    vocab: Vocab,
    /// Of each word: its first set.
    first: Vec<u32>,
    /// `sets[s * width..]` are the bags of set `s`.
    sets: Vec<u64>,
    width: usize,
    /// `GAP`, if pairs are counted.
    gap: Option<WordId>,
}

/// How far apart the words of a pair are at most.
const FAR: usize = 60;

/// What a pass saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub sentences: u64,
    pub words: u64,
}

impl Scanner {
    /// `pairs`: counted, too, is how often two words of a bag came in which order.
    pub fn new(bags: &[Bag], pairs: bool) -> Self {
        let mut vocab = Vocab::default();
        let gap = pairs.then(|| vocab.add(GAP));
        let mut most: Vec<u32> = vec![0; vocab.len()];
        for bag in bags {
            for (word, &count) in bag.words.iter().zip(&bag.counts) {
                let id = vocab.add(word) as usize;
                most.resize(vocab.len(), 0);
                most[id] = most[id].max(count);
            }
        }
        let width = bags.len().div_ceil(64).max(1);
        let mut first = Vec::with_capacity(most.len() + 1);
        let mut sets = 0;
        for &m in &most {
            first.push(sets);
            sets += m;
        }
        first.push(sets);
        let mut scanner = Scanner { vocab, first, sets: vec![0; sets as usize * width], width, gap };
        for (b, bag) in bags.iter().enumerate() {
            for (word, &count) in bag.words.iter().zip(&bag.counts) {
                let Some(id) = scanner.vocab.find(word) else { continue };
                for k in 0..count {
                    let set = (scanner.first[id as usize] + k) as usize;
                    scanner.sets[set * width + b / 64] |= 1 << (b % 64);
                }
            }
        }
        scanner
    }

    /// Whether some bag has these words, each as often as it is here.
    fn in_a_bag(&self, words: &[WordId], sets: &mut Vec<usize>) -> bool {
        sets.clear();
        for (i, &word) in words.iter().enumerate() {
            let again = words[..i].iter().filter(|&&w| w == word).count() as u32;
            let set = self.first[word as usize] + again;
            if set >= self.first[word as usize + 1] {
                return false;
            }
            sets.push(set as usize * self.width);
        }
        (0..self.width).any(|i| sets.iter().fold(!0, |bags, &s| bags & self.sets[s + i]) != 0)
    }

    fn text(&self, text: &str, most: usize, table: &mut NgramTable, seen: &mut Seen) {
        let mut ids: Vec<WordId> = vec![];
        let mut sets = vec![];
        for line in text.lines() {
            ids.clear();
            // 0 is no word of any bag.
            ids.extend(line.split_ascii_whitespace().map(|w| self.vocab.find(w).unwrap_or(0)));
            seen.sentences += 1;
            seen.words += ids.len() as u64;
            for i in 0..ids.len() {
                let mut node = ROOT;
                for j in i..ids.len().min(i + most) {
                    if ids[j] == 0 {
                        break;
                    }
                    node = match table.find(node, ids[j]) {
                        Some(next) => next,
                        None if self.in_a_bag(&ids[i..=j], &mut sets) => table.add(node, ids[j]),
                        None => break,
                    };
                    table.count(node, 1);
                }
            }
            if let Some(gap) = self.gap {
                self.pairs(&ids, gap, table, &mut sets);
            }
        }
    }

    /// Counts which words came before which.
    fn pairs(&self, ids: &[WordId], gap: WordId, table: &mut NgramTable, sets: &mut Vec<usize>) {
        for (i, &first) in ids.iter().enumerate().filter(|(_, w)| **w != 0) {
            let Some(alone) = table.find(ROOT, first) else { continue };
            let before = table.add(alone, gap);
            for &second in &ids[i + 1..ids.len().min(i + FAR)] {
                if second == 0 || second == first {
                    continue;
                }
                let node = match table.find(before, second) {
                    Some(node) => node,
                    None if self.in_a_bag(&[first, second], sets) => table.add(before, second),
                    None => continue,
                };
                table.count(node, 1);
            }
        }
    }

    /// The n-grams of the texts that are phrases of some bag.
    pub fn scan(
        &self,
        texts: &[String],
        orders: Orders,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<(NgramTable, Seen)> {
        progress.stage("looking for phrases", None);
        let threads = threads.max(1);
        let (send, receive) = sync_channel(2 * threads);
        let receive = Arc::new(Mutex::new(receive));
        let mut all = (NgramTable::new(self.vocab.clone()), Seen::default());
        std::thread::scope(|scope| -> Result<()> {
            let worker = |receive: Arc<Mutex<std::sync::mpsc::Receiver<crate::text::lines::Block>>>| {
                let mut table = NgramTable::new(Vocab::default());
                let mut seen = Seen::default();
                loop {
                    // The lock is held while waiting, and given up before the work.
                    let block = match receive.lock().map(|r| r.recv()) {
                        Ok(Ok(block)) => block,
                        _ => return (table, seen),
                    };
                    self.text(&block.text, orders.most, &mut table, &mut seen);
                }
            };
            let mut workers = vec![];
            for _ in 0..threads {
                let receive = receive.clone();
                let spawned = std::thread::Builder::new().spawn_scoped(scope, move || worker(receive));
                workers.push(spawned.map_err(|e| Error::usage(format!("cannot start a thread: {e}")))?);
            }
            let read = || -> Result<()> {
                for text in texts {
                    let mut blocks = Blocks::open(text)?;
                    while let Some(block) = blocks.next_block()? {
                        progress.advance(block.text.len() as u64);
                        if send.send(block).is_err() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            };
            let done = read();
            drop(send);
            for worker in workers {
                let (table, seen) =
                    worker.join().map_err(|_| Error::op("order phrases", "a thread ended before its work was done"))?;
                all.0.merge(&table);
                all.1.sentences += seen.sentences;
                all.1.words += seen.words;
            }
            done
        })?;
        Ok(all)
    }
}
