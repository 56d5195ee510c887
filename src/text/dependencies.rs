//! Dependency trees in CoNLL-U: words with the places of their heads.
//!
//! A line a word, ten columns between tabs, an empty line after each sentence; multiword tokens and empty nodes are passed
//! over. Every word must lead to a root over its heads, of which a tree may have several.

use super::lines::Blocks;
use crate::error::{Error, Result};

const COLUMNS: usize = 10;

/// A sentence with the head of each word: its place from 1, 0 for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub words: Vec<String>,
    pub heads: Vec<usize>,
}

impl Tree {
    /// The first word with a head that is not there, and the first that is its own head, itself or over others.
    fn fault(&self) -> Option<(usize, String)> {
        let n = self.words.len();
        if let Some(w) = self.heads.iter().position(|&h| h > n) {
            return Some((w, format!("word {} has the head {}, but the sentence has {n} words", w + 1, self.heads[w])));
        }
        // 0: not looked at, 1: on the way from the word now looked at, 2: leads to a root.
        let mut state = vec![0u8; n];
        for w in 0..n {
            let mut at = w + 1;
            while at != 0 && state[at - 1] == 0 {
                state[at - 1] = 1;
                at = self.heads[at - 1];
            }
            if at != 0 && state[at - 1] == 1 {
                return Some((at - 1, format!("word {at} is its own head, or that of its heads; no root is above it")));
            }
            let mut at = w + 1;
            while at != 0 && state[at - 1] == 1 {
                state[at - 1] = 2;
                at = self.heads[at - 1];
            }
        }
        None
    }
}

/// Gives every tree of a CoNLL-U file to `sink`, with the line where it begins.
pub fn read(name: &str, mut sink: impl FnMut(Tree, usize) -> Result<()>) -> Result<()> {
    let mut blocks = Blocks::open(name)?;
    let mut tree = Tree::default();
    // The lines of its words.
    let mut lines: Vec<usize> = vec![];
    let mut finish = |tree: &mut Tree, lines: &mut Vec<usize>, file: &str| {
        let (tree, lines) = (std::mem::take(tree), std::mem::take(lines));
        if let Some((word, message)) = tree.fault() {
            return Err(Error::text(file, lines[word], 1, message));
        }
        lines.first().map_or(Ok(()), |&line| sink(tree, line))
    };
    let mut file = String::new();
    while let Some(block) = blocks.next_block()? {
        file = block.file.to_string();
        for (number, line) in block.lines() {
            if line.trim().is_empty() {
                finish(&mut tree, &mut lines, &file)?;
                continue;
            }
            if line.starts_with('#') {
                continue;
            }
            let columns: Vec<&str> = line.trim_end_matches('\r').split('\t').collect();
            if columns.len() != COLUMNS {
                let message = format!("{} columns, expected the ten of CoNLL-U between tabs", columns.len());
                return Err(Error::text(&file, number, 1, message));
            }
            let wrong = |column: usize, what: String| {
                let before: usize = columns[..column].iter().map(|c| c.chars().count() + 1).sum();
                Error::text(&file, number, before + 1, what)
            };
            let (id, form, head) = (columns[0], columns[1], columns[6]);
            if id.contains(['-', '.']) {
                continue;
            }
            if id.parse() != Ok(tree.words.len() + 1) {
                return Err(wrong(0, format!("the word's number is {id:?}, expected {}", tree.words.len() + 1)));
            }
            tree.heads.push(head.parse().map_err(|_| wrong(6, format!("the head is {head:?}, expected a number")))?);
            tree.words.push(form.replace(' ', "_"));
            lines.push(number);
        }
    }
    finish(&mut tree, &mut lines, &file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_must_lead_to_a_root() {
        let fault = |heads: &[usize]| {
            Tree { words: vec![String::from("w"); heads.len()], heads: heads.to_vec() }.fault().map(|(w, _)| w)
        };
        assert_eq!(fault(&[2, 0, 2, 3]), None);
        assert_eq!(fault(&[0, 0]), None);
        assert_eq!(fault(&[]), None);
        assert_eq!(fault(&[2, 0, 5]), Some(2));
        assert_eq!(fault(&[0, 2]), Some(1));
        assert_eq!(fault(&[0, 3, 4, 2]), Some(1));
        assert_eq!(fault(&[4, 0, 4, 3]), Some(3));
    }
}
