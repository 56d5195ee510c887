//! The estimator against a twin that follows the formulas of Chen and Goodman word by word, on tiny random texts.

use std::collections::{BTreeSet, HashMap};

use crate::model::{Model, random_text, run};

type Gram = Vec<String>;

struct Twin {
    order: usize,
    /// All n-grams of all orders, adjusted counts, pruned or not.
    grams: HashMap<Gram, (u64, bool)>,
    /// Discounts by order, for counts 0 to 3.
    discounts: Vec<[f64; 4]>,
    /// Words that can follow, with `<unk>`.
    words: f64,
}

impl Twin {
    fn new(text: &str, order: usize, prune: &[u64]) -> Self {
        let mut real: HashMap<Gram, u64> = HashMap::new();
        let mut before: HashMap<Gram, BTreeSet<String>> = HashMap::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut windows: Vec<Gram> = vec![];
        for line in text.lines() {
            let mut sentence: Gram = vec!["<s>".into(); order.saturating_sub(1).max(1)];
            sentence.extend(line.split_whitespace().map(str::to_string));
            sentence.push("</s>".into());
            let first = order.saturating_sub(1).max(1);
            for end in first..sentence.len() {
                let n = numbers.len();
                numbers.entry(sentence[end].clone()).or_insert(n + 3);
                windows.push(sentence[end + 1 - order..=end].to_vec());
                for k in 1..=order {
                    let gram = &sentence[end + 1 - k..=end];
                    // More than one <s> is no n-gram of the model.
                    if k > 1 && gram[1] == "<s>" {
                        break;
                    }
                    *real.entry(gram.to_vec()).or_default() += 1;
                    if end >= k {
                        before.entry(gram.to_vec()).or_default().insert(sentence[end - k].clone());
                    }
                }
            }
        }
        numbers.insert("</s>".into(), 2);
        numbers.insert("<s>".into(), 1);
        let at = |gram: &Gram| gram.iter().rev().map(|w| numbers[w]).collect::<Vec<_>>();
        let last = windows.iter().max_by_key(|g| at(g)).unwrap().clone();

        let mut grams = HashMap::new();
        let mut frequency = vec![[0u64; 5]; order + 1];
        for (gram, &count) in &real {
            let k = gram.len();
            let highest = k == order || (gram[0] == "<s>" && k > 1);
            let adjusted = if highest { count } else { before[gram].len() as u64 };
            let pruned = count <= prune[k - 1] && !(k == 1 && gram[0] == "</s>");
            grams.insert(gram.clone(), (adjusted, pruned));
            // lmplz: the last n-grams enter the frequencies with their real counts.
            let counted = if k < order && last.ends_with(gram) { count } else { adjusted };
            if counted < 5 {
                frequency[k][counted as usize] += 1;
            }
        }
        let discounts = frequency.iter().map(|n| discount(n).unwrap_or([0.0, 0.5, 1.0, 1.5])).collect();
        let words = 1 + grams.iter().filter(|(g, (_, pruned))| g.len() == 1 && !pruned).count();
        Twin { order, grams, discounts, words: words as f64 }
    }

    fn children<'a>(&'a self, context: &'a [String]) -> impl Iterator<Item = (u64, bool)> + 'a {
        let k = context.len() + 1;
        self.grams.iter().filter(move |(g, _)| g.len() == k && g[..k - 1] == *context).map(|(_, &v)| v)
    }

    /// What a context leaves to the order below; none if nothing follows it.
    fn gamma(&self, context: &[String]) -> Option<f64> {
        let d = &self.discounts[context.len() + 1];
        let sum: u64 = self.children(context).map(|(c, _)| c).sum();
        let left: f64 = self.children(context).map(|(c, p)| if p { c as f64 } else { d[c.min(3) as usize] }).sum();
        (sum > 0).then(|| left / sum as f64)
    }

    fn probability(&self, gram: &[String]) -> f64 {
        let Some(context) = gram.split_last().map(|(_, c)| c) else { return 1.0 / self.words };
        let lower = self.probability(&gram[1..]);
        let Some(gamma) = self.gamma(context) else { return lower };
        let sum: u64 = self.children(context).map(|(c, _)| c).sum();
        let own = match self.grams.get(gram) {
            Some(&(c, false)) => (c as f64 - self.discounts[gram.len()][c.min(3) as usize]) / sum as f64,
            _ => 0.0,
        };
        own + gamma * lower
    }
}

fn discount(n: &[u64; 5]) -> Option<[f64; 4]> {
    let y = n[1] as f64 / (n[1] + 2 * n[2]) as f64;
    let mut d = [0.0; 4];
    for j in 1..4 {
        d[j] = j as f64 - (j + 1) as f64 * y * n[j + 1] as f64 / n[j] as f64;
        if n[1..4].contains(&0) || d[j] < 0.0 || d[j] > j as f64 {
            return None;
        }
    }
    Some(d)
}

#[test]
fn random_texts() {
    for seed in 0..40 {
        let order = 1 + seed as usize % 4;
        let mut prune = vec![[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 2], [1, 1, 2, 2]][seed as usize / 4 % 4].to_vec();
        prune.truncate(order);
        let text = random_text(100 + seed, 1 + seed as usize, 4 + seed as u32 % 9);
        let twin = Twin::new(&text, order, &prune);
        let (arpa, _) = run(&[text.as_bytes()], |o| {
            o.order = order;
            o.prune = prune.clone();
        })
        .unwrap();
        let model = Model::parse(&arpa);
        let kept = twin.grams.values().filter(|(_, pruned)| !pruned).count();
        assert_eq!(model.lines.len(), kept + 2, "seed {seed}");
        for (gram, p, backoff) in &model.lines {
            if gram.len() == 1 && gram[0] == "<s>" {
                assert_eq!(*p, 0.0);
            } else {
                let expected = twin.probability(gram).log10();
                assert!((p - expected).abs() < 1e-5, "seed {seed}: {gram:?} {p} {expected}");
            }
            if gram.len() < twin.order {
                let expected = twin.gamma(gram).map_or(0.0, f64::log10);
                let backoff = backoff.unwrap();
                assert!((backoff - expected).abs() < 1e-5, "seed {seed}: {gram:?} {backoff} {expected}");
            }
        }
    }
}
