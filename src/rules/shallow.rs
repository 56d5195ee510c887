//! Shallow-n grammars: hierarchical rules nest at most n deep.
//!
//! De Gispert, Iglesias, Blackwood, Banga and Byrne, "Hierarchical Phrase-Based Translation with Weighted Finite-State
//! Transducers and Shallow-n Grammars" (2010). For n = 1:
//!
//! ```text
//! S → X, S → S X     the glue, one Glue feature on the second
//! X → γ              hierarchical rules, with V for their nonterminals
//! X → V              no features: it is charged nothing
//! V → phrase         rules of words alone
//! ```
//!
//! For greater n there are levels between: X over XB over XC ... over V, hierarchical rules on every one but the last and
//! a rule without features from each to the next. With n = 0 all rules are phrases, and hierarchical rules are left out.
//! Names are letters only, so that they are HiFST's, too. A rule is written as often as it has levels; nothing is held in
//! memory.

use super::format::{self, RuleFormat};
use super::rule::{Rule, Symbol};
use crate::error::{Error, Result};
use crate::text::lines::Block;

/// The most levels there are names for.
pub const MAX: usize = 20;

/// The names of the levels, the highest first and that of phrases last.
pub fn levels(n: usize) -> Vec<String> {
    let middle = (1..n).map(|i| format!("X{}", (b'A' + i as u8) as char));
    let last = (n > 0).then(|| "V".to_string());
    std::iter::once("X".to_string()).chain(middle).chain(last).collect()
}

/// Glue and the rules between levels.
pub fn frame(levels: &[String], out: &mut Vec<u8>) {
    let mut write = |lhs: &str, names: &[&str], glue: bool| {
        let side = names.iter().zip(1..).map(|(name, link)| Symbol::Nonterminal { name, link });
        let mut rule = Rule { lhs, source: side.clone().collect(), target: side.collect(), ..Rule::default() };
        if glue {
            rule.features.push(("Glue".into(), 1.0));
        }
        format::write(RuleFormat::Cdec, &rule, out);
    };
    write("S", &["X"], false);
    write("S", &["S", "X"], true);
    for pair in levels.windows(2) {
        write(&pair[0], &[&pair[1]], false);
    }
}

/// The rules of a block on their levels.
pub fn block(format: RuleFormat, levels: &[String], block: &Block) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(block.text.len() * levels.len().max(2) / 2);
    for (number, line) in block.lines() {
        let Some(mut rule) = format::parse(format, &block.file, number, line)? else { continue };
        let error = |part: &str, message: String| {
            let at = part.as_ptr() as usize - line.as_ptr() as usize;
            Err(Error::text(&block.file, number, line.get(..at).map_or(0, |t| t.chars().count()) + 1, message))
        };
        if rule.lhs != "X" {
            // A phrase of Moses has a left side that is not in the line: it is X.
            return error(
                rule.lhs,
                format!("expected a rule of X, found {}: make shallow grammars before glue", rule.lhs),
            );
        }
        for symbol in &rule.source {
            if let Symbol::Nonterminal { name, .. } = symbol
                && *name != "X"
            {
                return error(name, format!("expected the nonterminal X, found {name}"));
            }
        }
        if rule.rank() == 0 {
            rule.lhs = levels.last().map_or("X", String::as_str);
            format::write(RuleFormat::Cdec, &rule, &mut out);
            continue;
        }
        for pair in levels.windows(2) {
            rule.lhs = &pair[0];
            let inside = pair[1].as_str();
            for symbol in rule.source.iter_mut().chain(&mut rule.target) {
                if let Symbol::Nonterminal { name, .. } = symbol {
                    *name = inside;
                }
            }
            format::write(RuleFormat::Cdec, &rule, &mut out);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shallow(n: usize) -> Vec<String> {
        let names = levels(n);
        let mut out = vec![];
        frame(&names, &mut out);
        let text = "[X] ||| a [X,1] ||| [X,1] b ||| A=1\n[X] ||| c ||| d ||| A=2\n".to_string();
        out.extend(block(RuleFormat::Cdec, &names, &Block { file: "t".into(), line: 1, text }).unwrap());
        String::from_utf8(out).unwrap().lines().map(String::from).collect()
    }

    #[test]
    fn levels_of_rules() {
        assert_eq!(
            shallow(1),
            [
                "[S] ||| [X,1] ||| [X,1]",
                "[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| Glue=1",
                "[X] ||| [V,1] ||| [V,1]",
                "[X] ||| a [V,1] ||| [V,1] b ||| A=1",
                "[V] ||| c ||| d ||| A=2",
            ]
        );
        assert_eq!(
            shallow(2)[2..],
            [
                "[X] ||| [XB,1] ||| [XB,1]",
                "[XB] ||| [V,1] ||| [V,1]",
                "[X] ||| a [XB,1] ||| [XB,1] b ||| A=1",
                "[XB] ||| a [V,1] ||| [V,1] b ||| A=1",
                "[V] ||| c ||| d ||| A=2",
            ]
        );
        assert_eq!(shallow(0)[2..], ["[X] ||| c ||| d ||| A=2"]);
    }

    #[test]
    fn other_rules_are_an_error() {
        let names = levels(1);
        for (text, want) in [
            ("[S] ||| [X,1] ||| [X,1]", "t:4:2: expected a rule of X"),
            ("[X] ||| a [Y,1] ||| [Y,1]", "t:4:12: expected the nonterminal X"),
        ] {
            let block_of = Block { file: "t".into(), line: 4, text: text.into() };
            let e = block(RuleFormat::Cdec, &names, &block_of).unwrap_err().to_string();
            assert!(e.starts_with(want), "{e}");
        }
    }
}
