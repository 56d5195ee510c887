//! Word ordering: bags of words to sentences, with phrases of a text collection and language models (GYRO: de Gispert,
//! Tomalin and Byrne, "Word Ordering with Phrase-Based Grammars", 2014).
//!
//! ```text
//! text ──scan──► n-grams of all bags ─┐
//! text ──index─► mapped n-grams ──────┴─► phrases of a bag ──search──► hypotheses ──lattice──► lattice ──lm──► sentences
//! ```
//!
//! An `Orderer` is read by all threads; each bag is one call. Where the phrases of the chosen orders cannot make up a bag,
//! shorter ones are added, until there are all words alone, so that every bag has an answer.

pub mod bag;
pub mod dependency;
pub mod dump;
pub mod extensions;
pub mod features;
pub mod future;
pub mod grams;
pub mod grid;
pub mod index;
pub mod lattice;
pub mod models;
pub mod partners;
pub mod rows;
pub mod scan;
pub mod score;
pub mod search;
pub mod sentences;
pub mod table;
pub mod tiles;
pub mod tiling;

use crate::error::{Error, Result};

pub use bag::{Algorithm, Answer, Future, OrderConfig, Ordered, Orderer, Rung, vocabulary};

/// Lengths of n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    pub least: usize,
    pub most: usize,
}

impl Orders {
    /// Longer n-grams than anybody counts.
    pub const MOST: usize = 20;

    pub fn has(self, n: usize) -> bool {
        (self.least..=self.most).contains(&n)
    }

    /// Reads `3-5` or `4`.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            let most = Self::MOST;
            Error::usage(format!("--orders {text}: expected lengths from 1 to {most}, such as 1-5, 3-5 or 2"))
        };
        let number = |t: &str| t.trim().parse::<usize>().ok().filter(|n| (1..=Self::MOST).contains(n));
        let (least, most) = text.split_once(['-', ':']).unwrap_or((text, text));
        let orders = Orders { least: number(least).ok_or_else(wrong)?, most: number(most).ok_or_else(wrong)? };
        if orders.least > orders.most { Err(wrong()) } else { Ok(orders) }
    }
}

impl std::fmt::Display for Orders {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Orders { least, most } if least == most => write!(f, "{least}"),
            Orders { least, most } => write!(f, "{least}-{most}"),
        }
    }
}
