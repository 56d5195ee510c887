//! A Kneser-Ney model is a distribution after every context; stupid back-off is relative frequencies.

use std::collections::HashMap;

use weft::lm::estimate::Smoothing;

use crate::model::{Model, random_text, run};

#[test]
fn every_context_sums_to_one() {
    for (seed, order, prune) in
        [(1, 3, vec![]), (2, 4, vec![0, 1, 2]), (3, 2, vec![2]), (4, 1, vec![]), (5, 5, vec![0, 0, 1])]
    {
        let text = random_text(seed, 60, 20);
        let (arpa, _) = run(&[text.as_bytes()], |o| {
            o.order = order;
            o.prune = prune.clone();
        })
        .unwrap();
        let model = Model::parse(&arpa);
        assert_eq!(model.order, order);
        let words: Vec<&String> = model.lines.iter().filter(|l| l.0.len() == 1).map(|l| &l.0[0]).collect();
        let mut contexts: Vec<Vec<String>> = vec![vec![]];
        contexts.extend(
            model.lines.iter().filter(|l| l.0.len() < order && l.0.last().unwrap() != "</s>").map(|l| l.0.clone()),
        );
        for mut context in contexts {
            let mut sum = 0.0;
            for word in words.iter().filter(|w| **w != "<s>") {
                context.push(word.to_string());
                sum += 10f64.powf(model.score(&context));
                context.pop();
            }
            assert!((sum - 1.0).abs() < 1e-5, "after {context:?}: {sum}");
        }
    }
}

#[test]
fn stupid_back_off_is_relative_frequency() {
    let text = random_text(7, 80, 15);
    let (arpa, _) = run(&[text.as_bytes()], |o| o.smoothing = Smoothing::Stupid { backoff: 0.4 }).unwrap();
    let model = Model::parse(&arpa);
    let mut counts: HashMap<Vec<String>, f64> = HashMap::new();
    let mut contexts: HashMap<Vec<String>, f64> = HashMap::new();
    for line in text.lines() {
        let sentence: Vec<String> =
            ["<s>"].into_iter().chain(line.split_whitespace()).chain(["</s>"]).map(str::to_string).collect();
        for end in 1..sentence.len() {
            for start in end.saturating_sub(2)..=end {
                *counts.entry(sentence[start..=end].to_vec()).or_default() += 1.0;
                *contexts.entry(sentence[start..end].to_vec()).or_default() += 1.0;
            }
        }
    }
    for (words, score, backoff) in &model.lines {
        let expected = match words[0].as_str() {
            "<unk>" => -99.0,
            "<s>" if words.len() == 1 => 0.0,
            _ => (counts[words] / contexts[&words[..words.len() - 1]]).log10(),
        };
        assert!((score - expected).abs() < 1e-6, "{words:?} {score} {expected}");
        if let Some(backoff) = backoff {
            let expected = if contexts.contains_key(words) { 0.4f64.log10() } else { 0.0 };
            assert!((backoff - expected).abs() < 1e-6, "{words:?} {backoff}");
        }
    }
    assert_eq!(model.lines.len(), counts.len() + 2);
}
