//! Labels with a meaning of their own in composition, as OpenFst's matchers have them: sigma matches any label, rho any
//! label that nothing else matches, phi is taken, at its cost, when nothing matches, and the search goes on where it leads.

use super::Composer;
use crate::error::{Error, Result};
use crate::fst::flat::{Arc, EPSILON, FlatFst, Label, NO_LABEL, StateId};
use crate::fst::semiring::Weight;

/// Whether a matched special label is replaced by the label it stood for on the other side of its arc too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Rewrite {
    /// If the operand is an acceptor.
    #[default]
    Auto,
    Always,
    Never,
}

/// Labels with a meaning of their own in one operand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Special {
    pub phi: Option<Label>,
    pub rho: Option<Label>,
    pub sigma: Option<Label>,
    pub rewrite: Rewrite,
    /// They stand on the output side of the first operand, not on the input side of the second.
    pub on_first: bool,
}

impl Special {
    pub fn any(&self) -> bool {
        self.phi.is_some() || self.rho.is_some() || self.sigma.is_some()
    }
    fn has(&self, label: Label) -> bool {
        [self.phi, self.rho, self.sigma].contains(&Some(label))
    }
}

pub(super) fn check_special<W: Weight>(a: &FlatFst<W>, b: &FlatFst<W>, special: &Special) -> Result<()> {
    if !special.any() {
        return Ok(());
    }
    let given: Vec<Label> = [special.phi, special.rho, special.sigma].into_iter().flatten().collect();
    if given.iter().any(|&l| l == EPSILON || l == NO_LABEL) {
        return Err(Error::op("compose", "a special label (phi, rho, sigma) cannot be 0 or -1"));
    }
    if (1..given.len()).any(|i| given[..i].contains(&given[i])) {
        return Err(Error::op("compose", "phi, rho and sigma must be different labels"));
    }
    let (mut other, which): (Box<dyn Iterator<Item = Label>>, &str) = if special.on_first {
        (Box::new(b.all_arcs().iter().map(|x| x.ilabel)), "second")
    } else {
        (Box::new(a.all_arcs().iter().map(|x| x.olabel)), "first")
    };
    match other.find(|&l| special.has(l)) {
        Some(l) => {
            Err(Error::op("compose", format!("the special label {l} is an ordinary label of the {which} operand")))
        }
        None => Ok(()),
    }
}

impl<W: Weight> Composer<'_, W> {
    /// True if the operand with the special labels has one at this state, so that it must be the one searched.
    pub(super) fn has_special(&mut self, s1: StateId, s2: StateId) -> bool {
        let special = self.config.special;
        let labels = [special.phi, special.rho, special.sigma];
        labels.into_iter().flatten().any(|l| {
            if special.on_first {
                !self.side_a.find(self.a, s1, l).is_empty()
            } else {
                !self.side_b.find(self.b, s2, l).is_empty()
            }
        })
    }

    #[inline(always)]
    fn find_special(&mut self, s: StateId, label: Label) -> std::ops::Range<usize> {
        if self.config.special.on_first {
            self.side_a.find(self.a, s, label)
        } else {
            self.side_b.find(self.b, s, label)
        }
    }

    /// The phi arc of a state of the special operand: there can be only one, since it is taken when nothing else is.
    #[inline(always)]
    fn failure(&mut self, s: StateId) -> Result<Option<Arc<W>>> {
        let Some(phi) = self.config.special.phi else { return Ok(None) };
        let range = self.find_special(s, phi);
        let arcs = if self.config.special.on_first { self.a.all_arcs() } else { self.b.all_arcs() };
        match &arcs[range] {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            several => Err(Error::op(
                "compose",
                format!(
                    "state {s} has {} phi arcs, and a failure leads to one place; \
                     where several are meant, make them epsilons",
                    several.len()
                ),
            )),
        }
    }

    /// Every arc of the special operand that matches `label` at `s`, with the failure costs and labels put in.
    pub(super) fn match_special(
        &mut self,
        s: StateId,
        label: Label,
        mut found: impl FnMut(&mut Self, Arc<W>),
    ) -> Result<()> {
        let special = self.config.special;
        let arcs = if special.on_first { self.a.all_arcs() } else { self.b.all_arcs() };
        let mut state = s;
        let mut cost: Option<W> = None;
        let charged = |cost: Option<W>, arc: Arc<W>| match cost {
            Some(w) => Arc { weight: w.otimes(arc.weight), ..arc },
            None => arc,
        };
        let both = self.rewrite_both;
        let renamed = |arc: Arc<W>, sign: Label| Arc {
            ilabel: if (both || !special.on_first) && arc.ilabel == sign { label } else { arc.ilabel },
            olabel: if (both || special.on_first) && arc.olabel == sign { label } else { arc.olabel },
            ..arc
        };
        let mut steps = 0usize;
        loop {
            let mut any = false;
            for arc in &arcs[self.find_special(state, label)] {
                any = true;
                found(self, charged(cost, *arc));
            }
            if let Some(sigma) = special.sigma {
                for arc in &arcs[self.find_special(state, sigma)] {
                    any = true;
                    found(self, charged(cost, renamed(*arc, sigma)));
                }
            }
            if any {
                return Ok(());
            }
            if let Some(rho) = special.rho {
                for arc in &arcs[self.find_special(state, rho)] {
                    any = true;
                    found(self, charged(cost, renamed(*arc, rho)));
                }
                if any {
                    return Ok(());
                }
            }
            let Some(arc) = self.failure(state)? else { return Ok(()) };
            if arc.nextstate == state {
                // A phi loop takes the label and stays.
                found(self, charged(cost, renamed(arc, special.phi.unwrap_or(NO_LABEL))));
                return Ok(());
            }
            cost = Some(cost.map_or(arc.weight, |w| w.otimes(arc.weight)));
            state = arc.nextstate;
            steps += 1;
            if steps > self.side_a.flags.len().max(self.side_b.flags.len()) {
                return Err(phi_cycle(state));
            }
        }
    }

    /// Final weight of a pair; a state with phi is as final as the first final state on its chain of failures.
    pub(super) fn final_weight<const SPECIAL: bool>(&mut self, s1: StateId, s2: StateId) -> Result<W> {
        let (mut w1, mut w2) = (self.a.final_weight(s1), self.b.final_weight(s2));
        if SPECIAL && self.config.special.phi.is_some() {
            let first = self.config.special.on_first;
            let own = if first { &mut w1 } else { &mut w2 };
            if own.is_zero_w() {
                let finals = if first { self.a.finals() } else { self.b.finals() };
                let mut state = if first { s1 } else { s2 };
                let mut cost = W::ONE;
                let mut steps = 0usize;
                while finals[state as usize].is_zero_w() {
                    let Some(arc) = self.failure(state)? else { break };
                    if arc.nextstate == state {
                        break;
                    }
                    cost = cost.otimes(arc.weight);
                    state = arc.nextstate;
                    steps += 1;
                    if steps > finals.len() {
                        return Err(phi_cycle(state));
                    }
                }
                let weight = cost.otimes(finals[state as usize]);
                if first { w1 = weight } else { w2 = weight }
            }
        }
        Ok(if w1.is_zero_w() || w2.is_zero_w() { W::ZERO } else { w1.otimes(w2) })
    }
}

fn phi_cycle(state: StateId) -> Error {
    Error::op("compose", format!("the phi arcs form a cycle through state {state}: a failure must end somewhere"))
}
