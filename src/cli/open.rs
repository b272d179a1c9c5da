//! `plateau open`.

use super::window::{self, First};
use super::{Ending, OpenArguments, Outcome, say, summary};
use crate::engine::protocol::ExecutorChoice;
use crate::export::address::from_fragment;
use crate::export::open::Opened;
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
        First::Spec(spec, _) => say(toml::write(&spec)?.trim_end()),
    }
    Ok(Outcome::Done)
}

/// What exists is a folder or a file, also where its name would be a link.
fn read(what: &Path) -> Result<First, String> {
    if let Some(fragment) = what.to_str().and_then(fragment).filter(|_| !what.exists()) {
        let shown = crate::names::shown(&what.to_string_lossy());
        let link = from_fragment(fragment).map_err(|error| format!("{shown}: {error}"))?;
        return Ok(First::Spec(Box::new(link.spec), link.executor));
    }
    Ok(match folder::open(what)? {
        Opened::Run(log) => First::Run(what.display().to_string(), log),
        Opened::Spec(spec) => First::Spec(spec, ExecutorChoice::default()),
    })
}

/// The part of a link that says what to run: what follows `#`, or all of `saxe/...`.
fn fragment(text: &str) -> Option<&str> {
    let bare = || text.split(['/', '?']).next().is_some_and(|id| crate::scenarios::find(id).is_some());
    text.split_once('#').map(|(_, fragment)| fragment).or(bare().then_some(text))
}
