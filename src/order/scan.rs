//! One pass over a text collection that finds the phrases of all bags at once.
//!
//! Most of what a text has is no phrase of any bag, and this must be seen quickly: two words are a phrase only if they share
//! a bag (`Partners`), and longer n-grams only if both n-grams of one word less are phrases and the first and the last word
//! share a bag. What passes is looked up among the n-grams found before; what is not there is asked about with the bags of
//! its rarest word, a word that comes again counting for those that have it again. Every thread counts for itself; counts are added up at the end, so that the result does not
//! depend on the threads.
//!
//! Costs a look-up a word of the text, one for every two words beside each other, one for every two words of a sentence if
//! orders of pairs are counted, and for n-grams that bags may have one more each. Memory is that of the n-grams found (20
//! bytes each, a thread), of the pairs of words that share a bag (about 16 bytes each, 8 more a thread) and of the sets:
//! bags · words of bags / 8 bytes.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use super::Orders;
use super::grams::{Counts, Ngrams};
use super::partners::{Partners, Tally, Words, word_end};
use super::table::{NgramTable, ROOT};
use crate::chart::bag::Bag;
use crate::error::{Error, Result};
use crate::lm::estimate::Progress;
use crate::text::lines::{Block, Blocks};
use crate::text::vocab::{GAP, Vocab, WordId, spelled};

/// Which bags have a word, and how often.
pub struct Scanner {
    vocab: Vocab,
    words: Words,
    partners: Partners,
    /// Of each word: its first set.
    first: Vec<u32>,
    /// `sets[s * width..]` are the bags of set `s` as bits.
    sets: Vec<u64>,
    width: usize,
    /// The bags of each set as numbers.
    lists: Vec<Vec<u32>>,
    /// `GAP`, if pairs are counted.
    gap: Option<WordId>,
}

/// Words of a pair are less than so far apart.
pub(super) const FAR: usize = 60;

/// What a pass saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub sentences: u64,
    pub words: u64,
}

/// What one thread found.
struct Found {
    words: Counts,
    /// By the numbers of `Partners`: words beside each other, and words of a sentence.
    beside: Counts,
    before: Tally,
    /// Longer n-grams by (beginning, word); beginnings of two words are numbers of `Partners`, longer ones have numbers
    /// from the last of these on.
    longer: Ngrams,
    seen: Seen,
}

impl Scanner {
    /// `pairs`: counted, too, is how often two words of a bag came in which order.
    pub fn new(bags: &[Bag], pairs: bool) -> Result<Self> {
        let mut vocab = Vocab::default();
        let gap = pairs.then(|| vocab.add(GAP));
        let mut most: Vec<u32> = vec![0; vocab.len()];
        let mut ids: Vec<Vec<WordId>> = Vec::with_capacity(bags.len());
        for bag in bags {
            ids.push(bag.words.iter().map(|word| vocab.add(&spelled(word))).collect());
            most.resize(vocab.len(), 0);
            for (&id, &count) in ids[ids.len() - 1].iter().zip(&bag.counts) {
                most[id as usize] = most[id as usize].max(count);
            }
        }
        let width = bags.len().div_ceil(64).max(1);
        let mut first = Vec::with_capacity(most.len() + 1);
        let mut count = 0;
        for &m in &most {
            first.push(count);
            count += m;
        }
        first.push(count);
        let mut sets = vec![0; count as usize * width];
        let mut lists: Vec<Vec<u32>> = vec![vec![]; count as usize];
        for (b, bag) in bags.iter().enumerate() {
            for (&id, &count) in ids[b].iter().zip(&bag.counts) {
                for k in 0..count {
                    let set = (first[id as usize] + k) as usize;
                    sets[set * width + b / 64] |= 1 << (b % 64);
                    lists[set].push(b as u32);
                }
            }
        }
        // A word's partners are the words of its bags; it is one itself if a bag has it twice.
        let mut last = vec![0; vocab.len()];
        let partners = Partners::new(vocab.len(), |word, list| {
            if most[word as usize] == 0 || Some(word) == gap {
                return;
            }
            last[word as usize] = word;
            for &b in &lists[first[word as usize] as usize] {
                for &other in &ids[b as usize] {
                    if Some(other) != gap && std::mem::replace(&mut last[other as usize], word) != word {
                        list.push(other);
                    }
                }
            }
            if most[word as usize] > 1 {
                list.push(word);
            }
        });
        let too_many = || Error::limit("order phrases", "2^32 pairs of words", "take fewer bags at a time");
        let words = Words::new(&vocab, gap);
        Ok(Scanner { words, partners: partners.ok_or_else(too_many)?, vocab, first, sets, width, lists, gap })
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
            sets.push(set as usize);
        }
        let Some(&rarest) = sets.iter().min_by_key(|&&s| self.lists[s].len()) else { return true };
        let has = |set: usize, b: usize| self.sets[set * self.width + b / 64] >> (b % 64) & 1 == 1;
        self.lists[rarest].iter().any(|&b| sets.iter().all(|&s| has(s, b as usize)))
    }

    fn found(&self) -> Found {
        Found {
            words: Counts::new(self.vocab.len()),
            beside: Counts::new(self.partners.len()),
            before: self.gap.map(|_| self.partners.tally()).unwrap_or_default(),
            longer: Ngrams::default(),
            seen: Seen::default(),
        }
    }

    /// Goes over some lines.
    fn text(&self, text: &[u8], most: usize, found: &mut Found) -> Result<()> {
        let mut ids: Vec<WordId> = vec![];
        let mut work = Work::default();
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'\n' => {
                    self.sentence(&ids, most, found, &mut work)?;
                    ids.clear();
                    at += 1;
                }
                b if b.is_ascii_whitespace() => at += 1,
                _ => {
                    let end = word_end(text, at);
                    ids.push(self.words.find(text, at, end));
                    at = end;
                }
            }
        }
        match text.last() {
            None | Some(b'\n') => Ok(()),
            _ => self.sentence(&ids, most, found, &mut work),
        }
    }

    /// Counts order by order, so that what is looked up for one place need not wait for what is looked up for another.
    fn sentence(&self, ids: &[WordId], most: usize, found: &mut Found, work: &mut Work) -> Result<()> {
        found.seen.sentences += 1;
        found.seen.words += ids.len() as u64;
        ids.iter().filter(|&&w| w != 0).for_each(|&w| found.words.add(w as usize));
        // Where phrases of the last order begin, each with its number; 0 is no word, and shares no bag.
        work.here.clear();
        if most > 1 {
            let pair = |(i, w): (usize, &[WordId])| Some((i as u32, self.partners.find(w[0], w[1])? as u32));
            work.here.extend(ids.windows(2).enumerate().filter_map(pair));
            work.here.iter().for_each(|&(_, pair)| found.beside.add(pair as usize));
        }
        for order in 3..=most.min(ids.len()) {
            work.next.clear();
            // An n-gram may be a phrase if what is left of it without its first and without its last word are phrases.
            for two in work.here.windows(2).filter(|two| two[0].0 + 1 == two[1].0) {
                let (i, node) = two[0];
                let last = ids[i as usize + order - 1];
                if self.partners.find(ids[i as usize], last).is_some() {
                    let key = (node as u64) << 32 | last as u64;
                    found.longer.prefetch(key);
                    work.next.push((i, key));
                }
            }
            work.here.clear();
            for &(i, key) in &work.next {
                let ngram = &ids[i as usize..i as usize + order];
                if let Some(number) = found.longer.count(key, || self.in_a_bag(ngram, &mut work.sets)) {
                    let node = number as usize + self.partners.len();
                    work.here.push((i, u32::try_from(node).map_err(|_| too_long())?));
                }
            }
            if work.here.len() < 2 {
                break;
            }
        }
        if self.gap.is_some() {
            for (i, &first) in ids.iter().enumerate().filter(|(_, w)| **w != 0) {
                for &second in &ids[i + 1..ids.len().min(i + FAR)] {
                    if second != first && second != 0 {
                        self.partners.count(&mut found.before, first, second);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds what a thread found to a table.
    fn add(&self, found: &Found, table: &mut NgramTable) {
        for (word, &count) in found.words.of().iter().enumerate().filter(|(_, c)| **c > 0) {
            let node = table.add(ROOT, word as WordId);
            table.count(node, count);
        }
        let beside = found.beside.of();
        let mut place = vec![ROOT; self.partners.len()];
        let node = |table: &mut NgramTable, a: WordId| table.add(ROOT, a);
        for (n, a, b) in self.partners.iter().filter(|(n, ..)| beside[*n] > 0) {
            let alone = node(table, a);
            place[n] = table.add(alone, b);
            table.count(place[n], beside[n]);
        }
        for (key, count) in found.longer.of() {
            // A beginning has a smaller number than what it is a beginning of.
            let to = table.add(place[(key >> 32) as usize], key as WordId);
            table.count(to, count);
            place.push(to);
        }
        if let Some(gap) = self.gap {
            let before = found.before.of();
            for (n, a, b) in self.partners.iter().filter(|(n, ..)| before[*n] > 0) {
                let alone = node(table, a);
                let after = table.add(alone, gap);
                let pair = table.add(after, b);
                table.count(pair, before[n]);
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
            let worker = |receive: Arc<Mutex<std::sync::mpsc::Receiver<Block>>>| {
                let mut found = self.found();
                loop {
                    // The lock is held while waiting, and given up before the work.
                    let block = match receive.lock().map(|r| r.recv()) {
                        Ok(Ok(block)) => block,
                        _ => return Ok(found),
                    };
                    self.text(block.text.as_bytes(), orders.most, &mut found)?;
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
                let found = worker
                    .join()
                    .map_err(|_| Error::op("order phrases", "a thread ended before its work was done"))??;
                self.add(&found, &mut all.0);
                all.1.sentences += found.seen.sentences;
                all.1.words += found.seen.words;
            }
            done
        })?;
        Ok(all)
    }
}

/// What sentences are worked on with.
#[derive(Default)]
struct Work {
    here: Vec<(u32, u32)>,
    next: Vec<(u32, u64)>,
    sets: Vec<usize>,
}

fn too_long() -> Error {
    Error::limit("order phrases", "2^32 n-grams", "take fewer bags at a time")
}
