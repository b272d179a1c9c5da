//! From what was typed to a Spec that can run: a scenario's preset or a file, then the changes.

use crate::engine::admit::check_members;
use crate::export::{folder, overrides, toml};
use crate::names::{nearest, shown};
use crate::scenarios;
use crate::spec::Spec;
use std::path::Path;

/// What was typed.
pub struct Choice<'a> {
    /// A scenario's id or a file's path.
    pub what: &'a str,
    pub preset: Option<&'a str>,
    pub sets: &'a [String],
    pub seeds: Option<u64>,
}

/// The Spec, admitted.
///
/// # Errors
/// One line saying what and where.
pub fn spec(choice: &Choice<'_>) -> Result<Spec, String> {
    let mut spec = base(choice)?;
    for assignment in choice.sets {
        spec = overrides::apply(&spec, assignment).map_err(|error| format!("--set {error}"))?;
    }
    if let Some(seeds) = choice.seeds {
        check_members(&spec, seeds).map_err(|refusal| format!("--seeds {seeds}: {refusal}"))?;
        // `check_members` leaves no number that does not fit.
        spec.ensemble.members = u32::try_from(seeds).unwrap_or(u32::MAX);
    }
    toml::accept(&spec).map_err(|error| format!("{}: {error}", choice.what))?;
    Ok(spec)
}

fn base(choice: &Choice<'_>) -> Result<Spec, String> {
    let path = Path::new(choice.what);
    let is_file = path.extension().is_some_and(|extension| extension == "toml") || path.exists();
    match scenarios::named(choice.what) {
        Ok(scenario) => return scenario.preset(choice.preset),
        Err(unknown) if !is_file => return Err(unknown),
        Err(_) => {}
    }
    if choice.preset.is_some() {
        return Err("--preset goes with a scenario; a Spec file says everything itself".to_owned());
    }
    let text = folder::read_text(path, toml::MAX_BYTES)?;
    toml::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The claims named, each once and as it is spelled in `plateau list`; `all` is all of them.
///
/// # Errors
/// One line with the nearest names.
pub fn claims(given: &[String]) -> Result<Vec<&'static str>, String> {
    let all = || scenarios::ALL.iter().flat_map(|scenario| scenario.claims.iter().copied());
    let mut chosen = Vec::new();
    for name in given {
        let before = chosen.len();
        chosen.extend(all().filter(|claim| name == "all" || claim.eq_ignore_ascii_case(name)));
        if chosen.len() == before {
            let names = nearest(name, all());
            return Err(format!("no claim is called `{}`; nearest: {names}, or all", shown(name)));
        }
    }
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|claim| seen.insert(*claim));
    Ok(chosen)
}
