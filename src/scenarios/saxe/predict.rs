//! What theory says about one member: which law covers it, and the curves it gives.

use crate::models::linear;
use crate::spec::{Linear, Model, Spec, Start};
use crate::theory::recursion::Mode;
use crate::theory::schedule::Schedule;
use crate::theory::{linear as closed, starts};

/// Largest `eta s_1` for which the finite-step closed form is drawn; its error grows with it.
const CLOSED_FORM_ETA: f64 = 0.1;
/// Largest part of the weakest mode that a start may hold for the closed form to be drawn.
const CLOSED_FORM_START: f64 = 0.01;
/// Most steps, times modes, that a recursion follows; what lies beyond is not drawn.
const RECURSION_STEPS: u64 = 20_000_000;

/// What covers a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Two layers, small balanced start, aligned: the finite-step closed form from `e^-2tau`.
    Closed,
    /// Two layers, small identity or random start: the closed form from the effective starts.
    Effective,
    /// Aligned, but unbalanced, deeper, large or with a large learning rate: the exact recursion of each mode.
    Recursion,
    /// One layer: exact from any start.
    Shallow,
    /// Three layers or more that are not aligned.
    None,
}

impl Law {
    pub fn of(linear: &Linear, largest_eta: f64) -> Self {
        let aligned = matches!(linear.start, Start::Aligned | Start::Unbalanced);
        match linear.depth {
            1 => Self::Shallow,
            2 if !aligned => Self::Effective,
            _ if !aligned => Self::None,
            2 if linear.start == Start::Aligned && is_gentle(linear, largest_eta) => Self::Closed,
            _ => Self::Recursion,
        }
    }

    pub fn formula(self) -> &'static str {
        match self {
            Self::Closed => "s/(1 + (s/sigma0 - 1) (1 + 2 eta s)^-2k), sigma0 = e^-2tau",
            Self::Effective => {
                "s/(1 + (s/sigma0 - 1) (1 + 2 eta s)^-2k), sigma0 = R_ii^2, QR of (W1^T u_i + W2 v_i)/2 at the start"
            }
            Self::Recursion => "a_j += 2 eta (s - sigma) sigma/a_j, sigma = a_1 … a_N, step by step",
            Self::Shallow => "s + (sigma0 - s) (1 - 2 eta)^k",
            Self::None => "",
        }
    }

    /// Whether the members of a run differ in what theory says of them.
    pub fn differs_by_member(self, linear: &Linear) -> bool {
        !matches!(linear.start, Start::Aligned | Start::Unbalanced) && self != Self::None
    }
}

fn is_gentle(linear: &Linear, largest_eta: f64) -> bool {
    let weakest = linear.spectrum.iter().copied().filter(|&s| s > 0.0).fold(f64::INFINITY, f64::min);
    largest_eta * linear.spectrum[0] <= CLOSED_FORM_ETA
        && starts::aligned(2, linear.tau) <= CLOSED_FORM_START * weakest
}

/// Theory of one member.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// `sigma[index][point]`, at the steps asked for; a recursion may end before them.
    pub sigma: Vec<Vec<f64>>,
    /// Step at which each mode is half learned; `None` for never, or from the start.
    pub half: Vec<Option<f64>>,
}

impl Prediction {
    /// `sum (s_i - sigma_i)^2` at point `point`.
    pub fn loss(&self, spectrum: &[f64], point: usize) -> f64 {
        closed::loss(spectrum, self.sigma.iter().map(|curve| curve[point]))
    }
}

/// What `law` says of `member` at each step of `at` (rising).
pub fn member(law: Law, spec: &Spec, member: u32, eta: Schedule<'_>, at: &[u64]) -> Prediction {
    let Model::Linear(linear) = &spec.model;
    match law {
        Law::None => Prediction { sigma: Vec::new(), half: vec![None; linear.spectrum.len()] },
        Law::Recursion => recursion(linear, eta, at),
        Law::Closed => {
            logistic(linear, &vec![starts::aligned(2, linear.tau); linear.spectrum.len()], eta, at)
        }
        Law::Effective => logistic(linear, &effective(spec, linear, member), eta, at),
        Law::Shallow => shallow(linear, &projected(spec, linear, member), eta, at),
    }
}

/// `sigma0_i` of a two-layer member's start.
pub fn effective(spec: &Spec, linear: &Linear, member: u32) -> Vec<f64> {
    let task = linear::task(spec, linear, member);
    let layers = linear::start(spec, linear, member);
    starts::effective(&layers[0], &layers[1], &task.u, &task.v)
}

/// `R_{d-1,d}^2` of a two-layer member's start: what its last mode shows in passing.
pub fn weakest_along(spec: &Spec, linear: &Linear, member: u32) -> f64 {
    let task = linear::task(spec, linear, member);
    let layers = linear::start(spec, linear, member);
    starts::weakest_along(&layers[0], &layers[1], &task.u, &task.v)
}

fn projected(spec: &Spec, linear: &Linear, member: u32) -> Vec<f64> {
    let task = linear::task(spec, linear, member);
    starts::projected(&linear::start(spec, linear, member)[0], &task.u, &task.v)
}

fn logistic(linear: &Linear, sigma0: &[f64], eta: Schedule<'_>, at: &[u64]) -> Prediction {
    let modes = || linear.spectrum.iter().zip(sigma0);
    Prediction {
        sigma: modes()
            .map(|(&s, &sigma0)| {
                at.iter().map(|&step| closed::step_sigma(s, sigma0, eta, step as f64)).collect()
            })
            .collect(),
        half: modes().map(|(&s, &sigma0)| closed::half_step(s, sigma0, eta)).collect(),
    }
}

fn shallow(linear: &Linear, sigma0: &[f64], eta: Schedule<'_>, at: &[u64]) -> Prediction {
    let modes = || linear.spectrum.iter().zip(sigma0);
    Prediction {
        sigma: modes()
            .map(|(&s, &sigma0)| {
                at.iter().map(|&step| closed::shallow_sigma(s, sigma0, eta, step as f64)).collect()
            })
            .collect(),
        half: modes().map(|(&s, &sigma0)| closed::shallow_half_step(s, sigma0, eta)).collect(),
    }
}

fn recursion(linear: &Linear, eta: Schedule<'_>, at: &[u64]) -> Prediction {
    let last = RECURSION_STEPS / linear.spectrum.len() as u64;
    let within: Vec<u64> = at.iter().copied().take_while(|&step| step <= last).collect();
    let steps = within.last().copied().unwrap_or(0);
    let modes = || linear.spectrum.iter().map(|&s| Mode { s, layers: layers(linear) });
    Prediction {
        sigma: modes().map(|mode| mode.trajectory(eta, &within)).collect(),
        half: modes().map(|mode| mode.half_step(eta, steps)).collect(),
    }
}

/// The factors of one mode in the layers of an aligned start.
fn layers(linear: &Linear) -> Vec<f64> {
    let mut layers = vec![(-linear.tau).exp(); linear.depth as usize];
    if linear.start == Start::Unbalanced {
        layers[0] *= linear.imbalance;
        *layers.last_mut().unwrap_or(&mut 0.0) /= linear.imbalance;
    }
    layers
}
