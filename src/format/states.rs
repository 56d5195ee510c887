//! The states of a `const` automaton: where the arcs of each begin, and its final weight.
//!
//! In the file a state is a weight, its first arc, how many arcs it has and two counts of epsilons: five words, or six
//! where the weight has two. An automaton needs the weight and the first arc, in arrays of their own. The arcs of each
//! state must begin where those of the state before end. A file has nearly as many states as arcs, so this is done
//! four at a time where the machine is x86-64: four states are a square of 4 × 4 words, which is turned over.

use super::bytes::{ByteSource, Plain};
use crate::error::Result;
use crate::fst::flat::Arc;
use crate::fst::semiring::Weight;
use std::mem::MaybeUninit;

/// What was read of the states so far.
pub(super) struct ConstStates<W> {
    pub finals: Vec<W>,
    pub offsets: Vec<u32>,
    /// Every final weight is one: not NaN, not minus infinity.
    pub finals_good: bool,
    /// Arcs of the states so far.
    expected: u64,
    /// The first state whose arcs are elsewhere.
    wrong: Option<usize>,
}

impl<W: Weight + Plain> ConstStates<W> {
    fn with_room(room: usize) -> Self {
        ConstStates {
            finals: Vec::with_capacity(room),
            offsets: Vec::with_capacity(room + 1),
            finals_good: true,
            expected: 0,
            wrong: None,
        }
    }

    /// A state is `N` words: weight, first arc, number of arcs, two counts of epsilons. They pass through `memory`.
    pub fn read<const N: usize>(
        source: &mut ByteSource,
        num_states: u64,
        num_arcs: u64,
        memory: &mut [MaybeUninit<Arc<W>>],
    ) -> Result<Self>
    where
        Arc<W>: Plain,
    {
        let room = source.reservable(num_states, 4 * N as u64);
        let mut states = ConstStates::with_room(room);
        source.pieces::<[u32; N], _>(num_states, "the states", memory, |piece| states.push_all(piece))?;
        states.finished(source, num_arcs)
    }

    /// The same where the numbers behind the weight have not four bytes but `index`: `const8`, `const16`, `const64`.
    pub fn read_wide(source: &mut ByteSource, num_states: u64, num_arcs: u64, index: usize) -> Result<Self> {
        let pos_at = W::BYTES.next_multiple_of(index);
        let size = (pos_at + 4 * index).next_multiple_of(W::BYTES.max(index));
        let room = source.reservable(num_states, size as u64);
        let mut states = ConstStates::with_room(room);
        source.records(num_states, size, "the states", |bytes| {
            let number = |at: usize| {
                let mut word = [0u8; 8];
                word[..index].copy_from_slice(&bytes[at..at + index]);
                u64::from_le_bytes(word)
            };
            states.push_one(W::read_le(bytes), number(pos_at), number(pos_at + index));
        })?;
        states.finished(source, num_arcs)
    }

    /// All states were read: do they have as many arcs as the header says?
    fn finished(mut self, source: &ByteSource, num_arcs: u64) -> Result<Self> {
        if let Some(s) = self.wrong {
            return Err(source.error(format!("the arcs of state {s} are not where they should be")));
        }
        let expected = self.expected;
        if expected != num_arcs {
            return Err(source.error(format!("the states have {expected} arcs together, the header says {num_arcs}")));
        }
        self.offsets.push(num_arcs as u32);
        Ok(self)
    }

    fn push_all<const N: usize>(&mut self, piece: &[[u32; N]]) {
        self.finals.reserve(piece.len());
        self.offsets.reserve(piece.len() + 1);
        #[cfg(target_arch = "x86_64")]
        let piece = if W::BYTES == 4 && N == 5 { &piece[self.push_fours(piece)..] } else { piece };
        if !self.push_straight(piece) {
            self.push(piece);
        }
    }

    /// Appends states four at a time, as many as there are fours; none of them, if the arcs of one do not lie behind
    /// those of the one before. Returns how many.
    #[cfg(target_arch = "x86_64")]
    fn push_fours<const N: usize>(&mut self, piece: &[[u32; N]]) -> usize {
        use std::arch::x86_64::*;
        const { assert!(N >= 4) };
        let count = piece.len() / 4 * 4;
        let Ok(first) = i32::try_from(self.expected) else { return 0 };
        if W::BYTES != 4 || count == 0 {
            return 0;
        }
        let finals = self.finals.spare_capacity_mut()[..count].as_mut_ptr().cast::<__m128i>();
        let offsets = self.offsets.spare_capacity_mut()[..count].as_mut_ptr().cast::<__m128i>();
        // SAFETY: SSE2 is part of x86-64. Every load is of the first four words of a state, every store of four words
        // into the room for `count` of them.
        unsafe {
            let mut before = _mm_set_epi32(first, 0, 0, 0);
            let mut apart = _mm_setzero_si128();
            // Words of 2³¹ and more have a sign: none may be there, so that sums cannot wrap.
            let mut large = _mm_setzero_si128();
            let least = _mm_set1_ps(f32::NEG_INFINITY);
            let mut members = _mm_cmpeq_epi32(large, large);
            for k in 0..count / 4 {
                let state = piece.as_ptr().add(4 * k);
                let a = _mm_loadu_si128(state.cast());
                let b = _mm_loadu_si128(state.add(1).cast());
                let c = _mm_loadu_si128(state.add(2).cast());
                let d = _mm_loadu_si128(state.add(3).cast());
                let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
                let weights = _mm_unpacklo_epi64(ab, cd);
                let places = _mm_unpackhi_epi64(ab, cd);
                let counts = _mm_unpacklo_epi64(_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
                let ends = _mm_add_epi32(places, counts);
                let should = _mm_or_si128(_mm_slli_si128(ends, 4), _mm_srli_si128(before, 12));
                apart = _mm_or_si128(apart, _mm_xor_si128(places, should));
                large = _mm_or_si128(large, _mm_or_si128(_mm_or_si128(places, counts), ends));
                before = ends;
                members = _mm_and_si128(members, _mm_castps_si128(_mm_cmpgt_ps(_mm_castsi128_ps(weights), least)));
                _mm_storeu_si128(finals.add(k), weights);
                _mm_storeu_si128(offsets.add(k), places);
            }
            let together = _mm_movemask_epi8(_mm_cmpeq_epi32(apart, _mm_setzero_si128())) == 0xffff;
            if !together || _mm_movemask_ps(_mm_castsi128_ps(large)) != 0 {
                return 0;
            }
            // There was room for all of them, and they have just been written; whatever the bits of a weight, they
            // are one (`Plain`).
            self.finals.set_len(self.finals.len() + count);
            self.offsets.set_len(self.offsets.len() + count);
            self.finals_good &= _mm_movemask_epi8(members) == 0xffff;
            self.expected = u64::from(_mm_cvtsi128_si32(_mm_srli_si128(before, 12)) as u32);
        }
        count
    }

    /// Appends states whose arcs lie one behind the other, as they should; false, and nothing done, if they do not. No sum
    /// from state to state, and no branch: the states are many.
    #[inline]
    fn push_straight<const N: usize>(&mut self, piece: &[[u32; N]]) -> bool {
        let Ok(mut next) = u32::try_from(self.expected) else { return false };
        let (mut straight, mut members) = (true, true);
        let (finals, offsets) = (self.finals.spare_capacity_mut(), self.offsets.spare_capacity_mut());
        for ((words, weight), offset) in piece.iter().zip(finals).zip(offsets) {
            let (pos, count) = (u32::from_le(words[N - 4]), u32::from_le(words[N - 3]));
            straight &= (pos == next) & (pos.wrapping_add(count) >= pos);
            next = pos.wrapping_add(count);
            let w: W = weight_of(words);
            members &= w.is_member();
            weight.write(w);
            offset.write(pos);
        }
        if straight {
            self.expected = u64::from(next);
            self.finals_good &= members;
            // SAFETY: there was room for all of them, and they have just been written.
            unsafe {
                self.finals.set_len(self.finals.len() + piece.len());
                self.offsets.set_len(self.offsets.len() + piece.len());
            }
        }
        straight
    }

    fn push<const N: usize>(&mut self, piece: &[[u32; N]]) {
        for words in piece {
            let (pos, count) = (u32::from_le(words[N - 4]), u32::from_le(words[N - 3]));
            self.push_one(weight_of(words), u64::from(pos), u64::from(count));
        }
    }

    fn push_one(&mut self, weight: W, pos: u64, count: u64) {
        // A state without arcs may carry any position.
        if count > 0 && pos != self.expected && self.wrong.is_none() {
            self.wrong = Some(self.finals.len());
        }
        self.finals_good &= weight.is_member();
        self.finals.push(weight);
        self.offsets.push(self.expected.min(u64::from(u32::MAX)) as u32);
        self.expected = self.expected.saturating_add(count);
    }
}

/// The weight in the first words of a state.
#[inline(always)]
fn weight_of<W: Weight + Plain, const N: usize>(words: &[u32; N]) -> W {
    const { assert!(size_of::<W>() == W::BYTES) };
    let low = u32::from_le(words[0]);
    let bits = u64::from(u32::from_le(words[1])) << 32 | u64::from(low);
    // SAFETY: as many bits as the weight has, and whatever they are, they are one (`Plain`).
    unsafe { if W::BYTES == 4 { std::mem::transmute_copy(&low) } else { std::mem::transmute_copy(&bits) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fst::semiring::Tropical;

    type States = ConstStates<Tropical>;

    fn none() -> States {
        ConstStates::with_room(0)
    }
    fn shown(s: &States) -> (Vec<u32>, &[u32], bool, u64, Option<usize>) {
        (s.finals.iter().map(|w| w.0.to_bits()).collect(), &s.offsets, s.finals_good, s.expected, s.wrong)
    }

    /// However many at a time, the same states, and the same fault is seen.
    #[test]
    fn many_at_a_time_are_as_one_at_a_time() {
        let mut place = 0;
        let sound: Vec<[u32; 5]> = (0..50u32)
            .map(|s| {
                let count = s * s % 7;
                place += count;
                [(s as f32 / 3.0).to_bits(), place - count, count, 77, 88]
            })
            .collect();
        let mut faulty: Vec<Vec<[u32; 5]>> = vec![sound.clone()];
        for at in 0..50 {
            for (word, value) in [
                (1, 1000),
                (1, u32::MAX),
                (2, 9),
                (2, u32::MAX),
                (2, 1 << 31),
                (2, (1 << 31) + 3),
                (0, f32::NAN.to_bits()),
                (0, f32::NEG_INFINITY.to_bits()),
            ] {
                let mut states = sound.clone();
                states[at][word] = value;
                faulty.push(states);
            }
        }
        for states in &faulty {
            let mut slow = none();
            slow.push(states);
            for size in [1, 3, 4, 5, 16, 50] {
                let mut fast = none();
                states.chunks(size).for_each(|piece| fast.push_all(piece));
                assert_eq!(shown(&fast), shown(&slow), "{size}");
            }
        }
    }
}
