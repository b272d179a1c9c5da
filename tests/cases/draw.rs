//! Random bytes for hostile input, from a fixed seed.

/// A generator of its own, so that a failure can be repeated.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed | 1))
    }

    /// A number below `end`, 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// One change: a bit flipped, a piece cut out, doubled or put in, the end lost.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, pieces: &[impl AsRef<[u8]>]) {
        let (at, len) = (self.below(bytes.len() + 1), bytes.len());
        let end = len.min(at + 1 + self.below(6));
        match self.below(6) {
            0 if at < len => bytes[at] ^= 1 << self.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.extend_from_within(at..end),
            3 => bytes.truncate(at),
            _ => {
                let piece = self.pick(pieces).as_ref().to_owned();
                bytes.splice(at..at, piece);
            }
        }
    }
}
