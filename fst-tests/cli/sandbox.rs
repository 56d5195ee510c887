//! A folder with the files that examples use, and a shell in it that finds `weft`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Sandbox {
    dir: tempfile::TempDir,
}

/// What a command line said.
#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Said {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }
    /// Failed with this exit code, no panic, and a message that has all these parts.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) -> String {
        assert_eq!(self.code, code, "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in: {}", self.err);
        }
        self.out
    }
}

pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A model of the words of the lattices.
const ARPA: &str = "\\data\\\nngram 1=6\nngram 2=3\n\n\\1-grams:\n-2\t<unk>\n-99\t<s>\t-0.5\n-1\t</s>\n-1\ta\t-0.25\n\
                    -1.5\tb\t-0.5\n-0.5\tc\t-0.125\n\n\\2-grams:\n-0.25\t<s> a\n-0.5\ta c\n-0.125\tc </s>\n\n\\end\\\n";

/// Rules from words a, b, c to words x, y, z, and a model of these.
const RULES: &str = "[X] ||| a ||| x ||| EgivenF=0.5 FgivenE=0.5 ||| 0-0\n[X] ||| a ||| y ||| EgivenF=1.5 FgivenE=0.25 ||| 0-0\n\
                     [X] ||| b ||| y z ||| EgivenF=0.25 FgivenE=1 ||| 0-0 0-1\n[X] ||| c ||| z ||| EgivenF=0.1 ||| 0-0\n\
                     [X] ||| a [X,1] ||| [X,1] x ||| EgivenF=0.75 FgivenE=0.5 ||| 0-1\n\
                     [X] ||| [X,1] b [X,2] ||| [X,2] y [X,1] ||| EgivenF=1 FgivenE=1 ||| 1-1\n";
const HIFST_RULES: &str = "S S_X S_X 0.5\nS X X 0\nX 1 1 0\nX 2 2 0\nX 3 30 0.25\nX 4 40 0.5\nX 3_X 31_X 1.5\n";
const WORDS_ARPA: &str = "\\data\\\nngram 1=6\nngram 2=4\n\n\\1-grams:\n-2\t<unk>\n-99\t<s>\t-0.5\n-1\t</s>\n-1\tx\t-0.25\n\
                          -0.75\ty\t-0.5\n-0.5\tz\t-0.125\n\n\\2-grams:\n-0.25\t<s> y\n-0.5\ty z\n-0.125\tz </s>\n-0.375\tz x\n\n\\end\\\n";

impl Sandbox {
    /// An empty folder.
    pub fn empty() -> Self {
        Sandbox { dir: tempfile::tempdir().unwrap() }
    }

    /// The files of the examples: a.txt, w.syms, pairs.txt, pot.txt, a.fst, b.fst, acc.fst, s.far; lat.fst, lats/1.fst to
    /// 3.fst, b/1.fst to 3.fst, train.txt, test.txt, lm.arpa, big.arpa; h.rules, g.hifst, src.txt, src.idx, words.arpa; train.en, train.ja, train.align, test.en, en.map, ja.map,
    /// rules.gz, counts.txt; words.ref and words2.ref for lats, perms.txt, perms.fst; ref.txt, ref2.txt, hyp1.txt, hyp2.txt, orders.txt; test.bag, en.arpa,
    /// trees.conllu, hyps.conllu, nbest.txt, dev.conllu, dev.nbest, dev.en.
    pub fn new() -> Self {
        let s = Self::empty();
        let names = ["a", "b", "c", "d", "x", "y", "z", "p", "q", "r", "1", "2", "3"];
        let symbols: String = names.iter().enumerate().map(|(i, n)| format!("{n}\t{}\n", i + 1)).collect();
        s.write("w.syms", &format!("<eps>\t0\n{symbols}"));
        // Reads as a transducer with symbols and as an acceptor with numbers and weights.
        s.write("a.txt", "0 1 1 2\n0 1 2 3\n1 2 3 1\n2 0.5\n");
        s.write("a.t", "0 1 a x 1\n0 2 b y 2\n1 3 c z 0.5\n2 3 d z 1\n3 0.25\n");
        s.write("b.t", "0 0 x p 0.1\n0 0 y q 0.2\n0 0 z r\n0\n");
        s.write("acc.t", "0 1 a\n0 1 b\n1 2 c\n2\n");
        s.write("pairs.txt", "1 4\n2 5\n3 6\n");
        s.write("root.t", "0 1 101\n1\n");
        s.write("np.t", "0 1 2\n1\n");
        s.run("for f in root np; do weft fst compile --acceptor $f.t $f.fst; done").ok();
        s.write("train.txt", include_str!("../golden/lm/train.txt"));
        s.write("pot.txt", "0 1\n1 2\n2 0.5\n3 0\n");
        let keep = "--isymbols=w.syms --osymbols=w.syms --keep_isymbols --keep_osymbols";
        s.write("s1.t", "0 1 a\n1 2 c\n2\n");
        s.write("s2.t", "0 1 b\n1 2 c 0.5\n2\n");
        for (name, how) in [("a", ""), ("b", ""), ("acc", "--acceptor"), ("s1", "--acceptor"), ("s2", "--acceptor")] {
            s.run(&format!("weft fst compile {how} {keep} {name}.t {name}.fst")).ok();
        }
        for name in ["lat.fst", "lats/1.fst", "lats/2.fst", "lats/3.fst"] {
            s.run(&format!("mkdir -p lats && cp acc.fst {name}")).ok();
        }
        // Another system, with other numbers for the words.
        s.write("v.syms", "<eps>\t0\nd\t1\nc\t2\na\t3\n");
        s.write("d.t", "0 1 a\n1 2 d\n2 3 c\n3\n");
        let keep = keep.replace("w.syms", "v.syms");
        for n in 1..=3 {
            s.run(&format!("mkdir -p b && weft fst compile --acceptor {keep} d.t b/{n}.fst")).ok();
        }
        s.write("test.txt", "a c\nb c\na d c\n");
        s.write("lm.arpa", ARPA);
        s.write("big.arpa", ARPA);
        s.write("h.rules", RULES);
        s.write("g.hifst", HIFST_RULES);
        s.write("src.txt", "a b\nc b a\n");
        s.write("src.idx", "1 3 4 2\n1 4 2\n");
        s.write("words.arpa", WORDS_ARPA);
        s.write("train.en", "he reads a book\nshe reads a letter\nhe writes a letter\na book\n");
        s.write("train.ja", "彼 は 本 を 読む\n彼女 は 手紙 を 読む\n彼 は 手紙 を 書く\n本\n");
        s.write("train.align", "0-0 1-4 3-2\n0-0 1-4 3-2\n0-0 1-4 3-2\n1-0\n");
        s.write("test.en", "he reads a letter\nshe writes a book\n");
        s.write("ref.txt", "The cat sat on the mat.\nIt was raining again.\nHello\n");
        s.write("ref2.txt", "A cat sat on a mat.\nIt rained once more.\nHello there\n");
        s.write("hyp1.txt", "The cat sat on a mat.\nIt rained again.\nHi\n");
        s.write("hyp2.txt", "cat the on mat.\nagain it was raining\nHello\n");
        s.write("orders.txt", "0 2 3 1\n0 3 2 1\n0 1 2 3\n1 0\n");
        s.write("test.bag", "a he letter reads\na book she writes\n");
        s.run("weft lm estimate --order 2 --discount-fallback train.en -o en.arpa").ok();
        let tree = |he: &str, letter: &str| {
            let rows = [(he, 2), ("reads", 0), ("a", 4), (letter, 2)];
            let row = |(i, (word, head)): (usize, &(&str, usize))| {
                format!("{}\t{word}\t_\t_\t_\t_\t{head}\t_\t_\t_\n", i + 1)
            };
            rows.iter().enumerate().map(row).collect::<String>() + "\n"
        };
        s.write("trees.conllu", &(tree("he", "book") + &tree("she", "letter")));
        for (trees, lists) in [("hyps.conllu", "nbest.txt"), ("dev.conllu", "dev.nbest")] {
            s.write(trees, &(tree("letter", "he") + &tree("he", "letter")));
            s.write(lists, "0 ||| letter reads a he ||| LM= -3 ||| -3\n0 ||| he reads a letter ||| LM= -4 ||| -4\n");
        }
        s.write("dev.en", "he reads a letter\n");
        s.write("en.map", "<eps>\t0\n<s>\t1\n</s>\t2\nbook\t3\nreads\t4\na\t5\n");
        s.write("ja.map", "<eps>\t0\n<s>\t1\n</s>\t2\n本\t3\n読む\t4\nを\t5\n");
        s.write(
            "counts.txt",
            "[X] ||| book ||| 本 ||| Count=2 ||| 0-0\n[X] ||| reads [X,1] ||| [X,1] を 読む ||| Count=1 ||| 0-2\n",
        );
        s.run("weft rules extract --hiero train.en train.ja train.align -o rules.gz").ok();
        s.write("words.ref", "a c\nb c\na c d\n");
        s.write("words2.ref", "a b c\nb c\nc\n");
        s.write("perms.txt", "0.5\t0 2 1\n0.3\t2 0 1\n0.2\t1 0 2\n\n2\t1 0\n1\t0 1\n");
        s.write("perms.t", "0 1 1 0.5\n0 2 2 1\n1 3 2 0.25\n2 3 1\n3 4 3\n1 5 3 0.5\n5 4 2\n4\n");
        s.run("weft fst compile --acceptor perms.t perms.fst").ok();
        s.write("copy.weft", "arcsort\n");
        s.run("weft cascade copy.weft s1.fst s2.fst -o s.far").ok();
        s
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
    pub fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Runs a line of shell here; standard input is empty, and a failure anywhere in a pipe counts.
    pub fn run(&self, line: &str) -> Said {
        let bin = PathBuf::from(env!("CARGO_BIN_EXE_weft"));
        let path = format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("bash")
            .args(["-c", &format!("set -o pipefail\n{line}")])
            .current_dir(self.path())
            .env("PATH", path)
            .stdin(std::process::Stdio::null())
            .output()
            .expect("bash runs");
        Said {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}
