//! `plateau open`.

use super::{Ending, OpenArguments, Outcome, say, summary, window};
use crate::export::folder;

pub fn open(arguments: &OpenArguments) -> Ending {
    let log = folder::read(&arguments.folder)?;
    if !arguments.summary && window::why_not().is_none() {
        return window::open(Some((arguments.folder.display().to_string(), log)));
    }
    for line in summary::lines(&log) {
        say(&line);
    }
    Ok(Outcome::Done)
}
