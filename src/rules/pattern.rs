//! The pattern of a rule: its symbols with every run of words written `w`, `wX1 X1w`.
//!
//! Iglesias, de Gispert, Banga and Byrne, "Rule Filtering by Pattern for Efficient Hierarchical Translation" (2009).
//! Nonterminals keep their names and numbers. A pattern is written with one blank between source and target.

use super::rule::{Rule, Symbol};

/// `source target`.
pub fn of(rule: &Rule) -> String {
    let mut pattern = String::with_capacity(24);
    side(&rule.source, &mut pattern);
    pattern.push(' ');
    side(&rule.target, &mut pattern);
    pattern
}

fn side(symbols: &[Symbol], out: &mut String) {
    let mut word = false;
    for symbol in symbols {
        match symbol {
            Symbol::Word(_) if word => continue,
            Symbol::Word(_) => out.push('w'),
            Symbol::Nonterminal { name, link } => {
                out.push_str(name);
                out.push_str(&link.to_string());
            }
        }
        word = symbol.is_word();
    }
}

/// A pattern as the user wrote it, with one blank; `None`: not two sides.
pub fn normal(text: &str) -> Option<String> {
    let mut sides = text.split_whitespace();
    let (source, target) = (sides.next()?, sides.next()?);
    Some(format!("{source} {target}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::format::{RuleFormat, parse};

    #[test]
    fn runs_of_words_are_one() {
        let rule = parse(RuleFormat::Cdec, "t", 1, "[X] ||| a b [X,1] c [X,2] ||| d [X,2] [X,1] e f").unwrap().unwrap();
        assert_eq!(of(&rule), "wX1wX2 wX2X1w");
        assert_eq!(normal(" wX1\tX1w  12").as_deref(), Some("wX1 X1w"));
    }
}
