//! Inversion: input and output labels change places, with their symbol tables. Needs nothing of its input. O(E).

use super::flat::FlatFst;
use super::semiring::Weight;

pub fn invert<W: Weight>(mut fst: FlatFst<W>) -> FlatFst<W> {
    for a in fst.all_arcs_mut() {
        std::mem::swap(&mut a.ilabel, &mut a.olabel);
    }
    std::mem::swap(&mut fst.isyms, &mut fst.osyms);
    fst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::Arc;
    use crate::fst::semiring::Tropical;

    #[test]
    fn twice_is_the_same() {
        let f = FlatFst::from_rows(0, vec![(Tropical::ONE, vec![Arc::new(1, 2, Tropical(0.5), 0)])]);
        let g = invert(f.clone());
        assert_eq!((g.arcs(0)[0].ilabel, g.arcs(0)[0].olabel), (2, 1));
        assert_eq!(invert(g), f);
    }
}
