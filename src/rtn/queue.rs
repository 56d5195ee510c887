//! A queue of numbers by cost, least first; among equal costs the least number first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cost and number in one integer, so that a comparison is one.
#[derive(Default)]
pub struct Queue {
    heap: BinaryHeap<Reverse<u128>>,
}

const SIGN: u64 = 1 << 63;

impl Queue {
    #[inline]
    pub fn push(&mut self, cost: f64, number: u32) {
        let bits = cost.to_bits();
        // Floats in order, as integers in order.
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        self.heap.push(Reverse((ordered as u128) << 32 | number as u128));
    }
    #[inline]
    pub fn pop(&mut self) -> Option<(f64, u32)> {
        let Reverse(key) = self.heap.pop()?;
        let ordered = (key >> 32) as u64;
        let bits = if ordered & SIGN == 0 { !ordered } else { ordered ^ SIGN };
        Some((f64::from_bits(bits), key as u32))
    }
    pub fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<u128>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_first_whatever_the_sign() {
        let mut queue = Queue::default();
        let costs = [3.5, -1.0, 0.0, f64::INFINITY, -7.25, 1e-300, -0.5];
        costs.iter().zip(0..).for_each(|(&c, i)| queue.push(c, i));
        let mut got = vec![];
        while let Some((cost, number)) = queue.pop() {
            assert_eq!(cost, costs[number as usize]);
            got.push(cost);
        }
        assert!(got.is_sorted(), "{got:?}");
        assert_eq!(got.len(), costs.len());
    }
}
