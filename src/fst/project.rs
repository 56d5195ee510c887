//! Projection: a transducer becomes the acceptor of its input or of its output side. Needs nothing of its input. O(E).

use super::flat::FlatFst;
use super::semiring::Weight;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ProjectType {
    #[default]
    Input,
    Output,
}

pub fn project<W: Weight>(mut fst: FlatFst<W>, side: ProjectType) -> FlatFst<W> {
    match side {
        ProjectType::Input => {
            fst.all_arcs_mut().iter_mut().for_each(|a| a.olabel = a.ilabel);
            fst.osyms = fst.isyms.clone();
        }
        ProjectType::Output => {
            fst.all_arcs_mut().iter_mut().for_each(|a| a.ilabel = a.olabel);
            fst.isyms = fst.osyms.clone();
        }
    }
    fst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    #[test]
    fn one_side_is_left() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![Arc::new(1, 2, Tropical(0.5), 0)])]);
        assert_eq!(project(f.clone(), ProjectType::Input).arcs(0)[0], Arc::new(1, 1, Tropical(0.5), 0));
        assert_eq!(project(f, ProjectType::Output).arcs(0)[0], Arc::new(2, 2, Tropical(0.5), 0));
    }
}
