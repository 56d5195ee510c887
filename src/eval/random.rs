//! NumPy's random numbers: `default_rng(seed)` with `integers`, bit for bit.
//!
//! PCG64 (O'Neill 2014: a 128-bit linear congruential generator, output XSL-RR) seeded by NumPy's SeedSequence; whole numbers below
//! a bound by Lemire's method (2019) on 32 bits, two from one output, the low half first. So that resampling here takes the very
//! samples that sacreBLEU takes.

/// `numpy.random.default_rng(seed)`.
#[derive(Clone, Debug)]
pub struct NumpyRng {
    state: u128,
    increment: u128,
    /// The high half of an output whose low half was taken.
    half: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl NumpyRng {
    pub fn new(seed: u64) -> Self {
        let [a, b, c, d] = seed_sequence(seed);
        let wide = |high: u64, low: u64| (high as u128) << 64 | low as u128;
        let increment = wide(c, d) << 1 | 1;
        let mut rng = NumpyRng { state: 0, increment, half: None };
        rng.step();
        rng.state = rng.state.wrapping_add(wide(a, b));
        rng.step();
        rng
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    pub fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    pub fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// `integers(bound)`: a number from 0 to `bound` - 1; `bound` is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound == 1 {
            return 0;
        }
        let mut product = self.next_u32() as u64 * bound as u64;
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = self.next_u32() as u64 * bound as u64;
            }
        }
        (product >> 32) as u32
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_sequence(seed: u64) -> [u64; 4] {
    let mut constant = 0x43b0_d7e5u32;
    let mut hash = |value: u32| {
        let mut value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        value = value.wrapping_mul(constant);
        value ^ value >> 16
    };
    let mix = |x: u32, y: u32| {
        let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
        mixed ^ mixed >> 16
    };
    // A seed below 2^32 is one word; what is missing is 0 either way.
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(&mut hash);
    for from in 0..4 {
        for to in 0..4 {
            if from != to {
                pool[to] = mix(pool[to], hash(pool[from]));
            }
        }
    }
    let mut constant = 0x8b51_f9ddu32;
    let words: [u32; 8] = std::array::from_fn(|i| {
        let mut value = pool[i % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        value = value.wrapping_mul(constant);
        value ^ value >> 16
    });
    std::array::from_fn(|i| words[2 * i] as u64 | (words[2 * i + 1] as u64) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What NumPy 2.4 says.
    #[test]
    fn numbers_are_numpys() {
        let cases: [(u64, [u32; 6], u128, [u32; 5]); 4] = [
            (
                12345,
                [349, 113, 394, 158, 102, 398],
                557595931636473512349,
                [2097645094, 682008066, 2365940964, 950275018, 2392096371],
            ),
            (
                0,
                [425, 318, 255, 134, 153, 20],
                620492423663192277599,
                [2551872677, 1910885061, 1533409439, 809360140, 923488268],
            ),
            (
                1,
                [236, 255, 377, 475, 17, 72],
                710417717323198817535,
                [1535464873, 2851391088, 104557657, 2845948340, 935494355],
            ),
            (
                1099511627793,
                [412, 168, 393, 132, 388, 262],
                947012484819712197514,
                [2472096122, 2361330306, 792377058, 2329052396, 1577116263],
            ),
        ];
        for (seed, below500, bits, below3e9) in cases {
            let mut rng = NumpyRng::new(seed);
            assert_eq!(below500, std::array::from_fn(|_| rng.below(500)));
            // integers(2, size=70, dtype=bool): bits of 32-bit numbers, the lowest first.
            let mut rng = NumpyRng::new(seed);
            let words = (0..3).fold(0, |all, i| all | (rng.next_u32() as u128) << (32 * i));
            assert_eq!(bits, words & ((1 << 70) - 1));
            let mut rng = NumpyRng::new(seed);
            assert_eq!(below3e9, std::array::from_fn(|_| rng.below(3_000_000_000)));
        }
    }
}
