//! Kendall consensus against the definition of the loss, over all samples, all paths, all permutations.

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use weft::fst::flat::{Arc, FlatFst, Label, StateId};
use weft::fst::semiring::{Log64, Weight};
use weft::rescore::kendall::linear;
use weft::rescore::kendall::paths::Permutations;
use weft::rescore::kendall::samples::Samples;

/// Equation 4: the share of pairs that the one has in another order than the other.
fn loss(order: &[u32], other: &[u32]) -> f64 {
    let place = |o: &[u32], w: u32| o.iter().position(|&x| x == w).unwrap();
    let n = order.len();
    if n < 2 {
        return 0.0;
    }
    let mut wrong = 0;
    for (i, &a) in order.iter().enumerate() {
        for &b in &order[i + 1..] {
            wrong += (place(other, a) > place(other, b)) as usize;
        }
    }
    wrong as f64 / (n * (n - 1) / 2) as f64
}

/// Equation 3.
fn expected_loss(order: &[u32], orders: &[(Vec<u32>, f64)]) -> f64 {
    let total: f64 = orders.iter().map(|o| o.1).sum();
    orders.iter().map(|(o, w)| w / total * loss(order, o)).sum()
}

fn all_orders(n: usize) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![vec![]];
    }
    let last = n as u32 - 1;
    let put = |shorter: Vec<u32>| {
        (0..n).map(move |at| {
            let mut order = shorter.clone();
            order.insert(at, last);
            order
        })
    };
    all_orders(n - 1).into_iter().flat_map(put).collect()
}

fn least<'a>(candidates: impl Iterator<Item = &'a Vec<u32>>, orders: &[(Vec<u32>, f64)]) -> f64 {
    candidates.map(|c| expected_loss(c, orders)).fold(f64::INFINITY, f64::min)
}

fn text(orders: &[(Vec<u32>, f64)], log: bool) -> String {
    let line = |(order, w): &(Vec<u32>, f64)| {
        let words: Vec<String> = order.iter().map(u32::to_string).collect();
        format!("{}\t{}\n", if log { w.ln() } else { *w }, words.join(" "))
    };
    orders.iter().map(line).collect()
}

#[test]
fn samples_by_the_definition() {
    for seed in 0..80 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let n = seed as usize % 8;
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut orders: Vec<(Vec<u32>, f64)> = (0..rng.random_range(1..12))
            .map(|_| {
                order.shuffle(&mut rng);
                (order.clone(), rng.random_range(0..5) as f64)
            })
            .collect();
        orders[0].1 += 1.0;
        let samples = Samples::parse("p", 1, &text(&orders, false), false).unwrap();
        let pairs = samples.pairs();
        let best = samples.best(&pairs);
        assert!((expected_loss(&best.order, &orders) - best.loss()).abs() < 1e-12);
        assert!((best.loss() - least(orders.iter().map(|o| &o.0), &orders)).abs() < 1e-12, "seed {seed}");
        assert!(best.proven);
        let all = linear::best(&pairs, 1000);
        assert!((expected_loss(&all.order, &orders) - all.loss()).abs() < 1e-12);
        assert!((all.loss() - least(all_orders(n).iter(), &orders)).abs() < 1e-12, "seed {seed}");
        assert!(all.proven && all.loss() <= best.loss());
        // The order of the lines and the way weights are written make no difference.
        let as_logs = Samples::parse("p", 1, &text(&orders, true), true).unwrap();
        assert!((as_logs.best(&as_logs.pairs()).loss() - best.loss()).abs() < 1e-12);
        orders.shuffle(&mut rng);
        let shuffled = Samples::parse("p", 1, &text(&orders, false), false).unwrap();
        assert_eq!(shuffled.best(&shuffled.pairs()), best);
        assert_eq!(linear::best(&shuffled.pairs(), 1000), all);
    }
}

/// A random lattice of permutations of the labels 1 to n: sets of words are its states, some of the steps between them its
/// arcs, some with an epsilon on the way and some twice.
fn lattice(n: usize, rng: &mut SmallRng) -> FlatFst<Log64> {
    let full = (1usize << n) - 1;
    let mut rows: Vec<(Log64, Vec<Arc<Log64>>)> = vec![(Log64::ZERO, vec![]); full + 1];
    rows[full].0 = Log64(0.5);
    let mut order: Vec<usize> = (0..n).collect();
    let mut some: Vec<(usize, usize)> = vec![];
    for _ in 0..rng.random_range(1..6) {
        order.shuffle(rng);
        let mut set = 0;
        for &w in &order {
            some.push((set, w));
            set |= 1 << w;
        }
    }
    for (set, w) in some {
        let cost = Log64(rng.random_range(-2.0..3.0));
        let to = (set | 1 << w) as StateId;
        if rng.random_range(0..4) == 0 {
            let middle = rows.len() as StateId;
            rows.push((Log64::ZERO, vec![Arc::new(0, 0, Log64(0.25), to)]));
            rows[set].1.push(Arc::new(9, w as Label + 1, cost, middle));
        } else {
            rows[set].1.push(Arc::new(9, w as Label + 1, cost, to));
        }
    }
    FlatFst::from_rows(0, rows)
}

/// Every path: the words from 0 and e^(−alpha · cost).
fn paths(fst: &FlatFst<Log64>, alpha: f64) -> Vec<(Vec<u32>, f64)> {
    fn go(fst: &FlatFst<Log64>, s: StateId, words: &mut Vec<u32>, cost: f64, out: &mut Vec<(Vec<u32>, f64)>) {
        if fst.is_final(s) {
            out.push((words.clone(), cost + fst.final_weight(s).0));
        }
        for a in fst.arcs(s) {
            words.extend((a.olabel > 0).then(|| a.olabel as u32 - 1));
            go(fst, a.nextstate, words, cost + a.weight.0, out);
            if a.olabel > 0 {
                words.pop();
            }
        }
    }
    let mut out = vec![];
    go(fst, 0, &mut vec![], 0.0, &mut out);
    out.into_iter().map(|(o, c)| (o, (-alpha * c).exp())).collect()
}

#[test]
fn lattices_by_the_definition() {
    for seed in 0..60 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let n = 1 + seed as usize % 7;
        let alpha = [1.0, 0.5, 0.0][seed as usize % 3];
        let fst = lattice(n, &mut rng);
        let orders = paths(&fst, alpha);
        let permutations = Permutations::new(&fst, &|l| l.to_string()).unwrap();
        let pairs = permutations.pairs(alpha).unwrap();
        let total: f64 = orders.iter().map(|o| o.1).sum();
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let place = |o: &[u32], w: usize| o.iter().position(|&x| x as usize == w).unwrap();
                let before = orders.iter().filter(|o| place(&o.0, i) < place(&o.0, j)).map(|o| o.1).sum::<f64>();
                assert!((pairs.before(i, j) - before / total).abs() < 1e-12, "seed {seed}");
            }
        }
        let best = permutations.best(&pairs);
        let labels: Vec<u32> = best.order.iter().map(|&w| permutations.label(w) as u32 - 1).collect();
        assert!(orders.iter().any(|(o, _)| *o == labels), "seed {seed}: not a path");
        assert!((best.loss() - least(orders.iter().map(|o| &o.0), &orders)).abs() < 1e-12, "seed {seed}");
        let all = linear::best(&pairs, 1000);
        assert!((all.loss() - least(all_orders(n).iter(), &orders)).abs() < 1e-12, "seed {seed}");
        assert!(all.proven);
    }
}

#[test]
fn large_costs_and_one_arc_more() {
    let mut rng = SmallRng::seed_from_u64(1);
    let fst = lattice(5, &mut rng);
    let far = FlatFst::from_rows(
        0,
        fst.states()
            .map(|s| {
                let arcs = fst.arcs(s).iter().map(|a| Arc { weight: Log64(a.weight.0 + 4000.0), ..*a });
                (fst.final_weight(s), arcs.collect())
            })
            .collect(),
    );
    let gain = |f: &FlatFst<Log64>| {
        let p = Permutations::new(f, &|l| l.to_string()).unwrap();
        p.best(&p.pairs(0.25).unwrap()).gain
    };
    // Epsilons cost 4000, too: paths without them have all the probability.
    assert!(gain(&far).is_finite() && gain(&far) > 0.0 && gain(&fst) > 0.0);
    let mut rows: Vec<_> = fst.states().map(|s| (fst.final_weight(s), fst.arcs(s).to_vec())).collect();
    rows[0].1.push(Arc::new(1, 1, Log64(0.0), 31));
    let short = FlatFst::from_rows(0, rows);
    let message = Permutations::new(&short, &|l| format!("w{l}")).unwrap_err().to_string();
    assert!(message.contains("not a lattice of permutations"), "{message}");
}
