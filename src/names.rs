//! The nearest names, for messages about a name that nothing has.

/// Up to three of `names` most like `given`, nearest first: `"saxe, sane"`; the whole list where
/// nothing is alike.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let lower = given.to_lowercase();
    let mut scored: Vec<(f64, &str)> =
        names.into_iter().map(|name| (strsim::jaro_winkler(&lower, &name.to_lowercase()), name)).collect();
    // Stable, so that equally near names keep the order they are listed in.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let alike = scored.iter().take_while(|(score, _)| *score > 0.6).count();
    let shown = if alike == 0 { scored.len() } else { alike.min(3) };
    scored[..shown].iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// `given` shortened to what fits a message: control characters out, at most 80 characters.
pub fn shown(given: &str) -> String {
    let clean: String = given.chars().map(|c| if c.is_control() { ' ' } else { c }).take(81).collect();
    if clean.chars().count() > 80 { clean.chars().take(77).chain("...".chars()).collect() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        assert_eq!(nearest("sexa", ["dyck", "saxe"]), "saxe");
        assert_eq!(nearest("zzz", ["dyck", "saxe"]), "dyck, saxe");
        assert_eq!(nearest("SAXE", ["saxe"]), "saxe");
    }

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown("a\nb\u{1b}[0m"), "a b [0m");
        assert_eq!(shown(&"x".repeat(200)).len(), 80);
    }
}
