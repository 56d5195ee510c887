//! `weft rescore kbest`: the n best strings or paths of lattices, in order, with their features.

use clap::Args;

use super::lists::{Line, ListArgs, ListFormat, put_list};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::rescore::kbest::{KbestConfig, OP, kbest};
use crate::with_fst;

pub const HELP: &str = "The order is exact: costs are summed in 64 bits, and equal costs come in the same order every time. \
    Weights of any semiring are costs of single paths. A cyclic lattice has n best paths, too, if no cycle has a negative cost; \
    --unique tells strings apart by their words, and each has its best path.\n\n\
    Features: --parts adds the costs of a path in each part that `lm apply --keep-separate` wrote; --rule-features adds up \
    the features of the rules that are the input labels of a rule lattice (`decode --rule-lattices`).\n\n\
    Examples:\n  weft rescore kbest -n 1000 --unique lat.fst\n  \
    weft rescore kbest -n 2 --format strings 'lats/?.fst' --range 1:3 -o best.txt\n  \
    weft lm apply --lm lm.arpa --keep-separate lat.fst -o out.fst\n  \
    weft rescore kbest -n 2 --unique --parts out.parts.far out.fst\n  \
    weft decode --rules h.rules --rule-lattices 'rl/?.fst' --rule-features rl.txt src.txt -o hyp.txt\n  \
    weft rescore kbest -n 3 --rule-features rl.txt 'rl/?.fst' --range 1:2\n\n\
    The fourth prints, of a lattice with \"a c\" and \"b c\":\n\
    \u{20}   0 ||| a c ||| lattice= 0 lm1= -2.01476198 words= -2 ||| -2.01476198\n\
    \u{20}   0 ||| b c ||| lattice= 0 lm1= -7.19557852 words= -2 ||| -7.19557852";

/// List the n best strings of lattices, with costs and features
#[derive(Args, Clone, Debug)]
pub struct Kbest {
    /// How many
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    n: usize,
    /// Distinct strings of words, each by its best path
    #[arg(long)]
    unique: bool,
    /// What a line looks like
    #[arg(long, value_enum, default_value_t)]
    format: ListFormat,
    #[command(flatten)]
    list: ListArgs,
}

impl Kbest {
    /// What can be known to be wrong before any lattice is read.
    pub fn check(&self) -> Result<()> {
        if self.n == 0 {
            return Err(Error::usage("-n 0: expected how many strings to list, from 1 on"));
        }
        if self.list.features() && self.format == ListFormat::Strings {
            return Err(Error::usage("--format strings has no features; drop it, or --parts and --rule-features"));
        }
        Ok(())
    }

    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        self.check()?;
        let fst = env.get(None)?;
        let files = self.list.files(env, &fst)?;
        let config = KbestConfig { n: self.n, unique: self.unique };
        let line = Line { format: self.format, cost: true, number: env.number() };
        put_list(env, OP, &fst, &files, line, |fst| with_fst!(fst, f => kbest(f, &config)))?;
        Ok(Status::Done)
    }
}
