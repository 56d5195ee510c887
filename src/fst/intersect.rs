//! Intersection of two acceptors: the strings that both accept, with both weights.
//!
//! Needs acceptors, one of them sorted (a sorted copy is made otherwise). Composition on acceptors; costs the same.

use super::compose::{ComposeConfig, compose};
use super::flat::FlatFst;
use super::semiring::Weight;
use crate::error::{Error, Result};

const OP: &str = "intersect";

pub fn intersect<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &ComposeConfig) -> Result<FlatFst<W>> {
    for (fst, which) in [(a, "first"), (b, "second")] {
        if let Some((s, arc)) = fst.transitions().find(|(_, x)| x.ilabel != x.olabel) {
            return Err(Error::op(
                OP,
                format!(
                    "the {which} operand is a transducer (state {s} has an arc {}:{}); project it first, or compose",
                    arc.ilabel, arc.olabel
                ),
            ));
        }
    }
    compose(a, b, &ComposeConfig { op: OP, ..config.clone() })
}
