//! Conversion there and back in all formats.

use weft::rules::format::{RuleFormat, parse};

use crate::random;
use crate::sandbox::Sandbox;

#[test]
fn there_and_back() {
    let s = Sandbox::empty();
    let [source, target, links] = random::corpus(11, 100);
    s.write("s", &source);
    s.write("t", &target);
    s.write("a", &links);
    // Columns cannot leave features away, and names do not come back but for Moses' four.
    s.run("weft rules extract s t a | sed -E 's/ (Count|Rule|Word)[A-Za-z0-9]*=[0-9]+//g' > rules").ok();
    let rules = s.read("rules");
    let columns = rules.replace("EgivenF", "E").replace("FgivenE", "F").replace("LexE", "LE").replace("LexF", "LF");
    s.write("columns", &columns);
    let names = "sed -e 's/F1=/E=/; s/F2=/F=/; s/F3=/LE=/; s/F4=/LF=/'";
    let back = s.run(&format!("weft rules convert --to joshua columns | weft rules convert --to cdec | {names}")).ok();
    assert!(back == columns, "joshua\n{back}");
    // HiFST's affiliations have one link a word, so links may be fewer.
    let cut =
        |text: &str| -> Vec<String> { text.lines().map(|l| l.rsplit_once(" ||| ").unwrap().0.to_string()).collect() };
    let back = s.run(&format!("weft rules convert --to hifst columns | weft rules convert --to cdec | {names}")).ok();
    let back: Vec<String> =
        back.lines().map(|l| if l.matches("|||").count() == 4 { cut(l).remove(0) } else { l.to_string() }).collect();
    assert!(back == cut(&columns));
    let back = s.run("weft rules convert --to moses rules | weft rules convert --to cdec --from moses").ok();
    // A probability near one cannot have every digit of its cost.
    assert_eq!(back.lines().count(), rules.lines().count());
    for (a, b) in back.lines().zip(rules.lines()) {
        let read = |line| parse(RuleFormat::Cdec, "t", 1, line).unwrap().unwrap();
        let (a, b) = (read(a), read(b));
        assert_eq!((a.lhs, &a.source, &a.target, &a.alignment), (b.lhs, &b.source, &b.target, &b.alignment));
        assert_eq!(a.features.len(), b.features.len());
        for (name, cost) in &a.features {
            assert!((cost - b.feature(name).unwrap()).abs() < 1e-9, "{name} of {a:?} {b:?}");
        }
    }
    s.run("weft rules convert --to moses rules -o m.zst && weft rules convert --from moses m.zst -o m").ok();
    assert!(s.read("m") == back);
}

#[test]
fn words_and_numbers() {
    let s = Sandbox::new();
    let there = s.run("weft rules convert --to hifst --source-map en.map --target-map ja.map counts.txt -o h").ok();
    assert!(there.is_empty());
    assert_eq!(s.read("h"), "X 3 3 2\t0\nX 4_X X_5_4 1\n");
    let back = s.run("weft rules convert --source-map en.map --target-map ja.map h").ok();
    assert_eq!(back, "[X] ||| book ||| 本 ||| F1=2 ||| 0-0\n[X] ||| reads [X,1] ||| [X,1] を 読む ||| F1=1\n");
    s.write("r", "[X] ||| a pen ||| x ||| A=1\n");
    s.run("weft rules convert --to hifst --source-map en.map r").fails(2, &["r:1:11: \"pen\" is not in the word map"]);
    s.write("r", "[X] ||| a USA ||| x ||| A=1\n");
    s.run("weft rules convert --to hifst r").fails(2, &["r:1:11: \"USA\" cannot be written"]);
    s.write("r", "[X2] ||| a ||| x ||| A=1\n");
    s.run("weft rules convert --to hifst r").fails(2, &["r:1:2: the left side X2 cannot be written"]);
}

#[test]
fn columns_phrases_and_deletions() {
    let s = Sandbox::new();
    s.write("r", "[X] ||| a ||| ||| A=1 B=2\n[X] ||| b [X,1] ||| [X,1] ||| B=3\n");
    assert_eq!(s.run("weft rules convert --to hifst r").ok(), "X a <dr> 1 2\nX b_X X 0 3\n");
    assert_eq!(
        s.run("weft rules convert --to joshua --features B,A r").ok(),
        "[X] ||| a ||| ||| 2 1\n[X] ||| b [X,1] ||| [X,1] ||| 3 0\n"
    );
    s.run("weft rules convert --to joshua --features B r")
        .fails(2, &["r:1:19: the feature A is in none of the columns B"]);
    assert!(s.run("weft rules convert --to joshua --features B --drop r").ok().starts_with("[X] ||| a ||| ||| 2\n"));
    s.write("m", "a b ||| c ||| 0.5 0.25 0.125 1 ||| 0-0 ||| 1 2 3\n");
    assert_eq!(s.run("weft rules convert --to moses --phrases m").ok(), "a b ||| c ||| 0.5 0.25 0.125 1 ||| 0-0\n");
    assert_eq!(s.run("weft rules convert --to moses --phrases counts.txt").ok().lines().count(), 1);
    // Shallow grammars go to HiFST as they are.
    let shallow = s.run("weft rules shallow counts.txt | weft rules convert --to hifst").ok();
    assert!(
        shallow.starts_with("S X X 0 0\nS S_X S_X 1 0\nX V V 0 0\nV book 本 0 2\t0\nX reads_V V_を_読む 0 1\n"),
        "{shallow}"
    );
}
