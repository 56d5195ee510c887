//! A table that numbers 64-bit keys in the order they are first seen: the state table of composition and its kin.
//!
//! Open addressing with linear probing over 8-byte slots (a 32-bit tag of the hash, and the number); the keys lie in
//! their own array, in order, and are touched only when tags agree.

pub struct StateTable {
    /// `tag << 32 | number + 1`; 0 is empty.
    slots: Vec<u64>,
    mask: usize,
    keys: Vec<u64>,
}

impl Default for StateTable {
    fn default() -> Self {
        StateTable { slots: vec![0; 1024], mask: 1023, keys: vec![] }
    }
}

#[inline(always)]
fn hash(key: u64) -> u64 {
    // Two rounds of multiply and fold: neighbouring states must not be neighbours in the table by pattern.
    let h = (key ^ (key >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}

impl StateTable {
    pub fn len(&self) -> usize {
        self.keys.len()
    }
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        8 * (self.slots.capacity() + self.keys.capacity())
    }
    #[inline(always)]
    pub fn key(&self, number: u32) -> u64 {
        self.keys[number as usize]
    }
    /// The number of a key, if it was seen.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        let h = hash(key);
        let tag = h & 0xFFFF_FFFF_0000_0000;
        let mut at = h as usize & self.mask;
        while self.slots[at] != 0 {
            let number = (self.slots[at] as u32).wrapping_sub(1);
            if self.slots[at] & 0xFFFF_FFFF_0000_0000 == tag && self.keys[number as usize] == key {
                return Some(number);
            }
            at = (at + 1) & self.mask;
        }
        None
    }
    /// The number of a key; a new key gets the next number.
    #[inline]
    pub fn number(&mut self, key: u64) -> u32 {
        let h = hash(key);
        let tag = h & 0xFFFF_FFFF_0000_0000;
        let mut at = h as usize & self.mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if slot & 0xFFFF_FFFF_0000_0000 == tag {
                let number = slot as u32 - 1;
                if self.keys[number as usize] == key {
                    return number;
                }
            }
            at = (at + 1) & self.mask;
        }
        let number = self.keys.len() as u32;
        self.slots[at] = tag | (number as u64 + 1);
        self.keys.push(key);
        if self.keys.len() * 2 > self.mask {
            self.grow();
        }
        number
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.mask + 1) * 4;
        self.mask = size - 1;
        self.slots = vec![0; size];
        for (number, &key) in self.keys.iter().enumerate() {
            let h = hash(key);
            let mut at = h as usize & self.mask;
            while self.slots[at] != 0 {
                at = (at + 1) & self.mask;
            }
            self.slots[at] = (h & 0xFFFF_FFFF_0000_0000) | (number as u64 + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keys_in_order_of_appearance() {
        let mut t = StateTable::default();
        for round in 0..2 {
            for k in 0..10_000u64 {
                assert_eq!(t.number((k * k) << 20), k as u32, "round {round}");
            }
        }
        assert_eq!(t.len(), 10_000);
        assert_eq!(t.key(7), 49 << 20);
        assert_eq!((t.find(49 << 20), t.find(1)), (Some(7), None));
    }
}
