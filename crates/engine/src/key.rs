//! The key of a state: what searches and agents of our own use to tell states apart.
//!
//! Equal states have equal keys. Different ones collide with a probability of about n²/2¹²⁹ among n states, which is said
//! wherever exactness is claimed. A key holds no history and no counters, and is never stored in a file.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A 128-bit fingerprint of a state.
pub type StateKey = u128;

/// The key of anything hashable: XXH3 with 128 bits over what it feeds to a [`Hasher`].
#[inline]
pub fn key_of<T: Hash + ?Sized>(value: &T) -> StateKey {
    let mut hasher = KeyHasher {
        buffer: [0; BUFFER],
        used: 0,
        rest: None,
    };
    value.hash(&mut hasher);
    hasher.key()
}

/// Larger than the state of any game of ours; it is cleared for every key.
const BUFFER: usize = 128;

/// Collects small states in a buffer, which one call hashes; larger ones go through the streaming form.
/// The two forms agree, so a key does not depend on the way it was made.
struct KeyHasher {
    buffer: [u8; BUFFER],
    used: usize,
    rest: Option<Box<Xxh3>>,
}

impl KeyHasher {
    fn key(self) -> StateKey {
        match self.rest {
            None => xxh3_128(&self.buffer[..self.used]),
            Some(mut rest) => {
                rest.update(&self.buffer[..self.used]);
                rest.digest128()
            }
        }
    }
}

impl KeyHasher {
    /// Takes bytes of which there are so many that the buffer is not enough.
    #[cold]
    fn overflow(&mut self, bytes: &[u8]) {
        let rest = self.rest.get_or_insert_with(|| Box::new(Xxh3::new()));
        rest.update(&self.buffer[..self.used]);
        rest.update(bytes);
        self.used = 0;
    }

    /// Takes the bytes of a number: that many are moved in one go.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        match self
            .buffer
            .get_mut(self.used..)
            .and_then(<[u8]>::first_chunk_mut)
        {
            Some(room) => {
                *room = bytes;
                self.used += N;
            }
            None => self.overflow(&bytes),
        }
    }
}

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        match self
            .buffer
            .get_mut(self.used..)
            .and_then(|room| room.get_mut(..bytes.len()))
        {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.used += bytes.len();
            }
            None => self.overflow(bytes),
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.put(number.to_ne_bytes());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.put(number.to_ne_bytes());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.put(number.to_ne_bytes());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.put(number.to_ne_bytes());
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.put(number.to_ne_bytes());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.put(number.to_ne_bytes());
    }

    fn finish(&self) -> u64 {
        unreachable!("a key has 128 bits and is taken with `key`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces<'a>(&'a [u8], usize);

    impl Hash for Pieces<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.chunks(self.1).for_each(|piece| state.write(piece));
        }
    }

    #[test]
    fn numbers_are_their_bytes() {
        let numbers = (
            1_u8,
            0x203_u16,
            0x405_0607_u32,
            0x809_0A0B_0C0D_0E0F_u64,
            u128::MAX / 3,
            77_usize,
            -5_i16,
        );
        let mut bytes = vec![1];
        bytes.extend(numbers.1.to_ne_bytes());
        bytes.extend(numbers.2.to_ne_bytes());
        bytes.extend(numbers.3.to_ne_bytes());
        bytes.extend(numbers.4.to_ne_bytes());
        bytes.extend(numbers.5.to_ne_bytes());
        bytes.extend(numbers.6.to_ne_bytes());
        assert_eq!(key_of(&numbers), xxh3_128(&bytes));
        // Over the end of the buffer, too.
        let many = [numbers; 9];
        assert_eq!(key_of(&Many(&many)), xxh3_128(&bytes.repeat(9)));
    }

    struct Many<'a, T>(&'a [T]);

    impl<T: Hash> Hash for Many<'_, T> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.iter().for_each(|one| one.hash(state));
        }
    }

    #[test]
    fn a_key_is_the_hash_of_the_bytes_however_they_arrive() {
        let bytes: Vec<u8> = (0..2000).map(|index| (index * 7) as u8).collect();
        for length in [0, 1, 511, 512, 513, 1024, 2000] {
            for piece in [1, 3, 64, 700] {
                assert_eq!(
                    key_of(&Pieces(&bytes[..length], piece)),
                    xxh3_128(&bytes[..length]),
                    "{length} {piece}"
                );
            }
        }
    }
}
