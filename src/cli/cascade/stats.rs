//! The table of `--stats`: what every stage made and how long it took.

use std::fmt::Write;

use super::script::Stage;
use crate::fst::any::AnyFst;
use crate::fst::flat::{FlatFst, NO_STATE};
use crate::fst::semiring::Weight;
use crate::with_fst;

/// One stage of one input, or the sum over inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    pub inputs: usize,
    /// States, arcs and paths; none for a stage that makes no automaton.
    pub size: Option<Size>,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    pub states: u64,
    pub arcs: u64,
    /// Successful paths; infinite if a cycle is on one.
    pub paths: f64,
}

impl Size {
    pub fn of(fst: &AnyFst) -> Self {
        let paths = with_fst!(fst, f => count_paths(f));
        Size { states: fst.num_states() as u64, arcs: fst.num_arcs() as u64, paths }
    }
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.inputs += other.inputs;
        self.seconds += other.seconds;
        if let Some(b) = other.size {
            let a = self.size.unwrap_or_default();
            self.size = Some(Size { states: a.states + b.states, arcs: a.arcs + b.arcs, paths: a.paths + b.paths });
        }
    }
}

/// The number of successful paths, as a float; infinite if there is a cycle on one. Linear in the arcs.
pub fn count_paths<W: Weight>(fst: &FlatFst<W>) -> f64 {
    if fst.start() == NO_STATE {
        return 0.0;
    }
    const NEW: f64 = -1.0;
    const OPEN: f64 = -2.0;
    // Depth first: the paths from a state are known when all its arcs are done. A state that is met again while it is
    // open is on a cycle; the cycle counts only if a final state can be reached from it, which is known at the end.
    let mut from = vec![NEW; fst.num_states()];
    let mut on_cycle = vec![];
    let mut stack = vec![(fst.start(), 0usize, 0.0f64)];
    from[fst.start() as usize] = OPEN;
    while let Some(top) = stack.last_mut() {
        let state = top.0;
        if let Some(arc) = fst.arcs(state).get(top.1) {
            let next = arc.nextstate;
            let known = from[next as usize];
            if known == NEW {
                from[next as usize] = OPEN;
                stack.push((next, 0, 0.0));
            } else {
                if known == OPEN {
                    on_cycle.push(next);
                } else {
                    top.2 += known;
                }
                top.1 += 1;
            }
        } else {
            from[state as usize] = top.2 + if fst.is_final(state) { 1.0 } else { 0.0 };
            stack.pop();
        }
    }
    // Every state met is reachable, and one on a cycle with a path to a final state makes the number infinite.
    if on_cycle.iter().any(|&s| from[s as usize] > 0.0) { f64::INFINITY } else { from[fst.start() as usize] }
}

/// Sums of rows over the inputs, in input order.
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub fn new(stages: usize) -> Self {
        Table { rows: vec![Row::default(); stages + 1] }
    }
    pub fn add(&mut self, rows: &[Row]) {
        for (sum, row) in self.rows.iter_mut().zip(rows) {
            sum.add(row);
        }
    }
    /// The table as text: a row a stage, sums over all inputs.
    pub fn show(&self, stages: &[Stage]) -> String {
        let names: Vec<String> = std::iter::once("input".to_string())
            .chain(stages.iter().enumerate().map(|(i, s)| format!("{} {}", i + 1, s.words)))
            .collect();
        let width = names.iter().map(|n| n.chars().count().min(40)).max().unwrap_or(0).max(5);
        let mut text = String::new();
        let mut line = |name: &str, cells: [String; 5]| {
            let name: String = name.chars().take(40).collect();
            let [a, b, c, d, e] = cells;
            let _ = writeln!(text, "{name:width$} {a:>8} {b:>12} {c:>12} {d:>12} {e:>10}");
        };
        line("stage", ["inputs", "states", "arcs", "paths", "seconds"].map(String::from));
        for (name, row) in names.iter().zip(&self.rows) {
            let [states, arcs, paths] = match row.size {
                Some(s) => [s.states.to_string(), s.arcs.to_string(), show_paths(s.paths)],
                None => ["-", "-", "-"].map(String::from),
            };
            line(name, [row.inputs.to_string(), states, arcs, paths, format!("{:.3}", row.seconds)]);
        }
        let seconds: f64 = self.rows.iter().map(|r| r.seconds).sum();
        let dash = || String::new();
        line("total", [dash(), dash(), dash(), dash(), format!("{seconds:.3}")]);
        text
    }
}

/// Exact while it is short, then with an exponent.
fn show_paths(paths: f64) -> String {
    if paths.is_infinite() {
        "inf".into()
    } else if paths < 1e9 {
        format!("{paths}")
    } else {
        format!("{paths:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::flat::{Arc, StateId};
    use crate::fst::semiring::Tropical;

    fn fst(n: usize, finals: &[StateId], arcs: &[(StateId, StateId)]) -> FlatFst<Tropical> {
        let row = |s: usize| {
            let out = arcs.iter().filter(|a| a.0 as usize == s);
            let weight = if finals.contains(&(s as StateId)) { Tropical::ONE } else { Tropical::ZERO };
            (weight, out.map(|a| Arc::new(1, 1, Tropical::ONE, a.1)).collect())
        };
        FlatFst::from_rows(0, (0..n).map(row).collect())
    }

    #[test]
    fn paths_are_counted() {
        assert_eq!(count_paths(&FlatFst::<Tropical>::empty()), 0.0);
        assert_eq!(count_paths(&fst(1, &[0], &[])), 1.0);
        assert_eq!(count_paths(&fst(3, &[1, 2], &[(0, 1), (0, 1), (1, 2), (1, 2), (1, 2)])), 2.0 + 6.0);
        assert_eq!(count_paths(&fst(3, &[2], &[(0, 1), (1, 0), (1, 2)])), f64::INFINITY);
        // The back arc is met before the final state is known to be reachable.
        assert_eq!(count_paths(&fst(4, &[3], &[(0, 1), (1, 2), (2, 1), (1, 3)])), f64::INFINITY);
        assert_eq!(count_paths(&fst(3, &[0], &[(0, 1), (1, 1)])), 1.0, "a cycle that leads nowhere is on no path");
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let n = 200_000u32;
        let rows = (0..n).map(|s| {
            let next = (s + 1 < n).then(|| Arc::new(1, 1, Tropical::ONE, s + 1));
            (if next.is_none() { Tropical::ONE } else { Tropical::ZERO }, next.into_iter().collect())
        });
        assert_eq!(count_paths(&FlatFst::from_rows(0, rows.collect())), 1.0);
    }

    #[test]
    fn big_numbers_are_short() {
        assert_eq!(show_paths(12.0), "12");
        assert_eq!(show_paths(1.23456e20), "1.235e20");
        assert_eq!(show_paths(f64::INFINITY), "inf");
    }
}
