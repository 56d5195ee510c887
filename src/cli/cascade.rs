use clap::Args;

use super::env::Status;
use crate::error::{Error, Result};

#[derive(Args, Debug)]
pub struct CascadeArgs {}

impl CascadeArgs {
    pub fn run(&self) -> Result<Status> {
        Err(Error::usage("cascade: not built yet"))
    }
}
