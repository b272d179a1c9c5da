//! Numbers as one block of bytes: a field `#[serde(with = "packed")]` is copied whole, not written
//! number by number, and keeps every bit, NaNs too.
//!
//! Little-endian, as is every platform this runs on (wasm, x86, ARM).

use bytemuck::Pod;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;
use std::marker::PhantomData;

#[cfg(target_endian = "big")]
compile_error!("blocks of numbers are little-endian");

/// Writes the numbers' bytes.
///
/// # Errors
/// The format's own.
pub fn serialize<T: Pod, S: Serializer>(numbers: &[T], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytemuck::cast_slice(numbers))
}

/// Reads them back.
///
/// # Errors
/// The format's own, and a block that is no whole number of numbers.
pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_bytes(Block(PhantomData))
}

struct Block<T>(PhantomData<T>);

impl<'de, T: Pod> Visitor<'de> for Block<T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "bytes of numbers, {} each", size_of::<T>())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// For formats without bytes, which write a list.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
