//! `weft cascade`: a script of operations over one automaton or thousands, in parallel.

mod env;
pub mod inputs;
mod output;
mod runner;
pub mod script;
mod stages;
mod stats;

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;

use super::claims::Claims;
use super::env::Status;
use crate::error::{Error, Result};
use crate::format::{io, template};
use crate::fst::any::AnyFst;
use env::{Effect, Operands, ProbeEnv};
use inputs::Inputs;
use output::{Final, Output};
use script::Stage;

#[derive(Args, Debug)]
#[command(after_help = "A script has one stage a line, the words of a `weft fst` operation without its input:\n  \
                  compose - lm.fst\n  prune --weight 8\n  shortestpath --nshortest 10 --unique\n  print\n\
                  `-` or no name is the automaton of the stage before; other files are read once.\n\
                  `?` in a file name is the number of the template, the key in the archive, or the\n\
                  input's name without folder and suffix. Three more stages: `lm-apply --lm MODEL`\n\
                  adds the scores of a language model (see `weft lm apply --help`); `save FILE`\n\
                  writes the automaton and passes it on; `printstrings` prints the strings of its\n\
                  paths, best first. `#` begins a comment.\n\n\
                  Exit 0: all done; 1: some inputs failed (each is named); 2: nothing was run.\n\n\
                  Example:\n  \
                  printf 'rmepsilon\\nshortestpath --nshortest 5 --unique\\nprint\\n' > script.weft\n  \
                  weft cascade script.weft a.fst b.fst --stats")]
pub struct CascadeArgs {
    /// Script of stages (`-`: standard input)
    script: String,
    #[command(flatten)]
    run: RunArgs,
}

/// What a cascade runs over, and where its results go.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Automata, templates with `?`, or archives (`-` or nothing: standard input)
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Numbers of a template: 1:10,15 or first:step:last
    #[arg(long, value_name = "RANGE")]
    range: Option<String>,
    /// What the last stage makes: a name with `?`, an archive (.far), or a file if there is one input or text
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Inputs at a time; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Write what every stage made to DIR/INPUT/NN-STAGE.fst and .txt
    #[arg(long, value_name = "DIR")]
    dump: Option<String>,
    /// Print a table of states, arcs, paths and seconds a stage to standard error
    #[arg(long)]
    stats: bool,
    /// Show a bar on a terminal
    #[arg(long)]
    progress: bool,
    /// Before the text of an input, a line `# NAME`
    #[arg(long)]
    keys: bool,
}

impl CascadeArgs {
    pub fn run(&self) -> Result<Status> {
        let inputs = &self.run.inputs;
        if io::is_stdio(&self.script) && (inputs.is_empty() || inputs.iter().any(|i| io::is_stdio(i))) {
            return Err(Error::usage("the script and the input cannot both come from standard input"));
        }
        let (shown, text) = io::read_text(&self.script)?;
        self.run.run(&script::parse(&shown, &text)?)
    }
}

impl RunArgs {
    /// The input as it was named, if there is one name.
    pub fn only_input(&self) -> Option<&str> {
        self.inputs.first().filter(|_| self.inputs.len() == 1).map(String::as_str)
    }

    /// Runs the stages over every input.
    pub fn run(&self, stages: &[Stage]) -> Result<Status> {
        let operands = Operands::default();
        let effects = probe(stages, &operands)?;
        let inputs = Inputs::new(&self.inputs, self.range.as_deref())?;
        check_templates(stages, &effects, &inputs)?;
        let target = self.target(&effects, &inputs)?;
        self.check_outputs(stages, &effects, &inputs, &target)?;

        let cascade = runner::Cascade {
            stages,
            effects: &effects,
            operands: &operands,
            target: &target,
            dump: self.dump.as_deref(),
            stats: self.stats,
        };
        let claims = self.claims(&effects);
        let table = self.stats.then(|| stats::Table::new(stages.len()));
        let begun = std::time::Instant::now();
        let mut output = Output::new(&target, &inputs, self.keys, table, self.progress)?;
        runner::run(&cascade, &inputs, claims, self.threads, &mut output)?;
        let (total, failed, table) = (output.total, output.failed, output.table.take());
        output.finish()?;
        if let Some(table) = table {
            crate::cli::say!("{}", table.show(stages).trim_end());
            crate::cli::say!("{total} inputs, {failed} failed, {:.3} s", begun.elapsed().as_secs_f64());
        }
        if failed > 0 {
            crate::cli::say!("weft: {failed} of {total} inputs failed");
            return Ok(Status::No);
        }
        Ok(Status::Done)
    }

    /// Where the result goes, or why that cannot be known.
    fn target(&self, effects: &[Effect], inputs: &Inputs) -> Result<Final> {
        let many = inputs.count() != Some(1);
        let last = effects.last().cloned().unwrap_or_default();
        let ends_in_text = last.printed && !last.put;
        let makes = last.put || (last.unsure && !last.printed);
        if let Some(name) = self.output.as_deref().filter(|n| !io::is_stdio(n)) {
            let far = name.ends_with(".far") && !template::is_template(name);
            return match (ends_in_text, far) {
                (true, false) => Ok(Final::TextFile(name.into())),
                (true, true) => Err(Error::usage(format!(
                    "{name}: the last stage prints text, and an archive holds automata; name a text file or drop the stage"
                ))),
                (false, true) => Ok(Final::Archive(name.into())),
                (false, false) if many && !template::is_template(name) => Err(Error::usage(format!(
                    "{name}: one file cannot hold the results of several inputs; put `?` in its name or end it in .far"
                ))),
                (false, false) => Ok(Final::AutomatonFile(name.into())),
            };
        }
        let wrote = effects.iter().any(|e| e.printed || !e.outputs.is_empty());
        // A test (`equal - ref.fst`) at the end says yes or no and leaves nothing to write.
        if wrote || !makes {
            return Ok(Final::Nothing);
        }
        if many {
            return Err(Error::usage(
                "nothing says where the results go: end the script in `print` or `save out/?.fst`, \
                 or add -o 'out/?.fst' or -o out.far",
            ));
        }
        if std::io::stdout().is_terminal() {
            return Err(Error::usage(
                "the result is a binary automaton: write it to a file (-o FILE) or end the script in `print`",
            ));
        }
        Ok(Final::Stdout)
    }

    /// No output may be written twice.
    fn check_outputs(&self, stages: &[Stage], effects: &[Effect], inputs: &Inputs, target: &Final) -> Result<()> {
        let many = inputs.count() != Some(1);
        for (stage, effect) in stages.iter().zip(effects) {
            if let Some(name) = effect.outputs.iter().find(|n| many && !template::is_template(n)) {
                return Err(Error::usage(format!(
                    "{}{}: every input would overwrite {name}; put `?` in its name",
                    stage.place, stage.words
                )));
            }
        }
        if matches!(target, Final::Archive(_)) {
            inputs.check_archive_order()?;
        }
        inputs.check_keys_differ(self.claims(effects))
    }

    /// Nobody has any of the files that inputs write under their keys.
    fn claims(&self, effects: &[Effect]) -> Claims {
        let outputs = effects.iter().flat_map(|e| &e.outputs).chain(&self.output).cloned();
        Claims::new(outputs, self.dump.as_deref())
    }
}

/// Runs every stage on nothing, to load what it names and to see what it does; every missing file is reported.
fn probe(stages: &[Stage], operands: &Operands) -> Result<Vec<Effect>> {
    let mut effects: Vec<Effect> = vec![];
    let mut made: Vec<String> = vec![];
    let mut bad = vec![];
    for stage in stages {
        // An operand may be of any semiring, and an automaton of another one is refused; a stage may want symbols, and
        // one with other symbols than its operand's is refused, too.
        let mut effect = None;
        for (arc_type, symbols) in [("standard", false), ("log", false), ("log64", false), ("standard", true)] {
            let mut empty = AnyFst::empty(arc_type)?;
            if symbols {
                empty.set_isyms(Some(Default::default()));
                empty.set_osyms(Some(Default::default()));
            }
            let mut env = ProbeEnv::new(operands, &made, empty);
            let outcome = stage.run(&mut env);
            if !env.missing.is_empty() {
                bad.extend(env.missing.iter().map(|m| format!("{}{}: {m}", stage.place, stage.name)));
                break;
            }
            // What it did before it refused is better than nothing.
            effect = Some(Effect { unsure: outcome.is_err(), ..env.effect });
            if outcome.is_ok() {
                break;
            }
        }
        let effect = effect.unwrap_or_default();
        let reads_nothing = bad.is_empty() && !effect.used && !effect.unsure && effect.templates.is_empty();
        if reads_nothing {
            bad.push(format!(
                "{}{}: this stage does not look at the automaton of the stage before; write `-` where it belongs",
                stage.place, stage.words
            ));
        }
        made.extend_from_slice(&effect.outputs);
        effects.push(effect);
    }
    if let Some(i) = effects.iter().skip(1).position(|e| e.reads_text) {
        let stage = &stages[i + 1];
        bad.push(format!("{}{}: only the first stage can read its input as text", stage.place, stage.name));
    }
    if bad.is_empty() { Ok(effects) } else { Err(Error::usage(bad.join("\n"))) }
}

/// Every file that a stage reads through a template must be there for every input that is.
fn check_templates(stages: &[Stage], effects: &[Effect], inputs: &Inputs) -> Result<()> {
    let mut made: Vec<&str> = vec![];
    let mut read: Vec<(&Stage, &str)> = vec![];
    for (stage, effect) in stages.iter().zip(effects) {
        let fresh = effect.templates.iter().map(String::as_str).filter(|t| !made.contains(t));
        read.extend(fresh.map(|t| (stage, t)));
        made.extend(effect.outputs.iter().map(String::as_str));
    }
    let mut bad = vec![];
    let mut missing = 0;
    let mut there = 0;
    let mut known = 0;
    for (key, file) in inputs.known() {
        known += 1;
        // An input that is not there fails by itself.
        if !Path::new(&file).exists() {
            continue;
        }
        there += 1;
        for (stage, name) in &read {
            let name = template::fill(name, &key);
            if !Path::new(&name).exists() {
                missing += 1;
                if missing <= 10 {
                    bad.push(format!("{}{}: {name}: there is no such file", stage.place, stage.name));
                }
            }
        }
    }
    if missing > 10 {
        bad.push(format!("and {} more files that are not there", missing - 10));
    }
    if known > 0 && there == 0 && inputs.count() == Some(known) {
        let first = inputs.known().next().map(|(_, file)| file).unwrap_or_default();
        bad.push(format!("{first}: there is no such file{}", if known > 1 { ", nor any other input" } else { "" }));
    }
    if bad.is_empty() { Ok(()) } else { Err(Error::usage(bad.join("\n"))) }
}
