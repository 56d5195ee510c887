//! What the tests of several operations write automata with.

use super::flat::{Arc, Label, StateId};
use super::semiring::{Tropical, Weight};

pub const Z: Tropical = Tropical::ZERO;
pub const ONE: Tropical = Tropical::ONE;

pub fn arc(ilabel: Label, olabel: Label, weight: f32, nextstate: StateId) -> Arc<Tropical> {
    Arc::new(ilabel, olabel, Tropical(weight), nextstate)
}
