use clap::Args;

use super::io::{Unary, weight_text};
use crate::cli::env::{Env, Status};
use crate::error::{Error, Result};
use crate::format::number::weight_from;
use crate::fst::any::AnyFst;
use crate::fst::map::{MapConfig, MapType, map};
use crate::fst::semiring::{DELTA, Log64, Tropical, Weight};

/// Change every arc: weights, labels, semiring, final states
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  weft fst map --map-type superfinal a.fst one-final.fst")]
pub struct Cmd {
    /// What to do
    #[arg(long, value_enum, default_value_t)]
    map_type: MapType,
    /// The step of quantize
    #[arg(long, default_value_t = DELTA)]
    delta: f32,
    /// The exponent of power
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    power: f64,
    /// The weight of plus and times (nothing: changes nothing)
    #[arg(long, value_parser = weight_text, value_name = "WEIGHT", default_value = "", allow_hyphen_values = true)]
    weight: String,
    #[command(flatten)]
    io: Unary,
}

impl Cmd {
    pub fn run(&self, env: &mut dyn Env) -> Result<Status> {
        if !(self.delta > 0.0 && self.delta.is_finite()) {
            return Err(Error::usage(format!("--delta {}: must be a number above 0", self.delta)));
        }
        if !self.power.is_finite() {
            return Err(Error::usage(format!("--power {}: must be a number", self.power)));
        }
        let fst = env.take(self.io.input())?;
        let weight = match (self.weight.as_str(), &fst) {
            ("", _) => None,
            (text, AnyFst::Log64(_)) => Some(weight_from::<Log64>(text).map(|w| w.to_f64())),
            (text, _) => Some(weight_from::<Tropical>(text).map(|w| w.to_f64())),
        };
        let weight = weight.transpose().map_err(|message| Error::usage(format!("--weight: {message}")))?;
        let config = MapConfig { map_type: self.map_type, delta: self.delta, power: self.power, weight };
        env.put(self.io.output(), map(fst, &config))?;
        Ok(Status::Done)
    }
}
