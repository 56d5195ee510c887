use clap::Args;

use super::env::Status;
use crate::error::{Error, Result};

#[derive(Args, Debug)]
pub struct FarArgs {}

impl FarArgs {
    pub fn run(&self) -> Result<Status> {
        Err(Error::usage("far: not built yet"))
    }
}
