//! One sentence: chart, network, lattice, hypotheses.

use super::hypotheses::{Hypothesis, hypotheses};
use super::{Decoder, Expansion, Model, states_in};
use crate::chart::Chart;
use crate::chart::parse::parse;
use crate::error::{Error, Result};
use crate::fst::flat::FlatFst;
use crate::fst::semiring::Tropical;
use crate::lm::apply::scorer::Models;
use crate::lm::apply::{ApplyConfig, Boundaries, Term, apply_with_parts};
use crate::rtn::agenda::{self, AgendaConfig};
use crate::rtn::ahead::{Histories, Words};
use crate::rtn::build::{BuildConfig, build};
use crate::rtn::contract::contract;
use crate::rtn::local::{Condition, LocalConfig, Pruned, charges, prune_cells};
use crate::rtn::network::Network;
use crate::rtn::search::{Found, SearchConfig, best_first};
use crate::rtn::small::smallest;
use crate::rtn::{Rtn, expand, parts, whole};
use crate::text::vocab::WordId;

/// Whether anything but the beam of the result was cut away.
#[derive(Clone, Debug, PartialEq)]
pub enum Exactness {
    Exact,
    /// Cells were pruned because the user said so.
    Pruned,
    /// Cells were pruned because there was too little memory for more; the beam.
    Forced(f64),
}

/// A lattice and what it is made of.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    /// All costs.
    pub whole: FlatFst<Tropical>,
    /// The rules' costs alone, on the same states and arcs.
    pub rules: FlatFst<Tropical>,
}

/// A sentence, done.
#[derive(Debug)]
pub struct Translation {
    pub chart: Chart,
    pub network: Option<Rtn>,
    /// Where cells were pruned: the network with these.
    pub pruned: Option<Rtn>,
    /// The expansion before the models were applied, where it was made.
    pub expanded: Option<FlatFst<Tropical>>,
    pub first: Scored,
    /// After the models of the second pass.
    pub second: Option<Scored>,
    pub hypotheses: Vec<Hypothesis>,
    pub exactness: Exactness,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Translation {
    /// The lattice that counts.
    pub fn lattice(&self) -> &Scored {
        self.second.as_ref().unwrap_or(&self.first)
    }
}

/// Beams of the cells where memory is short, one after the other.
const FORCED_BEAMS: [f64; 6] = [7.0, 5.0, 3.0, 2.0, 1.0, 0.0];
/// Cells of forced pruning have this many states at least.
const FORCED_STATES: usize = 50;
/// States that one cell's search may make where memory is short.
const FORCED_SEARCH: usize = 60_000;
/// Items of an exact search that is tried at once.
const EASY_ITEMS: usize = 20_000;
/// Items of a search with pruned cells.
const FORCED_ITEMS: usize = 300_000;
/// Arcs of an expansion that is searched as it is.
const SMALL: f64 = 1e6;
/// Arcs of an expansion that is searched at once.
const EASY: f64 = 1e8;
/// What an item of a search takes, with all that comes with it, about.
const BYTES_AN_ITEM: usize = 160;
/// A beam that leaves little out on the way: a queue costs more than it saves.
const WIDE_BEAM: f64 = 4.0;
/// A first guess of how much worse the n-th best is than the best.
const FIRST_BEAM: f64 = 2.0;
/// From here on everything is taken.
const LAST_BEAM: f64 = 100.0;

/// What a search may take.
#[derive(Clone, Copy)]
struct Effort {
    how: Expansion,
    bytes: usize,
    items: usize,
    /// The cost of some translation.
    known: Option<f64>,
    /// Look ahead with what words are likely to cost, not with the least, and give back what was found when the items are
    /// used up.
    likely: bool,
    /// Compose everything first, if it fits.
    whole: bool,
}

impl Decoder {
    /// Translates a sentence. `keep`: the intermediate automata stay in the result.
    pub fn decode(&self, sentence: &[WordId], keep: bool) -> Result<Translation> {
        let config = &self.config;
        let chart = parse(&self.grammar, sentence, &config.parse);
        let mut notes = vec![];
        if !chart.forced.is_empty() {
            let words: Vec<&str> =
                chart.forced.iter().map(|&i| self.grammar.vocab.word(sentence[i as usize])).collect();
            notes.push(format!(
                "no derivation with the rules alone; passed through, though rules know them: {}",
                words.join(" ")
            ));
        }
        if sentence.is_empty() {
            return Ok(Translation {
                chart,
                network: None,
                pruned: None,
                expanded: None,
                first: Scored { whole: empty_string(), rules: empty_string() },
                second: None,
                hypotheses: vec![Hypothesis::default()],
                exactness: Exactness::Exact,
                notes,
            });
        }
        let start_pruned = config.conditions.iter().any(|c| c.nt == Some(self.grammar.start()));
        let build_config = BuildConfig { pass_through: config.pass_through, keep_start_cells: start_pruned };
        let Some(rtn) = build(&self.grammar, &chart, &build_config) else {
            return Err(Error::op(
                "decode",
                "no derivation: no sequence of rules covers the sentence; are there glue rules, and is --max-span wide enough?",
            ));
        };
        let mut t = Translation {
            chart,
            network: None,
            pruned: None,
            expanded: None,
            first: Scored::default(),
            second: None,
            hypotheses: vec![],
            exactness: Exactness::Exact,
            notes,
        };
        self.search(&rtn, &mut t)?;
        if !self.second.is_empty() {
            let beam = config.prune.or((!config.lattice).then_some(self.needed_beam()));
            let mut beam = beam;
            loop {
                let scored = self.apply(&t.first.rules, &self.second, beam, states_in(self.config.max_memory))?;
                t.second = Some(scored);
                match self.wider(&mut t, beam)? {
                    Some(next) => beam = next,
                    None => break,
                }
            }
        }
        if keep {
            t.network = Some(rtn);
        }
        Ok(t)
    }

    /// The beam with which to look for as many hypotheses as are wanted.
    fn needed_beam(&self) -> f64 {
        if self.config.nbest <= 1 { 0.0 } else { FIRST_BEAM }
    }

    /// Lists the hypotheses of the lattice, those in the beam: pruning may leave others, but not all of these. If there are
    /// too few of them because the beam was only guessed, a wider one.
    fn wider(&self, t: &mut Translation, beam: Option<f64>) -> Result<Option<Option<f64>>> {
        t.hypotheses = hypotheses(self, t)?;
        let Some(beam) = beam else { return Ok(None) };
        if let Some(best) = t.hypotheses.first().map(|h| h.cost) {
            // Costs are sums of floats: two ways to the same sum may differ in the last bits.
            let limit = best + beam + 1e-5 * (1.0 + best.abs());
            t.hypotheses.retain(|h| h.cost <= limit);
        }
        let guessed = self.config.prune.is_none() && !self.config.lattice;
        let enough = t.hypotheses.len() >= self.config.nbest;
        Ok((guessed && !enough).then(|| Some(2.0 * beam.max(1.0)).filter(|&b| b < LAST_BEAM)))
    }

    /// Fills in the first pass, exactly if it can be done in the memory there is.
    fn search(&self, rtn: &Rtn, t: &mut Translation) -> Result<()> {
        let bytes = self.config.max_memory;
        let how = self.config.expansion;
        let exact = Effort { how, bytes, items: usize::MAX, known: None, likely: false, whole: false };
        if !self.config.conditions.is_empty() {
            let pruned = self.prune_cells(rtn, &self.config.conditions, exact, usize::MAX)?;
            if pruned.cut > 0 {
                t.notes.push(format!(
                    "the search of {} cells took more than --max-memory: paths in their beams may be missing",
                    pruned.cut
                ));
            }
            t.exactness = Exactness::Pruned;
            t.pruned = Some(match self.pass(&pruned.rtn, t, exact) {
                Err(Error::Limit { .. }) => {
                    let (more, beam) = self.forced(&pruned.rtn, t, bytes)?;
                    t.notes.push(format!(
                        "the pruned cells together take more than --max-memory: pruned again with a beam of {beam}"
                    ));
                    more
                }
                other => other.map(|()| pruned.rtn)?,
            });
            return Ok(());
        }
        let size = expand::sizes(rtn)[rtn.root];
        let first = match (self.config.expansion, self.first_beam()) {
            // Small expansions are searched as they are, or composed as a whole where the beam will want most of them; of
            // others, what is found at once need not be prepared for.
            (Expansion::Auto, Some(beam)) if size <= SMALL => {
                Some(Effort { how: Expansion::Lazy, whole: beam >= WIDE_BEAM, ..exact })
            }
            (Expansion::Auto, Some(_)) => (size <= EASY).then_some(Effort { items: EASY_ITEMS, ..exact }),
            _ => Some(exact),
        };
        if let Some(effort) = first {
            match self.pass(rtn, t, effort) {
                Err(Error::Limit { .. }) => {}
                other => return other,
            }
        }
        // What can be found in a moment says how much more there can be to find, and stands in where memory ends.
        let (pruned, beam) = self.forced(rtn, t, bytes)?;
        if self.config.expansion == Expansion::Auto && self.first_beam().is_some() {
            // Where nothing but the best is asked for, a quarter of the memory is tried: more takes long for little.
            let items = bytes / BYTES_AN_ITEM / if self.config.prune.is_some() { 1 } else { 4 };
            if self.improve(rtn, t, Effort { items, ..exact })? {
                return Ok(());
            }
            // The search with pruned cells may have missed their best: what it found bounds an exact search of them.
            self.improve(&pruned, t, Effort { items, ..exact })?;
        }
        t.exactness = Exactness::Forced(beam);
        t.pruned = Some(pruned);
        Ok(())
    }

    /// An exact search that what was found bounds; what was found stays if the search takes too much.
    fn improve(&self, rtn: &Rtn, t: &mut Translation, effort: Effort) -> Result<bool> {
        let known = t.hypotheses.first().map(|h| h.cost);
        let (first, hypotheses) = (std::mem::take(&mut t.first), std::mem::take(&mut t.hypotheses));
        match self.pass(rtn, t, Effort { known, ..effort }) {
            Err(Error::Limit { .. }) => {
                (t.first, t.hypotheses) = (first, hypotheses);
                Ok(false)
            }
            other => other.map(|()| true),
        }
    }

    /// The beam of the first pass, if not everything is wanted.
    fn first_beam(&self) -> Option<f64> {
        let all = self.config.lattice || !self.second.is_empty();
        self.config.prune.or((!all).then_some(self.needed_beam()))
    }

    /// A search with pruned cells, with ever smaller beams until it fits; the network it found, and the beam.
    fn forced(&self, rtn: &Rtn, t: &mut Translation, bytes: usize) -> Result<(Rtn, f64)> {
        let mut last = None;
        for beam in FORCED_BEAMS {
            // There is always a translation: what is left with the last beam is small, whatever it takes.
            let last_one = beam == 0.0;
            let (bytes, items) = if last_one { (usize::MAX, usize::MAX) } else { (bytes, FORCED_ITEMS) };
            // One translation is found quickly; many within a beam are cut off where they become too many.
            let how = if self.first_beam() == Some(0.0) { Expansion::Pdt } else { Expansion::Lazy };
            let effort = Effort { how, bytes, items, known: None, likely: true, whole: false };
            let condition = Condition { nt: None, min_span: 2, max_states: FORCED_STATES, beam };
            let done = self.prune_cells(rtn, &[condition], effort, FORCED_SEARCH).and_then(|pruned| {
                self.pass(&pruned.rtn, t, effort)?;
                Ok(pruned.rtn)
            });
            match done {
                Ok(pruned) => return Ok((pruned, beam)),
                Err(e @ Error::Limit { .. }) => last = Some(e),
                Err(e) => return Err(e),
            }
        }
        Err(last.unwrap_or_else(|| Error::op("decode", "no beam fits")))
    }

    fn prune_cells(&self, rtn: &Rtn, conditions: &[Condition], effort: Effort, max_states: usize) -> Result<Pruned> {
        let local = LocalConfig {
            conditions: conditions.to_vec(),
            start: self.grammar.start(),
            max_bytes: effort.bytes,
            max_states,
            likely: effort.likely,
        };
        let inside = ApplyConfig { boundaries: Boundaries::None, ..self.apply_config(None) };
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &inside)?;
        let mut words = Words::new(rtn, self.coarse.histories(&self.models, &self.labels, &inside, effort.likely));
        prune_cells(rtn, &mut words, &mut scorer, &local)
    }

    /// From the network to the lattice with the models' costs and the hypotheses.
    fn pass(&self, rtn: &Rtn, t: &mut Translation, effort: Effort) -> Result<()> {
        let expansion = effort.how;
        let two_passes = !self.second.is_empty();
        let room = states_in(effort.bytes);
        let mut beam = self.first_beam().or(effort.likely.then_some(FORCED_BEAMS[0]));
        let full = match (expansion, beam) {
            (Expansion::Full, _) | (Expansion::Auto, None) => Some(expand::expand(rtn, room)?),
            _ => None,
        };
        let small = match effort.whole {
            true => Some(contract(&expand::expand_root(rtn, rtn.root, room)?)),
            false => None,
        };
        let apply = self.search_config();
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let whole = match &small {
            Some(small) => whole::compose(small, &mut Models::new(&terms, &self.labels, &apply)?, effort.bytes / 2),
            None => None,
        };
        loop {
            t.first = match (&full, &whole, expansion) {
                (Some(full), _, _) => self.apply(full, &self.models, beam, room)?,
                (None, Some(whole), _) => {
                    let beam = beam.unwrap_or(f64::INFINITY);
                    self.finish(whole.within(beam), beam, effort.bytes)?
                }
                (None, None, Expansion::Lazy) => self.lazy(rtn, beam, effort)?,
                (None, None, _) => self.pushdown(rtn, beam, effort)?,
            };
            if two_passes {
                break;
            }
            match self.wider(t, beam)? {
                Some(next) => beam = next,
                None => break,
            }
        }
        t.expanded = full;
        Ok(())
    }

    fn apply(&self, lattice: &FlatFst<Tropical>, models: &[Model], beam: Option<f64>, room: usize) -> Result<Scored> {
        let terms: Vec<Term> = models.iter().map(Model::term).collect();
        let mut config = ApplyConfig { max_states: Some(room), ..self.apply_config(beam) };
        if terms.is_empty() {
            // Without a model there are no boundaries to look for.
            config.boundaries = Boundaries::None;
        }
        let (whole, mut parts) = apply_with_parts(lattice, &terms, &self.model_words, &config)?;
        Ok(Scored { whole, rules: parts.swap_remove(0).fst })
    }

    /// The network as a searcher has it, with what words cost at least, or are likely to cost.
    fn network<'a, H: Histories>(&self, rtn: &Rtn, words: &'a mut Words<H>, likely: bool) -> Result<Network<'a, H>> {
        let mut net = Network::new(words, Some(rtn.root));
        let inside = ApplyConfig { boundaries: Boundaries::None, ..self.apply_config(None) };
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &inside)?;
        for cell in &rtn.cells {
            let charged = likely.then(|| charges(cell, &mut scorer));
            net.push(cell, charged.as_deref());
        }
        Ok(net)
    }

    fn lazy(&self, rtn: &Rtn, beam: Option<f64>, effort: Effort) -> Result<Scored> {
        let beam = beam.unwrap_or(f64::INFINITY);
        let apply = self.search_config();
        let search = SearchConfig {
            beam,
            bound: f64::INFINITY,
            max_bytes: effort.bytes,
            max_states: effort.items,
            cut: effort.likely,
        };
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &apply)?;
        let mut words = Words::new(rtn, self.coarse.histories(&self.models, &self.labels, &apply, effort.likely));
        let found = best_first(&mut self.network(rtn, &mut words, effort.likely)?, rtn.root, &mut scorer, &search)?;
        self.finish(found.network, beam, effort.bytes)
    }

    fn pushdown(&self, rtn: &Rtn, beam: Option<f64>, effort: Effort) -> Result<Scored> {
        let beam = beam.unwrap_or(f64::INFINITY);
        let apply = self.search_config();
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &apply)?;
        let mut words = Words::new(rtn, self.coarse.histories(&self.models, &self.labels, &apply, effort.likely));
        let config = AgendaConfig {
            beam,
            // Costs of hypotheses are sums of floats.
            bound: effort.known.map_or(f64::INFINITY, |best| best + beam + 1e-4 * (1.0 + best.abs())),
            best_only: beam == 0.0 && self.config.prune.is_none(),
            max_bytes: effort.bytes,
            max_items: effort.items,
        };
        let found =
            match agenda::search(&mut self.network(rtn, &mut words, effort.likely)?, rtn.root, &mut scorer, &config)? {
                Some(agenda) => parts::expand(&agenda, beam, effort.bytes)?,
                None => Found::default(),
            };
        self.finish(found.network, beam, effort.bytes)
    }

    fn search_config(&self) -> ApplyConfig {
        let mut config = self.apply_config(None);
        if self.models.is_empty() {
            config.boundaries = Boundaries::None;
        }
        config
    }

    /// No epsilons, one path a string: the costs of the rules decide between derivations, for the models' are the same.
    fn finish(&self, found: FlatFst<Tropical>, beam: f64, bytes: usize) -> Result<Scored> {
        let rules = smallest(&found, states_in(bytes))?;
        // The models' costs are put back by walking along. Where the beam is only a guess, nothing needs to be cut again.
        self.apply(&rules, &self.models, self.config.prune.map(|_| beam).filter(|b| b.is_finite()), states_in(bytes))
    }
}

fn empty_string() -> FlatFst<Tropical> {
    FlatFst::from_rows(0, vec![(Tropical(0.0), vec![])])
}
