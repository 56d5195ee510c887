//! A plain model for tests: ARPA text in a map, and estimation in a folder of its own.

use std::collections::HashMap;
use std::fs;

use weft::lm::estimate::{Discount, Options, Quiet, Smoothing, Summary, estimate};

/// N-grams in file order, and where they are.
pub struct Model {
    pub lines: Vec<(Vec<String>, f64, Option<f64>)>,
    index: HashMap<Vec<String>, usize>,
    pub order: usize,
}

impl Model {
    /// Reads an ARPA file as strictly as its maker writes it.
    pub fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("\\data\\"));
        let counts: Vec<usize> = lines
            .by_ref()
            .take_while(|l| !l.is_empty())
            .enumerate()
            .map(|(i, l)| l.strip_prefix(&format!("ngram {}=", i + 1)).unwrap().parse().unwrap())
            .collect();
        let mut found = vec![];
        for (i, &count) in counts.iter().enumerate() {
            assert_eq!(lines.next(), Some(format!("\\{}-grams:", i + 1).as_str()));
            let section: Vec<&str> = lines.by_ref().take_while(|l| !l.is_empty()).collect();
            assert_eq!(section.len(), count, "{}-grams", i + 1);
            for line in section {
                let fields: Vec<&str> = line.split('\t').collect();
                assert_eq!(fields.len(), if i + 1 < counts.len() { 3 } else { 2 }, "{line:?}");
                let words: Vec<String> = fields[1].split(' ').map(str::to_string).collect();
                assert_eq!(words.len(), i + 1, "{line:?}");
                found.push((words, fields[0].parse().unwrap(), fields.get(2).map(|b| b.parse().unwrap())));
            }
        }
        assert_eq!(lines.next(), Some("\\end\\"));
        assert_eq!(lines.next(), None);
        let index = found.iter().enumerate().map(|(i, (w, ..))| (w.clone(), i)).collect();
        Model { lines: found, index, order: counts.len() }
    }

    pub fn get(&self, words: &[String]) -> Option<(f64, f64)> {
        self.index.get(words).map(|&i| (self.lines[i].1, self.lines[i].2.unwrap_or(0.0)))
    }

    /// The log10 score of the last word after the others, with back-off.
    pub fn score(&self, words: &[String]) -> f64 {
        match self.get(words) {
            Some((p, _)) => p,
            None => {
                let backoff = self.get(&words[..words.len() - 1]).map_or(0.0, |(_, b)| b);
                backoff + self.score(&words[1..])
            }
        }
    }
}

/// Estimates from these texts; the file as text.
pub fn run(texts: &[&[u8]], options: impl FnOnce(&mut Options)) -> weft::Result<(String, Summary)> {
    let dir = tempfile::tempdir().unwrap();
    let mut corpora = vec![];
    for (i, text) in texts.iter().enumerate() {
        let path = dir.path().join(format!("text{i}"));
        fs::write(&path, text).unwrap();
        corpora.push(path.to_str().unwrap().to_string());
    }
    let mut with = Options::new(3, corpora);
    with.smoothing = Smoothing::KneserNey { fallback: Some(Discount::default()) };
    with.temp = dir.path().join("temp");
    fs::create_dir(&with.temp).unwrap();
    options(&mut with);
    let out = dir.path().join("out");
    let done = estimate(&with, out.to_str().unwrap(), &Quiet);
    assert_eq!(fs::read_dir(dir.path().join("temp")).unwrap().count(), 0, "temporary files are left");
    match done {
        Ok(summary) => Ok((fs::read_to_string(out).unwrap(), summary)),
        Err(e) => {
            assert!(!out.exists());
            Err(e)
        }
    }
}

/// Text that looks a little like language: few frequent words, many rare ones.
pub fn random_text(seed: u64, lines: usize, words: u32) -> String {
    use rand::{Rng, SeedableRng};
    let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
    let mut text = String::new();
    for _ in 0..lines {
        let n = rng.random_range(0..12);
        let line: Vec<String> =
            (0..n).map(|_| format!("w{}", (words as f64).powf(rng.random::<f64>()) as u32)).collect();
        text.push_str(&line.join(" "));
        text.push('\n');
    }
    text
}
