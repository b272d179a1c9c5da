//! A run as one zip in memory: the files of the run folder, and equal bytes for equal logs.
//!
//! Reading takes nothing on trust: what is in the file is counted before the archive is parsed, only
//! the two files that make a run are unpacked, and they are unpacked as a stream that ends at a
//! limit, whatever the archive says of their sizes. Nothing is written anywhere, so names matter
//! only for finding the two.

use super::files::{self, METRICS, RUN};
use super::toml::one_line;
use super::{csv, json};
use crate::engine::admit::human_bytes;
use crate::runlog::RunLog;
use ::zip::result::ZipError;
use ::zip::write::SimpleFileOptions;
use ::zip::{CompressionMethod, ZipArchive, ZipWriter};
use std::io::{self, BufWriter, Cursor, Read, Write};

/// Most entries of an archive that is read; a run has five.
const MAX_ENTRIES: usize = 64;
/// Most bytes a file unpacks to: rows of some fifteen million values.
pub const MAX_UNPACKED: u64 = 512 << 20;
/// Most bytes unpacked from one, beyond the first mebibyte: rows that are all the same number come
/// to 13, a bomb to 1,000.
const MAX_RATIO: u64 = 100;

/// The run as a zip.
///
/// # Errors
/// One line, where there is no run or its figure cannot be drawn.
pub fn write(log: &RunLog) -> Result<Vec<u8>, String> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    files::each(log, &mut |name, body| {
        // A picture is packed already.
        let packed =
            if name.ends_with(".png") { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(packed);
        let mut file = || -> io::Result<()> {
            zip.start_file(name, options)?;
            let mut out = BufWriter::new(&mut zip);
            body(&mut out)?;
            out.flush()
        };
        file().map_err(|error| format!("cannot pack {name}: {error}"))
    })?;
    zip.finish().map(Cursor::into_inner).map_err(|error| said(&error))
}

/// Reads a run from a zip of its folder, or of the files in it.
///
/// # Errors
/// One line naming the file in the archive and the place in it.
pub fn read(bytes: &[u8]) -> Result<RunLog, String> {
    count(bytes)?;
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| said(&error))?;
    let Some(folder) = folder(archive.file_names()) else {
        return Err(format!("a zip without a {RUN}, so no run"));
    };
    let mut text = String::new();
    let name = format!("{folder}{RUN}");
    unpack(&mut archive, &name, json::MAX_BYTES, |file| {
        file.read_to_string(&mut text).map(|_| ()).map_err(|error| one_line(&error.to_string()))
    })?;
    let (mut log, rows) = json::read(&text).map_err(|error| format!("{name}: {error}"))?;
    unpack(&mut archive, &format!("{folder}{METRICS}"), MAX_UNPACKED, |file| {
        csv::read(&mut log, rows, file)
    })?;
    Ok(log)
}

/// What the parser would believe, counted: it reserves memory for as many entries as it is promised.
fn count(bytes: &[u8]) -> Result<(), String> {
    let (mut entries, mut ends, mut large) = (0, 0, [false; 2]);
    for window in bytes.windows(4).filter(|window| window.starts_with(b"PK")) {
        match window[2..] {
            [1, 2] => entries += 1,
            [5, 6] => ends += 1,
            [6, 6] => large[0] = true,
            [6, 7] => large[1] = true,
            _ => {}
        }
    }
    match (entries, ends) {
        _ if large == [true; 2] => {
            Err("a zip of the kind for very large files, which is not read".to_owned())
        }
        (0..=MAX_ENTRIES, 1..=MAX_ENTRIES) => Ok(()),
        (_, 0) => Err("a zip without an end: cut off?".to_owned()),
        _ => Err(format!("a zip with more than {MAX_ENTRIES} files, where a run has five")),
    }
}

/// Where a run lies in the archive: at its root or in a folder there, as `""` or `"name/"`.
fn folder<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let folders = names.filter_map(|name| name.strip_suffix(RUN)).filter(|folder| {
        let name = folder.strip_suffix('/');
        folder.is_empty()
            || name.is_some_and(|name| !name.is_empty() && name != ".." && !name.contains(['/', '\\']))
    });
    folders.min_by_key(|folder| folder.len()).map(str::to_owned)
}

/// Reads one file of the archive, which must be there and unpack to at most `limit` bytes.
fn unpack(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    limit: u64,
    read: impl FnOnce(&mut dyn Read) -> Result<(), String>,
) -> Result<(), String> {
    let file = archive.by_name(name).map_err(|error| format!("{name}: {}", said(&error)))?;
    // The size on the label may be a lie, the packed bytes are there.
    let room = limit.min((1 << 20) + MAX_RATIO.saturating_mul(file.compressed_size()));
    if file.size() > room {
        let sizes = [file.size(), file.compressed_size()].map(|bytes| human_bytes(bytes.into()));
        return Err(format!("{name}: {} packed into {}, too much to unpack", sizes[0], sizes[1]));
    }
    read(&mut Ending { inner: file, left: room }).map_err(|error| format!("{name}: {error}"))
}

/// A stream that fails where it should have ended.
struct Ending<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left =
            self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other("unpacks to too much"))?;
        Ok(read)
    }
}

fn said(error: &ZipError) -> String {
    one_line(&error.to_string())
}
