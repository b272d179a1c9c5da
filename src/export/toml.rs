//! Specs as TOML: what a person writes by hand.
//!
//! A text that is no Spec is answered with one line naming the place: `line 7, column 3: unknown
//! field ...`. A text that is one has passed admission.

use crate::engine::admit::admit;
use crate::names::{nearest, shown};
use crate::scenarios;
use crate::spec::Spec;

/// Longest text read, in bytes; a Spec takes under a thousand.
pub const MAX_BYTES: u64 = 1 << 20;

/// The Spec as TOML, with a first line saying what it is.
///
/// # Errors
/// If a number does not fit TOML's signed 64 bits; no admitted Spec has one.
pub fn write(spec: &Spec) -> Result<String, String> {
    let text = ::toml::to_string(spec).map_err(|error| one_line(&error.to_string()))?;
    Ok(format!("# A Spec of Plateau: plateau run FILE\n{text}"))
}

/// Reads, names the scenario and admits.
///
/// # Errors
/// One line, without the file's name: the caller knows it.
pub fn read(text: &str) -> Result<Spec, String> {
    let spec = parse(text)?;
    accept(&spec)?;
    Ok(spec)
}

/// Whether a Spec from outside belongs to a scenario and can run.
///
/// # Errors
/// One line with the field's path.
pub fn accept(spec: &Spec) -> Result<(), String> {
    if scenarios::find(&spec.scenario).is_none() {
        let names = nearest(&spec.scenario, scenarios::ALL.iter().map(|scenario| scenario.id));
        return Err(format!("scenario: nothing is called `{}`; nearest: {names}", shown(&spec.scenario)));
    }
    admit(spec).map(|_| ()).map_err(|refusal| refusal.to_string())
}

/// Reads without asking whether it can run.
///
/// # Errors
/// One line with line and column.
pub fn parse(text: &str) -> Result<Spec, String> {
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("longer than the {MAX_BYTES} bytes that a Spec may have"));
    }
    ::toml::from_str(text).map_err(|error| {
        let message = one_line(error.message());
        match place(text, &error) {
            Some((line, column)) => format!("line {line}, column {column}: {message}"),
            None => message,
        }
    })
}

/// Line and column of an error, both from 1.
///
/// serde buffers a tagged enum before it looks inside, so that errors within `[model]` come back
/// without a place of their own; a field named in the message is then looked up in the text.
fn place(text: &str, error: &::toml::de::Error) -> Option<(usize, usize)> {
    let start = error.span().map(|span| span.start);
    let named = error.message().split('`').nth(1).and_then(|name| key_position(text, name));
    let at = if error.message().starts_with("unknown field") { named.or(start) } else { start }?;
    let before = text.get(..at)?;
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    Some((line, column))
}

/// Where a line begins with this key.
fn key_position(text: &str, key: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let rest = trimmed.strip_prefix(key);
        if rest.is_some_and(|rest| rest.trim_start().starts_with('=')) {
            return Some(offset + line.len() - trimmed.len());
        }
        offset += line.len();
    }
    None
}

/// A library's message on one line, and no longer than a terminal bears.
pub(crate) fn one_line(message: &str) -> String {
    let joined = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if joined.chars().count() > 300 {
        joined.chars().take(297).chain("...".chars()).collect()
    } else {
        joined
    }
}
