//! Determinizes an automaton: no state of the result has two arcs with the same input label (epsilon is a label like any
//! other here; see rmepsilon).
//!
//! Acceptors: the weighted subset construction. Transducers: the same over the Gallic semiring, where a subset also keeps
//! the output that is not emitted yet; what is left at a final state is emitted by arcs with `subsequential_label`.
//! Weights of subsets are quantized by `delta` before they are compared. The states are numbered in the order in which
//! OpenFst finds them.
//!
//! Ends for every acyclic or unweighted acceptor, and for weighted ones with the twins property; otherwise it goes on
//! until `max_states`. Polynomial in the size of the result, which may be exponential in that of the input.
//! M. Mohri, Finite-State Transducers in Language and Speech Processing, Computational Linguistics 23(2), 1997, §3.2, §4.3.

pub(crate) mod engine;
mod pruned;
pub(crate) mod relation;
pub(crate) mod residual;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::{Arc, Builder, FlatFst, Label, NO_LABEL, NO_STATE, StateId};
use super::prune::{PruneConfig, prune_in_place};
use super::semiring::{DELTA, SHORTEST_DELTA, Weight};
use super::shortestdistance::{DistanceConfig, shortest_distance};
use super::strings::{EMPTY, StringId, Strings};
use crate::error::{Error, Result};
use engine::Engine;
use relation::Relation;
use residual::{Gallic, GallicSet, Residual, Weights};

/// What to do with a transducer that gives several outputs for one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum DetType {
    /// There is none: an error if there is
    #[default]
    Functional,
    /// Keep all outputs, as parallel arcs at the end
    Nonfunctional,
    /// Keep the best output (tropical only)
    Disambiguate,
}

#[derive(Clone, Debug)]
pub struct DeterminizeConfig<W> {
    pub delta: f32,
    pub det_type: DetType,
    /// Keep only paths within this weight of the best; zero: all.
    pub weight: W,
    /// Keep at most so many states, best first.
    pub nstate: Option<usize>,
    pub subsequential_label: Label,
    pub increment_subsequential_label: bool,
    /// Stop with an error at this many states; 0: no limit.
    pub max_states: usize,
}

impl<W: Weight> Default for DeterminizeConfig<W> {
    fn default() -> Self {
        DeterminizeConfig {
            delta: DELTA,
            det_type: DetType::default(),
            weight: W::ZERO,
            nstate: None,
            subsequential_label: 0,
            increment_subsequential_label: false,
            max_states: 0,
        }
    }
}

impl<W: Weight> DeterminizeConfig<W> {
    fn prunes(&self) -> bool {
        !self.weight.is_zero_w() || self.nstate.is_some()
    }
    /// How OpenFst prunes a result that could not be pruned on the way.
    pub(crate) fn pruning(&self) -> PruneConfig<W> {
        PruneConfig { weight: self.weight, nstate: self.nstate, delta: Some(DELTA) }
    }
    /// Checks what can be checked before any work.
    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        if !(self.delta > 0.0 && self.delta.is_finite()) {
            return Err(Error::usage(format!("{op}: --delta must be a positive number, not {}", self.delta)));
        }
        if !self.weight.is_member() {
            return Err(Error::usage(format!("{op}: --weight must be a weight, not {}", self.weight)));
        }
        if self.subsequential_label == NO_LABEL {
            return Err(Error::usage(format!("{op}: --subsequential-label -1 is reserved and cannot be a label")));
        }
        if self.prunes() && !W::PATH {
            return Err(Error::op(
                op,
                format!(
                    "--weight and --nstate need the tropical semiring, and the arcs are {}; \
                     convert it (weft fst map --map-type to_standard)",
                    W::ARC_TYPE
                ),
            ));
        }
        Ok(())
    }
}

const OP: &str = "determinize";

pub fn determinize<W: Weight>(fst: &FlatFst<W>, config: &DeterminizeConfig<W>) -> Result<FlatFst<W>> {
    config.check(OP)?;
    if fst.is_acceptor() {
        let residual = Weights { delta: config.delta };
        let engine = Engine::new(fst, residual, OP, config.max_states);
        let result = if config.prunes() {
            let delta = Some(SHORTEST_DELTA);
            let distance =
                shortest_distance(fst, &DistanceConfig { reverse: true, delta, lenient: true, source: None })?;
            pruned::acceptor(engine, &distance, config.weight, config.nstate)?
        } else {
            acceptor(engine)?.0
        };
        return Ok(result.with_symbols_of(fst));
    }
    let (result, _) = transducer(fst, None, config, OP)?;
    let result = result.with_symbols_of(fst);
    if config.prunes() { Ok(prune_in_place(result, &config.pruning())?.0) } else { Ok(result) }
}

/// As `determinize` over subsets of related states, for `disambiguate`; also the head of every state.
pub(crate) fn predisambiguate<W: Weight>(
    fst: &FlatFst<W>,
    relation: &Relation,
    config: &DeterminizeConfig<W>,
    op: &'static str,
) -> Result<(FlatFst<W>, Vec<StateId>)> {
    let (result, heads) = if fst.is_acceptor() {
        let residual = Weights { delta: config.delta };
        acceptor(Engine::new(fst, residual, op, config.max_states).with_relation(relation))?
    } else {
        transducer(fst, Some(relation), config, op)?
    };
    Ok((result.with_symbols_of(fst), heads))
}

fn acceptor<W: Weight>(mut engine: Engine<W, Weights>) -> Result<(FlatFst<W>, Vec<StateId>)> {
    let mut b = Builder::default();
    let Some(start) = engine.start()? else { return Ok((b.finish(), vec![])) };
    b.set_start(start);
    let mut s = 0;
    while (s as usize) < engine.num_subsets() {
        let weight = engine.final_weight(s)?;
        b.add_state(weight);
        engine.expand(s, |a| b.push_arc(Arc::new(a.ilabel, a.ilabel, a.divisor.weight, a.dest)))?;
        s += 1;
    }
    let heads = engine.take_heads();
    Ok((b.finish(), heads))
}

fn transducer<W: Weight>(
    fst: &FlatFst<W>,
    relation: Option<&Relation>,
    config: &DeterminizeConfig<W>,
    op: &'static str,
) -> Result<(FlatFst<W>, Vec<StateId>)> {
    let delta = config.delta;
    match config.det_type {
        DetType::Nonfunctional => subsequential(Engine::new(fst, GallicSet::new(delta), op, config.max_states), config),
        min => {
            let min = min == DetType::Disambiguate;
            if min && !W::PATH {
                return Err(Error::op(
                    op,
                    format!(
                        "--det-type disambiguate keeps the best output, which needs the tropical semiring; \
                         the arcs are {}",
                        W::ARC_TYPE
                    ),
                ));
            }
            let residual = Gallic { delta, min, strings: Strings::default() };
            let mut engine = Engine::new(fst, residual, op, config.max_states);
            if let Some(relation) = relation {
                engine = engine.with_relation(relation);
            }
            subsequential(engine, config)
        }
    }
}

/// Outputs that are left at a final state: what `subsequential` needs to know of them.
trait Outputs<W: Weight>: Residual<W> {
    /// Every output with its weight, in order.
    fn outputs<'a>(&'a self, sum: &'a Self::Final) -> &'a [(StringId, W)];
    fn strings(&mut self) -> &mut Strings;
}

impl<W: Weight> Outputs<W> for Gallic {
    fn outputs<'a>(&'a self, sum: &'a Option<(StringId, W)>) -> &'a [(StringId, W)] {
        sum.as_slice()
    }
    fn strings(&mut self) -> &mut Strings {
        &mut self.strings
    }
}
impl<W: Weight> Outputs<W> for GallicSet<W> {
    fn outputs<'a>(&'a self, sum: &'a Option<u32>) -> &'a [(StringId, W)] {
        sum.map_or(&[], |id| self.get(id))
    }
    fn strings(&mut self) -> &mut Strings {
        &mut self.strings
    }
}

/// A state of the resulting transducer.
#[derive(Clone, Copy)]
enum Node {
    Subset(u32),
    /// What is still to be written, after the input has ended.
    Rest(StringId),
    Superfinal,
}

/// The subset automaton with the outputs left at final states spelled out. States are numbered as they are found.
fn subsequential<W: Weight, R: Outputs<W>>(
    mut engine: Engine<W, R>,
    config: &DeterminizeConfig<W>,
) -> Result<(FlatFst<W>, Vec<StateId>)> {
    let mut b = Builder::default();
    let Some(start) = engine.start()? else { return Ok((b.finish(), vec![])) };
    let mut nodes = vec![Node::Subset(start)];
    let mut of_subset: Vec<StateId> = vec![0];
    let mut of_rest: HashMap<StringId, StateId, FxBuildHasher> = HashMap::default();
    let mut superfinal = NO_STATE;
    let mut heads: Vec<StateId> = vec![];
    let mut left: Vec<(StringId, W)> = vec![];
    b.set_start(0);
    let mut i = 0;
    while i < nodes.len() {
        left.clear();
        b.add_state(W::ZERO);
        let this = i as StateId;
        let node = nodes[i];
        heads.push(NO_STATE);
        i += 1;
        match node {
            Node::Superfinal => {
                b.set_final(this, W::ONE);
                continue;
            }
            Node::Rest(string) => left.push((string, W::ONE)),
            Node::Subset(s) => {
                if engine.has_heads() {
                    heads[this as usize] = engine.head(s);
                }
                engine.expand(s, |a| {
                    let d = a.dest as usize;
                    if of_subset.len() <= d {
                        of_subset.resize(d + 1, NO_STATE);
                    }
                    if of_subset[d] == NO_STATE {
                        of_subset[d] = nodes.len() as StateId;
                        nodes.push(Node::Subset(a.dest));
                    }
                    b.push_arc(Arc::new(a.ilabel, a.divisor.olabel(), a.divisor.weight, of_subset[d]));
                })?;
                let sum = engine.final_weight(s)?;
                left.extend_from_slice(engine.residual.outputs(&sum));
            }
        }
        if let [(string, weight)] = left[..]
            && engine.residual.strings().len(string) <= 1
        {
            // One label at most: a final weight, or an arc to the one state where all ends.
            match engine.residual.strings().first(string) {
                _ if string == EMPTY => b.set_final(this, weight),
                label => {
                    if superfinal == NO_STATE {
                        superfinal = nodes.len() as StateId;
                        nodes.push(Node::Superfinal);
                    }
                    b.push_arc(Arc::new(config.subsequential_label, label, weight, superfinal));
                }
            }
            continue;
        }
        for (k, &(string, weight)) in (0..).zip(&left) {
            let more = if config.increment_subsequential_label { k } else { 0 };
            let Some(ilabel) = config.subsequential_label.checked_add(more) else {
                return Err(Error::op(OP, "labels counted up from --subsequential-label do not fit in 32 bits"));
            };
            let strings = engine.residual.strings();
            let (olabel, rest) = (strings.first(string), strings.rest(string));
            let dest = *of_rest.entry(rest).or_insert_with(|| {
                nodes.push(Node::Rest(rest));
                nodes.len() as StateId - 1
            });
            b.push_arc(Arc::new(ilabel, olabel, weight, dest));
        }
    }
    Ok((b.finish(), heads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log64, Tropical};
    use crate::fst::testing::{Z, arc};

    #[test]
    fn weights_move_to_where_the_paths_part() {
        let f = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 1, 1.0, 1), arc(1, 1, 3.0, 2)]),
                (Z, vec![arc(2, 2, 0.0, 3)]),
                (Z, vec![arc(3, 3, 0.5, 3)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let d = determinize(&f, &Default::default()).unwrap();
        let want = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 1, 1.0, 1)]),
                (Z, vec![arc(2, 2, 0.0, 2), arc(3, 3, 2.5, 2)]),
                (Tropical::ONE, vec![]),
            ],
        );
        assert_eq!(d, want);
        let config = DeterminizeConfig { weight: Tropical(1.0), ..Default::default() };
        assert_eq!(determinize(&f, &config).unwrap().num_arcs(), 2, "the worse path is out of the beam");
    }

    #[test]
    fn output_waits_until_it_is_known() {
        // a:x b:_ and a:y c:_ become a:_ b:x and a:_ c:y.
        let f = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 7, 0.0, 1), arc(1, 8, 0.0, 2)]),
                (Z, vec![arc(2, 0, 0.0, 3)]),
                (Z, vec![arc(3, 0, 0.0, 3)]),
                (Tropical::ONE, vec![]),
            ],
        );
        let d = determinize(&f, &Default::default()).unwrap();
        assert_eq!(d.arcs(0), [arc(1, 0, 0.0, 1)]);
        assert_eq!(d.arcs(1), [arc(2, 7, 0.0, 2), arc(3, 8, 0.0, 2)]);
    }

    #[test]
    fn two_outputs_for_one_input() {
        let f = FlatFst::from_rows(0, vec![(Z, vec![arc(1, 7, 2.0, 1), arc(1, 8, 1.0, 1)]), (Tropical::ONE, vec![])]);
        let run = |det_type| determinize(&f, &DeterminizeConfig { det_type, ..Default::default() });
        assert!(run(DetType::Functional).unwrap_err().to_string().contains("not functional"));
        let best = run(DetType::Disambiguate).unwrap();
        assert_eq!(best.all_arcs().iter().map(|a| a.olabel).max(), Some(8));
        let all = run(DetType::Nonfunctional).unwrap();
        let outputs: Vec<Label> = all.all_arcs().iter().map(|a| a.olabel).filter(|&o| o != 0).collect();
        assert_eq!(outputs, [7, 8]);
    }

    #[test]
    fn a_blow_up_is_stopped() {
        // Twins: two loops with the same label and different weights.
        let f = FlatFst::from_rows(
            0,
            vec![
                (Z, vec![arc(1, 1, 0.0, 1), arc(1, 1, 0.0, 2)]),
                (Tropical::ONE, vec![arc(1, 1, 1.0, 1)]),
                (Tropical::ONE, vec![arc(1, 1, 2.0, 2)]),
            ],
        );
        let e = determinize(&f, &DeterminizeConfig { max_states: 100, ..Default::default() }).unwrap_err().to_string();
        assert!(e.contains("stopped at 100 states"), "{e}");
    }

    #[test]
    fn log_adds_parallel_paths() {
        let half = Log64(2f64.ln());
        let f = FlatFst::from_rows(
            0,
            vec![(Log64::ZERO, vec![Arc::new(1, 1, half, 1), Arc::new(1, 1, half, 1)]), (Log64::ONE, vec![])],
        );
        let d = determinize(&f, &Default::default()).unwrap();
        assert_eq!(d.num_arcs(), 1);
        assert!(d.arcs(0)[0].weight.0.abs() < 1e-12);
    }
}
