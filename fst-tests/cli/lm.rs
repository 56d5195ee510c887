//! `weft lm` as it is typed.

use crate::sandbox::Sandbox;

#[test]
fn the_commands_of_every_day() {
    let s = Sandbox::new();
    s.run("weft lm estimate --order 4 train.txt -o e.arpa").ok();
    s.run("weft lm compile lm.arpa -o lm.bin").ok();
    let json = s.run("weft lm query --json lm.arpa test.txt").ok();
    assert_eq!(json, s.run("weft lm query --json lm.bin test.txt").ok());
    let lines: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 4, "an object a sentence and one for all");
    assert_eq!((&lines[0]["oov"], &lines[0]["tokens"]), (&0.into(), &3.into()));
    assert_eq!(lines[0]["log10"], -0.875);
    assert_eq!((&lines[2]["oov"], &lines[3]["oovs"], &lines[3]["tokens"]), (&1.into(), &1.into(), &10.into()));
    assert!(lines[3]["perplexity"].as_f64().unwrap() > lines[3]["perplexity_without_oov"].as_f64().unwrap());
    s.run("weft lm fst --backoff phi lm.arpa -o G.fst").ok();
    let info = s.run("weft fst info G.fst").ok();
    assert!(info.lines().any(|l| l.starts_with("# of states") && l.ends_with(" 5")), "{info}");
    s.run("gzip lats/*.fst").ok();
    s.run("weft lm apply --lm lm.bin --scale 1 --prune 9 'lats/?.fst.gz' -o 'out/?.fst.gz' --range 1:3").ok();
    let best = s.run("weft fst shortestpath out/2.fst.gz | weft fst rmepsilon | weft fst print --acceptor").ok();
    assert!(best.contains("\ta\t") && best.contains("\tc\t"), "{best}");
}

#[test]
fn rescoring_is_the_same_however_it_is_asked_for() {
    let s = Sandbox::new();
    let options = "--lm lm.arpa --scale 0.5 --prune 4";
    s.run(&format!("weft lm apply {options} 'lats/?.fst' -o 'one/?.fst' --range 1:3 -j 1")).ok();
    s.run(&format!("weft lm apply {options} 'lats/?.fst' -o 'two/?.fst' --range 1:3 -j 2")).ok();
    s.write("s.weft", &format!("lm-apply {options}\n"));
    s.run("weft cascade s.weft 'lats/?.fst' -o 'three/?.fst' --range 1:3").ok();
    s.run(&format!("weft lm apply {options} < lat.fst > four.fst")).ok();
    for n in 1..=3 {
        let one = s.bytes(&format!("one/{n}.fst"));
        assert_eq!(one, s.bytes(&format!("two/{n}.fst")));
        assert_eq!(one, s.bytes(&format!("three/{n}.fst")));
        assert_eq!(one, s.bytes("four.fst"));
    }
    // An archive in, an archive out; what was added can be taken away again.
    s.run("weft lm apply --lm lm.arpa s.far -o scored.far").ok();
    s.run("weft lm apply --subtract lm.arpa scored.far -o again.far").ok();
    s.run("printf 'rmepsilon\\n' > r.weft; weft cascade r.weft s.far -o plain.far").ok();
    s.run("weft far equal --delta=1e-5 plain.far again.far").ok();
}

#[test]
fn what_is_wrong_is_said_once_and_where() {
    let s = Sandbox::new();
    let said = s.run("weft lm apply --lm lm.arpa --scale 1 --scale 2 'lats/?.fst' -o 'o/?.fst' --range 1:3");
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    said.fails(2, &["give a --scale for each --lm"]);
    s.run("weft lm apply --lm lm.arpa --prune -1 lat.fst -o o.fst").fails(2, &["the beam is -1"]);
    s.run("weft lm apply --lm no.arpa lat.fst -o o.fst").fails(2, &["weft: lm-apply: no.arpa: "]);
    s.run("weft lm query no.arpa test.txt").fails(2, &["weft: no.arpa: "]);
    s.run("head -n 9 lm.arpa > cut.arpa; weft lm query cut.arpa test.txt").fails(2, &["cut.arpa:10:1: ", "cut off"]);
    s.run("sed 's/^-1.5/1.5/' lm.arpa > p.arpa; weft lm compile p.arpa -o p.bin")
        .fails(2, &["p.arpa:10:1: ", "above 0"]);
    assert!(!s.has("p.bin") && !s.has("o.fst"));
    s.run("weft lm compile lm.arpa -o lm.bin; head -c 900 lm.bin > cut.bin; weft lm info cut.bin")
        .fails(2, &["cut off"]);
    let fails = s.run("cp a.txt lats/2.fst; weft lm apply --lm lm.arpa 'lats/?.fst' -o 'o/?.fst' --range 1:3");
    fails.fails(1, &["lats/2.fst", "1 of 3 inputs failed"]);
    assert!(s.has("o/1.fst") && s.has("o/3.fst") && !s.has("o/2.fst"));
}
