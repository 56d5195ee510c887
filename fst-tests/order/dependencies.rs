//! The dependency language model: trees read, scored and tuned with.

use crate::sandbox::Sandbox;

const TREES: &str = "# text = the boy sees it\n1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tboy\t_\t_\t_\t_\t3\tnsubj\t_\t_\n\
                     3\tsees\t_\t_\t_\t_\t0\troot\t_\t_\n4\tit\t_\t_\t_\t_\t3\tobj\t_\t_\n\n\
                     1\tit\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2-3\tseesit\t_\t_\t_\t_\t_\t_\t_\t_\n2\tsees\t_\t_\t_\t_\t0\troot\t_\t_\n\
                     3\tthe\t_\t_\t_\t_\t4\tdet\t_\t_\n4\tboy\t_\t_\t_\t_\t2\tobj\t_\t_\n";

#[test]
fn a_model_is_estimated_and_changes_the_best() {
    let s = Sandbox::empty();
    s.write("trees.conllu", TREES);
    s.run("weft order rescore-dep --estimate trees.conllu -o dep.arpa").ok();
    assert!(s.read("dep.arpa").contains("sees/L boy"));
    s.write("nbest.txt", "0 ||| it the sees boy ||| LM= -1 ||| -1\n0 ||| the boy sees it ||| LM= -2 ||| -2\n");
    s.write("ref.txt", "the boy sees it\n");
    let odd = "1\tit\t_\t_\t_\t_\t2\tx\t_\t_\n2\tthe\t_\t_\t_\t_\t0\tx\t_\t_\n3\tsees\t_\t_\t_\t_\t4\tx\t_\t_\n4\tboy\t_\t_\t_\t_\t2\tx\t_\t_\n\n";
    let good = TREES.split_once("\n\n").unwrap().0;
    s.write("hyps.conllu", &format!("{odd}{good}\n\n"));
    let run = "weft order rescore-dep --model dep.arpa --parses hyps.conllu";
    assert_eq!(s.run(&format!("{run} --lambda 0 nbest.txt")).ok(), "it the sees boy\n");
    assert_eq!(s.run(&format!("{run} --lambda 5 nbest.txt")).ok(), "the boy sees it\n");
    let said = s.run(&format!("{run} --tune ref.txt nbest.txt"));
    assert!(said.err.contains("BLEU 100.00"), "{said:?}");
    assert_eq!(said.ok(), "the boy sees it\n");
    assert!(s.run(&format!("{run} --lists nbest.txt")).ok().lines().all(|l| l.contains("Dependency= -")));
    s.write("hyps.conllu", odd);
    s.run(&format!("{run} nbest.txt")).fails(2, &["hyps.conllu has 1 trees, but nbest.txt has 2 lines"]);
    s.write("hyps.conllu", "1\tit\t_\t_\t_\t_\t7\tx\t_\t_\n\n");
    s.run(&format!("{run} nbest.txt")).fails(2, &["hyps.conllu:1:1: word 1 has the head 7"]);
    s.write("hyps.conllu", "1\tit\tx\n\n");
    s.run(&format!("{run} nbest.txt")).fails(2, &["hyps.conllu:1:1: 3 columns"]);
}

/// Lists of two sentences with their trees, and a model.
fn two_lists() -> (Sandbox, String) {
    let s = Sandbox::empty();
    s.write("trees.conllu", TREES);
    s.run("weft order rescore-dep --estimate trees.conllu trees.conllu -o dep.arpa").ok();
    s.write("nbest.txt", "0 ||| the boy sees it ||| LM= -1 ||| -1\n1 ||| it sees the boy ||| LM= -2 ||| -2 ||| 0-0\n");
    (s, "weft order rescore-dep --model dep.arpa --parses hyps.conllu".into())
}

#[test]
fn trees_of_other_sentences_are_refused() {
    let (s, run) = two_lists();
    s.write("hyps.conllu", TREES);
    assert_eq!(s.run(&format!("{run} nbest.txt")).ok(), "the boy sees it\nit sees the boy\n");
    let (first, second) = TREES.split_once("\n\n").unwrap();
    let tries = [
        (
            format!("{second}\n{first}\n"),
            "hyps.conllu:1:1: tree 1 is not of line 1 of nbest.txt: word 1 is \"it\" in the tree and \"the\" there",
        ),
        (
            TREES.replace("\tboy\t", "\tBoy\t"),
            "hyps.conllu:2:1: tree 1 is not of line 1 of nbest.txt: word 2 is \"Boy\"",
        ),
        (format!("{TREES}\n{first}\n"), "hyps.conllu:14:1: tree 3, but nbest.txt has 2 lines with words"),
        (TREES.replace("3\tnsubj", "2\tnsubj"), "hyps.conllu:3:1: word 2 is its own head"),
        (TREES.replace("0\troot", "1\troot"), "is its own head, or that of its heads"),
        (TREES.trim_end_matches("\t_\n").into(), "hyps.conllu:11:1: 9 columns, expected the ten of CoNLL-U"),
    ];
    for (trees, message) in tries {
        s.write("hyps.conllu", &trees);
        s.run(&format!("{run} nbest.txt")).fails(2, &[message]);
    }
}

#[test]
fn lists_keep_their_places() {
    let (s, run) = two_lists();
    s.write("hyps.conllu", TREES);
    let whole = s.run(&format!("{run} --lists nbest.txt")).ok();
    assert!(whole.lines().nth(1).is_some_and(|l| l.ends_with(" ||| 0-0")), "{whole}");
    s.write(
        "gap.txt",
        "1 ||| the boy sees it ||| LM= -1 ||| -1\n3 ||| it sees the boy ||| LM= -2 ||| -2\n4 |||  ||| LM= 0 ||| 0\n",
    );
    let gap = s.run(&format!("{run} gap.txt"));
    assert!(gap.err.contains("2 lists are missing"), "{gap:?}");
    assert_eq!(gap.ok(), "\nthe boy sees it\n\nit sees the boy\n\n");
    s.write("back.txt", "1 ||| the boy sees it ||| LM= -1 ||| -1\n0 ||| it sees the boy ||| LM= -2 ||| -2\n");
    s.run(&format!("{run} back.txt")).fails(2, &["back.txt:2:1: list 0 after list 1"]);
    s.write("nan.txt", "0 ||| the boy sees it ||| LM= -1 ||| NaN\n");
    s.run(&format!("{run} nan.txt")).fails(2, &["nan.txt:1:38: the score is \"NaN\""]);
    s.write("none.txt", "");
    s.run(&format!("{run} none.txt")).fails(2, &["none.txt: no lists"]);
    s.write("words.txt", "the boy sees it\nthe boy sees the boy\nit sees\n");
    s.run("weft lm estimate --order 2 --discount-fallback words.txt -o words.arpa").ok();
    s.run("weft order rescore-dep --model words.arpa --parses hyps.conllu nbest.txt")
        .fails(2, &["no dependency language model"]);
    s.run("weft order rescore-dep --estimate trees.conllu --lambda 1 -o x.arpa").fails(2, &["--lambda"]);
}
