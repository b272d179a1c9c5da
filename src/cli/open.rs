//! `plateau open`.

use super::window::{self, First};
use super::{Ending, OpenArguments, Outcome, say, summary};
use crate::export::address::{Link, from_fragment};
use crate::export::{folder, toml};
use std::path::Path;

pub fn open(arguments: &OpenArguments) -> Ending {
    let first = read(&arguments.what)?;
    if !arguments.summary && window::why_not().is_none() {
        return window::open(first);
    }
    match first {
        First::Lab => {}
        First::Run(_, log) => summary::lines(&log).iter().for_each(|line| say(line)),
        // A file for `plateau run`, if it is sent to one.
        First::Link(link) => say(toml::write(&link.spec)?.trim_end()),
    }
    Ok(Outcome::Done)
}

/// What exists is a folder, also where its name would be a link.
fn read(what: &Path) -> Result<First, String> {
    match what.to_str().and_then(fragment) {
        Some(fragment) if !what.exists() => link(what, fragment).map(First::Link),
        _ => Ok(First::Run(what.display().to_string(), folder::read(what)?)),
    }
}

/// The part of a link that says what to run: what follows `#`, or all of `saxe/...`.
fn fragment(text: &str) -> Option<&str> {
    let bare = || text.split(['/', '?']).next().is_some_and(|id| crate::scenarios::find(id).is_some());
    text.split_once('#').map(|(_, fragment)| fragment).or(bare().then_some(text))
}

fn link(what: &Path, fragment: &str) -> Result<Link, String> {
    let shown = crate::names::shown(&what.to_string_lossy());
    from_fragment(fragment).map_err(|error| format!("{shown}: {error}"))
}
