//! Maps: small changes of every arc or state.
//!
//! Needs nothing of its input. O(V + E), with a sort of each state's arcs for `arc_sum` and `arc_unique`. An automaton
//! without a start state maps to one without states, as in OpenFst; the identity leaves everything as it is.

use super::any::AnyFst;
use super::flat::{Arc, Builder, EPSILON, FlatFst, NO_STATE};
use super::semiring::{DELTA, Log, Log64, Tropical, Weight};
use super::stdsort::sort_by_key;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum MapType {
    /// Sum the weights of arcs with the same labels and target
    #[value(alias = "arc-sum")]
    ArcSum,
    /// Keep one of equal arcs
    #[value(alias = "arc-unique")]
    ArcUnique,
    /// Change nothing
    #[default]
    Identity,
    /// Input labels become epsilon
    #[value(alias = "input-epsilon")]
    InputEpsilon,
    /// Weights become their inverses
    Invert,
    /// Output labels become epsilon
    #[value(alias = "output-epsilon")]
    OutputEpsilon,
    /// Add --weight to every weight
    Plus,
    /// Raise every weight to the power of --power
    Power,
    /// Round weights to a multiple of --delta
    Quantize,
    /// Weights become one
    Rmweight,
    /// One final state, of weight one
    Superfinal,
    /// Multiply every weight by --weight
    Times,
    /// Convert to the log semiring
    #[value(alias = "to-log")]
    ToLog,
    /// Convert to the log64 semiring
    #[value(alias = "to-log64")]
    ToLog64,
    /// Convert to the tropical semiring
    #[value(alias = "to-std", alias = "to_standard", alias = "to-standard")]
    ToStd,
}

#[derive(Clone, Copy, Debug)]
pub struct MapConfig {
    pub map_type: MapType,
    /// Of `quantize`.
    pub delta: f32,
    /// Of `power`.
    pub power: f64,
    /// Of `plus` (zero if none) and `times` (one if none).
    pub weight: Option<f64>,
}

impl Default for MapConfig {
    fn default() -> Self {
        MapConfig { map_type: MapType::Identity, delta: DELTA, power: 1.0, weight: None }
    }
}

/// Any of the maps; only the `to_...` ones change the semiring.
pub fn map(fst: AnyFst, config: &MapConfig) -> AnyFst {
    match (fst, config.map_type) {
        (fst, MapType::ToLog) => AnyFst::Log(crate::with_fst!(fst, f => convert::<_, Log>(&f))),
        (fst, MapType::ToLog64) => AnyFst::Log64(crate::with_fst!(fst, f => convert::<_, Log64>(&f))),
        (fst, MapType::ToStd) => AnyFst::Standard(crate::with_fst!(fst, f => convert::<_, Tropical>(&f))),
        (AnyFst::Standard(f), _) => AnyFst::Standard(map_within(f, config)),
        (AnyFst::Log(f), _) => AnyFst::Log(map_within(f, config)),
        (AnyFst::Log64(f), _) => AnyFst::Log64(map_within(f, config)),
    }
}

/// The same automaton in another semiring.
pub fn convert<W: Weight, V: Weight>(fst: &FlatFst<W>) -> FlatFst<V> {
    fst.map_weights(|w| V::from_f64(w.to_f64()))
}

/// The maps that stay in the semiring; for the `to_...` ones the identity.
pub fn map_within<W: Weight>(fst: FlatFst<W>, config: &MapConfig) -> FlatFst<W> {
    if fst.start() == NO_STATE {
        let mut none = FlatFst::empty().with_symbols_of(&fst);
        clear_symbols(&mut none, config.map_type);
        return none;
    }
    let weight = |none: W| config.weight.map_or(none, W::from_f64);
    match config.map_type {
        MapType::Identity | MapType::ToLog | MapType::ToLog64 | MapType::ToStd => fst,
        MapType::ArcSum => arc_sum(&fst),
        MapType::ArcUnique => arc_unique(&fst),
        MapType::InputEpsilon | MapType::OutputEpsilon => {
            let mut fst = fst;
            clear_symbols(&mut fst, config.map_type);
            let input = config.map_type == MapType::InputEpsilon;
            for a in fst.all_arcs_mut() {
                *(if input { &mut a.ilabel } else { &mut a.olabel }) = EPSILON;
            }
            fst
        }
        MapType::Superfinal => superfinal(&fst),
        MapType::Invert => weights(fst, |w| if w.is_zero_w() { w } else { W::ONE.odivide(w) }),
        MapType::Plus => {
            let p = weight(W::ZERO);
            weights(fst, |w| if w.is_zero_w() { w } else { w.oplus(p) })
        }
        MapType::Times => {
            let p = weight(W::ONE);
            weights(fst, |w| if w.is_zero_w() { w } else { w.otimes(p) })
        }
        MapType::Power => {
            let n = config.power;
            // Zero to a negative power is no weight: such arcs and non-final states stay zero.
            let keep_zero = n < 0.0;
            weights(fst, |w| match () {
                _ if w.is_zero_w() && keep_zero => w,
                _ if n == 0.0 || w.is_one_w() => W::ONE,
                _ => W::from_f64(w.to_f64() * n),
            })
        }
        MapType::Quantize => weights(fst, |w| w.quantized(config.delta)),
        MapType::Rmweight => weights(fst, |w| if w.is_zero_w() { W::ZERO } else { W::ONE }),
    }
}

fn clear_symbols<W>(fst: &mut FlatFst<W>, map_type: MapType) {
    match map_type {
        MapType::InputEpsilon => fst.isyms = None,
        MapType::OutputEpsilon => fst.osyms = None,
        _ => {}
    }
}

fn weights<W: Weight>(mut fst: FlatFst<W>, f: impl Fn(W) -> W) -> FlatFst<W> {
    fst.all_arcs_mut().iter_mut().for_each(|a| a.weight = f(a.weight));
    fst.finals_mut().iter_mut().for_each(|w| *w = f(*w));
    fst
}

/// A new last state is the only final one; the old final states have an epsilon arc to it with their final weight.
pub fn superfinal<W: Weight>(fst: &FlatFst<W>) -> FlatFst<W> {
    let last = fst.num_states() as u32;
    let finals = fst.states().filter(|&s| fst.is_final(s)).count();
    let mut b = Builder::with_capacity(fst.num_states() + 1, fst.num_arcs() + finals);
    for s in fst.states() {
        b.add_state(W::ZERO);
        b.extend_arcs(fst.arcs(s).iter().copied());
        if fst.is_final(s) {
            b.push_arc(Arc::new(EPSILON, EPSILON, fst.final_weight(s), last));
        }
    }
    b.add_state(W::ONE);
    b.set_start(fst.start());
    let mut out = b.finish().with_symbols_of(fst);
    out.start_acyclic = fst.start_acyclic;
    out
}

/// Arcs sorted by labels and target; of those with the same labels and target one is left, with the sum of their weights.
pub fn arc_sum<W: Weight>(fst: &FlatFst<W>) -> FlatFst<W> {
    sorted_arcs(fst, |kept, a| {
        let same = place(kept) == place(a);
        if same {
            kept.weight = kept.weight.oplus(a.weight);
        }
        same
    })
}

/// Arcs sorted by labels and target; of neighbours that are equal in weight, too, one is left.
pub fn arc_unique<W: Weight>(fst: &FlatFst<W>) -> FlatFst<W> {
    sorted_arcs(fst, |kept, a| place(kept) == place(a) && kept.weight == a.weight)
}

fn place<W>(a: &Arc<W>) -> (i32, i32, u32) {
    (a.ilabel, a.olabel, a.nextstate)
}

/// Sorts each state's arcs and keeps those that `merged` (with the last kept one) says no to.
fn sorted_arcs<W: Weight>(fst: &FlatFst<W>, mut merged: impl FnMut(&mut Arc<W>, &Arc<W>) -> bool) -> FlatFst<W> {
    let mut b = Builder::with_capacity(fst.num_states(), fst.num_arcs());
    let (mut arcs, mut spare): (Vec<Arc<W>>, _) = (vec![], vec![]);
    for s in fst.states() {
        b.add_state(fst.final_weight(s));
        arcs.clear();
        arcs.extend_from_slice(fst.arcs(s));
        sort_by_key(&mut arcs, &mut spare, place);
        for a in &arcs {
            if !b.open_arcs().last_mut().is_some_and(|kept| merged(kept, a)) {
                b.push_arc(*a);
            }
        }
    }
    b.set_start(fst.start());
    let mut out = b.finish().with_symbols_of(fst);
    out.start_acyclic = fst.start_acyclic;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::testing::arc;

    fn sample() -> FlatFst<Tropical> {
        let arcs = vec![arc(2, 1, 3.0, 1), arc(1, 1, 0.5, 1), arc(2, 1, 2.0, 1), arc(1, 1, 0.5, 1)];
        FlatFst::from_rows(0, vec![(Tropical::ZERO, arcs), (Tropical(2.0), vec![])])
    }
    fn mapped(map_type: MapType) -> FlatFst<Tropical> {
        map_within(sample(), &MapConfig { map_type, power: 2.0, weight: Some(1.0), ..Default::default() })
    }
    fn arc_weights(f: &FlatFst<Tropical>) -> Vec<f32> {
        f.all_arcs().iter().map(|a| a.weight.0).collect()
    }

    #[test]
    fn arcs_summed_and_made_unique() {
        assert_eq!(mapped(MapType::ArcSum).arcs(0), [arc(1, 1, 0.5, 1), arc(2, 1, 2.0, 1)]);
        assert_eq!(mapped(MapType::ArcUnique).arcs(0), [arc(1, 1, 0.5, 1), arc(2, 1, 3.0, 1), arc(2, 1, 2.0, 1)]);
    }

    #[test]
    fn weights_changed() {
        assert_eq!(arc_weights(&mapped(MapType::Times)), [4.0, 1.5, 3.0, 1.5]);
        assert_eq!(arc_weights(&mapped(MapType::Plus)), [1.0, 0.5, 1.0, 0.5]);
        assert_eq!(arc_weights(&mapped(MapType::Power)), [6.0, 1.0, 4.0, 1.0]);
        assert_eq!(arc_weights(&mapped(MapType::Invert)), [-3.0, -0.5, -2.0, -0.5]);
        let plain = mapped(MapType::Rmweight);
        assert!(plain.is_unweighted() && plain.is_final(1) && !plain.is_final(0));
    }

    #[test]
    fn one_final_state() {
        let f = mapped(MapType::Superfinal);
        assert_eq!(f.finals(), [Tropical::ZERO, Tropical::ZERO, Tropical::ONE]);
        assert_eq!(f.arcs(1), [arc(0, 0, 2.0, 2)]);
    }

    #[test]
    fn to_another_semiring_and_back() {
        let to = |f, map_type| map(f, &MapConfig { map_type, ..Default::default() });
        let log = to(sample().into(), MapType::ToLog64);
        assert_eq!(log.arc_type(), "log64");
        assert_eq!(to(log, MapType::ToStd), AnyFst::Standard(sample()));
    }
}
