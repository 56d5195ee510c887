//! Sentences instead of bags, as in the paper: long ones are cut into parts, each part is ordered by itself, the lattices are
//! put together, and the models are applied again, across the places where the parts meet.

use super::bag::{Answer, Ordered, Orderer};
use super::lattice::Lattice;
use crate::error::Result;
use crate::fst::concat::concat;
use crate::fst::flat::FlatFst;
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::Tropical;
use crate::lm::apply::Boundaries;

/// What is made of the parts of a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Join {
    /// Their lattices, with the models applied across the places where they meet
    #[default]
    Lattices,
    /// The best answer of each
    Best,
}

/// Parts of at most `most` tokens, as few as there can be, of nearly the same length.
pub fn split<T>(tokens: &[T], most: usize) -> Vec<&[T]> {
    let parts = tokens.len().div_ceil(most.max(1)).max(1);
    let (short, longer) = (tokens.len() / parts, tokens.len() % parts);
    let mut at = 0;
    let mut out = vec![];
    for i in 0..parts {
        let length = short + usize::from(i < longer);
        out.push(&tokens[at..at + length]);
        at += length;
    }
    out
}

impl Orderer<'_> {
    /// Orders the parts of a sentence, and puts them together.
    pub fn order_sentence(&self, tokens: &[&str], most: usize, join: Join) -> Result<Ordered> {
        let parts = split(tokens, most);
        let last = parts.len() - 1;
        if last == 0 {
            return self.order(tokens);
        }
        let mut all = Ordered { exact: true, ..Ordered::default() };
        let mut best = Answer::default();
        let mut lattices: Vec<Lattice> = vec![];
        for (i, part) in parts.iter().enumerate() {
            let boundaries = match i {
                0 => Boundaries::Begin,
                _ if i == last => Boundaries::End,
                _ => Boundaries::None,
            };
            let mut done = self.part(part, boundaries)?;
            if join == Join::Best {
                self.finish(&mut done, boundaries)?;
            }
            all.rung = all.rung.max(done.rung);
            all.exact &= done.exact;
            all.forced |= done.forced;
            all.wider |= done.wider;
            all.alone |= done.alone;
            all.narrow |= done.narrow;
            all.unseen |= done.unseen;
            all.cut |= done.cut;
            all.phrases += done.phrases;
            all.cells += done.cells;
            all.hypotheses += done.hypotheses;
            if let Some(answer) = done.answers.first() {
                best.words.extend_from_slice(&answer.words);
                best.cost += answer.cost;
            }
            lattices.extend(done.lattice);
        }
        all.answers = vec![best];
        if lattices.len() <= last {
            return Ok(all);
        }
        let together = |of: fn(&Lattice) -> &FlatFst<Tropical>| -> Result<FlatFst<Tropical>> {
            let mut sum = of(&lattices[0]).clone();
            for lattice in &lattices[1..] {
                sum = concat(&sum, of(lattice))?;
            }
            rmepsilon(sum, &Default::default())
        };
        let rules = together(|l| &l.rules)?;
        let (whole, narrowed) = match join {
            // The answers of the parts were found with all models; put together they are what there is.
            Join::Best => (self.pruned(together(|l| &l.whole)?)?, false),
            Join::Lattices => self.rescore(&rules, &self.models, Boundaries::Add)?,
        };
        all.cut |= narrowed;
        let cut = lattices.iter().any(|l| l.cut);
        all.lattice = Some(Lattice { whole, rules, cut });
        if join == Join::Lattices {
            // What was best of the parts by themselves need not be best now.
            let parts = std::mem::take(&mut all.answers);
            self.finish(&mut all, Boundaries::Add)?;
            if all.answers.is_empty() {
                all.answers = parts;
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_nearly_equal_and_nothing_is_lost() {
        let tokens: Vec<usize> = (0..45).collect();
        let parts = split(&tokens, 20);
        assert_eq!(parts.iter().map(|p| p.len()).collect::<Vec<_>>(), [15, 15, 15]);
        assert_eq!(parts.concat(), tokens);
        assert_eq!(split(&tokens[..41], 20).iter().map(|p| p.len()).collect::<Vec<_>>(), [14, 14, 13]);
        assert_eq!(split(&tokens[..20], 20).len(), 1);
        assert_eq!(split(&tokens[..0], 20).len(), 1);
    }
}
