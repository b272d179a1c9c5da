//! `path=value`: one field of a Spec changed by its dotted path, `training.eta=0.02`,
//! `model.spectrum=[3, 1]`, `model.start=identity`.
//!
//! The Spec goes through its TOML form, so that there is no second list of fields to keep.

use super::toml::one_line;
use crate::names::{nearest, shown};
use crate::spec::Spec;
use ::toml::{Table, Value};

/// Applies one `path=value`.
///
/// # Errors
/// One line: no `=`, an unknown path with the nearest ones, or a value of the wrong kind. Whether
/// the result can run is for admission to say.
pub fn apply(spec: &Spec, assignment: &str) -> Result<Spec, String> {
    let Some((path, text)) = assignment.split_once('=') else {
        return Err(format!("`{}` is not PATH=VALUE, as in training.eta=0.02", shown(assignment)));
    };
    let path = path.trim();
    let mut table = Table::try_from(spec).map_err(|error| one_line(&error.to_string()))?;
    let known = paths(&table);
    if !known.iter().any(|name| name == path) {
        let names = nearest(path, known.iter().map(String::as_str));
        return Err(format!("no field `{}` in a Spec; nearest: {names}", shown(path)));
    }
    set(&mut table, path, text.trim()).map_err(|error| format!("{path}: {error}"))?;
    Value::Table(table).try_into().map_err(|error: ::toml::de::Error| {
        format!("{path}={}: {}", shown(text.trim()), one_line(error.message()))
    })
}

/// Dotted paths of every value in the table.
fn paths(table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                found.extend(paths(inner).into_iter().map(|path| format!("{key}.{path}")));
            }
            _ => found.push(key.clone()),
        }
    }
    found
}

fn set(table: &mut Table, path: &str, text: &str) -> Result<(), String> {
    let (head, rest) = match path.split_once('.') {
        Some((head, rest)) => (head, Some(rest)),
        None => (path, None),
    };
    match (table.get_mut(head), rest) {
        (Some(Value::Table(inner)), Some(rest)) => set(inner, rest, text),
        (Some(old), None) => {
            *old = value(text, old)?;
            Ok(())
        }
        // `apply` has looked the path up already.
        _ => Err(format!("no field `{}`", shown(path))),
    }
}

/// The text as TOML, or as a string where it is a bare word: `identity` needs no quotes. `1e6` is
/// taken for a whole number where one is wanted.
fn value(text: &str, old: &Value) -> Result<Value, String> {
    let parsed = ::toml::from_str::<Table>(&format!("v = {text}"));
    // A text with a line break of its own could smuggle in a second key.
    let parsed = parsed.map(|table| if table.len() == 1 { table.get("v").cloned() } else { None });
    match (parsed, old) {
        (Ok(Some(Value::Float(x))), Value::Integer(_)) if x.fract() == 0.0 && x.abs() < 9e15 => {
            Ok(Value::Integer(x as i64))
        }
        (Ok(Some(parsed)), _) => Ok(parsed),
        (Err(error), _) if text.starts_with(['[', '{', '"', '\'', '.', '+', '-']) => {
            Err(format!("`{}` is no TOML value: {}", shown(text), one_line(error.message())))
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}
