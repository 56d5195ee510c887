//! Reversal: the strings backwards, with the same weights.
//!
//! A new start state (state 0; the others move up by one) has an epsilon arc, with the final weight, to every old final
//! state. Without `require_superinitial` it is left out if there is exactly one final state, and this has weight one or
//! lies on no cycle. Needs nothing of its input. O(V + E). Numbering and arc order are OpenFst's.

use super::flat::{Arc, EPSILON, FlatFst, StateId, check_arcs};
use super::semiring::Weight;
use super::visit::on_cycle;
use crate::error::Result;

#[derive(Clone, Copy, Debug)]
pub struct ReverseConfig {
    /// Always make a new start state.
    pub require_superinitial: bool,
}

impl Default for ReverseConfig {
    fn default() -> Self {
        ReverseConfig { require_superinitial: true }
    }
}

pub fn reverse<W: Weight>(fst: &FlatFst<W>, config: &ReverseConfig) -> Result<FlatFst<W>> {
    let n = fst.num_states();
    let single = if config.require_superinitial { None } else { single_final(fst) };
    let shift = single.is_none() as usize;
    let final_states = if shift == 1 { fst.states().filter(|&s| fst.is_final(s)).count() } else { 0 };
    // Offsets are counted in 32 bits.
    check_arcs("reverse", fst.num_arcs() + final_states)?;

    // Counting sort of the arcs by target. The count of state `t` stands two places on, so that after summing one place
    // on is where its next arc goes, and at the end where they stop.
    let mut offsets = vec![0u32; n + shift + 2];
    if shift == 1 {
        offsets[2] = final_states as u32;
    }
    for a in fst.all_arcs() {
        offsets[a.nextstate as usize + shift + 2] += 1;
    }
    for s in 2..offsets.len() {
        offsets[s] += offsets[s - 1];
    }
    let mut arcs = vec![Arc::new(EPSILON, EPSILON, W::ONE, 0); fst.num_arcs() + final_states];
    let mut finals = vec![W::ZERO; n + shift];
    for s in fst.states() {
        let here = s + shift as StateId;
        if shift == 1 && fst.is_final(s) {
            arcs[offsets[1] as usize] = Arc::new(EPSILON, EPSILON, fst.final_weight(s), here);
            offsets[1] += 1;
        }
        for a in fst.arcs(s) {
            let weight = match single {
                Some(f) if f == a.nextstate => fst.final_weight(f).otimes(a.weight),
                _ => a.weight,
            };
            let place = &mut offsets[a.nextstate as usize + shift + 1];
            arcs[*place as usize] = Arc::new(a.ilabel, a.olabel, weight, here);
            *place += 1;
        }
    }
    offsets.pop();
    if let Some(s) = fst.states().find(|&s| s == fst.start()) {
        finals[s as usize + shift] = match single {
            Some(f) if f == s => fst.final_weight(f),
            _ => W::ONE,
        };
    }
    Ok(FlatFst::from_parts(single.unwrap_or(0), offsets, finals, arcs).with_symbols_of(fst))
}

/// The only final state, if it can be the start of the reversed automaton.
fn single_final<W: Weight>(fst: &FlatFst<W>) -> Option<StateId> {
    let mut finals = fst.states().filter(|&s| fst.is_final(s));
    let s = finals.next()?;
    if finals.next().is_some() {
        return None;
    }
    (fst.final_weight(s).is_one_w() || !on_cycle(fst, s)).then_some(s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn arc(l: i32, w: f32, t: u32) -> Arc<Tropical> {
        Arc::new(l, l, Tropical(w), t)
    }

    #[test]
    fn with_and_without_a_new_start() {
        let z = Tropical::ZERO;
        let f = FlatFst::from_rows(0, vec![(z, vec![arc(1, 0.5, 1), arc(2, 0.25, 1)]), (Tropical(2.0), vec![])]);
        let up = FlatFst::from_rows(
            0,
            vec![(z, vec![arc(0, 2.0, 2)]), (Tropical::ONE, vec![]), (z, vec![arc(1, 0.5, 1), arc(2, 0.25, 1)])],
        );
        assert_eq!(reverse(&f, &ReverseConfig::default()).unwrap(), up);
        let plain = FlatFst::from_rows(1, vec![(Tropical::ONE, vec![]), (z, vec![arc(1, 2.5, 0), arc(2, 2.25, 0)])]);
        assert_eq!(reverse(&f, &ReverseConfig { require_superinitial: false }).unwrap(), plain);
    }

    #[test]
    fn nothing_backwards_is_one_dead_state() {
        let r = reverse(&FlatFst::<Tropical>::empty(), &ReverseConfig { require_superinitial: false }).unwrap();
        assert_eq!(r, FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![])]));
    }
}
