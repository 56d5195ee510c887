//! Are the arcs of an automaton sound? Every one goes to a state that is there, with labels and a weight that may be.
//!
//! An arc with a 32-bit weight is four words, and sound if each lies below a bound: the labels below 2³² − 1 (−1 is
//! reserved), the state below the number of states, and the weight, if it has no sign, not above infinity, where the NaNs
//! begin. So it is enough to know the largest of each word: one operation for two arcs where the machine has AVX2, which
//! is as fast as memory. Where a weight has a sign, the largest as a signed word is looked for, too: minus infinity and
//! the NaNs with a sign are the largest words of all. Elsewhere, and with 64-bit weights, arcs are looked at one by one.

use super::bytes::Plain;
use crate::fst::flat::{Arc, NO_LABEL};
use crate::fst::semiring::Weight;

/// True if every arc goes to one of `n` states, with labels and a weight that may be.
#[inline]
pub fn good<W: Weight>(arcs: &[Arc<W>], n: usize) -> bool
where
    Arc<W>: Plain,
{
    #[cfg(target_arch = "x86_64")]
    if W::BYTES == 4 && size_of::<Arc<W>>() == 16 && is_x86_feature_detected!("avx2") {
        let (pairs, rest) = arcs.as_chunks::<2>();
        // SAFETY: two arcs are eight words, of no more than their alignment, and words may be anything.
        let words: &[[u32; 8]] = unsafe { std::slice::from_raw_parts(pairs.as_ptr().cast(), pairs.len()) };
        // SAFETY: the machine has AVX2.
        return unsafe { wide(words, n) } && one_by_one(rest, n);
    }
    one_by_one(arcs, n)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(pairs: &[[u32; 8]], n: usize) -> bool {
    let most = largest::<false>(pairs);
    let word = |i: usize| most[i].max(most[i + 4]);
    let infinity = f32::INFINITY.to_bits();
    if pairs.is_empty() {
        return true;
    }
    if word(0) == NO_LABEL as u32 || word(1) == NO_LABEL as u32 || word(3) as usize >= n {
        return false;
    }
    if word(2) <= infinity {
        return true;
    }
    let signed = largest::<true>(pairs);
    word(2) < f32::NEG_INFINITY.to_bits() && (signed[2] as i32).max(signed[6] as i32) <= infinity as i32
}

/// The largest of each of the eight words, as words with a sign or without.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn largest<const SIGNED: bool>(pairs: &[[u32; 8]]) -> [u32; 8] {
    use std::arch::x86_64::*;
    // No iterators and closures over them: what is not inlined here loses the registers.
    macro_rules! max {
        ($a:expr, $b:expr) => {
            if SIGNED { _mm256_max_epi32($a, $b) } else { _mm256_max_epu32($a, $b) }
        };
    }
    macro_rules! look {
        ($most:ident, $pair:expr) => {
            // SAFETY: eight words, wherever they lie.
            $most = max!($most, unsafe { _mm256_loadu_si256($pair.as_ptr().cast()) })
        };
    }
    // Eight at a time, so that none waits for the one before.
    let least = _mm256_set1_epi32(if SIGNED { i32::MIN } else { 0 });
    let (mut a, mut b, mut c, mut d) = (least, least, least, least);
    let (mut e, mut f, mut g, mut h) = (least, least, least, least);
    let (eights, rest) = pairs.as_chunks::<8>();
    for eight in eights {
        look!(a, eight[0]);
        look!(b, eight[1]);
        look!(c, eight[2]);
        look!(d, eight[3]);
        look!(e, eight[4]);
        look!(f, eight[5]);
        look!(g, eight[6]);
        look!(h, eight[7]);
    }
    for pair in rest {
        look!(a, pair);
    }
    let all = max!(max!(max!(a, b), max!(c, d)), max!(max!(e, f), max!(g, h)));
    let mut words = [0u32; 8];
    // SAFETY: a place of eight words.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), all) };
    words
}

fn one_by_one<W: Weight>(arcs: &[Arc<W>], n: usize) -> bool {
    let bad = |a: &Arc<W>| {
        (a.nextstate as usize >= n) as u32
            | (a.ilabel == NO_LABEL) as u32
            | (a.olabel == NO_LABEL) as u32
            | !a.weight.is_member() as u32
    };
    arcs.iter().fold(0, |any, a| any | bad(a)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::{Log, Log64, Tropical};

    fn says<W: Weight>(weights: &[f64])
    where
        Arc<W>: Plain,
    {
        let n = 10;
        for count in 0..37 {
            let sound: Vec<Arc<W>> =
                (0..count).map(|i| Arc::new(i, i32::MIN, W::from_f64(-3.5), i as u32 % 10)).collect();
            assert!(good(&sound, n), "{count}");
            for at in 0..count as usize {
                let with = |change: &dyn Fn(&mut Arc<W>)| {
                    let mut arcs = sound.clone();
                    change(&mut arcs[at]);
                    assert_eq!(good(&arcs, n), one_by_one(&arcs, n), "{count} {at}");
                    good(&arcs, n)
                };
                assert!(!with(&|a| a.ilabel = -1) && !with(&|a| a.olabel = -1));
                assert!(with(&|a| a.ilabel = -2) && with(&|a| a.olabel = i32::MAX));
                assert!([9, 10, 11, u32::MAX].map(|s| with(&|a| a.nextstate = s)) == [true, false, false, false]);
                for &w in weights {
                    let sound = w > f64::NEG_INFINITY;
                    assert_eq!(with(&|a| a.weight = W::from_f64(w)), sound, "{w}");
                }
            }
        }
    }

    #[test]
    fn every_fault_is_seen_wherever_it_is() {
        let weights =
            [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, f64::MIN, f64::MAX, -1e30, 1e-40];
        let finite: Vec<f64> = weights.iter().map(|w| if w.is_finite() { w.clamp(-3e38, 3e38) } else { *w }).collect();
        says::<Tropical>(&finite);
        says::<Log>(&finite);
        says::<Log64>(&weights);
        assert!(good::<Tropical>(&[], 0));
    }
}
