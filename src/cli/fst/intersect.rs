use clap::Args;

use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};

/// Not built yet
#[derive(Args, Clone, Debug)]
pub struct Cmd {}

impl Cmd {
    pub fn run(&self, _env: &mut dyn Env) -> Result<Status> {
        Err(Error::usage("intersect: not built yet"))
    }
}
