//! One sentence: chart, network, lattice, hypotheses.

use super::hypotheses::{Hypothesis, hypotheses};
use super::{DecodeConfig, Decoder, Expansion, Model};
use crate::chart::Chart;
use crate::chart::parse::parse;
use crate::error::{Error, Result};
use crate::fst::determinize::{DeterminizeConfig, determinize};
use crate::fst::flat::FlatFst;
use crate::fst::rmepsilon::rmepsilon;
use crate::fst::semiring::Tropical;
use crate::lm::apply::scorer::{Models, Scorer};
use crate::lm::apply::{ApplyConfig, Boundaries, Term, apply_with_parts};
use crate::rtn::build::{BuildConfig, build};
use crate::rtn::local::{Condition, LocalConfig, prune_cells};
use crate::rtn::network::Network;
use crate::rtn::search::{Found, SearchConfig, best_first};
use crate::rtn::{Rtn, expand, pushdown};
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
const FORCED_BEAMS: [f64; 6] = [8.0, 6.0, 4.0, 2.0, 1.0, 0.0];
/// Cells of forced pruning have this many states at least.
const FORCED_STATES: usize = 50;
/// States that one cell's search may make where memory is short.
const FORCED_SEARCH: usize = 30_000;
/// How far outside the beam a search looks whose guide is only nearly right.
const SLACK: f64 = 2.0;
/// Networks whose expansion has so many arcs are searched at once.
const EASY: f64 = 50_000.0;
/// How many times larger than memory an expansion may be that is not made as a whole.
const LAZILY: f64 = 16.0;
/// A first guess of how much worse the n-th best is than the best.
const FIRST_BEAM: f64 = 2.0;
/// From here on everything is taken.
const LAST_BEAM: f64 = 100.0;

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
                let scored = self.apply(&t.first.rules, &self.second, beam, self.max_states())?;
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
        let room = self.max_states();
        if !self.config.conditions.is_empty() {
            let (pruned, net) = self.prune_cells(rtn, &self.config.conditions, room, SLACK)?;
            t.exactness = Exactness::Pruned;
            let widest = self.config.conditions.iter().fold(0.0, |b: f64, c| b.max(c.beam)).min(FORCED_BEAMS[0]);
            if !self.pass_if_it_fits(&pruned, t, room, |t| self.guided(&net, rtn.root, t, widest, room))? {
                t.notes.push(
                    "the pruned cells together take more than --max-memory: the last search was guided by what words are \
                     likely to cost, and may have missed something"
                        .into(),
                );
            }
            t.pruned = Some(pruned);
            return Ok(());
        }
        let size = expand::sizes(rtn)[rtn.root];
        let lazy = self.is_lazy();
        if size <= EASY {
            match self.pass(rtn, t, room, None) {
                Err(Error::Limit { .. }) => {}
                other => return other,
            }
        }
        let hopeless = match self.config.expansion {
            Expansion::Pdt => size <= EASY,
            _ => size <= EASY || size > room as f64 * if lazy { LAZILY } else { 1.0 },
        };
        let mut quick = None;
        let done = !hopeless
            && self.pass_if_it_fits(rtn, t, room, |t| {
                quick = Some(self.forced(rtn, t, room)?);
                Ok(())
            })?;
        if done {
            return Ok(());
        }
        let (pruned, beam) = match quick {
            Some(found) => found,
            None => self.forced(rtn, t, room)?,
        };
        t.exactness = Exactness::Forced(beam);
        t.pruned = Some(pruned);
        Ok(())
    }

    /// The exact search of a network, if it takes no more room than there is: false, and what `quick` found stays. What can
    /// be found in a moment also says how much more there can be to find.
    fn pass_if_it_fits(
        &self,
        rtn: &Rtn,
        t: &mut Translation,
        room: usize,
        mut quick: impl FnMut(&mut Translation) -> Result<()>,
    ) -> Result<bool> {
        let lazy = self.is_lazy();
        let mut bound = None;
        if lazy {
            quick(t)?;
            bound = t.hypotheses.first().map(|h| h.cost);
        }
        let (first, hypotheses) = (std::mem::take(&mut t.first), std::mem::take(&mut t.hypotheses));
        match self.pass(rtn, t, room, bound) {
            Err(Error::Limit { .. }) => (t.first, t.hypotheses) = (first, hypotheses),
            other => return other.map(|()| true),
        }
        if !lazy {
            quick(t)?;
        }
        Ok(false)
    }

    /// The network is searched without being expanded first.
    fn is_lazy(&self) -> bool {
        match self.config.expansion {
            Expansion::Auto => self.first_beam().is_some(),
            Expansion::Lazy => true,
            Expansion::Full | Expansion::Pdt => false,
        }
    }

    /// The beam of the first pass, if not everything is wanted.
    fn first_beam(&self) -> Option<f64> {
        let all = self.config.lattice || !self.second.is_empty();
        self.config.prune.or((!all).then_some(self.needed_beam()))
    }

    /// A search with pruned cells, with ever smaller beams until it fits; the network it found, and the beam.
    fn forced(&self, rtn: &Rtn, t: &mut Translation, room: usize) -> Result<(Rtn, f64)> {
        let mut last = None;
        for beam in FORCED_BEAMS {
            // There is always a translation: what is left with the last beam is small, whatever it takes.
            let room = if beam == 0.0 { usize::MAX } else { room };
            let condition = Condition { nt: None, min_span: 2, max_states: FORCED_STATES, beam };
            let done = self.prune_cells(rtn, &[condition], room.min(FORCED_SEARCH), 0.0).and_then(|(pruned, net)| {
                self.guided(&net, rtn.root, t, beam, room)?;
                Ok(pruned)
            });
            match done {
                Ok(pruned) => return Ok((pruned, beam)),
                Err(e @ Error::Limit { .. }) => last = Some(e),
                Err(e) => return Err(e),
            }
        }
        Err(last.unwrap_or_else(|| Error::op("decode", "no beam fits")))
    }

    /// The root of a network that local pruning left, searched with what words are likely to cost; where nothing else says
    /// how much is wanted, with this beam.
    fn guided(&self, net: &Network, root: usize, t: &mut Translation, beam: f64, room: usize) -> Result<()> {
        let max_states = room.min(16 * FORCED_SEARCH);
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let guess = self.first_beam().unwrap_or(beam).min(FORCED_BEAMS[0]);
        let mut wanted = Some(self.config.prune.unwrap_or(guess));
        while let Some(now) = wanted {
            let search = SearchConfig { beam: now, slack: SLACK, bound: f64::INFINITY, max_states, cut: true };
            let mut scorer = Models::new(&terms, &self.labels, &self.search_config())?;
            let found = best_first(net, root, &mut scorer, &search)?;
            t.first = self.finish(found, now, room)?;
            wanted = match self.second.is_empty() {
                true => self.wider(t, Some(now))?.flatten().filter(|&b| b <= FORCED_BEAMS[0]),
                false => None,
            };
        }
        Ok(())
    }

    fn prune_cells(
        &self,
        rtn: &Rtn,
        conditions: &[Condition],
        max_states: usize,
        slack: f64,
    ) -> Result<(Rtn, Network)> {
        let start = self.grammar.start();
        let local = LocalConfig { conditions: conditions.to_vec(), start, max_states, slack };
        let inside = ApplyConfig { boundaries: Boundaries::None, ..self.apply_config(None) };
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &inside)?;
        prune_cells(rtn, &mut scorer, &local)
    }

    /// From the network to the lattice with the models' costs and the hypotheses, with room for so many states. `known`:
    /// the cost of some translation.
    fn pass(&self, rtn: &Rtn, t: &mut Translation, room: usize, known: Option<f64>) -> Result<()> {
        let DecodeConfig { expansion, .. } = self.config;
        let two_passes = !self.second.is_empty();
        let mut beam = self.first_beam();
        let full = match (expansion, beam) {
            (Expansion::Full, _) | (Expansion::Auto, None) => Some(expand::expand(rtn, room)?),
            _ => None,
        };
        loop {
            t.first = match (&full, expansion) {
                (Some(full), _) => self.apply(full, &self.models, beam, room)?,
                (None, Expansion::Pdt) => self.pushdown(rtn, beam, room)?,
                (None, _) => self.lazy(rtn, beam, room, known)?,
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

    fn lazy(&self, rtn: &Rtn, beam: Option<f64>, room: usize, known: Option<f64>) -> Result<Scored> {
        let beam = beam.unwrap_or(f64::INFINITY);
        // Costs of hypotheses are sums of floats.
        let bound = known.map_or(f64::INFINITY, |best| best + beam + 1e-4 * (1.0 + best.abs()));
        let search = SearchConfig { beam, slack: 0.0, bound, max_states: room, cut: false };
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &self.search_config())?;
        let mut net = Network::default();
        for cell in &rtn.cells {
            net.push(cell, |_, a| scorer.least(a.ilabel as u32));
        }
        let found = best_first(&net, rtn.root, &mut scorer, &search)?;
        self.finish(found, beam, room)
    }

    fn pushdown(&self, rtn: &Rtn, beam: Option<f64>, room: usize) -> Result<Scored> {
        let beam = beam.unwrap_or(f64::INFINITY);
        let terms: Vec<Term> = self.models.iter().map(Model::term).collect();
        let mut scorer = Models::new(&terms, &self.labels, &self.search_config())?;
        let found = pushdown::expand(rtn, &mut scorer, beam, room)?;
        self.finish(found, beam, room)
    }

    fn search_config(&self) -> ApplyConfig {
        let mut config = self.apply_config(None);
        if self.models.is_empty() {
            config.boundaries = Boundaries::None;
        }
        config
    }

    /// No epsilons, one path a string: the costs of the rules decide between derivations, for the models' are the same.
    fn finish(&self, found: Found, beam: f64, room: usize) -> Result<Scored> {
        let small = |fst| -> Result<FlatFst<Tropical>> {
            let fst = rmepsilon(fst, &Default::default())?;
            let config = DeterminizeConfig { delta: expand::EXACT, max_states: room, ..Default::default() };
            determinize(&fst, &config)
        };
        let rules = small(found.network)?;
        // The models' costs are put back by walking along.
        self.apply(&rules, &self.models, Some(beam).filter(|b| b.is_finite()), room)
    }
}

fn empty_string() -> FlatFst<Tropical> {
    FlatFst::from_rows(0, vec![(Tropical(0.0), vec![])])
}
