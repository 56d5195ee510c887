//! Union: the strings of either automaton, or of any of thousands.
//!
//! States of the first operand come first, then those of the second, and so on; an epsilon arc leads from the start to the
//! start of every further operand. If the first operand's start may lie on a cycle, a new start state is added after the
//! second operand. Needs symbol tables that agree. O(V + E) of all operands together.
//!
//! As in OpenFst "may lie on a cycle" means that it is not known: the states are not in topological order, and no operation
//! (a union before, say) or file said so.

use super::flat::{Arc, Builder, EPSILON, FlatFst, NO_STATE, StateId};
use super::semiring::Weight;
use super::symbols::compatible_symbols;
use super::visit::{is_top_sorted, start_on_cycle};
use crate::error::{Error, Result};

pub fn union<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>) -> Result<FlatFst<W>> {
    union_all(&[a, b])
}

/// The same as joining the second to the first, the third to the result, and so on, in one pass.
pub fn union_all<W: Weight>(operands: &[&FlatFst<W>]) -> Result<FlatFst<W>> {
    let Some((&first, rest)) = operands.split_first() else { return Ok(FlatFst::empty()) };
    for x in rest {
        compatible_symbols("union", first.isyms.as_deref(), x.isyms.as_deref())?;
        compatible_symbols("union", first.osyms.as_deref(), x.osyms.as_deref())?;
    }
    // Operands without a start add nothing, not even their states; a first one without a start keeps its states.
    let rest: Vec<&FlatFst<W>> = rest.iter().copied().filter(|x| x.start() != NO_STATE).collect();
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let states: usize = operands.iter().map(|x| x.num_states()).sum::<usize>() + 1;
    let arcs: usize = operands.iter().map(|x| x.num_arcs()).sum::<usize>() + operands.len() + 1;
    if states >= u32::MAX as usize || arcs >= u32::MAX as usize {
        return Err(Error::op("union", "the result has more than 2^32 states or arcs"));
    }

    // The operand that owns the start, and whether it needs a new start state in front.
    let (lead, others) = if first.start() == NO_STATE { (rest[0], &rest[1..]) } else { (first, &rest[..]) };
    let new_start = !others.is_empty() && !known_acyclic_start(lead);

    // First where everything goes, then one pass to write it: the start's arcs name the later starts.
    let mut next = if first.start() == NO_STATE { first.num_states() as StateId } else { 0 };
    let lead_at = next;
    next += lead.num_states() as StateId;
    let mut others_at: Vec<StateId> = Vec::with_capacity(others.len());
    for (i, x) in others.iter().enumerate() {
        others_at.push(next);
        next += x.num_states() as StateId + (i == 0 && new_start) as StateId;
    }
    let joins = || {
        let starts = others.iter().zip(&others_at).map(|(x, at)| x.start() + at);
        starts.map(|t| Arc::new(EPSILON, EPSILON, W::ONE, t))
    };

    let mut out = Builder::with_capacity(states, arcs);
    let copy = |out: &mut Builder<W>, x: &FlatFst<W>, at: StateId, joined: StateId| {
        for s in x.states() {
            out.add_state(x.final_weight(s));
            out.extend_arcs(x.arcs(s).iter().map(|a| Arc { nextstate: a.nextstate + at, ..*a }));
            if s == joined {
                out.extend_arcs(joins());
            }
        }
    };
    if first.start() == NO_STATE {
        copy(&mut out, first, 0, NO_STATE);
    }
    copy(&mut out, lead, lead_at, if new_start { NO_STATE } else { lead.start() });
    let mut start = lead.start() + lead_at;
    for (i, (x, &at)) in others.iter().zip(&others_at).enumerate() {
        copy(&mut out, x, at, NO_STATE);
        if i == 0 && new_start {
            let old = Arc::new(EPSILON, EPSILON, W::ONE, start);
            start = out.add_state(W::ZERO);
            out.push_arc(old);
            out.extend_arcs(joins());
        }
    }
    out.set_start(start);
    let mut out = out.finish().with_symbols_of(first);
    out.start_acyclic = lead.start_acyclic || !others.is_empty();
    Ok(out)
}

fn known_acyclic_start<W: Weight>(fst: &FlatFst<W>) -> bool {
    // What a file says is not taken on trust: an arc added to a start on a cycle would change the language.
    is_top_sorted(fst) || (fst.start_acyclic && !start_on_cycle(fst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn arc(l: i32, t: u32) -> Arc<Tropical> {
        Arc::new(l, l, Tropical::ONE, t)
    }
    fn string(l: i32) -> FlatFst<Tropical> {
        FlatFst::from_rows(0, vec![(Tropical::ZERO, vec![arc(l, 1)]), (Tropical::ONE, vec![])])
    }
    fn looped(l: i32) -> FlatFst<Tropical> {
        FlatFst::from_rows(0, vec![(Tropical::ONE, vec![arc(l, 0)])])
    }

    #[test]
    fn a_start_that_may_be_on_a_cycle_gets_one_in_front() {
        let u = union(&string(1), &looped(2)).unwrap();
        assert_eq!((u.start(), u.num_states()), (0, 3));
        assert_eq!(u.arcs(0), [arc(1, 1), arc(0, 2)]);
        let u = union(&looped(2), &string(1)).unwrap();
        assert_eq!((u.start(), u.num_states()), (3, 4));
        assert_eq!(u.arcs(3), [arc(0, 0), arc(0, 1)]);
    }

    #[test]
    fn many_at_once_is_one_by_one() {
        let e = FlatFst::empty();
        let pool = [string(1), looped(2), e.clone(), string(3), looped(4)];
        // Every sequence of four operands.
        for code in 0..5usize.pow(4) {
            let pick: Vec<&FlatFst<Tropical>> = (0..4).map(|i| &pool[code / 5usize.pow(i) % 5]).collect();
            let one_by_one = pick[1..].iter().fold(pick[0].clone(), |u, x| union(&u, x).unwrap());
            assert_eq!(union_all(&pick).unwrap(), one_by_one);
        }
    }
}
