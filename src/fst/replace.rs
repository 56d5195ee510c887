//! Replaces nonterminal labels by automata, recursively: a recursive transition network becomes one automaton.
//!
//! Needs a network without recursion (a cycle of calls is an error that names the labels). States come out in the order
//! of OpenFst's expansion. One hash look-up a resulting arc; a state is (stack of returns, state), and stacks are
//! interned, so that no stack is ever copied.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::flat::{Arc, Builder, EPSILON, FlatFst, Label, NO_LABEL, NO_STATE, StateId};
use super::semiring::Weight;
use super::statetable::StateTable;
use super::symbols::compatible_symbols;
use super::visit;
use crate::error::{Error, Result};

/// Which labels of a call or return arc are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Labeling {
    #[default]
    Neither,
    Input,
    Output,
    Both,
}

impl Labeling {
    fn input(self) -> bool {
        matches!(self, Labeling::Input | Labeling::Both)
    }
    fn output(self) -> bool {
        matches!(self, Labeling::Output | Labeling::Both)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ReplaceConfig {
    /// The nonterminal label on the arc into an automaton.
    pub call: Labeling,
    /// The label on the arc out of it.
    pub back: Labeling,
    pub return_label: Label,
    /// Stop with an error at this many states; none: as many as it takes.
    pub max_states: Option<usize>,
}

impl Default for ReplaceConfig {
    fn default() -> Self {
        ReplaceConfig { call: Labeling::Input, back: Labeling::Neither, return_label: EPSILON, max_states: None }
    }
}

const OP: &str = "replace";
const NO_CALL: u32 = u32::MAX;

/// Expands the automaton of the `root` label. `parts` are (label, automaton).
pub fn replace<W: Weight>(parts: &[(Label, &FlatFst<W>)], root: Label, config: &ReplaceConfig) -> Result<FlatFst<W>> {
    let by_label = Nonterminals::new(parts)?;
    if config.return_label == NO_LABEL {
        return Err(Error::op(OP, "the return label -1 is reserved and cannot be a label"));
    }
    let Some(root_part) = by_label.part(root) else {
        return Err(Error::op(OP, format!("there is no automaton for the root label {root}")));
    };
    let main = parts[root_part as usize].1;
    for (_, part) in parts {
        compatible_symbols(OP, main.isyms.as_deref(), part.isyms.as_deref())?;
        compatible_symbols(OP, main.osyms.as_deref(), part.osyms.as_deref())?;
    }
    check_recursion(parts, &by_label, root_part)?;
    Network::new(parts, &by_label)?.expand(root_part, config).map(|f| f.with_symbols_of(main))
}

/// Which automaton a label stands for. Nonterminals mostly follow each other, and then an array says it.
struct Nonterminals {
    least: Label,
    /// Parts by the distance from the least label; `NO_CALL` between them. Empty if they are too far apart.
    near: Vec<u32>,
    far: HashMap<Label, u32, FxBuildHasher>,
}

impl Nonterminals {
    fn new<W: Weight>(parts: &[(Label, &FlatFst<W>)]) -> Result<Self> {
        let labels = || parts.iter().map(|part| part.0);
        let (least, most) = (labels().min().unwrap_or(1), labels().max().unwrap_or(1));
        if least <= 0 {
            return Err(Error::op(OP, format!("a nonterminal label must be positive, found {least}")));
        }
        let width = (most - least) as usize + 1;
        let near = if width <= 4 * parts.len() + 1024 { vec![NO_CALL; width] } else { vec![] };
        let mut all = Nonterminals { least, near, far: HashMap::default() };
        if all.near.is_empty() {
            all.far.reserve(parts.len());
        }
        for (i, label) in labels().enumerate() {
            let before = match all.near.get_mut((label - least) as usize) {
                Some(place) => std::mem::replace(place, i as u32) != NO_CALL,
                None => all.far.insert(label, i as u32).is_some(),
            };
            if before {
                return Err(Error::op(OP, format!("the label {label} is given to two automata")));
            }
        }
        Ok(all)
    }

    #[inline(always)]
    fn part(&self, label: Label) -> Option<u32> {
        if label < self.least {
            None
        } else if self.far.is_empty() {
            self.near.get((label - self.least) as usize).copied().filter(|&part| part != NO_CALL)
        } else {
            self.far.get(&label).copied()
        }
    }
}

/// An error if a chain of calls from the root comes back to where it was.
fn check_recursion<W: Weight>(parts: &[(Label, &FlatFst<W>)], by_label: &Nonterminals, root: u32) -> Result<()> {
    let calls = |part: u32| -> Vec<u32> {
        let fst = parts[part as usize].1;
        // Most automata of a large network call nothing.
        if !fst.all_arcs().iter().any(|a| by_label.part(a.olabel).is_some()) {
            return vec![];
        }
        let reached = visit::accessible(fst);
        let mut to: Vec<u32> = fst
            .transitions()
            .filter(|(s, _)| reached[*s as usize])
            .filter_map(|(_, a)| by_label.part(a.olabel))
            .collect();
        to.sort_unstable();
        to.dedup();
        to
    };
    // 0 new, 1 open, 2 done.
    let mut mark = vec![0u8; parts.len()];
    let mut stack = vec![(root, calls(root), 0usize)];
    mark[root as usize] = 1;
    while let Some((part, to, next)) = stack.last_mut() {
        let Some(&t) = to.get(*next) else {
            mark[*part as usize] = 2;
            stack.pop();
            continue;
        };
        *next += 1;
        match mark[t as usize] {
            0 => {
                mark[t as usize] = 1;
                stack.push((t, calls(t), 0));
            }
            1 => {
                let from = stack.iter().position(|(p, _, _)| *p == t).unwrap_or(0);
                let mut names: Vec<String> =
                    stack[from..].iter().map(|(p, _, _)| parts[*p as usize].0.to_string()).collect();
                names.push(parts[t as usize].0.to_string());
                return Err(Error::op(
                    OP,
                    format!("the network is recursive, {}: its expansion has no end", names.join(" calls ")),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// All automata in one: states and arcs numbered through.
struct Network<W> {
    offsets: Vec<u32>,
    finals: Vec<W>,
    arcs: Vec<Arc<W>>,
    /// Start state of the automaton an arc calls; `NO_CALL` for an ordinary arc, `NO_STATE - 1` for an empty automaton.
    calls: Vec<u32>,
    starts: Vec<StateId>,
}

/// The called automaton has no states: the arc leads nowhere.
const EMPTY_CALL: u32 = u32::MAX - 1;

impl<W: Weight> Network<W> {
    fn new(parts: &[(Label, &FlatFst<W>)], by_label: &Nonterminals) -> Result<Self> {
        let states: usize = parts.iter().map(|(_, f)| f.num_states()).sum();
        let arcs: usize = parts.iter().map(|(_, f)| f.num_arcs()).sum();
        if states >= EMPTY_CALL as usize || arcs >= u32::MAX as usize {
            return Err(Error::op(OP, "the automata have 2^32 states or arcs together"));
        }
        let mut net = Network {
            offsets: Vec::with_capacity(states + 1),
            finals: Vec::with_capacity(states),
            arcs: Vec::with_capacity(arcs),
            calls: Vec::with_capacity(arcs),
            starts: Vec::with_capacity(parts.len()),
        };
        let mut base = 0;
        for (_, fst) in parts {
            net.starts.push(if fst.start() == NO_STATE { EMPTY_CALL } else { base + fst.start() });
            base += fst.num_states() as StateId;
        }
        let mut base = 0;
        net.offsets.push(0);
        for (_, fst) in parts {
            for s in fst.states() {
                for a in fst.arcs(s) {
                    let call = by_label.part(a.olabel).map_or(NO_CALL, |part| net.starts[part as usize]);
                    net.calls.push(call);
                    net.arcs.push(Arc { nextstate: base + a.nextstate, ..*a });
                }
                net.offsets.push(net.arcs.len() as u32);
                net.finals.push(fst.final_weight(s));
            }
            base += fst.num_states() as StateId;
        }
        Ok(net)
    }

    fn expand(&self, root: u32, config: &ReplaceConfig) -> Result<FlatFst<W>> {
        let start = self.starts[root as usize];
        let mut out = Builder::default();
        if start == EMPTY_CALL {
            return Ok(out.finish());
        }
        // A stack is (stack below, state to return to); stack 0 is empty. A state is (stack, state of the network).
        let mut stacks = StateTable::default();
        let mut states = StateTable::default();
        stacks.number(u64::MAX);
        let pair = |a: u32, b: u32| (a as u64) << 32 | b as u64;
        out.set_start(states.number(pair(0, start)));
        let limit = config.max_states.unwrap_or(NO_STATE as usize - 1);
        let back_labels = (
            if config.back.input() { config.return_label } else { EPSILON },
            if config.back.output() { config.return_label } else { EPSILON },
        );
        let mut n = 0;
        while (n as usize) < states.len() {
            if states.len() > limit {
                return Err(Error::limit(
                    OP,
                    format!("{limit} states"),
                    "the expansion grows larger; prune the parts, or raise --max-states",
                ));
            }
            let key = states.key(n);
            let (stack, s) = ((key >> 32) as u32, key as u32);
            let weight = self.finals[s as usize];
            out.add_state(if stack == 0 { weight } else { W::ZERO });
            if stack != 0 && !weight.is_zero_w() {
                // The key of a stack is a state's key too: the stack below and where to go on.
                let next = states.number(stacks.key(stack));
                out.push_arc(Arc::new(back_labels.0, back_labels.1, weight, next));
            }
            for i in self.offsets[s as usize]..self.offsets[s as usize + 1] {
                let a = &self.arcs[i as usize];
                match self.calls[i as usize] {
                    NO_CALL => {
                        let next = states.number(pair(stack, a.nextstate));
                        out.push_arc(Arc { nextstate: next, ..*a });
                    }
                    EMPTY_CALL => {}
                    called => {
                        let deeper = stacks.number(pair(stack, a.nextstate));
                        let next = states.number(pair(deeper, called));
                        let ilabel = if config.call.input() { a.ilabel } else { EPSILON };
                        let olabel = if config.call.output() { a.olabel } else { EPSILON };
                        out.push_arc(Arc::new(ilabel, olabel, a.weight, next));
                    }
                }
            }
            n += 1;
        }
        Ok(out.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    fn word(labels: &[Label]) -> FlatFst<Tropical> {
        let mut rows: Vec<(Tropical, Vec<Arc<Tropical>>)> = labels
            .iter()
            .enumerate()
            .map(|(i, &l)| (Tropical::ZERO, vec![Arc::new(l, l, Tropical(1.0), i as u32 + 1)]))
            .collect();
        rows.push((Tropical(0.5), vec![]));
        FlatFst::from_rows(0, rows)
    }

    #[test]
    fn a_call_goes_in_and_comes_back() {
        let (root, part) = (word(&[7, 100, 8]), word(&[9]));
        let config = ReplaceConfig { call: Labeling::Neither, ..Default::default() };
        let out = replace(&[(50, &root), (100, &part)], 50, &config).unwrap();
        let labels: Vec<(Label, f32)> = out.all_arcs().iter().map(|a| (a.olabel, a.weight.0)).collect();
        assert_eq!(labels, [(7, 1.0), (0, 1.0), (9, 1.0), (0, 0.5), (8, 1.0)]);
        assert_eq!(out.states().filter(|&s| out.is_final(s)).count(), 1);
    }

    #[test]
    fn recursion_is_an_error_that_names_the_labels() {
        let (a, b) = (word(&[101]), word(&[100]));
        let e = replace(&[(100, &a), (101, &b)], 100, &Default::default()).unwrap_err().to_string();
        assert!(e.contains("100 calls 101 calls 100"), "{e}");
        // A part that calls itself but is never called does no harm.
        assert!(replace(&[(1, &word(&[5])), (100, &word(&[100]))], 1, &Default::default()).is_ok());
    }
}
