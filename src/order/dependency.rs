//! A dependency language model (Shen, Xu and Weischedel 2010, section 3.4) over CoNLL-U trees.
//!
//! The words on one side of a head are generated from the nearest to the farthest: the first given the head, the second given
//! the head and the first, and so on as an n-gram model has it; the root given a mark of its own. The model is an ordinary
//! n-gram model over lines that begin with the head as head, `saw/L`, so that it is estimated and stored as any other. A
//! tree's probability is the product over all words; ends of lines are not generated, nor the heads as heads.

use crate::lm::{LanguageModel, NgramModel, UNKNOWN};
use crate::text::dependencies::Tree;

/// The head of the root. A model that does not know it is none of dependencies.
pub const ROOT: &str = "<root>/R";

/// What the model says of a tree.
impl Tree {
    /// The words on the sides of all heads, each from the nearest on, after the head as head; the root's first.
    pub fn sides(&self) -> Vec<Vec<String>> {
        let of = |head: usize| (0..self.words.len()).filter(move |&w| self.heads[w] == head);
        let words = |mark: String, side: &mut dyn Iterator<Item = usize>| {
            let mut line = vec![mark];
            line.extend(side.map(|w| self.words[w].clone()));
            line
        };
        let mut sides = vec![words(ROOT.to_string(), &mut of(0))];
        for (h, word) in self.words.iter().enumerate() {
            let dependents: Vec<usize> = of(h + 1).collect();
            let split = dependents.partition_point(|&w| w < h);
            sides.push(words(format!("{word}/L"), &mut dependents[..split].iter().rev().copied()));
            sides.push(words(format!("{word}/R"), &mut dependents[split..].iter().copied()));
        }
        sides.retain(|s| s.len() > 1);
        sides
    }

    /// −ln p of the tree.
    pub fn cost(&self, model: &NgramModel) -> f64 {
        let id = |w: &String| model.word(w).unwrap_or(UNKNOWN);
        let mut sum = 0.0;
        for side in self.sides() {
            let mut state = model.step(model.begin().unwrap_or(model.null()), id(&side[0])).0;
            for word in &side[1..] {
                let (next, cost) = model.step(state, id(word));
                state = next;
                sum += cost;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_go_from_the_nearest_to_the_farthest() {
        let words = "the boy will find it interesting".split(' ').map(String::from).collect();
        let tree = Tree { words, heads: vec![2, 4, 4, 0, 4, 4] };
        let sides: Vec<String> = tree.sides().iter().map(|s| s.join(" ")).collect();
        assert_eq!(sides, ["<root>/R find", "boy/L the", "find/L will boy", "find/R it interesting"]);
    }
}
