//! The discounts of modified Kneser-Ney smoothing (Chen and Goodman 1999, equation 26), with lmplz's conditions and in
//! the single precision that lmplz computes in, so that the same text gives the same digits.

use crate::error::{Error, Result};

/// How many n-grams of an order have each small adjusted count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frequencies {
    n: [u64; 5],
    pub all: u64,
    /// Without the pruned ones.
    pub kept: u64,
}

impl Frequencies {
    #[inline]
    pub fn add(&mut self, count: u64, pruned: bool) {
        self.all += 1;
        self.kept += !pruned as u64;
        if count < 5 {
            self.n[count as usize] += 1;
        }
    }

    /// The discounts of this order, or why there are none.
    pub fn discount(&self, order: usize) -> Result<Discount> {
        let advice = "is this small or artificial data? Deduplicate it, or give --discount-fallback";
        for j in 1..4 {
            if self.n[j] == 0 {
                return Err(Error::op(
                    "lm estimate",
                    format!("no Kneser-Ney discounts for {order}-grams: none has the adjusted count {j}; {advice}"),
                ));
            }
        }
        let y = self.n[1] as f32 / (self.n[1] as f64 + 2.0 * self.n[2] as f64) as f32;
        let mut amount = [0f32; 4];
        for (j, amount) in amount.iter_mut().enumerate().skip(1) {
            let d = j as f32 - (j + 1) as f32 * y * self.n[j + 1] as f32 / self.n[j] as f32;
            if d < 0.0 || d > j as f32 {
                return Err(Error::op(
                    "lm estimate",
                    format!("the Kneser-Ney discount of {order}-grams with count {j} would be {d}; {advice}"),
                ));
            }
            *amount = d;
        }
        Ok(Discount(amount))
    }
}

/// What is taken off adjusted counts 0, 1, 2 and 3 or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discount(pub [f32; 4]);

impl Default for Discount {
    /// What `--discount-fallback` alone stands for.
    fn default() -> Self {
        Discount([0.0, 0.5, 1.0, 1.5])
    }
}

impl Discount {
    pub const NONE: Discount = Discount([0.0; 4]);

    /// From up to three numbers; the last one stands for those left out.
    pub fn from_values(values: &[f32]) -> Result<Self> {
        let mut amount = [0.0; 4];
        if values.is_empty() || values.len() > 3 {
            return Err(Error::usage(
                "the fallback discounts are one to three numbers: for counts 1, 2, and 3 or more",
            ));
        }
        for (j, amount) in amount.iter_mut().enumerate().skip(1) {
            let d = values[(j - 1).min(values.len() - 1)];
            if !(0.0..=j as f32).contains(&d) {
                return Err(Error::usage(format!("the fallback discount of count {j} is {d}, not between 0 and {j}")));
            }
            *amount = d;
        }
        Ok(Discount(amount))
    }

    /// The count without its discount.
    #[inline]
    pub fn apply(&self, count: u64) -> f32 {
        count as f32 - self.0[count.min(3) as usize]
    }
}
