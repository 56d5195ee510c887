//! Composition of two transducers: the relation of `a` followed by the relation of `b`, with failure labels.
//!
//! The result has the states and the arc order of OpenFst's `Compose` for operands that are sorted the same way. Needs
//! `a` sorted by output or `b` by input label; if neither is, a sorted copy of `b` is made. Costs O(E1·log d2) lookups for
//! the states of the product that are reached, plus one hash look-up a resulting arc.
//! Epsilons: the filters of Mohri, Pereira and Riley (1996) and Allauzen et al. (2009), as in OpenFst.
//! Special labels on the matched side, as OpenFst's matchers: see `special`.

mod side;
mod special;

use super::arcsort::{SortType, arcsort};
use super::connect::connect;
use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_STATE, StateId};
use super::semiring::Weight;
use super::statetable::StateTable;
use super::symbols::compatible_symbols;
use crate::error::{Error, Result};
use side::{ALL_EPSILON, NO_EPSILON, Side};
use special::check_special;
pub use special::{Rewrite, Special};
use std::borrow::Cow;

/// Which of several equal epsilon paths are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ComposeFilter {
    #[default]
    Auto,
    AltSequence,
    Match,
    NoMatch,
    Null,
    Sequence,
    Trivial,
}

#[derive(Clone, Debug)]
pub struct ComposeConfig {
    /// What errors call the operation.
    pub op: &'static str,
    pub filter: ComposeFilter,
    /// Trim the result.
    pub connect: bool,
    pub special: Special,
    /// Stop with an error at this many states; none: as many as it takes.
    pub max_states: Option<usize>,
}

impl Default for ComposeConfig {
    fn default() -> Self {
        ComposeConfig {
            op: "compose",
            filter: ComposeFilter::Auto,
            connect: true,
            special: Special::default(),
            max_states: None,
        }
    }
}

pub fn compose<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &ComposeConfig) -> Result<FlatFst<W>> {
    compatible_symbols(config.op, a.osyms.as_deref(), b.isyms.as_deref())?;
    let fst = product(a, b, config)?.0.with_symbols(a.isyms.clone(), b.osyms.clone());
    Ok(if config.connect { connect(fst) } else { fst })
}

/// What a state of the product stands for.
pub struct PairStates(StateTable);

impl PairStates {
    /// The states of the two operands.
    pub fn pair(&self, s: StateId) -> (StateId, StateId) {
        let (s1, s2, _) = unpack(self.0.key(s));
        (s1, s2)
    }
}

#[inline(always)]
fn pack(s1: StateId, s2: StateId, filter: u8) -> u64 {
    (s1 as u64) << 34 | (s2 as u64) << 2 | filter as u64
}
#[inline(always)]
fn unpack(key: u64) -> (StateId, StateId, u8) {
    ((key >> 34) as StateId, (key >> 2) as StateId, (key & 3) as u8)
}

/// The product before trimming, with the pairs its states stand for.
pub fn product<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, config: &ComposeConfig) -> Result<(FlatFst<W>, PairStates)> {
    let special = &config.special;
    let mut a = Cow::Borrowed(a);
    let mut b = Cow::Borrowed(b);
    let mut sorted_a = a.is_olabel_sorted();
    let mut sorted_b = b.is_ilabel_sorted();
    if special.any() && special.on_first && !sorted_a {
        a = Cow::Owned(arcsort(a.into_owned(), SortType::Olabel));
        sorted_a = true;
    }
    if (special.any() && !special.on_first && !sorted_b) || (!sorted_a && !sorted_b) {
        b = Cow::Owned(arcsort(b.into_owned(), SortType::Ilabel));
        sorted_b = true;
    }
    if a.num_states() >= 1 << 30 {
        return Err(Error::op(config.op, "the first automaton has 2^30 states or more"));
    }
    check_special(&a, &b, special)?;
    let mut c = Composer {
        side_a: Side::new(&a, sorted_a),
        side_b: Side::new(&b, sorted_b),
        a: &a,
        b: &b,
        config,
        table: StateTable::default(),
        out: Builder::default(),
        some: vec![],
        rewrite_both: match special.rewrite {
            Rewrite::Always => true,
            Rewrite::Never => false,
            Rewrite::Auto if !special.any() => false,
            Rewrite::Auto => {
                if special.on_first {
                    a.is_acceptor()
                } else {
                    b.is_acceptor()
                }
            }
        },
    };
    if a.start() != NO_STATE && b.start() != NO_STATE {
        let start = c.table.number(pack(a.start(), b.start(), 0));
        c.out.set_start(start);
        if special.any() { c.expand_all::<true>()? } else { c.expand_all::<false>()? }
    }
    let Composer { out, table, .. } = c;
    Ok((out.finish(), PairStates(table)))
}

/// What the filter says at one state of the product; `None` forbids the move.
#[derive(Clone, Copy)]
struct Moves {
    /// An epsilon of the first operand alone.
    first: Option<u8>,
    /// An epsilon of the second operand alone.
    second: Option<u8>,
    /// An epsilon of each, together.
    both: Option<u8>,
}

impl ComposeFilter {
    #[inline(always)]
    fn moves(self, fs: u8, flags1: u8, flags2: u8) -> Moves {
        let (all1, no1) = (flags1 & ALL_EPSILON != 0, flags1 & NO_EPSILON != 0);
        let (all2, no2) = (flags2 & ALL_EPSILON != 0, flags2 & NO_EPSILON != 0);
        let waits = |all: bool, no: bool, state: u8| match (all, no) {
            (true, _) => None,
            (_, true) => Some(0),
            _ => Some(state),
        };
        let allow = |yes: bool| yes.then_some(0u8);
        match self {
            ComposeFilter::Auto | ComposeFilter::Sequence => {
                Moves { first: allow(fs == 0), second: waits(all1, no1, 1), both: None }
            }
            ComposeFilter::AltSequence => Moves { first: waits(all2, no2, 1), second: allow(fs != 1), both: None },
            ComposeFilter::Match => Moves {
                first: match fs {
                    0 if no2 => Some(0),
                    0 if all2 => None,
                    0 | 1 => Some(1),
                    _ => None,
                },
                second: match fs {
                    0 if no1 => Some(0),
                    0 if all1 => None,
                    0 | 2 => Some(2),
                    _ => None,
                },
                both: allow(fs == 0),
            },
            ComposeFilter::NoMatch => Moves { first: Some(0), second: Some(0), both: None },
            ComposeFilter::Null => Moves { first: None, second: None, both: Some(0) },
            ComposeFilter::Trivial => Moves { first: Some(0), second: Some(0), both: Some(0) },
        }
    }
}

struct Composer<'a, W> {
    a: &'a FlatFst<W>,
    b: &'a FlatFst<W>,
    side_a: Side<true>,
    side_b: Side<false>,
    config: &'a ComposeConfig,
    table: StateTable,
    out: Builder<W>,
    rewrite_both: bool,
    /// Positions of the arcs that can match, where not all are looked at.
    some: Vec<u32>,
}

impl<W: Weight> Composer<'_, W> {
    fn expand_all<const SPECIAL: bool>(&mut self) -> Result<()> {
        let (can_a, can_b) = (self.side_a.sorted, self.side_b.sorted);
        let limit = self.config.max_states.unwrap_or(NO_STATE as usize - 1);
        let mut s = 0;
        while (s as usize) < self.table.len() {
            if self.table.len() > limit {
                return Err(Error::limit(
                    self.config.op,
                    format!("{limit} states"),
                    "the product grows larger; prune the operands, or raise --max-states",
                ));
            }
            let (s1, s2, fs) = unpack(self.table.key(s));
            let weight = self.final_weight::<SPECIAL>(s1, s2)?;
            self.out.add_state(weight);
            let flags = (self.side_a.flags(self.a, s1), self.side_b.flags(self.b, s2));
            let moves = self.config.filter.moves(fs, flags.0, flags.1);
            // Iterate over the arcs of one operand and search in the other: the one with more arcs, if both are sorted.
            let search_b = match (can_a, can_b) {
                (true, true) => {
                    let required = SPECIAL && self.has_special(s1, s2);
                    if required {
                        !self.config.special.on_first
                    } else {
                        self.a.range(s1).len() <= self.b.range(s2).len()
                    }
                }
                (_, can_b) => can_b,
            };
            if search_b {
                self.expand_searching_b::<SPECIAL>(s1, s2, moves)?;
            } else {
                self.expand_searching_a::<SPECIAL>(s1, s2, moves)?;
            }
            s += 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, ilabel: Label, olabel: Label, weight: W, s1: StateId, s2: StateId, fs: u8) {
        let next = self.table.number(pack(s1, s2, fs));
        self.out.push_arc(Arc::new(ilabel, olabel, weight, next));
    }

    fn expand_searching_b<const SPECIAL: bool>(&mut self, s1: StateId, s2: StateId, moves: Moves) -> Result<()> {
        let (a, b) = (self.a, self.b);
        let epsilons = self.side_b.epsilons(b, s2);
        if let Some(fs) = moves.second {
            for y in &b.all_arcs()[epsilons.clone()] {
                self.push(EPSILON, y.olabel, y.weight, s1, y.nextstate, fs);
            }
        }
        for x in a.arcs(s1) {
            if x.olabel == EPSILON {
                if let Some(fs) = moves.first {
                    self.push(x.ilabel, EPSILON, x.weight, x.nextstate, s2, fs);
                }
                if let Some(fs) = moves.both {
                    for y in &b.all_arcs()[epsilons.clone()] {
                        self.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, fs);
                    }
                }
            } else if !SPECIAL || self.config.special.on_first {
                for y in &b.all_arcs()[self.side_b.find(b, s2, x.olabel)] {
                    self.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, 0);
                }
            } else {
                self.match_special(s2, x.olabel, |c, y| {
                    c.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, 0)
                })?;
            }
        }
        Ok(())
    }

    fn expand_searching_a<const SPECIAL: bool>(&mut self, s1: StateId, s2: StateId, moves: Moves) -> Result<()> {
        let (a, b) = (self.a, self.b);
        let epsilons = self.side_a.epsilons(a, s1);
        if let Some(fs) = moves.first {
            for x in &a.all_arcs()[epsilons.clone()] {
                self.push(x.ilabel, EPSILON, x.weight, x.nextstate, s2, fs);
            }
        }
        let mut some = std::mem::take(&mut self.some);
        if !SPECIAL && self.side_b.find_some(b, s2, a.arcs(s1).iter().map(|x| x.olabel), &mut some) {
            for &i in &some {
                self.match_in_a::<SPECIAL>(s1, &b.all_arcs()[i as usize], epsilons.clone(), moves)?;
            }
        } else {
            for y in b.arcs(s2) {
                self.match_in_a::<SPECIAL>(s1, y, epsilons.clone(), moves)?;
            }
        }
        self.some = some;
        Ok(())
    }

    /// Everything that an arc of the second operand goes together with at a state of the first.
    #[inline(always)]
    fn match_in_a<const SPECIAL: bool>(
        &mut self,
        s1: StateId,
        y: &Arc<W>,
        epsilons: std::ops::Range<usize>,
        moves: Moves,
    ) -> Result<()> {
        let a = self.a;
        if y.ilabel == EPSILON {
            if let Some(fs) = moves.second {
                self.push(EPSILON, y.olabel, y.weight, s1, y.nextstate, fs);
            }
            if let Some(fs) = moves.both {
                for x in &a.all_arcs()[epsilons] {
                    self.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, fs);
                }
            }
        } else if !SPECIAL || !self.config.special.on_first {
            for x in &a.all_arcs()[self.side_a.find(a, s1, y.ilabel)] {
                self.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, 0);
            }
        } else {
            self.match_special(s1, y.ilabel, |c, x| {
                c.push(x.ilabel, y.olabel, x.weight.otimes(y.weight), x.nextstate, y.nextstate, 0)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;
    use crate::fst::testing::arc;

    fn word(labels: &[Label]) -> FlatFst<Tropical> {
        let mut rows: Vec<(Tropical, Vec<Arc<Tropical>>)> =
            labels.iter().enumerate().map(|(i, &l)| (Tropical::ZERO, vec![arc(l, l, 0.0, i as u32 + 1)])).collect();
        rows.push((Tropical::ONE, vec![]));
        FlatFst::from_rows(0, rows)
    }
    fn cost(fst: &FlatFst<Tropical>) -> f32 {
        super::super::shortestdistance::total_weight(fst, 0.0).unwrap().0
    }
    fn with(special: Special) -> ComposeConfig {
        ComposeConfig { special, ..Default::default() }
    }

    /// State 0 has its own cost for 1; everything else backs off, at cost 4, to state 1, which knows 1 and 2.
    fn model() -> FlatFst<Tropical> {
        FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(1, 1, 1.0, 0), arc(9, 9, 4.0, 1)]),
                (Tropical(0.5), vec![arc(1, 1, 2.0, 0), arc(2, 2, 3.0, 0)]),
            ],
        )
    }

    #[test]
    fn phi_is_taken_only_when_nothing_matches() {
        let config = with(Special { phi: Some(9), ..Default::default() });
        // 1 costs 1 and not 4 + 2; the end backs off at 4 + 0.5.
        assert_eq!(cost(&compose(&word(&[1]), &model(), &config).unwrap()), 1.0 + 4.5);
        assert_eq!(cost(&compose(&word(&[2]), &model(), &config).unwrap()), 7.0 + 4.5);
        assert_eq!(compose(&word(&[3]), &model(), &config).unwrap().num_states(), 0);
    }

    #[test]
    fn rho_is_the_rest_and_sigma_is_everything() {
        let one = |label| {
            FlatFst::from_rows(
                0,
                vec![(Tropical::ZERO, vec![arc(1, 1, 5.0, 1), arc(label, label, 1.0, 1)]), (Tropical::ONE, vec![])],
            )
        };
        let rho = with(Special { rho: Some(9), ..Default::default() });
        let sigma = with(Special { sigma: Some(9), ..Default::default() });
        assert_eq!(cost(&compose(&word(&[1]), &one(9), &rho).unwrap()), 5.0);
        assert_eq!(cost(&compose(&word(&[1]), &one(9), &sigma).unwrap()), 1.0);
        let rest = compose(&word(&[3]), &one(9), &rho).unwrap();
        assert_eq!((rest.all_arcs()[0].ilabel, rest.all_arcs()[0].olabel), (3, 3), "the label stands for itself");
    }

    #[test]
    fn bad_special_labels_are_refused() {
        let loops = FlatFst::from_rows(
            0,
            vec![(Tropical::ZERO, vec![arc(9, 9, 1.0, 1)]), (Tropical::ZERO, vec![arc(9, 9, 1.0, 0)])],
        );
        let phi = with(Special { phi: Some(9), ..Default::default() });
        assert!(compose(&word(&[1]), &loops, &phi).unwrap_err().to_string().contains("cycle"));
        assert!(compose(&word(&[9]), &model(), &phi).unwrap_err().to_string().contains("ordinary label"));
        let two = FlatFst::from_rows(
            0,
            vec![
                (Tropical::ZERO, vec![arc(9, 9, 1.0, 1), arc(9, 9, 2.0, 1)]),
                (Tropical::ONE, vec![arc(1, 1, 0.0, 1)]),
            ],
        );
        assert!(compose(&word(&[1]), &two, &phi).unwrap_err().to_string().contains("state 0 has 2 phi arcs"));
        let zero = with(Special { phi: Some(0), ..Default::default() });
        assert!(compose(&word(&[1]), &model(), &zero).is_err());
    }

    /// A state with very many arcs that are not sorted is not looked at whole; the result is that of looking.
    #[test]
    fn few_of_very_many_unsorted_arcs_are_found() {
        let loops: Vec<Arc<Tropical>> = (0..2000).map(|i| arc(i * 7919 % 500, i, i as f32, 0)).collect();
        let many = FlatFst::from_rows(0, vec![(Tropical::ONE, loops)]);
        let labels: Vec<Label> = (1..200).map(|i| i * 37 % 600).collect();
        let found = compose(&word(&labels), &many, &Default::default());
        // With the first operand not sorted and the second sorted the other way of searching is taken.
        let sorted = arcsort(many.clone(), SortType::Ilabel);
        let twin = compose(&word(&labels), &sorted, &Default::default());
        assert_eq!(found.unwrap().num_arcs(), twin.unwrap().num_arcs());
        let short: Vec<Label> = (1..60).map(|i| i * 37 % 500).collect();
        let (found, twin) =
            (product(&word(&short), &many, &Default::default()), product(&word(&short), &sorted, &Default::default()));
        let (found, twin) = (found.unwrap().0, twin.unwrap().0);
        assert_eq!(found.num_states(), twin.num_states());
        for s in found.states() {
            let all = |f: &FlatFst<Tropical>| {
                let mut arcs: Vec<_> =
                    f.arcs(s).iter().map(|x| (x.ilabel, x.olabel, x.weight.0.to_bits(), x.nextstate)).collect();
                arcs.sort_unstable();
                arcs
            };
            assert_eq!(all(&found), all(&twin));
            // In the order of the second operand's arcs.
            assert!(found.arcs(s).iter().filter(|x| x.ilabel != EPSILON).is_sorted_by_key(|x| x.olabel));
        }
    }

    #[test]
    fn a_product_that_grows_too_large_stops() {
        let config = ComposeConfig { max_states: Some(2), ..Default::default() };
        let e = compose(&word(&[1, 2, 3]), &word(&[1, 2, 3]), &config).unwrap_err();
        assert!(matches!(e, Error::Limit { .. }));
    }
}
