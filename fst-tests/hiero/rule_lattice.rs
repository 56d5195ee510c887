//! Rule lattices: all derivations of the strings of a lattice, each once, with the costs of their rules.

use std::collections::{BTreeMap, BTreeSet};

use weft::decode::{DecodeConfig, Decoder};
use weft::fst::flat::{FlatFst, Label, NO_STATE};
use weft::fst::semiring::Tropical;
use weft::rtn::rule_lattice::{labelled, passed_label};

use crate::brute::{PLAIN, SHALLOW, WIDE};
use crate::exact::{Trigrams, WEIGHTS, cases, config, decoder, model};
use crate::sandbox::Sandbox;

/// A path: input labels, output labels, cost.
type Path = (Vec<Label>, Vec<Label>, f64);

fn paths(fst: &FlatFst<Tropical>) -> Vec<Path> {
    let mut found = vec![];
    let mut open = vec![(fst.start(), (vec![], vec![], 0.0))];
    while let Some((s, path)) = open.pop() {
        if s == NO_STATE {
            continue;
        }
        for a in fst.arcs(s) {
            let mut longer: Path = path.clone();
            longer.0.extend(Some(a.ilabel).filter(|&l| l != 0));
            longer.1.extend(Some(a.olabel).filter(|&l| l != 0));
            longer.2 += a.weight.0 as f64;
            open.push((a.nextstate, longer));
        }
        if fst.is_final(s) {
            let (rules, words, cost) = path;
            found.push((rules, words, cost + fst.final_weight(s).0 as f64));
        }
    }
    found
}

fn words(decoder: &Decoder, labels: &[Label]) -> Vec<String> {
    labels.iter().map(|&l| decoder.grammar.vocab.word(l as u32).to_string()).collect()
}

/// Costs of each string's derivations, in order.
fn by_string(all: impl Iterator<Item = (Vec<String>, f64)>) -> BTreeMap<Vec<String>, Vec<f64>> {
    let mut strings: BTreeMap<Vec<String>, Vec<f64>> = BTreeMap::new();
    all.for_each(|(words, cost)| strings.entry(words).or_default().push(cost));
    strings.values_mut().for_each(|costs| costs.sort_by(f64::total_cmp));
    strings
}

#[test]
fn every_derivation_once() {
    let lm = Trigrams::new(13);
    let (mut found, mut left_out) = (0, 0);
    for shape in [PLAIN, SHALLOW, WIDE] {
        for (seed, case) in cases(7000, 40, shape) {
            let all = case.derivations(WEIGHTS);
            if all.len() > 3000 {
                continue;
            }
            for beam in [None, Some(0.0), Some(2.0)] {
                let (decoder, sentence) = decoder(&case, model(&lm), DecodeConfig { prune: beam, ..config(&case) });
                let Ok(t) = decoder.decode(&sentence, false) else { continue };
                let what = format!("{shape:?} {seed} beam {beam:?}\n{}", case.file());
                let kept: BTreeSet<Vec<String>> =
                    paths(&t.lattice().whole).iter().map(|p| words(&decoder, &p.1)).collect();
                left_out += all.iter().filter(|d| !kept.contains(&d.0)).count();
                let want = by_string(all.iter().filter(|d| kept.contains(&d.0)).cloned());

                let got = paths(&decoder.rule_lattice(&t).unwrap());
                let distinct: BTreeSet<&Vec<Label>> = got.iter().map(|p| &p.0).collect();
                assert_eq!(distinct.len(), got.len(), "{what}: a derivation twice");
                for (rules, _, cost) in &got {
                    let rule = |&l: &Label| decoder.grammar.cost(labelled(&decoder.grammar, l).unwrap()) as f64;
                    let sum: f64 = rules.iter().map(rule).sum();
                    assert!((sum - cost).abs() < 1e-4, "{what}: rules sum to {sum}, the path to {cost}");
                }
                found += got.len();
                let got = by_string(got.iter().map(|p| (words(&decoder, &p.1), p.2)));
                assert!(got.keys().eq(want.keys()), "{what}: {:?} instead of {:?}", got.keys(), want.keys());
                for (string, costs) in &got {
                    let want = &want[string];
                    assert_eq!(costs.len(), want.len(), "{what}: derivations of {string:?}");
                    let same = costs.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-4);
                    assert!(same, "{what}: {string:?}: {costs:?} instead of {want:?}");
                }
            }
        }
    }
    assert!(found > 10_000 && left_out > 1000, "{found} derivations, {left_out} left out: the cases are too easy");
}

/// Glue in front of a sentence is shared: ways to cut it are many, states are few.
#[test]
fn glue_is_not_repeated() {
    let mut case = crate::brute::case(1, PLAIN);
    case.rules.truncate(0);
    let word = |w: &str| vec![crate::brute::Sym::Word(w.into())];
    let pair = |s: &str| vec![crate::brute::Sym::Word(s.into()), crate::brute::Sym::Word(s.into())];
    for source in [word("s"), pair("s")] {
        let target = source.clone();
        case.rules.push(crate::brute::Rule { lhs: "X", source, target, costs: [1.0, 0.5] });
    }
    case.sentence = vec!["s".to_string(); 40];
    case.max_span = 5;
    let (decoder, sentence) = decoder(&case, vec![], DecodeConfig { nbest: 1, ..config(&case) });
    let t = decoder.decode(&sentence, false).unwrap();
    let fst = decoder.rule_lattice(&t).unwrap();
    assert!(fst.num_states() < 1000, "{} states", fst.num_states());
}

/// Strings that an automaton writes.
fn strings(s: &Sandbox, file: &str) -> BTreeSet<String> {
    let project = "weft fst project --project-type output";
    let small = "weft fst rmepsilon | weft fst map --map-type rmweight | weft fst determinize";
    s.run(&format!("{project} {file} | {small} > p.fst")).ok();
    s.run("printf 'shortestpath --nshortest 1000\\nprintstrings\\n' | weft cascade - p.fst")
        .ok()
        .lines()
        .map(str::to_string)
        .collect()
}

#[test]
fn files_and_archives() {
    let s = Sandbox::new();
    s.write("src.txt", "a b\nc b a\n\na unknown\n");
    let line = "weft decode --rules h.rules --lm words.arpa --prune 5";
    let text = s.run(&format!("{line} --lattices 'l/?.fst' --rule-lattices 'r/?.fst.gz' src.txt")).ok();
    let out = s.run(&format!("{line} --rule-lattices r.far --rule-features r.txt src.txt")).ok();
    assert_eq!(text, out);
    s.run("mkdir x && weft far extract --filename-prefix x/ r.far").ok();
    let mut seen = BTreeSet::new();
    for n in 1..=4 {
        let (l, r) = (strings(&s, &format!("l/{n}.fst")), strings(&s, &format!("r/{n}.fst.gz")));
        assert_eq!(l, r, "sentence {n}");
        let same = s.run(&format!("weft fst print r/{n}.fst.gz > 1; weft fst print x/{n} > 2; cmp 1 2"));
        assert_eq!(same.code, 0, "{same:?}");
        s.run(&format!("weft fst symbols --clear-isymbols r/{n}.fst.gz > n.fst")).ok();
        for row in s.run("weft fst print n.fst").ok().lines() {
            seen.extend(row.split('\t').nth(2).filter(|_| row.split('\t').count() > 3).map(str::to_string));
        }
    }
    seen.remove("0");
    let printed = s.run("weft fst print r/1.fst.gz").ok();
    assert!(printed.contains("\t[X]_|||_a_[X,1]_|||_[X,1]_x\t"), "{printed}");
    let features = s.read("r.txt");
    let rows: Vec<(&str, &str)> = features.lines().map(|l| l.split_once('\t').unwrap()).collect();
    assert_eq!(rows.iter().map(|r| r.0.to_string()).collect::<BTreeSet<_>>(), seen);
    assert!(rows.windows(2).all(|p| p[0].0.parse::<i32>().unwrap() < p[1].0.parse::<i32>().unwrap()), "{features}");
    assert!(rows.iter().any(|r| r.1 == "[X] ||| a ||| y ||| EgivenF=1.5 FgivenE=0.25"), "{features}");
    assert!(rows.iter().any(|r| r.1 == "[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| Glue=1"), "{features}");
    assert!(rows.last().unwrap().1.ends_with(" ||| PassThrough=1"), "{features}");
    // HiFST's numbers.
    let line = "weft decode --rules g.hifst --format hifst --feature-weights 1 --prune 9";
    s.run(&format!("{line} --lattices 'h/?.fst' --rule-lattices 'i/?.fst' src.idx")).ok();
    let strip = "weft fst symbols --clear-isymbols i/1.fst | weft fst project --project-type output";
    let small = "weft fst rmepsilon | weft fst map --map-type rmweight | weft fst determinize";
    s.run(&format!("{strip} | {small} > i.fst; cat h/1.fst | {small} | weft fst equivalent - i.fst")).ok();
}

#[test]
fn bad_calls_and_little_memory() {
    let s = Sandbox::new();
    let line = "weft decode --rules h.rules --lm words.arpa";
    s.run(&format!("{line} --rule-lattices out.fst src.txt")).fails(2, &["put `?` in its name"]);
    s.run(&format!("{line} --rule-features r.txt src.txt")).fails(2, &["add --rule-lattices"]);
    s.run(&format!("{line} --lattices l.far --rule-lattices l.far src.txt")).fails(2, &["the same name"]);
    // One string, but a derivation for each way to bracket it.
    s.write("many.rules", "[X] ||| a ||| x ||| F1=1\n[X] ||| [X,1] [X,2] ||| [X,1] [X,2] ||| F1=1\n");
    s.write("many.txt", &format!("{}\na a\n", "a ".repeat(10)));
    let line = "weft decode --rules many.rules --lm words.arpa --max-memory 500K --prune 1";
    let plain = s.run(&format!("{line} many.txt")).ok();
    let said = s.run(&format!("{line} --rule-lattices 'r/?.fst' many.txt"));
    assert_eq!((said.code, &said.out), (0, &plain), "{}", said.err);
    assert!(said.err.contains("sentence 1: no rule lattice: it takes more than --max-memory"), "{}", said.err);
    assert!(!s.has("r/1.fst") && s.has("r/2.fst"));
}

#[test]
fn labels_are_rules_from_one() {
    let (decoder, _) = decoder(&crate::brute::case(3, PLAIN), vec![], config(&crate::brute::case(3, PLAIN)));
    let grammar = &decoder.grammar;
    assert_eq!((labelled(grammar, 0), labelled(grammar, 1)), (None, Some(0)));
    let last = passed_label(grammar);
    assert_eq!((labelled(grammar, last), labelled(grammar, last - 1)), (None, Some(grammar.num_rules() as u32 - 1)));
}
