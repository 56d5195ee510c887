//! Linear ordering by branch and bound, for components too large to look at every set.
//!
//! Counted is what an order loses against every pair having its better side. A good order comes from a local search
//! (moving single words, from an order by sums and from shaken ones; seeded). Then orders are built from the front, the
//! least loss first, depth first. A beginning is dropped if its loss and a bound on the rest are no better than what is
//! there; if moving its last word forward would be better; or if the same words were in a better order before. The
//! bound on the rest: cycles of three words that share no pair, each of which must lose its weakest pair. A step is a word
//! that is moved or put next, O(m); steps are limited, so that the result is the same everywhere and any time.

use hashbrown::HashMap;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rustc_hash::FxBuildHasher;

/// Words that a set of words in the search can have. For more only the local search is done.
const MOST_WORDS: usize = 256;
/// Sets of words that are remembered.
const MOST_SETS: usize = 4 << 20;
/// Shaken orders that the local search begins from.
const SHAKES: usize = 100;

pub struct Found {
    pub order: Vec<usize>,
    /// Loss of the order.
    pub loss: f64,
    /// No order loses less; the loss itself if that is proven.
    pub least: f64,
    pub steps: u64,
}

/// `d[i * m + j]` is how much is gained by i being before j instead of after it.
pub fn search(d: &[f64], limit: u64) -> Found {
    let m = d.len().isqrt();
    let problem = Problem { m, d, tiny: 1e-13 * d.iter().map(|x| x.abs()).sum::<f64>() };
    let mut steps = 0;
    let order = problem.local_search(limit / 4, &mut steps);
    let loss = problem.loss(&order);
    let mut found = Found { order, loss, least: 0.0, steps };
    if m > MOST_WORDS {
        return found;
    }
    let cycles = Cycles::new(&problem);
    found.least = cycles.total.min(found.loss);
    if found.loss > found.least + problem.tiny {
        let mut search = Search::new(&problem, &cycles, &mut found, limit);
        let whole = search.run();
        if whole {
            found.least = found.loss;
        }
    } else {
        found.least = found.loss;
    }
    found
}

struct Problem<'a> {
    m: usize,
    d: &'a [f64],
    /// What rounding may amount to: smaller differences are none.
    tiny: f64,
}

impl Problem<'_> {
    #[inline(always)]
    fn d(&self, i: usize, j: usize) -> f64 {
        self.d[i * self.m + j]
    }

    fn loss(&self, order: &[usize]) -> f64 {
        let after =
            |(place, &j): (usize, &usize)| order[..place].iter().map(|&i| (-self.d(i, j)).max(0.0)).sum::<f64>();
        order.iter().enumerate().map(after).sum()
    }

    fn local_search(&self, limit: u64, steps: &mut u64) -> Vec<usize> {
        let mut best: Vec<usize> = (0..self.m).collect();
        let sums: Vec<f64> = (0..self.m).map(|i| self.d[i * self.m..][..self.m].iter().sum()).collect();
        best.sort_by(|&i, &j| sums[j].total_cmp(&sums[i]));
        self.improve(&mut best, limit, steps);
        let mut best_loss = self.loss(&best);
        let mut rng = SmallRng::seed_from_u64(1);
        let mut order = best.clone();
        for _ in 0..SHAKES {
            if *steps >= limit {
                break;
            }
            order.clone_from(&best);
            for _ in 0..2 + self.m / 10 {
                let word = order.remove(rng.random_range(0..self.m));
                order.insert(rng.random_range(0..self.m), word);
            }
            self.improve(&mut order, limit, steps);
            let loss = self.loss(&order);
            if loss < best_loss - self.tiny {
                best_loss = loss;
                best.clone_from(&order);
            }
        }
        best
    }

    /// Moves single words to better places until there are none.
    fn improve(&self, order: &mut [usize], limit: u64, steps: &mut u64) {
        let mut moved = true;
        while moved {
            moved = false;
            for place in 0..self.m {
                if *steps >= limit {
                    return;
                }
                *steps += 1;
                let word = order[place];
                let (mut best, mut to) = (self.tiny, place);
                let mut sum = 0.0;
                for (p, &other) in order.iter().enumerate().take(place).rev() {
                    sum += self.d(word, other);
                    if sum > best {
                        (best, to) = (sum, p);
                    }
                }
                sum = 0.0;
                for (p, &other) in order.iter().enumerate().skip(place + 1) {
                    sum += self.d(other, word);
                    if sum > best {
                        (best, to) = (sum, p);
                    }
                }
                if to < place {
                    order[to..=place].rotate_right(1);
                    moved = true;
                } else if to > place {
                    order[place..=to].rotate_left(1);
                    moved = true;
                }
            }
        }
    }
}

/// Cycles i → j → k → i that have no pair in common, with what each must lose.
struct Cycles {
    cycles: Vec<f64>,
    /// Those that a word is in.
    of: Vec<Vec<u32>>,
    total: f64,
}

impl Cycles {
    fn new(p: &Problem) -> Self {
        let m = p.m;
        let mut left: Vec<f64> = p.d.iter().map(|&x| if x > p.tiny { x } else { 0.0 }).collect();
        let mut all: Vec<(f64, [u32; 3])> = vec![];
        for i in 0..m {
            for j in (i + 1..m).filter(|&j| left[i * m + j] > 0.0 || left[j * m + i] > 0.0) {
                for k in j + 1..m {
                    let least =
                        |a: usize, b: usize, c: usize| left[a * m + b].min(left[b * m + c]).min(left[c * m + a]);
                    for (a, b, c) in [(i, j, k), (i, k, j)] {
                        let weight = least(a, b, c);
                        if weight > 0.0 {
                            all.push((weight, [a as u32, b as u32, c as u32]));
                        }
                    }
                }
            }
        }
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut made = Cycles { cycles: vec![], of: vec![vec![]; m], total: 0.0 };
        for (_, words) in all {
            let [a, b, c] = words.map(|w| w as usize);
            let places = [a * m + b, b * m + c, c * m + a];
            let weight = places.iter().map(|&e| left[e]).fold(f64::INFINITY, f64::min);
            if weight > 0.0 {
                // What is left of the other pairs may be in further cycles.
                places.iter().for_each(|&e| left[e] -= weight);
                words.iter().for_each(|&w| made.of[w as usize].push(made.cycles.len() as u32));
                made.cycles.push(weight);
                made.total += weight;
            }
        }
        made
    }
}

type Set = [u64; MOST_WORDS / 64];

/// A beginning of an order.
#[derive(Clone, Default)]
struct Level {
    loss: f64,
    /// Bound on what the words that are left will lose among themselves.
    rest: f64,
    set: Set,
    /// What a word that is left loses if it comes next.
    next: Vec<f64>,
    /// The words that are left, the least loss first, and how many were tried.
    words: Vec<usize>,
    tried: usize,
}

struct Search<'a> {
    p: &'a Problem<'a>,
    cycles: &'a Cycles,
    found: &'a mut Found,
    limit: u64,
    /// Words of a cycle that are put already.
    gone: Vec<u8>,
    seen: HashMap<Set, f64, FxBuildHasher>,
}

impl<'a> Search<'a> {
    fn new(p: &'a Problem<'a>, cycles: &'a Cycles, found: &'a mut Found, limit: u64) -> Self {
        let gone = vec![0; cycles.cycles.len()];
        Search { p, cycles, found, limit, gone, seen: HashMap::default() }
    }

    /// True if everything was looked at.
    fn run(&mut self) -> bool {
        let m = self.p.m;
        let mut levels = vec![Level::default(); m + 1];
        let mut order: Vec<usize> = Vec::with_capacity(m);
        levels[0].rest = self.cycles.total;
        levels[0].next = (0..m).map(|j| (0..m).map(|i| self.p.d(i, j).max(0.0)).sum()).collect();
        levels[0].words = (0..m).collect();
        sort(&mut levels[0]);
        loop {
            let depth = order.len();
            let level = &mut levels[depth];
            let Some(&word) = level.words.get(level.tried) else {
                let Some(last) = order.pop() else { return true };
                self.cycles.of[last].iter().for_each(|&c| self.gone[c as usize] -= 1);
                continue;
            };
            level.tried += 1;
            if self.found.steps >= self.limit {
                return false;
            }
            self.found.steps += 1;
            let loss = level.loss + level.next[word];
            let whole = |c: &&u32| self.gone[**c as usize] == 0;
            let rest = level.rest
                - self.cycles.of[word].iter().filter(whole).map(|&c| self.cycles.cycles[c as usize]).sum::<f64>();
            if loss + rest.max(0.0) >= self.found.loss - self.p.tiny || self.forward_is_better(&order, word) {
                continue;
            }
            let mut set = level.set;
            set[word / 64] |= 1 << (word % 64);
            if !self.first_or_better(set, loss) {
                continue;
            }
            if depth + 1 == m {
                order.push(word);
                self.found.loss = loss;
                self.found.order.clone_from(&order);
                order.pop();
                continue;
            }
            let (above, below) = levels.split_at_mut(depth + 1);
            let (level, next) = (&above[depth], &mut below[0]);
            (next.loss, next.rest, next.set, next.tried) = (loss, rest, set, 0);
            next.next.clone_from(&level.next);
            next.words.clear();
            for &j in level.words.iter().filter(|&&j| j != word) {
                next.next[j] -= self.p.d(word, j).max(0.0);
                next.words.push(j);
            }
            sort(next);
            self.cycles.of[word].iter().for_each(|&c| self.gone[c as usize] += 1);
            order.push(word);
        }
    }

    /// The word would be better before some of the last words.
    fn forward_is_better(&self, order: &[usize], word: usize) -> bool {
        let mut sum = 0.0;
        order.iter().rev().any(|&other| {
            sum += self.p.d(word, other);
            sum > self.p.tiny
        })
    }

    /// These words were never put first, or only with a greater loss.
    fn first_or_better(&mut self, set: Set, loss: f64) -> bool {
        if let Some(old) = self.seen.get_mut(&set) {
            let better = loss < *old - self.p.tiny;
            if better {
                *old = loss;
            }
            return better;
        }
        if self.seen.len() < MOST_SETS {
            self.seen.insert(set, loss);
        }
        true
    }
}

fn sort(level: &mut Level) {
    let next = &level.next;
    level.words.sort_unstable_by(|&i, &j| next[i].total_cmp(&next[j]).then(i.cmp(&j)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Antisymmetric, with some ties.
    fn random(m: usize, seed: u64, sizes: i32) -> Vec<f64> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut d = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..i {
                let x = rng.random_range(-sizes..=sizes) as f64;
                (d[i * m + j], d[j * m + i]) = (x, -x);
            }
        }
        d
    }

    fn least(p: &Problem, order: &mut Vec<usize>, used: u32) -> f64 {
        if order.len() == p.m {
            return p.loss(order);
        }
        let mut best = f64::INFINITY;
        for w in (0..p.m).filter(|w| used >> w & 1 == 0) {
            order.push(w);
            best = best.min(least(p, order, used | 1 << w));
            order.pop();
        }
        best
    }

    #[test]
    fn the_least_loss_of_all_orders() {
        for seed in 0..60 {
            let m = 3 + seed as usize % 5;
            let d = random(m, seed, if seed % 2 == 0 { 2 } else { 1000 });
            let p = Problem { m, d: &d, tiny: 1e-12 };
            let want = least(&p, &mut vec![], 0);
            let found = search(&d, 1 << 30);
            assert_eq!((found.loss, found.least), (want, want), "seed {seed}");
            assert_eq!(p.loss(&found.order), want);
            assert!(Cycles::new(&p).total <= want + 1e-9);
            // Without the help of a good order at the start.
            let worst = Found { order: (0..m).collect(), loss: f64::INFINITY, least: 0.0, steps: 0 };
            let mut again = worst;
            assert!(Search::new(&p, &Cycles::new(&p), &mut again, 1 << 30).run());
            assert_eq!(again.loss, want, "seed {seed}");
        }
    }

    #[test]
    fn a_limit_is_kept_and_said() {
        let d = random(40, 7, 1000);
        let found = search(&d, 2000);
        assert!(found.steps <= 2000 + 40, "{}", found.steps);
        assert!(found.least < found.loss);
        let mut order = found.order.clone();
        order.sort_unstable();
        assert_eq!(order, (0..40).collect::<Vec<_>>());
    }
}
