//! Properties: what holds of an automaton, as OpenFst's bits, and whether it is well formed.
//!
//! The bits and their meanings are those of OpenFst's files. Two bits a property, one for "yes" and one for "no"; neither
//! set means that nobody has looked. All of them take time linear in the arcs (expected, for the label sets of states
//! whose arcs are not sorted).

use rustc_hash::FxHashSet;

use super::flat::{FlatFst, Label, NO_STATE};
use super::semiring::Weight;
use super::visit;
use crate::error::{Error, Result};

pub const EXPANDED: u64 = 1;
pub const MUTABLE: u64 = 2;
pub const ERROR: u64 = 4;
pub const ACCEPTOR: u64 = 1 << 16;
pub const I_DETERMINISTIC: u64 = 1 << 18;
pub const O_DETERMINISTIC: u64 = 1 << 20;
pub const EPSILONS: u64 = 1 << 22;
pub const I_EPSILONS: u64 = 1 << 24;
pub const O_EPSILONS: u64 = 1 << 26;
pub const I_LABEL_SORTED: u64 = 1 << 28;
pub const O_LABEL_SORTED: u64 = 1 << 30;
pub const WEIGHTED: u64 = 1 << 32;
pub const CYCLIC: u64 = 1 << 34;
pub const INITIAL_CYCLIC: u64 = 1 << 36;
pub const TOP_SORTED: u64 = 1 << 38;
pub const ACCESSIBLE: u64 = 1 << 40;
pub const COACCESSIBLE: u64 = 1 << 42;
pub const STRING: u64 = 1 << 44;
pub const WEIGHTED_CYCLES: u64 = 1 << 46;

/// Bits that are one each: set or not.
pub const BINARY: u64 = EXPANDED | MUTABLE | ERROR;
/// Both bits of every property that has two.
pub const TRINARY: u64 = 0x0000_ffff_ffff_0000;

/// Every property with OpenFst's name, in OpenFst's order.
pub const NAMES: [(u64, &str); 19] = [
    (EXPANDED, "expanded"),
    (MUTABLE, "mutable"),
    (ERROR, "error"),
    (ACCEPTOR, "acceptor"),
    (I_DETERMINISTIC, "input deterministic"),
    (O_DETERMINISTIC, "output deterministic"),
    (EPSILONS, "input/output epsilons"),
    (I_EPSILONS, "input epsilons"),
    (O_EPSILONS, "output epsilons"),
    (I_LABEL_SORTED, "input label sorted"),
    (O_LABEL_SORTED, "output label sorted"),
    (WEIGHTED, "weighted"),
    (CYCLIC, "cyclic"),
    (INITIAL_CYCLIC, "cyclic at initial state"),
    (TOP_SORTED, "top sorted"),
    (ACCESSIBLE, "accessible"),
    (COACCESSIBLE, "coaccessible"),
    (STRING, "string"),
    (WEIGHTED_CYCLES, "weighted cycles"),
];

/// The bit that says no.
pub fn not(property: u64) -> u64 {
    property << 1
}

/// Whether a property holds, if the bits say so.
pub fn value(bits: u64, property: u64) -> Option<bool> {
    if property & BINARY != 0 {
        Some(bits & property != 0)
    } else if bits & property != 0 {
        Some(true)
    } else if bits & not(property) != 0 {
        Some(false)
    } else {
        None
    }
}

/// True if every property is known.
pub fn complete(bits: u64) -> bool {
    NAMES.iter().all(|&(p, _)| value(bits, p).is_some())
}

fn bit(property: u64, holds: bool) -> u64 {
    if holds { property } else { not(property) }
}

/// Every property with two bits.
pub fn compute<W: Weight>(fst: &FlatFst<W>) -> u64 {
    let weighted = |w: W| !w.is_one_w() && !w.is_zero_w();
    let n = fst.num_states();
    let scc = visit::components(fst, |_| true);
    let mut acceptor = true;
    let (mut eps, mut ieps, mut oeps) = (false, false, false);
    let (mut isorted, mut osorted) = (true, true);
    let (mut ideterministic, mut odeterministic) = (true, true);
    let (mut any_weight, mut weighted_cycle) = (false, false);
    let (mut cyclic, mut initial_cyclic, mut top_sorted) = (false, false, true);
    let mut string = fst.start() == NO_STATE || fst.start() == 0;
    let start_component = (fst.start() != NO_STATE).then(|| scc.of[fst.start() as usize]);
    let mut seen = FxHashSet::default();
    let mut final_before = false;
    for s in fst.states() {
        let arcs = fst.arcs(s);
        for a in arcs {
            acceptor &= a.ilabel == a.olabel;
            eps |= a.ilabel == 0 && a.olabel == 0;
            ieps |= a.ilabel == 0;
            oeps |= a.olabel == 0;
            top_sorted &= a.nextstate > s;
            string &= a.nextstate == s + 1;
            let inside = scc.of[s as usize] == scc.of[a.nextstate as usize];
            if inside {
                cyclic = true;
                initial_cyclic |= Some(scc.of[s as usize]) == start_component;
            }
            if weighted(a.weight) {
                any_weight = true;
                weighted_cycle |= inside;
            }
        }
        let sorted = |label: fn(&super::flat::Arc<W>) -> Label| arcs.windows(2).all(|p| label(&p[0]) <= label(&p[1]));
        let mut unique = |label: fn(&super::flat::Arc<W>) -> Label, sorted: bool| {
            if sorted {
                return arcs.windows(2).all(|p| label(&p[0]) != label(&p[1]));
            }
            seen.clear();
            arcs.iter().all(|a| seen.insert(label(a)))
        };
        let (i, o) = (sorted(|a| a.ilabel), sorted(|a| a.olabel));
        isorted &= i;
        osorted &= o;
        ideterministic = ideterministic && unique(|a| a.ilabel, i);
        odeterministic = odeterministic && unique(|a| a.olabel, o);
        string &= !final_before;
        if fst.is_final(s) {
            final_before = true;
            any_weight |= weighted(fst.final_weight(s));
        } else {
            string &= arcs.len() == 1;
        }
    }
    let none = fst.start() == NO_STATE;
    let accessible = none || visit::accessible(fst).iter().all(|&x| x);
    let coaccessible = none || n == 0 || visit::coaccessible(fst).iter().all(|&x| x);
    bit(ACCEPTOR, acceptor)
        | bit(I_DETERMINISTIC, ideterministic)
        | bit(O_DETERMINISTIC, odeterministic)
        | bit(EPSILONS, eps)
        | bit(I_EPSILONS, ieps)
        | bit(O_EPSILONS, oeps)
        | bit(I_LABEL_SORTED, isorted)
        | bit(O_LABEL_SORTED, osorted)
        | bit(WEIGHTED, any_weight)
        | bit(CYCLIC, cyclic)
        | bit(INITIAL_CYCLIC, initial_cyclic)
        | bit(TOP_SORTED, top_sorted)
        | bit(ACCESSIBLE, accessible)
        | bit(COACCESSIBLE, coaccessible)
        | bit(STRING, string)
        | bit(WEIGHTED_CYCLES, weighted_cycle)
}

/// Checks what reading a file leaves open: a start state, labels that are not negative and that the symbol tables have,
/// and the properties that the file claims, if they are given. Returns the true properties.
pub fn verify<W: Weight>(fst: &FlatFst<W>, claimed: Option<u64>) -> Result<u64> {
    let fail = |message: String| Err(Error::op("verify", message));
    if fst.start() == NO_STATE && fst.num_states() > 0 {
        return fail("there are states, but no start state".into());
    }
    for s in fst.states() {
        for (i, a) in fst.arcs(s).iter().enumerate() {
            for (label, table, side) in [(a.ilabel, &fst.isyms, "input"), (a.olabel, &fst.osyms, "output")] {
                if label < 0 {
                    return fail(format!("the {side} label of arc {i} of state {s} is negative, {label}"));
                }
                if let Some(table) = table
                    && table.symbol(label as i64).is_none()
                {
                    let name = table.name();
                    return fail(format!(
                        "the {side} label {label} of arc {i} of state {s} is not in the symbol table {name:?}"
                    ));
                }
            }
        }
    }
    let actual = compute(fst);
    let claimed = claimed.unwrap_or(0);
    if claimed & ERROR != 0 {
        return fail("the file says that an error was found when it was made".into());
    }
    for &(property, name) in &NAMES {
        if property & BINARY == 0
            && let (Some(a), Some(b)) = (value(claimed, property), value(actual, property))
            && a != b
        {
            let word = |x| if x { "yes" } else { "no" };
            return fail(format!("the file says {:?} for {name:?}, but it is {:?}", word(a), word(b)));
        }
    }
    Ok(actual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::arc;

    fn holds(bits: u64) -> Vec<&'static str> {
        NAMES.iter().filter(|n| value(bits, n.0) == Some(true)).map(|n| n.1).collect()
    }

    #[test]
    fn the_empty_automaton_is_everything_good() {
        let bits = compute(&FlatFst::<Tropical>::empty());
        assert_eq!(bits, 0x956a5a950000);
    }

    #[test]
    fn a_cycle_beside_the_start() {
        let f = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(2, 1, 0.0, 1), arc(1, 1, 0.0, 1)]),
                (Tropical(0.0), vec![arc(0, 0, 3.0, 1)]),
                (Tropical::ZERO, vec![]),
            ],
        );
        assert_eq!(
            holds(compute(&f)),
            [
                "input deterministic",
                "input/output epsilons",
                "input epsilons",
                "output epsilons",
                "output label sorted",
                "weighted",
                "cyclic",
                "weighted cycles"
            ]
        );
        assert!(verify(&f, Some(not(CYCLIC))).unwrap_err().to_string().contains("cyclic"));
        assert!(verify(&f, Some(CYCLIC)).is_ok());
    }
}
