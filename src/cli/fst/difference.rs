use clap::Args;

use super::compose::ProductOptions;
use super::io::Binary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::difference::difference;
use crate::map_fst2;

/// Subtract an unweighted, deterministic, epsilon-free acceptor from an acceptor
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:\n  weft fst map --map-type rmweight acc.fst | weft fst determinize -o d.fst\n  weft fst difference acc.fst d.fst rest.fst"
)]
pub struct Cmd {
    #[command(flatten)]
    options: ProductOptions,
    #[command(flatten)]
    io: Binary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let a = env.get(self.io.a())?;
        let b = env.get(self.io.b())?;
        let config = self.options.config(Default::default());
        let c = map_fst2!("difference", &*a, &*b, (f, g) => difference(f, g, &config))?;
        env.put(self.io.output(), c)?;
        Ok(Status::Done)
    }
}
