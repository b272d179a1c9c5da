//! Theory against golden values: nets trained in numpy float64 by `assets/golden/linear.py`.

use nalgebra::DMatrix;
use plateau::theory::recursion::Mode;
use plateau::theory::schedule::Schedule;
use plateau::theory::{linear, starts};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    kind: String,
    depth: u32,
    tau: f64,
    imbalance: f64,
    spectrum: Vec<f64>,
    etas: Vec<(u64, f64)>,
    u: Vec<f64>,
    v: Vec<f64>,
    start: Vec<Vec<f64>>,
    steps: Vec<u64>,
    sigma: Vec<Vec<f64>>,
    loss: Vec<f64>,
    half: Vec<Option<f64>>,
}

impl Case {
    fn named(name: &str) -> Self {
        let golden: Golden = serde_json::from_str(include_str!("../../assets/golden/linear.json")).unwrap();
        golden.cases.into_iter().find(|case| case.name == name).unwrap()
    }

    fn matrix(&self, values: &[f64]) -> DMatrix<f64> {
        let d = self.spectrum.len();
        DMatrix::from_row_slice(d, d, values)
    }

    fn eta(&self) -> Schedule<'_> {
        Schedule::new(&self.etas)
    }

    fn effective(&self) -> Vec<f64> {
        let layers: Vec<_> = self.start.iter().map(|layer| self.matrix(layer)).collect();
        starts::effective(&layers[0], &layers[1], &self.matrix(&self.u), &self.matrix(&self.v))
    }

    /// Layers of one aligned mode.
    fn layers(&self) -> Vec<f64> {
        let mut layers = vec![(-self.tau).exp(); self.depth as usize];
        layers[0] *= self.imbalance;
        *layers.last_mut().unwrap() /= self.imbalance;
        layers
    }

    /// The largest distance of `theory(mode, step)` from the golden curve, over `s + 1e-6`, mode by mode.
    fn distances(&self, theory: impl Fn(usize, u64) -> f64) -> Vec<f64> {
        let worst = |mode: usize| {
            let rows = self.steps.iter().zip(&self.sigma);
            rows.map(|(&step, sigma)| (theory(mode, step) - sigma[mode]).abs()).fold(0.0, f64::max)
        };
        (0..self.spectrum.len()).map(|mode| worst(mode) / (self.spectrum[mode] + 1e-6)).collect()
    }

    fn assert_close(&self, distances: &[f64], tolerance: impl Fn(f64) -> f64) {
        for (distance, &s) in distances.iter().zip(&self.spectrum) {
            assert!(*distance <= tolerance(s), "{}: s = {s}: {distance:e} > {:e}", self.name, tolerance(s));
        }
    }
}

/// Modes in the order of the spectrum, with their index.
fn modes(case: &Case) -> impl Iterator<Item = (usize, f64)> + '_ {
    case.spectrum.iter().copied().enumerate()
}

#[test]
fn finite_step_form_from_aligned_starts() {
    for name in ["aligned", "rank two", "changing eta", "small eta"] {
        let case = Case::named(name);
        let sigma0 = starts::aligned(2, case.tau);
        let largest = case.eta().largest_eta();
        let curve =
            |mode: usize, step: u64| linear::step_sigma(case.spectrum[mode], sigma0, case.eta(), step as f64);
        // First-order bound, and a tenth for the higher orders.
        case.assert_close(&case.distances(curve), |s| 1.1 * linear::CURVE_ERROR * largest * s + 1e-8);
        for (mode, s) in modes(&case) {
            let half = linear::half_step(s, sigma0, case.eta());
            assert_eq!(half.is_some(), case.half[mode].is_some(), "{name}: mode {mode}");
            let Some((half, golden)) = half.zip(case.half[mode]) else { continue };
            assert!((half / golden - 1.0).abs() <= (0.2 * largest * s).max(1e-3), "{name}: {half} {golden}");
            // Sharper: what is left is the lateness of 3/4 ln 2 steps, up to O(eta s) of itself; a change of eta
            // in the rise turns it into steps of the new size.
            let late = half - golden - linear::LATE_AT_HALF;
            assert!(late.abs() <= largest * s + 0.005 || name == "changing eta", "{name}: {late}");
        }
    }
}

#[test]
fn a_wrong_factor_is_caught() {
    let case = Case::named("aligned");
    let sigma0 = starts::aligned(2, case.tau);
    let half_eta = [(0, 0.005)];
    let wrong = Schedule::new(&half_eta);
    let caught = modes(&case).all(|(mode, s)| {
        let half = linear::half_step(s, sigma0, wrong).unwrap();
        (half / case.half[mode].unwrap() - 1.0).abs() > 0.5
    });
    assert!(caught);
    // The flow's own exponent is late by none and early by 4 (eta s)^2 a step: beyond the tolerance.
    let early = linear::flow_half_time(4.0, sigma0).unwrap() / 0.01;
    assert!((early / case.half[0].unwrap() - 1.0).abs() > 0.2 * 0.04);
}

#[test]
fn recursion_is_exact_from_aligned_starts() {
    let names =
        ["aligned", "rank two", "changing eta", "unbalanced", "three layers", "two-cycle", "small eta"];
    for name in names.into_iter().chain(["unbalanced, small eta", "three layers, small eta"]) {
        let case = Case::named(name);
        let curves: Vec<Vec<f64>> = case
            .spectrum
            .iter()
            .map(|&s| Mode { s, layers: case.layers() }.trajectory(case.eta(), &case.steps))
            .collect();
        let row = |step: u64| case.steps.iter().position(|&at| at == step).unwrap();
        case.assert_close(&case.distances(|mode, step| curves[mode][row(step)]), |_| 1e-9);
        for (row, &golden) in case.loss.iter().enumerate() {
            let loss = linear::loss(&case.spectrum, curves.iter().map(|curve| curve[row]));
            assert!((loss - golden).abs() <= 1e-9 * case.loss[0], "{name}: row {row}: {loss} {golden}");
        }
        for (mode, s) in modes(&case) {
            let half = Mode { s, layers: case.layers() }.half_step(case.eta(), *case.steps.last().unwrap());
            let difference = half.unwrap_or(0.0) - case.half[mode].unwrap_or(0.0);
            assert!(difference.abs() < 1e-5, "{name}: mode {mode}: {difference:e}");
        }
    }
}

#[test]
fn flows_at_a_small_learning_rate() {
    // Gradient descent leaves gradient flow at first order in eta s: .0005 x 2 here.
    let eta = 5e-4;
    let case = Case::named("unbalanced, small eta");
    let layers = case.layers();
    let start = [layers[0], layers[1]];
    let flow =
        |mode: usize, step: u64| linear::flow_sigma_unbalanced(case.spectrum[mode], start, step as f64 * eta);
    case.assert_close(&case.distances(flow), |s| 4.0 * eta * s + 1e-5);
    for (mode, s) in modes(&case) {
        let half = linear::flow_half_time_unbalanced(s, start).unwrap() / eta;
        assert!((half / case.half[mode].unwrap() - 1.0).abs() < 2.0 * eta * s + 1e-3);
    }
    let case = Case::named("three layers, small eta");
    for (mode, s) in modes(&case) {
        let sigma0 = starts::aligned(3, case.tau);
        let half = linear::deep_flow_half_time(3, s, sigma0).unwrap() / eta;
        assert!((half / case.half[mode].unwrap() - 1.0).abs() < 2e-3, "{half} {:?}", case.half[mode]);
    }
    let case = Case::named("small eta");
    let sigma0 = starts::aligned(2, case.tau);
    case.assert_close(
        &case.distances(|mode, step| linear::flow_sigma(case.spectrum[mode], sigma0, step as f64 * eta)),
        // On the plateau the flow gains 4 (eta s)^2 a step; over the some 10/(4 eta s) steps of it, 10 eta s.
        |s| 3.0 * eta * s,
    );
}

#[test]
fn forms_agree_where_they_meet() {
    for s in [0.3, 1.0, 4.0] {
        for t in [0.1, 1.0, 3.0, 20.0] {
            let balanced = linear::flow_sigma(s, 1e-6, t);
            let unbalanced = linear::flow_sigma_unbalanced(s, [1e-3, 1e-3], t);
            assert!((balanced - unbalanced).abs() < 1e-12 * s, "{s} {t}");
        }
        let (half, deep) =
            (linear::flow_half_time(s, 1e-6).unwrap(), linear::deep_flow_half_time(2, s, 1e-6).unwrap());
        assert!((half - deep).abs() < 1e-12 * half);
        // The Riccati solution against the equation d sigma/dt = 2 (s - sigma) sqrt(c^2 + 4 sigma^2).
        let (start, c, h) = ([0.7, 0.01], 0.49 - 1e-4, 1e-5);
        for t in [0.05, 0.3, 1.0] {
            let sigma = linear::flow_sigma_unbalanced(s, start, t);
            let slope = (linear::flow_sigma_unbalanced(s, start, t + h)
                - linear::flow_sigma_unbalanced(s, start, t - h))
                / (2.0 * h);
            let expected = 2.0 * (s - sigma) * f64::hypot(c, 2.0 * sigma);
            assert!((slope - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{slope} {expected}");
        }
    }
    let (c, spectrum_zero) = (0.25_f64, linear::flow_sigma_unbalanced(0.0, [0.5, 0.0], 3.0));
    assert!(spectrum_zero.abs() < 1e-15 && c > 0.0);
}

#[test]
fn one_layer_is_exact() {
    for name in ["one layer", "one layer, random"] {
        let case = Case::named(name);
        let sigma0 =
            starts::projected(&case.matrix(&case.start[0]), &case.matrix(&case.u), &case.matrix(&case.v));
        let curve = |mode: usize, step: u64| {
            linear::shallow_sigma(case.spectrum[mode], sigma0[mode], case.eta(), step as f64)
        };
        case.assert_close(&case.distances(curve), |_| 1e-12);
        for (mode, s) in modes(&case) {
            // The golden half-time interpolates between two steps, 4 to 8% of a time constant apart.
            let half = linear::shallow_half_step(s, sigma0[mode], case.eta()).unwrap();
            assert!((half - case.half[mode].unwrap()).abs() < 0.02, "{name}: {half} {:?}", case.half[mode]);
        }
    }
}

#[test]
fn effective_starts_put_every_start_on_the_closed_form() {
    for name in ["aligned", "identity, det > 0", "identity, det < 0", "random"] {
        let case = Case::named(name);
        let sigma0 = case.effective();
        for (mode, s) in modes(&case) {
            let half = linear::half_step(s, sigma0[mode], case.eta());
            assert_eq!(half.is_some(), case.half[mode].is_some(), "{name}: mode {mode}");
            let Some((half, golden)) = half.zip(case.half[mode]) else { continue };
            // .2 eta s, or a tenth of a unit of log-odds (of some 17).
            let odds = 0.1 / linear::growth_per_step(s, 0.01);
            assert!((half - golden).abs() <= (0.002 * s * golden).max(odds), "{name}: {half} {golden}");
            if case.kind != "aligned" {
                let naive = linear::half_step(s, starts::aligned(2, case.tau), case.eta()).unwrap();
                assert!((naive - golden).abs() > (half - golden).abs(), "{name}: mode {mode}");
            }
        }
    }
}

#[test]
fn a_negative_determinant_leaves_the_last_mode_unlearned() {
    let case = Case::named("identity, det < 0");
    assert_eq!(case.effective()[7], 0.0);
    assert!(Case::named("identity, det > 0").effective()[7] > 0.0);
    let (last, square) = (case.loss.len() - 1, case.spectrum[7].powi(2));
    assert!((case.loss[last] / square - 1.0).abs() < 1e-3 && case.sigma[last][7] < 1e-6);
    // What it shows in passing, some four orders of magnitude below s_d here.
    let (layers, eta) = ([case.matrix(&case.start[0]), case.matrix(&case.start[1])], 0.01);
    let size = starts::weakest_along(&layers[0], &layers[1], &case.matrix(&case.u), &case.matrix(&case.v));
    let learned = case.half[6].unwrap() * eta;
    for (&step, sigma) in case.steps.iter().zip(&case.sigma).skip(1) {
        let t = step as f64 * eta;
        let share = sigma[7].abs() / starts::in_passing(size, [0.35, 0.5], learned, t);
        assert!(t < learned + 1.0 || (0.85..1.1).contains(&share), "t = {t}: {share}");
    }
}

#[test]
fn limits_of_the_learning_rate() {
    assert_eq!(linear::eta_limit(2, 4.0), 0.125);
    assert_eq!(linear::eta_limit(1, 4.0), 1.0);
    // A small error of a learned mode shrinks just below the limit and grows just above it.
    for depth in 2..=4 {
        for s in [0.5, 4.0] {
            let limit = linear::eta_limit(depth, s);
            let error = |eta: f64| {
                let mut mode = Mode::balanced(s, s * (1.0 + 1e-6), depth);
                (0..20).for_each(|_| mode.step(eta));
                (mode.sigma() / s - 1.0).abs()
            };
            assert!(error(0.99 * limit) < 1e-6 && error(1.01 * limit) > 1e-6, "depth {depth}, s {s}");
        }
    }
    let limit = linear::eta_limit_unbalanced(2.0, 0.0);
    assert!((limit - linear::eta_limit(2, 2.0)).abs() < 1e-15);
    let case = Case::named("two-cycle");
    let pair = linear::two_cycle(1.0, 0.55).unwrap();
    let end = case.sigma.last().unwrap()[0];
    assert!(pair.iter().any(|value| (value - end).abs() < 1e-6), "{pair:?} {end}");
    assert!(linear::two_cycle(1.0, 0.49).is_none() && linear::two_cycle(1.0, 0.62).is_none());
}

#[test]
fn what_is_never_learned_has_no_half_time() {
    let eta = [(0, 0.01)];
    let eta = Schedule::new(&eta);
    assert_eq!(linear::half_step(0.0, 1e-7, eta), None);
    assert_eq!(linear::half_step(1.0, 0.0, eta), None);
    assert_eq!(linear::half_step(1.0, 0.6, eta), None);
    assert_eq!(linear::step_sigma(1.0, 0.0, eta, 1e6), 0.0);
    assert_eq!(linear::shallow_half_step(0.0, 0.0, eta), None);
    assert_eq!(Mode::balanced(0.0, 1e-7, 2).half_step(eta, 1000), None);
    let frozen = [(0, 0.01), (50, 0.0)];
    assert_eq!(linear::half_step(1.0, 1e-7, Schedule::new(&frozen)), None);
}
