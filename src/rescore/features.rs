//! Features of the paths of a lattice, by name: parts of the costs, and features of rules.
//!
//! Parts are automata of the same shape as the lattice, as `lm apply --keep-separate` writes them; a path's feature is its
//! cost in the part. Rules are the input labels of a rule lattice; their features are in a file of `decode
//! --rule-features`, lines of a label, a tab and a rule in cdec's form; a path's feature is the sum over its rules.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::format::far::FarReader;
use crate::fst::any::AnyFst;
use crate::fst::flat::{FlatFst, Label};
use crate::fst::semiring::Weight;
use crate::fst::shortestpath::Path;
use crate::with_fst;

/// Parts of the costs of a lattice, by name.
#[derive(Debug, Default)]
pub struct Parts(Vec<(String, AnyFst)>);

impl Parts {
    /// Reads an archive whose automata must have the shape of `fst`.
    pub fn read<W: Weight>(op: &'static str, file: &str, fst: &FlatFst<W>) -> Result<Self> {
        let mut parts = vec![];
        for entry in FarReader::open(file)? {
            let (name, part) = entry?;
            if !with_fst!(&part, p => same_shape(fst, p)) {
                return Err(Error::op(
                    op,
                    format!(
                        "{file}: the part {name:?} has other states or arcs than the lattice; parts belong to the very \
                         file that was written beside them"
                    ),
                ));
            }
            parts.push((name, part));
        }
        Ok(Parts(parts))
    }

    pub fn features(&self, path: &Path, out: &mut Vec<(String, f64)>) {
        out.extend(self.0.iter().map(|(name, part)| (name.clone(), with_fst!(part, p => path.cost_in(p)))));
    }
}

fn same_shape<V: Weight, W: Weight>(a: &FlatFst<V>, b: &FlatFst<W>) -> bool {
    let same = |(x, y): (&crate::fst::flat::Arc<V>, &crate::fst::flat::Arc<W>)| {
        (x.ilabel, x.olabel, x.nextstate) == (y.ilabel, y.olabel, y.nextstate)
    };
    a.offsets() == b.offsets() && a.start() == b.start() && a.all_arcs().iter().zip(b.all_arcs()).all(same)
}

/// Features of rules by label.
#[derive(Clone, Debug, Default)]
pub struct RuleFeatures {
    names: Vec<String>,
    rules: HashMap<Label, Vec<(u32, f64)>, FxBuildHasher>,
}

impl RuleFeatures {
    /// Lines of `label TAB [X] ||| source ||| target ||| name=value ...`.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let mut features = RuleFeatures::default();
        let mut ids: HashMap<String, u32, FxBuildHasher> = HashMap::default();
        for (n, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let bad = |column: usize, what: String| Error::text(file, n + 1, column, what);
            let (label, rule) = line
                .split_once('\t')
                .and_then(|(l, rule)| Some((l.parse::<Label>().ok()?, rule)))
                .ok_or_else(|| bad(1, "expected the number of a rule, a tab and the rule".into()))?;
            let mut values = vec![];
            for item in rule.split(" ||| ").nth(3).unwrap_or("").split_whitespace() {
                let value = item.rsplit_once('=').and_then(|(name, v)| Some((name, v.parse::<f64>().ok()?)));
                let Some((name, value)) = value.filter(|v| !v.0.is_empty() && v.1.is_finite()) else {
                    let column = line.find(item).map_or(1, |at| line[..at].chars().count() + 1);
                    return Err(bad(column, format!("{item:?}: expected a feature, name=value")));
                };
                let id = *ids.entry(name.to_string()).or_insert_with(|| {
                    features.names.push(name.to_string());
                    features.names.len() as u32 - 1
                });
                values.push((id, value));
            }
            features.rules.insert(label, values);
        }
        Ok(features)
    }

    /// The sums over the input labels of a path; every feature is there.
    pub fn features(&self, op: &'static str, rules: &[Label], out: &mut Vec<(String, f64)>) -> Result<()> {
        let mut sums = vec![0.0; self.names.len()];
        for rule in rules {
            let Some(values) = self.rules.get(rule) else {
                let message = format!("the input label {rule} is not among the rules of --rule-features");
                return Err(Error::op(op, message));
            };
            values.iter().for_each(|&(id, value)| sums[id as usize] += value);
        }
        out.extend(self.names.iter().cloned().zip(sums));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_rules_are_summed() {
        let text = "3\t[X] ||| a ||| x ||| p=0.5 q=1\n7\t[S] ||| [X,1] ||| [X,1]\n9\t[X] ||| b ||| y ||| r=2\n";
        let f = RuleFeatures::parse("f", text).unwrap();
        let mut out = vec![];
        f.features("op", &[3, 7, 3, 9], &mut out).unwrap();
        assert_eq!(out, [("p".to_string(), 1.0), ("q".to_string(), 2.0), ("r".to_string(), 2.0)]);
        assert!(f.features("op", &[4], &mut out).unwrap_err().to_string().contains("label 4"));
        let e = RuleFeatures::parse("f", "1\t[X] ||| a ||| x ||| p=0.5 q=no\n").unwrap_err().to_string();
        assert!(e.starts_with("f:1:29: "), "{e}");
        assert!(RuleFeatures::parse("f", "\nx\n").unwrap_err().to_string().starts_with("f:2:1: "));
    }
}
