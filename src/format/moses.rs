//! N-best lists as Moses writes them: `number ||| words ||| name= value ... ||| score`.
//!
//! Numbers of sentences count from 0. Values and scores are logarithms, so that more is better: costs with the other sign,
//! with nine significant digits.

use std::fmt::Write;

use super::number::write_g;

/// One line; features are costs by name.
pub fn write_hypothesis(out: &mut String, number: usize, words: &str, features: &[(String, f64)], cost: f64) {
    let _ = write!(out, "{number} ||| {words} |||");
    for (name, value) in features {
        let _ = write!(out, " {name}= ");
        write_score(out, *value);
    }
    out.push_str(" ||| ");
    write_score(out, cost);
    out.push('\n');
}

/// A cost as a score; no minus before a zero.
fn write_score(out: &mut String, cost: f64) {
    write_g(out, -cost + 0.0, 9);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_become_scores() {
        let mut out = String::new();
        write_hypothesis(&mut out, 3, "a b", &[("lm".into(), 2.5), ("words".into(), 0.0)], -0.125);
        write_hypothesis(&mut out, 4, "", &[], 1.0);
        assert_eq!(out, "3 ||| a b ||| lm= -2.5 words= 0 ||| 0.125\n4 |||  ||| ||| -1\n");
    }
}
