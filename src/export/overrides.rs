//! `path=value`: one field of a Spec changed by its dotted path, `training.eta=0.02`,
//! `model.spectrum=3,1`, `model.start=identity`; and the changes that lead from one Spec to another.
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

/// The `(path, value)` that make `to` of `from`, in the order of the paths and as short as they
/// can be; `None` where the two have different fields.
pub fn differences(from: &Spec, to: &Spec) -> Option<Vec<(String, String)>> {
    let (from, to) = (Table::try_from(from).ok()?, Table::try_from(to).ok()?);
    let known = paths(&to);
    if known != paths(&from) {
        return None;
    }
    let differs = known.into_iter().filter(|path| get(&from, path) != get(&to, path));
    differs.map(|path| get(&to, &path).map(written).map(|text| (path.clone(), text))).collect()
}

fn get<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        Some((head, rest)) => get(table.get(head)?.as_table()?, rest),
        None => table.get(path),
    }
}

/// The shortest text that `value` reads as this.
fn written(value: &Value) -> String {
    match value {
        Value::Float(x) => {
            let text = format!("{x:?}");
            // A whole number is read as a float where one is wanted; there is no whole -0.
            text.strip_suffix(".0").filter(|whole| *whole != "-0").map_or(text.clone(), str::to_owned)
        }
        Value::String(word) if bare(word) => word.clone(),
        Value::Array(values) => values.iter().map(written).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Whether TOML takes the word for nothing, so that it is read as itself.
fn bare(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let taken = ["true", "false", "inf", "nan"];
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain) && !taken.contains(&word)
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

/// The text as TOML, or as a string where it is a bare word: `identity` needs no quotes, and a list
/// no brackets. `1e6` is taken for a whole number where one is wanted.
fn value(text: &str, old: &Value) -> Result<Value, String> {
    let list = matches!(old, Value::Array(_)) && !text.starts_with('[');
    let parsed =
        ::toml::from_str::<Table>(&if list { format!("v = [{text}]") } else { format!("v = {text}") });
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
