//! Words that mean something elsewhere are words like others in a bag, in every way to find phrases and in both passes; and
//! what is wrong with files is said.

use crate::sandbox::Sandbox;

/// A text with odd words, and a model of it.
fn odd() -> Sandbox {
    let s = Sandbox::empty();
    let line = r"the <eps> of \<eps> and <...> or ||| <s> </s>";
    s.write("text", &format!("{line}\n{line} a\n{line}\n"));
    s.write("w.toml", "Before = 0\n");
    s.run("sed 's/<s>//; s=</s>==' text > plain && weft lm estimate --order 2 --discount-fallback plain -o lm.arpa")
        .ok();
    s.write("bags", "<eps> the\nthe <eps> of \\<eps>\n<...> and or\n||| or <s> </s>\n<s> the\nzzz qqq\n<unk> of\n");
    s
}

fn sorted(text: &str) -> Vec<Vec<String>> {
    let sort = |l: &str| {
        let mut w: Vec<String> = l.split(' ').map(String::from).collect();
        w.sort();
        w
    };
    text.lines().map(sort).collect()
}

#[test]
fn every_word_is_a_word() {
    let s = odd();
    s.run("weft order phrases --text text bags -o p").ok();
    let phrases = s.read("p");
    // The words that have another meaning in the file have a spelling of their own.
    for line in ["the \\<eps> of\t3\n", "and \\<...> or\t3\n", "and <...> or\t3\n", "\\<eps> of \\\\<eps>\t3\n"] {
        assert!(phrases.contains(line), "{line}: {phrases}");
    }
    s.run("weft order index text -o t.idx").ok();
    for overlap in ["", "--overlap=2"] {
        for weights in ["", "--weights w.toml"] {
            let best = |from: &str| {
                let command = format!("weft order {from} {overlap} {weights} --lm lm.arpa --beam inf --nbest 100 bags");
                let all = s.run(&command).ok();
                // Costs of lattices are floats.
                let line = |l: &str| {
                    let fields: Vec<&str> = l.split(" ||| ").collect();
                    let cost: f64 = fields[fields.len() - 1].parse().unwrap();
                    (fields[..fields.len() - 2].join(" ||| "), (cost * 100.0).round() as i64)
                };
                let mut all: Vec<(String, i64)> = all.lines().map(line).collect();
                all.sort();
                all
            };
            let meant = best("--text text");
            assert_eq!(best("--phrases p"), meant);
            assert_eq!(best("--index t.idx"), meant);
            // The same model once more gives the same list.
            assert_eq!(best("--text text --rescore lm.arpa"), meant);
        }
    }
    let best = s.run("weft order --text text --lm lm.arpa --weights w.toml --rescore lm.arpa bags").ok();
    assert_eq!(sorted(&best), sorted(&s.read("bags")));
    assert!(best.starts_with("the <eps>\nthe <eps> of \\<eps>\nand <...> or\n"), "{best}");
    // Parts of sentences, and a lattice with its symbols.
    let parts = s.run("weft order --text text --lm lm.arpa --sentences bags --split 2").ok();
    assert_eq!(sorted(&parts), sorted(&s.read("bags")));
    s.run("weft order --text text --lm lm.arpa --range 2 --lattices 'l/?.fst' bags -o one").ok();
    assert!(s.run("weft fst print --acceptor l/2.fst").ok().contains("\t\\\\<eps>\t"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_word() {
    let s = odd();
    s.write("marked", "\u{feff}of the\n");
    assert_eq!(sorted(&s.run("weft order --text text --lm lm.arpa marked").ok()), [["of", "the"]]);
    s.run("weft order phrases --text text marked -o p").ok();
    assert!(s.read("p").contains("of\t3\n"));
}

#[test]
fn files_that_are_wrong_are_named_with_a_line() {
    let s = odd();
    for (text, why) in [
        ("a <...>\t3\n", "p:1:3: <...> stands between two words"),
        ("a b\t1\n<...> b\t3\n", "p:2:1: <...> stands between two words"),
        ("a <...> b <...> c\t3\n", "p:1:3: <...> stands between two words"),
    ] {
        s.write("p", text);
        s.run("weft order --phrases p --lm lm.arpa bags").fails(2, &[why]);
        s.run("weft order phrases --reduce p").fails(2, &[why]);
    }
    // Counts that are too large for a number stay the largest.
    s.write("p", "of\t18446744073709551615\nof\t2\nthe\t1\n");
    s.write("w.toml", "Before = 0\nLogCount = 1\n");
    s.write("one", "of the\n");
    let list = s.run("weft order --phrases p --orders 1 --lm lm.arpa --weights w.toml --nbest 1 one").ok();
    assert!(list.contains("Rules= -44.36"), "{list}");
    for (text, why) in [
        ("# mine\nPhrase = 1\nFrase = 1\n", "w.toml:3:1: a weight for Frase"),
        ("ClassLM = 1\n", "w.toml:1:1: a weight for ClassLM"),
        ("Phrase = x\n", "w.toml:1:10"),
        ("Phrase = \"x\"\n", "w.toml:1:1: the weight of Phrase"),
    ] {
        s.write("w.toml", text);
        s.run("weft order --text text --lm lm.arpa --weights w.toml bags").fails(2, &[why]);
    }
    for (text, why) in [
        ("of\tc1\nthe\n", "classes:2:1: 1 fields, expected a word, a tab and its class"),
        ("of\tc1\tx\n", "classes:1:1: 3 fields"),
        ("of\tc1\nthe\tc1\nof\tc2\n", "classes:3:1: \"of\" is of class c2 here and of class c1 above"),
        ("of\tc1\n", "none of the classes of classes is in the model lm.arpa"),
        ("", "none of the classes of classes is in the model lm.arpa"),
    ] {
        s.write("classes", text);
        s.run("weft order --text text --lm lm.arpa --class-lm lm.arpa --classes classes bags").fails(2, &[why]);
    }
    s.run("weft order --text - --lm lm.arpa < bags").fails(2, &["both come from standard input"]);
    s.run("weft order --text text --lm lm.arpa --split 3 bags").fails(2, &["--sentences"]);
}

#[test]
fn what_a_file_of_phrases_lacks_is_said() {
    let s = odd();
    s.run("weft order phrases --text text --orders 3-5 bags -o p").ok();
    let said = s.run("weft order --phrases p --orders 3-5 --lm lm.arpa bags 2>&1 > /dev/null").ok();
    assert!(said.contains("note: p has no phrases of lengths 1, 2"), "{said}");
    assert!(said.contains("`weft order phrases --orders 1-5`"), "{said}");
    s.write("none", "");
    let said = s.run("weft order --phrases none --lm lm.arpa bags 2>&1 > /dev/null").ok();
    assert!(
        said.contains("note: none has no phrases") && said.contains("7 with words that the text does not have"),
        "{said}"
    );
    s.run("weft order phrases --no-pairs --text text bags -o p").ok();
    let said = s.run("weft order --phrases p --lm lm.arpa bags 2>&1 > /dev/null").ok();
    assert!(said.contains("no orders of pairs"), "{said}");
    let said = s.run("weft order --text text --orders 4-5 --range 1 --lm lm.arpa bags 2>&1 > /dev/null").ok();
    assert!(said.contains("1 with words that stand alone, for no phrase of these orders has them (bags 1)"), "{said}");
}

/// Where there is no room for a lattice there is a smaller one, and it is said.
#[test]
fn a_lattice_that_is_too_large_is_cut_and_named() {
    let s = odd();
    s.write("nine", "a1 a2 a3 a4 a5 a6 a7 a8 a9\n");
    let run = "weft order --text text --algorithm full --orders 1 --lm lm.arpa nine --nbest 5 --weights w.toml";
    let said = s.run(&format!("{run} --max-memory 150K 2>&1 > list")).ok();
    assert!(said.contains("1 with a smaller lattice than asked for"), "{said}");
    assert!(!s.read("list").is_empty());
    let said = s.run(&format!("{run} 2>&1 > list")).ok();
    assert!(!said.contains("smaller lattice"), "{said}");
    assert_eq!(s.read("list").lines().count(), 5);
}

/// A model may hold a word to be impossible; the bag is answered all the same.
#[test]
fn words_that_cannot_be_are_said_all_the_same() {
    let s = Sandbox::empty();
    s.write("t", "a b c\nc a\n");
    s.write(
        "lm.arpa",
        "\\data\\\nngram 1=6\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-1\t</s>\n-1\ta\n-inf\tb\n-2\tc\n\n\\end\\\n",
    );
    s.write("bags", "a b c a b\nb\na c\n");
    for options in
        ["", "--beam inf --hypotheses 0", "--algorithm full", "--orders 2-3", "--future none", "--rescore lm.arpa"]
    {
        let best = s.run(&format!("weft order --text t --lm lm.arpa {options} bags")).ok();
        assert_eq!(sorted(&best), sorted("a a b b c\nb\na c\n"), "{options}");
    }
}
