//! Filtering against naive matching of every rule with every sentence.

use weft::rules::format::{RuleFormat, parse};
use weft::rules::rule::{Rule, Symbol};

use crate::random;
use crate::sandbox::Sandbox;

/// All ways to lay the source side over a part of the sentence, by brute force.
fn matches(rule: &Rule, sentence: &[&str], max_span: usize) -> bool {
    let limit = if rule.rank() == 0 { usize::MAX } else { max_span };
    fn lay(symbols: &[Symbol], words: &[&str]) -> Vec<usize> {
        match symbols.split_first() {
            None => vec![0],
            Some((Symbol::Word(w), rest)) if words.first() == Some(w) => {
                lay(rest, &words[1..]).into_iter().map(|n| n + 1).collect()
            }
            Some((Symbol::Word(_), _)) => vec![],
            Some((_, rest)) => {
                (1..=words.len()).flat_map(|k| lay(rest, &words[k..]).into_iter().map(move |n| n + k)).collect()
            }
        }
    }
    (0..sentence.len()).any(|i| lay(&rule.source, &sentence[i..]).into_iter().any(|n| n <= limit))
}

#[test]
fn the_rules_that_match_and_the_best_of_them() {
    let s = Sandbox::empty();
    let [source, target, links] = random::corpus(7, 150);
    s.write("s", &source);
    s.write("t", &target);
    s.write("a", &links);
    let test: String = (0..3).map(|i| random::pair(i + 90_000, 9).source.join(" ") + "\n").collect();
    s.write("test", &test);
    s.run("weft rules extract s t a -o rules.gz").ok();
    let rules = s.run("gzip -dc rules.gz").ok();
    for (span, top) in [(10, 3), (4, 1), (3, 1000)] {
        let mut want = String::new();
        let (mut last, mut rank) = ("", 0);
        for line in rules.lines() {
            let rule = parse(RuleFormat::Cdec, "t", 1, line).unwrap().unwrap();
            let key = line.split(" ||| ").nth(1).unwrap();
            rank = if key == last { rank + 1 } else { 0 };
            last = key;
            let found = test.lines().any(|l| matches(&rule, &l.split(' ').collect::<Vec<_>>(), span));
            // The best come first in the file.
            if found && rank < top {
                want.push_str(line);
                want.push('\n');
            }
        }
        let got = s.run(&format!("weft rules filter --input test --max-span {span} --top {top} rules.gz")).ok();
        assert!(got == want, "span {span} top {top}: {} and {} rules", got.lines().count(), want.lines().count());
        assert!(!want.is_empty() && want.lines().count() < rules.lines().count());
    }
}

#[test]
fn patterns_and_counts() {
    let s = Sandbox::new();
    let all = s.run("gzip -dc rules.gz").ok();
    let table = s.run("weft rules patterns rules.gz").ok();
    let total: usize = table.lines().map(|l| l.split('\t').nth(1).unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(total, all.lines().count());
    assert!(table.contains("w w\t") && table.contains("wX1 X1w\t"), "{table}");
    let without = s.run("weft rules filter --deny 'w w' rules.gz").ok();
    assert!(!without.is_empty() && without.lines().all(|l| l.contains("[X,1]")));
    s.write("p", "w w\n");
    let only = s.run("weft rules filter --allow-patterns p rules.gz").ok();
    assert_eq!(only.lines().count() + without.lines().count(), all.lines().count());
    let deny = s.run("weft rules filter --deny-patterns p rules.gz").ok();
    assert_eq!(deny, without);
    let often = s.run("weft rules filter --min-count 2 rules.gz").ok();
    assert!(!often.is_empty() && often.lines().all(|l| !l.contains("Count1=1")));
    // Other formats are filtered as they are.
    s.run("weft rules convert --to moses counts.txt -o m.txt && weft rules convert --to hifst counts.txt -o h.txt")
        .ok();
    s.write("in", "book reads\n");
    assert_eq!(s.run("weft rules filter --format moses --input in m.txt").ok().lines().count(), 1);
    assert_eq!(s.run("weft rules filter --format hifst --input in h.txt").ok().lines().count(), 1);
}

/// The cheapest by a weighted sum, against sorting every source's rules by it.
#[test]
fn the_best_by_weights() {
    let s = Sandbox::empty();
    let [source, target, links] = random::corpus(8, 150);
    s.write("s", &source);
    s.write("t", &target);
    s.write("a", &links);
    s.write("w.toml", "EgivenF = 0.25\nFgivenE = 2\nWordCount = 1.5\n");
    s.run("weft rules extract s t a -o rules.gz").ok();
    let rules = s.run("gzip -dc rules.gz").ok();
    let cost = |line: &str| {
        let rule = parse(RuleFormat::Cdec, "t", 1, line).unwrap().unwrap();
        let weights = weft::decode::weights::Weights::read(s.path().join("w.toml").to_str().unwrap()).unwrap();
        rule.features.iter().map(|(name, x)| weights.of(name).unwrap_or(0.0) * x).sum::<f64>()
    };
    let mut groups: Vec<(&str, Vec<&str>)> = vec![];
    for line in rules.lines() {
        let key = line.split(" ||| ").nth(1).unwrap();
        match groups.last_mut().filter(|g| g.0 == key) {
            Some(group) => group.1.push(line),
            None => groups.push((key, vec![line])),
        }
    }
    let mut want: Vec<&str> = vec![];
    for (_, lines) in &groups {
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|&a, &b| cost(lines[a]).total_cmp(&cost(lines[b])));
        order.truncate(2);
        order.sort_unstable();
        want.extend(order.iter().map(|&i| lines[i]));
    }
    let got = s.run("weft rules filter --top 2 --weights w.toml rules.gz").ok();
    assert!(got.lines().eq(want.iter().copied()), "{} and {} rules", got.lines().count(), want.len());
    assert_ne!(got, s.run("weft rules filter --top 2 rules.gz").ok());
    assert!(s.run("weft rules filter --weights w.toml rules.gz").err.contains("--top"));
}
