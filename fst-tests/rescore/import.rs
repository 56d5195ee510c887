//! `weft lattice import`: lattices of HTK, Kaldi and Moses, good and bad.

use crate::sandbox::Sandbox;

fn strings(s: &Sandbox, file: &str) -> String {
    s.run(&format!("weft rescore kbest -n 99 --format strings {file}")).ok()
}

#[test]
fn plf_there_and_back() {
    let s = Sandbox::empty();
    // Jumps, quotes of both kinds, backslashes, an epsilon, several scores, Python's last commas or none.
    s.write(
        "in.plf",
        "((('a',0.5,1),('don\\'t',0.25,2),('*EPS*',0.25,1),),((\"b\\\\\",1.0,1)))\n\
         ((('x', 0.5, 0.5, 1,),),)\n",
    );
    s.run("weft lattice import --from plf in.plf -o in.far").ok();
    assert_eq!(strings(&s, "in.far"), "a b\\\t0.693147182\ndon't\t1.38629436\nb\\\t1.38629436\nx\t1.38629436\n");
    s.write("m.plf", "((('a',0.75,1),('it\\'s',0.25,1),),(('b',0.5,1),('*EPS*',0.5,1),),)\n");
    s.run("weft lattice import --from plf m.plf -o m.fst").ok();
    assert_eq!(
        s.run("weft rescore combine --mesh --plf m.fst").ok(),
        s.read("m.plf").replace("('b',0.5,1),('*EPS*',0.5,1)", "('*EPS*',0.5,1),('b',0.5,1)")
    );
    s.write("bad.plf", "((('a',1,1),),)\n\n((('a',1,2),),)\n((('a',-1,1),),)\n((('a',1,0),),)\n((('a,1,1),),)\n((('a',1,1),),) x\n()\n((('a',0.5,1),),)\n");
    let said = s.run("weft lattice import --from plf bad.plf -o 'p/?.fst'");
    let parts = [
        "2: bad.plf:2:1: expected `(`",
        "3: bad.plf:3:10: an arc goes to state 2, but the last one is 1",
        "4: bad.plf:4:8: \"-1\": expected a probability",
        "5: bad.plf:5:10: expected how many states",
        "6: bad.plf:6:4: the quote is not closed",
        "7: bad.plf:7:17: expected the end of the line",
        "8: bad.plf:8:1: the lattice is empty",
        "7 of 9 lattices failed",
    ];
    said.fails(1, &parts);
    assert!(s.has("p/1.fst") && s.has("p/9.fst") && !s.has("p/2.fst"));
    s.run("weft lattice import --from plf in.plf -o one.fst").fails(1, &["cannot hold several"]);
}

#[test]
fn kaldi_lattices_compact_or_not() {
    let s = Sandbox::empty();
    s.write(
        "k.txt",
        "utt-1 \n0 1 the 1.5,20,3_3_4\n0 2 a 2,10,\n1 3 dog 0.5,1,5\n2 3 dog 0.5,1\n3 0.25,0,\n\nutt-2\n0 1 17 a 1,2\n1 2 0 0 1,2\n2\n\n",
    );
    s.run("weft lattice import --from kaldi --acoustic-scale 0.5 k.txt -o k.far").ok();
    assert_eq!(strings(&s, "k.far"), "a dog\t8.25\nthe dog\t12.75\na\t4\n");
    s.write("n.txt", "u\n0 1 2 1,0,\n1\n\n");
    s.write("w.syms", "<eps> 0\na 1\nb 2\n");
    s.run("weft lattice import --from kaldi --symbols w.syms --word-penalty 0.5 n.txt -o n.fst").ok();
    assert_eq!(strings(&s, "n.fst"), "b\t1.5\n");
    s.write("b.txt", "u\n0 1 9 1,0,\n1\n\nv\n0 1 a 1,q\n1\n\nw\n0 1 1 2 3 4\n\nx\ny 1 a 1,1\n\nz\n0 1 1 1,1,\n1\n");
    let said = s.run("weft lattice import --from kaldi --symbols w.syms b.txt -o b.far");
    let parts = [
        "u: b.txt:2:5: the word is not in the symbol table",
        "v: b.txt:6:7: expected two costs",
        "w: b.txt:10:1: expected `from to word",
        "x: b.txt:13:1: expected the number of a state",
        "4 of 5 lattices failed",
    ];
    said.fails(1, &parts);
    assert_eq!(strings(&s, "b.far"), "a\t2\n");
}

#[test]
fn slf_words_on_nodes_or_links() {
    let s = Sandbox::empty();
    let links = "# a comment\nVERSION=1.0\nUTTERANCE=u\nlmscale=2 wdpenalty=-0.5\nN=3 L=3\nI=0 t=0.00\nI=1 t=0.5\nI=2\n\
                 J=0 S=0 E=1 W=the a=-1.5 l=-2\nJ=1 S=0 E=1 W=a a=-1 l=-3\nJ=2 S=1 E=2 W=!NULL a=-0.25 l=0\n";
    s.write("l.slf", links);
    s.run("weft lattice import --from slf l.slf -o l.fst").ok();
    assert_eq!(strings(&s, "l.fst"), "the\t6.25\na\t7.75\n");
    s.run("weft lattice import --from slf --lm-scale 0 --word-penalty 0 --acoustic-scale 2 l.slf -o l.fst").ok();
    assert_eq!(strings(&s, "l.fst"), "a\t2.5\nthe\t3.5\n");
    s.write(
        "n.slf",
        "base=10\nstart=5 end=7\nNODES=3 LINKS=2\nI=5 W=!NULL\nI=6 W=\"New York\"\nI=7 W=!NULL\nJ=0 START=5 END=6 a=-1\nJ=1 START=6 END=7 l=-1\n",
    );
    s.run("weft lattice import --from slf l.slf n.slf -o s.far").ok();
    assert!(strings(&s, "s.far").ends_with("New York\t4.60517025\n"), "{}", strings(&s, "s.far"));
    for (text, parts) in [
        ("N=1 L=2\nI=0\nJ=0 S=0 E=0\n", "x.slf:1:1: L=2, but there are 1"),
        ("I=0\nI=1\nJ=0 S=0 E=9 W=a\n", "x.slf:3:1: the node 9"),
        ("I=0\nI=1\nJ=0 S=0 E=1 W=a a=much\n", "x.slf:3:1: a=much"),
        ("I=0\nI=1\nI=2\nJ=0 S=0 E=2 W=a\n", "x.slf:1:1: 2 nodes could be the start"),
        ("I=0\nI=1 L=word\n", "x.slf:2:1: a node that is a lattice itself"),
        ("I=0\nsome words\n", "x.slf:2:1: expected name=value"),
        ("", "x.slf:1:1: 0 nodes"),
    ] {
        s.write("x.slf", text);
        s.run("weft lattice import --from slf x.slf l.slf -o 'x/?.fst'").fails(1, &[parts, "1 of 2 lattices failed"]);
        assert!(s.has("x/l.fst"));
    }
}

#[test]
fn results_of_one_name_do_not_overwrite_each_other() {
    let s = Sandbox::empty();
    s.write("sa/1.slf", "I=0\nI=1\nJ=0 S=0 E=1 W=a a=-1\n");
    s.write("sb/1.slf", "I=0\nI=1\nJ=0 S=0 E=1 W=b a=-2\n");
    s.write("sb/2.slf", "I=0\nI=1\nJ=0 S=0 E=1 W=c a=-3\n");
    s.run("weft lattice import --from slf sa/1.slf sb/1.slf sb/2.slf -o 'sl/?.fst'").fails(
        1,
        &[
            "weft: 1: sb/1.slf: sa/1.slf (1) and sb/1.slf (1) are both `1`: both would write sl/1.fst",
            "1 of 3 lattices",
        ],
    );
    assert_eq!(strings(&s, "sl/1.fst sl/2.fst"), "a\t1\nc\t3\n");
    s.write(
        "k.txt",
        "u\n0 1 a 1,1\n1\n\nu\n0 1 b 1,2\n1\n\nx/y\n0 1 c 1,3\n1\n\nx_y\n0 1 d 1,4\n1\n\n..\n0 1 e 1,5\n1\n",
    );
    s.run("weft lattice import --from kaldi k.txt -o 'k/?.fst'").fails(
        1,
        &[
            "weft: u: k.txt: k.txt (u) is an input twice: both would write k/u.fst",
            "weft: x_y: k.txt: k.txt (x/y) and k.txt (x_y) are both `x_y`: both would write k/x_y.fst",
            "3 of 5 lattices failed",
        ],
    );
    assert_eq!(strings(&s, "k/u.fst k/x_y.fst"), "a\t2\nc\t4\n");
    s.run("weft lattice import --from kaldi k.txt -o 'e/?/l.fst'").fails(1, &["outside the output folder"]);
    assert!(!s.has("l.fst"));
    s.write("p.plf", "((('a',1,1),),)\n");
    s.run("weft lattice import --from plf p.plf p.plf -o 'p/?.fst'").fails(1, &["p.plf (1) is an input twice"]);
}

/// A cost that is too large, or none at all, is an error: it would take the arc out of the lattice.
#[test]
fn costs_that_are_no_weights() {
    let s = Sandbox::empty();
    let k = "a\n0 1 w 1e300,0\n1\n\nb\n0 1 w 1,2\n1 0,-1e39\n\nc\n0 1 w 3e38,3e38\n0 1 v Infinity,1\n0 1 u 2,2\n1\n\nd\n0 1 v Infinity,1\n0 1 u 2,2\n1\n";
    s.write("k.txt", k);
    s.run("weft lattice import --from kaldi k.txt -o k.far").fails(
        1,
        &[
            "weft: a: k.txt:2:7: the cost 1e300 is too large for 32 bits",
            "weft: b: k.txt:7:3: the cost -1e39 is too large for 32 bits",
            "weft: c: k.txt:10:7: the cost 6e38 is too large for 32 bits",
            "3 of 4 lattices failed",
        ],
    );
    assert_eq!(strings(&s, "k.far"), "u\t4\n");
    s.write("s.txt", "a\n0 1 w 1e300,1\n1\n");
    s.run("weft lattice import --from kaldi --lm-scale=1e100 s.txt -o s.fst").fails(1, &["s.txt:2:7: the cost inf"]);
    s.write("p.plf", "((('a',0.5,1),),)\n((('a',0.5,1),('b',0,1),),)\n");
    s.run("weft lattice import --from plf --lm-scale 1e40 p.plf -o p.far")
        .fails(1, &["1: p.plf:1:12: the cost 6.93", "2 of 2"]);
    s.run("weft lattice import --from plf p.plf -o p.far").ok();
    assert_eq!(strings(&s, "p.far"), "a\t0.693147182\na\t0.693147182\n");
    let links = "I=0\nI=1\nJ=0 S=0 E=1 W=a a=-0.5\nJ=1 S=0 E=1 W=b a=0.5\n";
    for (head, why) in [
        ("VERSION=1.0\nbase=-2\n", "x.slf:2:1: base=-2: expected a number above 0, or 0"),
        ("base=nan\n", "x.slf:1:1: base=nan: expected a number"),
        ("base=inf\n", "x.slf:1:1: base=inf: expected a number"),
        ("base=0\n", "x.slf:4:1: the scores add up to no number"),
        ("base=0 wdpenalty=0\n", "x.slf:1:1: wdpenalty=0 with base=0 is no cost"),
        ("acscale=1e300\n", "x.slf:4:1: the cost 5e299 is too large for 32 bits"),
    ] {
        s.write("x.slf", &format!("{head}{links}"));
        s.run("weft lattice import --from slf x.slf -o x.fst").fails(1, &[why]);
        assert!(!s.has("x.fst"));
    }
    // A probability of 0 is no arc, as before.
    s.write("x.slf", "base=0\nI=0\nI=1\nJ=0 S=0 E=1 W=a a=0\nJ=1 S=0 E=1 W=b a=0.5\n");
    s.run("weft lattice import --from slf x.slf -o x.fst").ok();
    assert_eq!(strings(&s, "x.fst"), "b\t0.693147182\n");
}
