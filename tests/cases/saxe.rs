//! The Saxe scenario on runs trained by a plain loop: the check holds, and fails where it should.

use nalgebra::DMatrix;
use plateau::engine::admit;
use plateau::engine::protocol::{Change, Event, ExecutorInfo, Header, Intervention, MemoryPlan, Rows};
use plateau::models::linear;
use plateau::runlog::RunLog;
use plateau::scenarios::saxe::SCENARIO;
use plateau::scenarios::{CheckContext, Report, Verdict};
use plateau::spec::{Linear, Model, Spec, Start};

/// What is wrong with a run.
#[derive(Clone, Copy, Default)]
struct Fault {
    /// The update uses `eta` times this.
    eta_factor: Option<f64>,
    /// Indices of two modes that are measured in each other's place.
    swapped: Option<(usize, usize)>,
    /// Relative noise on every measured value.
    noise: f64,
    /// Steps after which the run ends.
    ends: Option<u64>,
    /// A step whose values are not finite.
    not_finite: Option<u64>,
    /// The learning rate from a step on.
    change: Option<(u64, f64)>,
}

type Matrix = DMatrix<f32>;

/// One step of gradient descent on `||P - A||_F^2`, and `P` before it.
fn step(layers: &mut [Matrix], a: &Matrix, eta: f32) {
    let d = a.nrows();
    let one = Matrix::identity(d, d);
    let error = (layers.iter().fold(one.clone(), |p, layer| p * layer) - a) * 2.0;
    let gradients: Vec<Matrix> = (0..layers.len())
        .map(|i| {
            let left = layers[..i].iter().fold(one.clone(), |p, layer| p * layer);
            let right = layers[i + 1..].iter().fold(one.clone(), |p, layer| p * layer);
            left.transpose() * &error * right.transpose()
        })
        .collect();
    for (layer, gradient) in layers.iter_mut().zip(gradients) {
        *layer -= gradient * eta;
    }
}

/// `[loss, sigma…]` at each logged step of one member.
fn train(spec: &Spec, linear: &Linear, member: u32, fault: Fault) -> Vec<Vec<f32>> {
    let task = linear::task(spec, linear, member);
    let a: Matrix = task.a.map(|x| x as f32);
    let mut layers: Vec<Matrix> =
        linear::start(spec, linear, member).iter().map(|layer| layer.map(|x| x as f32)).collect();
    let (u, v): (Matrix, Matrix) = (task.u.map(|x| x as f32), task.v.map(|x| x as f32));
    let mut rows = Vec::new();
    for k in 0..=fault.ends.unwrap_or(spec.training.steps) {
        if k.is_multiple_of(spec.measure.every) || k == spec.training.steps {
            let p = layers.iter().skip(1).fold(layers[0].clone(), |p, layer| p * layer);
            let mut row = vec![(&p - &a).norm_squared()];
            row.extend((0..u.ncols()).map(|i| u.column(i).dot(&(&p * v.column(i)))));
            rows.push(spoilt(row, k, fault));
        }
        let changed = fault.change.filter(|change| change.0 <= k).map(|change| change.1);
        let eta = changed.unwrap_or(spec.training.eta) * fault.eta_factor.unwrap_or(1.0);
        step(&mut layers, &a, eta as f32);
    }
    rows
}

fn spoilt(mut row: Vec<f32>, k: u64, fault: Fault) -> Vec<f32> {
    if let Some((i, j)) = fault.swapped {
        row.swap(1 + i, 1 + j);
    }
    for (i, value) in row.iter_mut().enumerate() {
        // A fixed pattern of signs and sizes; any noise will do.
        *value *= 1.0 + (fault.noise * ((k * 37 + i as u64 * 11) as f64).sin()) as f32;
    }
    if fault.not_finite == Some(k) {
        row[1] = f32::NAN;
    }
    row
}

/// The RunLog of a Spec trained by the loop above.
fn synthetic(spec: &Spec, fault: Fault) -> RunLog {
    let Model::Linear(linear) = &spec.model;
    let executor = ExecutorInfo {
        kind: "cpu".into(),
        device: String::new(),
        backend: String::new(),
        software: false,
        variants: Vec::new(),
        reason: String::new(),
    };
    let header = Header {
        spec: spec.clone(),
        executor,
        metrics: linear::metrics(linear),
        memory: MemoryPlan::default(),
        version: String::new(),
    };
    let mut log = RunLog::default();
    log.fold(&Event::Started(Box::new(header)));
    let members: Vec<_> = (0..spec.ensemble.members).map(|m| train(spec, linear, m, fault)).collect();
    let last = fault.ends.unwrap_or(spec.training.steps);
    let steps: Vec<u64> =
        (0..=last).filter(|k| k.is_multiple_of(spec.measure.every) || *k == spec.training.steps).collect();
    let times = steps.iter().map(|&k| time(spec, fault, k)).collect();
    let values = (0..steps.len()).flat_map(|row| members.iter().flat_map(move |m| m[row].clone())).collect();
    log.fold(&Event::Rows(Rows { steps, times, values }));
    if let Some((step, eta)) = fault.change {
        log.fold(&Event::Intervention(Intervention { step, change: Change::Eta(eta) }));
    }
    log
}

fn time(spec: &Spec, fault: Fault, k: u64) -> f64 {
    let (from, eta) = fault.change.unwrap_or((u64::MAX, 0.0));
    k.min(from) as f64 * spec.training.eta + k.saturating_sub(from) as f64 * eta
}

/// The check of S1 where runs chosen by `faulty` have the fault.
fn checked(seeds: u32, quick: bool, fault: Fault, faulty: fn(&Linear) -> bool) -> Report {
    let mut run = |spec: &Spec| {
        admit::admit(spec)?;
        let Model::Linear(linear) = &spec.model;
        Ok(synthetic(spec, if faulty(linear) { fault } else { Fault::default() }))
    };
    (SCENARIO.check)("S1", &mut CheckContext { seeds, quick, run: &mut run }).unwrap()
}

fn aligned(linear: &Linear) -> bool {
    linear.start == Start::Aligned && linear.depth == 2
}

/// What the findings that do not hold are about.
fn failing(report: &Report) -> Vec<&str> {
    let fails = report.findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    fails.map(|finding| finding.what.as_str()).collect()
}

#[test]
fn the_check_holds_on_sound_runs() {
    let report = checked(4, false, Fault::default(), aligned);
    for f in &report.findings {
        println!("{:?} {}: {} {:?} | {}", f.verdict, f.what, f.measured, f.interval, f.oracle);
    }
    assert_eq!(report.verdict, Verdict::Holds, "{:?}", failing(&report));
    assert!(report.findings.len() >= 20);
}

#[test]
fn the_check_fails_on_a_wrong_factor() {
    let fault = Fault { eta_factor: Some(0.5), ..Fault::default() };
    let report = checked(3, true, fault, aligned);
    assert_eq!(report.verdict, Verdict::Fails);
    let failing = failing(&report);
    assert_eq!(failing.iter().filter(|what| what.contains("half-time in steps")).count(), 8, "{failing:?}");
    // 2% of the learning rate is beyond the tolerance too.
    let fault = Fault { eta_factor: Some(1.02), ..Fault::default() };
    assert_eq!(checked(3, true, fault, aligned).verdict, Verdict::Fails);
}

#[test]
fn the_check_fails_on_swapped_modes() {
    let fault = Fault { swapped: Some((2, 3)), ..Fault::default() };
    let report = checked(3, true, fault, aligned);
    assert!(failing(&report).iter().any(|what| what.contains("in the order of s")), "{:?}", failing(&report));
    let report = checked(3, true, fault, |linear| linear.start == Start::Random);
    assert_eq!(report.verdict, Verdict::Fails, "random start");
}

#[test]
fn the_check_fails_on_noise_and_on_numbers_that_are_not_finite() {
    let fault = Fault { noise: 0.01, ..Fault::default() };
    let report = checked(3, true, fault, aligned);
    assert!(failing(&report).iter().any(|what| what.contains("exact curve")), "{:?}", failing(&report));
    let fault = Fault { not_finite: Some(700), ..Fault::default() };
    let report = checked(3, true, fault, aligned);
    assert!(failing(&report).iter().any(|what| what.contains("not finite")), "{:?}", failing(&report));
}

#[test]
fn the_check_fails_where_the_wrong_starts_are_theory() {
    // Random and identity starts trained at 1.1 eta, and one layer trained as if it were deep.
    let fault = Fault { eta_factor: Some(1.1), ..Fault::default() };
    for start in [Start::Random, Start::Identity] {
        let only: fn(&Linear) -> bool = match start {
            Start::Random => |linear| linear.start == Start::Random,
            _ => |linear| linear.start == Start::Identity,
        };
        let report = checked(5, true, fault, only);
        assert!(failing(&report).iter().any(|what| what.contains("log-odds")), "{:?}", failing(&report));
    }
    let report = checked(3, true, fault, |linear| linear.depth == 1);
    assert_eq!(report.verdict, Verdict::Fails);
}

#[test]
fn a_run_cut_short_or_too_few_seeds_resolve_nothing() {
    let fault = Fault { ends: Some(600), ..Fault::default() };
    assert_eq!(checked(3, true, fault, aligned).verdict, Verdict::NotResolved);
    assert_eq!(checked(1, true, Fault::default(), aligned).verdict, Verdict::NotResolved);
    let mut run = |_: &Spec| anyhow::bail!("no run is needed");
    let mut context = CheckContext { seeds: 3, quick: true, run: &mut run };
    assert!((SCENARIO.check)("S2", &mut context).is_err());
    assert!((SCENARIO.check)("S1", &mut CheckContext { seeds: 0, quick: true, run: context.run }).is_err());
}

#[test]
fn presets_are_admitted_and_theory_lies_over_them() {
    let presets = (SCENARIO.presets)();
    assert!(presets.len() >= 12);
    for preset in &presets {
        let Err(refusal) = admit::admit(&preset.spec) else { continue };
        panic!("{}: {refusal}", preset.id);
    }
    for preset in presets {
        let rows = admit::rows(preset.spec.training.steps, preset.spec.measure.every);
        assert!((200..=700).contains(&rows), "{}: {rows} rows", preset.id);
        let log = synthetic(&preset.spec, Fault::default());
        let overlay = (SCENARIO.overlay)(&log);
        println!("{}: {}", preset.id, overlay.caveat);
        assert_overlay(preset.id, &preset.spec, &log, &overlay);
    }
}

/// The largest distance of an overlay's sigma curves from the median over members, over `s_1`.
fn sigma_distance(spec: &Spec, log: &RunLog, overlay: &plateau::scenarios::Overlay) -> f64 {
    let Model::Linear(linear) = &spec.model;
    let sigma = log.metric("sigma").unwrap();
    let mut worst = 0.0_f64;
    for curve in overlay.curves.iter().filter(|curve| curve.metric == "sigma") {
        for point in &curve.points {
            let Some(row) = log.steps.iter().position(|&step| step as f64 == point[0]) else { continue };
            let values: Vec<f64> = sigma.across(row, curve.index).map(f64::from).collect();
            let median = plateau::analysis::stats::quantile(&values, 0.5);
            worst = worst.max((median - point[1]).abs() / linear.spectrum[0]);
        }
    }
    worst
}

fn assert_overlay(id: &str, spec: &Spec, log: &RunLog, overlay: &plateau::scenarios::Overlay) {
    let Model::Linear(linear) = &spec.model;
    let d = linear.spectrum.len();
    assert_eq!(overlay.curves.len(), d + 1, "{id}");
    assert!(overlay.curves.iter().all(|curve| curve.points.len() <= 400 && curve.points.len() > 100));
    let last = overlay.curves[0].points.last().unwrap()[0];
    assert_eq!(last, spec.training.steps as f64, "{id}");
    let (distance, expected_halves) = (
        sigma_distance(spec, log, overlay),
        match id {
            "rank-deficient" => 4,
            "missing-mode" => 7,
            _ => d,
        },
    );
    println!("{id}: distance {distance:.4}, halves {:?}", overlay.half_steps);
    // .78 eta s_1 for the closed form; the missing mode escapes by rounding, which theory says in words.
    let tolerance = if id == "missing-mode" { 0.1 } else { 0.04 };
    assert!(distance <= tolerance, "{id}: {distance}");
    assert_eq!(overlay.half_steps.len(), expected_halves, "{id}");
    let silent = !["missing-mode", "eta-beyond-limit"].contains(&id);
    assert_eq!(overlay.caveat.is_empty(), silent, "{id}: {}", overlay.caveat);
}

#[test]
fn the_overlay_follows_a_change_of_eta() {
    let mut spec = (SCENARIO.presets)().remove(0).spec;
    spec.ensemble.members = 2;
    let fault = Fault { change: Some((300, 0.02)), ..Fault::default() };
    let log = synthetic(&spec, fault);
    let overlay = (SCENARIO.overlay)(&log);
    assert!(sigma_distance(&spec, &log, &overlay) < 0.04);
    let mut unaware = log.clone();
    unaware.interventions.clear();
    assert!(sigma_distance(&spec, &log, &(SCENARIO.overlay)(&unaware)) > 0.08);
}
