//! Reweighting by potentials: moves weight along paths, towards the start or towards the final states, and keeps the
//! weight of every path.
//!
//! An arc of weight w from a state of potential p to one of potential q gets p⁻¹ ⊗ (w ⊗ q) towards the start, and
//! (p ⊗ w) ⊗ q⁻¹ towards the final states. States past the end of `potentials` have potential zero; arcs from or to a
//! state of potential zero keep their weight. Where the start's own potential must be made good and the start lies on a
//! cycle, a new start state is added. O(V + E). Operation order is OpenFst's, so weights agree to the last bit.

use super::flat::{Arc, EPSILON, FlatFst, NO_STATE};
use super::semiring::Weight;
use super::visit::start_on_cycle;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ReweightType {
    /// Towards the start
    #[default]
    #[value(alias = "to-initial")]
    ToInitial,
    /// Towards the final states
    #[value(alias = "to-final")]
    ToFinal,
}

pub fn reweight<W: Weight>(mut fst: FlatFst<W>, potentials: &[W], kind: ReweightType) -> FlatFst<W> {
    if fst.num_states() == 0 {
        return fst;
    }
    let potential = |s: u32| potentials.get(s as usize).copied().unwrap_or(W::ZERO);
    let to_initial = kind == ReweightType::ToInitial;
    for s in fst.states() {
        let p = potential(s);
        if !p.is_zero_w() {
            for a in fst.arcs_mut(s) {
                let q = potential(a.nextstate);
                if !q.is_zero_w() {
                    a.weight = if to_initial { a.weight.otimes(q).odivide(p) } else { p.otimes(a.weight).odivide(q) };
                }
            }
        }
        let w = &mut fst.finals_mut()[s as usize];
        if !to_initial {
            *w = p.otimes(*w);
        } else if !p.is_zero_w() {
            *w = w.odivide(p);
        }
    }
    if fst.start() == NO_STATE {
        return fst;
    }
    let p = potential(fst.start());
    if p.is_one_w() || p.is_zero_w() {
        return fst;
    }
    let make_good = if to_initial { p } else { W::ONE.odivide(p) };
    let start = fst.start();
    if !start_on_cycle(&fst) {
        for a in fst.arcs_mut(start) {
            a.weight = make_good.otimes(a.weight);
        }
        let w = &mut fst.finals_mut()[start as usize];
        *w = make_good.otimes(*w);
        return fst;
    }
    let (isyms, osyms) = (fst.isyms.clone(), fst.osyms.clone());
    let (start, mut offsets, mut finals, mut arcs) = fst.into_parts();
    finals.push(W::ZERO);
    arcs.push(Arc::new(EPSILON, EPSILON, make_good, start));
    offsets.push(arcs.len() as u32);
    FlatFst::from_parts(finals.len() as u32 - 1, offsets, finals, arcs).with_symbols(isyms, osyms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn arc(w: f32, t: u32) -> Arc<Tropical> {
        Arc::new(1, 1, Tropical(w), t)
    }
    const Z: Tropical = Tropical::ZERO;

    #[test]
    fn path_weights_stay() {
        let f = FlatFst::from_rows(0, vec![(Z, vec![arc(1.0, 1)]), (Z, vec![arc(2.0, 2)]), (Tropical(4.0), vec![])]);
        let p = [Tropical(7.0), Tropical(6.0), Tropical(4.0)];
        let g = reweight(f.clone(), &p, ReweightType::ToInitial);
        let want = vec![(Z, vec![arc(7.0, 1)]), (Z, vec![arc(0.0, 2)]), (Tropical(0.0), vec![])];
        assert_eq!(g, FlatFst::from_rows(0, want));
        let d = [Tropical(0.0), Tropical(1.0), Tropical(3.0)];
        let g = reweight(f, &d, ReweightType::ToFinal);
        let want = vec![(Z, vec![arc(0.0, 1)]), (Z, vec![arc(0.0, 2)]), (Tropical(7.0), vec![])];
        assert_eq!(g, FlatFst::from_rows(0, want));
    }

    #[test]
    fn a_start_on_a_cycle_gets_one_in_front() {
        let f = FlatFst::from_rows(0, vec![(Tropical(3.0), vec![arc(1.0, 0)])]);
        let g = reweight(f, &[Tropical(3.0)], ReweightType::ToInitial);
        let front = Arc::new(0, 0, Tropical(3.0), 0);
        assert_eq!(g, FlatFst::from_rows(1, vec![(Tropical(0.0), vec![arc(1.0, 0)]), (Z, vec![front])]));
    }
}
