use clap::Args;

use super::compose::ProductOptions;
use super::io::Binary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::intersect::intersect;
use crate::map_fst2;

/// Intersect two acceptors: the strings of both, with both weights
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst intersect acc.fst acc.fst both.fst")]
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
        let c = map_fst2!("intersect", &*a, &*b, (f, g) => intersect(f, g, &config))?;
        env.put(self.io.output(), c)?;
        Ok(Status::Done)
    }
}
