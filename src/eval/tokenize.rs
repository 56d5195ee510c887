//! How a line becomes words for BLEU: sacreBLEU's tokenisers `none`, `13a`, `intl`, `char` and `zh`.
//!
//! A tokeniser writes words with spaces between them; what splits them afterwards is Python's white space
//! (`space::words`). The regular expressions of sacreBLEU are small machines here that look at one character at a time, each
//! handing what it makes to the next: `13a` is mteval-v13a.pl's rules for Western text, `zh` sets Chinese characters apart first,
//! `intl` is mteval-v14.pl's with Unicode's punctuation, symbols and numbers. A line costs its length.

use clap::ValueEnum;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::space;

/// The tokenisers by their names in sacreBLEU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Tokenizer {
    /// The line as it is, split at white space
    None,
    /// Punctuation of Western text apart, as mteval-v13a.pl (WMT) does
    #[default]
    #[value(name = "13a")]
    V13a,
    /// Punctuation and symbols of all scripts apart, as mteval-v14.pl does
    Intl,
    /// Every character a word
    Char,
    /// Every Chinese character a word, the rest as 13a
    Zh,
}

impl Tokenizer {
    /// The name in signatures.
    pub fn name(self) -> &'static str {
        match self {
            Tokenizer::None => "none",
            Tokenizer::V13a => "13a",
            Tokenizer::Intl => "intl",
            Tokenizer::Char => "char",
            Tokenizer::Zh => "zh",
        }
    }

    /// Appends the words of `line` to `out`, with white space between them (any amount, also at the ends). `line` should have
    /// no white space at its end: a space there lets `intl` see more than sacreBLEU does.
    pub fn tokenize(self, line: &str, out: &mut String) {
        match self {
            Tokenizer::None => out.push_str(line),
            Tokenizer::V13a => v13a(line, out),
            Tokenizer::Intl => intl(line, out),
            Tokenizer::Char => line.chars().for_each(|c| out.extend([c, ' '])),
            Tokenizer::Zh => zh(line, out),
        }
    }
}

fn v13a(line: &str, out: &mut String) {
    // Not in one go: `&amp;lt;` becomes `<`.
    let plain;
    let mut line = line;
    if line.contains("<skipped>") || line.contains('&') {
        plain = unescape(&line.replace("<skipped>", ""));
        line = &plain;
    }
    let mut western = Western::new(out);
    western.push(b' ');
    line.bytes().for_each(|b| western.push(b));
    western.push(b' ');
    western.finish();
}

/// The four entities of mteval, one after the other.
pub(super) fn unescape(line: &str) -> String {
    line.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
}

/// The rules of mteval-v13a.pl for Western text: punctuation apart; full stops and commas apart unless between digits; dashes
/// apart behind digits. Bytes in, bytes out: all it looks for is ASCII, and it never parts the bytes of a character.
pub(super) struct Western<'a> {
    out: &'a mut Vec<u8>,
    /// The last byte before the rule of full stops behind other things than digits, if that has not used it up.
    before: Option<u8>,
    /// A full stop or comma that waits for what follows it.
    stop: Option<u8>,
    /// Whether the last byte before the rule of dashes was a digit.
    digit: bool,
}

impl<'a> Western<'a> {
    pub fn new(out: &'a mut String) -> Self {
        // SAFETY: bytes of characters pass in order; only spaces are put in, beside ASCII characters.
        let out = unsafe { out.as_mut_vec() };
        Western { out, before: None, stop: None, digit: false }
    }

    /// `[{-~[-` -&(-+:-@/]`, spaces among them.
    #[inline]
    pub fn is_alone(b: u8) -> bool {
        matches!(b, b'{'..=b'~' | b'['..=b'`' | b' '..=b'&' | b'('..=b'+' | b':'..=b'@' | b'/')
    }

    /// `([{-~[-` -&(-+:-@/])` becomes ` \1 `.
    #[inline]
    pub fn push(&mut self, b: u8) {
        if Self::is_alone(b) {
            self.behind(b' ');
            self.behind(b);
            self.behind(b' ');
        } else {
            self.behind(b);
        }
    }

    /// A byte that the first rule does not see.
    pub fn push_plain(&mut self, b: u8) {
        self.behind(b);
    }

    /// `([^0-9])([.,])` becomes `\1 \2 `.
    #[inline]
    fn behind(&mut self, b: u8) {
        match self.before.replace(b) {
            None => {}
            Some(p) if matches!(b, b'.' | b',') && !p.is_ascii_digit() => {
                self.before = None;
                for x in [p, b' ', b, b' '] {
                    self.ahead(x);
                }
            }
            Some(p) => self.ahead(p),
        }
    }

    /// `([.,])([^0-9])` becomes ` \1 \2`.
    #[inline]
    fn ahead(&mut self, b: u8) {
        match self.stop.take() {
            None if matches!(b, b'.' | b',') => self.stop = Some(b),
            None => self.dash(b),
            Some(stop) if b.is_ascii_digit() => {
                self.dash(stop);
                self.dash(b);
            }
            Some(stop) => {
                for x in [b' ', stop, b' ', b] {
                    self.dash(x);
                }
            }
        }
    }

    /// `([0-9])(-)` becomes `\1 \2 `.
    #[inline]
    fn dash(&mut self, b: u8) {
        if b == b'-' && self.digit {
            self.out.extend([b' ', b'-', b' ']);
        } else {
            self.out.push(b);
        }
        self.digit = b.is_ascii_digit();
    }

    pub fn finish(mut self) {
        if let Some(p) = self.before.take() {
            self.ahead(p);
        }
        if let Some(stop) = self.stop.take() {
            self.dash(stop);
        }
    }
}

fn zh(line: &str, out: &mut String) {
    let mut western = Western::new(out);
    for c in line.trim_matches(space::is_space).chars() {
        let chinese = is_chinese(c);
        if chinese {
            western.push(b' ');
        }
        for &b in c.encode_utf8(&mut [0; 4]).as_bytes() {
            western.push(b);
        }
        if chinese {
            western.push(b' ');
        }
    }
    western.finish();
}

/// What sacreBLEU's `zh` takes for Chinese. Two of its ranges, meant to lie beyond the basic plane, are written as strings of
/// two characters and cover U+2001 to U+2A6D and U+2F81 to U+2FA1; so they do here.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{2001}'..='\u{2a6d}' | '\u{2e80}'..='\u{2eff}' | '\u{2f00}'..='\u{2fdf}' | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31c0}'..='\u{31ef}' | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}' | '\u{f900}'..='\u{fa2d}' | '\u{fa30}'..='\u{fa6a}' | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}')
}

/// The classes of characters that `intl` tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    Punctuation,
    Symbol,
    Other,
}

fn class(c: char) -> Class {
    match c {
        '0'..='9' => Class::Number,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => Class::Symbol,
        c if c.is_ascii_punctuation() => Class::Punctuation,
        c if c.is_ascii() => Class::Other,
        c => match c.general_category_group() {
            GeneralCategoryGroup::Number => Class::Number,
            GeneralCategoryGroup::Punctuation => Class::Punctuation,
            GeneralCategoryGroup::Symbol => Class::Symbol,
            _ => Class::Other,
        },
    }
}

fn intl(line: &str, out: &mut String) {
    let mut machine = Intl { out, before: None, mark: None };
    line.chars().for_each(|c| machine.behind((c, class(c))));
    machine.finish();
}

/// The rules of mteval-v14.pl: punctuation apart unless between numbers, symbols apart.
struct Intl<'a> {
    out: &'a mut String,
    before: Option<(char, Class)>,
    mark: Option<char>,
}

const SPACE: (char, Class) = (' ', Class::Other);

impl Intl<'_> {
    /// `(\P{N})(\p{P})` becomes `\1 \2 `.
    fn behind(&mut self, c: (char, Class)) {
        match self.before.replace(c) {
            None => {}
            Some(p) if c.1 == Class::Punctuation && p.1 != Class::Number => {
                self.before = None;
                for x in [p, SPACE, c, SPACE] {
                    self.ahead(x);
                }
            }
            Some(p) => self.ahead(p),
        }
    }

    /// `(\p{P})(\P{N})` becomes ` \1 \2`.
    fn ahead(&mut self, c: (char, Class)) {
        match self.mark.take() {
            None if c.1 == Class::Punctuation => self.mark = Some(c.0),
            None => self.symbol(c),
            Some(mark) if c.1 == Class::Number => self.out.extend([mark, c.0]),
            Some(mark) => {
                self.out.extend([' ', mark, ' ']);
                self.symbol(c);
            }
        }
    }

    /// `(\p{S})` becomes ` \1 `.
    fn symbol(&mut self, c: (char, Class)) {
        if c.1 == Class::Symbol {
            self.out.extend([' ', c.0, ' ']);
        } else {
            self.out.push(c.0);
        }
    }

    fn finish(mut self) {
        if let Some(p) = self.before.take() {
            self.ahead(p);
        }
        self.out.extend(self.mark.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(t: Tokenizer, line: &str) -> String {
        let mut out = String::new();
        t.tokenize(line, &mut out);
        space::words(&out).collect::<Vec<_>>().join(" ")
    }

    /// What sacreBLEU 2.6.0 makes of these lines.
    #[test]
    fn words_are_sacrebleus() {
        for (tokenizer, line, want) in [
            (Tokenizer::V13a, "a..b, 1,5 3. .5 x-1 1-x 2-3", "a . . b , 1,5 3 . . 5 x-1 1 - x 2 - 3"),
            (Tokenizer::V13a, "\"&amp;lt;\" <skipped>&quot;", "\" < \" \""),
            (Tokenizer::V13a, "don't (stop)... e.g. 10%", "don't ( stop ) . . . e . g . 10 %"),
            (Tokenizer::Zh, ".5 “你好”，3.5元…", ".5 “ 你 好 ” ， 3.5 元 …"),
            (Tokenizer::Zh, "\u{20000}a\u{2000}b", "\u{20000}a b"),
            (Tokenizer::Intl, "1,000.5 a,b ¿qué? 5€ «x» 12. don't", "1,000.5 a , b ¿ qué ? 5 € « x » 12 . don ' t"),
            (Tokenizer::Intl, "12. 3 ... x.", "12 . 3 . . . x ."),
            (Tokenizer::Intl, "12.", "12."),
            (Tokenizer::Char, "a b\u{301}c", "a b \u{301} c"),
            (Tokenizer::None, "a\u{a0}b  c.", "a b c."),
        ] {
            assert_eq!(words(tokenizer, line), want, "{tokenizer:?} {line}");
        }
    }

    #[test]
    fn ascii_classes_are_unicodes() {
        for c in '\0'..='\x7f' {
            let group = match c.general_category_group() {
                GeneralCategoryGroup::Number => Class::Number,
                GeneralCategoryGroup::Punctuation => Class::Punctuation,
                GeneralCategoryGroup::Symbol => Class::Symbol,
                _ => Class::Other,
            };
            assert!(class(c) == group, "{c:?}");
        }
    }
}
