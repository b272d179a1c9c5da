//! The built program, driven from outside: exit codes, one-line errors, files, pipes and Ctrl-C.

use super::export::spec;
use plateau::export::{folder, toml, zip};
use plateau::spec::Spec;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program without a display, its input closed.
fn plateau(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for display in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_RUNTIME_DIR"] {
        command.env_remove(display);
    }
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    plateau(folder, arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with a small Spec, `small.toml`.
fn place() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_spec(folder.path(), "small.toml", &small());
    folder
}

fn small() -> Spec {
    let mut spec = spec(2, 3);
    spec.training.steps = 60;
    spec
}

fn write_spec(folder: &Path, name: &str, spec: &Spec) {
    fs::write(folder.join(name), toml::write(spec).expect("fits")).expect("written");
}

/// A folder that holds a run of the small Spec, made by the program itself.
fn place_with_run() -> TempDir {
    let folder = place();
    let made = output(folder.path(), &["run", "small.toml", "--executor", "cpu", "--out", "run"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    folder
}

/// Every file below, with its bytes; folders too.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(tree(&path));
            found.insert(path, None);
        } else {
            found.insert(path.clone(), Some(fs::read(&path).expect("readable")));
        }
    }
    found
}

/// Asserts exit code 2, one line that says `expected`, no output, and an untouched folder.
fn refused(folder: &Path, arguments: &[&str], expected: &str) {
    let before = tree(folder);
    let output = output(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?} says {said}");
    assert_eq!(said.lines().count(), 1, "{arguments:?} says {said}");
    assert!(said.starts_with("plateau: ") && said.ends_with('\n'), "{said}");
    assert!(said.contains(expected), "{arguments:?} says `{said}`, not `{expected}`");
    assert!(said.len() < 600 && !said.contains('\u{1b}'), "{said}");
    assert!(output.stdout.is_empty(), "{arguments:?} prints {}", text(&output.stdout));
    assert_eq!(before, tree(folder), "{arguments:?} changed something");
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let place = place();
    for (arguments, expected) in [
        (&["run", "sexa"][..], "no scenario is called `sexa`; nearest: saxe"),
        (&["run", "saxe", "--preset", "nope"], "saxe has no preset `nope`; nearest: "),
        (&["run", "small.toml", "--preset", "nope"], "--preset goes with a scenario"),
        (&["check", "S99"], "no claim is called `S99`; nearest: S1"),
        (&["run", "small.toml", "--set", "training.etta=1"], "nearest: training.eta"),
        (&["run", "small.toml", "--executor", "gpu", "--adapter", "no such card"], "no such card"),
        (&["flatten"], "unrecognized subcommand 'flatten'"),
        (&["run"], "required arguments were not provided"),
        (&["run", "small.toml", "--sed", "3"], "unexpected argument '--sed'"),
        (&["run", "small.toml", "--executor", "tpu"], "invalid value 'tpu'"),
        (&["check"], "required arguments were not provided"),
        (&["check", "S1", "--seeds", "0"], "--seeds 0: not between"),
        (&["check", "S1", "--seeds", "1000000000"], "--seeds 1000000000: not between"),
        (&["bench", "--seconds", "nan"], "not between"),
        (&[], "`plateau run saxe` runs without one"),
    ] {
        refused(place.path(), arguments, expected);
    }
}

#[test]
fn a_hostile_spec_is_refused_with_its_place() {
    let place = place();
    let good = toml::write(&small()).expect("fits");
    let huge = (0..100_000).map(|_| "1.0").collect::<Vec<_>>().join(", ");
    for (n, (content, expected)) in [
        (good.replace("tau = 8.0", "tau = nan"), "model.tau: NaN"),
        (good.replace("eta = 0.003", "eta = -0.003"), "training.eta: -0.003"),
        (
            good.replace("spectrum = [", &format!("spectrum = [{huge}, ")),
            "model.spectrum: 100003 singular values",
        ),
        (
            good.replace("members = 2", "members = 1000000000"),
            "1000000000 is more than the limit of 4096 (it would take",
        ),
        (good.replace("steps = 60", "steps = 9000000000000000000"), "training.steps"),
        (good.replace("depth = 2", "dpeth = 2"), "unknown field `dpeth`"),
        (good.replace("depth = 2", "depth = two"), "line "),
        (String::new(), "missing field"),
        ("[".repeat(100_000), "line 1"),
        ("#".repeat(2 << 20), "longer than"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("hostile{n}.toml");
        fs::write(place.path().join(&name), content).expect("written");
        refused(place.path(), &["run", &name, "--out", "out"], expected);
        refused(place.path(), &["run", &name], &name);
    }
    fs::write(place.path().join("binary.toml"), [0xff, 0xfe, 0x00]).expect("written");
    refused(place.path(), &["run", "binary.toml"], "binary.toml: not UTF-8 text");
    refused(place.path(), &["run", "missing.toml"], "missing.toml: No such file");
    fs::create_dir(place.path().join("folder.toml")).expect("made");
    refused(place.path(), &["run", "folder.toml"], "folder.toml: ");
    refused(place.path(), &["run", "a\nb\u{1b}[31m"], "no scenario is called");
}

#[test]
fn too_much_is_told_what_it_would_take() {
    let place = place();
    for (arguments, expected) in [
        (&["run", "small.toml", "--seeds", "1000000000"][..], "limit of 4096 (it would take"),
        (&["run", "small.toml", "--seeds", "18446744073709551615"], "EiB"),
        (&["run", "small.toml", "--seeds", "0"], "ensemble.members: must be at least 1"),
        (
            &["run", "small.toml", "--set", "training.steps=1e8", "--set", "measure.every=1"],
            "raise measure.every",
        ),
        (&["run", "small.toml", "--set", "model.spectrum=[1,2]"], "must not rise"),
        (&["run", "small.toml", "--set", "model.depth=9"], "model.depth: 9"),
    ] {
        refused(place.path(), arguments, expected);
    }
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let place = place_with_run();
    fs::create_dir(place.path().join("mine")).expect("made");
    fs::write(place.path().join("mine/thesis.txt"), "all of it").expect("written");
    let cpu = |out| ["run", "small.toml", "--executor", "cpu", "--out", out];
    refused(place.path(), &cpu("run"), "run: holds a run already; nothing was changed");
    refused(place.path(), &cpu("mine"), "mine: exists already and is not empty");
    refused(place.path(), &cpu("small.toml"), "small.toml: exists already and is not a folder");
    refused(place.path(), &cpu("small.toml/deep/run"), "cannot be written");
    refused(place.path(), &cpu("/proc/none/run"), "cannot be written");
    refused(place.path(), &cpu(".."), "not the name of a new folder");
}

#[test]
fn a_run_is_kept_and_opens() {
    let place = place_with_run();
    let log = folder::read(&place.path().join("run")).expect("our own folder");
    assert_eq!(log.header.as_ref().map(|header| &header.spec), Some(&small()));
    assert_eq!(log.last_step(), 60);
    let opened = output(place.path(), &["open", "run"]);
    assert_eq!(opened.status.code(), Some(0));
    assert!(text(&opened.stdout).contains("60 of 60"));
    // The Spec kept beside it gives the same run again.
    let again = output(place.path(), &["run", "run/spec.toml", "--executor", "cpu", "--out", "again", "-q"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(folder::read(&place.path().join("again")).expect("our own folder").same_run(&log));
}

#[test]
fn a_corrupt_folder_is_named_by_its_place() {
    let place = place_with_run();
    refused(place.path(), &["open", "nowhere"], "nowhere: No such file");
    fs::write(place.path().join("notes"), "no Spec at all").expect("written");
    refused(place.path(), &["open", "notes"], "notes: no Spec: line 1");
    let spoil = |file: &str, change: &dyn Fn(String) -> String, expected: &str| {
        let path = place.path().join("run").join(file);
        let good = fs::read_to_string(&path).expect("our own file");
        fs::write(&path, change(good.clone())).expect("written");
        refused(place.path(), &["open", "run"], expected);
        fs::write(&path, good).expect("written");
    };
    spoil("run.json", &|good| good[..100].to_owned(), "run/run.json: ");
    spoil("run.json", &|good| good.replace("\"members\": 2", "\"members\": 3"), "run/metrics.csv: line ");
    spoil("run.json", &|good| good.replace("\"rows\": ", "\"rows\": 99"), "run/metrics.csv: line ");
    spoil("metrics.csv", &|good| good.replacen("sigma", "gamma", 1), "run/metrics.csv: line 3: ");
    spoil("metrics.csv", &|good| good[..good.len() / 2].to_owned(), "run/metrics.csv: line ");
    spoil("metrics.csv", &|_| String::new(), "run/metrics.csv: line 1: ");
    for file in ["metrics.csv", "run.json"] {
        fs::remove_file(place.path().join("run").join(file)).expect("there");
        refused(place.path(), &["open", "run"], &format!("run/{file}: No such file"));
    }
}

#[test]
fn a_zip_a_file_and_a_spec_open_too() {
    let place = place_with_run();
    let log = folder::read(&place.path().join("run")).expect("our own folder");
    fs::write(place.path().join("run.zip"), zip::write(&log).expect("packed")).expect("written");
    for what in ["run", "run.zip", "run/run.json"] {
        let opened = output(place.path(), &["open", what]);
        assert!(text(&opened.stdout).contains("60 of 60"), "{what}: {}", text(&opened.stderr));
    }
    let opened = output(place.path(), &["open", "small.toml"]);
    assert_eq!(toml::read(&text(&opened.stdout)), Ok(small()));
    // A run.json alone has no rows; its Spec gives them again.
    fs::copy(place.path().join("run/run.json"), place.path().join("run.json")).expect("copied");
    assert_eq!(toml::read(&text(&output(place.path(), &["open", "run.json"]).stdout)), Ok(small()));
}

#[test]
fn a_link_opens_as_its_spec() {
    let place = place();
    for link in [
        "https://example.org/lab/#saxe/identity?training.eta=0.02&ensemble.members=3",
        "#saxe/identity?training.eta=0.02&ensemble.members=3&executor=cpu",
        "saxe/identity?training.eta=0.02&ensemble.members=3",
    ] {
        let opened = output(place.path(), &["open", link]);
        assert_eq!(opened.status.code(), Some(0), "{}", text(&opened.stderr));
        fs::write(place.path().join("link.toml"), &opened.stdout).expect("written");
        let spec = toml::read(&text(&opened.stdout)).expect("a Spec");
        assert_eq!((spec.training.eta, spec.ensemble.members), (0.02, 3));
    }
    refused(
        place.path(),
        &["open", "#saxe/identty"],
        "#saxe/identty: saxe has no preset `identty`; nearest: identity",
    );
    refused(place.path(), &["open", "https://example.org/#saxe?model.depth=9"], "model.depth: 9");
}

#[test]
fn help_and_lists_are_there() {
    let place = place();
    for arguments in [
        &["--help"][..],
        &["list", "--help"],
        &["adapters", "--help"],
        &["run", "--help"],
        &["check", "--help"],
        &["bench", "--help"],
        &["open", "--help"],
        &["--version"],
        &["list"],
        &["adapters"],
    ] {
        let output = output(place.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        assert!(
            !output.stdout.is_empty() && output.stderr.is_empty(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    }
    let list = text(&output(place.path(), &["list"]).stdout);
    assert!(list.contains("saxe") && list.contains("S1") && list.contains("--preset"), "{list}");
}

/// Every adapter of the machine is right, and one line says so below its own.
#[test]
fn adapters_are_checked_on_demand() {
    let output = output(place().path(), &["adapters", "--check"]);
    let said = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{said}");
    let listed = said.lines().filter(|line| !line.starts_with("  ")).count();
    let right = format!("  computes right: {} kernels, ", plateau::kernels::KERNELS.len());
    let checked = said.lines().filter(|line| line.starts_with(&right) && line.ends_with(" ms")).count();
    assert!(checked == listed || said.starts_with("no graphics adapter"), "{said}");
}

#[test]
fn a_pipe_gets_results_and_nothing_else() {
    let place = place();
    let run = output(place.path(), &["run", "small.toml", "--executor", "cpu"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(run.stderr.is_empty(), "{}", text(&run.stderr));
    assert!(!run.stdout.contains(&0x1b) && !run.stdout.contains(&b'\r'));
    assert!(text(&run.stdout).contains("60 of 60"));
}

/// util-linux's `script` gives the program a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_progress_with_the_time_left() {
    let place = place();
    let run = |quiet: &str| {
        let program = env!("CARGO_BIN_EXE_plateau");
        let line = format!("{program} run small.toml --executor cpu --set training.steps=200000 {quiet}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(place.path()).stdin(Stdio::null());
        command.env("TERM", "xterm").output()
    };
    let Ok(shown) = run("") else { return eprintln!("skipped: no `script` to make a terminal with") };
    assert!(text(&shown.stdout).contains(" left"), "{}", text(&shown.stdout));
    let quiet = run("-q").expect("it ran before");
    assert!(!text(&quiet.stdout).contains(" left"), "{}", text(&quiet.stdout));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_there_is() {
    let place = place();
    let long = ["run", "small.toml", "--executor", "cpu", "--out", "run", "--set", "training.steps=1e8"];
    let mut command = plateau(place.path(), &long);
    command.args(["--set", "measure.every=1e6", "--seeds", "1"]).stdout(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    // The claimed folder shows that the work has begun.
    let claimed = || tree(place.path()).keys().any(|path| path.to_string_lossy().contains(".run.partial-"));
    for _ in 0..600 {
        if claimed() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(!place.path().join("run").exists(), "half a run stands under the final name");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stdout));
    let log = folder::read(&place.path().join("run")).expect("a readable folder");
    assert!(!log.steps.is_empty() && log.last_step() < 100_000_000);
    assert!(!claimed(), "the temporary folder is left behind");
}

/// A file system of 64 KiB in a mount namespace of its own, where that is allowed.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line_and_the_run_is_kept_elsewhere() {
    let place = place();
    fs::create_dir_all(place.path().join("full")).expect("made");
    fs::create_dir_all(place.path().join("spare")).expect("made");
    let program = env!("CARGO_BIN_EXE_plateau");
    let script = format!(
        "mount -t tmpfs -o size=64k none full && echo mounted && \
         TMPDIR=$PWD/spare exec {program} run small.toml --executor cpu --seeds 200 --out full/run"
    );
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).current_dir(place.path());
    let Ok(output) = command.output() else { return eprintln!("skipped: no `unshare`") };
    if !text(&output.stdout).starts_with("mounted") {
        return eprintln!("skipped: no mount namespace: {}", text(&output.stderr));
    }
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("cannot write metrics.csv: No space left on device; the run is kept in "),
        "{said}"
    );
    let kept = said.trim().rsplit(' ').next().expect("a path");
    assert_eq!(folder::read(Path::new(kept)).expect("a readable folder").last_step(), 60);
}

#[test]
fn a_check_is_json_where_asked() {
    let place = place();
    let output =
        output(place.path(), &["check", "S1", "--quick", "--seeds", "2", "--json", "--executor", "cpu"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", text(&output.stdout), text(&output.stderr)));
    let claims = found.as_array().expect("an array");
    assert_eq!(claims.len(), 1);
    for key in ["claim", "verdict", "measured", "interval", "oracle", "seeds", "seconds"] {
        assert!(claims[0].get(key).is_some(), "no {key} in {found}");
    }
    assert_eq!(claims[0]["claim"], "S1");
    let verdict = claims[0]["verdict"].as_str().expect("a word");
    assert!(["holds", "fails", "not resolved"].contains(&verdict), "{verdict}");
    assert_eq!(output.status.code(), Some(i32::from(verdict != "holds")));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

/// A device that takes nothing, as a full disk does.
#[cfg(target_os = "linux")]
fn full() -> Stdio {
    Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").expect("linux has it"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_changes_no_ending() {
    let folder = place();
    let bad = plateau(folder.path(), &["run", "nope"]).stderr(full()).status().expect("starts");
    assert_eq!(bad.code(), Some(2));
    // A diverging run warns; nobody hears it, and the run is kept all the same.
    let arguments = ["run", "small.toml", "--executor", "cpu", "--set", "training.eta=10", "--out", "kept"];
    let run =
        plateau(folder.path(), &arguments).stdout(Stdio::null()).stderr(full()).status().expect("starts");
    assert_eq!(run.code(), Some(0));
    assert!(folder.path().join("kept/run.json").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_said() {
    let folder = place();
    let output = plateau(folder.path(), &["list"]).stdout(full()).output().expect("starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
}

#[test]
fn a_run_that_nobody_could_have_made_is_not_opened() {
    let folder = place_with_run();
    let path = folder.path().join("run/run.json");
    let good = fs::read_to_string(&path).expect("readable");
    let id = format!("\"scenario\": \"{}\"", small().scenario);
    assert!(good.contains(&id));
    fs::write(&path, good.replace(&id, "\"scenario\": \"zzz\"")).expect("written");
    let output = output(folder.path(), &["open", "run", "--summary"]);
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(2), 1));
}
