//! Difference: the strings of `a`, with their weights, that `b` does not accept.
//!
//! Needs `a` an acceptor and `b` an unweighted, epsilon-free, deterministic acceptor. `a` is composed with the
//! complement of `b`, in which a rho arc leads from every state to a sink for all labels that `b` does not read there.

use super::compose::{ComposeConfig, ComposeFilter, Special, compose};
use super::flat::{Arc, Builder, FlatFst, Label, NO_STATE};
use super::semiring::Weight;
use crate::error::{Error, Result};

const OP: &str = "difference";
/// The rest label of a complement: below every ordinary label, so that arcs stay sorted.
const RHO: Label = -2;

pub fn difference<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &ComposeConfig) -> Result<FlatFst<W>> {
    if let Some((s, x)) = a.transitions().find(|(_, x)| x.ilabel != x.olabel) {
        let message = format!("the first operand is a transducer (state {s} has an arc {}:{})", x.ilabel, x.olabel);
        return Err(Error::op(OP, message));
    }
    if config.special.any() {
        return Err(Error::op(OP, "special labels (phi, rho, sigma) have no meaning here"));
    }
    let complement = complement(b)?.with_symbols_of(b);
    let special = Special { rho: Some(RHO), ..Default::default() };
    // The complement has no epsilons, so every filter gives the same, but for the one that would forbid those of `a`, too:
    // OpenFst does not heed it.
    let filter = if config.filter == ComposeFilter::Null { ComposeFilter::Auto } else { config.filter };
    compose(a, &complement, &ComposeConfig { op: OP, special, filter, ..config.clone() })
}

/// The complement of `b`: state 0 is the sink, state s + 1 stands for state s.
fn complement<W: Weight>(b: &FlatFst<W>) -> Result<FlatFst<W>> {
    let refuse = |what: String| {
        Err(Error::op(
            OP,
            format!(
                "the second operand must be an unweighted, epsilon-free, deterministic acceptor: {what}; prepare it with \
                 weft fst map --map-type rmweight | weft fst rmepsilon | weft fst determinize"
            ),
        ))
    };
    let mut out = Builder::with_capacity(b.num_states() + 1, b.num_arcs() + b.num_states() + 1);
    out.add_state(W::ONE);
    out.push_arc(Arc::new(RHO, RHO, W::ONE, 0));
    for s in b.states() {
        let weight = b.final_weight(s);
        if !weight.is_zero_w() && !weight.is_one_w() {
            return refuse(format!("state {s} has a final weight"));
        }
        out.add_state(if weight.is_zero_w() { W::ONE } else { W::ZERO });
        out.push_arc(Arc::new(RHO, RHO, W::ONE, 0));
        for x in b.arcs(s) {
            if x.ilabel != x.olabel {
                return refuse(format!("state {s} has an arc {}:{}", x.ilabel, x.olabel));
            }
            if x.ilabel == 0 {
                return refuse(format!("state {s} has an epsilon arc"));
            }
            if x.ilabel < 0 {
                return refuse(format!("state {s} has a negative label"));
            }
            if !x.weight.is_one_w() {
                return refuse(format!("state {s} has a weighted arc"));
            }
            out.push_arc(Arc { nextstate: x.nextstate + 1, ..*x });
        }
        let arcs = out.open_arcs();
        arcs.sort_by_key(|x| x.ilabel);
        if let Some(pair) = arcs.windows(2).find(|p| p[0].ilabel == p[1].ilabel) {
            return refuse(format!("state {s} has two arcs with label {}", pair[0].ilabel));
        }
    }
    out.set_start(if b.start() == NO_STATE { 0 } else { b.start() + 1 });
    Ok(out.finish().with_symbols_of(b))
}
