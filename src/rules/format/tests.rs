//! Lines of every format, there and back, and lines that are none.

use super::*;

fn read(format: RuleFormat, line: &str) -> Rule<'_> {
    parse(format, "t", 1, line).unwrap_or_else(|e| panic!("{line}: {e}")).expect("a rule")
}

fn written(format: RuleFormat, rule: &Rule) -> String {
    let mut out = vec![];
    write(format, rule, &mut out);
    String::from_utf8(out).unwrap().trim_end_matches('\n').to_string()
}

#[test]
fn every_format_writes_what_it_read() {
    use RuleFormat::*;
    for (format, line) in [
        (Cdec, "[X] ||| a [X,1] b ||| c [X,1] d ||| EgivenF=1.2 CountEF=0.3 ||| 0-0 2-2"),
        (Cdec, "[NP] ||| [X,1] a [Y,2] ||| [Y,2] [X,1]"),
        (Cdec, "[X] ||| a ||| ||| A=1e-300"),
        (Cdec, "[X] ||| a [1] ||| b ||| a=b=-1"),
        (Joshua, "[X] ||| a [X,1] b ||| c [X,1] d ||| 0.1 0.2 ||| 0-0"),
        (Moses, "a [X][X] b [X] ||| [X][X] c d [X] ||| 0.1 0.2 0.3 0.4 ||| 0-1 1-0 2-2"),
        (Moses, "a [X][X] [Y][Y] [S] ||| [Y][Y] b [X][X] [S] ||| 0.123456789 1 ||| 0-1 1-2 2-0"),
        (Moses, "a [X] ||| [X] ||| ||| "),
        (Hifst, "X 3_X1_4_X2 X2_5_X1 1.2 0.3\t0"),
        (Hifst, "S S_X S_X 0"),
        (Hifst, "V 3_4 5_6_7 0.5\t0_0_1"),
        (Hifst, "X 3 <dr> 0.5"),
        (Hifst, "X _ _ 0.5"),
    ] {
        let rule = read(format, line);
        assert_eq!(written(format, &rule), line.trim_end(), "{rule:?}");
        assert_eq!(detect(line), Some(if line.contains("[NP]") { Cdec } else { format }), "{line}");
    }
}

#[test]
fn nonterminals_are_numbered_by_the_source() {
    let rule = read(RuleFormat::Cdec, "[X] ||| [X,7] a [Y,2] ||| [2] b [X,7]");
    assert_eq!(written(RuleFormat::Cdec, &rule), "[X] ||| [X,1] a [Y,2] ||| [Y,2] b [X,1]");
    let rule = read(RuleFormat::Hifst, "X X2_5_X1 X1_X2");
    assert_eq!(written(RuleFormat::Cdec, &rule), "[X] ||| [X,1] 5 [X,2] ||| [X,2] [X,1]");
    assert_eq!(rule.rank(), 2);
}

#[test]
fn one_rule_in_all_formats() {
    let rule = read(RuleFormat::Moses, "5 [X][X] 6 [X] ||| [X][X] 7 [X] ||| 0.5 0.25 1 0 2.718 ||| 0-1 1-0 ||| 4 5 3");
    let half = std::f64::consts::LN_2;
    assert_eq!(rule.feature("FgivenE"), Some(half));
    assert_eq!((rule.feature("EgivenF"), rule.feature("LexEgivenF")), (Some(0.0), Some(100.0)));
    assert_eq!(rule.feature("F5").map(|v| v.round()), Some(-1.0));
    let short = Rule { features: rule.features[..2].into(), ..rule };
    assert_eq!(
        written(RuleFormat::Cdec, &short),
        "[X] ||| 5 [X,1] 6 ||| [X,1] 7 ||| FgivenE=0.6931471805599453 LexFgivenE=1.3862943611198906 ||| 0-1"
    );
    assert_eq!(
        written(RuleFormat::Joshua, &short),
        "[X] ||| 5 [X,1] 6 ||| [X,1] 7 ||| 0.6931471805599453 1.3862943611198906 ||| 0-1"
    );
    assert_eq!(written(RuleFormat::Hifst, &short), "X 5_X_6 X_7 0.6931471805599453 1.3862943611198906\t0");
    assert_eq!(written(RuleFormat::Moses, &short), "5 [X][X] 6 [X] ||| [X][X] 7 [X] ||| 0.5 0.25 ||| 0-1 1-0");
}

#[test]
fn phrases_and_deletions() {
    let rule = read(RuleFormat::Moses, "das ist ||| this is ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1");
    assert_eq!((rule.lhs, rule.rank(), rule.alignment.len()), ("X", 0, 2));
    let mut out = vec![];
    write_phrase(&rule, &mut out);
    assert_eq!(out, b"das ist ||| this is ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1\n");
    let rule = read(RuleFormat::Cdec, "[X] ||| a ||| ||| A=1");
    assert!(rule.target.is_empty());
    assert_eq!(written(RuleFormat::Hifst, &rule), "X a <dr> 1");
}

#[test]
fn blanks_and_comments() {
    for format in [RuleFormat::Cdec, RuleFormat::Joshua, RuleFormat::Moses, RuleFormat::Hifst] {
        assert_eq!(parse(format, "t", 1, " \t\r").unwrap(), None);
        assert_eq!(detect("  "), None);
    }
    assert_eq!(parse(RuleFormat::Cdec, "t", 1, "# a comment").unwrap(), None);
    assert!(parse(RuleFormat::Moses, "t", 1, "# ||| x ||| 1").unwrap().is_some());
    // An ideographic space is a word.
    assert_eq!(read(RuleFormat::Cdec, "[X] ||| \u{3000} ||| a\r").source.len(), 1);
}

#[test]
fn what_is_wrong_has_its_column() {
    use RuleFormat::*;
    for (format, line, expected) in [
        (Cdec, "X ||| a ||| b", "t:1:1: expected a left side"),
        (Cdec, "[X] a ||| b", "t:1:5: expected |||"),
        (Cdec, "[X] ||| a", "t:1:10: expected ||| and the target"),
        (Cdec, "[X] ||| ||| b", "t:1:9: the source side is empty"),
        (Cdec, "[X] ||| é [X,1] ||| b", "t:1:11: [X,1] of the source is not in the target"),
        (Cdec, "[X] ||| a ||| é [X,1]", "t:1:17: [X,1] of the target is not in the source"),
        (Cdec, "[X] ||| [X,1] ||| [Y,1]", "t:1:19: [Y,1] is linked to [X,1]"),
        (Cdec, "[X] ||| [X,1] ||| [X,1] [X,1]", "t:1:25: [X,1] is in the target twice"),
        (Cdec, "[X] ||| [X,1] [X,1] ||| [X,1]", "t:1:15: [X,1] is in the source twice"),
        (Cdec, "[X] ||| a ||| b ||| A=nan", "t:1:23: expected a finite number"),
        (Cdec, "[X] ||| a ||| b ||| A=1e999", "t:1:23: expected a finite number"),
        (Cdec, "[X] ||| a ||| b ||| =1", "t:1:21: expected a name"),
        (Cdec, "[X] ||| a ||| b ||| A=1 ||| 0:0", "t:1:29: expected a link"),
        (Cdec, "[X] ||| a ||| b ||| A=1 ||| 0-1", "t:1:29: the link 0-1 is outside"),
        (Cdec, "[X] ||| a [X,1] ||| [X,1] b ||| A=1 ||| 0-0", "t:1:41: the link 0-0 is between"),
        (Cdec, "[X] ||| a ||| b ||| ||| 0-0 ||| x", "t:1:29: expected the end"),
        (Joshua, "[X] ||| a ||| b ||| x", "t:1:21: expected a finite number"),
        (Moses, "a b c", "t:1:6: expected |||"),
        (Moses, "[X] ||| a [X] ||| 1", "t:1:5: the source side is empty"),
        (Moses, "a [X][X] [X] ||| [X][X] [X] ||| 1 |||", "t:1:18: [X][X] has no link"),
        (Moses, "a [X][X] [X] ||| [X][Y] [X] ||| 1 ||| 1-0", "t:1:18: [X][Y] is linked to [X][X]"),
        (Moses, "a [V][W] [X] ||| [V][W] [X] ||| 1 ||| 1-0", "t:1:3: the labels V and W differ"),
        (Moses, "a ||| b ||| -1", "t:1:13: expected a probability"),
        (Moses, "a ||| b ||| 1 ||| 1-0", "t:1:19: the link 1-0 is outside"),
        (Hifst, "x a b", "t:1:1: expected a left side"),
        (Hifst, "X", "t:1:2: expected the source"),
        (Hifst, "X a", "t:1:4: expected the target"),
        (Hifst, "X a_X b", "t:1:5: X of the source is not in the target"),
        (Hifst, "X a_X1 b_X2", "t:1:10: X2 of the target is not in the source"),
        (Hifst, "X a__b c", "t:1:5: expected a symbol"),
        (Hifst, "X X_X X_X", "t:1:5: X is in the source twice"),
        (Hifst, "X a b x", "t:1:7: expected a finite number"),
        (Hifst, "X a b_c 1\t0", "t:1:12: fewer affiliations"),
        (Hifst, "X a b 1\t0_0", "t:1:11: more affiliations"),
        (Hifst, "X a b 1\t1", "t:1:9: expected the position"),
    ] {
        match parse(format, "t", 1, line) {
            Ok(rule) => panic!("{line}: {rule:?}"),
            Err(e) => assert!(e.to_string().starts_with(expected), "{line}: {e}"),
        }
    }
}

#[test]
fn words_that_cannot_be_written() {
    for (format, word, ok) in [
        (RuleFormat::Cdec, "[X,1]", false),
        (RuleFormat::Cdec, "[1]", false),
        (RuleFormat::Cdec, "[a]", true),
        (RuleFormat::Cdec, "|||", false),
        (RuleFormat::Moses, "[a]", false),
        (RuleFormat::Moses, "[X,1]", true),
        (RuleFormat::Hifst, "USA", false),
        (RuleFormat::Hifst, "a_b", false),
        (RuleFormat::Hifst, "a", true),
        (RuleFormat::Hifst, "a b", false),
    ] {
        assert_eq!(unwritable(format, word).is_none(), ok, "{word}");
    }
    assert!(unwritable_name(RuleFormat::Hifst, "X1").is_some() && unwritable_name(RuleFormat::Cdec, "X1").is_none());
}
