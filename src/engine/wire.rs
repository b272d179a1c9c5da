//! Commands and Events as bytes, for a worker that shares no memory: MessagePack, with large arrays
//! as blocks (`packed`), so that a message is one buffer that changes hands.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The message as bytes.
///
/// # Errors
/// One line; plain data does not fail.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, String> {
    rmp_serde::to_vec_named(message).map_err(|error| error.to_string())
}

/// The message in these bytes.
///
/// # Errors
/// One line, for bytes that are no such message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(bytes).map_err(|error| error.to_string())
}
