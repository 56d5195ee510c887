//! The words of TER: Tercom's normaliser as sacreBLEU has it.

use super::Ter;
use crate::eval::space;
use crate::eval::tokenize::{Western, unescape};

/// Appends the words of a line, with white space between them.
pub fn tokenize(ter: &Ter, line: &str, out: &mut String) {
    let line = space::trim_end(line);
    if line.is_empty() {
        return;
    }
    let line = space::lower(line, !ter.case_sensitive);
    if !ter.normalized {
        return remove_punctuation(ter, &line, out);
    }
    let mut western = String::new();
    let line = if line.contains('&') { unescape(&line) } else { line.into_owned() };
    // Punctuation first, then `'s ` apart, then full stops: a space follows wherever punctuation does.
    let mut machine = Western::new(&mut western);
    let bytes = line.as_bytes();
    machine.push(b' ');
    for (i, &b) in bytes.iter().enumerate() {
        if b == b'\'' && bytes.get(i + 1) == Some(&b's') && bytes.get(i + 2).is_none_or(|&b| Western::is_alone(b)) {
            machine.push_plain(b' ');
        }
        machine.push(b);
    }
    machine.push(b' ');
    machine.finish();
    if ter.asian_support {
        let mut apart = String::with_capacity(2 * western.len());
        for c in western.chars() {
            if is_asian(c) || is_asian_punctuation(c) {
                apart.extend([' ', c, ' ']);
            } else {
                apart.push(c);
            }
        }
        western = apart;
    }
    remove_punctuation(ter, &western, out);
}

fn remove_punctuation(ter: &Ter, line: &str, out: &mut String) {
    if !ter.no_punct {
        return out.push_str(line);
    }
    let gone = |c: char| {
        matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')') || ter.asian_support && is_asian_punctuation(c)
    };
    out.extend(line.chars().filter(|&c| !gone(c)));
}

/// What stands alone: ideographs, radicals, strokes, enclosed letters. Kana do not: sacreBLEU's rule for them asks for a line
/// of kana without the spaces that are around every line by then.
fn is_asian(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2eff}' | '\u{31c0}'..='\u{31ef}' | '\u{3200}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}')
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}' | '\u{ff61}'..='\u{ff65}'
        | '\u{ff01}' | '\u{ff02}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff0e}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What sacreBLEU 2.6.0 makes of these lines.
    #[test]
    fn words_are_tercoms() {
        let words = |ter: &Ter, line: &str| {
            let mut out = String::new();
            tokenize(ter, line, &mut out);
            space::words(&out).collect::<Vec<_>>().join(" ")
        };
        let normal = Ter { normalized: true, ..Ter::default() };
        let asian = Ter { asian_support: true, ..normal };
        let bare = Ter { no_punct: true, ..Ter::default() };
        let both = Ter { no_punct: true, ..asian };
        for (ter, line, want) in [
            (Ter::default(), "It's  John's. ", "it's john's."),
            (normal, "It's John's. 'S x's,y's/ 's", "it 's john's . 's x's , y 's / 's"),
            (normal, "1.5 a.b &amp;quot; 3-4", "1.5 a . b & quot ; 3 - 4"),
            (asian, "漢字カタカナひらがな。㈱、a", "漢 字 カタカナひらがな 。 ㈱ 、 a"),
            (bare, "a. (b)! c;d \"e\" 。", "a b cd e 。"),
            (both, "漢。字，（a）.", "漢 字 a"),
        ] {
            assert_eq!(words(&ter, line), want, "{line}");
        }
    }
}
