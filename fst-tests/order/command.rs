//! The command: the paper's example to the letter, threads, parts of sentences, lattices, odd input.

use crate::sandbox::{ROOT, Sandbox};

/// A text and a model of it.
fn with_model() -> Sandbox {
    let s = Sandbox::empty();
    s.run(&format!("zcat {ROOT}/grammars/novels.txt.gz | sed -n 1,3000p > text")).ok();
    s.run("weft lm estimate --order 3 text -o lm.arpa && weft lm compile lm.arpa -o lm.bin").ok();
    s.run(&format!("head -12 {ROOT}/grammars/order/test.en > ref; head -12 {ROOT}/grammars/order/test.bag > bags"))
        .ok();
    s
}

#[test]
fn the_example_of_the_paper() {
    let s = Sandbox::empty();
    let words = ["a", "b", "c", "d", "e"];
    let arpa: String = words.iter().enumerate().map(|(i, w)| format!("-{}\t{w}\n", i + 1)).collect();
    s.write("lm.arpa", &format!("\\data\\\nngram 1=8\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-1\t</s>\n{arpa}\n\\end\\\n"));
    let files =
        format!("--phrases {ROOT}/grammars/order/figure1.phrases --orders 2-5 {ROOT}/grammars/order/figure1.bag");
    for algorithm in ["full", "expand", "parse"] {
        let list = s
            .run(&format!("weft order {files} --lm lm.arpa --algorithm {algorithm} --nbest 10 | cut -d'|' -f4 | sort"))
            .ok();
        assert_eq!(list, " a b d e c \n b a d e c \n d e c a b \n d e c b a \n", "{algorithm}");
    }
    s.run(&format!("weft order {files} --lm lm.arpa --dump dump")).ok();
    assert_eq!(
        s.read("dump/1/grid.txt"),
        "11000 → a b\t1\t0\n11000 → b a\t1\t0\n00111 → d e c\t1\t0\n11111 → 11000 00111\n11111 → 00111 11000\nS → 11111\n"
    );
    assert_eq!(s.read("dump/1/rtn/11000.txt"), "0\t2\ta\n0\t1\tb\n1\t3\ta\n2\t3\tb\n3\n");
    assert_eq!(s.read("dump/1/rtn/00111.txt"), "0\t1\td\n1\t2\te\n2\t3\tc\n3\n");
    assert_eq!(s.read("dump/1/rtn/11111.txt"), "0\t2\t11000\n0\t1\t00111\n1\t3\t11000\n2\t3\t00111\n3\n");
    // Figure 3, below: what the network expands to; another way is OpenFst's replacement of the pointers.
    let list = s.read("dump/1/rtn.txt");
    assert!(list.contains("11111\t4 states\t4 arcs\troot"), "{list}");
    let label = |name: &str| {
        let line = list.lines().find(|l| l.split('\t').nth(1) == Some(name)).unwrap();
        line.split('\t').next().unwrap().to_string()
    };
    let clear = "weft fst symbols --clear-isymbols --clear-osymbols";
    let part = |name: &str| format!("dump/1/rtn/{name}.fst {}", label(name));
    let replace =
        format!("weft fst replace --call_arc_labeling=neither {} {} {}", part("11111"), part("11000"), part("00111"));
    s.run(&format!("{replace} | weft fst rmepsilon | weft fst determinize | {clear} > r.fst")).ok();
    s.run(&format!("{clear} dump/1/lattice.fst > l.fst && weft fst equivalent r.fst l.fst")).ok();
    s.run("weft fst equivalent dump/1/lattice-lm.rules.fst dump/1/lattice.fst").ok();
}

#[test]
fn threads_change_nothing_and_every_answer_is_a_permutation() {
    let s = with_model();
    let run = "weft order --text text --lm lm.bin --hypotheses 60 --nbest 3 --lattices";
    s.run(&format!("{run} one.far -j 1 bags -o one")).ok();
    s.run(&format!("{run} many.far -j 5 bags -o many")).ok();
    assert_eq!(s.bytes("one"), s.bytes("many"));
    assert_eq!(s.bytes("one.far"), s.bytes("many.far"));
    s.run("weft order --text text --lm lm.bin --hypotheses 60 bags -o best").ok();
    let sorted = |text: &str| -> Vec<Vec<String>> {
        let sort = |l: &str| {
            let mut w: Vec<String> = l.split(' ').map(String::from).collect();
            w.sort();
            w
        };
        text.lines().map(sort).collect()
    };
    assert_eq!(sorted(&s.read("best")), sorted(&s.read("bags")));
    // From a file and from an index there are the same phrases, and the same orders of words.
    s.run("weft order phrases --text text bags -o p.gz && weft order --phrases p.gz --lm lm.bin --hypotheses 60 bags -o best2").ok();
    s.write("w.toml", "Before = 0\n");
    s.run("weft order --phrases p.gz --weights w.toml --lm lm.bin --hypotheses 60 bags -o plain").ok();
    s.run("weft order index text -o t.idx && weft order --weights w.toml --index t.idx --lm lm.bin --hypotheses 60 bags -o best3").ok();
    assert_eq!(s.read("best"), s.read("best2"));
    assert_eq!(s.read("plain"), s.read("best3"));
    s.run("weft order --index t.idx --lm lm.bin --hypotheses 60 bags -o best4").ok();
    assert_eq!(s.read("best"), s.read("best4"));
}

#[test]
fn sentences_are_cut_and_put_together() {
    let s = with_model();
    s.write("w.toml", "Before = 0\n");
    let run = "weft order --text text --weights w.toml --lm lm.bin --hypotheses 60 --sentences ref --split 4";
    let whole = s.run(&format!("{run} --lattices 'l/?.fst'")).ok();
    let best = s.run(&format!("{run} --join best")).ok();
    assert_eq!(whole.lines().count(), best.lines().count());
    for (line, meant) in whole.lines().zip(s.read("ref").lines()) {
        let sort = |l: &str| {
            let mut w: Vec<String> = l.split(' ').map(String::from).collect();
            w.sort();
            w
        };
        assert_eq!(sort(line), sort(meant));
    }
    let cost = |text: &str| {
        s.write("scored", text);
        let said = s.run("weft lm query -v sentence lm.bin scored").ok();
        said.lines().map(|l| l.split(' ').nth(1).unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    assert!(
        cost(&whole) >= cost(&best) - 1e-3,
        "the model across the parts can only help: {} {}",
        cost(&whole),
        cost(&best)
    );
    let eval = s.run("weft order --text text --lm lm.bin bags -o out && weft order eval ref out --lattices 'l/?.fst' --json e.json --svg e.svg").ok();
    assert!(eval.contains("lattice oracle") && eval.contains("bag size"), "{eval}");
    assert!(s.read("e.json").contains("\"bleu\"") && s.read("e.svg").contains("<polyline"));
}

#[test]
fn a_second_model_gives_its_own_best() {
    let s = with_model();
    s.run("weft lm estimate --order 2 text -o two.arpa").ok();
    // Short bags, so that nothing need be pruned.
    s.write("w.toml", "Before = 0\n");
    let run = "weft order --text text --weights w.toml --beam inf --hypotheses 0 --range 1,3,12 bags";
    s.run(&format!("{run} --lm two.arpa --rescore lm.bin --nbest 5 -o again")).ok();
    s.run(&format!("{run} --lm lm.bin --nbest 5 -o three")).ok();
    assert_eq!(s.read("again"), s.read("three"));
    s.run(&format!("{run} --lm two.arpa --nbest 5 -o two")).ok();
    assert_ne!(s.read("again"), s.read("two"));
}

#[test]
fn odd_input_has_an_answer() {
    let s = with_model();
    s.write("odd", "\n   \nthe\nxyzzy plugh xyzzy\n<s> the </s> , <eps>\n");
    let out = s.run("weft order --text text --lm lm.bin odd").ok();
    assert_eq!(out.lines().count(), 5);
    assert_eq!(out.lines().nth(2), Some("the"));
    s.write("latin", "");
    s.run("printf 'caf\\351\\n' | weft order --text text --lm lm.bin")
        .fails(2, &["standard input:1:4: not UTF-8 text"]);
    assert_eq!(s.run("weft order --text text --lm lm.bin latin").ok(), "");
    s.run("weft order --text text --lm lm.bin --range 9 odd").fails(2, &["has 5 lines, and no line 9"]);
}

/// Words that mean something in automata and in lists are words like others in every output.
#[test]
fn marks_of_formats_are_words() {
    let s = with_model();
    s.write("odd", "<eps> the ||| of\n");
    let sorted = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.sort_unstable();
        words.join(" ")
    };
    let best = s.run("weft order --text text --lm lm.bin odd").ok();
    assert_eq!(sorted(best.trim_end()), "<eps> of the |||");
    let lists = s.run("weft order --text text --lm lm.bin --nbest 3 --lattices '?.fst' odd").ok();
    for line in lists.lines() {
        let words = line.split(" ||| ").nth(1).unwrap().replace("&#124;&#124;&#124;", "|||");
        assert_eq!(sorted(&words), "<eps> of the |||", "{line}");
    }
    assert_eq!(lists.lines().count(), 3);
    let path = s.run("weft fst shortestpath 1.fst | weft fst print --acceptor").ok();
    assert!(path.contains("\\<eps>"), "{path}");
    s.write("ref", &best);
    s.write("lists", &lists);
    s.run("weft order eval ref --nbest lists").ok();
    let said = s.run("weft order eval ref --lattices '?.fst'").ok();
    assert!(said.contains("100.00  100.00"), "{said}");
    s.write("ref", &format!("{best}{best}"));
    s.run("weft order eval ref --nbest lists")
        .fails(2, &["lists: 1 of 2 references have no list; the first is number 1"]);
}

#[test]
fn models_of_classes_add_up() {
    let s = with_model();
    s.run("weft lm classes --count 20 --least 3 --classed a.txt text -o a.tsv && weft lm estimate --order 3 --discount-fallback a.txt -o a.arpa").ok();
    let run = "weft order --text text --lm lm.bin --hypotheses 60 --nbest 2";
    s.write("half.toml", "ClassLM = 0.25\nClassLM2 = 0.25\n");
    s.write("one.toml", "ClassLM = 0.5\n");
    s.run(&format!(
        "{run} --weights half.toml --class-lm a.arpa --classes a.tsv --class-lm a.arpa --classes a.tsv bags -o two"
    ))
    .ok();
    s.run(&format!("{run} --weights one.toml --class-lm a.arpa --classes a.tsv bags -o one")).ok();
    s.run(&format!("{run} bags -o none")).ok();
    let sentences = |file: &str| s.run(&format!("cut -d'|' -f4 {file}")).ok();
    assert_eq!(sentences("two"), sentences("one"));
    assert_ne!(sentences("none"), sentences("one"));
    assert!(s.read("two").contains("ClassLM2= -"));
    s.run(&format!("{run} --class-lm a.arpa --class-lm a.arpa --classes a.tsv bags"))
        .fails(2, &["--class-lm is there 2 times"]);
    s.run(&format!("{run} --class-lm a.arpa bags")).fails(2, &["--classes"]);
}

#[test]
fn rows_of_a_table_have_names() {
    let s = Sandbox::empty();
    s.write("ref", "a b c d e\nf g h i j\n");
    s.write("one", "a b c d e\nj i h g f\n");
    let said = s.run("weft order eval ref one 'GYRO +4g=one'").ok();
    assert!(said.contains("GYRO +4g          2") && said.contains("50.00"), "{said}");
    s.run("weft order eval ref 'GYRO=none'").fails(2, &["none"]);
    s.write("short", "a b c d e\n");
    s.run("weft order eval ref short").fails(2, &["short:2:1: 1 lines, but ref has 2"]);
    s.write("lists", "2 ||| a b ||| LM= -1 ||| -1\n");
    s.run("weft order eval ref --nbest lists")
        .fails(2, &["lists:1:1: number 2, but there are 2 references", "from 0 to 1"]);
    s.run("weft order eval ref one 'a & \"b\"=one' --svg all.svg").ok();
    let drawn = s.read("all.svg");
    assert!(drawn.contains(">one<title>") && drawn.contains(">a &amp; &quot;b&quot;<title>"), "{drawn}");
    // Nothing is shown if something cannot be written.
    for option in ["--svg", "--json"] {
        assert_eq!(s.run(&format!("weft order eval ref one {option} .")).fails(2, &["is a directory"]), "");
    }
}
