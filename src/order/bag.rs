//! One bag: its phrases, the ladder of rules, the search, the lattice, the second pass.

use super::Orders;
use super::features::RuleWeights;
use super::future::{Expected, Left};
use super::lattice::{Lattice, lattice};
use super::models::OrderModel;
use super::rows::Searched;
use super::search::{Search, SearchConfig};
use super::table::Phrases;
use super::tiling::Tiling;
use crate::chart::bag::{Bag, Phrase, PhraseTrie, Type};
use crate::decode::hypotheses::strings;
use crate::error::{Error, Result};
use crate::fst::flat::{FlatFst, Label};
use crate::fst::prune::{PruneConfig, prune};
use crate::fst::semiring::Tropical;
use crate::fst::shortestpath::{ShortestPathConfig, shortestpath};
use crate::fst::symbols::SymbolTable;
use crate::lm::UNKNOWN;
use crate::lm::apply::labels::{Kind, Labels};
use crate::lm::apply::scorer::{Many, One, Scorer};
use crate::lm::apply::{ApplyConfig, Boundaries, Term, apply_numbered};
use crate::lm::vocab::{BEGIN, END};
use crate::text::vocab::{Vocab, WordId, plain, spelled};

/// The algorithms of section 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Algorithm {
    /// Everything that the phrases can make, without pruning
    Full,
    /// All cells first, then rows pruned with the language model from the bottom up
    Expand,
    /// Rows pruned while the cells are made
    #[default]
    Parse,
}

/// What the words that a hypothesis lacks are expected to cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Future {
    /// Nothing, as in the paper
    None,
    /// What they cost without any context
    Unigram,
    /// What they cost after the word of the bag that suits them best
    Best,
    /// What they cost after the word that suits them best of those that are still to come
    #[default]
    Left,
}

#[derive(Clone, Debug)]
pub struct OrderConfig {
    pub algorithm: Algorithm,
    pub row: usize,
    pub beam: f64,
    /// Hypotheses that a row keeps at most; 0: as many as memory allows; none: as many as are good, but not so many that a
    /// very large bag takes minutes.
    pub hypotheses: Option<usize>,
    pub orders: Orders,
    /// Words that two phrases may share.
    pub overlap: usize,
    pub future: Future,
    /// Bytes that one bag may take, about.
    pub max_memory: usize,
    pub nbest: usize,
    /// A lattice is wanted.
    pub lattice: bool,
    pub oov_cost: Option<f64>,
}

/// Which rules a bag needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Those of the chosen orders.
    #[default]
    Chosen,
    /// Those and all bigrams.
    Bigrams,
    /// All words alone besides.
    Unigrams,
}

/// A sentence made of a bag.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub words: Vec<WordId>,
    pub cost: f64,
}

/// What became of a bag.
#[derive(Debug, Default)]
pub struct Ordered {
    /// The best first; one if no more were asked for.
    pub answers: Vec<Answer>,
    /// If it was asked for or a second pass needed it.
    pub lattice: Option<Lattice>,
    pub rung: Rung,
    /// Nothing was left out.
    pub exact: bool,
    /// The algorithm took more memory than it may, and rows were pruned while parsing.
    pub forced: bool,
    /// Nothing was left of the search until it pruned less.
    pub wider: bool,
    /// A word stood alone that no phrase of the rung has, though single words were not asked for.
    pub alone: bool,
    /// Rows kept fewer hypotheses than usual, for the bag is very large.
    pub narrow: bool,
    /// A word is not in the text collection.
    pub unseen: bool,
    /// The lattice has less than it should, for want of memory.
    pub cut: bool,
    pub phrases: usize,
    pub cells: usize,
    pub hypotheses: usize,
}

/// Everything that bags share.
pub struct Orderer<'a> {
    pub phrases: &'a dyn Phrases,
    pub models: Vec<OrderModel>,
    /// Models of the second pass, instead of the first ones.
    pub second: Vec<OrderModel>,
    pub weights: RuleWeights,
    pub config: OrderConfig,
    /// The words of all bags; their numbers are the labels of lattices.
    pub vocab: Vocab,
}

/// The vocabulary of some words.
pub fn vocabulary<'a>(words: impl Iterator<Item = &'a str>) -> Vocab {
    let mut vocab = Vocab::default();
    words.for_each(|w| {
        vocab.add(&spelled(w));
    });
    vocab
}

/// Takes away phrases that are no cheaper than their words one by one, where every word can be said alone: no sentence needs
/// them, and a search is many times as fast without.
fn without_idle(rules: &mut Vec<Phrase>, words: usize) {
    let mut alone = vec![f64::INFINITY; words];
    for rule in rules.iter().filter(|r| r.words.len() == 1) {
        let cost = &mut alone[rule.words[0] as usize];
        *cost = cost.min(rule.cost);
    }
    if alone.iter().all(|c| c.is_finite()) {
        let needed = |r: &Phrase| r.words.len() == 1 || r.cost < r.words.iter().map(|&t| alone[t as usize]).sum();
        rules.retain(needed);
    }
}

/// The number of a word in a model. `<s>` and `</s>` are words like others in a bag, which no model knows.
fn number(term: &Term, word: &str) -> crate::lm::WordId {
    match word {
        BEGIN | END => UNKNOWN,
        _ => term.model.word(word).unwrap_or(UNKNOWN),
    }
}

/// What is expected of a word at most.
const IMPOSSIBLE: f64 = 1e9;

/// How many times a search that found nothing is done again, pruning less.
const WIDER: u32 = 2;

/// Hypotheses that a row keeps where nobody says how many.
const HYPOTHESES: usize = 1000;

/// Hypotheses a row that a bag can have in about a minute. Each looks at every pair of words that it lacks, and each word
/// that may come next is weighed against them all.
fn affordable(bag: &Bag) -> usize {
    let (tokens, words) = (bag.len() as f64, bag.words.len() as f64);
    let seconds = tokens * (words * words * 0.3e-9 + words * 100e-9);
    (60.0 / seconds.max(1e-9)).clamp(10.0, 1e9) as usize
}

/// What a hypothesis or an arc takes with its places in tables, about.
const BYTES: usize = 40;

impl Orderer<'_> {
    /// Orders a bag by itself.
    pub fn order(&self, tokens: &[&str]) -> Result<Ordered> {
        let mut done = self.part(tokens, Boundaries::Add)?;
        self.finish(&mut done, Boundaries::Add)?;
        Ok(done)
    }

    /// A lattice is needed, not only the best sentence.
    pub fn wants_lattice(&self) -> bool {
        self.config.lattice || self.config.nbest > 1 || !self.second.is_empty()
    }

    /// The first pass over a part of a sentence.
    pub fn part(&self, tokens: &[&str], boundaries: Boundaries) -> Result<Ordered> {
        let bag = Bag::new(tokens.iter().copied())?;
        match bag.width() {
            1 => self.ladder::<1>(&bag, boundaries),
            2 => self.ladder::<2>(&bag, boundaries),
            4 => self.ladder::<4>(&bag, boundaries),
            16 => self.ladder::<16>(&bag, boundaries),
            _ => self.ladder::<256>(&bag, boundaries),
        }
    }

    fn ladder<const W: usize>(&self, bag: &Bag, boundaries: Boundaries) -> Result<Ordered> {
        let all = self.phrases.phrases(bag, Orders { least: 1, most: self.config.orders.most });
        let mut last = 0;
        for rung in [Rung::Chosen, Rung::Bigrams, Rung::Unigrams] {
            let mut rules = self.rules(bag, &all, rung);
            if rung > Rung::Chosen && rules.len() == last {
                continue;
            }
            last = rules.len();
            let single = |r: &&Phrase| r.words.len() == 1;
            let alone = rung < Rung::Unigrams && !self.config.orders.has(1) && rules.iter().any(|r| single(&r));
            let unseen = rules.iter().filter(single).any(|r| r.count == 0);
            if self.config.overlap == 0 {
                without_idle(&mut rules, bag.words.len());
            }
            let trie = PhraseTrie::new(rules);
            if let Some(done) = self.search::<W>(bag, &trie, boundaries, rung)? {
                return Ok(Ordered { alone, unseen, ..done });
            }
        }
        Err(Error::op("order", "no sentence was found: this is a bug in weft, please report it"))
    }

    /// The rules of a rung. A word that no phrase has is a rule of its own on every one.
    pub fn rules(&self, bag: &Bag, all: &[(Vec<Type>, u64)], rung: Rung) -> Vec<Phrase> {
        let orders = self.config.orders;
        let wanted =
            |n: usize| orders.has(n) || (n == 2 && rung >= Rung::Bigrams) || (n == 1 && rung == Rung::Unigrams);
        let phrase = |words: &[Type], count| Phrase {
            words: words.to_vec(),
            count,
            cost: self.weights.cost(words.len(), count),
        };
        let mut rules: Vec<Phrase> =
            all.iter().filter(|(w, _)| wanted(w.len())).map(|(w, count)| phrase(w, *count)).collect();
        let mut alone = vec![true; bag.words.len()];
        rules.iter().flat_map(|r| &r.words).for_each(|&t| alone[t as usize] = rung == Rung::Unigrams);
        for t in (0..bag.words.len()).filter(|&t| alone[t]) {
            if !rules.iter().any(|r| r.words == [t as Type]) {
                let seen = all.iter().find(|(w, _)| w[..] == [t as Type]).map_or(0, |(_, count)| *count);
                rules.push(phrase(&[t as Type], seen));
            }
        }
        rules
    }

    fn search<const W: usize>(
        &self,
        bag: &Bag,
        trie: &PhraseTrie,
        boundaries: Boundaries,
        rung: Rung,
    ) -> Result<Option<Ordered>> {
        let terms: Vec<Term> = self.models.iter().map(OrderModel::term).collect();
        let labels = self.labels(bag, &terms);
        let apply = self.apply_config(boundaries);
        match &terms[..] {
            [term] => self.run::<W, _>(bag, trie, boundaries, rung, || One::new(term, 0, &labels, &apply)),
            _ => self.run::<W, _>(bag, trie, boundaries, rung, || Many::new(&terms, &labels, &apply)),
        }
    }

    /// A search by the chosen algorithm; by the one that needs least memory where there is not enough. `None`: the rules
    /// cannot make up the bag.
    fn run<const W: usize, S: Scorer>(
        &self,
        bag: &Bag,
        trie: &PhraseTrie,
        boundaries: Boundaries,
        rung: Rung,
        scorer: impl Fn() -> Result<S>,
    ) -> Result<Option<Ordered>> {
        let terms: Vec<Term> = self.models.iter().map(OrderModel::term).collect();
        let before = self.weights.before(self.phrases.pairs(bag), bag.words.len());
        let mut forced = false;
        let mut wider = 0;
        let mut algorithm = self.config.algorithm;
        loop {
            let config = self.search_config(bag, trie, algorithm, wider);
            // What is expected of words is for pruning, and where nothing is pruned it is work for nothing.
            let future = match self.config.future {
                _ if algorithm == Algorithm::Full => Future::None,
                // What words cost after each other is a table of all pairs.
                Future::Left if bag.words.len().pow(2) > self.config.max_memory / 128 => Future::Best,
                future => future,
            };
            let expected = self.expected(bag, &terms, boundaries, future);
            let tiling = || -> Result<Option<Tiling<W>>> {
                if config.overlap > 0 {
                    return Ok(None);
                }
                match algorithm {
                    Algorithm::Parse => Ok(Tiling::new(bag, trie, self.config.max_memory)),
                    _ => Tiling::complete(bag, trie, self.config.max_memory).map(Some),
                }
            };
            let found = tiling()
                .and_then(|tiling| Search::new(bag, trie, scorer()?, &expected, &before, tiling, &config).run());
            match found {
                Err(Error::Limit { .. }) if algorithm != Algorithm::Parse => {
                    algorithm = Algorithm::Parse;
                    forced = true;
                }
                Err(e) => return Err(e),
                Ok((found, mut scorer)) => {
                    let Some((goal, cost)) = found.best() else {
                        // Pruning may leave nothing that leads to the end where phrases share words, or are very many.
                        if found.pruned && wider < WIDER {
                            wider += 1;
                            continue;
                        }
                        return Ok(None);
                    };
                    let lattice = self.lattice(bag, trie, &found, &mut scorer, config.max_nodes)?;
                    let words = found.words(trie, goal).iter().map(|&t| self.label(bag, t) as WordId).collect();
                    return Ok(Some(Ordered {
                        answers: vec![Answer { words, cost }],
                        cut: lattice.as_ref().is_some_and(|l| l.cut),
                        lattice,
                        rung,
                        exact: !found.pruned,
                        forced,
                        wider: wider > 0,
                        phrases: trie.phrases.len(),
                        cells: found.cells,
                        hypotheses: found.nodes.len(),
                        narrow: self.config.hypotheses.is_none() && config.most < HYPOTHESES,
                        alone: false,
                        unseen: false,
                    }));
                }
            }
        }
    }

    /// Every step wider prunes less: twice the beam, four times the hypotheses, if there is memory for them.
    fn search_config(&self, bag: &Bag, trie: &PhraseTrie, algorithm: Algorithm, wider: u32) -> SearchConfig {
        let max_nodes = (self.config.max_memory / BYTES).max(1000);
        let lattice = self.wants_lattice();
        // What a row can take if all of those ahead are open and all before are kept.
        let (open, done) = if lattice { (26, 9) } else { (4, 2) };
        let room = max_nodes / ((trie.longest() + 1) * open + bag.len() * done);
        let hypotheses = self.config.hypotheses.unwrap_or_else(|| HYPOTHESES.min(affordable(bag)));
        let wanted = hypotheses.saturating_mul(4usize.pow(wider));
        let most = if wanted == 0 { room } else { wanted.min(room) };
        let full = algorithm == Algorithm::Full;
        SearchConfig {
            row: self.config.row,
            beam: if full { f64::INFINITY } else { self.config.beam * f64::from(1 << wider) },
            most: if full { usize::MAX } else { most.max(2) },
            lattice,
            overlap: self.config.overlap,
            max_nodes,
        }
    }

    fn lattice<S: Scorer>(
        &self,
        bag: &Bag,
        trie: &PhraseTrie,
        found: &Searched,
        scorer: &mut S,
        max_nodes: usize,
    ) -> Result<Option<Lattice>> {
        if !self.wants_lattice() {
            return Ok(None);
        }
        let beam = if self.config.algorithm == Algorithm::Full { f64::INFINITY } else { self.config.beam };
        lattice(found, trie, scorer, beam, |t| self.label(bag, t), max_nodes / 8).map(Some)
    }

    /// The label of a word of a bag.
    pub(super) fn label(&self, bag: &Bag, t: Type) -> Label {
        self.vocab.find(&spelled(&bag.words[t as usize])).unwrap_or(0) as Label
    }

    /// The word of a label, as the bags have it.
    pub fn word(&self, label: WordId) -> &str {
        plain(self.vocab.word(label))
    }

    /// The words of a bag as the models number them.
    fn labels(&self, bag: &Bag, terms: &[Term]) -> Labels {
        Labels {
            of_arc: vec![],
            kinds: vec![Kind::Word; bag.words.len()],
            ids: terms.iter().map(|term| bag.words.iter().map(|w| number(term, w)).collect()).collect(),
        }
    }

    fn apply_config(&self, boundaries: Boundaries) -> ApplyConfig {
        ApplyConfig { boundaries, oov_cost: self.config.oov_cost, ..ApplyConfig::default() }
    }

    /// What words are expected to cost, for pruning.
    fn expected(&self, bag: &Bag, terms: &[Term], boundaries: Boundaries, future: Future) -> Expected {
        let labels = self.labels(bag, terms);
        let n = bag.words.len();
        let mut expected = Expected { least: vec![0.0; n], ..Expected::default() };
        if future == Future::None {
            return expected;
        }
        let left = future == Future::Left;
        let (mut costs, mut ends) = (vec![0.0; n * n], vec![0.0; n]);
        for (term, ids) in terms.iter().zip(&labels.ids) {
            let model = term.model;
            let mut states = vec![model.null()];
            if future != Future::Unigram {
                states.extend(ids.iter().map(|&id| model.step(model.null(), id).0));
                states.extend(model.begin());
            }
            for (w, &id) in ids.iter().enumerate() {
                let after = |state| {
                    let cost = model.step(state, id).1;
                    term.scale * self.config.oov_cost.filter(|_| id == UNKNOWN).unwrap_or(cost)
                };
                expected.least[w] += states.iter().map(|&s| after(s)).fold(f64::INFINITY, f64::min);
                if left {
                    let row = &mut costs[w * n..(w + 1) * n];
                    row.iter_mut().zip(&states[1..]).for_each(|(sum, &s)| *sum += after(s));
                }
            }
            if let (true, Boundaries::Add | Boundaries::End, Some(end)) = (left, boundaries, model.end_word()) {
                let after = states[1..].iter().map(|&s| term.scale * model.step(s, end).1);
                ends.iter_mut().zip(after).for_each(|(sum, cost)| *sum += cost);
            }
        }
        // A word that a model holds to be impossible: sums of what cannot be, less what cannot be, are no numbers.
        let finite = |costs: &mut [f64]| costs.iter_mut().for_each(|c| *c = c.min(IMPOSSIBLE));
        finite(&mut expected.least);
        finite(&mut costs);
        finite(&mut ends);
        if left && n > 0 {
            expected.end = ends.iter().copied().fold(f64::INFINITY, f64::min);
            expected.left = Some(Left::new(costs, ends));
        }
        expected
    }

    /// The second pass and the list of answers.
    pub fn finish(&self, done: &mut Ordered, boundaries: Boundaries) -> Result<()> {
        let Some(lattice) = &mut done.lattice else { return Ok(()) };
        if !self.second.is_empty() {
            let (whole, narrowed) = self.rescore(&lattice.rules, &self.second, boundaries)?;
            lattice.whole = whole;
            done.cut |= narrowed;
        }
        if self.config.nbest == 1 && self.second.is_empty() && !done.answers.is_empty() {
            // The search knows the best, and its costs are not rounded.
            return Ok(());
        }
        let config =
            ShortestPathConfig { nshortest: self.config.nbest.max(1), unique: true, ..ShortestPathConfig::default() };
        let paths = shortestpath(&lattice.whole, &config)?;
        let answers: Vec<Answer> = strings(&paths).into_iter().map(|(words, cost)| Answer { words, cost }).collect();
        // A lattice of sentences that the models hold to be impossible has no path; the search has found one of them.
        if !answers.is_empty() {
            done.answers = answers;
        }
        Ok(())
    }

    /// A lattice of rules' costs with the scores of models, pruned; also whether it had to be pruned more than asked for.
    pub fn rescore(
        &self,
        rules: &FlatFst<Tropical>,
        models: &[OrderModel],
        boundaries: Boundaries,
    ) -> Result<(FlatFst<Tropical>, bool)> {
        let terms: Vec<Term> = models.iter().map(OrderModel::term).collect();
        let max_states = Some((self.config.max_memory / BYTES / 4).max(1000));
        let finite = self.config.algorithm != Algorithm::Full && self.config.beam.is_finite();
        let config =
            ApplyConfig { prune: finite.then_some(self.config.beam), max_states, ..self.apply_config(boundaries) };
        let number = |label: Label, term: &Term| number(term, self.word(label as WordId));
        match apply_numbered(rules, &terms, number, &config) {
            Err(Error::Limit { .. }) => {
                let narrow = ApplyConfig { prune: Some(self.config.beam.min(10.0) / 4.0), ..config };
                Ok((apply_numbered(rules, &terms, number, &narrow)?, true))
            }
            other => Ok((other?, false)),
        }
    }

    /// Keeps what is at most the beam worse than the best.
    pub fn pruned(&self, fst: FlatFst<Tropical>) -> Result<FlatFst<Tropical>> {
        if !self.config.beam.is_finite() || self.config.algorithm == Algorithm::Full {
            return Ok(fst);
        }
        prune(fst, &PruneConfig { weight: Tropical(self.config.beam as f32), ..Default::default() })
    }

    /// The words that automata have.
    pub fn symbols<'b>(&self, automata: impl Iterator<Item = &'b FlatFst<Tropical>>) -> SymbolTable {
        let mut labels: Vec<Label> = vec![0];
        automata.for_each(|fst| labels.extend(fst.all_arcs().iter().map(|a| a.olabel)));
        labels.sort_unstable();
        labels.dedup();
        let mut table = SymbolTable::new("words");
        for label in labels {
            table.add_with_key(self.vocab.word(label as WordId), label as i64);
        }
        table
    }

    /// −ln p of words by each model of the last pass, unscaled.
    pub fn scores(&self, words: &[WordId]) -> Vec<f64> {
        let models = if self.second.is_empty() { &self.models } else { &self.second };
        let score = |model: &OrderModel| {
            let m = &model.model;
            let (mut state, mut sum) = (m.begin().unwrap_or(m.null()), 0.0);
            for &word in words {
                let id = number(&model.term(), self.word(word));
                let (next, cost) = m.step(state, id);
                state = next;
                sum += self.config.oov_cost.filter(|_| id == UNKNOWN).unwrap_or(cost);
            }
            sum + m.end_word().map_or(0.0, |end| m.step(state, end).1)
        };
        models.iter().map(score).collect()
    }
}
