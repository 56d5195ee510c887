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
