//! The run folder on disk.
//!
//! A folder is claimed before the work starts, under a temporary name beside the final one, so
//! that a place that cannot be written is found at once. All files are written there and the
//! folder is then renamed: under the final name there is a whole run or nothing, whatever
//! happens in between. What exists is never overwritten.

use super::files::{self, Body, METRICS, RUN};
use super::open::{self, Opened, open_bytes};
use super::{csv, json};
use crate::runlog::RunLog;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A place for a run, claimed but not filled.
pub struct RunFolder {
    target: PathBuf,
    claimed: TempDir,
}

impl RunFolder {
    /// Claims `target`.
    ///
    /// # Errors
    /// One line, if something is there already or the place cannot be written; nothing is changed
    /// then.
    pub fn claim(target: &Path) -> Result<Self, String> {
        let shown = target.display();
        let Some(name) = target.file_name() else {
            return Err(format!("{shown}: not the name of a new folder"));
        };
        if let Some(reason) = taken(target) {
            return Err(format!("{shown}: {reason}; nothing was changed, name another folder"));
        }
        let prefix = format!(".{}.partial-", name.to_string_lossy());
        // An empty folder is filled, not replaced: it keeps its owner and mode, and may be a mount point.
        let home = if target.is_dir() { Ok(target) } else { standing_ancestor(target) };
        let claimed = home
            .and_then(|parent| builder(&prefix).tempdir_in(parent))
            .map_err(|error| format!("{shown}: cannot be written: {}", cause(&error)))?;
        Ok(Self { target: target.to_owned(), claimed })
    }

    /// Writes the log and gives the folder its final name, which is returned: another than asked
    /// for if somebody took that one in the meantime.
    ///
    /// # Errors
    /// One line. A run that cannot be written where it should be goes to the folder for temporary
    /// files, and the line says so.
    pub fn keep(self, log: &RunLog) -> Result<PathBuf, String> {
        fill(self.claimed.path(), log)
            .and_then(|()| self.place())
            .map_err(|error| format!("{}: {error}{}", self.target.display(), rescue(log)))
    }

    fn place(&self) -> Result<PathBuf, String> {
        if let Some(parent) = self.target.parent() {
            fs::create_dir_all(parent).map_err(|error| cause(&error))?;
        }
        if self.fills_its_target() {
            return self.fill().map_err(|error| format!("cannot be moved into place: {}", cause(&error)));
        }
        let mut place = self.target.clone();
        for number in 2..100 {
            if taken(&place).is_none() {
                // Windows does not rename onto an empty folder; a missing one is no error here.
                let _ = fs::remove_dir(&place);
                match fs::rename(self.claimed.path(), &place) {
                    Ok(()) => return Ok(place),
                    Err(_) if taken(&place).is_some() => {}
                    Err(error) => return Err(format!("cannot be renamed into place: {}", cause(&error))),
                }
            }
            let mut name = self.target.file_name().unwrap_or_default().to_owned();
            name.push(format!("-{number}"));
            place = self.target.with_file_name(name);
        }
        Err("taken in the meantime, and so are its numbered neighbours".to_owned())
    }

    /// Whether the claim lies in the target itself, and nothing has come beside it.
    fn fills_its_target(&self) -> bool {
        let alone = |entries: fs::ReadDir| {
            entries
                .flatten()
                .all(|entry| Some(entry.file_name().as_os_str()) == self.claimed.path().file_name())
        };
        self.claimed.path().parent() == Some(&self.target) && fs::read_dir(&self.target).is_ok_and(alone)
    }

    /// Moves the files up into the target; the one without which it is no run comes last.
    fn fill(&self) -> io::Result<PathBuf> {
        let mut names: Vec<_> =
            fs::read_dir(self.claimed.path())?.flatten().map(|entry| entry.file_name()).collect();
        names.sort_by_key(|name| name == RUN);
        for name in names {
            fs::rename(self.claimed.path().join(&name), self.target.join(&name))?;
        }
        Ok(self.target.clone())
    }
}

/// Reads a run folder back.
///
/// # Errors
/// One line naming the file and the place in it.
pub fn read(folder: &Path) -> Result<RunLog, String> {
    match fs::metadata(folder) {
        Err(error) => return Err(format!("{}: {}", folder.display(), cause(&error))),
        Ok(meta) if !meta.is_dir() => return Err(format!("{}: not a run folder", folder.display())),
        Ok(_) => {}
    }
    let path = folder.join(RUN);
    let text = read_text(&path, json::MAX_BYTES)?;
    let (mut log, rows) = json::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let path = folder.join(METRICS);
    let input = File::open(&path).map_err(|error| format!("{}: {}", path.display(), cause(&error)))?;
    csv::read(&mut log, rows, BufReader::new(input))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(log)
}

/// Opens what is there: a run folder, or a file that `open_bytes` takes; `run.json` with the rows
/// beside it.
///
/// # Errors
/// One line with the path.
pub fn open(path: &Path) -> Result<Opened, String> {
    if path.is_dir() {
        return read(path).map(|log| Opened::Run(Box::new(log)));
    }
    if path.file_name().is_some_and(|name| name == RUN) && path.with_file_name(METRICS).exists() {
        return read(path.parent().unwrap_or(Path::new("."))).map(|log| Opened::Run(Box::new(log)));
    }
    open_bytes(&path.display().to_string(), &read_bytes(path, open::MAX_BYTES as u64)?)
}

/// A whole text file of at most `limit` bytes.
///
/// # Errors
/// One line with the path.
pub fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|_| format!("{}: not UTF-8 text", path.display()))
}

fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let fail = |error: &io::Error| format!("{}: {}", path.display(), cause(error));
    let file = File::open(path).map_err(|error| fail(&error))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| fail(&error))?;
    if bytes.len() as u64 > limit {
        return Err(format!("{}: longer than the {limit} bytes that are read", path.display()));
    }
    Ok(bytes)
}

/// Writes every file of a run into a folder that exists.
fn fill(folder: &Path, log: &RunLog) -> Result<(), String> {
    files::each(log, &mut |name, body| write_file(folder, name, body))
}

/// One file, whole and on the disk, or an error naming it.
fn write_file(folder: &Path, name: &str, body: &mut Body<'_>) -> Result<(), String> {
    let mut done = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create_new(folder.join(name))?);
        body(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    done().map_err(|error| format!("cannot write {name}: {}", cause(&error)))
}

/// Keeps a run that has no place, and says where; empty where that fails too.
fn rescue(log: &RunLog) -> String {
    let Ok(folder) = builder("plateau-run-").tempdir() else { return String::new() };
    match fill(folder.path(), log) {
        Ok(()) => format!("; the run is kept in {}", folder.keep().display()),
        Err(_) => String::new(),
    }
}

/// Folders with the permissions of any other, not those of a secret.
fn builder(prefix: &str) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder
}

/// Why a run cannot go there; an empty folder is no reason.
fn taken(path: &Path) -> Option<&'static str> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_dir() {
        return Some("exists already and is not a folder");
    }
    if path.join(RUN).exists() {
        return Some("holds a run already");
    }
    let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if empty { None } else { Some("exists already and is not empty") }
}

/// The nearest folder above `target` that exists. It is on the file system that `target` will be
/// on, and nothing has to be created to try it.
fn standing_ancestor(target: &Path) -> io::Result<&Path> {
    let named = |path: &&Path| !path.as_os_str().is_empty();
    for path in target.ancestors().skip(1).filter(named) {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Ok(path),
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Path::new("."))
}

/// The error without the system's number for it, nor the temporary name that tempfile adds.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((cause, _)) => cause.to_owned(),
        None => text,
    }
}
