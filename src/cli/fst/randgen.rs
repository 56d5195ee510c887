use clap::Args;

use super::io::Unary;
use crate::cli::env::{Env, Status};
use crate::error::Result;
use crate::fst::randgen::{RandGenConfig, Select, randgen};
use crate::map_fst;

/// Random paths
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst randgen --npath 5 --select log_prob --seed 7 a.fst paths.fst")]
pub struct Cmd {
    /// Number of paths
    #[arg(long, default_value_t = 1)]
    npath: u32,
    /// How arcs are chosen
    #[arg(long, value_enum, default_value_t)]
    select: Select,
    /// The same seed gives the same paths
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Paths that get longer are given up
    #[arg(long, default_value_t = i32::MAX as u32)]
    max_length: u32,
    /// A tree weighted by how many paths went where, not single paths
    #[arg(long)]
    weighted: bool,
    /// With --weighted: weights sum to one, not to the number of paths
    #[arg(long)]
    remove_total_weight: bool,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        let config = RandGenConfig {
            npath: self.npath,
            seed: self.seed,
            select: self.select,
            max_length: self.max_length,
            weighted: self.weighted,
            remove_total_weight: self.remove_total_weight,
        };
        let fst = env.get(self.io.input())?;
        let out = map_fst!(&*fst, f => randgen(f, &config))?;
        env.put(self.io.output(), out)?;
        Ok(Status::Done)
    }
}
