//! Small random corpora.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

pub struct Sentences {
    pub source: Vec<String>,
    pub target: Vec<String>,
    pub links: Vec<(u16, u16)>,
}

impl Sentences {
    pub fn link_text(&self) -> String {
        let links: Vec<String> = self.links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
        links.join(" ")
    }
}

fn words(rng: &mut SmallRng, letter: char, most: usize) -> Vec<String> {
    let len = rng.random_range(1..=most);
    (0..len).map(|_| format!("{letter}{}", rng.random_range(0..4))).collect()
}

/// A pair with random words and links.
pub fn pair(seed: u64, most: usize) -> Sentences {
    let mut rng = SmallRng::seed_from_u64(seed);
    let (source, target) = (words(&mut rng, 's', most), words(&mut rng, 't', most));
    let density = rng.random_range(0.05..0.4);
    let all = (0..source.len()).flat_map(|s| (0..target.len()).map(move |t| (s as u16, t as u16)));
    // Mostly near a diagonal or its mirror, as links are.
    let mirror = rng.random_bool(0.3);
    let mut links = vec![];
    for (s, t) in all {
        let near = if mirror { (s + t).abs_diff(source.len() as u16) } else { s.abs_diff(t) };
        if rng.random_bool(if near <= 1 { density } else { density / 8.0 }) {
            links.push((s, t));
        }
    }
    Sentences { source, target, links }
}

/// A corpus as three texts.
pub fn corpus(seed: u64, pairs: u64) -> [String; 3] {
    let mut texts = [const { String::new() }; 3];
    for i in 0..pairs {
        let pair = pair(seed * 1000 + i, 9);
        for (text, line) in texts.iter_mut().zip([pair.source.join(" "), pair.target.join(" "), pair.link_text()]) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    texts
}
