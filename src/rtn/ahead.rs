//! What searches know of histories before they have them: classes, and the least that words cost after them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Rtn, pointed};
use crate::fst::flat::Label;

/// Histories in classes. A word leads to one class, whatever came before it.
pub trait Histories {
    /// The class at the beginning.
    fn start(&self) -> u32;
    /// The class after a word.
    fn after(&self, class: u32, word: u32) -> u32;
    /// The word costs nothing and leaves the class as it is.
    fn is_silent(&self, word: u32) -> bool;
    /// The least that the models charge for a word after a history of the class.
    fn least(&self, class: u32, word: u32) -> f64;
    /// The least that they charge for the end.
    fn least_end(&self, class: u32) -> f64;
}

/// The words and classes of one sentence, numbered; costs are asked for once.
pub struct Words<H> {
    histories: H,
    numbers: HashMap<Label, u32, FxBuildHasher>,
    /// Of each word: the class after it; the last class that there is stands for none.
    after: Vec<u32>,
    /// Of each class, its name in `histories`; the first is the beginning's.
    names: Vec<u32>,
    labels: Vec<Label>,
    /// By class and word; NaN: not asked for yet.
    least: Vec<f64>,
    ends: Vec<f64>,
}

const SILENT: u32 = u32::MAX;

impl<H: Histories> Words<H> {
    /// The words of a network.
    pub fn new(rtn: &Rtn, histories: H) -> Self {
        let arcs = rtn.cells.iter().flat_map(|c| c.all_arcs());
        Self::of(arcs.map(|a| a.ilabel).filter(|&l| l != 0 && pointed(l).is_none()).collect(), histories)
    }

    pub fn of(mut labels: Vec<Label>, histories: H) -> Self {
        labels.sort_unstable();
        labels.dedup();
        let numbers = labels.iter().zip(0..).map(|(&l, i)| (l, i)).collect();
        let mut names = vec![histories.start()];
        let mut class_of: HashMap<u32, u32, FxBuildHasher> = [(histories.start(), 0)].into_iter().collect();
        let after: Vec<u32> = labels
            .iter()
            .map(|&l| {
                if histories.is_silent(l as u32) {
                    return SILENT;
                }
                *class_of.entry(histories.after(0, l as u32)).or_insert_with_key(|&name| {
                    names.push(name);
                    names.len() as u32 - 1
                })
            })
            .collect();
        let least = vec![f64::NAN; names.len() * labels.len()];
        let ends = names.iter().map(|&c| histories.least_end(c)).collect();
        Words { histories, numbers, after, names, labels, least, ends }
    }
    /// How many words.
    pub fn len(&self) -> usize {
        self.labels.len()
    }
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
    pub fn classes(&self) -> usize {
        self.names.len()
    }
    /// The class at the beginning.
    pub fn start(&self) -> u32 {
        0
    }
    pub fn number(&self, label: Label) -> u32 {
        self.numbers[&label]
    }
    #[inline]
    pub fn is_silent(&self, word: u32) -> bool {
        self.after[word as usize] == SILENT
    }
    #[inline]
    pub fn after(&self, class: u32, word: u32) -> u32 {
        match self.after[word as usize] {
            SILENT => class,
            after => after,
        }
    }
    #[inline]
    pub fn least(&mut self, class: u32, word: u32) -> f64 {
        let at = class as usize * self.labels.len() + word as usize;
        let known = self.least[at];
        if !known.is_nan() {
            return known;
        }
        let least = self.histories.least(self.names[class as usize], self.labels[word as usize] as u32);
        self.least[at] = least;
        least
    }
    #[inline]
    pub fn least_end(&self, class: u32) -> f64 {
        self.ends[class as usize]
    }
    pub fn bytes(&self) -> usize {
        8 * (self.least.capacity() + self.ends.capacity()) + 24 * self.labels.capacity()
    }
}
