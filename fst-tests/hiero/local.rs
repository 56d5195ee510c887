//! Local pruning against a twin that does it step by step with whole automata: expand the cell, remove epsilons, compose
//! everything with the model, keep the arcs in the beam, drop the model's costs.

use std::collections::BTreeMap;

use weft::chart::parse::parse;
use weft::decode::{DecodeConfig, Decoder, Expansion, Model as LanguageModel};
use weft::fst::determinize::{DeterminizeConfig, determinize};
use weft::fst::flat::{Arc, FlatFst, Label, NO_STATE, ScatterBuilder};
use weft::fst::minimize::{MinimizeConfig, minimize};
use weft::fst::replace::{Labeling, ReplaceConfig, replace};
use weft::fst::rmepsilon::rmepsilon;
use weft::fst::semiring::Tropical;
use weft::lm::apply::{ApplyConfig, Boundaries, Term, apply_with_parts};
use weft::rtn::build::{BuildConfig, build};
use weft::rtn::local::Condition;
use weft::rtn::{POINTER, Rtn};

use crate::brute::{SHALLOW, WIDE};
use crate::exact::{Trigrams, cases, config, decoder, model, total};

type Fst = FlatFst<Tropical>;

const DELTA: f32 = 1e-4;

fn pointers(fst: &Fst) -> impl Iterator<Item = usize> + '_ {
    fst.all_arcs().iter().filter(|a| a.ilabel >= POINTER).map(|a| (a.ilabel - POINTER) as usize)
}

fn put_in(cell: &Fst, cells: &[Fst], which: impl Fn(usize) -> bool) -> Fst {
    let mut parts: Vec<(Label, &Fst)> = vec![(Label::MAX, cell)];
    parts.extend((0..cells.len()).filter(|&d| which(d)).map(|d| (Rtn::pointer(d), &cells[d])));
    let config = ReplaceConfig { call: Labeling::Neither, ..ReplaceConfig::default() };
    rmepsilon(replace(&parts, Label::MAX, &config).unwrap(), &Default::default()).unwrap()
}

fn small(fst: &Fst) -> Fst {
    let fst = determinize(fst, &DeterminizeConfig { delta: DELTA, ..DeterminizeConfig::default() }).unwrap();
    minimize(fst, &MinimizeConfig { delta: DELTA, allow_nondet: false }).unwrap()
}

/// The arcs of `whole` that a path in the beam uses, with the weights of `rules`.
fn in_the_beam(whole: &Fst, rules: &Fst, beam: f64) -> Fst {
    let n = whole.num_states();
    let mut forward = vec![f64::INFINITY; n];
    let mut backward: Vec<f64> = whole.finals().iter().map(|w| w.0 as f64).collect();
    forward[whole.start() as usize] = 0.0;
    // As often as there are states: no order is taken for granted.
    for _ in 0..n {
        for s in whole.states() {
            for a in whole.arcs(s) {
                let (w, s, to) = (a.weight.0 as f64, s as usize, a.nextstate as usize);
                forward[to] = forward[to].min(forward[s] + w);
                backward[s] = backward[s].min(backward[to] + w);
            }
        }
    }
    let limit = backward[whole.start() as usize] + beam + 1e-4;
    let mut out = ScatterBuilder::<Tropical>::default();
    (0..n).for_each(|_| {
        out.add_state();
    });
    out.set_start(whole.start());
    for s in whole.states() {
        if forward[s as usize] + whole.final_weight(s).0 as f64 <= limit {
            out.set_final(s, rules.final_weight(s));
        }
        for (a, r) in whole.arcs(s).iter().zip(rules.arcs(s)) {
            if forward[s as usize] + a.weight.0 as f64 + backward[a.nextstate as usize] <= limit {
                out.add_arc(s, Arc { weight: r.weight, ..*a });
            }
        }
    }
    weft::fst::connect::connect(out.finish())
}

/// Strings and the rules' costs that are left; and how many cells were pruned.
fn twin(
    d: &Decoder,
    sentence: &[u32],
    models: &[LanguageModel],
    conditions: &[Condition],
) -> Option<(BTreeMap<Vec<String>, f64>, usize)> {
    let chart = parse(&d.grammar, sentence, &d.config.parse);
    let start = d.grammar.start();
    let keep_start_cells = conditions.iter().any(|c| c.nt == Some(start));
    let rtn = build(&d.grammar, &chart, &BuildConfig { pass_through: d.config.pass_through, keep_start_cells })?;
    let terms: Vec<Term> = models.iter().map(LanguageModel::term).collect();
    let apply =
        ApplyConfig { boundaries: Boundaries::None, word_penalty: d.config.word_penalty, ..ApplyConfig::default() };
    let mut cells: Vec<Fst> = vec![];
    let mut sizes: Vec<usize> = vec![];
    let mut count = 0;
    for (cell, span) in rtn.cells.iter().zip(&rtn.spans) {
        let mut cell = small(&put_in(cell, &cells, |d| rtn.spans[d].nt == start || cells[d].num_states() < 4));
        let mut size = cell.num_states() + pointers(&cell).map(|d| sizes[d] - 2).sum::<usize>();
        let fits = |q: &&Condition| {
            q.nt.map_or(span.nt != start, |nt| nt == span.nt) && span.width() >= q.min_span && size >= q.max_states
        };
        let mut fitting: Vec<&Condition> = conditions.iter().filter(fits).collect();
        fitting.sort_by_key(|q| (q.min_span, q.max_states));
        if let Some(q) = fitting.last() {
            let whole = put_in(&cell, &cells, |_| true);
            let (whole, mut parts) = apply_with_parts(&whole, &terms, &d.model_words, &apply).unwrap();
            cell = small(&in_the_beam(&whole, &parts.swap_remove(0).fst, q.beam));
            size = cell.num_states();
            count += 1;
        }
        cells.push(cell);
        sizes.push(size);
    }
    let root = put_in(&cells[rtn.root], &cells, |_| true);
    let mut strings = BTreeMap::new();
    if root.start() == NO_STATE {
        return Some((strings, count));
    }
    let mut open = vec![(root.start(), vec![], 0.0)];
    while let Some((s, words, cost)) = open.pop() {
        let end = root.final_weight(s).0 as f64;
        if end.is_finite() {
            let least = strings.entry(words.clone()).or_insert(f64::INFINITY);
            *least = least.min(cost + end);
        }
        for a in root.arcs(s) {
            let mut longer: Vec<String> = words.clone();
            longer.push(d.grammar.vocab.word(a.ilabel as u32).to_string());
            open.push((a.nextstate, longer, cost + a.weight.0 as f64));
        }
    }
    Some((strings, count))
}

#[test]
fn cells_keep_what_whole_automata_keep() {
    let lm = Trigrams::new(21);
    let (mut pruned, mut fewer) = (0, 0);
    for shape in [SHALLOW, WIDE] {
        for (seed, case) in cases(9000, 16, shape) {
            for (min_span, max_states, beam, with_start) in
                [(1, 0, 0.5, false), (1, 0, 2.0, true), (2, 5, 1.0, false), (2, 6, 0.0, false), (1, 3, 3.0, false)]
            {
                let condition = Condition { nt: None, min_span, max_states, beam };
                let mut conditions =
                    vec![condition, Condition { max_states: max_states + 4, beam: beam / 2.0, ..condition }];
                if with_start {
                    let start = decoder(&case, vec![], config(&case)).0.grammar.start();
                    conditions.push(Condition { nt: Some(start), ..condition });
                }
                let base = DecodeConfig { conditions: conditions.clone(), ..config(&case) };
                let (d, sentence) = decoder(&case, model(&lm), base.clone());
                let Some((want, count)) = twin(&d, &sentence, &model(&lm), &conditions) else { continue };
                pruned += count;
                let all = case.translations(crate::exact::WEIGHTS);
                fewer += usize::from(want.len() < all.len());
                for expansion in [Expansion::Full, Expansion::Lazy, Expansion::Pdt] {
                    let (d, sentence) = decoder(&case, model(&lm), DecodeConfig { expansion, ..base.clone() });
                    let t = d.decode(&sentence, false).unwrap();
                    let what = format!("{shape:?} {seed} {conditions:?} {expansion:?}\n{}", case.file());
                    assert!(t.notes.is_empty(), "{what}: {:?}", t.notes);
                    let got: BTreeMap<Vec<String>, f64> = t
                        .hypotheses
                        .iter()
                        .map(|h| {
                            let words = h.words.iter().map(|&w| d.grammar.vocab.word(w).to_string()).collect();
                            (words, h.cost)
                        })
                        .collect();
                    assert_eq!(got.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>(), "{what}");
                    for (words, cost) in &got {
                        let expected = total(words, want[words], &lm);
                        assert!((cost - expected).abs() < 5e-3, "{what}: {words:?}: {cost} instead of {expected}");
                    }
                }
            }
        }
    }
    assert!(pruned > 200 && fewer > 20, "{pruned} cells pruned, {fewer} times something was lost: too easy");
}
