//! State keys: 128-bit fingerprints that identify states in searches and in the built-in agents.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A 128-bit fingerprint of a state.
///
/// Equal states have equal keys. Among n different states, the probability of any collision is
/// about n²/2¹²⁹; results that claim to be exact state the assumption that no collision occurs. A
/// key depends only on the state, not on how the play reached that state.
///
/// **Invariant:** keys are compared within one process and never stored in files, because they
/// depend on the byte order of the platform and on the way in which the state type feeds its fields
/// to the hasher.
///
/// # Examples
///
/// ```
/// use rhae_engine::{StateKey, key_of};
///
/// let key: StateKey = key_of(&(3_u8, [1_u8, 2]));
/// assert_eq!(key, key_of(&(3_u8, [1_u8, 2])));
/// assert_ne!(key, key_of(&(3_u8, [2_u8, 1])));
/// ```
pub type StateKey = u128;

/// Returns the key of any hashable value: the 128-bit XXH3 hash of the bytes that it feeds to a
/// [`Hasher`].
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

/// The buffer size in bytes: larger than the state of any shipped game, but small, because it is
/// zeroed for every key.
const BUFFER: usize = 128;

/// Collects the bytes of a small state in a buffer and hashes them with one call. Larger states use
/// the streaming API of XXH3, which produces the same hash.
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
    /// Passes the buffer and then `bytes`, which do not fit into it, to the streaming hasher.
    #[cold]
    fn overflow(&mut self, bytes: &[u8]) {
        let rest = self.rest.get_or_insert_with(|| Box::new(Xxh3::new()));
        rest.update(&self.buffer[..self.used]);
        rest.update(bytes);
        self.used = 0;
    }

    /// Appends the bytes of a number. The constant length compiles to a single store.
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
        unreachable!("a key has 128 bits and is returned by `key`")
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
    fn numbers_are_hashed_as_their_bytes() {
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
        // The same holds for bytes that do not fit into the buffer.
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
    fn key_does_not_depend_on_how_the_bytes_are_split() {
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
