//! Comparing automata in AT&T text, without help from the engine that is under test.

use super::twin::{ALL, Automaton, Bound, number, relation, same};

type Verdict = Result<(), String>;

/// Both texts, with the first line that differs marked.
pub fn diff(want: &str, found: &str) -> String {
    let (w, f): (Vec<&str>, Vec<&str>) = (want.trim_end().lines().collect(), found.trim_end().lines().collect());
    let at = (0..w.len().max(f.len())).find(|&k| w.get(k) != f.get(k)).unwrap_or(0);
    mark(&w, &f, at)
}

fn mark(want: &[&str], found: &[&str], at: usize) -> String {
    let shown = |lines: &[&str]| {
        let from = at.saturating_sub(3);
        let part: Vec<String> = lines
            .iter()
            .enumerate()
            .skip(from)
            .take(9)
            .map(|(k, l)| format!("   {} {l}", if k == at { "!" } else { " " }))
            .collect();
        part.join("\n")
    };
    format!(
        "   line {}; OpenFst ({} lines):\n{}\n   weft ({} lines):\n{}",
        at + 1,
        want.len(),
        shown(want),
        found.len(),
        shown(found)
    )
}

pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    // Relative for large numbers: f32 has seven digits.
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// The same words on each line; numbers equal within the tolerance.
pub fn lines(want: &str, found: &str, tolerance: f64) -> Verdict {
    let (w, f): (Vec<&str>, Vec<&str>) = (want.trim_end().lines().collect(), found.trim_end().lines().collect());
    for k in 0..w.len().max(f.len()) {
        let (Some(a), Some(b)) = (w.get(k), f.get(k)) else { return Err(mark(&w, &f, k)) };
        let (mut x, mut y) = (a.split_whitespace(), b.split_whitespace());
        loop {
            match (x.next(), y.next()) {
                (None, None) => break,
                (Some(p), Some(q)) if p == q => {}
                (Some(p), Some(q)) => match (number(p), number(q)) {
                    (Some(m), Some(n)) if close(m, n, tolerance) => {}
                    _ => return Err(mark(&w, &f, k)),
                },
                // A weight that is one is not printed: `3` is `3 0`.
                (Some(p), None) | (None, Some(p))
                    if number(p).is_some_and(|m| tolerance > 0.0 && close(m, 0.0, tolerance)) => {}
                _ => return Err(mark(&w, &f, k)),
            }
        }
    }
    Ok(())
}

/// The same up to the numbering of states and the order of arcs: a search that pairs states, outward from the start.
pub fn isomorphic(want: &str, found: &str, tolerance: f64) -> Verdict {
    let (a, b) = (Automaton::read(want)?, Automaton::read(found)?);
    let count = |x: &Automaton| (x.finals.len(), x.arcs.iter().map(Vec::len).sum::<usize>());
    if count(&a) != count(&b) {
        return Err(format!("states and arcs {:?} wanted, {:?} found\n{}", count(&a), count(&b), diff(want, found)));
    }
    if a.finals.is_empty() {
        return Ok(());
    }
    let mut pairs = vec![None; a.finals.len()];
    let mut used = vec![false; b.finals.len()];
    let mut steps = 200_000;
    if pair(&a, &b, vec![(0, 0)], &mut pairs, &mut used, tolerance, &mut steps) {
        Ok(())
    } else {
        Err(format!("not isomorphic\n{}", diff(want, found)))
    }
}

fn pair(
    a: &Automaton,
    b: &Automaton,
    mut todo: Vec<(usize, usize)>,
    pairs: &mut Vec<Option<usize>>,
    used: &mut Vec<bool>,
    tolerance: f64,
    steps: &mut usize,
) -> bool {
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    let Some((s, t)) = todo.pop() else { return true };
    match pairs[s] {
        Some(p) if p != t => return false,
        Some(_) => return pair(a, b, todo, pairs, used, tolerance, steps),
        None if used[t] => return false,
        None => {}
    }
    if !close(a.finals[s], b.finals[t], tolerance) || a.arcs[s].len() != b.arcs[t].len() {
        return false;
    }
    pairs[s] = Some(t);
    used[t] = true;
    let mut taken = vec![false; b.arcs[t].len()];
    let ok = pair_arcs(a, b, s, t, 0, &mut taken, &todo, pairs, used, tolerance, steps);
    if !ok {
        pairs[s] = None;
        used[t] = false;
    }
    ok
}

#[allow(clippy::too_many_arguments)]
fn pair_arcs(
    a: &Automaton,
    b: &Automaton,
    s: usize,
    t: usize,
    k: usize,
    taken: &mut Vec<bool>,
    todo: &[(usize, usize)],
    pairs: &mut Vec<Option<usize>>,
    used: &mut Vec<bool>,
    tolerance: f64,
    steps: &mut usize,
) -> bool {
    if k == a.arcs[s].len() {
        // The states that the chosen pairing implies come on top of what was to do.
        return pair(a, b, todo.to_vec(), &mut pairs.clone(), &mut used.clone(), tolerance, steps);
    }
    let x = a.arcs[s][k];
    for j in 0..b.arcs[t].len() {
        let y = b.arcs[t][j];
        if taken[j] || (x.i, x.o) != (y.i, y.o) || !close(x.w, y.w, tolerance) {
            continue;
        }
        if pairs[x.to].is_some_and(|p| p != y.to) || (pairs[x.to].is_none() && used[y.to]) {
            continue;
        }
        taken[j] = true;
        let mut more = todo.to_vec();
        more.push((x.to, y.to));
        if pair_arcs(a, b, s, t, k + 1, taken, &more, pairs, used, tolerance, steps) {
            return true;
        }
        taken[j] = false;
    }
    false
}

/// The same weighted relation, up to a length for cyclic automata.
pub fn equivalent(want: &str, found: &str, tolerance: f64, path: bool) -> Verdict {
    let (a, b) = (Automaton::read(want)?, Automaton::read(found)?);
    let bound = if a.is_acyclic() && b.is_acyclic() { ALL } else { Bound::length(6) };
    let (x, y) = (relation(&a, bound, path), relation(&b, bound, path));
    same(&x, &y, tolerance).map_err(|e| format!("{e}\n{}", diff(want, found)))
}

/// The weights of all paths of acyclic automata, from the least.
pub fn path_weights(want: &str, found: &str, tolerance: f64) -> Verdict {
    let all = |text: &str| -> Result<Vec<f64>, String> {
        let a = Automaton::read(text)?;
        let mut weights: Vec<f64> = a.paths().iter().map(|p| p.weight).collect();
        weights.sort_by(f64::total_cmp);
        Ok(weights)
    };
    let (x, y) = (all(want)?, all(found)?);
    if x.len() == y.len() && x.iter().zip(&y).all(|(p, q)| close(*p, *q, tolerance)) {
        Ok(())
    } else {
        Err(format!("path weights {x:?} wanted, {y:?} found\n{}", diff(want, found)))
    }
}
