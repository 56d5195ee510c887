//! `weft demo`: the road from aligned text to translations on data that is inside the program, every command shown as a
//! user would type it.

use std::path::Path;
use std::time::Instant;

use clap::{Args, Parser};

use super::Weft;
use super::env::{ProcessEnv, Status};
use crate::error::{Error, Result};
use crate::format::io;

/// From aligned text to translations on shipped data, every command shown
#[derive(Args, Debug)]
#[command(
    after_help = "Six thousand English-Japanese sentence pairs (Tanaka corpus, CC BY 2.0 FR) become rules and a language model, with\n\
                  which twenty other sentences are translated; one lattice and one derivation are shown. All files stay in the\n\
                  folder, and every command can be given again.\n\n\
                  Example:\n  weft demo demo-files"
)]
pub struct DemoArgs {
    /// Folder for the files
    #[arg(value_name = "DIR", default_value = "weft-demo")]
    folder: String,
}

/// Name and bytes of every shipped file.
const FILES: [(&str, &[u8]); 5] = [
    ("train.en.gz", include_bytes!("../../grammars/enja/train.en.gz")),
    ("train.ja.gz", include_bytes!("../../grammars/enja/train.ja.gz")),
    ("train.align.gz", include_bytes!("../../grammars/enja/train.align.gz")),
    ("test.en", include_bytes!("../../grammars/enja/test.en")),
    ("test.ja", include_bytes!("../../grammars/enja/test.ja")),
];

/// The sentence whose lattice is shown.
const SHOWN: &str = "6";

impl DemoArgs {
    pub fn run(&self) -> Result<Status> {
        let begun = Instant::now();
        let dir = self.folder.trim_end_matches('/');
        if Path::new(dir).is_file() {
            return Err(Error::usage(format!("{dir}: is a file, expected a folder to put the demo's files in")));
        }
        for (name, bytes) in FILES {
            let out = format!("{dir}/{name}");
            // Compressed files are put there as they are.
            std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, e))?;
            std::fs::write(&out, bytes).map_err(|e| Error::io(&out, e))?;
        }
        say("Rules from word-aligned text:");
        shell(&format!(
            "weft rules extract --hiero {dir}/train.en.gz {dir}/train.ja.gz {dir}/train.align.gz -o {dir}/rules.gz"
        ))?;
        say("A language model of the target side:");
        shell(&format!("weft lm estimate --order 4 {dir}/train.ja.gz -o {dir}/lm.arpa"))?;
        say("Only the rules that the sentences need, the best of them:");
        shell(&format!("weft rules filter --input {dir}/test.en --top 20 {dir}/rules.gz -o {dir}/test.rules.gz"))?;
        say("Translations of sentences that were not in the text:");
        let decode = format!("weft decode --rules {dir}/test.rules.gz --lm {dir}/lm.arpa");
        shell(&format!("{decode} {dir}/test.en -o {dir}/hyp.ja"))?;
        let read = |name: &str| io::read_text(&format!("{dir}/{name}")).map(|(_, text)| text);
        let (source, hyp, reference) = (read("test.en")?, read("hyp.ja")?, read("test.ja")?);
        for ((s, h), r) in source.lines().zip(hyp.lines()).zip(reference.lines()).take(6) {
            println!("  {s}\n    {h}\n    ({r})");
        }
        say("How one of them came about, rule by rule, and its lattice:");
        shell(&format!("{decode} --range {SHOWN} --prune 1 --derivation --lattices {dir}/?.fst {dir}/test.en"))?;
        shell(&format!("weft fst print --acceptor {dir}/{SHOWN}.fst"))?;
        println!(
            "\n{:.1} s. Everything is in {dir}/. Next: `weft decode --help`, or add --dump {dir}/dump to see every automaton.",
            begun.elapsed().as_secs_f64()
        );
        Ok(Status::Done)
    }
}

fn say(line: &str) {
    println!("\n{line}");
}

/// Shows a command and runs it in this process.
fn shell(line: &str) -> Result<()> {
    println!("$ {line}");
    let words = line.split_whitespace();
    let weft = Weft::try_parse_from(words).map_err(|e| Error::usage(format!("`{line}`: {e}")))?;
    match weft.run(&mut ProcessEnv::default())? {
        Status::Done => Ok(()),
        Status::No => Err(Error::usage(format!("`{line}` failed"))),
    }
}
