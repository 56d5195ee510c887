//! Figure 1 of Xiao et al. 2014: seven rules, one sentence, the derivation h7 h1 h3.

use std::path::Path;

use crate::sandbox::{ROOT, Sandbox};

#[test]
fn the_derivation_of_the_paper() {
    let s = Sandbox::empty();
    std::os::unix::fs::symlink(Path::new(ROOT).join("grammars"), s.path().join("grammars")).unwrap();
    let out = s.run("weft decode --rules grammars/hiero-figure1.rules --derivation grammars/hiero-figure1.txt").ok();
    let want = "he was satisfied with the answer\n\
                \x20 S[0:5] [S] ||| [X,1] ||| [X,1]\t0\n\
                \x20   X[0:5] [X] ||| [X,1] dui [X,2] ganxing manyi ||| [X,1] was satisfied with [X,2]\t0.35\n\
                \x20     X[0:1] [X] ||| ta ||| he\t0.35\n\
                \x20     X[2:3] [X] ||| huida ||| the answer\t0.35\n";
    assert_eq!(out, want);
}
