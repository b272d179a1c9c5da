//! The models: what a Spec's `model` means, as tensors and Recordings.

pub mod linear;
