//! What goes out to files and comes back from them: one file per format, all of them fed by a
//! RunLog or a Spec alone.
//!
//! The formats write to and read from memory or a stream, so that the page uses them too; only
//! `folder`, the run folder on disk, needs a file system. Readers hold whatever they are given
//! against a limit before they allocate, and answer a bad file with one line saying what and where.

pub mod address;
pub mod bands;
pub mod csv;
pub mod figure;
pub mod files;
#[cfg(not(target_arch = "wasm32"))]
pub mod folder;
pub mod json;
pub mod open;
pub mod overrides;
pub mod png;
pub mod stored;
pub mod svg;
pub mod toml;
pub mod zip;
