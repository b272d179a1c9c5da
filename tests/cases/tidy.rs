//! The design's invariants, each a test that reads the source, and each shown to catch a planted
//! violation.

use plateau::export::json::PINNED;
use plateau::scenarios;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const LONGEST_FILE: usize = 500;

/// A source file, its path from the root with `/`.
struct Source {
    path: String,
    text: String,
}

/// Lines that break a rule, as `line: what`.
type Rule = fn(&Source) -> Vec<String>;

/// Every file with this extension below these folders.
fn sources(folders: &[&str], extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| Path::new(ROOT).join(folder)).collect();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder of ours");
            waiting.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|found| found == extension) {
            let name = path.strip_prefix(ROOT).expect("below the root").to_string_lossy().replace('\\', "/");
            found.push(Source { path: name, text: fs::read_to_string(&path).expect("text") });
        }
    }
    assert!(!found.is_empty(), "no {extension} files in {folders:?}");
    found
}

/// Asserts that no file breaks the rule, and that the rule sees the planted violation.
fn holds(rule: Rule, files: &[Source], planted: &[(&str, &str)], innocent: &[(&str, &str)]) {
    let plant = |(path, text): &(&str, &str)| Source { path: (*path).to_owned(), text: (*text).to_owned() };
    for source in planted {
        assert!(!rule(&plant(source)).is_empty(), "the rule does not see {source:?}");
    }
    for source in innocent {
        assert_eq!(rule(&plant(source)), [""; 0], "the rule accuses {source:?}");
    }
    let broken: Vec<String> = files
        .iter()
        .flat_map(|source| rule(source).into_iter().map(|what| format!("{}:{what}", source.path)))
        .collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// The text with comments blanked, and strings too unless they are to be kept; line ends stay.
fn code(text: &str, keep_strings: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        let (end, kept) = token(&chars, i);
        let kept = kept || (keep_strings && chars[i] != '/');
        out.extend(chars[i..end].iter().map(|c| if kept || *c == '\n' { *c } else { ' ' }));
        i = end;
    }
    out
}

/// End of the comment, string or character that begins at `i`, and whether it is code.
fn token(chars: &[char], i: usize) -> (usize, bool) {
    let at = |k: usize| chars.get(k).copied().unwrap_or('\0');
    let until = |from: usize, stop: &dyn Fn(usize) -> bool| {
        (from..chars.len()).find(|k| stop(*k)).unwrap_or(chars.len())
    };
    match (at(i), at(i + 1)) {
        ('/', '/') => (until(i, &|k| at(k) == '\n'), false),
        ('/', '*') => ((until(i + 2, &|k| at(k) == '*' && at(k + 1) == '/') + 2).min(chars.len()), false),
        ('r', '"' | '#') if !at(i.wrapping_sub(1)).is_alphanumeric() => {
            let hashes = (i + 1..chars.len()).take_while(|k| at(*k) == '#').count();
            if at(i + 1 + hashes) != '"' {
                return (i + 1, true);
            }
            let closes = |k: usize| at(k) == '"' && (1..=hashes).all(|h| at(k + h) == '#');
            ((until(i + 2 + hashes, &closes) + 1 + hashes).min(chars.len()), false)
        }
        ('"', _) => (quoted(chars, i, '"'), false),
        // A character, not a lifetime: it closes after one character or an escape.
        ('\'', '\\') => (quoted(chars, i, '\''), false),
        ('\'', _) if at(i + 2) == '\'' => (i + 3, false),
        _ => (i + 1, true),
    }
}

fn quoted(chars: &[char], start: usize, quote: char) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The code with every item under `#[cfg(test)]` blanked.
fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let end = item_end(&out[start..]) + start;
        let blank: String = out[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blank);
    }
    out
}

/// Length of the item at the start: to its closing brace, or to the semicolon of one without.
fn item_end(text: &str) -> usize {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return i + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// Where a word stands, not as a part of a longer one.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !code[..*at].chars().next_back().is_some_and(part) && !code[at + word.len()..].starts_with(part)
    })
}

fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Uses of forbidden words, outside comments, strings and tests.
fn forbidden(source: &Source, list: &[&str]) -> Vec<String> {
    let code = without_tests(&code(&source.text, false));
    list.iter()
        .flat_map(|word| {
            words(&code, word).map(|at| format!("{}: {word}", line(&code, at))).collect::<Vec<_>>()
        })
        .collect()
}

fn within(source: &Source, folders: &[&str]) -> bool {
    folders.iter().any(|folder| source.path.starts_with(folder))
}

fn wgpu_elsewhere(source: &Source) -> Vec<String> {
    if within(source, &["src/gpu/"]) {
        return Vec::new();
    }
    let code = without_tests(&code(&source.text, false));
    // The window is drawn by eframe's own wgpu.
    let theirs = |at: usize| {
        within(source, &["src/ui/"])
            && ["eframe::", "egui_wgpu::"].iter().any(|own| code[..at].ends_with(own))
    };
    words(&code, "wgpu").filter(|at| !theirs(*at)).map(|at| format!("{}: wgpu", line(&code, at))).collect()
}

#[test]
fn wgpu_is_named_in_gpu_only() {
    let planted = [
        ("src/engine/x.rs", "use wgpu::Device;"),
        ("src/ui/x.rs", "fn f(d: wgpu::Device) {}"),
        ("src/cli/x.rs", "let s = \"a // b\"; let c = '\"'; wgpu::x();"),
    ];
    let innocent = [
        ("src/gpu/x.rs", "use wgpu::Device;"),
        ("src/ui/x.rs", "use eframe::wgpu::Device;"),
        ("src/engine/x.rs", "//! wgpu\nlet a = \"wgpu\"; /* wgpu */ let b = r#\"\"wgpu\"#;"),
        ("src/engine/x.rs", "#[cfg(test)]\nmod tests { use wgpu::X; }"),
    ];
    holds(wgpu_elsewhere, &sources(&["src"], "rs"), &planted, &innocent);
}

fn egui_elsewhere(source: &Source) -> Vec<String> {
    if within(source, &["src/ui/"]) {
        Vec::new()
    } else {
        forbidden(source, &["egui", "eframe", "egui_plot"])
    }
}

#[test]
fn egui_is_named_in_ui_only() {
    let planted = [("src/cli/x.rs", "let x = egui::Id::new(1);"), ("src/runlog.rs", "use eframe::App;")];
    holds(egui_elsewhere, &sources(&["src"], "rs"), &planted, &[("src/ui/x.rs", "use egui::Ui;")]);
}

fn scenario_in_engine(source: &Source) -> Vec<String> {
    if !within(source, &["src/engine/"]) {
        return Vec::new();
    }
    let code = without_tests(&code(&source.text, true));
    let ids = scenarios::ALL.iter().map(|scenario| scenario.id);
    ids.chain(["scenarios"])
        .flat_map(|word| {
            words(&code, word).map(|at| format!("{}: {word}", line(&code, at))).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn the_engine_names_no_scenario() {
    let planted = [
        ("src/engine/x.rs", "use crate::scenarios::ALL;"),
        ("src/engine/x.rs", "if spec.scenario == \"saxe\" {}"),
    ];
    let innocent =
        [("src/cli/x.rs", "use crate::scenarios;"), ("src/engine/x.rs", "// saxe\nlet a = spec.scenario;")];
    holds(scenario_in_engine, &sources(&["src"], "rs"), &planted, &innocent);
}

fn imports_of_ours(source: &Source) -> Vec<String> {
    let Some(home) =
        ["theory", "analysis"].into_iter().find(|home| within(source, &[&format!("src/{home}/")]))
    else {
        return Vec::new();
    };
    let code = code(&source.text, false);
    let own = format!("crate::{home}");
    let foreign = |at: &usize| !code[*at..].starts_with(&own);
    // The package's own name leads nowhere from within.
    let lines = words(&code, "crate").filter(foreign);
    lines
        .map(|at| format!("{}: {}", line(&code, at), code[at..].lines().next().unwrap_or_default()))
        .collect()
}

#[test]
fn theory_and_analysis_import_nothing_of_ours() {
    let planted =
        [("src/theory/x.rs", "use crate::spec::Spec;"), ("src/analysis/x.rs", "let a = crate::runlog::x();")];
    let innocent = [("src/theory/x.rs", "use super::linear; // crate::spec\nuse crate::theory::starts;")];
    holds(imports_of_ours, &sources(&["src"], "rs"), &planted, &innocent);
}

fn clocks_and_threads(source: &Source) -> Vec<String> {
    if within(source, &["src/engine/driver"]) {
        return Vec::new();
    }
    let mut list = vec!["Instant", "SystemTime", "web_time", "std::thread", "thread::spawn", "rayon"];
    if within(source, &["src/cpu/"]) {
        list.pop();
    }
    forbidden(source, &list)
}

#[test]
fn clocks_and_threads_are_in_the_driver_only() {
    let planted = [
        ("src/cli/x.rs", "let now = std::time::Instant::now();"),
        ("src/gpu/x.rs", "use web_time::SystemTime;"),
        ("src/cpu/x.rs", "std::thread::spawn(f);"),
        ("src/models/x.rs", "use rayon::prelude::*;"),
        ("src/export/x.rs", "use std::thread;"),
    ];
    let innocent = [
        ("src/cpu/x.rs", "use rayon::prelude::*;"),
        ("src/engine/driver/x.rs", "std::thread::spawn(Instant::now)"),
    ];
    holds(clocks_and_threads, &sources(&["src"], "rs"), &planted, &innocent);
}

fn no_opening(source: &Source) -> Vec<String> {
    let says =
        source.text.strip_prefix("//! ").is_some_and(|rest| rest.lines().next().is_some_and(|l| l.len() > 8));
    if says { Vec::new() } else { vec!["1: does not open with //! saying what it is".to_owned()] }
}

#[test]
fn every_file_says_what_it_is() {
    let files = sources(&["src", "tests"], "rs");
    holds(
        no_opening,
        &files,
        &[("src/x.rs", "use a;"), ("src/x.rs", "//!\n")],
        &[("src/x.rs", "//! The driver.\n")],
    );
}

fn unwrap_without_reason(source: &Source) -> Vec<String> {
    let code = without_tests(&code(&source.text, false));
    let raw: Vec<&str> = source.text.lines().collect();
    let reason = |text: &str| text.contains("// unwrap: ") || text.contains("// expect: ");
    let excused = |line: usize| {
        // The same line, or the comment that ends on the line before.
        let above = raw[..line - 1].iter().rev().take_while(|text| text.trim_start().starts_with("//"));
        reason(raw[line - 1]) || above.into_iter().any(|text| reason(text))
    };
    [".unwrap()", ".expect("]
        .iter()
        .flat_map(|call| code.match_indices(call).map(|(at, _)| (line(&code, at), *call)))
        .filter(|(line, _)| !excused(*line))
        .map(|(line, call)| format!("{line}: {call} without `// unwrap: why` or `// expect: why`"))
        .collect()
}

#[test]
fn no_unwrap_without_a_reason() {
    let planted =
        [("src/x.rs", "//! x\nlet a = b.unwrap();"), ("src/x.rs", "// why not\nlet a = b.expect(\"c\");")];
    let innocent = [
        ("src/x.rs", "let a = b.unwrap(); // unwrap: it was checked above"),
        ("src/x.rs", "// expect: it was\n// checked above\nlet a = b.expect(\"c\");"),
        ("src/x.rs", "#[cfg(test)]\nmod tests {\n fn f() { b.unwrap(); }\n}\n"),
        ("src/x.rs", "let a = b.unwrap_or(1); // never .unwrap()"),
    ];
    holds(unwrap_without_reason, &sources(&["src"], "rs"), &planted, &innocent);
}

fn too_long(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines > LONGEST_FILE {
        vec![format!("{lines}: lines, the limit is {LONGEST_FILE}")]
    } else {
        Vec::new()
    }
}

#[test]
fn files_are_short() {
    let long = "a\n".repeat(LONGEST_FILE + 1);
    let files: Vec<Source> =
        [sources(&["src", "tests"], "rs"), sources(&["shaders"], "wgsl")].into_iter().flatten().collect();
    holds(too_long, &files, &[("src/x.rs", &long)], &[("src/x.rs", &long[2..])]);
}

fn undocumented_entry(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let undocumented = |i: &usize| {
        let entry = ["@compute", "@vertex", "@fragment"].iter().any(|stage| lines[*i].starts_with(stage));
        entry && !(*i > 0 && lines[i - 1].starts_with("// ") && lines[i - 1].len() > 8)
    };
    (0..lines.len())
        .filter(undocumented)
        .map(|i| format!("{}: an entry point without a comment", i + 1))
        .collect()
}

#[test]
fn every_entry_point_is_documented() {
    let planted = [
        ("shaders/x.wgsl", "\n@compute @workgroup_size(64)\nfn f() {}"),
        ("shaders/x.wgsl", "//\n@compute\nfn f() {}"),
    ];
    let innocent =
        [("shaders/x.wgsl", "// out = alpha x. Overwrites.\n@compute @workgroup_size(64)\nfn f() {}")];
    holds(undocumented_entry, &sources(&["shaders"], "wgsl"), &planted, &innocent);
}

/// `crate version features` of the graphics crates for these kinds of dependencies.
fn graphics_features(edges: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--prefix", "none", "--no-dedupe", "-f", "{p} {f}", "-e", edges]);
    let output = cargo.current_dir(ROOT).output().expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    graphics_lines(&text)
}

fn graphics_lines(tree: &str) -> BTreeSet<String> {
    let ours = |line: &&str| {
        let name = line.split(' ').next().unwrap_or_default();
        ["wgpu", "naga", "egui", "eframe", "epaint"].iter().any(|prefix| name.starts_with(prefix))
    };
    // Tools for tests come with tests; what counts is that the crates of the program stay the same.
    tree.lines().filter(ours).filter(|line| !line.starts_with("egui_kittest")).map(str::to_owned).collect()
}

#[test]
fn tests_build_the_same_graphics_crates() {
    let program = graphics_features("normal,build");
    let tests = graphics_features("normal,build,dev");
    assert!(program.iter().any(|line| line.starts_with("wgpu v")), "{program:?}");
    let rebuilt: Vec<_> = program.difference(&tests).collect();
    assert!(rebuilt.is_empty(), "built once more for tests, with other features: {rebuilt:?}");
    let changed = "wgpu v1 a,b,c\nserde v1 std";
    assert_eq!(graphics_lines("wgpu v1 a,b\nserde v1").difference(&graphics_lines(changed)).count(), 1);
}

#[test]
fn versions_in_a_run_are_those_of_the_manifest() {
    let manifest = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).expect("the manifest");
    let pinned = |(name, version): &(&str, &str), text: &str| {
        text.lines()
            .any(|line| line.starts_with(&format!("{name} = ")) && line.contains(&format!("\"={version}\"")))
    };
    for pair in &PINNED {
        assert!(pinned(pair, &manifest), "{pair:?} is not what Cargo.toml pins");
        assert!(!pinned(pair, &manifest.replace(pair.1, "0.0.1")));
    }
}
