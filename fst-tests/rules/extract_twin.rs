//! Extraction against a naive twin: every set of holes of every span, tested by the definition alone.

use std::collections::BTreeMap;

use weft::rules::extract::{Config, Counts, Extractor};
use weft::text::parallel::Pair;

use crate::random::{self, Sentences};

type Span = (usize, usize, usize, usize);

/// Is this box a phrase pair, by the definition?
fn is_phrase(p: &Sentences, (s0, s1, t0, t1): Span, config: &Config) -> bool {
    let inside = |&&(s, t): &&(u16, u16)| {
        let (s, t) = (s as usize, t as usize);
        (s0..s1).contains(&s) && (t0..t1).contains(&t)
    };
    let crossing = p.links.iter().any(|&(s, t)| (s0..s1).contains(&(s as usize)) != (t0..t1).contains(&(t as usize)));
    if crossing || !p.links.iter().any(|l| inside(&l)) || s1 - s0 > config.max_phrase || t1 - t0 > config.max_target {
        return false;
    }
    let source = |i: usize| p.links.iter().any(|l| l.0 as usize == i);
    let target = |j: usize| p.links.iter().any(|l| l.1 as usize == j);
    config.loose || (source(s0) && source(s1 - 1) && target(t0) && target(t1 - 1))
}

fn phrases(p: &Sentences, config: &Config) -> Vec<Span> {
    let (n, m) = (p.source.len(), p.target.len());
    let mut all = vec![];
    for s0 in 0..n {
        for s1 in s0 + 1..=n {
            for t0 in 0..m {
                for t1 in t0 + 1..=m {
                    if is_phrase(p, (s0, s1, t0, t1), config) {
                        all.push((s0, s1, t0, t1));
                    }
                }
            }
        }
    }
    all
}

/// The symbols of a side: words, and holes as numbers.
fn side(
    words: &[String],
    (from, to): (usize, usize),
    holes: &[(usize, usize, usize)],
) -> (Vec<String>, Vec<Option<usize>>) {
    let mut symbols = vec![];
    let mut places = vec![];
    let mut at = from;
    while at < to {
        match holes.iter().find(|h| h.0 == at) {
            Some(&(_, end, number)) => {
                symbols.push(format!("[X,{number}]"));
                places.extend(std::iter::repeat_n(None, end - at));
                at = end;
            }
            None => {
                places.push(Some(symbols.len()));
                symbols.push(words[at].clone());
                at += 1;
            }
        }
    }
    (symbols, places)
}

/// All rules of a box, as text without their count.
fn rules_of(p: &Sentences, span: Span, all: &[Span], config: &Config) -> Vec<String> {
    let (s0, s1, t0, t1) = span;
    let inside: Vec<Span> = all
        .iter()
        .copied()
        .filter(|h| s0 <= h.0 && h.1 <= s1 && t0 <= h.2 && h.3 <= t1 && h.1 - h.0 >= config.min_hole)
        .collect();
    let mut found = vec![];
    // Subsets as increasing index lists, up to the rank.
    let mut open: Vec<Vec<usize>> = vec![vec![]];
    while let Some(set) = open.pop() {
        if set.len() < config.rank {
            let from = set.last().map_or(0, |l| l + 1);
            open.extend((from..inside.len()).map(|i| [&set[..], &[i]].concat()));
        }
        let mut holes: Vec<Span> = set.iter().map(|&i| inside[i]).collect();
        holes.sort_unstable();
        let apart = |a: &Span, b: &Span| {
            let gap = usize::from(!config.adjacent);
            (a.1 + gap <= b.0 || b.1 + gap <= a.0) && (a.3 <= b.2 || b.3 <= a.2)
        };
        if (0..holes.len()).any(|i| (i + 1..holes.len()).any(|j| !apart(&holes[i], &holes[j]))) {
            continue;
        }
        let numbered = |f: fn(&Span) -> (usize, usize)| -> Vec<(usize, usize, usize)> {
            holes.iter().enumerate().map(|(i, h)| (f(h).0, f(h).1, i + 1)).collect()
        };
        let (source, source_places) = side(&p.source, (s0, s1), &numbered(|h| (h.0, h.1)));
        let (target, target_places) = side(&p.target, (t0, t1), &numbered(|h| (h.2, h.3)));
        let mut links = vec![];
        for &(s, t) in &p.links {
            let (s, t) = (s as usize, t as usize);
            if (s0..s1).contains(&s)
                && (t0..t1).contains(&t)
                && let (Some(i), Some(j)) = (source_places[s - s0], target_places[t - t0])
            {
                links.push(format!("{i}-{j}"));
            }
        }
        if links.is_empty() || source.len() > config.max_symbols {
            continue;
        }
        found.push(format!("[X] ||| {} ||| {} ||| {}", source.join(" "), target.join(" "), links.join(" ")));
    }
    found
}

fn twin(p: &Sentences, config: &Config) -> BTreeMap<String, usize> {
    let all = phrases(p, config);
    let mut rules = BTreeMap::new();
    for &span in &all {
        for rule in rules_of(p, span, &all, config) {
            *rules.entry(rule).or_default() += 1;
        }
    }
    rules
}

fn extracted(p: &Sentences, config: &Config) -> String {
    let source: Vec<&str> = p.source.iter().map(String::as_str).collect();
    let target: Vec<&str> = p.target.iter().map(String::as_str).collect();
    let mut out = vec![];
    Extractor::new(config).extract(&Pair { source: &source, target: &target, links: &p.links }, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_same_rules_as_by_the_definition() {
    let default = Config::default();
    let configs = [
        default.clone(),
        Config { loose: true, ..default.clone() },
        Config { adjacent: true, rank: 3, max_symbols: 7, ..default.clone() },
        Config { max_phrase: 4, max_target: 3, min_hole: 2, ..default.clone() },
        Config { rank: 1, max_symbols: 3, loose: true, max_phrase: 5, ..default.clone() },
        Config { rank: 0, ..default },
    ];
    let mut most = 0;
    for seed in 0..120 {
        let p = random::pair(seed, 7);
        for config in &configs {
            let want = twin(&p, config);
            let mut got: BTreeMap<String, usize> = BTreeMap::new();
            for line in extracted(&p, config).lines() {
                let rule = line.replace(" ||| Count=1 ||| ", " ||| ");
                *got.entry(rule).or_default() += 1;
            }
            assert_eq!(got, want, "{:?} {:?} {} {config:?}", p.source, p.target, p.link_text());
            most = most.max(got.len());
        }
    }
    assert!(most > 50, "the pairs are too poor to say anything: {most} rules at most");
}

#[test]
fn fractions_of_a_phrase_sum_to_one() {
    let config = Config { counts: Counts::Fractional, ..Config::default() };
    for seed in 0..50 {
        let p = random::pair(seed, 7);
        let phrases = phrases(&p, &config);
        let with_rules = phrases.iter().filter(|&&s| !rules_of(&p, s, &phrases, &config).is_empty()).count();
        let text = extracted(&p, &config);
        let counts = text.lines().map(|l| l.split(" ||| ").nth(3).unwrap().strip_prefix("Count=").unwrap());
        let sum: f64 = counts.map(|c| c.parse::<f64>().unwrap()).sum();
        assert!((sum - with_rules as f64).abs() < 1e-3 * (1.0 + with_rules as f64), "{sum} {with_rules}");
    }
}
