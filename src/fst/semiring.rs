//! The three weights of the engine: tropical, log and log64, with the arithmetic of OpenFst and exact comparison.
//!
//! They implement rustfst's `Semiring`, so every rustfst automaton and algorithm takes them; unlike rustfst's own weights
//! `==` is exact and agrees with `Hash`. `Weight` adds what hot loops need: infallible arithmetic on `Copy` values.
//! A weight is a cost, −ln p: zero (no path) is +∞, one is 0. NaN and −∞ are not members.

use std::borrow::Borrow;
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};

use rustfst::semirings::{
    DivideType, ReverseBack, Semiring, SemiringProperties, StarSemiring, WeaklyDivisibleSemiring, WeightQuantize,
};

/// OpenFst's default comparison and quantization delta, 1/1024.
pub const DELTA: f32 = 1.0 / 1024.0;
/// OpenFst's default convergence delta of shortest distance, 1e-6.
pub const SHORTEST_DELTA: f32 = 1e-6;

/// What the engine needs of a weight, beyond rustfst's `Semiring`.
pub trait Weight: Semiring + WeaklyDivisibleSemiring + WeightQuantize + Copy + Send + Sync + Default + Display {
    const ZERO: Self;
    const ONE: Self;
    /// OpenFst's name of the arc with this weight: `standard`, `log`, `log64`.
    const ARC_TYPE: &'static str;
    /// OpenFst's name of the weight: `tropical`, `log`, `log64`.
    const WEIGHT_TYPE: &'static str;
    /// a ⊕ b is a or b (the tropical semiring): shortest paths exist.
    const PATH: bool;
    /// Bytes of the weight in OpenFst's binary files.
    const BYTES: usize;

    /// a ⊕ b.
    fn oplus(self, other: Self) -> Self;
    /// a ⊗ b.
    fn otimes(self, other: Self) -> Self;
    /// a ⊘ b: the c with b ⊗ c = a. Dividing by zero gives a non-member (NaN).
    fn odivide(self, other: Self) -> Self;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    /// Equal bit patterns for equal values (−0 is 0): the key to hash or intern a weight by.
    fn key(self) -> u64;
    /// Little-endian read of `BYTES` bytes.
    fn read_le(bytes: &[u8]) -> Self;
    /// Little-endian write into the first `BYTES` bytes.
    fn write_le(self, bytes: &mut [u8]);

    #[inline(always)]
    fn is_zero_w(self) -> bool {
        self.to_f64() == f64::INFINITY
    }
    #[inline(always)]
    fn is_one_w(self) -> bool {
        self.to_f64() == 0.0
    }
    /// Neither NaN nor −∞.
    fn is_member(self) -> bool;
    /// Order of cost; for the tropical semiring OpenFst's natural order.
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.to_f64() < other.to_f64()
    }
    /// OpenFst's `ApproxEqual`: |a − b| ≤ delta, infinities equal to themselves. The sums are rounded to the precision of
    /// the weight, as they are there: with a tiny delta, large costs are equal only if they are the same.
    fn approx_eq(self, other: Self, delta: f32) -> bool;
    /// Rounds to a multiple of `delta`, as OpenFst does; infinities and NaN stay.
    fn quantized(self, delta: f32) -> Self;
}

macro_rules! weight {
    ($(#[$doc:meta])* $name:ident, $float:ty, $arc:literal, $weight:literal, path: $path:literal, plus: $plus:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(transparent)]
        pub struct $name(pub $float);

        impl Default for $name {
            fn default() -> Self {
                Self::ONE
            }
        }
        // Exact, and reflexive for NaN, so that a bad weight is found again instead of multiplying in a table.
        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0 || (self.0.is_nan() && other.0.is_nan())
            }
        }
        impl Eq for $name {}
        impl PartialOrd for $name {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.0.partial_cmp(&other.0)
            }
        }
        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.key().hash(state)
            }
        }
        impl Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                let mut text = String::new();
                crate::format::number::write_g(&mut text, self.0 as f64, f.precision().unwrap_or(9));
                f.write_str(&text)
            }
        }

        impl Weight for $name {
            const ZERO: Self = Self(<$float>::INFINITY);
            const ONE: Self = Self(0.0);
            const ARC_TYPE: &'static str = $arc;
            const WEIGHT_TYPE: &'static str = $weight;
            const PATH: bool = $path;
            const BYTES: usize = size_of::<$float>();

            #[inline(always)]
            fn oplus(self, other: Self) -> Self {
                let plus: fn($float, $float) -> $float = $plus;
                Self(plus(self.0, other.0))
            }
            #[inline(always)]
            fn otimes(self, other: Self) -> Self {
                // Members are > −∞, so ∞ + x = ∞ without a branch.
                Self(self.0 + other.0)
            }
            #[inline(always)]
            fn odivide(self, other: Self) -> Self {
                // ∞ − ∞ is NaN by itself; x − ∞ must not become −∞.
                if other.0 == <$float>::INFINITY { Self(<$float>::NAN) } else { Self(self.0 - other.0) }
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                Self(value as $float)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.0 as f64
            }
            #[inline(always)]
            fn is_member(self) -> bool {
                self.0 > <$float>::NEG_INFINITY
            }
            #[inline(always)]
            fn key(self) -> u64 {
                (self.0 + 0.0).to_bits() as u64
            }
            #[inline(always)]
            fn read_le(bytes: &[u8]) -> Self {
                let mut raw = [0u8; size_of::<$float>()];
                raw.copy_from_slice(&bytes[..size_of::<$float>()]);
                Self(<$float>::from_le_bytes(raw))
            }
            #[inline(always)]
            fn write_le(self, bytes: &mut [u8]) {
                bytes[..size_of::<$float>()].copy_from_slice(&self.0.to_le_bytes());
            }
            #[inline]
            fn approx_eq(self, other: Self, delta: f32) -> bool {
                let delta = delta as $float;
                self.0 <= other.0 + delta && other.0 <= self.0 + delta
            }
            #[inline]
            fn quantized(self, delta: f32) -> Self {
                if !self.0.is_finite() {
                    return self;
                }
                let delta = delta as $float;
                Self((self.0 / delta + 0.5).floor() * delta)
            }
        }

        impl Semiring for $name {
            type Type = $float;
            type ReverseWeight = $name;
            fn zero() -> Self {
                Self::ZERO
            }
            fn one() -> Self {
                Self::ONE
            }
            fn new(value: Self::Type) -> Self {
                Self(value)
            }
            fn plus_assign<P: Borrow<Self>>(&mut self, rhs: P) -> anyhow::Result<()> {
                *self = self.oplus(*rhs.borrow());
                Ok(())
            }
            fn times_assign<P: Borrow<Self>>(&mut self, rhs: P) -> anyhow::Result<()> {
                *self = self.otimes(*rhs.borrow());
                Ok(())
            }
            fn approx_equal<P: Borrow<Self>>(&self, rhs: P, delta: f32) -> bool {
                self.approx_eq(*rhs.borrow(), delta)
            }
            fn value(&self) -> &Self::Type {
                &self.0
            }
            fn take_value(self) -> Self::Type {
                self.0
            }
            fn set_value(&mut self, value: Self::Type) {
                self.0 = value
            }
            fn reverse(&self) -> anyhow::Result<Self> {
                Ok(*self)
            }
            fn properties() -> SemiringProperties {
                let ring = SemiringProperties::SEMIRING | SemiringProperties::COMMUTATIVE;
                if $path { ring | SemiringProperties::PATH | SemiringProperties::IDEMPOTENT } else { ring }
            }
        }
        impl ReverseBack<$name> for $name {
            fn reverse_back(&self) -> anyhow::Result<$name> {
                Ok(*self)
            }
        }
        impl AsRef<$name> for $name {
            fn as_ref(&self) -> &$name {
                self
            }
        }
        impl WeaklyDivisibleSemiring for $name {
            fn divide_assign(&mut self, rhs: &Self, _: DivideType) -> anyhow::Result<()> {
                *self = self.odivide(*rhs);
                Ok(())
            }
        }
        impl WeightQuantize for $name {
            fn quantize_assign(&mut self, delta: f32) -> anyhow::Result<()> {
                *self = self.quantized(delta);
                Ok(())
            }
        }
    };
}

weight!(
    /// (min, +, ∞, 0) over f32: best paths.
    Tropical, f32, "standard", "tropical", path: true, plus: |a, b| if a < b { a } else { b }
);
weight!(
    /// (−ln(e^−x + e^−y), +, ∞, 0) over f32: sums of probabilities.
    Log, f32, "log", "log", path: false, plus: |a, b| {
        if a == f32::INFINITY {
            b
        } else if b == f32::INFINITY {
            a
        } else if a > b {
            (b as f64 - ln_pos_exp((a - b) as f64)) as f32
        } else {
            (a as f64 - ln_pos_exp((b - a) as f64)) as f32
        }
    }
);
weight!(
    /// The log semiring over f64.
    Log64, f64, "log64", "log64", path: false, plus: |a, b| {
        if a == f64::INFINITY {
            b
        } else if b == f64::INFINITY {
            a
        } else if a > b {
            b - ln_pos_exp(a - b)
        } else {
            a - ln_pos_exp(b - a)
        }
    }
);

/// ln(1 + e^−x), x ≥ 0.
#[inline]
fn ln_pos_exp(x: f64) -> f64 {
    (-x).exp().ln_1p()
}

impl StarSemiring for Tropical {
    /// min over n of n·x: 0 for x ≥ 0.
    fn closure(&self) -> Self {
        if self.0 >= 0.0 { Self::ONE } else { Self(f32::NEG_INFINITY) }
    }
}
impl StarSemiring for Log {
    /// −ln(1/(1 − e^−x)) for x > 0.
    fn closure(&self) -> Self {
        if self.0 > 0.0 { Self((-(-self.0 as f64).exp()).ln_1p() as f32) } else { Self(f32::NEG_INFINITY) }
    }
}
impl StarSemiring for Log64 {
    fn closure(&self) -> Self {
        if self.0 > 0.0 { Self((-(-self.0).exp()).ln_1p()) } else { Self(f64::NEG_INFINITY) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_annihilates_and_one_is_neutral() {
        assert_eq!(Tropical(3.0).otimes(Tropical::ZERO), Tropical::ZERO);
        assert_eq!(Log(3.0).oplus(Log::ZERO), Log(3.0));
        assert_eq!(Log64(3.0).otimes(Log64::ONE), Log64(3.0));
        assert!(!Tropical(1.0).odivide(Tropical::ZERO).is_member());
        assert_eq!(Tropical::ZERO.odivide(Tropical(2.0)), Tropical::ZERO);
    }

    #[test]
    fn comparison_is_exact_and_agrees_with_the_key() {
        assert_ne!(Tropical(1.0), Tropical(1.0 + 1e-6));
        assert_eq!(Tropical(0.0), Tropical(-0.0));
        assert_eq!(Tropical(0.0).key(), Tropical(-0.0).key());
        assert!(Tropical(1.0).approx_eq(Tropical(1.0005), DELTA));
        assert!(Tropical::ZERO.approx_eq(Tropical::ZERO, DELTA));
    }

    #[test]
    fn log_sums_probabilities() {
        let half = Log64(2f64.ln());
        assert!(half.oplus(half).to_f64().abs() < 1e-15);
        let star = Log64(2f64.ln()).closure();
        assert!((star.0 + 2f64.ln()).abs() < 1e-12, "1/(1-1/2) = 2");
    }
}
