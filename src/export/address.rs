//! A run in the fragment of an address: `#saxe/identity?training.eta=0.02&executor=gpu`.
//!
//! Scenario, preset, then what differs from the preset, in the names and the syntax of the
//! terminal's `--set`. The preset written is the one that makes the shortest link; without a
//! fragment it is the first of all. Nothing is guessed when reading: what is not understood is
//! refused with one line, and what is read has passed admission.

use super::{overrides, toml};
use crate::engine::protocol::ExecutorChoice;
use crate::names::{nearest, shown};
use crate::scenarios::{self, Scenario};
use crate::spec::Spec;
use std::borrow::Cow;

/// Longest fragment read, in bytes; one that sets every field takes under a thousand.
pub const MAX_BYTES: usize = 8 << 10;
/// Most settings of a link, several times what a Spec has.
const MAX_SETTINGS: usize = 64;
/// The one setting that is not a field of the Spec.
const EXECUTOR: &str = "executor";

/// What a link says.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Admitted.
    pub spec: Spec,
    pub executor: ExecutorChoice,
}

/// Why a fragment is no link; each is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("the link is {0} bytes long, the limit is {MAX_BYTES}")]
    TooLong(usize),
    #[error("the link has more than {MAX_SETTINGS} settings")]
    TooMany,
    #[error("`{0}`: after `%` belong two hexadecimal digits, of UTF-8 text")]
    Percent(String),
    /// An unknown scenario or preset, with the nearest names.
    #[error("{0}")]
    Name(String),
    /// An unknown setting with the nearest names, or a value it cannot have.
    #[error("{0}")]
    Setting(String),
    /// What admission says.
    #[error("{0}")]
    Refused(String),
}

/// The fragment for this Spec and executor, without `#`.
///
/// A Spec that no preset of its scenario can be changed into, which none is that was admitted,
/// gives the scenario alone.
pub fn to_fragment(spec: &Spec, executor: ExecutorChoice) -> String {
    let mut fragment = scenarios::find(&spec.scenario)
        .and_then(|scenario| shortest(scenario, spec))
        .unwrap_or_else(|| encode(&spec.scenario).into_owned());
    if let Some(name) = executor_name(executor) {
        let join = if fragment.contains('?') { '&' } else { '?' };
        fragment += &format!("{join}{EXECUTOR}={name}");
    }
    fragment
}

/// The shortest of the links from each preset.
fn shortest(scenario: &Scenario, spec: &Spec) -> Option<String> {
    let links = (scenario.presets)().into_iter().filter_map(|preset| {
        let settings = overrides::differences(&preset.spec, spec)?;
        let mut link = format!("{}/{}", encode(scenario.id), encode(preset.id));
        for (i, (path, value)) in settings.iter().enumerate() {
            let join = if i == 0 { '?' } else { '&' };
            link += &format!("{join}{}={}", encode(path), encode(value));
        }
        Some(link)
    });
    links.min_by_key(String::len)
}

/// Reads a fragment, with or without its `#`.
///
/// # Errors
/// One line saying what is wrong with it.
pub fn from_fragment(fragment: &str) -> Result<Link, AddressError> {
    let text = fragment.trim();
    let text = text.strip_prefix('#').unwrap_or(text);
    if text.len() > MAX_BYTES {
        return Err(AddressError::TooLong(text.len()));
    }
    let (place, settings) = text.split_once('?').unwrap_or((text, ""));
    let (scenario, preset) = place.split_once('/').unwrap_or((place, ""));
    let mut link = base(&decode(scenario)?, &decode(preset)?)?;
    for (i, setting) in settings.split('&').filter(|setting| !setting.is_empty()).enumerate() {
        if i >= MAX_SETTINGS {
            return Err(AddressError::TooMany);
        }
        set(&mut link, &decode(setting)?)?;
    }
    toml::accept(&link.spec).map_err(AddressError::Refused)?;
    Ok(link)
}

/// The preset, or the first where none is named.
fn base(scenario: &str, preset: &str) -> Result<Link, AddressError> {
    let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let scenario = match named(scenario) {
        Some(id) => scenarios::named(&id).map_err(AddressError::Name)?,
        None => scenarios::ALL[0],
    };
    let spec = scenario.preset(named(preset).as_deref()).map_err(AddressError::Name)?;
    Ok(Link { spec, executor: ExecutorChoice::default() })
}

fn set(link: &mut Link, setting: &str) -> Result<(), AddressError> {
    match setting.split_once('=') {
        Some((EXECUTOR, name)) => link.executor = executor(name)?,
        _ => link.spec = overrides::apply(&link.spec, setting).map_err(AddressError::Setting)?,
    }
    Ok(())
}

const EXECUTORS: [(&str, ExecutorChoice); 3] =
    [("auto", ExecutorChoice::Auto), ("gpu", ExecutorChoice::Gpu), ("cpu", ExecutorChoice::Cpu)];

fn executor(name: &str) -> Result<ExecutorChoice, AddressError> {
    let found = EXECUTORS.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| choice).ok_or_else(|| {
        let names = nearest(name, EXECUTORS.map(|(known, _)| known));
        AddressError::Setting(format!("no executor is called `{}`; nearest: {names}", shown(name)))
    })
}

/// Its name where it is not the default.
fn executor_name(choice: ExecutorChoice) -> Option<&'static str> {
    let other = EXECUTORS.into_iter().filter(|(_, known)| *known != ExecutorChoice::default());
    other.into_iter().find(|(_, known)| *known == choice).map(|(name, _)| name)
}

/// Percent-encoded but for what every program that looks for links in a text takes as part of one.
fn encode(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~,".contains(&byte);
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    Cow::Owned(out)
}

/// The text behind percent signs; a plus sign is one.
fn decode(text: &str) -> Result<Cow<'_, str>, AddressError> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text));
    }
    let fail = || AddressError::Percent(shown(text));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            let (high, low) = (digit().ok_or_else(fail)?, digit().ok_or_else(fail)?);
            (16 * high + low) as u8
        } else {
            byte
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| fail())
}
