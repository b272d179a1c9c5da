//! Files of a run: what goes out comes back, bit for bit, and what is corrupt is named by its place.

use plateau::engine::protocol::*;
use plateau::export::{bands, csv, figure, folder, json, overrides, png, svg, toml};
use plateau::runlog::RunLog;
use plateau::scenarios::{Curve, Overlay};
use plateau::spec::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

pub fn spec(members: u32, d: usize) -> Spec {
    Spec {
        scenario: "saxe".into(),
        seed: 7,
        ensemble: Ensemble { members },
        training: Training { eta: (0.1 + 0.2) / 100.0, steps: 1_000 },
        measure: Measure { every: 10 },
        model: Model::Linear(Linear {
            spectrum: (0..d).map(|i| 4.0 * 0.7_f64.powi(i as i32)).collect(),
            depth: 2,
            start: Start::Aligned,
            tau: 8.0,
            imbalance: 1.0,
            basis: Basis::Random,
            det: Det::Any,
        }),
    }
}

/// A run that looks like one: sigmoids one after another, and values that are not finite where asked.
pub fn log(members: u32, d: usize, rows: usize, value: impl Fn(usize, usize, usize) -> f32) -> RunLog {
    let spec = spec(members, d);
    let info = |name: &str, width| MetricInfo {
        name: name.into(),
        width,
        unit: "1".into(),
        formula: format!("formula of \"{name}\", with a comma"),
    };
    let header = Header {
        executor: ExecutorInfo {
            kind: "cpu".into(),
            device: "synthetic".into(),
            backend: String::new(),
            software: false,
            variants: vec!["matmul=none".into()],
            reason: "a test".into(),
        },
        metrics: vec![info("loss", 1), info("sigma", d)],
        memory: MemoryPlan { parts: vec![("parameters".into(), 1)] },
        version: "0.0.0".into(),
        spec,
    };
    let mut log = RunLog::default();
    log.fold(&Event::Started(Box::new(header)));
    let mut all = Rows::default();
    for row in 0..rows {
        all.steps.push(10 * row as u64);
        all.times.push(row as f64 * (0.1 + 0.2));
        for member in 0..members as usize {
            all.values.extend((0..=d).map(|index| value(row, member, index)));
        }
    }
    log.fold(&Event::Rows(all));
    log.fold(&Event::Intervention(Intervention { step: 40, change: Change::Eta(0.1 + 0.7) }));
    log.fold(&Event::Notice(Notice {
        level: Level::Warning,
        step: 3,
        text: "two\nlines, \"quoted\"".into(),
    }));
    log
}

pub fn sigmoids(row: usize, member: usize, index: usize) -> f32 {
    let time = row as f32 / 10.0 - index as f32;
    let s = 4.0 * 0.7_f32.powi(index as i32 - 1);
    let noise = 1.0 + 0.05 * ((member * 37 % 11) as f32 - 5.0);
    if index == 0 { 30.0 * (row as f32 / -15.0).exp() } else { s / (1.0 + (-3.0 * time * noise).exp()) }
}

fn theory(d: usize) -> Overlay {
    let curve = |index: usize| Curve {
        metric: "sigma",
        index,
        formula: "s / (1 + e^-t)",
        points: (0..100).map(|row| [10.0 * row as f64, sigmoids(row, 5, index + 1).into()]).collect(),
    };
    Overlay {
        curves: (0..d).map(curve).collect(),
        half_steps: (0..d).map(|index| (index, 100.0 * (index + 1) as f64)).collect(),
        caveat: String::new(),
    }
}

fn csv_text(log: &RunLog) -> String {
    let mut out = Vec::new();
    csv::write(log, &mut out).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

fn json_text(log: &RunLog) -> String {
    let mut out = Vec::new();
    json::write(log, &mut out).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

fn read_back(log: &RunLog) -> RunLog {
    let (mut read, rows) = json::read(&json_text(log)).expect("our own file");
    csv::read(&mut read, rows, csv_text(log).as_bytes()).expect("our own file");
    read
}

#[test]
fn a_run_comes_back_bit_for_bit() {
    let odd = [
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        f32::MIN_POSITIVE,
        1e-45,
        f32::MAX,
        0.1,
    ];
    let log = log(3, 4, 20, |row, member, index| odd[(row + 2 * member + index) % odd.len()]);
    let read = read_back(&log);
    assert!(log.same_run(&read));
    assert_eq!(log.header, read.header);
    assert_eq!(log.notices, read.notices);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_float_comes_back(
        bits in prop::collection::vec(any::<u32>(), 8),
        // Any learning rate that a run admits; the reader refuses others.
        eta in (-300.0..3.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        time in any::<f64>(),
    ) {
        // Payloads of NaNs other than the two that arithmetic makes are not kept.
        let values: Vec<f32> = bits.into_iter().map(f32::from_bits).filter(|v| !v.is_nan()).collect();
        prop_assume!(!values.is_empty() && time.is_finite());
        let mut log = log(2, 3, 5, |row, member, index| values[(row * 7 + member * 3 + index) % values.len()]);
        log.times[2] = time;
        log.interventions[0].change = Change::Eta(eta);
        prop_assert!(log.same_run(&read_back(&log)));
    }

    #[test]
    fn no_text_breaks_the_readers(text in "(?s).{0,400}", csv_body in "[0-9,.a-z\n\"]{0,200}") {
        let _ = toml::read(&text);
        let _ = json::read(&text);
        let log = log(2, 3, 5, sigmoids);
        let (mut read, rows) = json::read(&json_text(&log)).expect("our own file");
        let _ = csv::read(&mut read, rows, format!("{}\n{csv_body}", csv::COLUMNS.join(",")).as_bytes());
    }

    #[test]
    fn a_spec_comes_back_from_toml(eta in 1e-9..1e3_f64, tau in 0.0..40.0_f64, seed in any::<u32>()) {
        let mut spec = spec(3, 5);
        spec.training.eta = eta;
        spec.seed = seed;
        let Model::Linear(linear) = &mut spec.model;
        linear.tau = tau;
        prop_assert_eq!(toml::read(&toml::write(&spec).expect("fits")), Ok(spec));
    }
}

#[test]
fn the_csv_is_tidy_and_short() {
    let text = csv_text(&log(2, 2, 3, |_, _, _| 0.1));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("step,time,member,metric,index,value"));
    assert_eq!(lines.next(), Some("0,0.0,0,loss,0,0.1"));
    assert_eq!(lines.count(), 3 * 2 * 3 - 1);
}

/// Reads the CSV of a good run after a change, and gives the complaint.
fn complaint(change: impl FnOnce(&str) -> String) -> String {
    let log = log(2, 2, 3, sigmoids);
    let (mut read, rows) = json::read(&json_text(&log)).expect("our own file");
    let text = change(&csv_text(&log));
    csv::read(&mut read, rows, text.as_bytes()).expect_err("the file is corrupt")
}

#[test]
fn a_corrupt_csv_is_named_by_line() {
    let line = |n: usize, to: &'static str| {
        move |text: &str| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines[n - 1] = to;
            lines.join("\n")
        }
    };
    let cases: [(String, &str); 11] = [
        (complaint(|_| String::new()), "line 1: the header"),
        (complaint(line(1, "step,time,member,metric,index")), "line 1: the header"),
        (complaint(line(4, "0,0.0,0,sigma,1,abc")), "line 4: value `abc` is not a number"),
        (complaint(line(4, "0,0.0,0,sigma,1")), "line 4: 5 fields where 6 belong"),
        (
            complaint(line(4, "0,0.0,7,sigma,1,1.0")),
            "line 4: member 0, metric sigma, index 1 should stand here",
        ),
        (complaint(line(8, "0,0.0,0,loss,0,1.0")), "line 8: step 0 after step 0"),
        (complaint(line(9, "11,0.0,0,sigma,0,1.0")), "line 9: step 11 at time 0 within the row of step 10"),
        (complaint(line(4, "-5,0.0,0,sigma,1,1.0")), "line 4: step `-5` is not a number"),
        (complaint(line(2, "0,inf,0,loss,0,1.0")), "line 2: time inf is not finite"),
        (complaint(|text| text[..text.len() - 60].to_owned()), "line 18: 4 fields"),
        (complaint(|text| format!("{text}30,9.9,0,loss,0,1.0\n")), "line 20: more than the 3 rows"),
    ];
    for (said, expected) in cases {
        assert!(said.contains(expected), "`{said}` does not say `{expected}`");
        assert!(!said.contains('\n'));
    }
    let endless = complaint(|text| format!("{text}{}", "9".repeat(1 << 20)));
    assert!(endless.contains("longer than"), "{endless}");
}

#[test]
fn a_corrupt_json_is_named_by_place() {
    let good = json_text(&log(2, 2, 3, sigmoids));
    let fails = |text: String| json::read(&text).map(|_| ()).expect_err("the file is corrupt");
    let cases = [
        (fails(good[..good.len() / 2].to_owned()), "line "),
        (fails(good.replace("plateau run 1", "plateau run 2")), "reads `plateau run 1`"),
        (fails(good.replace("\"members\": 2", "\"members\": 1000000000")), "spec.ensemble.members"),
        (fails(good.replace("\"width\": 2", "\"width\": 1000000000000")), "metrics[1].width"),
        (fails(good.replace("\"seed\": 7,\n  \"rows\"", "\"seed\": 8,\n  \"rows\"")), "seed is 8"),
        (fails("[".repeat(1 << 16)), "line 1"),
        (fails(String::new()), "line 1"),
    ];
    for (said, expected) in cases {
        assert!(said.contains(expected), "`{said}` does not say `{expected}`");
        assert!(!said.contains('\n'));
    }
    let (mut read, _) = json::read(&good).expect("our own file");
    let many = csv::read(&mut read, usize::MAX, &b""[..]).expect_err("too many");
    assert!(many.contains("more than a run may have"), "{many}");
}

#[test]
fn a_folder_comes_back_and_is_never_overwritten() {
    let base = tempfile::tempdir().expect("a temporary folder");
    let target = base.path().join("new/deep/run");
    let log = log(3, 4, 20, sigmoids);
    let claim = folder::RunFolder::claim(&target).expect("free");
    assert!(!target.exists(), "nothing stands under the final name before the run is whole");
    assert_eq!(claim.keep(&log), Ok(target.clone()));
    assert!(folder::read(&target).expect("our own folder").same_run(&log));
    for name in ["run.json", "metrics.csv", "spec.toml", "figure.svg", "figure.png"] {
        assert!(fs::metadata(target.join(name)).is_ok_and(|meta| meta.len() > 0), "{name}");
    }
    assert_eq!(names(base.path()), ["new"], "nothing temporary is left");
    let refused = folder::RunFolder::claim(&target).map(|_| ()).expect_err("taken");
    assert!(refused.contains("holds a run already"), "{refused}");
    assert!(folder::read(&target).expect("untouched").same_run(&log));
}

#[test]
fn a_place_taken_in_the_meantime_costs_nothing() {
    let base = tempfile::tempdir().expect("a temporary folder");
    let target = base.path().join("run");
    let log = log(1, 2, 3, sigmoids);
    let claim = folder::RunFolder::claim(&target).expect("free");
    fs::create_dir(&target).expect("made");
    fs::write(target.join("mine"), "mine").expect("written");
    assert_eq!(claim.keep(&log), Ok(base.path().join("run-2")));
    assert_eq!(names(&target), ["mine"]);
}

#[test]
fn a_dropped_claim_leaves_nothing() {
    let base = tempfile::tempdir().expect("a temporary folder");
    drop(folder::RunFolder::claim(&base.path().join("a/b")).expect("free"));
    assert!(names(base.path()).is_empty());
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let error = csv::write(&log(3, 4, 200, sigmoids), full).expect_err("no space");
    assert!(error.to_string().contains("No space left"), "{error}");
}

#[test]
fn the_figure_has_its_parts() {
    let (log, theory) = (log(16, 4, 100, sigmoids), theory(4));
    let text = svg::draw(&log, &theory).expect("drawn");
    for part in
        ["<svg", "Modes one after another", "mode 4", "theory", "half-time", "of 16 seeds", "step", "loss"]
    {
        assert!(text.contains(part), "no {part} in the figure");
    }
    let bare = svg::draw(&log, &Overlay::default()).expect("drawn");
    assert!(!bare.contains("theory") && bare.len() < text.len());
    let bytes = png::draw(&log, &theory).expect("drawn");
    let reader = ::png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG");
    assert_eq!(reader.info().size(), (figure::SIZE.0 * 2, figure::SIZE.1 * 2));
    if let Some(folder) = std::env::var_os("PLATEAU_TEST_FIGURES") {
        fs::write(Path::new(&folder).join("figure.png"), bytes).expect("written");
        fs::write(Path::new(&folder).join("figure.svg"), text).expect("written");
    }
}

#[test]
fn any_run_can_be_drawn() {
    for (members, d, rows) in [(1, 1, 0), (1, 1, 1), (4, 64, 30), (2, 9, 3)] {
        for value in [sigmoids, |_, _, _| f32::NAN, |_, _, _| 0.0, |_, _, _| -1e30] {
            let log = log(members, d, rows, value);
            svg::draw(&log, &theory(d)).expect("drawn");
        }
    }
    let empty = svg::draw(&RunLog::default(), &Overlay::default());
    assert_eq!(empty, Err("there is no run to draw".to_owned()));
    assert_eq!(bands::QUANTILES, [0.05, 0.95]);
}

#[test]
fn one_field_changes_by_its_path() {
    let base = spec(3, 4);
    let apply = |text: &str| overrides::apply(&base, text);
    assert_eq!(apply("training.eta=0.5").map(|spec| spec.training.eta), Ok(0.5));
    assert_eq!(apply("training.eta=1").map(|spec| spec.training.eta), Ok(1.0));
    assert_eq!(apply("training.steps=1e6").map(|spec| spec.training.steps), Ok(1_000_000));
    assert_eq!(apply("seed = 9").map(|spec| spec.seed), Ok(9));
    let linear = |spec: Spec| {
        let Model::Linear(linear) = spec.model;
        linear
    };
    assert_eq!(apply("model.start=identity").map(|spec| linear(spec).start), Ok(Start::Identity));
    assert_eq!(apply("model.spectrum=[3, 1]").map(|spec| linear(spec).spectrum), Ok(vec![3.0, 1.0]));
    for (bad, expected) in [
        ("training.etta=1", "nearest: training.eta"),
        ("eta=1", "training.eta"),
        ("model=1", "no field `model`"),
        ("training.eta", "not PATH=VALUE"),
        ("training.steps=1.5", "expected u64"),
        ("training.steps=-1", "expected u64"),
        ("model.start=sideways", "expected one of `aligned`"),
        ("seed=1\nscenario='x'", "expected u32"),
        ("model.spectrum=[3, .5]", "model.spectrum: `[3, .5]` is no TOML value"),
        ("=", "no field ``"),
    ] {
        let said = apply(bad).expect_err(bad);
        assert!(said.contains(expected) && !said.contains('\n'), "`{bad}` says `{said}`, not `{expected}`");
    }
}

#[test]
fn a_malformed_spec_is_named_by_its_place() {
    let good = toml::write(&spec(3, 2)).expect("fits");
    toml::read(&good).expect("our own text");
    let fails = |text: &str| toml::read(text).expect_err("malformed");
    let line_of = |text: &str, part: &str| text.lines().position(|line| line.contains(part)).map(|n| n + 1);
    let unknown = good.replace("tau =", "tua =");
    let at = format!("line {}, column 1: unknown field `tua`", line_of(&unknown, "tua").expect("there"));
    let members = good.replace("members = 3", "members = \"three\"");
    let members_at = format!("line {}, column 11: invalid type", line_of(&members, "three").expect("there"));
    for (said, expected) in [
        (fails(&unknown), at.as_str()),
        (fails(&members), members_at.as_str()),
        (fails(&good.replace("\"saxe\"", "\"sexa\"")), "nearest: saxe"),
        (fails(&good.replace("tau = 8.0", "tau = nan")), "model.tau: NaN"),
        (fails(&good.replace("members = 3", "members = 1000000000")), "ensemble.members: 1000000000 is more"),
        (fails(&good.replace("members = 3", "members = -1")), "line "),
        (fails(&good.replace("kind = \"linear\"", "kind = \"cubic\"")), "unknown variant `cubic`"),
        (fails("seed = = 1"), "line 1, column"),
        (fails(""), "missing field"),
        (fails(&format!("a = {}", "[".repeat(100_000))), "recurs"),
        (fails(&" ".repeat(2 << 20)), "longer than"),
    ] {
        assert!(said.contains(expected), "`{said}` does not say `{expected}`");
        assert!(!said.contains('\n') && said.chars().count() < 400, "{said}");
    }
}

/// An empty folder is filled and keeps its mode; one that is no longer empty is left alone.
#[cfg(unix)]
#[test]
fn an_empty_folder_is_filled_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().expect("a temporary folder");
    let private = place.path().join("private");
    std::fs::create_dir(&private).expect("made");
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).expect("set");
    let run = log(2, 3, 5, sigmoids);
    let kept = folder::RunFolder::claim(&private).expect("claimed").keep(&run).expect("kept");
    assert_eq!(kept, private);
    assert_eq!(std::fs::metadata(&private).expect("there").permissions().mode() & 0o777, 0o700);
    assert!(folder::read(&private).expect("a run").same_run(&run));
    let hidden = std::fs::read_dir(&private).expect("there").flatten();
    assert!(hidden.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));

    let other = place.path().join("other");
    std::fs::create_dir(&other).expect("made");
    let claim = folder::RunFolder::claim(&other).expect("claimed");
    std::fs::write(other.join("letter"), "mine").expect("written");
    assert_eq!(claim.keep(&run).expect("kept"), place.path().join("other-2"));
    assert_eq!(std::fs::read_to_string(other.join("letter")).expect("still there"), "mine");
}
