//! Values of a parameter, one or many, and names with a place for each: the grid of a sweep.

use std::str::FromStr;

/// More points than anyone waits for.
const MOST: usize = 100_000;

/// `0.4`, `0.4,0.5`, `0.1:0.1:1` (first:step:last, both ends included), or several of these between commas.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(pub Vec<f64>);

impl FromStr for Values {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut values = vec![];
        for item in text.split(',') {
            let number = |t: &str| match t.trim().parse::<f64>() {
                Ok(x) if x.is_finite() => Ok(x),
                _ => Err(format!(
                    "{t:?} is not a number; expected 0.4, a list 0.4,0.5 or a range 0.1:0.1:1 (first:step:last)"
                )),
            };
            let fields: Vec<&str> = item.split(':').collect();
            match fields[..] {
                [one] => values.push(number(one)?),
                [first, step, last] => {
                    let (first, step, last) = (number(first)?, number(step)?, number(last)?);
                    let steps = (last - first) / step;
                    if step == 0.0 || steps < -1e-6 {
                        return Err(format!("{item:?}: no steps of {step} lead from {first} to {last}"));
                    }
                    // The last value is one of them although a sum of steps may miss it by a rounding error.
                    let steps = (steps + 1e-6).floor();
                    if steps >= MOST as f64 {
                        return Err(format!("{item:?}: more than {MOST} values"));
                    }
                    values.extend((0..=steps as usize).map(|i| rounded(first + i as f64 * step)));
                }
                _ => return Err(format!("{item:?} has {} fields; a range has three: first:step:last", fields.len())),
            }
        }
        Ok(Values(values))
    }
}

/// 0.30000000000000004 is 0.3 again.
fn rounded(x: f64) -> f64 {
    let near = (x * 1e10).round() / 1e10;
    if (near - x).abs() < 1e-11 { near + 0.0 } else { x }
}

/// A number in a file name: at least two digits after the point.
pub fn in_name(x: f64) -> String {
    let short = format!("{x}");
    let digits = short.split_once('.').map_or(0, |(_, d)| d.len());
    if digits < 2 { format!("{x:.2}") } else { short }
}

/// The name with every `%%slot%%` of the list filled.
pub fn fill(name: &str, slots: &[(&str, f64)]) -> String {
    slots.iter().fold(name.to_string(), |name, (slot, x)| name.replace(&format!("%%{slot}%%"), &in_name(*x)))
}

/// True if the name has a place for the parameter.
pub fn has(name: &str, slot: &str) -> bool {
    name.contains(&format!("%%{slot}%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        text.parse::<Values>().unwrap().0
    }

    #[test]
    fn one_many_ranges() {
        assert_eq!(values("0.4"), [0.4]);
        assert_eq!(values("-0.01,0.01"), [-0.01, 0.01]);
        assert_eq!(values("0.1:0.1:0.5,2"), [0.1, 0.2, 0.3, 0.4, 0.5, 2.0]);
        assert_eq!(values("-0.02:0.02:0.02"), [-0.02, 0.0, 0.02]);
        assert_eq!(values("0.4:0.1:0.55"), [0.4, 0.5]);
        assert_eq!(values("1:-0.5:0"), [1.0, 0.5, 0.0]);
        for (text, why) in [
            ("", "not a number"),
            ("a", "not a number"),
            ("nan", "not a number"),
            ("1:2", "three"),
            ("1:0:2", "no steps"),
            ("2:1:1", "no steps"),
            ("0:1e-9:1", "more than"),
        ] {
            let e = text.parse::<Values>().unwrap_err();
            assert!(e.contains(why), "{text}: {e}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(fill("%%alpha%%_%%wp%%.hyp", &[("alpha", 0.4), ("wp", -0.01)]), "0.40_-0.01.hyp");
        assert_eq!(fill("%%p%%", &[("p", 0.125)]), "0.125");
        assert_eq!(fill("%%p%%", &[("p", 10.0)]), "10.00");
        assert!(has("a%%p%%b", "p") && !has("%%wp%%", "p"));
    }
}
