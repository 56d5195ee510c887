//! All bags: in parallel, results in order, a failing one named and the others done.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{self, Outputs};
use super::{OrderArgs, threads};
use crate::chart::bag::Bag;
use crate::cli::decode::run::{Sentence, ranges, read_sentences};
use crate::cli::env::Status;
use crate::cli::lm::estimate::Bar;
use crate::error::{Error, Result};
use crate::format::{binary, io, template};
use crate::fst::any::AnyFst;
use crate::order::index::Index;
use crate::order::scan::Scanner;
use crate::order::sentences::split;
use crate::order::table::{NgramTable, Phrases};
use crate::order::{OrderConfig, Ordered, Orderer, Orders, Rung, vocabulary};

pub fn run(args: &OrderArgs, config: OrderConfig) -> Result<Status> {
    let input = args.sentences.as_deref().or(args.bags.as_deref()).unwrap_or("-");
    let lines = read_sentences(input, args.range.as_deref())?;
    let (models, second, weights) = args.load_models()?;
    let phrases = phrases(args, &lines, config.orders, weights.before != 0.0)?;
    let vocab = vocabulary(lines.iter().flat_map(|l| l.text.split_ascii_whitespace()));
    let orderer = Orderer { phrases: &*phrases, models, second, weights, config, vocab };
    order_all(args, &orderer, &lines)
}

fn phrases(args: &OrderArgs, lines: &[Sentence], orders: Orders, pairs: bool) -> Result<Box<dyn Phrases>> {
    if let Some(name) = &args.phrases {
        let table = NgramTable::read(name)?;
        note_missing(name, &table, orders, pairs);
        return Ok(Box::new(table));
    }
    let input = args.sentences.as_deref().or(args.bags.as_deref()).unwrap_or("-");
    if io::is_stdio(input) && args.text.iter().any(|t| io::is_stdio(t)) {
        return Err(Error::usage("bags and text cannot both come from standard input: name a file for one of them"));
    }
    if let Some(name) = &args.index {
        let index = Index::open(name)?;
        if orders.most > index.order {
            crate::cli::say!(
                "weft: note: {name} has phrases of up to {} words; --orders asks for {orders}",
                index.order
            );
        }
        return Ok(Box::new(index));
    }
    let mut bags = vec![];
    for line in lines {
        let tokens: Vec<&str> = line.text.split_ascii_whitespace().collect();
        match args.sentences {
            None => bags.push(Bag::new(tokens)?),
            Some(_) => {
                for part in split(&tokens, args.part()) {
                    bags.push(Bag::new(part.iter().copied())?);
                }
            }
        }
    }
    let bar = Bar::new();
    let orders = Orders { least: 1, most: orders.most };
    let scanned = Scanner::new(&bags, pairs)?.scan(&args.text, orders, threads(args.threads), &bar);
    bar.clear();
    Ok(Box::new(scanned?.0))
}

/// Says what a file of phrases lacks that the search could use. What is longer than all it has may just not be there.
fn note_missing(name: &str, table: &NgramTable, orders: Orders, pairs: bool) {
    let longest = (1..=Orders::MOST).rev().find(|&n| table.has_length(n)).unwrap_or(0);
    let useful = |n: &usize| *n <= 2 || orders.has(*n);
    let missing: Vec<String> =
        (1..longest).filter(useful).filter(|&n| !table.has_length(n)).map(|n| n.to_string()).collect();
    if longest == 0 {
        crate::cli::say!("weft: note: {name} has no phrases: words will stand alone");
    } else if !missing.is_empty() {
        let missing = missing.join(", ");
        let most = orders.most.max(longest);
        crate::cli::say!(
            "weft: note: {name} has no phrases of lengths {missing}, which bags need that others cannot make up; \
             `weft order phrases --orders 1-{most}` writes them"
        );
    }
    if pairs && longest > 0 && !table.has_pairs() {
        crate::cli::say!("weft: note: {name} has no orders of pairs (--no-pairs): the feature Before is left out");
    }
}

/// What a thread made of a bag.
struct Done {
    text: String,
    lattice: Option<AnyFst>,
    failure: Option<String>,
    note: Option<String>,
    ordered: Ordered,
    stats: Option<String>,
}

fn order_all(args: &OrderArgs, orderer: &Orderer, lines: &[Sentence]) -> Result<Status> {
    let numbers: Vec<usize> = lines.iter().map(|l| l.number).collect();
    let mut outputs = Outputs::new(&args.output, args.lattices.as_deref(), &numbers)?;
    let mut counts = Counts::default();
    let bar = progress(lines.len());
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<(usize, Done)>();
    std::thread::scope(|scope| -> Result<()> {
        for _ in 0..threads(args.threads).min(lines.len()) {
            let (send, next) = (send.clone(), &next);
            let work = move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = lines.get(i) else { return };
                    if send.send((i, one(args, orderer, line))).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(64 << 20);
            builder.spawn_scoped(scope, work).map_err(|e| Error::usage(format!("cannot start a thread: {e}")))?;
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        for (i, done) in receive {
            waiting.insert(i, done);
            while let Some(done) = waiting.remove(&turn) {
                counts.add(&done, numbers[turn], &bar);
                if let Err(e) = outputs.accept(numbers[turn], &done.text, done.lattice.as_ref()) {
                    // Nobody reads any more: the other threads need not go on.
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    return Err(e);
                }
                turn += 1;
                bar.inc(1);
            }
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    outputs.finish()?;
    Ok(counts.report(lines.len(), &orderer.config))
}

fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} bags {per_sec} {eta} {msg}");
    ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// One bag; never an error: what goes wrong is in the result.
fn one(args: &OrderArgs, orderer: &Orderer, line: &Sentence) -> Done {
    let mut done = Done {
        text: String::new(),
        lattice: None,
        failure: None,
        note: None,
        ordered: Ordered::default(),
        stats: None,
    };
    if let Err(e) = order(args, orderer, line, &mut done) {
        done.failure = Some(e.to_string());
    }
    if done.text.is_empty() && args.nbest.is_none() {
        done.text.push('\n');
    }
    done
}

fn order(args: &OrderArgs, orderer: &Orderer, line: &Sentence, done: &mut Done) -> Result<()> {
    let begun = Instant::now();
    let tokens: Vec<&str> = line.text.split_ascii_whitespace().collect();
    done.ordered = match args.sentences {
        None => orderer.order(&tokens)?,
        Some(_) => orderer.order_sentence(&tokens, args.part(), args.join.unwrap_or_default())?,
    };
    let d = &done.ordered;
    if args.stats {
        done.stats = Some(format!(
            "bag {}: {} words, {} phrases, {} cells, {} hypotheses, {:?}{}, cost {:.4}, {:.3} s",
            line.number,
            tokens.len(),
            d.phrases,
            d.cells,
            d.hypotheses,
            d.rung,
            if d.exact { ", exact" } else { "" },
            d.answers.first().map_or(0.0, |a| a.cost),
            begun.elapsed().as_secs_f64()
        ));
    }
    done.text = match args.nbest {
        Some(_) => output::nbest(orderer, d, line.number - 1),
        None => d.answers.first().map_or(String::new(), |a| output::words(orderer, &a.words)) + "\n",
    };
    if let Some(dir) = &args.dump {
        done.note = orderer.dump(&tokens, d, &Path::new(dir).join(line.number.to_string()))?;
    }
    if let (Some(name), Some(lattice)) = (&args.lattices, &d.lattice) {
        let fst = output::lattice(orderer, &lattice.whole);
        if template::is_template(name) {
            let file = template::fill(name, &line.number.to_string());
            binary::write(&file, &fst, binary::Container::Vector)?;
        } else {
            done.lattice = Some(fst);
        }
    }
    Ok(())
}

/// What the user is told at the end.
#[derive(Default)]
struct Counts {
    failed: usize,
    exact: usize,
    bigrams: Vec<usize>,
    unigrams: Vec<usize>,
    forced: Vec<usize>,
    wider: Vec<usize>,
    alone: Vec<usize>,
    narrow: Vec<usize>,
    unseen: Vec<usize>,
    cut: Vec<usize>,
}

impl Counts {
    fn add(&mut self, done: &Done, number: usize, bar: &ProgressBar) {
        if let Some(stats) = &done.stats {
            bar.suspend(|| crate::cli::say!("{stats}"));
        }
        if let Some(note) = &done.note {
            bar.suspend(|| crate::cli::say!("weft: bag {number}: {note}"));
        }
        if let Some(why) = &done.failure {
            self.failed += 1;
            bar.suspend(|| crate::cli::say!("weft: bag {number}: {why}"));
            bar.set_message(format!("{} failed", self.failed));
            return;
        }
        self.exact += usize::from(done.ordered.exact);
        match done.ordered.rung {
            Rung::Chosen => {}
            Rung::Bigrams => self.bigrams.push(number),
            Rung::Unigrams => self.unigrams.push(number),
        }
        let d = &done.ordered;
        let lists = [
            (d.forced, &mut self.forced),
            (d.wider, &mut self.wider),
            (d.alone, &mut self.alone),
            (d.narrow, &mut self.narrow),
            (d.unseen, &mut self.unseen),
            (d.cut, &mut self.cut),
        ];
        lists.into_iter().filter(|(is, _)| *is).for_each(|(_, list)| list.push(number));
    }

    fn report(&self, total: usize, config: &OrderConfig) -> Status {
        let say = |numbers: &[usize], what: &str| {
            if !numbers.is_empty() {
                crate::cli::say!("weft: {} {what} (bags {})", numbers.len(), ranges(numbers));
            }
        };
        say(&self.wider, "pruned less, for nothing was left");
        say(&self.bigrams, "with bigrams added");
        say(&self.unigrams, "with all words alone added");
        say(&self.alone, "with words that stand alone, for no phrase of these orders has them");
        say(&self.unseen, "with words that the text does not have");
        say(&self.narrow, "with fewer hypotheses, for these bags are very large (--hypotheses 1000 takes its time)");
        say(&self.cut, "with a smaller lattice than asked for, for it takes more than --max-memory");
        say(&self.forced, "pruned while parsing, for the algorithm takes more than --max-memory, or too long");
        let chosen = total - self.failed - self.bigrams.len() - self.unigrams.len();
        let bags = if total == 1 { "bag" } else { "bags" };
        let failed = if self.failed > 0 { format!("; {} failed", self.failed) } else { String::new() };
        let exact = self.exact;
        crate::cli::say!(
            "weft: {total} {bags}: {chosen} with phrases of orders {}; {exact} searched exactly{failed}",
            config.orders
        );
        if self.failed > 0 { Status::No } else { Status::Done }
    }
}
