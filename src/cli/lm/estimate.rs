use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::args::thread_pool;
use crate::cli::env::Status;
use crate::cli::memory::memory_size;
use crate::error::{Error, Result};
use crate::lm::estimate::{Discount, Options, Progress, Smoothing, estimate};

/// Make an n-gram model (an ARPA file) from text
#[derive(Args, Debug)]
#[command(
    long_about = "Make an n-gram model (an ARPA file) from text, one sentence a line.\n\n\
                  Kneser-Ney smoothing (interpolated, modified) gives what KenLM's lmplz gives. Stupid back-off gives \
                  relative frequencies and one back-off weight: scores, not probabilities, for they do not sum to one. \
                  A word that was never seen has the score -99, and backing off from a context that was never seen \
                  costs nothing, as in every ARPA file.",
    after_help = "Examples:\n  weft lm estimate --order 4 train.txt -o lm.arpa\n  \
                  weft lm estimate --order 3 --prune 0 0 1 --memory 500M train.txt -o small.arpa.gz\n  \
                  weft lm estimate --order 3 --smoothing stupid --backoff 0.4 train.txt -o stupid.arpa"
)]
pub struct Cmd {
    /// Texts: plain, gz or zstd (`-` or nothing: standard input)
    #[arg(value_name = "CORPUS")]
    corpora: Vec<String>,
    /// Words of the longest n-grams, 1 to 14
    #[arg(long, value_name = "N")]
    order: usize,
    /// The model to write; .gz and .zst compress (`-` or nothing: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
    /// How what was not seen gets a probability
    #[arg(long, value_enum, default_value_t)]
    smoothing: Kind,
    /// The back-off weight of stupid back-off [default: 0.4]
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    backoff: Option<f32>,
    /// Prune n-grams with counts up to these, for orders 1, 2, ...; the last is for all higher ones
    #[arg(long, value_name = "COUNT", num_args = 1..)]
    prune: Vec<String>,
    /// Prune n-grams with a word that is not in this file
    #[arg(long, value_name = "FILE")]
    vocab: Option<String>,
    /// Take these discounts for counts 1, 2, 3 or more where they cannot be estimated
    #[arg(
        long,
        value_name = "D1,D2,D3",
        value_delimiter = ',',
        num_args = 0..=3,
        require_equals = true,
        default_missing_value = "0.5,1,1.5"
    )]
    discount_fallback: Option<Vec<f32>>,
    /// Take <s>, </s> and <unk> in the text as blanks, not as an error
    #[arg(long)]
    skip_symbols: bool,
    /// Memory to use: 500M, 4G, 50%; what does not fit goes through temporary files
    #[arg(long, value_name = "SIZE", default_value = "50%")]
    memory: String,
    /// Folder of temporary files
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
    /// Threads; 0 is one a processor
    #[arg(short = 'j', long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Interpolated modified Kneser-Ney
    #[default]
    KneserNey,
    /// Relative frequencies and one back-off weight; not normalised
    Stupid,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        let options = self.options()?;
        let pool = thread_pool(self.threads)?;
        let bar = Bar::new();
        let summary = pool.install(|| estimate(&options, &self.output, &bar));
        bar.clear();
        let summary = summary?;
        if self.smoothing == Kind::Stupid {
            crate::cli::say!("weft: note: the scores of stupid back-off are not normalised");
        }
        if summary.skipped {
            crate::cli::say!("weft: note: <s>, </s> or <unk> in the text was taken as a blank");
        }
        for order in &summary.fell_back {
            crate::cli::say!("weft: note: the fallback discounts were taken for {order}-grams");
        }
        Ok(Status::Done)
    }

    fn options(&self) -> Result<Options> {
        match self.smoothing {
            Kind::KneserNey if self.backoff.is_some() => {
                return Err(Error::usage("--backoff is for --smoothing stupid; Kneser-Ney computes its own"));
            }
            Kind::Stupid if self.discount_fallback.is_some() => {
                return Err(Error::usage("--discount-fallback is for Kneser-Ney; stupid back-off has no discounts"));
            }
            _ => {}
        }
        let mut options = Options::new(self.order, self.corpora.clone());
        options.smoothing = match self.smoothing {
            Kind::KneserNey => {
                let fallback = self.discount_fallback.as_deref().map(Discount::from_values).transpose()?;
                Smoothing::KneserNey { fallback }
            }
            Kind::Stupid => Smoothing::Stupid { backoff: self.backoff.unwrap_or(0.4) },
        };
        // `--prune 0 0 1 train.txt`: what is no count is a corpus again.
        let mut rest = self.prune.iter().peekable();
        while let Some(counts) = rest.next_if(|c| c.bytes().all(|b| b.is_ascii_digit() || b == b',')) {
            for count in counts.split(',') {
                let count = count.parse().map_err(|_| Error::usage(format!("--prune {counts}: expected counts")))?;
                options.prune.push(count);
            }
        }
        options.corpora.extend(rest.cloned());
        options.vocabulary = self.vocab.clone();
        options.skip_symbols = self.skip_symbols;
        options.memory = memory_size("--memory", &self.memory)?;
        if let Some(temp) = &self.temp {
            options.temp = temp.clone();
        }
        Ok(options)
    }
}

/// A line on a terminal that tells what is done.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        // indicatif draws on standard error and only if that is a terminal.
        Bar(if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() })
    }
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, steps: Option<u64>) {
        let template = match steps {
            Some(_) => "{msg} {wide_bar} {percent}% {elapsed}",
            None => "{spinner} {msg} {bytes} {elapsed}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.0.set_style(style);
        self.0.reset();
        match steps {
            Some(steps) => self.0.set_length(steps),
            None => self.0.unset_length(),
        }
        self.0.set_message(name.to_string());
    }
    fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}
